//! Receipts: those that find their send, those that come before its id, those that never do.
use crate::case::{
    Case, LEASE, at, channel, commit, lane, out, record, seconds, sent, snd, tokens,
};
use bytes::Bytes;
use contract::ChannelName;
use tidings::store::{Hold, Lapsed, Noted, ProviderRef, QueueName, SHELF_MAX, Shelved};

crate::contract!(
    d_49_what_came_early_is_handed_over_by_the_step_that_writes_the_id,
    d_49_a_receipt_after_the_id_is_sent_to_its_part,
    d_49_what_was_handed_over_and_never_cleared_comes_again,
    d_50_a_lapsed_shelf_is_listed_as_unmatched,
    a_shelf_holds_sixteen,
    settling_writes_requeues_and_acknowledges_in_one_step,
    a_settling_that_is_refused_changes_nothing,
);

const DAY: u64 = 86_400;

fn provider(hash: &str) -> Option<ProviderRef> {
    Some(ProviderRef { hash: hash.into(), part: 3 })
}

async fn shelve(case: &Case, hash: &str, receipt: &'static str, now: i64) -> Shelved {
    let receipt = Bytes::from_static(receipt.as_bytes());
    case.store.shelve(&channel(), hash, receipt, seconds(DAY), None, at(now)).await.unwrap()
}

/// An item in the hook queue, claimed.
async fn hook(case: &Case) -> Hold {
    let queue = QueueName::hook();
    case.store.push(&queue, &lane("h"), "item".into(), None, at(0)).await.unwrap();
    let claimed = case.store.claim(&queue, tokens(1), LEASE, None, at(0)).await.unwrap();
    claimed.leases.into_iter().next().unwrap().hold
}

async fn d_49_what_came_early_is_handed_over_by_the_step_that_writes_the_id(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let hold = hook(&case).await;
    let held = Some(&hold);
    let first = case.store.shelve(&channel(), "h", "one".into(), seconds(DAY), held, at(0)).await;
    assert_eq!(first, Ok(Shelved::Kept));
    assert_eq!(case.store.depth(&QueueName::hook(), at(0)).await.unwrap().items, 0);
    assert_eq!(shelve(&case, "h", "two", 1).await, Shelved::Kept);
    assert_eq!(shelve(&case, "other", "x", 1).await, Shelved::Kept);
    let noted = case.store.note_part(commit(1, 1, "sent"), provider("h"), None, at(2)).await;
    assert_eq!(noted, Ok(Noted::Done { shelved: vec!["one".into(), "two".into()] }));
    case.store.clear_shelf(&channel(), "h").await.unwrap();
    assert_eq!(case.store.lapse_shelves(9, at(80_000_000)).await, Ok(vec![]));
}

async fn d_49_a_receipt_after_the_id_is_sent_to_its_part(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.store.note_part(commit(1, 1, "sent"), provider("h"), None, at(2)).await.unwrap();
    let hold = hook(&case).await;
    let held = Some(&hold);
    let late = case.store.shelve(&channel(), "h", "one".into(), seconds(DAY), held, at(3)).await;
    assert_eq!(late, Ok(Shelved::Found(snd(1), 3)));
    assert_eq!(case.store.depth(&QueueName::hook(), at(3)).await.unwrap().leased, 1, "not worked");
    let support = ChannelName::parse("support").unwrap();
    let other = case.store.shelve(&support, "h", "one".into(), seconds(DAY), None, at(3)).await;
    assert_eq!(other, Ok(Shelved::Kept), "another account's ids are its own");
}

async fn d_49_what_was_handed_over_and_never_cleared_comes_again(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    shelve(&case, "h", "one", 0).await;
    case.store.note_part(commit(1, 1, "sent"), provider("h"), None, at(2)).await.unwrap();
    // The process that was handed it is gone; a minute later it comes again, until it is cleared.
    let again = Lapsed {
        channel: channel(),
        hash: "h".into(),
        receipts: vec!["one".into()],
        found: Some((snd(1), 3)),
    };
    assert_eq!(case.store.lapse_shelves(9, at(60_001)).await, Ok(vec![]));
    assert_eq!(case.store.lapse_shelves(9, at(60_002)).await, Ok(vec![again.clone()]));
    assert_eq!(case.store.lapse_shelves(9, at(60_003)).await, Ok(vec![]));
    assert_eq!(case.store.lapse_shelves(9, at(120_002)).await, Ok(vec![again]));
    case.store.clear_shelf(&channel(), "h").await.unwrap();
    assert_eq!(case.store.lapse_shelves(9, at(999_999)).await, Ok(vec![]));
    assert_eq!(case.store.orphans(None, 9).await, Ok(vec![]));
}

async fn d_50_a_lapsed_shelf_is_listed_as_unmatched(case: Case) {
    for (hash, receipt) in [("a", "one"), ("a", "two"), ("b", "three")] {
        shelve(&case, hash, receipt, 0).await;
    }
    let day = 86_400_000;
    assert_eq!(case.store.lapse_shelves(9, at(day - 1)).await, Ok(vec![]));
    let lapsed = case.store.lapse_shelves(1, at(day)).await.unwrap();
    assert_eq!(lapsed.len(), 1);
    let rest = case.store.lapse_shelves(9, at(day)).await.unwrap();
    let all: Vec<_> = lapsed.into_iter().chain(rest).collect();
    assert!(all.iter().all(|shelf| shelf.found.is_none() && shelf.channel == channel()));
    let listed = case.store.orphans(None, 9).await.unwrap();
    let receipts: Vec<_> = listed.iter().map(|row| row.receipt.clone()).collect();
    assert_eq!(receipts, ["three", "two", "one"]);
    assert!(listed.iter().all(|row| row.at == crate::case::time(day)));
    let mut paged = case.store.orphans(None, 2).await.unwrap();
    let place = paged[1].place.clone();
    paged.extend(case.store.orphans(Some(&place), 2).await.unwrap());
    assert_eq!(paged, listed);
    assert_eq!(shelve(&case, "a", "late", day).await, Shelved::Kept, "a shelf of its own");
}

async fn a_shelf_holds_sixteen(case: Case) {
    for _ in 0..SHELF_MAX {
        assert_eq!(shelve(&case, "h", "one", 0).await, Shelved::Kept);
    }
    assert_eq!(shelve(&case, "h", "one", 0).await, Shelved::Full);
}

async fn settling_writes_requeues_and_acknowledges_in_one_step(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let hold = case.take(&out(), at(0)).await;
    case.store.finish(commit(1, 1, "sent"), &hold, at(0)).await.unwrap();
    let hook = hook(&case).await;
    let lane = lane("r");
    let (requeue, held) = (Some(&lane), Some(&hook));
    let settled = case.store.settle(commit(1, 2, "queued"), None, requeue, held, at(1)).await;
    assert_eq!(settled, Ok(Noted::Done { shelved: vec![] }));
    let lease = case.claim(&out(), 1, at(1)).await.leases.remove(0);
    assert_eq!(
        (lease.item.as_ref(), lease.record),
        (snd(1).as_str().as_bytes(), Some(record(3, "queued")))
    );
    assert_eq!(case.store.depth(&QueueName::hook(), at(1)).await.unwrap().items, 0);
    // A receipt with our correlator brings the id along.
    shelve(&case, "h", "one", 1).await;
    let settled = case.store.settle(commit(1, 3, "sent"), provider("h"), None, None, at(2)).await;
    assert_eq!(settled, Ok(Noted::Done { shelved: vec!["one".into()] }));
    assert_eq!(case.store.by_provider(&channel(), "h").await, Ok(Some((snd(1), 3))));
}

async fn a_settling_that_is_refused_changes_nothing(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let hook = hook(&case).await;
    let lane = lane("r");
    let stale = commit(1, 7, "queued");
    let refused = case.store.settle(stale, provider("h"), Some(&lane), Some(&hook), at(1)).await;
    assert_eq!(refused, Ok(Noted::Conflict(record(1, "queued"))));
    let gone = commit(9, 1, "queued");
    let refused = case.store.settle(gone, provider("h"), Some(&lane), Some(&hook), at(1)).await;
    assert_eq!(refused, Ok(Noted::Gone));
    assert_eq!(case.store.depth(&QueueName::hook(), at(1)).await.unwrap().leased, 1);
    assert_eq!(case.store.depth(&out(), at(1)).await.unwrap().items, 1);
    assert_eq!(case.store.by_provider(&channel(), "h").await, Ok(None));
}
