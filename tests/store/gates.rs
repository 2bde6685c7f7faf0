//! Pacing lanes and parked accounts. The table of pacing cases runs on the pure functions (the model
//! uses nothing else) and on every store.
use crate::case::{Case, at, channel, commit, lane, out, record, seconds, sent, snd, time};
use contract::{ChannelName, ThrottleScope};
use tidings::store::{Account, Breath, Committed, Held, Pacing, Parked, Rate, Signal, Wait};

crate::contract!(
    d_34_pacing_lets_through_what_the_table_says,
    d_34_both_lanes_are_moved_together_or_not_at_all,
    d_34_a_claim_brings_what_may_go_within_a_second,
    d_35_a_penalty_holds_back_the_account_or_one_recipient,
    the_next_head_waits_for_its_recipients_pace,
    d_39_a_parked_channel_gives_nothing_until_it_is_lifted,
    d_39_one_caller_probes_a_parked_channel_and_waits_double,
);

/// What one request meets: milliseconds, cost, and when it may go (now when equal).
type Row = (i64, u32, i64);

/// Rate (interval and tolerance in µs) and rows in order; a cost of 0 is a penalty until then.
const TABLE: &[(&str, Rate, &[Row])] = &[
    (
        "one a second, three at once",
        Rate { interval: 1_000_000, tolerance: 3_000_000 },
        &[
            (0, 1, 0),
            (0, 1, 0),
            (0, 1, 0),
            (0, 1, 1000),
            (999, 1, 1000),
            (1000, 1, 1000),
            (1000, 1, 2000),
            (9000, 3, 9000),
            (9000, 1, 10_000),
        ],
    ),
    (
        "costs over 1 take as many",
        Rate { interval: 100_000, tolerance: 500_000 },
        &[(0, 3, 0), (0, 3, 100), (0, 2, 0), (0, 1, 100), (100, 2, 200), (200, 2, 200)],
    ),
    (
        "more than a burst goes when the lane is idle, and is paid for",
        Rate { interval: 100_000, tolerance: 200_000 },
        &[(0, 5, 0), (0, 1, 400), (400, 1, 400), (400, 5, 600), (600, 5, 600), (600, 1, 1000)],
    ),
    (
        "parts of milliseconds are waited for in full",
        Rate { interval: 333_333, tolerance: 333_333 },
        &[(0, 1, 0), (0, 1, 334), (333, 1, 334), (334, 1, 334), (334, 1, 668)],
    ),
    (
        "a burst below one lets one through at a time",
        Rate { interval: 1_000_000, tolerance: 500_000 },
        &[(0, 1, 0), (500, 1, 1000), (1000, 1, 1000)],
    ),
    (
        "a penalty is a floor, and after it one goes at once",
        Rate { interval: 1_000_000, tolerance: 3_000_000 },
        &[
            (0, 1, 0),
            (5000, 0, 0),
            (0, 1, 5000),
            (4999, 1, 5000),
            (5000, 1, 5000),
            (5000, 1, 6000),
            (5500, 0, 0),
            (5500, 1, 6000),
        ],
    ),
    (
        "an unpaced lane knows penalties alone",
        Rate { interval: 0, tolerance: 0 },
        &[(0, 9, 0), (0, 9, 0), (800, 0, 0), (0, 1, 800), (800, 1, 800), (800, 1, 800)],
    ),
];

const FREE: Rate = Rate::UNPACED;

async fn d_34_pacing_lets_through_what_the_table_says(case: Case) {
    for as_account in [true, false] {
        for (number, (name, rate, rows)) in TABLE.iter().enumerate() {
            let number = number as u128 + if as_account { 1 } else { 101 };
            let channel = ChannelName::parse(&format!("c{number}")).unwrap();
            let mut step = sent(number, "r");
            if let Some(send) = step.send.as_mut() {
                send.channel = channel.clone();
            }
            case.open(step, at(0)).await;
            let queue = tidings::store::QueueName::out(&channel);
            let hold = case.take(&queue, at(0)).await;
            let mut rev = 1;
            for (now, cost, expected) in *rows {
                let lane = (!as_account).then_some(&hold.lane);
                if *cost == 0 {
                    let (until, now) = (time(*now), at(0));
                    case.store.penalise(&channel, lane, until, *rate, now).await.unwrap();
                    continue;
                }
                let (account, recipient) = if as_account { (*rate, FREE) } else { (FREE, *rate) };
                let pacing = Some(Pacing { account, recipient, cost: *cost });
                let mut write = commit(number, rev, "sending");
                write.channel = channel.clone();
                let begun = case.store.begin(write, &hold, pacing, at(*now)).await.unwrap();
                let scope =
                    if as_account { ThrottleScope::Account } else { ThrottleScope::Recipient };
                if expected == now {
                    assert_eq!(begun, Committed::Done, "{name}: at {now} cost {cost}");
                    rev += 1;
                } else {
                    let wait = Wait { until: time(*expected), scope };
                    assert_eq!(begun, Committed::Wait(wait), "{name}: at {now} cost {cost}");
                }
            }
        }
    }
}

async fn d_34_both_lanes_are_moved_together_or_not_at_all(case: Case) {
    let account = Rate { interval: 1_000_000, tolerance: 2_000_000 };
    let recipient = Rate { interval: 3_000_000, tolerance: 3_000_000 };
    let pacing = Some(Pacing { account, recipient, cost: 1 });
    for (number, person) in [(1, "r"), (2, "s"), (3, "t")] {
        case.open(sent(number, person), at(0)).await;
    }
    let leases = case.claim(&out(), 3, at(0)).await.leases;
    let [r, s, t] = [0, 1, 2].map(|i: usize| leases[i].hold.clone());
    let begin = async |number, rev, hold, now| {
        case.store.begin(commit(number, rev, "sending"), hold, pacing, at(now)).await.unwrap()
    };
    let wait = |until, scope| Committed::Wait(Wait { until: time(until), scope });
    assert_eq!(begin(1, 1, &r, 0).await, Committed::Done);
    // The recipient says no: the account's lane keeps what it has.
    for _ in 0..5 {
        assert_eq!(begin(1, 2, &r, 0).await, wait(3000, ThrottleScope::Recipient));
    }
    assert_eq!(begin(2, 1, &s, 0).await, Committed::Done);
    // The account says no: the third recipient's lane keeps its own.
    assert_eq!(begin(3, 1, &t, 0).await, wait(1000, ThrottleScope::Account));
    // A write that loses its race costs nothing.
    let lost = begin(3, 7, &t, 1000).await;
    assert_eq!(lost, Committed::Conflict(record(1, "queued")));
    assert_eq!(begin(3, 1, &t, 1000).await, Committed::Done);
    assert_eq!(begin(3, 2, &t, 1000).await, wait(4000, ThrottleScope::Recipient));
    assert_eq!(case.store.record(&snd(3)).await.unwrap(), Some(record(2, "sending")));
    // Nothing goes without the lease.
    case.store.ack(&t, at(1000)).await.unwrap();
    assert_eq!(begin(3, 2, &t, 9000).await, Committed::Lost);
}

async fn d_34_a_claim_brings_what_may_go_within_a_second(case: Case) {
    let rate = Rate { interval: 500_000, tolerance: 1_000_000 };
    let account = Account { channel: channel(), rate };
    for number in 1..=12u128 {
        case.open(sent(number, &format!("r{number:02}")), at(0)).await;
    }
    let claim = async |now| {
        let tokens = crate::case::tokens(9);
        let lease = seconds(60);
        case.store.claim(&out(), tokens, lease, Some(&account), at(now)).await.unwrap()
    };
    let first = claim(0).await;
    assert_eq!((first.leases.len(), first.wait_until), (4, None), "two at once, two in a second");
    let pacing = Some(Pacing { account: rate, recipient: FREE, cost: 2 });
    let hold = &first.leases[0].hold;
    let begun = case.store.begin(commit(1, 1, "x"), hold, pacing, at(0)).await;
    assert_eq!(begun, Ok(Committed::Done));
    assert_eq!(claim(0).await.leases.len(), 2);
    case.store.penalise(&channel(), None, time(5000), rate, at(0)).await.unwrap();
    let none = claim(3999).await;
    assert_eq!((none.leases.len(), none.wait_until, none.parked), (0, Some(time(5000)), false));
    assert_eq!(claim(4000).await.leases.len(), 1, "one goes right when the penalty ends");
    assert_eq!(claim(9000).await.leases.len(), 4);
}

async fn d_35_a_penalty_holds_back_the_account_or_one_recipient(case: Case) {
    let (channel, rate) = (channel(), Rate { interval: 1_000_000, tolerance: 3_000_000 });
    let store = &case.store;
    let none = Breath::default();
    assert_eq!(store.breath(&channel, &lane("r"), at(0)).await, Ok(none.clone()));
    store.penalise(&channel, Some(&lane("r")), time(4000), rate, at(0)).await.unwrap();
    let only = Breath { recipient: Some(time(4000)), account: None };
    assert_eq!(store.breath(&channel, &lane("r"), at(0)).await, Ok(only));
    assert_eq!(store.breath(&channel, &lane("s"), at(0)).await, Ok(none.clone()));
    store.penalise(&channel, None, time(9000), rate, at(0)).await.unwrap();
    // An earlier end takes nothing back.
    store.penalise(&channel, None, time(2000), rate, at(0)).await.unwrap();
    let both = Breath { recipient: Some(time(4000)), account: Some(time(9000)) };
    assert_eq!(store.breath(&channel, &lane("r"), at(3999)).await, Ok(both));
    let account = Breath { recipient: None, account: Some(time(9000)) };
    assert_eq!(store.breath(&channel, &lane("r"), at(4000)).await, Ok(account));
    assert_eq!(store.breath(&channel, &lane("r"), at(9000)).await, Ok(none.clone()));
    let other = ChannelName::parse("support").unwrap();
    assert_eq!(store.breath(&other, &lane("r"), at(0)).await, Ok(none));
}

async fn the_next_head_waits_for_its_recipients_pace(case: Case) {
    let recipient = Rate { interval: 1_000_000, tolerance: 1_000_000 };
    let pacing = Some(Pacing { account: FREE, recipient, cost: 1 });
    for number in 1..=3 {
        case.open(sent(number, "r"), at(0)).await;
    }
    let hold = case.take(&out(), at(0)).await;
    let begun = case.store.begin(commit(1, 1, "sending"), &hold, pacing, at(0)).await;
    assert_eq!(begun, Ok(Committed::Done));
    let done = case.store.finish(commit(1, 2, "sent"), &hold, at(200)).await;
    assert_eq!(done, Ok(Committed::Done));
    let early = case.claim(&out(), 1, at(999)).await;
    assert_eq!((early.leases.len(), early.next_due), (0, Some(time(1000))));
    let hold = case.take(&out(), at(1000)).await;
    // Nothing went meanwhile: the one behind is ready at once.
    assert_eq!(case.store.ack(&hold, at(1100)).await, Ok(Held::Done));
    assert_eq!(case.claim(&out(), 1, at(1100)).await.leases[0].item, snd(3).as_str());
}

async fn d_39_a_parked_channel_gives_nothing_until_it_is_lifted(case: Case) {
    let (store, channel) = (&case.store, channel());
    let account = Account { channel: channel.clone(), rate: FREE };
    case.open(sent(1, "r"), at(0)).await;
    assert_eq!(store.parked(&channel).await, Ok(None));
    assert_eq!(store.unpark(&channel, at(0)).await, Ok(None));
    let (wait, until) = (seconds(60), time(60_000));
    let parked = Parked { reason: "refused".into(), since: time(0), until, wait };
    let first = store.park(&channel, "refused", wait, at(0)).await;
    assert_eq!(first, Ok((parked.clone(), true)));
    let second = store.park(&channel, "other", seconds(1), at(9)).await;
    assert_eq!(second, Ok((parked.clone(), false)), "one that is parked stays as it is");
    assert_eq!(store.parked(&channel).await, Ok(Some(parked.clone())));
    let claim = async |now| {
        let tokens = crate::case::tokens(3);
        store.claim(&out(), tokens, wait, Some(&account), at(now)).await.unwrap()
    };
    for now in [10, 59_999, 60_000, 500_000] {
        let claimed = claim(now).await;
        assert_eq!((claimed.leases.len(), claimed.parked), (0, true));
        assert_eq!(claimed.wait_until, Some(until));
    }
    let other = ChannelName::parse("support").unwrap();
    assert_eq!(store.parked(&other).await, Ok(None));
    let mut signals = store.signals();
    assert_eq!(store.unpark(&channel, at(10)).await, Ok(Some(parked)));
    let woken = tokio::time::timeout(seconds(5), signals.recv()).await;
    assert_eq!(woken, Ok(Ok(Signal::Queue(out()))));
    assert_eq!(claim(11).await.leases.len(), 1);
}

async fn d_39_one_caller_probes_a_parked_channel_and_waits_double(case: Case) {
    let (store, channel) = (&case.store, channel());
    assert_eq!(store.probation(&channel, seconds(150), at(0)).await, Ok(false));
    store.park(&channel, "refused", seconds(60), at(0)).await.unwrap();
    assert_eq!(store.probation(&channel, seconds(150), at(59_999)).await, Ok(false));
    let (mut now, mut waits) = (60_000, Vec::new());
    for _ in 0..3 {
        assert_eq!(store.probation(&channel, seconds(150), at(now)).await, Ok(true));
        assert_eq!(store.probation(&channel, seconds(150), at(now)).await, Ok(false));
        let parked = store.parked(&channel).await.unwrap().unwrap();
        assert_eq!((parked.since, parked.reason.as_str()), (time(0), "refused"));
        waits.push(parked.wait);
        assert_eq!(parked.until, time(now).plus(parked.wait));
        now = parked.until.0 - time(0).0;
    }
    assert_eq!(waits, [seconds(120), seconds(150), seconds(150)]);
}
