//! The inbox over HTTP: order, slices, paging, what an entry shows.
use crate::world::{Plan, World};
use serde_json::{Value, json};

fn ids(page: &Value) -> Vec<String> {
    let list = page["notifications"].as_array().unwrap();
    list.iter().map(|e| e["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn nt_34_nt_35_entries_come_newest_first_in_their_lists() {
    let world = World::start(Plan::default()).await;
    let mut made = Vec::new();
    for i in 0..5 {
        let mut body = json!({ "message": format!("n{i}") });
        if i % 2 == 0 {
            body["audience"] = json!("ada");
        }
        made.push(world.notify(&body).await.json()["id"].as_str().unwrap().to_owned());
    }
    made.reverse();
    assert_eq!(ids(&world.get("/api/notifications").await.json()), made);
    let slice = ids(&world.get("/api/notifications?audience=ada").await.json());
    assert_eq!(slice, [made[0].clone(), made[2].clone(), made[4].clone()]);
    assert_eq!(ids(&world.get("/api/notifications?audience=nobody").await.json()), [""; 0]);
    world.stop().await;
}

#[tokio::test]
async fn nt_44_pages_are_stable_while_entries_arrive() {
    let world = World::start(Plan::default()).await;
    for i in 0..25 {
        world.notify(&json!({ "message": format!("old {i}") })).await;
    }
    let first = world.get("/api/notifications?limit=10").await.json();
    for i in 0..3 {
        world.notify(&json!({ "message": format!("new {i}") })).await;
    }
    let mut seen = ids(&first);
    let mut next = first["next"].as_str().map(str::to_owned);
    while let Some(cursor) = next {
        let page = world.get(&format!("/api/notifications?limit=10&before={cursor}")).await.json();
        seen.extend(ids(&page));
        next = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen.len(), 25);
    let mut unique = seen.clone();
    unique.dedup();
    assert_eq!(unique.len(), 25);
    world.stop().await;
}

#[tokio::test]
async fn nt_36_a_quiet_audience_keeps_its_entry_when_the_ring_moves_on() {
    let world = World::start(Plan::default().set("inbox.ring", "5")).await;
    let quiet = world.notify(&json!({ "message": "quiet", "audience": "quiet" })).await.json();
    for i in 0..20 {
        world.notify(&json!({ "message": format!("loud {i}") })).await;
    }
    assert_eq!(ids(&world.get("/api/notifications?limit=200").await.json()).len(), 5);
    let slice = world.get("/api/notifications?audience=quiet").await.json();
    assert_eq!(slice["notifications"][0]["id"], quiet["id"]);
    let shown = world.get(&format!("/api/notifications/{}", quiet["id"].as_str().unwrap())).await;
    assert_eq!(shown.status, 200);
    world.stop().await;
}

#[tokio::test]
async fn nt_38_an_entry_has_every_key_and_no_form_tag() {
    let world = World::ordinary().await;
    let body = json!({
        "message": "all", "channel": "telegram", "recipient": "42",
        "media": [{ "kind": "link", "url": "https://ex.example.test/a?b=1&c=2", "caption": "c" }],
        "location": { "latitude": 52.52, "longitude": 13.405 },
        "options": [{ "kind": "reply", "text": "Yes", "id": "yes-1" }], "footer": "f",
        "metadata": { "z": "1", "a": "2" },
    });
    let answer = world.deliver(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let made = answer.json();
    let path = format!("/api/notifications/{}", made["id"].as_str().unwrap());
    let entry = world.get(&path).await.json();
    let keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "created_at",
            "origin",
            "caller",
            "audience",
            "channel",
            "recipient",
            "message",
            "media",
            "location",
            "template",
            "options",
            "sections",
            "header",
            "footer",
            "schema",
            "data",
            "pages",
            "expires_at",
            "metadata",
            "trace_id",
            "send"
        ]
    );
    for field in
        ["message", "channel", "recipient", "media", "location", "options", "footer", "metadata"]
    {
        assert_eq!(entry[field], body[field], "{field}");
    }
    assert_eq!(
        entry["send"],
        json!({ "id": made["send"]["id"], "channel": "telegram", "status": "sent" })
    );
    assert_eq!(entry["trace_id"], made["trace_id"]);
    world.stop().await;
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let world = World::start(Plan::default()).await;
    for (query, code) in [
        ("limit=0", "out_of_range"),
        ("limit=201", "out_of_range"),
        ("limit=x", "out_of_range"),
        ("before=zzz", "bad_cursor"),
        ("origin=me", "not_one_of"),
        ("unknown=1", "unknown_field"),
        ("limit=1&limit=2", "duplicate"),
    ] {
        let answer = world.get(&format!("/api/notifications?{query}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{query}");
    }
    for id in ["ntf_x", "ntf_01m8q509qfexgr7tmqcktd38tn", "%00"] {
        let answer = world.get(&format!("/api/notifications/{id}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{id}");
    }
    world.stop().await;
}
