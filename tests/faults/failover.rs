//! A server that comes back, or another that takes over, without the last second it acknowledged.
use crate::child::{Kind, Scene};
use futures_util::StreamExt;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const PEOPLE: usize = 10;
const EACH: usize = 10;
/// Messages that reach the medium after the last thing the server keeps.
const LOST: usize = 30;

/// Every call, or every call again; the sends' ids.
async fn call_all(scene: &Scene) -> Vec<String> {
    let people = futures_util::stream::iter(0..PEOPLE).map(|person| async move {
        let mut sends = Vec::new();
        for number in 0..EACH {
            let (name, to) = (format!("{person}-{number}"), (1000 + person).to_string());
            sends.push(scene.accepted(&name, &to, &format!("m{number:02}")).await);
        }
        sends
    });
    people.buffered(PEOPLE).collect::<Vec<_>>().await.concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_77_what_went_out_in_a_lost_second_does_not_go_out_again() {
    let mut scene = Scene::start(Kind::Redis, "", None).await;
    // Slow enough that much is still to do, and something under way, when the server ends.
    scene.script(&json!([{ "times": 1000, "delay_ms": 300 }])).await;
    let sends = call_all(&scene).await;
    let redis = scene.redis.as_ref().unwrap();
    assert_eq!(redis.cli(&["SAVE"]).trim(), "OK");
    let kept = scene.received().await.len();
    assert!(kept + LOST < PEOPLE * EACH, "{kept} went out before anything could be lost");
    let until = Instant::now() + Duration::from_secs(10);
    while scene.received().await.len() < kept + LOST {
        assert!(Instant::now() < until, "the rest does not go out");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    scene.redis.as_mut().unwrap().back_to_saved();

    assert_eq!(call_all(&scene).await, sends, "the same calls are the same sends");
    let mut sent = 0;
    for send in &sends {
        let record = scene.settled(send).await;
        match record["status"].as_str().unwrap() {
            "sent" => sent += 1,
            "outcome_unknown" => {}
            _ => panic!("{record}"),
        }
    }
    let received = scene.received().await;
    assert!(received.len() >= sent, "{} arrived of {sent}", received.len());
    let mut people: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (recipient, text) in received {
        people.entry(recipient).or_default().push(text);
    }
    for (recipient, texts) in &people {
        let once: BTreeSet<_> = texts.iter().collect();
        assert_eq!(once.len(), texts.len(), "{recipient} got one twice: {texts:?}");
        assert!(texts.is_sorted(), "{recipient} got them out of order: {texts:?}");
    }
    // Only what was under way at that moment may be in doubt.
    assert!(sent + PEOPLE >= sends.len(), "{sent} of {} are known to be sent", sends.len());
}
