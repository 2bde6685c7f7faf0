//! Why a send has not arrived, from the API's answer alone.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tidings::sends::explain::explain;
use tidings::store::At;

fn to(chat: &str) -> Value {
    json!({ "message": "m", "channel": "telegram", "recipient": chat })
}

/// The record of a send once it waits for this.
async fn waits_for(world: &World, answer: &Value, what: &str) -> Value {
    let path = format!("/api/sends/{}", answer["send"]["id"].as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let record = world.get(&path).await.json();
        if record["waiting"]["for"] == what {
            return record;
        }
        assert!(Instant::now() < until, "{record}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_waits_says_what_for_and_what_to_do() {
    let plan = Plan::default()
        .with_vendors()
        .set("channels.telegram.pace", "{recipient_per_second=0.01,recipient_burst=1}");
    let world = World::start(plan).await;
    let throttle = json!({ "status": 429, "body": { "ok": false, "error_code": 429,
        "description": "Too Many Requests: retry after 50", "parameters": { "retry_after": 50 } } });
    world
        .script(&json!([
            { "match": { "chat": "8" }, "answer": { "status": 503, "body": "down" } },
            { "match": { "chat": "9" }, "answer": throttle },
        ]))
        .await;
    assert_eq!(world.deliver(&to("7")).await.status, 200);
    let second = world.notify(&to("7")).await.json();
    let third = world.notify(&to("7")).await.json();
    let paced = waits_for(&world, &second, "recipient_pace").await;
    assert!(paced["waiting"]["until"].is_string(), "{paced}");
    let behind = waits_for(&world, &third, "others").await;
    assert_eq!(
        (&behind["waiting"]["ahead"], &behind["waiting"]["head"]),
        (&json!(1), &paced["id"])
    );
    let retried = waits_for(&world, &world.notify(&to("8")).await.json(), "retry").await;
    assert_eq!(retried["waiting"]["until"], retried["next_at"]);
    let throttled = waits_for(&world, &world.notify(&to("9")).await.json(), "throttle").await;
    let channel = world.gateway.app.channels.get("telegram").unwrap().name.clone();
    let store = &world.gateway.app.store;
    store.park(&channel, "credentials_refused", Duration::from_secs(60), At::Store).await.unwrap();
    let parked = waits_for(&world, &world.notify(&to("10")).await.json(), "parked").await;
    for (record, part) in [
        (&paced, "recipient_per_second"),
        (&behind, "tidings sends cancel"),
        (&retried, "the next one is due"),
        (&throttled, "asked to wait"),
        (&parked, "tidings channels check telegram"),
    ] {
        let text = explain(record).join("\n");
        assert!(text.contains(part) && text.contains("Next: "), "{text}");
    }
    world.stop().await;
}
