//! Faults on order, seen from the socket.
use crate::client::{Vendors, send};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn text(chat: i64) -> Value {
    json!({ "chat_id": chat, "text": "x" })
}

/// The number of messages that a chat got.
async fn delivered(vendors: &Vendors, chat: i64) -> u64 {
    let (_, answer) = vendors.call("sendMessage", &text(chat)).await;
    answer["result"]["message_id"].as_u64().unwrap() - 1
}

#[tokio::test]
async fn sb_19_an_answer_instead_of_the_rooms() {
    let vendors = Vendors::start().await;
    let body = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 1", "parameters": { "retry_after": 1 } });
    vendors.script(&json!([
        { "match": { "chat": "1" }, "times": 2, "answer": { "status": 429, "headers": { "Retry-After": "1" }, "body": body } },
        { "match": { "chat": "2" }, "answer": { "status": 200, "body": "<html>" }, "deliver": true },
        { "match": { "chat": "3" }, "answer": { "status": 204, "body": "x" } }
    ])).await;
    for _ in 0..2 {
        let reply = vendors.try_call("sendMessage", &text(1)).await;
        assert_eq!((reply.status, reply.json()), (Some(429), body.clone()));
        assert_eq!(
            (reply.header("retry-after"), reply.header("content-type")),
            ("1", "application/json")
        );
    }
    let reply = vendors.try_call("sendMessage", &text(2)).await;
    assert_eq!((reply.status, reply.body.as_slice()), (Some(200), b"<html>".as_slice()));
    let reply = vendors.try_call("sendMessage", &text(3)).await;
    assert_eq!((reply.status, reply.body.len()), (Some(204), 0));
    assert_eq!(vendors.get("/_/script/telegram").await.json(), json!([]));
    for (chat, count) in [(1, 0), (2, 1), (3, 0)] {
        assert_eq!(delivered(&vendors, chat).await, count, "{chat}");
    }
    let requests = vendors.requests().await;
    assert_eq!(
        (&requests[0]["status"], &requests[0]["drawn"], &requests[0]["answer"]),
        (&json!(429), &json!(false), &body)
    );
    assert_eq!(requests[0].get("result"), None);
    assert_eq!(
        (&requests[2]["result"]["message_id"], requests[2].get("drawn"), &requests[2]["answer"]),
        (&json!(1), None, &json!("<html>"))
    );
}

#[tokio::test]
async fn sb_19_a_scripted_delivery_still_obeys_the_room() {
    let vendors = Vendors::start().await;
    vendors.script(&json!([{ "answer": { "status": 200, "body": {} }, "deliver": true }])).await;
    let reply = vendors.try_call("sendMessage", &json!({ "chat_id": 1, "text": "" })).await;
    assert_eq!(reply.json(), json!({}));
    assert_eq!(vendors.requests().await[0].get("result"), None);
    assert_eq!(delivered(&vendors, 1).await, 0);
}

#[tokio::test]
async fn sb_19_the_answer_later() {
    let vendors = Vendors::start().await;
    vendors.script(&json!([{ "match": { "method": "sendMessage" }, "delay_ms": 300 }])).await;
    let started = Instant::now();
    assert_eq!(vendors.call("getMe", &json!({})).await.0, 200);
    assert!(started.elapsed() < Duration::from_millis(300));
    let (status, answer) = vendors.call("sendMessage", &text(1)).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!((status, &answer["result"]["message_id"]), (200, &json!(1)));
}

#[tokio::test]
async fn sb_19_connections_are_cut_where_the_item_says() {
    let vendors = Vendors::start().await;
    for (item, headed, count) in [
        (json!({ "close": "before_read" }), false, 0),
        (json!({ "match": { "chat": "5" }, "close": "before_read" }), false, 0),
        (json!({ "close": "after_read" }), false, 1),
        (json!({ "close": "after_read", "deliver": false }), false, 1),
        (json!({ "close": "half_body" }), true, 2),
    ] {
        vendors.script(&json!([item])).await;
        let reply = vendors.try_call("sendMessage", &text(5)).await;
        assert_eq!(reply.status, headed.then_some(200), "{item}");
        if headed {
            let announced: usize = reply.header("content-length").parse().unwrap();
            assert!(!reply.is_whole() && reply.body.len() == announced / 2, "{item}");
        }
        let requests = vendors.requests().await;
        let record = requests.last().unwrap();
        assert_eq!((&record["status"], record.get("answer")), (&Value::Null, None), "{item}");
        let delivered = requests.iter().filter(|record| record.get("result").is_some()).count();
        assert_eq!(delivered, count, "{item}");
        let kept_out = record.get("drawn") == Some(&json!(false));
        assert_eq!(kept_out, record.get("result").is_none(), "{item}");
    }
    let requests = vendors.requests().await;
    assert_eq!(
        (&requests[0]["body"], &requests[0]["chat"]),
        (&Value::Null, &Value::Null),
        "unread"
    );
    assert_eq!(requests[1]["body"]["text"], "x", "read for its chat");
    assert_eq!(vendors.call("sendMessage", &text(5)).await.0, 200, "and then normal");
}

#[tokio::test]
async fn sb_19_a_large_upload_is_cut_before_it_is_read() {
    let vendors = Vendors::start().await;
    vendors
        .script(&json!([{ "match": { "method": "sendDocument" }, "close": "before_read" }]))
        .await;
    let path = format!("/telegram/bot{}/sendDocument", crate::client::TOKEN);
    let kind = [("content-type", "multipart/form-data; boundary=x")];
    let reply = send(vendors.address(), "POST", &path, &kind, &vec![b'x'; 40_000_000]).await;
    assert_eq!(reply.status, None);
    assert_eq!(vendors.requests().await.len(), 1);
}

#[tokio::test]
async fn sb_19_a_put_replaces_and_an_empty_list_clears() {
    let vendors = Vendors::start().await;
    let first = json!([{ "times": 5, "close": "half_body" }]);
    vendors.script(&first).await;
    assert_eq!(vendors.get("/_/script/telegram").await.json(), first);
    vendors.try_call("getMe", &json!({})).await;
    assert_eq!(vendors.get("/_/script/telegram").await.json()[0]["times"], 4);
    vendors.script(&json!([])).await;
    assert_eq!(vendors.call("getMe", &json!({})).await.0, 200);
}
