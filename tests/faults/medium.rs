//! A medium that misbehaves: what the record says, and what the person got.
use crate::child::{Kind, Scene};
use serde_json::{Value, json};

crate::on_both_stores!(
    every_way_a_medium_can_fail_ends_as_the_record_says,
    one_person_throttled_holds_up_nobody_else,
);

/// A script item, the status its send ends with, the fault's code, and how often it arrived.
fn ways() -> Vec<(&'static str, Value, &'static str, Option<&'static str>, usize)> {
    let error = |status: u16, rest: Value| {
        let mut body = json!({ "ok": false, "error_code": status, "description": "no" });
        body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!({ "answer": { "status": status, "body": body } })
    };
    let plain = |body: Value| json!({ "answer": { "status": 200, "body": body } });
    vec![
        ("waits", error(429, json!({ "parameters": { "retry_after": 1 } })), "sent", None, 1),
        ("429", error(429, json!({})), "sent", None, 1),
        ("500", error(500, json!({})), "sent", None, 1),
        ("garbage", plain(json!("<html>")), "outcome_unknown", Some("answer_unreadable"), 0),
        (
            "empty",
            json!({ "answer": { "status": 200 } }),
            "outcome_unknown",
            Some("answer_unreadable"),
            0,
        ),
        ("half", json!({ "close": "half_body" }), "outcome_unknown", Some("answer_unreadable"), 1),
        (
            "cut",
            json!({ "close": "after_read", "deliver": true }),
            "outcome_unknown",
            Some("no_answer"),
            1,
        ),
        ("late", json!({ "delay_ms": 3000 }), "outcome_unknown", Some("no_answer"), 1),
        ("400", error(400, json!({})), "failed", None, 0),
    ]
}

async fn every_way_a_medium_can_fail_ends_as_the_record_says(kind: Kind) {
    let scene = Scene::start(kind, "", None).await;
    let mut script = Vec::new();
    for (number, (_, item, _, _, _)) in ways().into_iter().enumerate() {
        let mut item = item;
        item["times"] = json!(1);
        item["match"] = json!({ "method": "sendMessage", "chat": (100 + number).to_string() });
        script.push(item);
    }
    scene.script(&Value::Array(script)).await;
    let mut sends = Vec::new();
    for (number, (name, ..)) in ways().iter().enumerate() {
        let to = (100 + number).to_string();
        sends.push(scene.accepted(name, &to, &format!("{name} first")).await);
        // Whatever becomes of the first, the next goes out.
        sends.push(scene.accepted(&format!("{name} 2"), &to, &format!("{name} second")).await);
    }
    for (number, (name, _, status, code, _)) in ways().into_iter().enumerate() {
        let record = scene.settled(&sends[number * 2]).await;
        assert_eq!(record["status"], status, "{name}: {record}");
        if let Some(code) = code {
            assert_eq!(record["fault"]["code"], code, "{name}: {record}");
        }
        let record = scene.settled(&sends[number * 2 + 1]).await;
        assert_eq!(record["status"], "sent", "{name}: {record}");
    }
    let received = scene.received().await;
    for (number, (name, _, _, _, times)) in ways().into_iter().enumerate() {
        let to = (100 + number).to_string();
        let got = received.iter().filter(|(chat, _)| *chat == to).map(|(_, text)| text.as_str());
        let got: Vec<_> = got.collect();
        let firsts = got.iter().filter(|text| text.ends_with("first")).count();
        // A request that was answered with an error was received all the same: what counts is that
        // no delivery is repeated after one that may have arrived.
        assert!(firsts >= times && firsts <= times + 1, "{name}: {got:?}");
        assert_eq!(got.last().map(|text| text.ends_with("second")), Some(true), "{name}: {got:?}");
    }
}

async fn one_person_throttled_holds_up_nobody_else(kind: Kind) {
    let scene = Scene::start(kind, "", None).await;
    let body = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests",
        "parameters": { "retry_after": 4 } });
    scene
        .script(&json!([{ "match": { "chat": "-1007" }, "times": 1,
            "answer": { "status": 429, "body": body } }]))
        .await;
    let held = scene.accepted("held", "-1007", "to the group that waits").await;
    let mut sends = Vec::new();
    for number in 0..200 {
        let text = format!("number {number:03}");
        sends.push(scene.accepted(&text, "8", &text).await);
    }
    for send in &sends {
        assert_eq!(scene.settled(send).await["status"], "sent");
    }
    let got: Vec<_> = scene.received().await.into_iter().filter(|(to, _)| to == "8").collect();
    let wanted: Vec<_> = (0..200).map(|n| ("8".to_owned(), format!("number {n:03}"))).collect();
    assert_eq!(got, wanted);
    assert_eq!(scene.settled(&held).await["status"], "sent");
}
