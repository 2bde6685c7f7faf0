//! Receipts come home: after the answer, before it, through the queue, or never.
use crate::world::World;
use contract::receipt::{ReceiptReading, ReceiptSays};
use contract::{ChannelName, Rank};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tidings::sends::receipts::Receipt;
use tidings::store::{At, QueueName};

fn channel() -> ChannelName {
    ChannelName::parse("telegram").unwrap()
}

fn receipt(world: &World, id: &str, rank: Rank) -> Receipt {
    let reading = ReceiptReading {
        provider_message_id: Some(id.to_owned()),
        correlator: None,
        says: ReceiptSays::Rank(rank),
        raw: rank.as_str().to_owned(),
        vendor_at: Some(1_796_000_000_000),
        alias: None,
    };
    Receipt::of(reading, world.gateway.app.clock.now())
}

/// The send once it has this status.
async fn reaches(world: &World, id: &str, status: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let record = world.get(&format!("/api/sends/{id}")).await.json();
        if record["status"] == status {
            return record;
        }
        assert!(Instant::now() < deadline, "{record}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn sent(world: &World) -> (String, String) {
    let body = json!({ "message": "m", "channel": "telegram", "recipient": "42" });
    let send = world.deliver(&body).await.json()["send"].clone();
    let id = send["parts"][0]["provider_message_id"].as_str().unwrap().to_owned();
    (send["id"].as_str().unwrap().to_owned(), id)
}

#[tokio::test]
async fn d_78_a_receipt_at_the_door_is_in_the_record_when_the_door_answers() {
    let world = World::ordinary().await;
    let (send, id) = sent(&world).await;
    let settler = &world.gateway.app.outbox.settler;
    let delivered = receipt(&world, &id, Rank::Delivered);
    let both = vec![delivered.clone(), delivered];
    settler.at_door(&channel(), both).await.unwrap();
    let record = world.get(&format!("/api/sends/{send}")).await.json();
    assert_eq!(record["status"], "delivered");
    let receipts = record["receipts"].as_array().unwrap();
    assert_eq!(receipts.len(), 1, "a repeat is no second receipt");
    assert_eq!(
        (&receipts[0]["raw"], &receipts[0]["effect"]),
        (&json!("delivered"), &json!("moved"))
    );
    assert_eq!(
        record["parts"][0]["history"].as_array().unwrap().last().unwrap()["actor"],
        "receipt"
    );
    let metrics = world.get("/metrics").await.text;
    let line = "effect=\"moved\",path=\"door\"} 1";
    assert!(metrics.contains(line) && metrics.contains("effect=\"duplicate\""), "{metrics}");
    world.stop().await;
}

#[tokio::test]
async fn d_49_a_receipt_before_its_send_waits_for_it() {
    let world = World::ordinary().await;
    let (_, first) = sent(&world).await;
    let (chat, number) = first.split_once(':').unwrap();
    let next = format!("{chat}:{}", number.parse::<u32>().unwrap() + 1);
    let early = vec![receipt(&world, &next, Rank::Read), receipt(&world, &next, Rank::Delivered)];
    world.gateway.app.outbox.settler.at_door(&channel(), early).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let store = &world.gateway.app.store;
    while store.depth(&QueueName::hook(), At::Store).await.unwrap().items > 0 {
        assert!(Instant::now() < deadline, "the queue is worked");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (send, id) = sent(&world).await;
    assert_eq!(id, next);
    let record = reaches(&world, &send, "read").await;
    let raw: Vec<&Value> =
        record["receipts"].as_array().unwrap().iter().map(|r| &r["raw"]).collect();
    assert!(raw.contains(&&json!("read")), "{record}");
    world.stop().await;
}

#[tokio::test]
async fn d_50_a_receipt_of_no_send_is_listed_for_operators() {
    let world = World::ordinary().await;
    let app = &world.gateway.app;
    let stray = receipt(&world, "999:1", Rank::Delivered);
    app.outbox.settler.at_door(&channel(), vec![stray]).await.unwrap();
    let tomorrow = At::Given(app.clock.now().plus(Duration::from_secs(86_500)));
    let deadline = Instant::now() + Duration::from_secs(10);
    while app.store.lapse_shelves(9, tomorrow).await.unwrap().is_empty() {
        assert!(Instant::now() < deadline, "it is shelved by the worker");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let list = world.get("/api/receipts/unmatched?channel=telegram").await.json();
    assert_eq!(list["next"], Value::Null);
    let row = &list["unmatched"][0];
    assert_eq!(row["provider_message_id"], "999:1");
    assert_eq!((&row["raw"], &row["channel"]), (&json!("delivered"), &json!("telegram")));
    assert_eq!(row["vendor_at"], "2026-11-30T00:53:20.000Z");
    let owned = &world.owned;
    let refused = world.call("GET", "/api/receipts/unmatched", Some(owned), &[], None).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"));
    assert_eq!(world.get("/api/receipts/unmatched?channel=nope").await.code(), "unknown_channel");
    assert_eq!(world.get("/api/receipts/unmatched?before=x").await.code(), "bad_cursor");
    world.stop().await;
}
