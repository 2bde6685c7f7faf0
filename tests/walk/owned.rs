//! A restricted key reads and addresses its own slice alone, by any parameter.
use crate::world::World;
use serde_json::json;

const ADA: &str = "ada@example.test";

#[tokio::test]
async fn nt_29_nt_45_an_owned_key_sees_only_what_is_its_own() {
    let world = World::ordinary().await;
    let owned = world.owned.clone();
    let get = async |path: String| world.call("GET", &path, Some(&owned), &[], None).await;
    let theirs = world.deliver(&json!({ "message": "others", "channel": "telegram" })).await.json();
    let addressed = world
        .deliver(&json!({ "message": "for ada", "channel": "telegram", "audience": ADA }))
        .await
        .json();
    let mine = world
        .post_with(
            "/api/notifications",
            &json!({ "message": "mine", "channel": "telegram" }),
            &owned,
            &[],
        )
        .await;
    assert_eq!(mine.status, 202);
    assert_eq!(mine.json()["audience"], ADA);
    let mine = mine.json();

    let listed = get("/api/notifications".to_owned()).await.json();
    let messages: Vec<&str> = listed["notifications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["message"].as_str().unwrap())
        .collect();
    assert_eq!(messages, ["mine", "for ada"]);
    let other = get("/api/notifications?audience=somebody".to_owned()).await;
    assert_eq!((other.status, other.code().as_str()), (403, "audience_not_allowed"));
    for path in ["/api/notifications?channel=telegram", "/api/notifications?origin=caller"] {
        let page = get(path.to_owned()).await.json();
        assert_eq!(page["notifications"].as_array().unwrap().len(), 2, "{path}");
    }

    let sends = get("/api/sends".to_owned()).await.json();
    let seen: Vec<&str> =
        sends["sends"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(seen.len(), 2);
    assert!(seen.contains(&addressed["send"]["id"].as_str().unwrap()));
    assert!(seen.contains(&mine["send"]["id"].as_str().unwrap()));

    let (ntf, snd) = (theirs["id"].as_str().unwrap(), theirs["send"]["id"].as_str().unwrap());
    let unknown = get("/api/sends/snd_01m8q509qfexgr7tmqcktd38tn".to_owned()).await;
    for path in [format!("/api/notifications/{ntf}"), format!("/api/sends/{snd}")] {
        let answer = get(path).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
        assert_eq!(answer.text, unknown.text, "every 404 is the same");
    }
    let provider = theirs["send"]["parts"][0]["provider_message_id"].as_str().unwrap();
    for query in [
        format!("notification={ntf}"),
        format!("channel=telegram&provider_message_id={provider}"),
        "channel=telegram&recipient=42&status=failed".to_owned(),
    ] {
        let page = get(format!("/api/sends?{query}")).await.json();
        assert_eq!(page["sends"].as_array().unwrap().len(), 0, "{query}");
    }
    let page = get("/api/sends?channel=telegram&recipient=42".to_owned()).await.json();
    assert_eq!(page["sends"].as_array().unwrap().len(), 2);
    world.stop().await;
}

#[tokio::test]
async fn nt_29_an_owned_key_addresses_only_itself_and_keeps_to_its_scopes() {
    let world = World::ordinary().await;
    for audience in ["ops", "somebody", "ada@example.test ", "ADA@example.test"] {
        let body = json!({ "message": "x", "audience": audience });
        let answer = world.post_with("/api/notifications", &body, &world.owned, &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "audience_not_allowed"));
        let preview = world.post_with("/api/notifications/preview", &body, &world.owned, &[]).await;
        assert_eq!(preview.code(), "audience_not_allowed");
    }
    for (method, path) in [
        ("POST", "/api/channels/telegram/check"),
        ("GET", "/metrics"),
        ("GET", "/api/queue/poison"),
    ] {
        let answer = world.call(method, path, Some(&world.owned), &[], None).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{path}");
    }
    world.stop().await;
}

#[tokio::test]
async fn a_recipient_outside_the_list_is_refused_for_everyone() {
    let plan = crate::world::Plan::default()
        .set("channels.telegram.allowed_recipients", "['42']")
        .with_vendors();
    let world = World::start(plan).await;
    let before = world.state().await;
    let body = json!({ "message": "x", "channel": "telegram", "recipient": "43" });
    for key in [&world.admin, &world.owned] {
        let answer = world.post_with("/api/notifications", &body, key, &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "recipient_not_allowed"));
    }
    assert_eq!(world.state().await, before);
    world.stop().await;
}
