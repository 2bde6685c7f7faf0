//! What a person may do to a send: cancel what waits, try again what ended badly. Pure.
use super::ladder::{self, Event, Step};
use super::receipts::remember;
use super::record::{Actor, SendRecord};
use crate::clock::Millis;
use contract::PartStatus;
use std::time::Duration;

/// Shortest time a send that is tried again has.
const SPAN_MIN: Duration = Duration::from_secs(3600);

/// Why a send cannot be cancelled or tried again: one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotNow(pub &'static str);

/// Its parts that wait go nowhere; those that are out keep their status.
///
/// # Errors
/// It does not wait: it is final, or a request is under way.
pub fn cancel(record: &mut SendRecord, at: Millis) -> Result<(), NotNow> {
    if record.parts.iter().any(|part| part.status == PartStatus::Sending) {
        return Err(NotNow("A request of this send is under way; look again in a moment."));
    }
    if record.status() != PartStatus::Queued {
        return Err(NotNow("The send is final; only one that waits can be cancelled."));
    }
    ladder::end_waiting(record, Event::Cancel, Actor::Api, at, None);
    Ok(())
}

/// Another cycle from the first part that is not accepted, with a new expiry: as long as the send
/// had, at least an hour. A part failed by a receipt counts as not accepted.
///
/// # Errors
/// It did not end as failed, expired or unknown, or its content renders into other parts now.
pub fn retry(record: &mut SendRecord, actor: Actor, at: Millis) -> Result<(), NotNow> {
    if !record.is_dead_letter() {
        return Err(NotNow(
            "Only a send that is failed, expired or outcome_unknown is tried again.",
        ));
    }
    if record.fault.as_ref().is_some_and(|fault| fault.code == "render_changed") {
        return Err(NotNow(
            "The content renders into other parts than were accepted; send it anew.",
        ));
    }
    for index in 0..record.parts.len() {
        let step = ladder::move_part(record, index, Event::Retry, actor, at, None);
        if let (Step::To(_), Some(part)) = (step, record.parts.get_mut(index)) {
            if let Some(id) = part.provider_message_id.take() {
                remember(&mut part.previous_ids, id);
            }
            part.accepted_at = None;
            part.fault = None;
            (part.ambiguous, part.internals) = (0, 0);
        }
    }
    let began = record.cycle_at.unwrap_or(record.created_at);
    let span = began.until(record.expires_at).max(SPAN_MIN);
    record.expires_at = at.plus(span);
    record.cycle_at = Some(at);
    record.cycle = record.cycle.saturating_add(1);
    (record.tries, record.waits, record.next_at, record.fault) = (0, 0, None, None);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::delivery::OnAmbiguous;
    use crate::sends::ladder::tests::{T0, policy, record as fresh};
    use contract::{FaultKind, Rank, SendFault};

    fn fault(kind: FaultKind, code: &'static str) -> SendFault {
        SendFault::new(kind, code, "no")
    }

    const NOW: Millis = Millis(T0.0 + 5_000_000);

    #[test]
    fn d_42_what_waits_is_cancelled_what_is_out_stays_and_the_rest_is_refused() {
        let mut record = fresh(3);
        ladder::begin(&mut record, 0, NOW);
        assert!(cancel(&mut record.clone(), NOW).is_err(), "a request is under way");
        ladder::accepted(&mut record, 0, "id", None, Rank::Sent, NOW);
        cancel(&mut record, NOW).unwrap();
        let statuses: Vec<_> = record.parts.iter().map(|part| part.status).collect();
        assert_eq!(statuses, [PartStatus::Sent, PartStatus::Cancelled, PartStatus::Cancelled]);
        assert_eq!(record.status(), PartStatus::Cancelled);
        assert!(cancel(&mut record, NOW).is_err());
        assert!(retry(&mut record, Actor::Operator, NOW).is_err(), "cancelled is final");
    }

    #[test]
    fn d_43_a_retry_resumes_at_the_first_part_not_accepted_with_a_new_expiry() {
        let mut record = fresh(3);
        record.expires_at = record.created_at.plus(Duration::from_secs(7200));
        assert!(retry(&mut record.clone(), Actor::Operator, NOW).is_err(), "it waits");
        for part in 0..2 {
            ladder::begin(&mut record, part, NOW);
            ladder::accepted(&mut record, part, "first", None, Rank::Sent, NOW);
        }
        ladder::begin(&mut record, 2, NOW);
        let refused = fault(FaultKind::Permanent, "rejected");
        ladder::faulted(&mut record, 2, &refused, policy(OnAmbiguous::Hold), NOW, 0.0);
        // A receipt takes the second part back.
        ladder::move_part(&mut record, 1, Event::FailedReceipt, Actor::Receipt, NOW, None);
        let later = NOW.plus(Duration::from_secs(90_000));
        retry(&mut record, Actor::Operator, later).unwrap();
        let statuses: Vec<_> = record.parts.iter().map(|part| part.status).collect();
        assert_eq!(statuses, [PartStatus::Sent, PartStatus::Queued, PartStatus::Queued]);
        assert_eq!(record.next_part(), Some(1));
        assert_eq!((record.cycle, record.tries, &record.fault), (2, 0, &None));
        assert_eq!(record.expires_at, later.plus(Duration::from_secs(7200)));
        let moved = &record.parts[1];
        assert_eq!(
            (&moved.provider_message_id, &moved.previous_ids[..]),
            (&None, &["first".to_owned()][..])
        );
        // A second retry has as long as the first.
        ladder::expire(&mut record, Actor::Janitor, later);
        let again = later.plus(Duration::from_secs(100));
        retry(&mut record, Actor::Operator, again).unwrap();
        assert_eq!(record.expires_at, again.plus(Duration::from_secs(7200)));
        assert_eq!(record.cycle, 3);
    }

    #[test]
    fn d_43_a_short_lived_send_gets_an_hour_and_changed_parts_are_not_tried_again() {
        let mut record = fresh(1);
        record.expires_at = record.created_at.plus(Duration::from_secs(5));
        ladder::expire(&mut record, Actor::Janitor, NOW);
        let mut changed = record.clone();
        retry(&mut record, Actor::Operator, NOW).unwrap();
        assert_eq!(record.expires_at, NOW.plus(SPAN_MIN));
        let kind = fault(FaultKind::Permanent, "render_changed");
        changed.fault = Some(crate::sends::record::FaultRecord::new(&kind, 0, NOW));
        assert!(retry(&mut changed, Actor::Operator, NOW).is_err());
    }
}
