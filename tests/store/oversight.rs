//! Notices told once in a while, nodes that live.
use crate::case::{Case, START, at, channel, seconds, snd, time};
use std::sync::Arc;
use tidings::clock::{Millis, StandingClock};
use tidings::ids::{Ids, SystemRandom};
use tidings::inbox::notices::{Kind, Notice, Notices};
use tidings::metrics::Metrics;
use tidings::store::model::Model;
use tidings::store::{At, Beat, Commit, Dead, HourCounts, Inbox, Scope};

crate::contract!(
    nt_51_of_many_occurrences_one_is_told_in_a_while_with_the_count,
    nt_51_of_many_nodes_one_tells,
    d_64_nodes_are_known_by_what_they_last_said_until_they_are_forgotten,
    d_61_a_store_says_how_it_does,
    d_80_an_hours_counts_add_up_and_dead_letters_are_counted,
);

async fn nt_51_of_many_occurrences_one_is_told_in_a_while_with_the_count(case: Case) {
    let hour = seconds(3600);
    let told = async |kind, scope, now| case.store.announce(kind, scope, hour, at(now)).await;
    assert_eq!(told("poison", "web", 0).await, Ok(Some(1)));
    for now in 1..=7 {
        assert_eq!(told("poison", "web", now).await, Ok(None));
    }
    assert_eq!(told("poison", "telegram", 8).await, Ok(Some(1)), "another scope");
    assert_eq!(told("queue_stuck", "web", 8).await, Ok(Some(1)), "another kind");
    assert_eq!(told("poison", "web", 3_599_999).await, Ok(None));
    assert_eq!(told("poison", "web", 3_600_000).await, Ok(Some(9)));
    assert_eq!(told("poison", "web", 3_600_001).await, Ok(None));
    // What was counted long ago is no news.
    assert_eq!(told("poison", "web", 11_000_000).await, Ok(Some(1)));
}

async fn nt_51_of_many_nodes_one_tells(case: Case) {
    let callers: Vec<_> = (0..10)
        .map(|_| {
            let store = case.store.clone();
            tokio::spawn(async move { store.announce("poison", "", seconds(60), at(0)).await })
        })
        .collect();
    let mut told = 0;
    for caller in callers {
        told += usize::from(caller.await.unwrap() == Ok(Some(1)));
    }
    assert_eq!(told, 1);
}

async fn d_64_nodes_are_known_by_what_they_last_said_until_they_are_forgotten(case: Case) {
    let beat = |node: &str, says: &str, millis| Beat {
        node: node.to_owned(),
        says: says.to_owned(),
        seen: time(millis),
    };
    let note = async |node, says, now| case.store.beat(node, says, seconds(60), at(now)).await;
    assert_eq!(note("b", "one web", 0).await, Ok(vec![beat("b", "one web", 0)]));
    let both = vec![beat("a", "two ", 5), beat("b", "one web", 0)];
    assert_eq!(note("a", "two ", 5).await, Ok(both));
    let changed = vec![beat("a", "two ", 5), beat("b", "three", 59_999)];
    assert_eq!(note("b", "three", 59_999).await, Ok(changed));
    assert_eq!(note("b", "three", 60_005).await, Ok(vec![beat("b", "three", 60_005)]));
}

async fn d_80_an_hours_counts_add_up_and_dead_letters_are_counted(case: Case) {
    let counts = |pairs: &[(&str, u64)]| -> HourCounts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let (store, channel) = (&case.store, channel());
    let first = counts(&[("accepted", 2), ("lat:3", 2)]);
    store.add_hour(&channel, "2026113000", &first, Some(9)).await.unwrap();
    let second = counts(&[("accepted", 1), ("failed", 1)]);
    store.add_hour(&channel, "2026113000", &second, None).await.unwrap();
    store.add_hour(&channel, "2026113001", &HourCounts::new(), Some(4)).await.unwrap();
    let asked = ["2026113001", "2026113000", "2026112923"].map(str::to_owned);
    let all = [("accepted", 3), ("backlog", 9), ("failed", 1), ("lat:3", 2)];
    let expected = vec![counts(&[("backlog", 4)]), counts(&all), HourCounts::new()];
    assert_eq!(store.hours(&channel, &asked).await, Ok(expected));

    case.open(crate::case::sent(1, "r"), at(0)).await;
    assert_eq!(store.dead_letters(&channel).await, Ok(0));
    let failed = Commit { dead: Dead::Since(time(1)), ..crate::case::commit(1, 1, "failed") };
    store.commit(failed, at(1)).await.unwrap();
    assert_eq!(store.dead_letters(&channel).await, Ok(1));
}

async fn d_61_a_store_says_how_it_does(case: Case) {
    let condition = case.store.condition().await.unwrap();
    assert_eq!(condition.memory, None, "none of these servers has a bound");
}

fn notices(clock: &Arc<StandingClock>) -> (Arc<Model>, Arc<Metrics>, Notices) {
    let store = Arc::new(Model::new(clock.clone()));
    let metrics = Arc::new(Metrics::default());
    let ids = Arc::new(Ids::new(clock.clone(), Arc::new(SystemRandom)));
    let notices = Notices::new(store.clone(), clock.clone(), ids, metrics.clone(), 100);
    (store, metrics, notices)
}

#[tokio::test]
async fn nt_51_one_entry_an_hour_carries_the_count_since() {
    let clock = Arc::new(StandingClock::at(Millis(START)));
    let (store, _, notices) = notices(&clock);
    let unknown = || Notice::OutcomeUnknown { channel: channel(), send: snd(3) };
    for _ in 0..5 {
        notices.tell(unknown()).await;
    }
    notices.tell(Notice::StoreNotDurable).await;
    clock.set(Millis(START + 3_600_000));
    notices.tell(unknown()).await;
    let listed = store.list(&Scope::Shared, None, 9, At::Store).await.unwrap();
    let ids: Vec<_> = listed.into_iter().map(|(_, id)| id).collect();
    let bodies = store.bodies(&ids).await.unwrap();
    let texts: Vec<String> =
        bodies.into_iter().map(|body| String::from_utf8(body.unwrap().to_vec()).unwrap()).collect();
    assert_eq!(texts.len(), 3);
    assert!(
        texts[0].contains("happened 5 times since the last entry")
            && texts[0].contains("\"count\":\"5\"")
    );
    assert!(texts[1].contains("\"kind\":\"store_not_durable\""));
    assert!(texts[2].contains("\"origin\":\"platform\"") && texts[2].contains("\"audience\":null"));
}

#[tokio::test]
async fn nt_52_failures_are_counted_from_0_for_every_kind() {
    let clock = Arc::new(StandingClock::at(Millis(START)));
    let (_, metrics, _) = notices(&clock);
    let text = metrics.render();
    for kind in Kind::ALL {
        let line =
            format!("tidings_platform_notify_failures_total{{kind=\"{}\"}} 0", kind.as_str());
        assert!(text.contains(&line), "{line}");
    }
}
