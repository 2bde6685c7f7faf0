//! Recording: one step, bounds, kept answers.
use crate::case::{
    Case, addressed, at, body, channel, kept, lane, note, ntf, open_send, out, record, seconds,
    sent, snd, time,
};
use tidings::store::{Kept, OpenSend, OpenStep, Opened, QueueDepth, Scope, SendIndex, Sweep};

crate::contract!(
    d_1_one_step_writes_entry_record_indexes_and_job,
    d_10_a_full_backlog_refuses_and_writes_nothing,
    d_30_a_key_is_a_twin_a_conflict_or_lapsed,
    d_74_the_final_answer_takes_the_place_of_the_first_state,
    an_answer_is_kept_only_over_its_own_state,
    kept_answers_are_swept_after_their_deadline,
);

async fn d_1_one_step_writes_entry_record_indexes_and_job(case: Case) {
    let send = OpenSend { owners: vec!["ops".into(), "ana".into()], ..open_send(1, "r") };
    let idempotency = Some(("key".to_owned(), kept(1, "first")));
    let audience = Some("ana".to_owned());
    let step = OpenStep { send: Some(send), idempotency, audience, ..note(1) };
    case.open(step, at(0)).await;

    let store = &case.store;
    assert_eq!(store.list(&Scope::Shared, None, 9, at(1)).await, Ok(vec![(1, ntf(1))]));
    assert_eq!(store.list(&Scope::Slice("ana".into()), None, 9, at(1)).await.unwrap().len(), 1);
    assert_eq!(store.record(&snd(1)).await, Ok(Some(record(1, "queued"))));
    assert_eq!(store.record(&snd(2)).await, Ok(None));
    let headers = store.send_headers(&[snd(2), snd(1)]).await;
    assert_eq!(headers, Ok(vec![None, Some("1 queued".into())]));
    let listed = Ok(vec![(time(1), snd(1))]);
    for index in [
        SendIndex::Channel(channel()),
        SendIndex::Recipient(channel(), lane("r")),
        SendIndex::Owner("ops".into()),
        SendIndex::Owner("ana".into()),
    ] {
        assert_eq!(store.sends(&index, None, 9).await, listed, "{index:?}");
    }
    for index in [
        SendIndex::Dead(channel()),
        SendIndex::Owner("op".into()),
        SendIndex::Recipient(channel(), lane("")),
    ] {
        assert_eq!(store.sends(&index, None, 9).await, Ok(vec![]), "{index:?}");
    }
    assert_eq!(store.overdue(9, at(86_400_000)).await, Ok(vec![]));
    assert_eq!(store.overdue(9, at(86_400_001)).await, Ok(vec![snd(1)]));
    assert_eq!(store.kept("key", at(1)).await, Ok(Some(kept(1, "first"))));
    let lease = case.claim(&out(), 1, at(1)).await.leases.remove(0);
    assert_eq!(lease.item, snd(1).as_str());
    assert_eq!((lease.record, lease.body), (Some(record(1, "queued")), Some(body(1))));
    assert_eq!((lease.hold.lane, lease.reaps, lease.reaped), (lane("r"), 0, false));
}

async fn d_10_a_full_backlog_refuses_and_writes_nothing(case: Case) {
    for (number, recipient) in [(1, "a"), (2, "a"), (3, "b")] {
        case.open(sent(number, recipient), at(0)).await;
    }
    let refused = |number, recipient: &str, backlog_max, lane_max| {
        let send = OpenSend { backlog_max, lane_max, ..open_send(number, recipient) };
        let idempotency = Some(("key".to_owned(), kept(1, "x")));
        OpenStep { send: Some(send), idempotency, ..addressed(number, "ana") }
    };
    for (recipient, backlog_max, lane_max, depth) in [("c", 3, 9, 3), ("a", 9, 2, 2)] {
        let step = refused(4, recipient, backlog_max, lane_max);
        assert_eq!(case.store.open(step, at(1)).await, Ok(Opened::BacklogFull { depth }));
    }
    assert_eq!(case.store.entry(&ntf(4), at(1)).await, Ok(None));
    assert_eq!(case.store.record(&snd(4)).await, Ok(None));
    assert_eq!(case.store.kept("key", at(1)).await, Ok(None));
    assert_eq!(case.store.list(&Scope::Shared, None, 9, at(1)).await.unwrap()[0].0, 3);
    let counts = case.store.depth(&out(), at(1)).await;
    let ready =
        QueueDepth { items: 3, ready: 2, oldest_ready: Some(time(0)), ..Default::default() };
    assert_eq!(counts, Ok(ready));
    // What is worked off makes room.
    let hold = case.take(&out(), at(1)).await;
    case.store.ack(&hold, at(1)).await.unwrap();
    case.open(refused(4, "c", 3, 9), at(1)).await;
    let list = case.store.list(&Scope::Shared, None, 1, at(1)).await;
    assert_eq!(list, Ok(vec![(4, ntf(4))]), "refused steps used up no number");
}

async fn d_30_a_key_is_a_twin_a_conflict_or_lapsed(case: Case) {
    let keyed = |number, fingerprint, state: &str| OpenStep {
        idempotency: Some(("key".into(), kept(fingerprint, state))),
        ..note(number)
    };
    case.open(keyed(1, 1, "one"), at(0)).await;
    let twin = case.store.open(keyed(2, 1, "two"), at(59_999)).await;
    assert_eq!(twin, Ok(Opened::Twin("one".into())));
    let conflict = case.store.open(keyed(3, 2, "three"), at(59_999)).await;
    assert_eq!(conflict, Ok(Opened::Conflict));
    assert_eq!(case.store.kept("key", at(59_999)).await, Ok(Some(kept(1, "one"))));
    assert_eq!(case.store.list(&Scope::Shared, None, 9, at(0)).await.unwrap().len(), 1);
    // A lapsed key is free, for another body too, before any sweep.
    assert_eq!(case.store.kept("key", at(60_000)).await, Ok(None));
    case.open(keyed(3, 2, "three"), at(60_000)).await;
    assert_eq!(case.store.kept("key", at(119_999)).await, Ok(Some(kept(2, "three"))));
    assert_eq!(case.store.kept("other", at(0)).await, Ok(None));
    // The sweep of the first deadline leaves what came after it.
    assert_eq!(case.store.sweep(Sweep::Idempotency, 200, at(60_000)).await, Ok(0));
    assert_eq!(case.store.kept("key", at(60_001)).await, Ok(Some(kept(2, "three"))));
}

async fn d_74_the_final_answer_takes_the_place_of_the_first_state(case: Case) {
    let idempotency = Some(("key".to_owned(), kept(1, "opened")));
    case.open(OpenStep { idempotency, ..note(1) }, at(0)).await;
    case.store.keep("key", kept(1, "done"), at(30_000)).await.unwrap();
    assert_eq!(case.store.kept("key", at(59_999)).await, Ok(Some(kept(1, "done"))));
    assert_eq!(case.store.kept("key", at(60_000)).await, Ok(None), "the first deadline stands");
}

async fn an_answer_is_kept_only_over_its_own_state(case: Case) {
    case.store.keep("key", kept(1, "done"), at(0)).await.unwrap();
    assert_eq!(case.store.kept("key", at(0)).await, Ok(None), "nothing was opened under it");
    let idempotency = Some(("key".to_owned(), kept(1, "opened")));
    case.open(OpenStep { idempotency, ..note(1) }, at(0)).await;
    case.store.keep("key", kept(2, "foreign"), at(1)).await.unwrap();
    case.store.keep("key", kept(1, "late"), at(60_000)).await.unwrap();
    assert_eq!(case.store.kept("key", at(59_999)).await, Ok(Some(kept(1, "opened"))));
}

async fn kept_answers_are_swept_after_their_deadline(case: Case) {
    for number in 0..5u8 {
        let kept = Kept { fingerprint: [number; 32], state: "s".into() };
        let idempotency = Some((format!("key {number}"), kept));
        let keep_for = seconds(u64::from(number) + 1);
        case.open(OpenStep { idempotency, keep_for, ..note(number.into()) }, at(0)).await;
    }
    assert_eq!(case.store.sweep(Sweep::Idempotency, 2, at(3_000)).await, Ok(2));
    assert_eq!(case.store.sweep(Sweep::Idempotency, 200, at(3_000)).await, Ok(1));
    assert_eq!(case.store.sweep(Sweep::Idempotency, 200, at(3_000)).await, Ok(0));
    // Whether or not it was swept, a key reads by its deadline.
    for (key, there) in [("key 2", false), ("key 3", true), ("key 4", true)] {
        assert_eq!(case.store.kept(key, at(3_000)).await.unwrap().is_some(), there, "{key}");
    }
    let stored = case.store.kept("key 2", at(0)).await;
    assert_eq!(stored, Ok(None), "it is gone, not only past");
}
