//! Killed in the middle of a burst: nothing accepted is lost, nothing is sent twice. [SB-39] [D-2]
use crate::process::Sandbox;
use futures_util::StreamExt;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SENDS: usize = 500;
const PEOPLE: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn sb_39_kill_9_in_a_burst_of_500_sends_loses_nothing_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Sandbox::start(folder.path());
    let mut accepted: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let killed = {
        let calls = futures_util::stream::iter(0..SENDS).map(|i| {
            let body = json!({
                "message": format!("message {i:04}"), "channel": "telegram",
                "recipient": (1000 + i % PEOPLE).to_string(),
            });
            let first = &first;
            async move { (i, first.notify(&body).await) }
        });
        let mut answers = calls.buffer_unordered(16);
        while let Some((i, answer)) = answers.next().await {
            if let Some(answer) = answer {
                let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
                accepted.insert(text(&answer["id"]), (text(&answer["send"]["id"]), i));
            }
            if accepted.len() == SENDS / 2 {
                break;
            }
        }
        accepted.len()
    };
    first.kill();
    assert_eq!(killed, SENDS / 2);

    let mut second = Sandbox::start(folder.path());
    assert_eq!(second.key, first.key, "the key survives");
    let statuses =
        settled(&second, accepted.values().map(|(send, _)| send.clone()).collect()).await;
    for (notification, (send, _)) in &accepted {
        let entry = second.get(&format!("/api/notifications/{notification}")).await;
        assert_eq!(entry["id"], **notification, "{entry}");
        let status = statuses[send].as_str();
        assert!(matches!(status, "sent" | "outcome_unknown"), "{send} is {status}");
    }
    once_each(&second, &accepted, &statuses).await;
    assert_eq!(second.terminate(), Some(0));
}

/// Waits until every send is final; gives the statuses.
async fn settled(sandbox: &Sandbox, sends: Vec<String>) -> BTreeMap<String, String> {
    let until = Instant::now() + Duration::from_secs(60);
    let mut statuses = BTreeMap::new();
    for send in sends {
        loop {
            let record = sandbox.get(&format!("/api/sends/{send}")).await;
            let status = record["status"].as_str().unwrap_or("gone").to_owned();
            if !matches!(status.as_str(), "queued" | "sending") {
                statuses.insert(send, status);
                break;
            }
            assert!(Instant::now() < until, "{record}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    statuses
}

/// Each message arrived once at most, and each that was sent arrived. Every text is its own.
async fn once_each(
    sandbox: &Sandbox,
    accepted: &BTreeMap<String, (String, usize)>,
    statuses: &BTreeMap<String, String>,
) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for request in sandbox.received().await {
        if request["call"] == "sendMessage" {
            let text = request["body"]["text"].as_str().unwrap().to_owned();
            *seen.entry(text).or_default() += 1;
        }
    }
    let twice: Vec<_> = seen.iter().filter(|(_, n)| **n > 1).collect();
    assert!(twice.is_empty(), "sent twice: {twice:?}");
    for (send, i) in accepted.values() {
        if statuses[send] == "sent" {
            assert!(seen.contains_key(&format!("message {i:04}")), "{send} never arrived");
        }
    }
}
