//! What a person or a medium says about a send that waits or ended: cancelled, queued again, its
//! recipient gone.
use crate::case::{Case, at, channel, commit, lane, open_send, out, record, sent, snd, time};
use bytes::Bytes;
use contract::ChannelName;
use tidings::store::{
    Active, Bounds, Commit, Committed, Dead, Held, Noted, OpenStep, Opened, OptChange, OptRow,
    OptScope, QueueDepth, Requeued, SendIndex,
};

crate::contract!(
    d_42_a_cancelled_send_leaves_its_lane_and_the_others_stay_in_order,
    d_42_the_head_that_is_worked_cannot_be_cancelled_what_is_behind_it_can,
    d_42_a_head_that_waits_no_longer_holds_back_the_next,
    d_42_of_a_cancel_and_a_begin_one_wins,
    d_43_a_send_queued_again_goes_to_the_end_of_its_lane,
    d_10_a_full_lane_takes_no_send_again,
    i_62_the_strongest_opt_out_stands_until_it_is_cleared,
    opt_outs_are_listed_newest_first_page_by_page,
    d_12_who_opted_out_gets_nothing_recorded_or_claimed_unmarked,
    an_opt_out_goes_along_with_a_write_or_not_at_all,
);

const DONE: Result<Committed, tidings::store::StoreError> = Ok(Committed::Done);
const WIDE: Bounds = Bounds { backlog_max: 99, lane_max: 99 };

fn row(scope: OptScope, since: i64, value: &'static str) -> OptRow {
    OptRow { scope, since: time(since), value: Bytes::from(value) }
}

async fn cancel(case: &Case, number: u128, rev: u64) -> Committed {
    let commit = Commit { active: Active::Remove, ..commit(number, rev, "cancelled") };
    case.store.cancel(commit, &lane("r"), at(1)).await.unwrap()
}

async fn items(case: &Case, now: i64) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(lease) = case.claim(&out(), 1, at(now)).await.leases.pop() {
        found.push(String::from_utf8(lease.item.to_vec()).unwrap());
        assert_eq!(case.store.ack(&lease.hold, at(now)).await, Ok(Held::Done));
    }
    found
}

fn ids(numbers: &[u128]) -> Vec<String> {
    numbers.iter().map(|number| snd(*number).as_str().to_owned()).collect()
}

async fn d_42_a_cancelled_send_leaves_its_lane_and_the_others_stay_in_order(case: Case) {
    for number in 1..=4 {
        case.open(sent(number, "r"), at(0)).await;
    }
    case.open(sent(5, "s"), at(0)).await;
    assert_eq!(cancel(&case, 3, 1).await, Committed::Done);
    assert_eq!(cancel(&case, 1, 1).await, Committed::Done);
    assert_eq!(cancel(&case, 1, 1).await, Committed::Conflict(record(2, "cancelled")));
    assert_eq!(cancel(&case, 9, 1).await, Committed::Gone);
    assert_eq!(case.store.depth(&out(), at(1)).await.unwrap().items, 3);
    assert_eq!(items(&case, 2).await, ids(&[2, 5, 4]));
    // A lane that is emptied by a cancel is none, and may come back.
    case.open(sent(6, "r"), at(3)).await;
    assert_eq!(cancel(&case, 6, 1).await, Committed::Done);
    assert_eq!(case.store.depth(&out(), at(3)).await.unwrap().items, 0);
    assert_eq!(items(&case, 3).await, ids(&[]));
    assert_eq!(case.store.depth(&out(), at(3)).await.unwrap(), QueueDepth::default());
    case.open(sent(7, "r"), at(4)).await;
    assert_eq!(items(&case, 4).await, ids(&[7]));
}

async fn d_42_the_head_that_is_worked_cannot_be_cancelled_what_is_behind_it_can(case: Case) {
    for number in 1..=3 {
        case.open(sent(number, "r"), at(0)).await;
    }
    let hold = case.take(&out(), at(0)).await;
    assert_eq!(cancel(&case, 1, 1).await, Committed::Lost);
    assert_eq!(case.store.record(&snd(1)).await.unwrap(), Some(record(1, "queued")));
    assert_eq!(cancel(&case, 2, 1).await, Committed::Done);
    assert_eq!(case.store.ack(&hold, at(1)).await, Ok(Held::Done));
    assert_eq!(items(&case, 2).await, ids(&[3]));
}

async fn d_42_a_head_that_waits_no_longer_holds_back_the_next(case: Case) {
    for number in 1..=2 {
        case.open(sent(number, "r"), at(0)).await;
    }
    let hold = case.take(&out(), at(0)).await;
    case.store.defer(commit(1, 1, "queued"), &hold, time(90_000), at(1)).await.unwrap();
    assert_eq!(items(&case, 2).await, ids(&[]));
    assert_eq!(cancel(&case, 1, 2).await, Committed::Done);
    assert_eq!(items(&case, 2).await, ids(&[2]));
}

async fn d_42_of_a_cancel_and_a_begin_one_wins(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let hold = case.take(&out(), at(0)).await;
    // The lease ran out and nobody took it over: the worker's `begin` still counts.
    assert_eq!(cancel(&case, 1, 1).await, Committed::Lost);
    let begun = case.store.begin(commit(1, 1, "sending"), &hold, None, at(2)).await;
    assert_eq!(begun, DONE);
    case.store.defer_lane(&hold, time(2), at(2)).await.unwrap();
    assert_eq!(cancel(&case, 1, 1).await, Committed::Conflict(record(2, "sending")));
    assert_eq!(cancel(&case, 1, 2).await, Committed::Done);
    let late = case.store.begin(commit(1, 2, "sending"), &hold, None, at(3)).await;
    assert_eq!(late, Ok(Committed::Lost));
}

async fn d_43_a_send_queued_again_goes_to_the_end_of_its_lane(case: Case) {
    for number in 1..=2 {
        case.open(sent(number, "r"), at(0)).await;
    }
    let hold = case.take(&out(), at(0)).await;
    let keep = tidings::store::Keep { until: time(1_000), exchanges: time(1_000) };
    let (active, dead) = (Active::Final(keep), Dead::Since(time(1)));
    let failed = Commit { active, dead, ..commit(1, 1, "failed") };
    assert_eq!(case.store.finish(failed, &hold, at(1)).await, DONE);
    let active = Active::Until(time(5_000));
    let again = || Commit { active, dead: Dead::Remove, ..commit(1, 2, "queued") };
    let queued = case.store.requeue(again(), &lane("r"), WIDE, at(2)).await;
    assert_eq!(queued, Ok(Requeued::Written(Committed::Done)));
    let twice = case.store.requeue(again(), &lane("r"), WIDE, at(2)).await;
    assert_eq!(twice, Ok(Requeued::Written(Committed::Conflict(record(3, "queued")))));
    assert_eq!(case.store.sends(&SendIndex::Dead(channel()), None, 9).await, Ok(vec![]));
    assert_eq!(case.store.overdue(9, at(6_000)).await, Ok(vec![snd(1)]));
    // What waits again is not swept, however long ago it ended.
    let sends = tidings::store::Sweep::Sends;
    assert_eq!(case.store.sweep(sends, 9, at(9_000)).await, Ok(0));
    assert_eq!(items(&case, 3).await, ids(&[2, 1]));
    let gone = case.store.requeue(commit(9, 1, "x"), &lane("r"), WIDE, at(2)).await;
    assert_eq!(gone, Ok(Requeued::Written(Committed::Gone)));
}

async fn d_10_a_full_lane_takes_no_send_again(case: Case) {
    for number in 1..=3 {
        case.open(sent(number, if number == 3 { "s" } else { "r" }), at(0)).await;
    }
    for (bounds, depth) in
        [(Bounds { backlog_max: 3, lane_max: 99 }, 3), (Bounds { backlog_max: 99, lane_max: 2 }, 2)]
    {
        let full = case.store.requeue(commit(1, 1, "queued"), &lane("r"), bounds, at(1)).await;
        assert_eq!(full, Ok(Requeued::BacklogFull { depth }));
    }
    assert_eq!(case.store.record(&snd(1)).await.unwrap(), Some(record(1, "queued")));
}

async fn i_62_the_strongest_opt_out_stands_until_it_is_cleared(case: Case) {
    let (store, channel, r) = (&case.store, channel(), lane("r"));
    let set = async |row| store.opt_set(&channel, &r, row, at(0)).await.unwrap();
    let clear = async |scopes| store.opt_clear(&channel, &r, scopes, at(0)).await.unwrap();
    assert_eq!(store.opt_get(&channel, &r).await, Ok(None));
    let (mark, less, all) = (
        row(OptScope::Unreachable, 1, "one\nline"),
        row(OptScope::Marketing, 2, ""),
        row(OptScope::All, 3, "three"),
    );
    assert!(set(mark.clone()).await);
    assert_eq!(store.opt_get(&channel, &r).await, Ok(Some(mark.clone())));
    assert!(set(less.clone()).await);
    assert!(!set(mark.clone()).await, "a weaker one replaces nothing");
    assert!(set(all.clone()).await);
    assert!(!set(row(OptScope::All, 9, "later")).await, "the first one's time stands");
    assert_eq!(store.opt_get(&channel, &r).await, Ok(Some(all.clone())));
    assert_eq!(clear(&[OptScope::Unreachable, OptScope::Marketing]).await, None);
    assert_eq!(clear(&OptScope::ALL).await, Some(all));
    assert_eq!(clear(&OptScope::ALL).await, None);
    let other = ChannelName::parse("support").unwrap();
    assert!(set(less.clone()).await);
    assert_eq!(store.opt_get(&other, &r).await, Ok(None));
    assert_eq!(store.opt_list(&channel, None, 9).await, Ok(vec![(r.clone(), less)]));
}

async fn opt_outs_are_listed_newest_first_page_by_page(case: Case) {
    for (number, since) in [(1, 5), (2, 9), (3, 9), (4, 1), (5, 7)] {
        let lane = lane(&format!("r{number}"));
        let row = row(OptScope::All, since, "");
        assert!(case.store.opt_set(&channel(), &lane, row, at(0)).await.unwrap());
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = case.store.opt_list(&channel(), before, 2).await.unwrap();
        let Some((lane, row)) = page.last().cloned() else { break };
        seen.extend(page.into_iter().map(|(lane, _)| lane.0));
        before = Some((row.since, lane));
    }
    assert_eq!(seen, ["r3", "r2", "r5", "r1", "r4"]);
}

async fn d_12_who_opted_out_gets_nothing_recorded_or_claimed_unmarked(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "s"), at(0)).await;
    let marketing = row(OptScope::Marketing, 1, "");
    case.store.opt_set(&channel(), &lane("s"), marketing, at(1)).await.unwrap();
    case.store.opt_set(&channel(), &lane("r"), row(OptScope::All, 1, ""), at(1)).await.unwrap();
    assert_eq!(case.store.open(sent(3, "r"), at(2)).await, Ok(Opened::OptedOut));
    assert!(!case.has_body(3).await);
    case.open(sent(4, "s"), at(2)).await;
    let other = ChannelName::parse("support").unwrap();
    let send = tidings::store::OpenSend { channel: other, ..open_send(5, "r") };
    case.open(OpenStep { send: Some(send), ..sent(5, "r") }, at(2)).await;
    let leases = case.claim(&out(), 9, at(3)).await.leases;
    let marked: Vec<_> = leases.iter().map(|l| (l.hold.lane.0.as_str(), l.opted_out)).collect();
    assert_eq!(marked, [("r", true), ("s", false)]);
}

async fn an_opt_out_goes_along_with_a_write_or_not_at_all(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let (store, channel, r) = (&case.store, channel(), lane("r"));
    let hold = case.take(&out(), at(0)).await;
    let mark = row(OptScope::Unreachable, 4, "why\nnot");
    let gone = |rev| Commit {
        opt: OptChange::Set(lane("r"), mark.clone()),
        dead: Dead::Since(time(4)),
        ..commit(1, rev, "failed")
    };
    let lost = store.finish(gone(7), &hold, at(4)).await;
    assert_eq!(lost, Ok(Committed::Conflict(record(1, "queued"))));
    assert_eq!(store.opt_get(&channel, &r).await, Ok(None));
    assert_eq!(store.finish(gone(1), &hold, at(4)).await, DONE);
    assert_eq!(store.opt_get(&channel, &r).await, Ok(Some(mark)));
    let dead = store.sends(&SendIndex::Dead(channel.clone()), None, 9).await;
    assert_eq!(dead, Ok(vec![(time(4), snd(1))]));
    // Somebody who is reached is so no more; who opted out stays so.
    let reached = |rev| Commit { opt: OptChange::Reached(lane("r")), ..commit(1, rev, "sent") };
    let noted = Ok(Noted::Done { shelved: vec![] });
    assert_eq!(store.note_part(reached(2), None, None, at(5)).await, noted);
    assert_eq!(store.opt_get(&channel, &r).await, Ok(None));
    store.opt_set(&channel, &r, row(OptScope::All, 5, ""), at(5)).await.unwrap();
    assert_eq!(store.note_part(reached(3), None, None, at(6)).await, noted);
    assert!(store.opt_get(&channel, &r).await.unwrap().is_some());
}
