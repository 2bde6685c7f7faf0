//! Receipts against records: every effect, and that no order of them shows in the end.
use super::*;
use crate::sends::record::{FORMAT, Flags, PartRecord};
use contract::{ChannelName, Facts, Medium, NotificationId, PartKind, SendFault};
use proptest::prelude::*;
use std::collections::BTreeSet;

const T0: Millis = Millis(1_796_000_000_000);

/// A send of one part under way.
fn record() -> SendRecord {
    let mut record = SendRecord {
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
        parts: vec![PartRecord::queued(PartKind::Text, Facts::default())],
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
    };
    ladder::begin(&mut record, 0, T0);
    record
}

fn accept(record: &mut SendRecord, rank: Rank) {
    ladder::accepted(record, 0, "wamid.1", None, rank, T0);
}

fn failed(kind: FaultKind) -> Says {
    let fault = SendFault::new(kind, "rejected", "detail");
    Says::Failed(Box::new(FaultRecord::new(&fault, 0, T0)), None)
}

fn receipt(says: Says, seconds: i64) -> Receipt {
    let word = match &says {
        Says::Rank(rank) => rank.as_str(),
        Says::Failed(..) => "failed",
        Says::Unknown => "played",
    };
    Receipt {
        provider_message_id: Some("wamid.1".to_owned()),
        correlator: None,
        raw: word.to_owned(),
        says,
        vendor_at: Some(Millis(T0.0 + seconds * 1000)),
        received_at: T0,
    }
}

fn effect(record: &mut SendRecord, receipt: &Receipt) -> Option<Effect> {
    match apply(record, 0, receipt, false, T0) {
        Applied::Written(written) => Some(written.effect),
        Applied::Duplicate | Applied::Early => None,
    }
}

#[test]
fn d_51_to_d_53_each_receipt_has_its_effect() {
    let mut send = record();
    accept(&mut send, Rank::Accepted);
    let steps = [
        (Says::Rank(Rank::Delivered), Some(Effect::Moved), PartStatus::Delivered),
        (Says::Rank(Rank::Sent), Some(Effect::Lower), PartStatus::Delivered),
        (Says::Rank(Rank::Delivered), None, PartStatus::Delivered),
        (Says::Unknown, Some(Effect::UnknownName), PartStatus::Delivered),
        (Says::Rank(Rank::Read), Some(Effect::Moved), PartStatus::Read),
        (failed(FaultKind::Permanent), Some(Effect::Contradiction), PartStatus::Read),
    ];
    for (says, expected, status) in steps {
        let receipt = receipt(says, 1);
        assert_eq!(effect(&mut send, &receipt), expected, "{receipt:?}");
        assert_eq!(send.status(), status, "{receipt:?}");
    }
    assert_eq!(effect(&mut send, &receipt(Says::Rank(Rank::Read), 2)), Some(Effect::Same));
    assert!(send.flags.contradiction && send.fault.is_none());
    assert_eq!(send.receipts.len(), 6);
}

#[test]
fn d_41_a_failure_for_now_is_sent_again_twice_then_stands() {
    let mut send = record();
    for (cycle, wait) in [(2, 5), (3, 30)] {
        accept(&mut send, Rank::Accepted);
        let transient = receipt(failed(FaultKind::Transient), i64::from(cycle));
        let Applied::Written(written) = apply(&mut send, 0, &transient, false, T0) else {
            panic!("a first receipt is written");
        };
        assert_eq!(written.retry, Some(T0.plus(Duration::from_secs(wait))));
        assert_eq!((send.status(), send.cycle, send.tries), (PartStatus::Queued, cycle, 0));
        assert_eq!(send.parts[0].provider_message_id, None);
        send.parts[0].previous_ids.clear();
        ladder::begin(&mut send, 0, T0);
    }
    accept(&mut send, Rank::Accepted);
    let Applied::Written(written) =
        apply(&mut send, 0, &receipt(failed(FaultKind::Transient), 9), false, T0)
    else {
        panic!("a first receipt is written");
    };
    assert_eq!((written.retry, send.status()), (None, PartStatus::Failed));
}

#[test]
fn d_54_of_an_earlier_try_only_its_arrival_counts() {
    let mut send = record();
    accept(&mut send, Rank::Accepted);
    apply(&mut send, 0, &receipt(failed(FaultKind::Transient), 1), false, T0);
    assert_eq!(send.parts[0].previous_ids, ["wamid.1"]);
    assert_eq!(effect(&mut send, &receipt(Says::Rank(Rank::Sent), 2)), Some(Effect::Lower));
    let again = receipt(failed(FaultKind::Permanent), 3);
    assert_eq!(effect(&mut send, &again), Some(Effect::Lower));
    assert_eq!(send.status(), PartStatus::Queued);
    let arrived = receipt(Says::Rank(Rank::Delivered), 4);
    assert_eq!(effect(&mut send, &arrived), Some(Effect::Contradiction));
    assert_eq!(send.status(), PartStatus::Delivered);
}

#[test]
fn a_correlator_repairs_an_unknown_outcome_and_waits_for_a_request_under_way() {
    let mut send = record();
    let named = Receipt {
        correlator: Some(format!("{}:0", send.id)),
        ..receipt(Says::Rank(Rank::Sent), 1)
    };
    assert_eq!(named.names(), Some((send.id.clone(), 0)));
    assert_eq!(apply(&mut send, 0, &named, true, T0), Applied::Early);
    ladder::move_part(&mut send, 0, Event::Lose, Actor::Worker, T0, None);
    let Applied::Written(written) = apply(&mut send, 0, &named, true, T0) else {
        panic!("an unknown outcome takes it");
    };
    assert!(written.new_id);
    assert_eq!(send.parts[0].provider_message_id.as_deref(), Some("wamid.1"));
    assert_eq!(send.status(), PartStatus::Sent);
}

#[test]
fn sixty_four_receipts_are_kept_and_what_moves_beyond() {
    let mut send = record();
    accept(&mut send, Rank::Sent);
    for second in 0..100 {
        effect(&mut send, &receipt(Says::Unknown, second));
    }
    assert_eq!(send.receipts.len(), KEPT);
    assert_eq!(effect(&mut send, &receipt(Says::Rank(Rank::Read), 1)), Some(Effect::Moved));
    assert_eq!((send.receipts.len(), send.status()), (KEPT + 1, PartStatus::Read));
}

/// What reaches a send: the answer to its request, receipts, receipts of another account.
#[derive(Clone, Debug)]
enum Arrival {
    Answer,
    Receipt { says: usize, correlated: bool },
    Foreign,
}

/// What is the same whatever the order.
type End = (PartStatus, Option<String>, bool, Option<String>, BTreeSet<(String, Option<i64>)>);

fn end(arrivals: &[Arrival], words: &[Says]) -> End {
    let (mut send, mut waiting) = (record(), Vec::new());
    let mut known = false;
    for arrival in arrivals {
        match arrival {
            // No index and no correlator of this channel leads a foreign one to the send.
            Arrival::Foreign => continue,
            Arrival::Answer => {
                accept(&mut send, Rank::Accepted);
                known = true;
            }
            Arrival::Receipt { says, correlated } => {
                let place = i64::try_from(*says).unwrap();
                waiting.push((receipt(words[*says].clone(), place), *correlated));
            }
        }
        // What is early waits: on the shelf without a correlator, in the queue with one.
        waiting.retain(|(receipt, correlated)| {
            let reaches = *correlated || known;
            !reaches || apply(&mut send, 0, receipt, *correlated, T0) == Applied::Early
        });
    }
    let kept = send.receipts.iter().map(|row| (row.raw.clone(), row.vendor_at.map(|at| at.0)));
    (
        send.status(),
        send.parts[0].provider_message_id.clone(),
        send.flags.contradiction,
        send.fault.as_ref().map(|fault| fault.code.clone()),
        kept.collect(),
    )
}

fn words() -> impl Strategy<Value = Vec<Says>> {
    let word = prop_oneof![
        Just(Says::Rank(Rank::Accepted)),
        Just(Says::Rank(Rank::Sent)),
        Just(Says::Rank(Rank::Delivered)),
        Just(Says::Rank(Rank::Read)),
        Just(failed(FaultKind::Permanent)),
        Just(Says::Unknown),
    ];
    prop::collection::vec(word, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Any order and duplication of one send's receipts and answers, some early, some with our
    /// correlator, some of another account: one end.
    #[test]
    fn d_9_no_order_of_receipts_and_answers_shows_in_the_end(
        words in words(),
        correlated in prop::collection::vec(any::<bool>(), 12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 16),
        repeats in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        foreign in 0usize..3,
    ) {
        let told = |says: usize, nth: usize| {
            Arrival::Receipt { says, correlated: correlated[nth % correlated.len()] }
        };
        let mut straight = vec![Arrival::Answer];
        straight.extend((0..words.len()).map(|says| told(says, says)));
        let mut all = straight.clone();
        all.push(Arrival::Answer);
        all.extend(repeats.iter().enumerate().map(|(n, i)| told(i.index(words.len()), n + 6)));
        all.extend((0..foreign).map(|_| Arrival::Foreign));
        let mut shuffled: Vec<Arrival> = Vec::new();
        for (n, arrival) in all.into_iter().enumerate() {
            let place = places[n % places.len()].index(shuffled.len() + 1);
            shuffled.insert(place, arrival);
        }
        prop_assert_eq!(end(&straight, &words), end(&shuffled, &words), "{:?}", shuffled);
    }
}
