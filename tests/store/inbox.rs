//! The inbox: ring, slices, bodies.
use crate::case::{Case, addressed, at, body, note, ntf, seconds, sent, snd};
use contract::ids::decode26;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tidings::store::{At, Entry, OpenStep, Opened, Scope, Sweep};

crate::contract!(
    nt_34_ring_and_slice_point_at_one_body,
    nt_35_order_is_push_order_whatever_the_ids_and_times_say,
    nt_35_concurrent_pushes_leave_the_bound_in_strict_order,
    nt_36_a_push_past_the_bound_evicts_from_that_list_only,
    nt_37_eviction_never_touches_the_send,
    nt_40_a_reader_never_sees_an_entry_without_its_send,
    nt_41_a_repeat_with_the_same_id_changes_nothing,
    nt_42_a_body_goes_when_neither_list_holds_it,
    nt_43_a_lapsed_slice_is_empty_at_once_and_swept_later,
    nt_43_a_push_to_a_lapsed_slice_begins_it_anew,
    nt_63_a_lowered_bound_trims_200_a_push,
    nt_44_pages_are_stable_while_entries_arrive,
);

fn person() -> Scope {
    Scope::Slice("person".into())
}

/// The numbers of the listed notifications, newest first.
async fn listed(case: &Case, scope: &Scope, at: At) -> Vec<u128> {
    let list = case.store.list(scope, None, 10_000, at).await.unwrap();
    assert!(list.windows(2).all(|pair| pair[0].0 > pair[1].0), "newest first: {list:?}");
    list.iter().map(|(_, id)| decode26(id.tail()).unwrap()).collect()
}

async fn nt_34_ring_and_slice_point_at_one_body(case: Case) {
    case.open(addressed(1, "person"), at(0)).await;
    case.open(note(2), at(0)).await;
    case.open(addressed(3, "other"), at(0)).await;
    assert_eq!(listed(&case, &Scope::Shared, at(1)).await, [3, 2, 1]);
    assert_eq!(listed(&case, &person(), at(1)).await, [1]);
    assert_eq!(listed(&case, &Scope::Slice("nobody".into()), at(1)).await, []);
    let ring = case.store.list(&Scope::Shared, None, 9, at(1)).await.unwrap();
    let slice = case.store.list(&person(), None, 9, at(1)).await.unwrap();
    assert_eq!(ring[2], slice[0], "one number in both lists");
    let entry = Entry { body: body(1), in_ring: true, in_slice: true };
    assert_eq!(case.store.entry(&ntf(1), at(1)).await, Ok(Some(entry)));
    let entry = Entry { body: body(2), in_ring: true, in_slice: false };
    assert_eq!(case.store.entry(&ntf(2), at(1)).await, Ok(Some(entry)));
    assert_eq!(case.store.entry(&ntf(9), at(1)).await, Ok(None));
    let bodies = case.store.bodies(&[ntf(3), ntf(9), ntf(1)]).await;
    assert_eq!(bodies, Ok(vec![Some(body(3)), None, Some(body(1))]));
}

async fn nt_35_order_is_push_order_whatever_the_ids_and_times_say(case: Case) {
    for (number, now) in [(5, 900), (2, 100), (9, 500), (1, 0)] {
        case.open(note(number), at(now)).await;
    }
    assert_eq!(listed(&case, &Scope::Shared, at(1)).await, [1, 9, 2, 5]);
}

/// 300 opens by 30 callers at once into a ring of 50.
async fn nt_35_concurrent_pushes_leave_the_bound_in_strict_order(case: Case) {
    let callers: Vec<_> = (0..30u128)
        .map(|caller| {
            let store = case.store.clone();
            tokio::spawn(async move {
                for number in 0..10 {
                    let step = OpenStep { ring: 50, ..addressed(caller * 10 + number, "person") };
                    assert_eq!(store.open(step, at(0)).await, Ok(Opened::Opened));
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    for scope in [Scope::Shared, person()] {
        let list = case.store.list(&scope, None, 1_000, at(1)).await.unwrap();
        let numbers: Vec<u64> = list.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (251..=300).rev().collect::<Vec<u64>>());
        let ids: HashSet<_> = list.iter().map(|(_, id)| id.clone()).collect();
        assert_eq!(ids.len(), 50);
        // Of one caller what is listed is its last ones, in the order it opened them.
        for caller in 0..30u128 {
            let numbers = list.iter().rev().map(|(_, id)| decode26(id.tail()).unwrap());
            let own: Vec<u128> = numbers.filter(|number| number / 10 == caller).collect();
            let expected: Vec<u128> =
                (caller * 10 + 10 - own.len() as u128..caller * 10 + 10).collect();
            assert_eq!(own, expected);
        }
    }
}

async fn nt_36_a_push_past_the_bound_evicts_from_that_list_only(case: Case) {
    let small = |step: OpenStep| OpenStep { ring: 3, ..step };
    case.open(small(addressed(1, "person")), at(0)).await;
    for number in 2..=5 {
        case.open(small(note(number)), at(0)).await;
    }
    assert_eq!(listed(&case, &Scope::Shared, at(1)).await, [5, 4, 3]);
    assert_eq!(listed(&case, &person(), at(1)).await, [1], "a slice is no view of the ring");
    let entry = Entry { body: body(1), in_ring: false, in_slice: true };
    assert_eq!(case.store.entry(&ntf(1), at(1)).await, Ok(Some(entry)));
    for number in 6..=8 {
        case.open(small(addressed(number, "person")), at(0)).await;
    }
    assert_eq!(listed(&case, &person(), at(1)).await, [8, 7, 6]);
}

async fn nt_37_eviction_never_touches_the_send(case: Case) {
    case.open(OpenStep { ring: 1, ..sent(1, "r") }, at(0)).await;
    case.open(OpenStep { ring: 1, ..note(2) }, at(0)).await;
    assert_eq!(listed(&case, &Scope::Shared, at(1)).await, [2]);
    assert!(case.has_body(1).await);
    let entry = Entry { body: body(1), in_ring: false, in_slice: false };
    assert_eq!(case.store.entry(&ntf(1), at(1)).await, Ok(Some(entry)));
    assert!(case.store.record(&snd(1)).await.unwrap().is_some());
    let lease = case.claim(&crate::case::out(), 1, at(1)).await.leases.remove(0);
    assert_eq!(lease.body, Some(body(1)), "a worker still gets the content");
}

/// Readers list while sends are opened: whatever is listed has its body and its send's header.
async fn nt_40_a_reader_never_sees_an_entry_without_its_send(case: Case) {
    let done = Arc::new(AtomicBool::new(false));
    let (store, finished) = (case.store.clone(), done.clone());
    let reader = tokio::spawn(async move {
        let mut looks = 0;
        while !finished.load(Ordering::SeqCst) || looks < 3 {
            let list = store.list(&Scope::Shared, None, 500, at(1)).await.unwrap();
            let ids: Vec<_> = list.iter().map(|(_, id)| id.clone()).collect();
            let sends: Vec<_> = ids.iter().map(|id| snd(decode26(id.tail()).unwrap())).collect();
            let bodies = store.bodies(&ids).await.unwrap();
            let headers = store.send_headers(&sends).await.unwrap();
            assert!(bodies.iter().all(Option::is_some));
            assert!(headers.iter().all(|header| header.as_deref() == Some("1 queued")));
            looks += 1;
            tokio::task::yield_now().await;
        }
    });
    let callers: Vec<_> = (0..8u128)
        .map(|caller| {
            let store = case.store.clone();
            tokio::spawn(async move {
                for number in 0..25 {
                    let step = sent(caller * 25 + number, &format!("r{caller}"));
                    assert_eq!(store.open(step, at(0)).await, Ok(Opened::Opened));
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    reader.await.unwrap();
    assert_eq!(listed(&case, &Scope::Shared, at(1)).await.len(), 200);
}

async fn nt_41_a_repeat_with_the_same_id_changes_nothing(case: Case) {
    let step = OpenStep {
        idempotency: Some(("key".into(), crate::case::kept(1, "state"))),
        audience: Some("person".into()),
        ..sent(1, "r")
    };
    case.open(step.clone(), at(0)).await;
    case.open(note(2), at(0)).await;
    let again = OpenStep { body: body(77), ..step };
    case.open(again, at(5)).await;
    assert_eq!(listed(&case, &Scope::Shared, at(6)).await, [2, 1]);
    assert_eq!(listed(&case, &person(), at(6)).await, [1]);
    assert_eq!(case.store.bodies(&[ntf(1)]).await, Ok(vec![Some(body(1))]));
    let depth = case.store.depth(&crate::case::out(), at(6)).await.unwrap();
    assert_eq!(depth.items, 1);
}

async fn nt_42_a_body_goes_when_neither_list_holds_it(case: Case) {
    let small = |step: OpenStep| OpenStep { ring: 2, ..step };
    case.open(small(addressed(1, "person")), at(0)).await;
    case.open(small(note(2)), at(0)).await;
    case.open(small(note(3)), at(0)).await;
    case.open(small(note(4)), at(0)).await;
    assert!(case.has_body(1).await, "its slice holds it");
    assert!(!case.has_body(2).await, "the ring dropped it");
    // The second of these evicts 1 from the slice, where it was last.
    case.open(small(addressed(5, "person")), at(0)).await;
    case.open(small(addressed(6, "person")), at(0)).await;
    assert!(!case.has_body(1).await);
    case.open(OpenStep { ring: 3, ..note(7) }, at(0)).await;
    let one = |step: OpenStep| OpenStep { ring: 1, ..step };
    case.open(one(addressed(8, "person")), at(0)).await;
    // Evicted from both lists by one push.
    for number in 5..=7 {
        assert!(!case.has_body(number).await, "{number}");
    }
    assert!(case.has_body(8).await);
}

async fn nt_43_a_lapsed_slice_is_empty_at_once_and_swept_later(case: Case) {
    let brief = |step: OpenStep| OpenStep { ring: 1, audience_ttl: seconds(10), ..step };
    case.open(brief(addressed(1, "person")), at(0)).await;
    case.open(OpenStep { audience: Some("person".into()), ..brief(sent(2, "r")) }, at(1_000)).await;
    case.open(brief(note(3)), at(1_000)).await;
    assert_eq!(listed(&case, &person(), at(10_999)).await, [2], "each push re-arms the clock");
    assert_eq!(listed(&case, &person(), at(11_000)).await, []);
    let standing = case.store.entry(&ntf(2), at(11_000)).await.unwrap().unwrap();
    assert!(!standing.in_slice && !standing.in_ring);
    assert_eq!(case.store.sweep(Sweep::Slices, 200, at(10_999)).await, Ok(0));
    case.open(OpenStep { audience_ttl: seconds(2), ..addressed(4, "other") }, at(1_000)).await;
    case.open(OpenStep { ring: 1, ..note(5) }, at(1_000)).await;
    assert!(case.has_body(4).await);
    let mut swept = 0;
    while let removed @ 1.. = case.store.sweep(Sweep::Slices, 1, at(20_000)).await.unwrap() {
        assert_eq!(removed, 1);
        swept += removed;
    }
    assert_eq!(swept, 4, "two slices of one entry each");
    assert!(!case.has_body(4).await);
    assert!(case.has_body(2).await, "a send holds it");
    assert_eq!(listed(&case, &Scope::Shared, at(20_000)).await, [5]);
}

async fn nt_43_a_push_to_a_lapsed_slice_begins_it_anew(case: Case) {
    let brief = |step: OpenStep| OpenStep { audience_ttl: seconds(10), ..step };
    for number in 1..=3 {
        case.open(brief(addressed(number, "person")), at(0)).await;
    }
    case.open(brief(addressed(4, "person")), at(10_000)).await;
    assert_eq!(listed(&case, &person(), at(10_001)).await, [4]);
    assert!(!case.store.entry(&ntf(2), at(10_001)).await.unwrap().unwrap().in_slice);
    assert_eq!(listed(&case, &Scope::Shared, at(10_001)).await, [4, 3, 2, 1]);
    case.open(OpenStep { ring: 1, ..note(5) }, at(10_001)).await;
    assert!(!case.has_body(3).await && case.has_body(4).await);
}

async fn nt_63_a_lowered_bound_trims_200_a_push(case: Case) {
    for number in 0..500 {
        case.open(addressed(number, "person"), at(0)).await;
    }
    for (number, left) in [(500, 301), (501, 102), (502, 10), (503, 10)] {
        case.open(OpenStep { ring: 10, ..addressed(number, "person") }, at(0)).await;
        for scope in [Scope::Shared, person()] {
            let list = listed(&case, &scope, at(1)).await;
            assert_eq!((list.len(), list[0]), (left, number), "{scope:?}");
        }
    }
    assert!(!case.has_body(490).await && case.has_body(494).await);
}

async fn nt_44_pages_are_stable_while_entries_arrive(case: Case) {
    for number in 0..10 {
        case.open(addressed(number, "person"), at(0)).await;
    }
    for scope in [Scope::Shared, person()] {
        let first = case.store.list(&scope, None, 4, at(1)).await.unwrap();
        case.open(addressed(first[0].0.into(), "person"), at(1)).await;
        let second = case.store.list(&scope, Some(first[3].0), 4, at(1)).await.unwrap();
        let seen: Vec<_> = first.iter().chain(&second).map(|(_, id)| id.clone()).collect();
        let expected: Vec<_> = match scope {
            Scope::Shared => (2..10).rev().map(ntf).collect(),
            Scope::Slice(_) => std::iter::once(10).chain((3..10).rev()).map(ntf).collect(),
        };
        assert_eq!(seen, expected);
        assert_eq!(case.store.list(&scope, Some(0), 4, at(1)).await, Ok(vec![]));
        assert_eq!(case.store.list(&scope, None, 0, at(1)).await, Ok(vec![]));
    }
}
