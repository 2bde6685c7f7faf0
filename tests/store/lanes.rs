//! Lanes: order, leases, tokens, poison.
use crate::case::{Case, LEASE, at, lane, out, seconds, time, tokens};
use bytes::Bytes;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidings::store::{Held, Hold, Lease, QueueDepth, QueueName, Signal, Token, Whereabouts};

crate::contract!(
    a_lane_gives_its_items_in_order_one_at_a_time,
    an_item_is_found_where_it_stands,
    ready_lanes_go_in_the_order_they_became_ready,
    a_claim_brings_as_many_lanes_as_tokens_and_at_most_32,
    delayed_lanes_wait_for_their_time,
    a_claim_makes_64_delayed_lanes_ready_in_the_order_of_their_times,
    d_14_a_token_that_is_not_the_lanes_changes_nothing,
    d_15_what_was_never_made_is_empty,
    d_16_an_ended_lease_leaves_nothing_behind,
    d_20_a_lease_that_ran_out_goes_first_and_is_counted,
    d_20_an_acknowledged_or_deferred_head_starts_a_new_count,
    d_25_an_extended_lease_lasts_from_then,
    d_19_a_buried_item_is_listed_and_its_lane_goes_on,
    d_17_a_lane_that_becomes_ready_is_announced,
    d_3_many_claimers_never_share_a_lane_and_keep_its_order,
);

fn queue() -> QueueName {
    QueueName::parse("route.web")
}

async fn push(case: &Case, name: &str, item: &str, now: i64) -> u64 {
    let item = Bytes::from(item.to_owned());
    case.store.push(&queue(), &lane(name), item, None, at(now)).await.unwrap()
}

fn items(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| std::str::from_utf8(&lease.item).unwrap()).collect()
}

/// The counts, and the invariant: something waits exactly when some lane stands somewhere.
async fn depth(case: &Case, now: i64) -> QueueDepth {
    let depth = case.store.depth(&queue(), at(now)).await.unwrap();
    assert_eq!(depth.items > 0, depth.ready + depth.delayed + depth.leased > 0, "{depth:?}");
    depth
}

async fn a_lane_gives_its_items_in_order_one_at_a_time(case: Case) {
    for (number, item) in ["one", "two", "three"].into_iter().enumerate() {
        assert_eq!(push(&case, "a", item, 0).await, number as u64 + 1);
    }
    for expected in ["one", "two", "three"] {
        let claimed = case.claim(&queue(), 5, at(1)).await;
        assert_eq!(items(&claimed.leases), [expected]);
        assert_eq!(case.claim(&queue(), 5, at(1)).await.leases, []);
        assert_eq!(case.store.ack(&claimed.leases[0].hold, at(2)).await, Ok(Held::Done));
    }
    assert_eq!(depth(&case, 3).await, QueueDepth::default());
}

async fn an_item_is_found_where_it_stands(case: Case) {
    let find = async |name: &str, item: &str| {
        case.store.whereabouts(&queue(), &lane(name), item.as_bytes()).await.unwrap()
    };
    for item in ["one", "two"] {
        push(&case, "a", item, 0).await;
    }
    let stands = |ahead, is_worked, due| {
        Some(Whereabouts { ahead, head: Bytes::from_static(b"one"), is_worked, due })
    };
    assert_eq!(find("a", "one").await, stands(0, false, None));
    assert_eq!(find("a", "two").await, stands(1, false, None));
    assert_eq!((find("a", "three").await, find("b", "one").await), (None, None));
    let hold = case.take(&queue(), at(0)).await;
    assert_eq!(find("a", "two").await, stands(1, true, None));
    case.store.defer_lane(&hold, time(900), at(1)).await.unwrap();
    assert_eq!(find("a", "one").await, stands(0, false, Some(time(900))));
}

async fn ready_lanes_go_in_the_order_they_became_ready(case: Case) {
    for name in ["b", "a", "c"] {
        push(&case, name, name, 0).await;
        push(&case, name, &format!("{name}2"), 0).await;
    }
    let first = case.claim(&queue(), 1, at(1)).await;
    assert_eq!(items(&first.leases), ["b"]);
    case.store.ack(&first.leases[0].hold, at(1)).await.unwrap();
    let rest = case.claim(&queue(), 9, at(1)).await;
    assert_eq!(items(&rest.leases), ["a", "c", "b2"]);
}

async fn a_claim_brings_as_many_lanes_as_tokens_and_at_most_32(case: Case) {
    for number in 0..40 {
        push(&case, &format!("lane {number:02}"), "x", 0).await;
    }
    assert_eq!(case.claim(&queue(), 0, at(1)).await.leases.len(), 0);
    assert_eq!(case.claim(&queue(), 3, at(1)).await.leases.len(), 3);
    assert_eq!(case.claim(&queue(), 99, at(1)).await.leases.len(), 32);
    assert_eq!(case.claim(&queue(), 99, at(1)).await.leases.len(), 5);
    let counts = QueueDepth { items: 40, leased: 40, ..QueueDepth::default() };
    assert_eq!(depth(&case, 2).await, counts);
}

async fn delayed_lanes_wait_for_their_time(case: Case) {
    let due = Some(time(500));
    let item = Bytes::from_static(b"later");
    case.store.push(&queue(), &lane("a"), item, due, at(0)).await.unwrap();
    push(&case, "a", "behind", 0).await;
    let early = case.claim(&queue(), 1, at(499)).await;
    assert_eq!((early.leases.len(), early.next_due), (0, due));
    let counts = QueueDepth { items: 2, delayed: 1, ..QueueDepth::default() };
    assert_eq!(depth(&case, 499).await, counts);
    let counts = QueueDepth { items: 2, ready: 1, oldest_ready: due, ..QueueDepth::default() };
    assert_eq!(depth(&case, 500).await, counts);
    let claimed = case.claim(&queue(), 1, at(500)).await;
    assert_eq!(items(&claimed.leases), ["later"]);
    assert_eq!(claimed.next_due, Some(time(60_500)), "when this very lease runs out");
    let hold = &claimed.leases[0].hold;
    assert_eq!(case.store.defer_lane(hold, time(900), at(600)).await, Ok(Held::Done));
    assert_eq!(case.claim(&queue(), 1, at(899)).await.next_due, Some(time(900)));
    assert_eq!(items(&case.claim(&queue(), 1, at(900)).await.leases), ["later"]);
}

async fn a_claim_makes_64_delayed_lanes_ready_in_the_order_of_their_times(case: Case) {
    for number in 0..70 {
        let name = lane(&format!("{:02}", 69 - number));
        let due = Some(time(100 + number));
        case.store.push(&queue(), &name, Bytes::new(), due, at(0)).await.unwrap();
    }
    let mut given = Vec::new();
    for expected in [32, 32, 6, 0] {
        let claimed = case.claim(&queue(), 32, at(200)).await;
        assert_eq!(claimed.leases.len(), expected);
        given.extend(claimed.leases.into_iter().map(|lease| lease.hold.lane.0));
        if given.len() == 32 {
            assert_eq!(claimed.next_due, Some(time(164)), "more are due than one claim moves");
        }
    }
    let expected: Vec<String> = (0..70).rev().map(|number| format!("{number:02}")).collect();
    assert_eq!(given, expected);
}

async fn d_14_a_token_that_is_not_the_lanes_changes_nothing(case: Case) {
    push(&case, "a", "one", 0).await;
    push(&case, "a", "two", 0).await;
    let old = case.take(&queue(), at(0)).await;
    let now = 60_000;
    let new = case.take(&queue(), at(now)).await;
    let forged = Hold { token: Token("other:1".into()), ..new.clone() };
    let elsewhere = Hold { lane: lane("b"), ..new.clone() };
    let before = depth(&case, now).await;
    for stale in [&old, &forged, &elsewhere] {
        assert_eq!(case.store.ack(stale, at(now)).await, Ok(Held::Lost));
        assert_eq!(case.store.defer_lane(stale, time(now), at(now)).await, Ok(Held::Lost));
        assert_eq!(case.store.bury(stale, "no", at(now)).await, Ok(Held::Lost));
        let still = case.store.extend(vec![stale.clone()], seconds(600), at(now)).await;
        assert_eq!(still, Ok(vec![]));
    }
    assert_eq!(depth(&case, now).await, before);
    assert_eq!(case.store.poison(9).await, Ok(vec![]));
    assert_eq!(case.store.ack(&new, at(now)).await, Ok(Held::Done));
    assert_eq!(case.store.ack(&new, at(now)).await, Ok(Held::Lost), "a token counts once");
    assert_eq!(items(&case.claim(&queue(), 1, at(now)).await.leases), ["two"]);
}

async fn d_15_what_was_never_made_is_empty(case: Case) {
    let claimed = case.claim(&queue(), 3, at(0)).await;
    assert_eq!((claimed.leases.len(), claimed.next_due), (0, None));
    assert_eq!(depth(&case, 0).await, QueueDepth::default());
    let hold = Hold { queue: queue(), lane: lane("a"), token: tokens(1).remove(0) };
    assert_eq!(case.store.ack(&hold, at(0)).await, Ok(Held::Lost));
    assert_eq!(case.store.poison(3).await, Ok(vec![]));
    push(&case, "a", "first", 0).await;
    assert_eq!(items(&case.claim(&queue(), 1, at(0)).await.leases), ["first"]);
}

async fn d_16_an_ended_lease_leaves_nothing_behind(case: Case) {
    for name in ["acked", "deferred", "buried", "kept"] {
        push(&case, name, "one", 0).await;
        push(&case, name, "two", 0).await;
    }
    let leases = case.claim(&queue(), 4, at(0)).await.leases;
    assert_eq!(depth(&case, 0).await.leased, 4);
    case.store.ack(&leases[0].hold, at(1)).await.unwrap();
    case.store.defer_lane(&leases[1].hold, time(9_000), at(1)).await.unwrap();
    case.store.bury(&leases[2].hold, "bad", at(1)).await.unwrap();
    let counts = depth(&case, 2).await;
    let places = (counts.items, counts.ready, counts.delayed, counts.leased);
    assert_eq!(places, (6, 2, 1, 1));
    // Long after the old leases' deadline nothing comes back of them but the one still held.
    let later = case.claim(&queue(), 9, at(70_000)).await.leases;
    let reaped: Vec<_> = later.iter().map(|l| (l.hold.lane.0.as_str(), l.reaped)).collect();
    let expected = [("kept", true), ("acked", false), ("buried", false), ("deferred", false)];
    assert_eq!(reaped, expected);
}

async fn d_20_a_lease_that_ran_out_goes_first_and_is_counted(case: Case) {
    push(&case, "a", "one", 0).await;
    let first = case.claim(&queue(), 1, at(0)).await.leases;
    assert_eq!((first[0].reaps, first[0].reaped), (0, false));
    push(&case, "b", "other", 1).await;
    let lease = i64::try_from(LEASE.as_millis()).unwrap();
    let other = case.claim(&queue(), 1, at(lease - 1)).await.leases;
    assert_eq!(items(&other), ["other"]);
    case.store.ack(&other[0].hold, at(lease - 1)).await.unwrap();
    push(&case, "c", "ready all the time", 1).await;
    for reaps in 1..=5 {
        let again = case.claim(&queue(), 1, at(lease * i64::from(reaps))).await.leases;
        assert_eq!((items(&again), again[0].reaps, again[0].reaped), (vec!["one"], reaps, true));
    }
    // Until somebody takes it over, a lease that ran out is still the lane's.
    let held = case.take(&queue(), at(lease * 6)).await;
    assert_eq!(held.lane, lane("a"));
    assert_eq!(case.store.ack(&held, at(lease * 9)).await, Ok(Held::Done));
}

async fn d_20_an_acknowledged_or_deferred_head_starts_a_new_count(case: Case) {
    push(&case, "a", "one", 0).await;
    push(&case, "a", "two", 0).await;
    case.take(&queue(), at(0)).await;
    let reaped = case.claim(&queue(), 1, at(60_000)).await.leases;
    assert_eq!(reaped[0].reaps, 1);
    case.store.defer_lane(&reaped[0].hold, time(60_001), at(60_000)).await.unwrap();
    let deferred = case.claim(&queue(), 1, at(60_001)).await.leases;
    assert_eq!((deferred[0].reaps, deferred[0].reaped), (0, false));
    let reaped = case.claim(&queue(), 1, at(120_001)).await.leases;
    case.store.ack(&reaped[0].hold, at(120_001)).await.unwrap();
    let next = case.claim(&queue(), 1, at(120_002)).await.leases;
    assert_eq!((items(&next), next[0].reaps, next[0].reaped), (vec!["two"], 0, false));
}

async fn d_25_an_extended_lease_lasts_from_then(case: Case) {
    for name in ["a", "b"] {
        push(&case, name, name, 0).await;
    }
    let mut holds: Vec<Hold> =
        case.claim(&queue(), 2, at(0)).await.leases.into_iter().map(|l| l.hold).collect();
    case.store.ack(&holds[1], at(1)).await.unwrap();
    let still = case.store.extend(holds.clone(), LEASE, at(20_000)).await.unwrap();
    assert_eq!(still, [holds.remove(0)]);
    let early = case.claim(&queue(), 1, at(79_999)).await;
    assert_eq!((early.leases.len(), early.next_due), (0, Some(time(80_000))));
    assert_eq!(items(&case.claim(&queue(), 1, at(80_000)).await.leases), ["a"]);
}

async fn d_19_a_buried_item_is_listed_and_its_lane_goes_on(case: Case) {
    for item in [&b"good"[..], &[0xFF, 0xFE, 0]] {
        case.store.push(&queue(), &lane("a"), item.into(), None, at(0)).await.unwrap();
    }
    push(&case, "a", "next", 0).await;
    for reason in ["first", "second"] {
        let hold = case.take(&queue(), at(5)).await;
        assert_eq!(case.store.bury(&hold, reason, at(6)).await, Ok(Held::Done));
    }
    let poison = case.store.poison(9).await.unwrap();
    let seen: Vec<_> =
        poison.iter().map(|p| (p.reason.as_str(), p.item.as_str(), p.size, p.at)).collect();
    assert_eq!(seen, [("second", "", 3, time(6)), ("first", "good", 4, time(6))]);
    assert_eq!(case.store.poison(1).await.unwrap().len(), 1);
    assert_eq!(items(&case.claim(&queue(), 1, at(7)).await.leases), ["next"]);
    // The list holds the newest thousand.
    for number in 0..1_005 {
        push(&case, "p", "p", 8).await;
        let claimed = case.claim(&queue(), 1, at(8)).await.leases;
        case.store.bury(&claimed[0].hold, &number.to_string(), at(8)).await.unwrap();
    }
    let poison = case.store.poison(2_000).await.unwrap();
    assert_eq!((poison.len(), poison[0].reason.as_str()), (1_000, "1004"));
}

async fn d_17_a_lane_that_becomes_ready_is_announced(case: Case) {
    let mut signals = case.store.signals();
    let mut next = async || tokio::time::timeout(Duration::from_secs(5), signals.recv()).await;
    let woken = Ok(Ok(Signal::Queue(queue())));
    push(&case, "a", "one", 0).await;
    assert_eq!(next().await, woken);
    push(&case, "a", "two", 0).await; // no new lane, nothing to announce
    let hold = case.take(&queue(), at(0)).await;
    case.store.defer_lane(&hold, time(0), at(0)).await.unwrap();
    assert_eq!(next().await, woken);
    let hold = case.take(&queue(), at(0)).await;
    case.store.ack(&hold, at(0)).await.unwrap();
    assert_eq!(next().await, woken);
    let hold = case.take(&queue(), at(0)).await;
    case.store.ack(&hold, at(0)).await.unwrap();
    push(&case, "b", "three", 0).await;
    assert_eq!(next().await, woken);
    assert!(signals.try_recv().is_err(), "and nothing besides");
}

/// Twelve claimers on sixteen lanes of twenty items: while one holds a lane no other gets it, and
/// what each lane gave is what was pushed, in that order.
async fn d_3_many_claimers_never_share_a_lane_and_keep_its_order(case: Case) {
    const LANES: usize = 16;
    const ITEMS: usize = 20;
    let store = case.store.clone();
    for item in 0..ITEMS {
        for number in 0..LANES {
            let name = lane(&format!("lane {number}"));
            let item = Bytes::from(format!("{item:02}"));
            store.push(&out(), &name, item, None, at(0)).await.unwrap();
        }
    }
    let held = Arc::new(Mutex::new(HashSet::new()));
    let given: Arc<Mutex<BTreeMap<String, Vec<String>>>> = Arc::default();
    let claimers: Vec<_> = (0..12)
        .map(|_| {
            let (store, held, given) = (store.clone(), held.clone(), given.clone());
            tokio::spawn(async move {
                loop {
                    let claimed = store.claim(&out(), tokens(3), LEASE, None, at(1)).await.unwrap();
                    if claimed.leases.is_empty() {
                        if store.depth(&out(), at(1)).await.unwrap().items == 0 {
                            return;
                        }
                        tokio::task::yield_now().await;
                    }
                    for lease in &claimed.leases {
                        let name = lease.hold.lane.0.clone();
                        assert!(held.lock().unwrap().insert(name.clone()), "{name} twice");
                        let item = String::from_utf8(lease.item.to_vec()).unwrap();
                        given.lock().unwrap().entry(name).or_default().push(item);
                    }
                    tokio::task::yield_now().await;
                    for lease in claimed.leases {
                        held.lock().unwrap().remove(&lease.hold.lane.0);
                        assert_eq!(store.ack(&lease.hold, at(1)).await, Ok(Held::Done));
                    }
                }
            })
        })
        .collect();
    for claimer in claimers {
        claimer.await.unwrap();
    }
    let expected: Vec<String> = (0..ITEMS).map(|item| format!("{item:02}")).collect();
    let given = given.lock().unwrap();
    assert_eq!(given.len(), LANES);
    assert!(given.values().all(|items| *items == expected), "{given:?}");
}
