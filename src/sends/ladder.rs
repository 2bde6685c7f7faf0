//! The state machine of a send: record and event in, record and what follows out. Pure.
//!
//! [`next_status`] is the whole table of moves a part can make; everything else here applies it
//! and decides what the worker does next. A pair that is not in the table is refused and counted by
//! the caller, never a panic. No store and no script knows a status name.
use super::record::{Actor, FaultRecord, Move, PartRecord, SendRecord};
use crate::clock::Millis;
use crate::config::delivery::OnAmbiguous;
use contract::{FaultKind, GoneScope, MisconfiguredScope, Outcome, PartStatus, Rank, SendFault};
use std::time::Duration;

/// Something that can move a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is about to be written.
    Begin,
    /// The medium accepted it (a fact, whenever it is learnt).
    Accepted(Rank),
    /// It will be tried again.
    Requeue,
    /// It will not be tried again.
    Fail,
    /// Nobody knows.
    Lose,
    /// Too late.
    Expire,
    /// Cancelled, or an earlier part ended badly.
    Cancel,
    /// The recipient opted out since.
    OptOut,
    /// A receipt of a rank.
    Receipt(Rank),
    /// A receipt that says failed.
    FailedReceipt,
    /// An operator, or the platform, starts another cycle.
    Retry,
}

/// What an event does to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The new status.
    To(PartStatus),
    /// Nothing moves; the fact contradicts what is known.
    Contradicts,
    /// A new status, and it contradicts what was known.
    ToAgainst(PartStatus),
    /// Known already, or of lower rank.
    Stays,
    /// Not in the table.
    Refused,
}

/// The table of moves.
#[must_use]
pub fn next_status(from: PartStatus, event: Event) -> Step {
    use PartStatus as S;
    match (from, event) {
        (S::Queued, Event::Begin) => Step::To(S::Sending),
        (S::Sending | S::OutcomeUnknown, Event::Accepted(rank)) => Step::To(rank.status()),
        // An answer to an earlier try, come while this part waits for another one.
        (S::Queued, Event::Accepted(rank)) => Step::ToAgainst(rank.status()),
        (S::Sending, Event::Requeue) => Step::To(S::Queued),
        (S::Sending | S::Queued, Event::Fail) => Step::To(S::Failed),
        (S::Sending, Event::Lose) => Step::To(S::OutcomeUnknown),
        (S::Queued, Event::Expire) => Step::To(S::Expired),
        (S::Queued, Event::Cancel) => Step::To(S::Cancelled),
        (S::Queued, Event::OptOut) => Step::To(S::Failed),
        (
            S::Accepted | S::Sent | S::Delivered | S::Read,
            Event::Accepted(rank) | Event::Receipt(rank),
        ) => {
            if from.rank() < Some(rank) {
                Step::To(rank.status())
            } else {
                Step::Stays
            }
        }
        (S::OutcomeUnknown, Event::Receipt(rank)) => Step::To(rank.status()),
        (S::Failed, Event::Receipt(Rank::Accepted | Rank::Sent)) => Step::Stays,
        (S::Failed, Event::Receipt(rank)) => Step::ToAgainst(rank.status()),
        (S::Queued | S::Sending, Event::Receipt(rank @ (Rank::Delivered | Rank::Read))) => {
            Step::ToAgainst(rank.status())
        }
        // A failure settles an unknown outcome as a rank does, or the order of receipts would show.
        (S::Accepted | S::Sent | S::OutcomeUnknown, Event::FailedReceipt) => Step::To(S::Failed),
        (S::Delivered | S::Read, Event::FailedReceipt) => Step::Contradicts,
        (S::Failed, Event::FailedReceipt) => Step::Stays,
        (S::Failed | S::Expired | S::OutcomeUnknown | S::Cancelled, Event::Retry) => {
            Step::To(S::Queued)
        }
        _ => Step::Refused,
    }
}

/// What a channel wants of retries.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// Waits between tries.
    pub schedule: &'a [Duration],
    /// After no answer.
    pub on_ambiguous: OnAmbiguous,
    /// Sending a part twice is harmless.
    pub idempotent_parts: bool,
}

/// What the worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on with the next part.
    Part,
    /// The send is final: its lane goes on.
    Finish,
    /// Give the lane back until then.
    Defer(Millis),
}

/// Waits between the tries after a defect of ours.
const INTERNAL_WAITS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];
/// Longest wait that a vendor can impose.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Longest wait of our own after throttles that name none.
const LONGEST_THROTTLE: Duration = Duration::from_secs(60);

/// Moves one part if the table allows it; says whether anything changed.
pub fn move_part(
    record: &mut SendRecord,
    part: usize,
    event: Event,
    actor: Actor,
    at: Millis,
    reason: Option<&str>,
) -> Step {
    let Some(row) = record.parts.get_mut(part) else { return Step::Refused };
    let step = next_status(row.status, event);
    let to = match step {
        Step::To(to) => to,
        Step::ToAgainst(to) => {
            record.flags.contradiction = true;
            to
        }
        Step::Contradicts => {
            record.flags.contradiction = true;
            return step;
        }
        Step::Stays | Step::Refused => return step,
    };
    let from = std::mem::replace(&mut row.status, to);
    record.updated_at = at;
    record.moves.push(Move {
        at,
        part: u16::try_from(part).unwrap_or(u16::MAX),
        from,
        to,
        actor,
        reason: reason.map(str::to_owned),
    });
    step
}

/// The part goes out now.
pub fn begin(record: &mut SendRecord, part: usize, at: Millis) -> Step {
    record.next_at = None;
    move_part(record, part, Event::Begin, Actor::Worker, at, None)
}

/// The medium has the part: a fact, recorded whenever it is learnt.
pub fn accepted(
    record: &mut SendRecord,
    part: usize,
    provider_message_id: &str,
    sent_to: Option<&str>,
    rank: Rank,
    at: Millis,
) -> Step {
    let Some(row) = record.parts.get_mut(part) else { return Step::Refused };
    match row.provider_message_id.as_deref() {
        Some(known) if known == provider_message_id => {}
        Some(_) if row.previous_ids.len() < 4 => {
            row.previous_ids.push(provider_message_id.to_owned());
        }
        Some(_) => {}
        None => row.provider_message_id = Some(provider_message_id.to_owned()),
    }
    row.accepted_at.get_or_insert(at);
    if let Some(address) = sent_to {
        row.sent_to = Some(address.to_owned());
        record.recipient_now = Some(address.to_owned());
    }
    let step = move_part(record, part, Event::Accepted(rank), Actor::Worker, at, None);
    // A receipt may have said meanwhile that it failed.
    if let Some(row) = record.parts.get_mut(part).filter(|row| row.is_accepted()) {
        row.fault = None;
    }
    if record.parts.iter().all(PartRecord::is_accepted) {
        record.fault = None;
    }
    record.waits = 0;
    step
}

/// The part was not accepted: what becomes of it, and what the worker does next. `jitter` is in
/// 0…1.
pub fn faulted(
    record: &mut SendRecord,
    part: usize,
    fault: &SendFault,
    policy: Policy<'_>,
    at: Millis,
    jitter: f64,
) -> Next {
    note_fault(record, part, fault, at);
    let wait = match fault.kind {
        FaultKind::Permanent
        | FaultKind::WindowClosed
        | FaultKind::RecipientGone { .. }
        | FaultKind::Misconfigured { scope: MisconfiguredScope::Send } => None,
        FaultKind::Throttled { .. } => Some(throttle_wait(record, fault, jitter)),
        FaultKind::Misconfigured { scope: MisconfiguredScope::Account } => {
            Some(account_wait(record, policy, jitter))
        }
        FaultKind::Internal => internal_wait(record, part),
        FaultKind::Ambiguous if !policy.idempotent_parts => {
            return ambiguous(record, part, "no_answer", policy, at, jitter);
        }
        FaultKind::Transient | FaultKind::Ambiguous => scheduled_wait(record, policy, jitter),
    };
    match wait {
        Some(wait) => {
            let floor = fault.wait.unwrap_or_default().min(LONGEST_WAIT);
            requeue(record, part, wait.max(floor), at)
        }
        None => fail(record, part, at),
    }
}

/// The part was not accepted because the account cannot send: it waits until the account can, or
/// the send expires. The lane is given back at once: nothing is claimed of a parked account.
pub fn parked(
    record: &mut SendRecord,
    part: usize,
    fault: &SendFault,
    until: Millis,
    at: Millis,
) -> Next {
    note_fault(record, part, fault, at);
    move_part(record, part, Event::Requeue, Actor::Worker, at, None);
    wait_until(record, until, at);
    Next::Defer(at)
}

/// The worker that had written the part's request died.
pub fn reaped(
    record: &mut SendRecord,
    part: usize,
    policy: Policy<'_>,
    at: Millis,
    jitter: f64,
) -> Next {
    record.flags.reaped = true;
    let fault = SendFault::new(
        FaultKind::Ambiguous,
        "process_died",
        "the gateway stopped while the request was under way; whether it arrived is not known",
    );
    note_fault(record, part, &fault, at);
    ambiguous(record, part, "process_died", policy, at, jitter)
}

/// The recipient opted out since the send was accepted: nothing of it goes out any more.
pub fn opted_out(record: &mut SendRecord, at: Millis) -> Next {
    let fault = SendFault::new(
        FaultKind::RecipientGone { hard: true, scope: GoneScope::All },
        "opted_out",
        "the recipient opted out of this channel after the send was accepted",
    );
    if let Some(part) = record.parts.iter().position(|part| part.status == PartStatus::Queued) {
        note_fault(record, part, &fault, at);
        move_part(record, part, Event::OptOut, Actor::Worker, at, Some("opted_out"));
    }
    cancel_later(record, at);
    Next::Finish
}

/// Every part that still waits expires.
pub fn expire(record: &mut SendRecord, actor: Actor, at: Millis) {
    end_waiting(record, Event::Expire, actor, at, None);
}

/// Reads an outcome that is no acceptance as a fault.
#[must_use]
pub fn fault_of(outcome: Outcome) -> Option<SendFault> {
    match outcome {
        Outcome::Accepted { .. } => None,
        Outcome::Fault(fault) | Outcome::UseAlternate { fault } => Some(fault),
        Outcome::Moved { .. } => Some(SendFault::new(
            FaultKind::Permanent,
            "moved_again",
            "the medium named a new address twice for one part",
        )),
    }
}

fn note_fault(record: &mut SendRecord, part: usize, fault: &SendFault, at: Millis) {
    let kept = FaultRecord::new(fault, part, at);
    if let Some(row) = record.parts.get_mut(part) {
        row.fault = Some(kept.clone());
    }
    record.fault = Some(kept);
}

fn ambiguous(
    record: &mut SendRecord,
    part: usize,
    reason: &str,
    policy: Policy<'_>,
    at: Millis,
    jitter: f64,
) -> Next {
    let seen = record.parts.get_mut(part).map_or(u8::MAX, |row| {
        row.ambiguous = row.ambiguous.saturating_add(1);
        row.ambiguous
    });
    if policy.on_ambiguous == OnAmbiguous::Retry && seen == 1 {
        record.flags.duplicate_suspected = true;
        if let Some(wait) = scheduled_wait(record, policy, jitter) {
            return requeue(record, part, wait, at);
        }
    }
    move_part(record, part, Event::Lose, Actor::Worker, at, Some(reason));
    cancel_later(record, at);
    Next::Finish
}

/// A counted try: the schedule's next step with up to a fifth added, or none when it is spent.
fn scheduled_wait(record: &mut SendRecord, policy: Policy<'_>, jitter: f64) -> Option<Duration> {
    record.tries = record.tries.saturating_add(1);
    record.waits = 0;
    let step = policy.schedule.get(usize::from(record.tries) - 1)?;
    Some(step.mul_f64(1.0 + 0.2 * jitter))
}

/// What a throttle holds back: the vendor's wait, at most a day; doubling from a second to a minute
/// where it names none.
#[must_use]
pub fn throttle_floor(record: &SendRecord, fault: &SendFault) -> Duration {
    let own = Duration::from_secs(1 << record.waits.min(6)).min(LONGEST_THROTTLE);
    fault.wait.unwrap_or(own).min(LONGEST_WAIT)
}

/// Not counted: the floor with up to a tenth (5 s at most) added.
fn throttle_wait(record: &mut SendRecord, fault: &SendFault, jitter: f64) -> Duration {
    let wait = throttle_floor(record, fault);
    record.waits = record.waits.saturating_add(1);
    wait + wait.mul_f64(0.1 * jitter).min(Duration::from_secs(5))
}

/// Not counted: the account cannot send; the schedule's steps, the last one repeated.
fn account_wait(record: &mut SendRecord, policy: Policy<'_>, jitter: f64) -> Duration {
    let last = policy.schedule.len().saturating_sub(1);
    let step = policy.schedule.get(usize::from(record.waits).min(last));
    record.waits = record.waits.saturating_add(1);
    step.copied().unwrap_or(LONGEST_THROTTLE).mul_f64(1.0 + 0.2 * jitter)
}

fn internal_wait(record: &mut SendRecord, part: usize) -> Option<Duration> {
    record.tries = record.tries.saturating_add(1);
    let row = record.parts.get_mut(part)?;
    let wait = INTERNAL_WAITS.get(usize::from(row.internals)).copied();
    row.internals = row.internals.saturating_add(1);
    wait
}

fn requeue(record: &mut SendRecord, part: usize, wait: Duration, at: Millis) -> Next {
    let next = at.plus(wait);
    // A part that never began (its preparation failed) waits as it is.
    move_part(record, part, Event::Requeue, Actor::Worker, at, None);
    if next > record.expires_at {
        if let Some(fault) = record.fault.as_mut() {
            fault.detail.push_str("; the next try would come after the send expires");
        }
        expire(record, Actor::Worker, at);
        return Next::Finish;
    }
    wait_until(record, next, at);
    Next::Defer(next)
}

fn wait_until(record: &mut SendRecord, next: Millis, at: Millis) {
    record.next_at = Some(next);
    let seconds = at.until(next).as_millis().div_ceil(1000);
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    if let Some(fault) = record.fault.as_mut() {
        fault.retry_after = Some(seconds);
    }
}

fn fail(record: &mut SendRecord, part: usize, at: Millis) -> Next {
    let retryable = record.fault.as_ref().is_some_and(|fault| {
        matches!(fault.kind, FaultKind::Transient | FaultKind::Ambiguous | FaultKind::Internal)
    });
    if retryable && let Some(fault) = record.fault.as_mut() {
        fault.detail.push_str("; the tries are spent");
    }
    move_part(record, part, Event::Fail, Actor::Worker, at, None);
    cancel_later(record, at);
    Next::Finish
}

/// Parts that wait behind one that ended badly do not go out.
pub(super) fn cancel_later(record: &mut SendRecord, at: Millis) {
    end_waiting(record, Event::Cancel, Actor::Worker, at, Some("earlier_part"));
}

pub(super) fn end_waiting(
    record: &mut SendRecord,
    event: Event,
    actor: Actor,
    at: Millis,
    reason: Option<&str>,
) {
    record.next_at = None;
    for part in 0..record.parts.len() {
        if record.parts[part].status == PartStatus::Queued {
            move_part(record, part, event, actor, at, reason);
        }
    }
}

#[cfg(test)]
#[path = "ladder_tests.rs"]
pub(super) mod tests;
