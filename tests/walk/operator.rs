//! Cancelling sends, trying them again, one or many.
use crate::world::{Plan, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn to(chat: &str) -> Value {
    json!({ "message": "m", "channel": "telegram", "recipient": chat })
}

fn down() -> Value {
    json!({ "status": 503, "body": "down" })
}

fn path(answer: &Value, action: &str) -> String {
    format!("/api/sends/{}{action}", answer["send"]["id"].as_str().unwrap())
}

async fn settled(world: &World, send: &Value, wanted: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let record = world.get(&path(send, "")).await.json();
        if record["status"] == wanted {
            return record;
        }
        assert!(Instant::now() < until, "{record}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn d_42_a_send_between_two_tries_is_cancelled_and_what_waits_behind_it_goes() {
    let world = World::ordinary().await;
    world.script(&json!([{ "match": { "chat": "7" }, "answer": down() }])).await;
    let first = world.notify(&to("7")).await.json();
    while world.get(&path(&first, "")).await.json()["next_at"].is_null() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let second = world.notify(&to("7")).await.json();
    let cancelled = world.post(&path(&first, "/cancel"), &json!({})).await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    settled(&world, &second, "sent").await;
    for done in [&first, &second] {
        let refused = world.post(&path(done, "/cancel"), &json!({})).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "not_cancellable"));
        let refused = world.post(&path(done, "/retry"), &json!({})).await;
        assert_eq!((refused.status, refused.code().as_str()), (409, "not_retryable"));
    }
    let record = world.get(&path(&first, "")).await.json();
    assert_eq!(record["parts"][0]["history"][2]["actor"], "api", "{record}");
    assert_eq!(world.received().await.len(), 2, "the cancelled one was tried once");
    let unknown = "/api/sends/snd_00000000000000000000000000";
    for action in ["cancel", "retry"] {
        let answer = world.post(&format!("{unknown}/{action}"), &json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
        let answer = world
            .post_with(&path(&first, &format!("/{action}")), &json!({}), &world.owned, &[])
            .await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "not its own");
    }
    world.stop().await;
}

#[tokio::test]
async fn d_43_a_retry_resumes_at_the_part_that_failed_and_is_another_cycle() {
    let world = World::ordinary().await;
    let refused = json!({ "status": 400, "body": { "ok": false, "error_code": 400,
        "description": "Bad Request: not today" } });
    world.script(&json!([{ "match": { "method": "sendLocation" }, "answer": refused }])).await;
    let mut body = to("7");
    body["location"] = json!({ "latitude": 1.5, "longitude": 2.5 });
    let send = world.notify(&body).await.json();
    let failed = settled(&world, &send, "failed").await;
    let before = world.received().await.len();
    assert_eq!(world.get("/api/sends?status=failed").await.json()["sends"][0]["id"], failed["id"]);
    let retried = world.post(&path(&send, "/retry"), &json!({})).await;
    assert_eq!(retried.status, 202, "{}", retried.text);
    let record = settled(&world, &send, "sent").await;
    assert_eq!((&record["cycle"], &record["fault"]), (&json!(2), &Value::Null));
    let out = failed["parts"].as_array().unwrap().iter().filter(|p| p["status"] == "sent").count();
    let parts = failed["parts"].as_array().unwrap().len();
    assert_eq!(world.received().await.len() - before, parts - out, "nothing goes twice");
    assert_eq!(world.get("/api/sends?status=failed").await.json()["sends"], json!([]));
    world.stop().await;
}

#[tokio::test]
async fn dead_letters_are_tried_again_by_channel_fault_and_time() {
    let plan = Plan::default().with_vendors().set("delivery.schedule", "[]");
    let world = World::start(plan).await;
    let refused = json!({ "status": 400, "body": { "ok": false, "error_code": 400,
        "description": "Bad Request: not today" } });
    world
        .script(&json!([
            { "match": { "chat": "1" }, "answer": down() },
            { "match": { "chat": "2" }, "answer": refused },
            { "match": { "chat": "3" }, "answer": down() },
        ]))
        .await;
    let mut sends = Vec::new();
    for chat in ["1", "2", "3"] {
        sends.push(world.notify(&to(chat)).await.json());
        settled(&world, sends.last().unwrap(), "failed").await;
    }
    let retry = async |body: Value| world.post("/api/sends/retry", &body).await;
    for (body, status, code) in [
        (json!({ "what": 1 }), 400, "unknown_field"),
        (json!({ "fault": 1 }), 400, "wrong_type"),
        (json!({ "since": "yesterday" }), 400, "bad_format"),
        (json!({ "channel": "nope" }), 404, "unknown_channel"),
    ] {
        let answer = retry(body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
    }
    let owned = world.post_with("/api/sends/retry", &json!({}), &world.owned, &[]).await;
    assert_eq!(owned.status, 403);
    let none = retry(json!({ "since": "2100-01-01T00:00:00Z" })).await;
    assert_eq!((none.status, none.json()), (200, json!({ "retried": 0 })));
    let some = retry(json!({ "channel": "telegram", "fault": "transient" })).await;
    assert_eq!(some.json(), json!({ "retried": 2 }));
    settled(&world, &sends[0], "sent").await;
    settled(&world, &sends[2], "sent").await;
    settled(&world, &sends[1], "failed").await;
    let rest = retry(json!({ "fault": "permanent", "since": "2020-01-01T00:00:00Z" })).await;
    assert_eq!(rest.json(), json!({ "retried": 1 }));
    settled(&world, &sends[1], "sent").await;
    world.stop().await;
}
