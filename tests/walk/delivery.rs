//! Delivery against the imitated Bot API: previews, order, faults, waiting, attempts.
use crate::world::{Plan, TOKEN, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn text(message: &str) -> Value {
    json!({ "message": message, "channel": "telegram" })
}

/// A request of a preview and one received, made comparable: the documented literals aside.
fn comparable(preview: &Value, send: &str) -> Value {
    let text = preview.to_string().replace("<send>", send.trim_start_matches("snd_"));
    serde_json::from_str(&text).unwrap()
}

/// The body of a received request in a preview's shape.
fn received_body(request: &Value) -> Value {
    let Some(parts) = request["parts"].as_array() else { return request["body"].clone() };
    parts
        .iter()
        .map(|part| match part["sha256"].as_str() {
            Some(_) => json!({ "name": part["name"], "filename": part["filename"] }),
            None => json!({ "name": part["name"], "value": part["value"] }),
        })
        .collect()
}

fn preview_body(request: &Value) -> Value {
    let Some(fields) = request["body"].as_array() else { return request["body"].clone() };
    fields
        .iter()
        .map(|field| match field.get("value") {
            Some(value) => json!({ "name": field["name"], "value": value }),
            None => json!({ "name": field["name"], "filename": field["filename"] }),
        })
        .collect()
}

#[tokio::test]
async fn nt_55_sb_30_a_preview_is_what_the_medium_then_receives() {
    let world = World::ordinary().await;
    let mut compared = 0;
    for sample in testkit::corpus::corpus() {
        let (name, mut body) = (sample.name, sample.json);
        body["channel"] = json!("telegram");
        body["recipient"] = json!("42");
        let preview = world.post("/api/notifications/preview", &body).await.json();
        let row = &preview["channels"][0];
        let before = world.received().await.len();
        let answer = world.deliver(&body).await;
        match row["verdict"].as_str() {
            Some("native" | "degraded") => {
                assert_eq!(answer.status, 200, "{name}: {}", answer.text);
                let answer = answer.json();
                assert_eq!(answer["send"]["degrades"], row["degrades"], "{name}");
                let send = answer["send"]["id"].as_str().unwrap();
                let previewed: Vec<Value> = row["requests"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|r| r["method"] == "POST")
                    .map(|r| comparable(r, send))
                    .collect();
                let received = world.received().await[before..].to_vec();
                assert_eq!(received.len(), previewed.len(), "{name}");
                for (request, preview) in received.iter().zip(&previewed) {
                    assert_eq!(received_body(request), preview_body(preview), "{name}");
                    let path = request["path"].as_str().unwrap();
                    assert!(preview["url"].as_str().unwrap().ends_with(path), "{name}: {path}");
                }
                compared += 1;
            }
            verdict => {
                assert!(matches!(answer.status, 400 | 501), "{name}: {verdict:?} {}", answer.text);
                assert_eq!(answer.code(), row["problem"]["code"], "{name}");
                assert_eq!(world.received().await.len(), before, "{name}");
            }
        }
    }
    assert!(compared >= 30, "only {compared} contents were compared");
    world.stop().await;
}

#[tokio::test]
async fn d_1_a_send_goes_out_and_its_record_tells_how() {
    let world = World::ordinary().await;
    let answer = world.notify(&text("hello")).await;
    assert_eq!(answer.status, 202);
    let made = answer.json();
    assert_eq!(made["send"]["status"], "queued");
    assert_eq!(made["send"]["parts"][0]["status"], "queued");
    let path = format!("/api/sends/{}", made["send"]["id"].as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(10);
    let record = loop {
        let record = world.get(&path).await.json();
        if record["status"] == "sent" {
            break record;
        }
        assert!(Instant::now() < until, "{record}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(record["content"]["message"], "hello");
    assert!(record["parts"][0]["provider_message_id"].as_str().unwrap().starts_with("42:"));
    let history: Vec<(&str, &str)> = record["parts"][0]["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["from"].as_str().unwrap(), m["to"].as_str().unwrap()))
        .collect();
    assert_eq!(history, [("queued", "sending"), ("sending", "sent")]);
    let exchange = &record["attempts"][0]["exchanges"][0];
    assert_eq!(exchange["response"]["status"], 200);
    assert!(exchange["request"]["body"].as_str().unwrap().contains("hello"));
    assert!(!record.to_string().contains(TOKEN), "the token is nowhere");
    assert!(!record.to_string().contains("AAAAAAAA"));
    world.stop().await;
}

#[tokio::test]
async fn d_23_d_33_sends_to_one_person_go_out_in_the_order_they_were_taken() {
    let world = World::ordinary().await;
    for i in 0..60 {
        let mut body = text(&format!("n{i}"));
        body["recipient"] = json!(if i % 2 == 0 { "100" } else { "200" });
        assert_eq!(world.notify(&body).await.status, 202);
    }
    let until = Instant::now() + Duration::from_secs(20);
    while world.received().await.len() < 60 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let received = world.received().await;
    for (chat, first) in [("100", 0), ("200", 1)] {
        let texts: Vec<String> = received
            .iter()
            .filter(|r| r["chat"].to_string().trim_matches('"') == chat)
            .map(|r| r["body"]["text"].as_str().unwrap().to_owned())
            .collect();
        let wanted: Vec<String> = (first..60).step_by(2).map(|i| format!("n{i}")).collect();
        assert_eq!(texts, wanted);
    }
    world.stop().await;
}

#[tokio::test]
async fn sb_36_a_throttled_chat_waits_its_vendors_time_and_nobody_else_does() {
    let world = World::ordinary().await;
    let throttle = json!({ "status": 429, "body": { "ok": false, "error_code": 429,
        "description": "Too Many Requests: retry after 1", "parameters": { "retry_after": 1 } } });
    world
        .script(&json!([
            { "match": { "chat": "1" }, "times": 2, "answer": throttle },
            { "match": { "chat": "3" }, "close": "after_read" },
        ]))
        .await;
    let to = |chat: &str| json!({ "message": "m", "channel": "telegram", "recipient": chat });
    let started = Instant::now();
    let (one, two, three) = tokio::join!(
        async { world.deliver(&to("1")).await },
        async { (world.deliver(&to("2")).await, started.elapsed()) },
        async { world.deliver(&to("3")).await },
    );
    assert_eq!(one.status, 200, "{}", one.text);
    assert!(started.elapsed() >= Duration::from_secs(2), "both waits were kept");
    assert_eq!(two.0.status, 200);
    assert!(two.1 < Duration::from_secs(2));
    assert_eq!((three.status, three.code().as_str()), (502, "outcome_unknown"), "{}", three.text);
    let show = |answer: Value| format!("/api/sends/{}", answer["send"]["id"].as_str().unwrap());
    let record = world.get(&show(one.json())).await.json();
    assert_eq!(record["tries"], 0, "a throttle counts as no try");
    assert_eq!(record["attempts"].as_array().unwrap().len(), 3);
    let record = world.get(&show(three.json())).await.json();
    assert_eq!(record["status"], "outcome_unknown");
    assert_eq!(record["fault"]["class"], "ambiguous");
    world.stop().await;
}

#[tokio::test]
async fn an_ambiguous_outcome_is_tried_once_more_only_where_the_channel_says_so() {
    let plan = Plan::default()
        .set("channels.telegram.on_ambiguous", "'retry'")
        .set("delivery.schedule", "['1s','2s']")
        .with_vendors();
    let world = World::start(plan).await;
    world.script(&json!([{ "match": { "chat": "7" }, "close": "after_read" }])).await;
    let answer =
        world.deliver(&json!({ "message": "m", "channel": "telegram", "recipient": "7" })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let path = format!("/api/sends/{}", answer.json()["send"]["id"].as_str().unwrap());
    let record = world.get(&path).await.json();
    assert_eq!(record["flags"], json!(["duplicate_suspected"]));
    assert_eq!(world.received().await.len(), 2);
    world.stop().await;
}

#[tokio::test]
async fn a_refusal_by_the_medium_is_502_and_later_parts_are_cancelled() {
    let world = World::ordinary().await;
    let blocked = json!({ "status": 403, "body": { "ok": false, "error_code": 403,
        "description": "Forbidden: bot was blocked by the user" } });
    world.script(&json!([{ "match": { "method": "sendLocation" }, "answer": blocked }])).await;
    let mut body = text("after the pin");
    body["location"] = json!({ "latitude": 1.5, "longitude": 2.5 });
    let answer = world.deliver(&body).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (502, "delivery_refused"),
        "{}",
        answer.text
    );
    let problem = answer.json();
    let send = &problem["send"];
    assert_eq!(send["status"], "failed");
    assert_eq!(send["fault"]["class"], "recipient_gone");
    assert_eq!(send["fault"]["code"], "blocked");
    let statuses: Vec<&str> =
        send["parts"].as_array().unwrap().iter().map(|p| p["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["failed", "cancelled"]);
    assert_eq!(
        problem["notification"],
        world.get("/api/notifications").await.json()["notifications"][0]["id"]
    );
    let dead = world.get("/api/sends?status=failed").await.json();
    assert_eq!(dead["sends"][0]["id"], send["id"]);
    world.stop().await;
}

#[tokio::test]
async fn d_28_a_retry_beyond_the_wait_is_503_at_once_with_the_time_until_then() {
    let world = World::ordinary().await;
    let down = json!({ "status": 503, "body": "down" });
    world.script(&json!([{ "times": 9, "answer": down }])).await;
    let started = Instant::now();
    let wait = [("prefer", "wait=2")];
    let answer = world.post_with("/api/notifications", &text("x"), &world.admin, &wait).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "delivery_unavailable"),
        "{}",
        answer.text
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((5..=6).contains(&after), "{after}");
    assert_eq!(answer.json()["retry_after"], after);
    assert_eq!(answer.header("preference-applied"), Some("wait=2"));
    world.stop().await;
}

#[tokio::test]
async fn d_40_what_is_not_accepted_in_time_expires_and_makes_no_request() {
    let world = World::ordinary().await;
    world.script(&json!([{ "match": { "chat": "42" }, "delay_ms": 4000 }])).await;
    let first = world.notify(&text("slow")).await;
    assert_eq!(first.status, 202);
    let soon = tidings::clock::Millis(world.gateway.app.clock.now().0 + 2000).rfc3339();
    let mut body = text("late");
    body["expires_at"] = json!(soon);
    let answer = world.deliver(&body).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (502, "delivery_refused"),
        "{}",
        answer.text
    );
    assert_eq!(answer.json()["send"]["status"], "expired");
    let received = world.received().await;
    assert!(received.iter().all(|r| r["body"]["text"] != "late"));
    world.stop().await;
}

#[tokio::test]
async fn t_9_a_photo_the_vendor_cannot_fetch_goes_as_an_upload_in_the_same_attempt() {
    let world = World::ordinary().await;
    let failed = json!({ "status": 400, "body": { "ok": false, "error_code": 400,
        "description": "Bad Request: failed to get HTTP URL content" } });
    world.script(&json!([{ "match": { "method": "sendPhoto" }, "answer": failed }])).await;
    let mut body = text("see");
    body["media"] = json!([{ "kind": "image", "url": "https://img.example.test/r.png" }]);
    let answer = world.deliver(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let path = format!("/api/sends/{}", answer.json()["send"]["id"].as_str().unwrap());
    let record = world.get(&path).await.json();
    let attempts = record["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1);
    let notes: Vec<&Value> =
        attempts[0]["exchanges"].as_array().unwrap().iter().map(|e| &e["note"]).collect();
    assert!(notes.contains(&&json!("sandbox: stand-in")), "{notes:?}");
    world.stop().await;
}

#[tokio::test]
async fn t_11_t_31_a_moved_group_is_followed_and_no_part_is_repeated() {
    let world = World::ordinary().await;
    let moved = json!({ "status": 400, "body": { "ok": false, "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": { "migrate_to_chat_id": -100_900 } } });
    world
        .script(&json!([{ "match": { "chat": "-500", "method": "sendMessage" }, "answer": moved }]))
        .await;
    let body = json!({ "message": "text", "channel": "telegram", "recipient": "-500",
        "location": { "latitude": 1, "longitude": 2 } });
    let answer = world.deliver(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let calls: Vec<(String, String)> = world
        .received()
        .await
        .iter()
        .map(|r| {
            (
                r["call"].as_str().unwrap().to_owned(),
                r["chat"].to_string().trim_matches('"').to_owned(),
            )
        })
        .collect();
    let wanted = [("sendLocation", "-500"), ("sendMessage", "-500"), ("sendMessage", "-100900")];
    assert_eq!(calls, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let path = format!("/api/sends/{}", answer.json()["send"]["id"].as_str().unwrap());
    let record = world.get(&path).await.json();
    assert_eq!(record["recipient_now"], "-100900");
    world.stop().await;
}

#[tokio::test]
async fn d_56_a_planted_secret_is_found_nowhere_and_metadata_stays_here() {
    let world = World::ordinary().await;
    let mut body = text("x");
    body["metadata"] = json!({ "k": "meta-c4n4ry" });
    let answer = world.deliver(&body).await;
    let id = answer.json()["send"]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.get(&format!("/api/sends/{id}")).await.json()["metadata"]["k"], "meta-c4n4ry");
    let secret = TOKEN.split(':').nth(1).unwrap();
    for path in ["/api/sends", "/api/channels", "/metrics", "/api/notifications", "/openapi.json"] {
        let text = world.get(path).await.text;
        assert!(!text.contains(secret), "{path}");
        assert!(path == "/api/notifications" || !text.contains("c4n4ry"), "{path}");
    }
    let received = serde_json::to_string(&world.received().await).unwrap();
    assert!(!received.contains("c4n4ry") && !received.contains(secret));
    world.stop().await;
}

#[tokio::test]
async fn g_10_d_24_after_a_failure_at_any_part_only_what_is_missing_goes_out_again() {
    let plan = Plan::default().set("delivery.schedule", "['1s','1s']").with_vendors();
    let world = World::start(plan).await;
    let calls = ["sendPhoto", "sendDocument", "sendLocation", "sendMessage"];
    for (k, failing) in calls.iter().enumerate() {
        let chat = (9000 + k).to_string();
        let down = json!({ "status": 502, "body": "bad gateway" });
        world
            .script(&json!([{ "match": { "method": failing, "chat": chat }, "answer": down }]))
            .await;
        let body = json!({
            "message": "after the files", "channel": "telegram", "recipient": chat,
            "media": [{ "kind": "image", "url": "https://h.example.test/a.png", "caption": "c" },
                      { "kind": "document", "url": "https://h.example.test/a.pdf" }],
            "location": { "latitude": 1, "longitude": 2 },
            "options": [{ "kind": "reply", "text": "Yes" }],
        });
        let answer = world.deliver(&body).await;
        assert_eq!(answer.status, 200, "{failing}: {}", answer.text);
        let made: Vec<String> = world
            .received()
            .await
            .iter()
            .filter(|r| r["chat"].to_string().trim_matches('"') == chat)
            .map(|r| r["call"].as_str().unwrap().to_owned())
            .collect();
        let mut wanted: Vec<&str> = calls[..=k].to_vec();
        wanted.extend(&calls[k..]);
        assert_eq!(made, wanted, "failing at {failing}");
    }
    world.stop().await;
}
