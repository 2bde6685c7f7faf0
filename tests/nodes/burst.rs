//! A gateway killed in the middle of 2,000 sends.
use crate::fleet::Fleet;
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const PEOPLE: usize = 100;
const EACH: usize = 20;

/// Each person's messages are accepted one after another, over either gateway in turn; callers
/// repeat what got no answer. Then: everything reached the end, nothing went out twice, and each
/// person got theirs in order.
async fn burst(nodes: usize) {
    let mut fleet = Fleet::start(nodes).await;
    let accepted = Arc::new(AtomicUsize::new(0));
    let mut sends: Vec<String> = Vec::new();
    let last = nodes - 1;
    {
        let (fleet_ref, counter) = (&fleet, &accepted);
        let people = futures_util::stream::iter(0..PEOPLE).map(|person| async move {
            let mut sends = Vec::new();
            for number in 0..EACH {
                let name = format!("{person}-{number}");
                let text = format!("message {number:02} to {person}");
                let mut node = (person + number) % (last + 1);
                let answer = loop {
                    let recipient = (1000 + person).to_string();
                    let answer = fleet_ref.notify(node, &name, &recipient, &text).await;
                    match answer {
                        Some(answer) if answer.status == 202 => break answer,
                        Some(answer) => panic!("{} {}", answer.status, answer.json),
                        None => node = (node + 1) % last.max(1),
                    }
                };
                sends.push(answer.json["send"]["id"].as_str().unwrap().to_owned());
                counter.fetch_add(1, Ordering::SeqCst);
            }
            sends
        });
        let pid = fleet.nodes[last].pid();
        let killer = async {
            while accepted.load(Ordering::SeqCst) < PEOPLE * EACH / 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
            assert!(killed.success());
        };
        let all = people.buffer_unordered(16).collect::<Vec<_>>();
        let (all, ()) = futures_util::future::join(all, killer).await;
        sends.extend(all.into_iter().flatten());
    }
    fleet.nodes.truncate(last);
    assert_eq!(sends.iter().collect::<BTreeSet<_>>().len(), PEOPLE * EACH);
    let mut unknown = 0;
    for send in &sends {
        match fleet.settled(0, send).await.as_str() {
            "sent" => {}
            "outcome_unknown" => unknown += 1,
            other => panic!("{send} is {other}"),
        }
    }
    let mut of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (recipient, text) in fleet.received().await {
        of.entry(recipient).or_default().push(text);
    }
    let mut arrived = 0;
    for (recipient, texts) in &of {
        let once: BTreeSet<_> = texts.iter().collect();
        assert_eq!(once.len(), texts.len(), "{recipient} got one twice: {texts:?}");
        assert!(texts.is_sorted(), "{recipient} got them out of order: {texts:?}");
        arrived += texts.len();
    }
    assert!(arrived <= PEOPLE * EACH && arrived + unknown >= PEOPLE * EACH, "{arrived} {unknown}");
    println!("{nodes} nodes: {arrived} arrived, {unknown} unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn d_45_two_nodes_one_killed_in_2000_sends_lose_and_repeat_nothing() {
    burst(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_45_three_nodes_one_killed_in_2000_sends_lose_and_repeat_nothing() {
    burst(3).await;
}
