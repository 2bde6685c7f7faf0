//! Entries the platform writes: what they say, who sees them, how often they come.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tidings::store::{Lane, QueueName};

/// The platform's entries of a kind, newest first, once there is one.
async fn told(world: &World, kind: &str) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        let list = world.get("/api/notifications?origin=platform&limit=200").await.json();
        let all = list["notifications"].as_array().unwrap();
        let found: Vec<Value> =
            all.iter().filter(|entry| entry["metadata"]["kind"] == kind).cloned().collect();
        if !found.is_empty() {
            return found;
        }
        assert!(Instant::now() < deadline, "no entry of kind {kind}: {list}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn d_70_an_unknown_outcome_is_told_once_to_operators_alone() {
    let world = World::ordinary().await;
    let cut = json!({ "match": { "method": "sendMessage" }, "times": 3, "close": "after_read" });
    world.script(&json!([cut])).await;
    let mut sends = Vec::new();
    for chat in ["1", "2", "3"] {
        let body = json!({ "message": "secret words", "channel": "telegram", "recipient": chat });
        let answer = world.deliver(&body).await;
        assert_eq!(answer.code(), "outcome_unknown", "{}", answer.text);
        sends.push(answer.json()["send"]["id"].as_str().unwrap().to_owned());
    }
    let entries = told(&world, "outcome_unknown").await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!(entry["metadata"]["channel"], "telegram");
    assert_eq!(entry["metadata"]["send"], sends[0].as_str());
    for absent in ["caller", "audience", "channel", "recipient", "send"] {
        assert_eq!(entry[absent], Value::Null, "{absent}");
    }
    let message = entry["message"].as_str().unwrap();
    assert!(message.contains(&sends[0]) && !entry.to_string().contains("secret words"));
    let path = "/api/notifications?origin=platform";
    let owned = world.call("GET", path, Some(&world.owned), &[], None).await;
    assert_eq!(owned.json()["notifications"], json!([]));
    world.stop().await;
}

#[tokio::test]
async fn d_70_ten_dead_letters_and_a_poisoned_item_are_told() {
    let world = World::ordinary().await;
    let store = &world.gateway.app.store;
    let queue = QueueName::out(&contract::ChannelName::parse("telegram").unwrap());
    let at = tidings::store::At::Store;
    store.push(&queue, &Lane("odd".into()), "no id of ours".into(), None, at).await.unwrap();
    let poison = told(&world, "poison").await;
    assert_eq!(poison[0]["metadata"]["reason"], "record_unreadable");
    assert_eq!(poison[0]["metadata"]["item"], "", "an item's bytes are nobody's to read");

    let answer = json!({
        "status": 400,
        "body": { "ok": false, "error_code": 400, "description": "Bad Request: chat not found" },
    });
    let refusal = json!({ "match": { "method": "sendMessage" }, "times": 10, "answer": answer });
    world.script(&json!([refusal])).await;
    for chat in 1..=10 {
        let to = chat.to_string();
        let body = json!({ "message": "m", "channel": "telegram", "recipient": to });
        assert_eq!(world.deliver(&body).await.status, 502);
    }
    let failing = told(&world, "sends_failing").await;
    assert_eq!(failing[0]["metadata"]["channel"], "telegram");
    assert_eq!(failing[0]["metadata"]["count"], "10");
    world.stop().await;
}

#[tokio::test]
async fn d_64_a_channel_no_running_node_has_is_told_while_sends_wait_on_it() {
    let plan = Plan::default().set("delivery.schedule", "['1h']").with_vendors();
    let world = World::start(plan).await;
    let answer = json!({ "status": 500, "body": { "ok": false, "error_code": 500 } });
    let busy = json!({ "times": 9, "answer": answer });
    world.script(&json!([busy])).await;
    let body = json!({ "message": "m", "channel": "telegram", "recipient": "1" });
    assert_eq!(world.deliver(&body).await.code(), "delivery_unavailable");
    let folder = world.stop().await;
    // The next process has no channel; the last one's beat lapses.
    let lost = World::start(Plan { folder: Some(folder), ..Plan::default() }).await;
    let store = &lost.gateway.app.store;
    let unknown = async {
        loop {
            let list = lost.get("/api/notifications?origin=platform").await.json();
            if list.to_string().contains("\"channel_unknown\"") {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let list = tokio::time::timeout(Duration::from_secs(40), unknown).await.unwrap();
    assert!(list.to_string().contains("\"waiting\":\"1\""), "{list}");
    assert!(store.ping().await.is_ok());
    lost.stop().await;
}
