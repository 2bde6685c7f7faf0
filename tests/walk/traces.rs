//! One trace as a timeline, for operators and for the key it belongs to.
use crate::world::{Plan, World};
use contract::receipt::{ReceiptReading, ReceiptSays};
use contract::{ChannelName, Rank};
use serde_json::json;
use tidings::sends::receipts::Receipt;

#[tokio::test]
async fn d_58_a_trace_tells_what_happened_in_order() {
    let plan = Plan::default().set("delivery.schedule", "['1s']").with_vendors();
    let world = World::start(plan).await;
    let busy = json!({ "status": 500, "body": { "ok": false, "error_code": 500 } });
    world.script(&json!([{ "match": { "method": "sendMessage" }, "answer": busy }])).await;
    let body = json!({ "message": "secret words", "channel": "telegram", "recipient": "42" });
    let parent = format!("00-{}-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736");
    let headers = [("prefer", "wait=20"), ("traceparent", parent.as_str())];
    let answer = world.post_with("/api/notifications", &body, &world.admin, &headers).await.json();
    assert_eq!(answer["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    let id = answer["send"]["parts"][0]["provider_message_id"].as_str().unwrap();
    let reading = ReceiptReading {
        provider_message_id: Some(id.to_owned()),
        correlator: None,
        says: ReceiptSays::Rank(Rank::Read),
        raw: "read".to_owned(),
        vendor_at: None,
        alias: None,
    };
    let receipt = Receipt::of(reading, world.gateway.app.clock.now());
    let channel = ChannelName::parse("telegram").unwrap();
    world.gateway.app.outbox.settler.at_door(&channel, vec![receipt]).await.unwrap();

    let path = "/api/traces/4bf92f3577b34da6a3ce929d0e0e4736";
    let trace = world.get(path).await;
    let events = trace.json()["events"].as_array().unwrap().clone();
    let names: Vec<&str> = events.iter().map(|e| e["name"].as_str().unwrap()).collect();
    let expected = [
        "notification_recorded",
        "send_queued",
        "attempt_started",
        "attempt_failed",
        "attempt_started",
        "part_accepted",
        "delivery_receipt",
    ];
    assert_eq!(names, expected, "{}", trace.text);
    assert!(!trace.text.contains("secret words"));
    assert!(events.iter().all(|e| e["notification"] == answer["id"]));
    assert_eq!(events[6]["attributes"]["effect"], "moved");
    let owned = world.call("GET", path, Some(&world.owned), &[], None).await;
    assert_eq!((owned.status, owned.code().as_str()), (404, "not_found"));
    for nothing in ["/api/traces/x", "/api/traces/00000000000000000000000000000000"] {
        assert_eq!(world.get(nothing).await.status, 404);
    }

    let mine = json!({ "message": "m", "channel": "telegram", "recipient": "7" });
    let mine = world.post_with("/api/notifications", &mine, &world.owned, &[]).await.json();
    let path = format!("/api/traces/{}", mine["trace_id"].as_str().unwrap());
    let seen = world.call("GET", &path, Some(&world.owned), &[], None).await;
    assert_eq!(seen.status, 200, "{}", seen.text);
    world.stop().await;
}
