//! A gateway that ends at each point of a send's life, 200 sends a point. [D-45]
use crate::child::{Kind, Scene};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const PEOPLE: usize = 40;
const EACH: usize = 5;

crate::on_both_stores!(
    before_open_commits,
    after_open_before_the_answer,
    between_claim_and_begin,
    after_begin_before_a_byte,
    after_the_answer_before_it_is_noted,
    after_a_part_is_noted,
    before_a_send_is_deferred,
    after_begin_with_retry,
);

const RETRY: &str = "on_ambiguous = \"retry\"";

/// The messages of one person: every third is long, so that it goes out in two parts.
fn text(person: usize, number: usize) -> String {
    let word = |n: usize| format!("p{person:02}m{number}w{n:04}");
    let words = if number % 3 == 2 { 500 } else { 1 };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

async fn burst(kind: Kind, at: &str, extra: &str) {
    let scene = Arc::new(Scene::start(kind, extra, Some(at)).await);
    // Some first tries fail, so that there is something to defer.
    let busy = json!({ "ok": false, "error_code": 500, "description": "Internal Server Error" });
    scene.script(&json!([{ "times": 12, "answer": { "status": 500, "body": busy } }])).await;
    let (done, crashes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let nurse = {
        let (scene, done, crashes) = (scene.clone(), done.clone(), crashes.clone());
        tokio::task::spawn_blocking(move || {
            while !done.load(Ordering::SeqCst) {
                crashes.fetch_add(usize::from(scene.revive()), Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(20));
            }
        })
    };
    let people = futures_util::stream::iter(0..PEOPLE).map(|person| {
        let scene = scene.clone();
        async move {
            let mut sends = Vec::new();
            for number in 0..EACH {
                let (name, to) = (format!("{person}-{number}"), (1000 + person).to_string());
                sends.push(scene.accepted(&name, &to, &text(person, number)).await);
            }
            sends
        }
    });
    let sends: Vec<Vec<String>> = people.buffered(PEOPLE).collect().await;
    let mut records = Vec::new();
    for send in sends.iter().flatten() {
        records.push(scene.settled(send).await);
    }
    done.store(true, Ordering::SeqCst);
    nurse.await.unwrap();
    assert_eq!(crashes.load(Ordering::SeqCst), 1, "it ended at {at}, once");
    hold(&scene, &records, !extra.is_empty()).await;
}

/// What must be true whatever happened.
async fn hold(scene: &Scene, records: &[Value], may_repeat: bool) {
    let ids: BTreeSet<_> = records.iter().map(|record| record["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), PEOPLE * EACH, "each call its own send");
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (recipient, text) in scene.received().await {
        let first = text.split_whitespace().next().unwrap().to_owned();
        parts.entry(recipient).or_default().push(first);
    }
    let mut repeated = 0;
    for (recipient, firsts) in &mut parts {
        let before = firsts.len();
        firsts.dedup();
        repeated += before - firsts.len();
        assert!(firsts.is_sorted(), "{recipient} got them out of order: {firsts:?}");
        let once: BTreeSet<_> = firsts.iter().collect();
        assert_eq!(once.len(), firsts.len(), "{recipient} got an old one again: {firsts:?}");
    }
    let mut unknown = 0;
    for record in records {
        let status = record["status"].as_str().unwrap();
        let recipient = record["recipient"].as_str().unwrap();
        let message = record["content"]["message"].as_str().unwrap();
        let got = parts.get(recipient).map(Vec::as_slice).unwrap_or_default();
        let arrived = got.iter().filter(|first| first[..5] == message[..5]).count();
        let all = record["parts"].as_array().unwrap();
        let sent = all.iter().filter(|part| part["status"] == "sent").count();
        match status {
            "sent" => assert_eq!(arrived, all.len(), "{record}"),
            "outcome_unknown" => {
                unknown += 1;
                assert!(arrived == sent || arrived == sent + 1, "{arrived} arrived: {record}");
            }
            other => panic!("a send is {other}: {record}"),
        }
    }
    // Only what was under way at that moment is in doubt.
    assert!(unknown + repeated <= PEOPLE, "{unknown} unknown, {repeated} repeated");
    if may_repeat {
        assert_eq!(unknown, 0, "tried once more instead");
    } else {
        assert_eq!(repeated, 0, "nothing goes out twice");
    }
}

async fn before_open_commits(kind: Kind) {
    burst(kind, "opening 60", "").await;
}

async fn after_open_before_the_answer(kind: Kind) {
    burst(kind, "opened 60", "").await;
}

async fn between_claim_and_begin(kind: Kind) {
    burst(kind, "claimed 40", "").await;
}

async fn after_begin_before_a_byte(kind: Kind) {
    burst(kind, "begun 60", "").await;
}

async fn after_the_answer_before_it_is_noted(kind: Kind) {
    burst(kind, "answered 60", "").await;
}

async fn after_a_part_is_noted(kind: Kind) {
    burst(kind, "noted 60", "").await;
}

async fn before_a_send_is_deferred(kind: Kind) {
    burst(kind, "deciding 8", "").await;
}

async fn after_begin_with_retry(kind: Kind) {
    burst(kind, "begun 60", RETRY).await;
}
