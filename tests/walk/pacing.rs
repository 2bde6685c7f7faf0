//! Pacing, vendors' waits and parked channels, seen from outside.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn to(chat: &str) -> Value {
    json!({ "message": "m", "channel": "telegram", "recipient": chat })
}

fn paced(pace: &str) -> Plan {
    Plan::default().with_vendors().set("channels.telegram.pace", &format!("{{{pace}}}"))
}

/// Milliseconds of the day at which messages were received.
async fn times(world: &World) -> Vec<u64> {
    let number = |text: &str| text.parse::<u64>().unwrap();
    let all = world.received().await;
    all.iter()
        .map(|request| {
            let clock = request["at"].as_str().unwrap().split('T').nth(1).unwrap().to_owned();
            let (seconds, parts) = clock.trim_end_matches('Z').split_once('.').unwrap();
            let seconds = seconds.split(':').map(number).fold(0, |sum, n| sum * 60 + n);
            seconds * 1000 + number(&format!("{parts:0<3}")[..3])
        })
        .collect()
}

async fn record(world: &World, answer: &Value) -> Value {
    let send = answer["send"]["id"].as_str().unwrap();
    world.get(&format!("/api/sends/{send}")).await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn d_34_messages_to_one_person_keep_their_distance_and_count_no_attempt() {
    let world = World::start(paced("recipient_per_second=4,recipient_burst=2")).await;
    let mut sends = Vec::new();
    for _ in 0..6 {
        sends.push(world.notify(&to("7")).await.json());
    }
    let last = world.deliver(&to("7")).await;
    assert_eq!(last.status, 200, "{}", last.text);
    let at = times(&world).await;
    assert_eq!(at.len(), 7);
    assert!(at[1] - at[0] < 200, "a burst of two goes at once: {at:?}");
    // The nth comes no sooner than so many intervals after the first, but for the way there.
    for (number, at_it) in at.iter().enumerate().skip(2) {
        assert!(at_it - at[0] + 50 >= 250 * (number as u64 - 1), "{at:?}");
    }
    for send in &sends {
        let record = record(&world, send).await;
        let attempts = record["attempts"].as_array().unwrap().len();
        assert_eq!((attempts, &record["tries"]), (1, &json!(0)));
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_34_an_account_sends_no_faster_than_its_pace_and_no_slower() {
    let world = World::start(paced("account_per_second=20,account_burst=5")).await;
    for person in 0..40 {
        assert_eq!(world.notify(&to(&person.to_string())).await.status, 202);
    }
    let started = Instant::now();
    while world.received().await.len() < 40 {
        assert!(started.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let at = times(&world).await;
    // Of any six in a row the last comes no sooner than one interval after the first.
    for six in at.windows(6) {
        assert!(six[5] - six[0] >= 45, "{at:?}");
    }
    assert!(at[39] - at[0] >= 1700, "{at:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_35_nobody_on_the_account_sends_before_the_vendors_wait_ends() {
    let world = World::ordinary().await;
    let throttle = json!({ "status": 429, "headers": { "retry-after": "2" }, "body": {
        "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 2",
        "parameters": { "retry_after": 2 } } });
    world.script(&json!([{ "match": { "chat": "1" }, "answer": throttle }])).await;
    let first = world.notify(&to("1")).await.json();
    while world.received().await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(world.deliver(&to("1")).await.status, 200);
    let at = times(&world).await;
    assert_eq!(at.len(), 3);
    assert!(at[1] - at[0] >= 2000, "the floor holds: {at:?}");
    let record = record(&world, &first).await;
    assert_eq!((&record["status"], &record["tries"]), (&json!("sent"), &json!(0)));
    let metrics = world.get("/metrics").await.text;
    assert!(metrics.contains("tidings_throttled_total{channel=\"telegram\""), "{metrics}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_39_refused_credentials_park_the_channel_and_a_successful_probe_lifts_it() {
    let world = World::ordinary().await;
    let refused = json!({ "status": 401, "body": { "ok": false, "error_code": 401,
        "description": "Unauthorized" } });
    world
        .script(&json!([{ "match": { "method": "sendMessage" }, "times": 99, "answer": refused }]))
        .await;
    let wait = [("prefer", "wait=20")];
    let answer = world.post_with("/api/notifications", &to("1"), &world.admin, &wait).await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "delivery_unavailable"));
    let others = [world.notify(&to("2")).await.json(), world.notify(&to("3")).await.json()];
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(world.received().await.len(), 1, "a parked channel asks nothing more");
    let channel = world.get("/api/channels").await.json()["channels"][0].clone();
    assert_eq!(channel["health"]["state"], "failing", "{channel}");
    assert!(channel["lane"]["paused_until"].is_string(), "{channel}");
    assert_eq!(channel["lane"]["queued"], 3);
    let metrics = world.get("/metrics").await.text;
    assert!(metrics.contains("tidings_channel_parked{channel=\"telegram\"} 1"), "{metrics}");
    assert_eq!(world.get("/readyz").await.status, 200, "a parked channel keeps the node ready");
    // The operator mends the account and asks.
    world.script(&json!([])).await;
    let checked = world.post("/api/channels/telegram/check", &json!({})).await.json();
    assert_eq!(checked["health"]["state"], "ok", "{checked}");
    assert_eq!(checked["lane"]["paused_until"], Value::Null);
    assert_eq!(world.deliver(&to("4")).await.status, 200);
    for other in &others {
        let until = Instant::now() + Duration::from_secs(10);
        while record(&world, other).await["status"] != "sent" {
            assert!(Instant::now() < until);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let first = record(&world, &answer.json()).await;
    assert_eq!((&first["status"], &first["tries"]), (&json!("sent"), &json!(0)));
    let kinds: Vec<Value> =
        world.get("/api/notifications?origin=platform").await.json()["notifications"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["metadata"]["kind"].clone())
            .collect();
    assert_eq!(json!(kinds), json!(["channel_recovered", "channel_parked"]));
    world.stop().await;
}
