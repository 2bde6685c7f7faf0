//! What final sends leave, until its time has passed.
use crate::case::{Case, addressed, at, channel, commit, note, open_send, record, sent, snd, time};
use tidings::store::{Active, Commit, Dead, Keep, Noted, OpenStep, ProviderRef, SendIndex, Sweep};

crate::contract!(
    d_60_a_final_send_goes_with_everything_that_leads_to_it,
    d_60_each_write_arms_it_anew_and_work_disarms_it,
    d_60_the_content_stays_while_a_list_holds_it,
    d_60_an_active_send_is_kept_whatever_its_age,
);

fn last(number: u128, rev: u64, until: i64) -> Commit {
    let keep = Keep { until: time(until), exchanges: time(until) };
    Commit {
        active: Active::Final(keep),
        log: Some("line".into()),
        exchange: Some("exchange".into()),
        ..commit(number, rev, "sent")
    }
}

/// Sweeps until nothing is left to do; gives how many sends went.
async fn sweep(case: &Case, now: i64) -> u64 {
    let mut all = 0;
    loop {
        match case.store.sweep(Sweep::Sends, 200, at(now)).await.unwrap() {
            0 => return all,
            more => all += more,
        }
    }
}

async fn listed(case: &Case, index: SendIndex) -> Vec<contract::SendId> {
    let rows = case.store.sends(&index, None, 99).await.unwrap();
    rows.into_iter().map(|(_, id)| id).collect()
}

async fn d_60_a_final_send_goes_with_everything_that_leads_to_it(case: Case) {
    let (store, ring) = (&case.store, 1);
    for number in [1, 2] {
        let step = OpenStep { audience: Some("ana".into()), ring, ..sent(number, "r") };
        case.open(step, at(0)).await;
    }
    case.open(OpenStep { ring, ..addressed(3, "ana") }, at(0)).await;
    let provider = |hash: &str| Some(ProviderRef { hash: hash.into(), part: 0 });
    let dead = Commit { dead: Dead::Since(time(5)), ..last(1, 1, 1_000) };
    let done = Ok(Noted::Done { shelved: vec![] });
    assert_eq!(store.note_part(dead, provider("one"), None, at(5)).await, done);
    assert_eq!(store.note_part(last(2, 1, 2_000), provider("two"), None, at(5)).await, done);
    assert!(case.has_body(1).await, "its send holds it");
    assert_eq!(sweep(&case, 999).await, 0);
    assert_eq!(sweep(&case, 1_000).await, 1);
    assert_eq!(store.record(&snd(1)).await, Ok(None));
    assert_eq!(store.log(&snd(1)).await, Ok("".into()));
    assert_eq!(store.exchanges(&snd(1)).await, Ok(vec![]));
    assert_eq!(store.by_provider(&channel(), "one").await, Ok(None));
    assert!(!case.has_body(1).await);
    assert_eq!(listed(&case, SendIndex::Dead(channel())).await, []);
    let recipient = SendIndex::Recipient(channel(), crate::case::lane("r"));
    for index in [SendIndex::Channel(channel()), recipient, SendIndex::Owner("ops".into())] {
        assert_eq!(listed(&case, index.clone()).await, [snd(2)], "{index:?}");
    }
    assert_eq!(store.by_provider(&channel(), "two").await, Ok(Some((snd(2), 0))));
    assert_eq!(store.exchanges(&snd(2)).await, Ok(vec!["exchange".into()]));
    assert_eq!(sweep(&case, 2_000).await, 1);
    assert_eq!(store.overdue(9, at(999_999_999)).await, Ok(vec![]));
}

async fn d_60_each_write_arms_it_anew_and_work_disarms_it(case: Case) {
    let store = &case.store;
    case.open(sent(1, "r"), at(0)).await;
    store.commit(last(1, 1, 1_000), at(0)).await.unwrap();
    store.commit(last(1, 2, 5_000), at(0)).await.unwrap();
    assert_eq!(sweep(&case, 4_999).await, 0);
    let retried = Commit { active: Active::Until(time(90_000)), ..commit(1, 3, "queued") };
    store.commit(retried, at(0)).await.unwrap();
    assert_eq!(sweep(&case, 5_000).await, 0);
    assert_eq!(store.record(&snd(1)).await, Ok(Some(record(4, "queued"))));
    store.commit(last(1, 4, 6_000), at(0)).await.unwrap();
    assert_eq!(sweep(&case, 6_000).await, 1);
}

async fn d_60_the_content_stays_while_a_list_holds_it(case: Case) {
    let store = &case.store;
    case.open(sent(1, "r"), at(0)).await;
    store.commit(last(1, 1, 1_000), at(0)).await.unwrap();
    assert_eq!(sweep(&case, 1_000).await, 1);
    let entry = store.entry(&crate::case::ntf(1), at(1_000)).await.unwrap().unwrap();
    assert!(entry.in_ring);
    // It goes with the entry, as one that never had a send.
    case.open(OpenStep { ring: 1, ..note(2) }, at(1_001)).await;
    assert!(!case.has_body(1).await && case.has_body(2).await);
}

async fn d_60_an_active_send_is_kept_whatever_its_age(case: Case) {
    let mut send = open_send(1, "r");
    send.expires_at = time(10);
    case.open(OpenStep { send: Some(send), ..sent(1, "r") }, at(0)).await;
    assert_eq!(sweep(&case, 40_000_000_000).await, 0);
    assert_eq!(case.store.overdue(9, at(11)).await, Ok(vec![snd(1)]));
}
