//! The ladder: its table, and what each class of fault makes of a send.
use super::*;
use crate::sends::record::{FORMAT, Flags};
use contract::{
    ChannelName, Facts, GoneScope, Medium, NotificationId, PartKind, SendId, ThrottleScope,
};
use proptest::prelude::*;

pub(in crate::sends) const T0: Millis = Millis(1_796_000_000_000);
const SCHEDULE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];

pub(in crate::sends) fn record(parts: usize) -> SendRecord {
    SendRecord {
        format: FORMAT,
        id: SendId::from_bits(1),
        notification: NotificationId::from_bits(2),
        channel: ChannelName::parse("c").unwrap(),
        medium: Medium::parse("m").unwrap(),
        recipient: "r".to_owned(),
        recipient_now: None,
        audience: None,
        caller: "ops".to_owned(),
        thread: None,
        trace_id: "0".repeat(32),
        span_id: "0".repeat(16),
        created_at: T0,
        expires_at: T0.plus(Duration::from_secs(86_400)),
        updated_at: T0,
        parts: (0..parts).map(|_| PartRecord::queued(PartKind::Text, Facts::default())).collect(),
        degrades: Vec::new(),
        fault: None,
        tries: 0,
        attempts_made: 0,
        waits: 0,
        next_at: None,
        cycle: 1,
        cycle_at: None,
        flags: Flags::default(),
        moves: Vec::new(),
        attempts: Vec::new(),
        receipts: Vec::new(),
        watched: false,
    }
}

pub(in crate::sends) fn policy(on_ambiguous: OnAmbiguous) -> Policy<'static> {
    Policy { schedule: &SCHEDULE, on_ambiguous, idempotent_parts: false }
}

fn fault(kind: FaultKind) -> SendFault {
    SendFault::new(kind, "code", "detail")
}

/// Begins part 0 and lets it end in this fault.
fn once(record: &mut SendRecord, fault: &SendFault, policy: Policy<'_>, at: Millis) -> Next {
    begin(record, 0, at);
    faulted(record, 0, fault, policy, at, 0.0)
}

#[test]
fn a_counted_fault_is_tried_on_the_schedule_until_it_is_spent() {
    let mut send = record(1);
    let hold = policy(OnAmbiguous::Hold);
    let transient = fault(FaultKind::Transient);
    assert_eq!(once(&mut send, &transient, hold, T0), Next::Defer(T0.plus(SCHEDULE[0])));
    assert_eq!(once(&mut send, &transient, hold, T0), Next::Defer(T0.plus(SCHEDULE[1])));
    assert_eq!(once(&mut send, &transient, hold, T0), Next::Finish);
    assert_eq!((send.status(), send.tries), (PartStatus::Failed, 3));
    assert!(send.fault.unwrap().detail.ends_with("the tries are spent"));
}

#[test]
fn d_36_d_37_a_throttle_waits_at_least_as_told_and_counts_as_nothing() {
    let mut send = record(1);
    let throttled = fault(FaultKind::Throttled { scope: ThrottleScope::Account });
    let told = throttled.clone().after(Some(Duration::from_secs(7)));
    for _ in 0..50 {
        let Next::Defer(at) = once(&mut send, &told, policy(OnAmbiguous::Hold), T0) else {
            panic!("a throttle never ends a send");
        };
        assert!(at >= T0.plus(Duration::from_secs(7)));
    }
    assert_eq!(send.tries, 0);
    let mut untold = record(1);
    let waits: Vec<u64> = (0..8)
        .map(|_| match once(&mut untold, &throttled, policy(OnAmbiguous::Hold), T0) {
            Next::Defer(at) => T0.until(at).as_secs(),
            _ => 0,
        })
        .collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn an_ambiguous_outcome_is_held_or_tried_once_more() {
    let ambiguous = fault(FaultKind::Ambiguous);
    let mut held = record(2);
    assert_eq!(once(&mut held, &ambiguous, policy(OnAmbiguous::Hold), T0), Next::Finish);
    assert_eq!(held.status(), PartStatus::OutcomeUnknown);
    assert_eq!(held.parts[1].status, PartStatus::Cancelled);
    let mut retried = record(1);
    let again = policy(OnAmbiguous::Retry);
    assert!(matches!(once(&mut retried, &ambiguous, again, T0), Next::Defer(_)));
    assert!(retried.flags.duplicate_suspected);
    assert_eq!(once(&mut retried, &ambiguous, again, T0), Next::Finish);
    assert_eq!(retried.status(), PartStatus::OutcomeUnknown);
    let mut harmless = record(1);
    let idempotent = Policy { idempotent_parts: true, ..policy(OnAmbiguous::Hold) };
    assert!(matches!(once(&mut harmless, &ambiguous, idempotent, T0), Next::Defer(_)));
}

#[test]
fn what_is_refused_for_good_fails_and_cancels_what_follows() {
    for kind in [
        FaultKind::Permanent,
        FaultKind::WindowClosed,
        FaultKind::RecipientGone { hard: true, scope: GoneScope::All },
        FaultKind::Misconfigured { scope: MisconfiguredScope::Send },
    ] {
        let mut send = record(3);
        begin(&mut send, 0, T0);
        accepted(&mut send, 0, "id-0", None, Rank::Sent, T0);
        begin(&mut send, 1, T0);
        assert_eq!(
            faulted(&mut send, 1, &fault(kind), policy(OnAmbiguous::Hold), T0, 0.5),
            Next::Finish
        );
        let statuses: Vec<_> = send.parts.iter().map(|p| p.status).collect();
        assert_eq!(
            statuses,
            [PartStatus::Sent, PartStatus::Failed, PartStatus::Cancelled],
            "{kind:?}"
        );
        assert_eq!(send.moves.last().unwrap().reason.as_deref(), Some("earlier_part"));
    }
}

#[test]
fn a_dead_account_waits_and_a_defect_is_tried_twice() {
    let mut parked = record(1);
    let account = fault(FaultKind::Misconfigured { scope: MisconfiguredScope::Account });
    for _ in 0..20 {
        assert!(matches!(
            once(&mut parked, &account, policy(OnAmbiguous::Hold), T0),
            Next::Defer(_)
        ));
    }
    assert_eq!(parked.tries, 0);
    let mut defect = record(1);
    let internal = fault(FaultKind::Internal);
    let ends: Vec<bool> = (0..3)
        .map(|_| once(&mut defect, &internal, policy(OnAmbiguous::Hold), T0) == Next::Finish)
        .collect();
    assert_eq!(ends, [false, false, true]);
}

#[test]
fn d_40_a_next_try_past_the_expiry_expires_at_once() {
    let mut send = record(1);
    send.expires_at = T0.plus(Duration::from_secs(3));
    let told = fault(FaultKind::Throttled { scope: ThrottleScope::Account })
        .after(Some(Duration::from_secs(4)));
    assert_eq!(once(&mut send, &told, policy(OnAmbiguous::Hold), T0), Next::Finish);
    assert_eq!((send.status(), send.next_at), (PartStatus::Expired, None));
}

#[test]
fn d_4_a_late_answer_is_a_fact_for_whatever_the_record_has_become() {
    let mut lost = record(1);
    begin(&mut lost, 0, T0);
    assert_eq!(reaped(&mut lost, 0, policy(OnAmbiguous::Hold), T0, 0.0), Next::Finish);
    assert_eq!(lost.status(), PartStatus::OutcomeUnknown);
    accepted(&mut lost, 0, "late", None, Rank::Sent, T0);
    assert_eq!(lost.status(), PartStatus::Sent);
    assert_eq!(lost.parts[0].provider_message_id.as_deref(), Some("late"));
    let mut waiting = record(1);
    begin(&mut waiting, 0, T0);
    reaped(&mut waiting, 0, policy(OnAmbiguous::Retry), T0, 0.0);
    assert_eq!(waiting.status(), PartStatus::Queued);
    accepted(&mut waiting, 0, "late", None, Rank::Sent, T0);
    assert!(waiting.flags.contradiction);
    assert_eq!(waiting.next_part(), None, "the worker skips what arrived");
}

#[test]
fn a_record_reads_back_and_its_header_says_status_and_watch() {
    let mut send = record(2);
    send.watched = true;
    begin(&mut send, 0, T0);
    let value = send.encode(7);
    assert!(value.starts_with(b"7 queued w\n"), "the lowest part is the status");
    assert_eq!(SendRecord::decode(&value), Some((7, send)));
    for bad in [&b""[..], b"x queued\n", b"1 queued\n\xc1", b"1 queued"] {
        assert_eq!(SendRecord::decode(bad), None);
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let rank = prop_oneof![
        Just(Rank::Accepted),
        Just(Rank::Sent),
        Just(Rank::Delivered),
        Just(Rank::Read)
    ];
    prop_oneof![
        Just(Event::Begin),
        Just(Event::Requeue),
        Just(Event::Fail),
        Just(Event::Lose),
        Just(Event::Expire),
        Just(Event::Cancel),
        Just(Event::OptOut),
        Just(Event::FailedReceipt),
        rank.clone().prop_map(Event::Receipt),
        rank.prop_map(Event::Accepted),
    ]
}

proptest! {
    /// Whatever comes, a part known to be accepted never goes back to where it would be sent again.
    #[test]
    fn d_2_no_order_of_events_sends_an_accepted_part_again(
        events in proptest::collection::vec(any_event(), 0..30)
    ) {
        let mut send = record(1);
        for event in events {
            let before = send.parts[0].status;
            move_part(&mut send, 0, event, Actor::Worker, T0, None);
            let after = send.parts[0].status;
            if before.rank().is_some() {
                let resent = matches!(after, PartStatus::Queued | PartStatus::Sending);
                prop_assert!(!resent, "{before:?} → {after:?}");
                prop_assert!(after.rank() >= before.rank() || after == PartStatus::Failed);
            }
        }
    }

    /// Receipts of one part in any order and number end in one status [D-9].
    #[test]
    fn d_9_receipts_end_alike_in_any_order(
        ranks in proptest::collection::vec(0usize..4, 1..8), failed in any::<bool>(), seed in any::<u64>()
    ) {
        let all = [Rank::Accepted, Rank::Sent, Rank::Delivered, Rank::Read];
        let mut events: Vec<Event> = ranks.iter().map(|i| Event::Receipt(all[*i])).collect();
        if failed {
            events.push(Event::FailedReceipt);
        }
        let highest = ranks.iter().max().map(|i| all[*i]);
        let settle = |events: &[Event]| {
            let mut send = record(1);
            begin(&mut send, 0, T0);
            accepted(&mut send, 0, "id", None, Rank::Accepted, T0);
            for event in events {
                move_part(&mut send, 0, *event, Actor::Receipt, T0, None);
            }
            send.parts[0].status
        };
        let one = settle(&events);
        let mut shuffled = events.clone();
        let turn = usize::try_from(seed % events.len() as u64).unwrap_or(0);
        shuffled.rotate_left(turn);
        shuffled.reverse();
        let two = settle(&shuffled);
        let delivered = highest >= Some(Rank::Delivered);
        if delivered || !failed {
            prop_assert_eq!(one, two);
        } else {
            prop_assert_eq!(one, PartStatus::Failed);
            prop_assert_eq!(two, PartStatus::Failed);
        }
    }
}
