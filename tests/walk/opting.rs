//! Who opted out gets nothing: before anything is recorded, when claimed, and in the preview.
use crate::world::World;
use serde_json::{Value, json};
use tidings::store::{At, Lane, OptScope};

fn to(chat: &str) -> Value {
    json!({ "message": "m", "channel": "telegram", "recipient": chat })
}

fn blocked(description: &str) -> Value {
    json!({ "status": 403, "body": { "ok": false, "error_code": 403, "description": description } })
}

#[tokio::test]
async fn i_60_a_person_who_blocked_the_bot_gets_nothing_until_an_operator_clears_it() {
    let world = World::ordinary().await;
    let answer = blocked("Forbidden: bot was blocked by the user");
    world.script(&json!([{ "match": { "chat": "7" }, "answer": answer }])).await;
    let refused = world.deliver(&to("7")).await;
    assert_eq!((refused.status, refused.code().as_str()), (502, "delivery_refused"));
    let listed = world.get("/api/channels/telegram/opt-outs").await.json();
    let row = &listed["opt_outs"][0];
    assert_eq!((&row["recipient"], &row["scope"]), (&json!("7"), &json!("all")), "{listed}");
    assert_eq!((&row["source"], &listed["next"]), (&json!("send"), &Value::Null));

    let before = world.state().await;
    let answer = world.notify(&to("7")).await;
    assert_eq!((answer.status, answer.code().as_str()), (403, "recipient_opted_out"));
    assert_eq!(world.state().await, before, "nothing is recorded");
    let preview = world.post("/api/notifications/preview", &to("7")).await.json();
    assert_eq!(preview["channels"][0]["verdict"], "refused");
    assert_eq!(preview["channels"][0]["problem"]["code"], "recipient_opted_out");
    assert_eq!(world.deliver(&to("8")).await.status, 200, "nobody else is concerned");
    let send = refused.json()["send"]["id"].as_str().unwrap().to_owned();
    let again = world.post(&format!("/api/sends/{send}/retry"), &json!({})).await;
    assert_eq!((again.status, again.code().as_str()), (403, "recipient_opted_out"));

    let path = "/api/channels/telegram/opt-outs/7";
    let owned = world.call("DELETE", path, Some(&world.owned), &[], None).await;
    assert_eq!(owned.status, 403, "an operator's call");
    let cleared = world.call("DELETE", path, Some(&world.admin), &[], None).await;
    assert_eq!((cleared.status, &cleared.json()["recipient"]), (200, &json!("7")));
    let gone = world.call("DELETE", path, Some(&world.admin), &[], None).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "not_found"));
    let nowhere = "/api/channels/nope/opt-outs";
    assert_eq!(world.get(nowhere).await.code(), "unknown_channel");
    let again = world.post(&format!("/api/sends/{send}/retry"), &json!({})).await;
    assert_eq!(again.status, 202, "{}", again.text);
    assert_eq!(world.deliver(&to("7")).await.status, 200);
    world.stop().await;
}

#[tokio::test]
async fn i_60_what_waits_for_somebody_who_opts_out_meanwhile_fails_when_it_is_claimed() {
    let world = World::ordinary().await;
    let store = &world.gateway.app.store;
    let channel = world.gateway.app.channels.get("telegram").unwrap().name.clone();
    // The probe at start would lift it again.
    while world.get("/api/channels").await.json()["channels"][0]["health"]["state"] != "ok" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    store.park(&channel, "test", std::time::Duration::from_secs(60), At::Store).await.unwrap();
    let waiting = world.notify(&to("7")).await.json();
    let opt_out = tidings::sends::optout::OptOut {
        recipient: "7".into(),
        source: "inbound".into(),
        message: None,
    };
    let row = opt_out.row(OptScope::All, world.gateway.app.clock.now());
    store.opt_set(&channel, &Lane::of(&channel, "7"), row, At::Store).await.unwrap();
    store.unpark(&channel, At::Store).await.unwrap();
    let path = format!("/api/sends/{}", waiting["send"]["id"].as_str().unwrap());
    let record = loop {
        let record = world.get(&path).await.json();
        if record["status"] != "queued" {
            break record;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!(
        (&record["status"], &record["fault"]["code"]),
        (&json!("failed"), &json!("opted_out"))
    );
    assert_eq!(record["parts"][0]["history"].as_array().unwrap().len(), 1);
    assert!(world.received().await.is_empty());
    world.stop().await;
}

#[tokio::test]
async fn a_person_who_cannot_be_reached_is_marked_until_the_next_message_arrives() {
    let world = World::ordinary().await;
    let answer = blocked("Forbidden: user is deactivated");
    world.script(&json!([{ "match": { "chat": "7" }, "answer": answer }])).await;
    assert_eq!(world.deliver(&to("7")).await.status, 502);
    let path = "/api/channels/telegram/opt-outs";
    let listed = world.get(path).await.json();
    assert_eq!(listed["opt_outs"][0]["scope"], "unreachable", "{listed}");
    assert_eq!(world.deliver(&to("7")).await.status, 200, "a mark blocks nothing");
    assert_eq!(world.get(path).await.json()["opt_outs"], json!([]));
    world.stop().await;
}
