//! Send records: compare and swap, what goes along with the lane, indexes, logs.
use crate::case::{
    Case, at, channel, commit, lane, open_send, out, record, sent, snd, time, tokens,
};
use bytes::Bytes;
use contract::ChannelName;
use std::time::Duration;
use tidings::store::{
    Active, Commit, Committed, Dead, Hold, Noted, OpenSend, OpenStep, ProviderRef, SendIndex,
    Signal,
};

crate::contract!(
    d_4_a_write_counts_only_from_the_current_revision,
    d_4_of_many_writers_of_one_revision_one_wins,
    begin_finish_and_defer_need_the_lease,
    a_refused_write_moves_neither_lane_nor_index,
    d_24_a_fact_needs_no_lease_and_the_last_one_frees_the_lane,
    d_78_a_provider_id_leads_to_send_and_part,
    sends_are_listed_newest_first_page_by_page,
    a_recipients_index_keeps_the_newest_thousand,
    dead_letters_and_active_sends_follow_the_record,
    d_79_the_log_grows_and_exchanges_keep_the_newest,
    d_28_only_watched_records_are_announced,
    nothing_is_kept_of_a_send_that_is_not_there,
);

const DONE: Result<Committed, tidings::store::StoreError> = Ok(Committed::Done);

async fn d_4_a_write_counts_only_from_the_current_revision(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    assert_eq!(case.store.commit(commit(1, 1, "sending"), at(1)).await, DONE);
    let stale = case.store.commit(commit(1, 1, "failed"), at(1)).await;
    assert_eq!(stale, Ok(Committed::Conflict(record(2, "sending"))));
    let ahead = case.store.commit(commit(1, 3, "failed"), at(1)).await;
    assert_eq!(ahead, Ok(Committed::Conflict(record(2, "sending"))));
    assert_eq!(case.store.record(&snd(1)).await, Ok(Some(record(2, "sending"))));
    assert_eq!(case.store.commit(commit(2, 1, "x"), at(1)).await, Ok(Committed::Gone));
    // A value that does not carry the next revision would never be replaced again.
    let odd = Commit { value: record(9, "x"), ..commit(1, 2, "x") };
    assert!(case.store.commit(odd, at(1)).await.is_err());
    assert_eq!(case.store.record(&snd(1)).await, Ok(Some(record(2, "sending"))));
}

async fn d_4_of_many_writers_of_one_revision_one_wins(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    for rev in 1..=10 {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let store = case.store.clone();
                let status = format!("by{writer}");
                tokio::spawn(async move { store.commit(commit(1, rev, &status), at(1)).await })
            })
            .collect();
        let mut won = 0;
        for writer in writers {
            won += usize::from(writer.await.unwrap() == DONE);
        }
        assert_eq!(won, 1, "revision {rev}");
    }
}

async fn begin_finish_and_defer_need_the_lease(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    let store = &case.store;
    let old = case.take(&out(), at(0)).await;
    assert_eq!(store.begin(commit(1, 1, "sending"), &old, None, at(1)).await, DONE);
    let new = case.take(&out(), at(60_000)).await;
    let lost = Ok(Committed::Lost);
    let next = || commit(1, 2, "x");
    assert_eq!(store.begin(next(), &old, None, at(60_000)).await, lost);
    assert_eq!(store.finish(next(), &old, at(60_000)).await, lost);
    assert_eq!(store.defer(next(), &old, time(0), at(60_000)).await, lost);
    assert_eq!(store.record(&snd(1)).await, Ok(Some(record(2, "sending"))));

    assert_eq!(store.defer(commit(1, 2, "queued"), &new, time(70_000), at(60_000)).await, DONE);
    assert_eq!(case.claim(&out(), 1, at(69_999)).await.next_due, Some(time(70_000)));
    let lease = case.claim(&out(), 1, at(70_000)).await.leases.remove(0);
    assert_eq!(lease.record, Some(record(3, "queued")));
    assert_eq!(store.finish(commit(1, 3, "failed"), &lease.hold, at(70_001)).await, DONE);
    assert_eq!(store.finish(commit(1, 4, "x"), &lease.hold, at(70_001)).await, lost);
    let lease = case.claim(&out(), 1, at(70_001)).await.leases.remove(0);
    assert_eq!(lease.item, snd(2).as_str());
}

async fn a_refused_write_moves_neither_lane_nor_index(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    let hold = case.take(&out(), at(0)).await;
    let wrong = || Commit {
        active: Active::Remove,
        dead: Dead::Since(time(5)),
        log: Some("line".into()),
        exchange: Some("exchange".into()),
        ..commit(1, 7, "failed")
    };
    let conflict = Committed::Conflict(record(1, "queued"));
    let store = &case.store;
    assert_eq!(store.begin(wrong(), &hold, None, at(1)).await, Ok(conflict.clone()));
    assert_eq!(store.finish(wrong(), &hold, at(1)).await, Ok(conflict.clone()));
    assert_eq!(store.defer(wrong(), &hold, time(9), at(1)).await, Ok(conflict));
    let provider = Some(ProviderRef { hash: "h".into(), part: 0 });
    let noted = store.note_part(wrong(), provider, Some(&hold), at(1)).await;
    assert_eq!(noted, Ok(Noted::Conflict(record(1, "queued"))));
    assert_eq!(store.depth(&out(), at(1)).await.unwrap().leased, 1);
    assert_eq!(store.sends(&SendIndex::Dead(channel()), None, 9).await, Ok(vec![]));
    assert_eq!(store.overdue(9, at(90_000_000)).await, Ok(vec![snd(1)]));
    assert_eq!(store.by_provider(&channel(), "h").await, Ok(None));
    assert_eq!(store.log(&snd(1)).await, Ok(Bytes::new()));
    assert_eq!(store.exchanges(&snd(1)).await, Ok(vec![]));
    assert_eq!(store.finish(commit(1, 1, "failed"), &hold, at(1)).await, DONE);
}

async fn d_24_a_fact_needs_no_lease_and_the_last_one_frees_the_lane(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    let (store, done) = (&case.store, Ok(Noted::Done { shelved: vec![] }));
    let old = case.take(&out(), at(0)).await;
    let new = case.take(&out(), at(60_000)).await;
    // The worker that lost its lease still brings its fact; the lane is not its own to free.
    let noted = store.note_part(commit(1, 1, "accepted"), None, Some(&old), at(60_001)).await;
    assert_eq!(noted, done);
    assert_eq!(store.record(&snd(1)).await, Ok(Some(record(2, "accepted"))));
    assert_eq!(store.depth(&out(), at(60_001)).await.unwrap().leased, 1);
    assert_eq!(store.note_part(commit(1, 2, "accepted"), None, None, at(60_001)).await, done);
    let last = store.note_part(commit(1, 3, "accepted"), None, Some(&new), at(60_002)).await;
    assert_eq!(last, done);
    let lease = case.claim(&out(), 1, at(60_002)).await.leases.remove(0);
    assert_eq!(lease.item, snd(2).as_str());
    let gone = store.note_part(commit(3, 1, "x"), None, Some(&lease.hold), at(60_003)).await;
    assert_eq!(gone, Ok(Noted::Gone));
    assert_eq!(store.depth(&out(), at(60_003)).await.unwrap().leased, 1);
}

async fn d_78_a_provider_id_leads_to_send_and_part(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    for (rev, hash, part) in [(1, "first", 0), (2, "second", 71)] {
        let provider = Some(ProviderRef { hash: hash.into(), part });
        let noted = case.store.note_part(commit(1, rev, "sent"), provider, None, at(1)).await;
        assert_eq!(noted, Ok(Noted::Done { shelved: vec![] }));
    }
    let of = async |channel: &ChannelName, hash| case.store.by_provider(channel, hash).await;
    assert_eq!(of(&channel(), "first").await, Ok(Some((snd(1), 0))));
    assert_eq!(of(&channel(), "second").await, Ok(Some((snd(1), 71))));
    assert_eq!(of(&channel(), "third").await, Ok(None));
    assert_eq!(of(&ChannelName::parse("support").unwrap(), "first").await, Ok(None));
}

async fn sends_are_listed_newest_first_page_by_page(case: Case) {
    let support = ChannelName::parse("support").unwrap();
    for number in 1..=20 {
        let mut send = open_send(number, if number % 2 == 0 { "even" } else { "odd" });
        // Two share each time: the id decides.
        send.created_at = time(i64::try_from(number / 2).unwrap());
        if number > 15 {
            send.channel = support.clone();
        }
        case.open(OpenStep { send: Some(send), ..sent(number, "") }, at(0)).await;
    }
    let pages = async |index: SendIndex, size| {
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let page = case.store.sends(&index, before, size).await.unwrap();
            let Some(last) = page.last() else { return all };
            before = Some(last.clone());
            all.extend(page.into_iter().map(|(_, id)| id));
        }
    };
    let down = |numbers: Vec<u128>| numbers.into_iter().rev().map(snd).collect::<Vec<_>>();
    for size in [1, 4, 100] {
        let telegram = SendIndex::Channel(channel());
        assert_eq!(pages(telegram, size).await, down((1..=15).collect()));
        let other = SendIndex::Channel(support.clone());
        assert_eq!(pages(other, size).await, down((16..=20).collect()));
        let even = SendIndex::Recipient(channel(), lane("even"));
        assert_eq!(pages(even, size).await, down((1..=7).map(|n| n * 2).collect()));
        let owner = SendIndex::Owner("ops".into());
        assert_eq!(pages(owner, size).await, down((1..=20).collect()));
    }
    let first = (time(i64::MIN / 2), snd(0));
    let before_all = case.store.sends(&SendIndex::Channel(channel()), Some(first), 9).await;
    assert_eq!(before_all, Ok(vec![]));
}

async fn a_recipients_index_keeps_the_newest_thousand(case: Case) {
    let opens = (1..=1_005).map(|number| case.open(sent(number, "r"), at(0)));
    futures_util::future::join_all(opens).await;
    let index = SendIndex::Recipient(channel(), lane("r"));
    let listed = case.store.sends(&index, None, 5_000).await.unwrap();
    assert_eq!(listed.len(), 1_000);
    let all = case.store.sends(&SendIndex::Channel(channel()), None, 5_000).await.unwrap();
    assert_eq!(all.len(), 1_005);
    assert_eq!(listed[..], all[..1_000]);
}

async fn dead_letters_and_active_sends_follow_the_record(case: Case) {
    for number in 1..=3 {
        case.open(sent(number, "r"), at(0)).await;
    }
    let store = &case.store;
    let dead = async || {
        let listed = store.sends(&SendIndex::Dead(channel()), None, 9).await.unwrap();
        listed.into_iter().map(|(at, id)| (at.0 - time(0).0, id)).collect::<Vec<_>>()
    };
    let far = at(i64::from(u32::MAX));
    let failed = |number, rev, since| Commit {
        active: Active::Remove,
        dead: Dead::Since(time(since)),
        ..commit(number, rev, "failed")
    };
    store.commit(failed(1, 1, 500), at(500)).await.unwrap();
    store.commit(failed(2, 1, 400), at(500)).await.unwrap();
    assert_eq!(dead().await, [(500, snd(1)), (400, snd(2))]);
    assert_eq!(store.overdue(9, far).await, Ok(vec![snd(3)]));
    store.commit(commit(1, 2, "failed"), at(501)).await.unwrap();
    assert_eq!(dead().await, [(500, snd(1)), (400, snd(2))], "a write that leaves it, leaves it");
    store.commit(failed(2, 2, 600), at(600)).await.unwrap();
    assert_eq!(dead().await, [(600, snd(2)), (500, snd(1))], "listed once, since the last time");
    // An operator's retry: active again, sooner than the one that waits; no dead letter.
    let again =
        Commit { active: Active::Until(time(1_000)), dead: Dead::Remove, ..commit(1, 3, "queued") };
    store.commit(again, at(700)).await.unwrap();
    assert_eq!(dead().await, [(600, snd(2))]);
    assert_eq!(store.overdue(9, far).await, Ok(vec![snd(1), snd(3)]));
    assert_eq!(store.overdue(1, far).await, Ok(vec![snd(1)]));
    assert_eq!(store.overdue(9, at(999)).await, Ok(vec![]));
    assert_eq!(store.overdue(9, at(1_000)).await, Ok(vec![snd(1)]));
}

async fn d_79_the_log_grows_and_exchanges_keep_the_newest(case: Case) {
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    assert_eq!(case.store.log(&snd(1)).await, Ok(Bytes::new()));
    let big = |byte: u8| Bytes::from(vec![byte; 100 * 1024]);
    for (rev, line) in [(1, "one "), (2, "two "), (3, "three")] {
        let exchange = Some(big(u8::try_from(rev).unwrap()));
        let commit = Commit { log: Some(line.into()), exchange, ..commit(1, rev, "x") };
        assert_eq!(case.store.commit(commit, at(1)).await, DONE);
    }
    assert_eq!(case.store.log(&snd(1)).await, Ok("one two three".into()));
    assert_eq!(case.store.exchanges(&snd(1)).await, Ok(vec![big(2), big(3)]), "256 KiB a send");
    let huge = Bytes::from(vec![9; 300 * 1024]);
    let commit4 = Commit { exchange: Some(huge.clone()), ..commit(1, 4, "x") };
    case.store.commit(commit4, at(1)).await.unwrap();
    assert_eq!(case.store.exchanges(&snd(1)).await, Ok(vec![huge]), "the newest always stays");
    let small = Commit { exchange: Some("small".into()), ..commit(2, 1, "x") };
    case.store.commit(small, at(1)).await.unwrap();
    assert_eq!(case.store.exchanges(&snd(2)).await, Ok(vec!["small".into()]));
    // Setting how long it is kept changes nothing that is read.
    assert_eq!(case.store.record(&snd(1)).await, Ok(Some(record(5, "x"))));
    assert_eq!(case.store.commit(commit(1, 5, "y"), at(3)).await, DONE);
}

async fn d_28_only_watched_records_are_announced(case: Case) {
    let watched = |rev| Commit { value: record(rev + 1, "sending w"), ..commit(1, rev, "") };
    let quiet = |rev| Commit { value: record(rev + 1, "now"), ..commit(2, rev, "") };
    case.open(OpenStep { send: None, ..sent(9, "") }, at(0)).await;
    for number in [1, 2] {
        let send = OpenSend { record: record(1, "queued w"), ..open_send(number, "r") };
        case.open(OpenStep { send: Some(send), ..sent(number, "r") }, at(0)).await;
    }
    let mut signals = case.store.signals();
    case.store.commit(quiet(1), at(1)).await.unwrap();
    case.store.commit(watched(1), at(1)).await.unwrap();
    let hold = case.take(&out(), at(1)).await;
    case.store.begin(watched(2), &hold, None, at(1)).await.unwrap();
    case.store.begin(watched(2), &hold, None, at(1)).await.unwrap(); // a conflict: nothing written
    let mut heard = 0;
    while heard < 2 {
        let signal = tokio::time::timeout(Duration::from_secs(5), signals.recv()).await;
        match signal.unwrap().unwrap() {
            Signal::Send(id) => assert_eq!((id, heard), (snd(1), heard)),
            // What the opening said may come late.
            Signal::Queue(_) | Signal::Frame(..) => continue,
        }
        heard += 1;
    }
    assert!(signals.try_recv().is_err());
}

async fn nothing_is_kept_of_a_send_that_is_not_there(case: Case) {
    let store = &case.store;
    assert_eq!(store.record(&snd(1)).await, Ok(None));
    assert_eq!(store.log(&snd(1)).await, Ok(Bytes::new()));
    assert_eq!(store.exchanges(&snd(1)).await, Ok(vec![]));
    let hold = Hold { queue: out(), lane: lane("r"), token: tokens(1).remove(0) };
    assert_eq!(store.finish(commit(1, 1, "x"), &hold, at(0)).await, Ok(Committed::Lost));
    // A lane may hold an item whose record is missing: the worker sees that it is.
    let item = Bytes::from(snd(1).as_str().to_owned());
    store.push(&out(), &lane("r"), item, None, at(0)).await.unwrap();
    let lease = case.claim(&out(), 1, at(0)).await.leases.remove(0);
    assert_eq!((lease.record, lease.body), (None, None));
    assert_eq!(store.finish(commit(1, 1, "x"), &lease.hold, at(0)).await, Ok(Committed::Gone));
    assert_eq!(store.depth(&out(), at(0)).await.unwrap().leased, 1);
}
