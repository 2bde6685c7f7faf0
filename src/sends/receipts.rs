//! What a receipt makes of a record. Pure: record and receipt in, record and what follows out.
//!
//! The order in which receipts come, and whether they come before or after the answer to the request
//! itself, does not show in where a part ends [D-9]. A receipt that names our correlator while the
//! request is still under way is [`Applied::Early`]: its caller brings it again once the answer is
//! in, so that a failure read too soon is not lost to the table of moves.
use super::ladder::{self, Event, Step};
use super::record::{Actor, FaultRecord, SendRecord};
use crate::clock::Millis;
use contract::receipt::{ReceiptReading, ReceiptSays};
use contract::{FaultKind, PartStatus, Rank, SendId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Receipts a record keeps; of later ones only those that change something.
pub const KEPT: usize = 64;
/// Times a part is sent again because a receipt says that it failed for now.
const RETRIES: u8 = 2;
/// Waits before those.
const RETRY_WAITS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];
/// Ids of earlier tries a part keeps.
const PREVIOUS: usize = 4;

/// A receipt as it is queued and shelved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The vendor's message id.
    #[serde(rename = "p")]
    pub provider_message_id: Option<String>,
    /// `snd_…:part` where the medium echoes it.
    #[serde(rename = "c")]
    pub correlator: Option<String>,
    /// What it says.
    #[serde(rename = "s")]
    pub says: Says,
    /// The vendor's own word.
    #[serde(rename = "r")]
    pub raw: String,
    /// The vendor's time.
    #[serde(rename = "v")]
    pub vendor_at: Option<Millis>,
    /// When it reached us.
    #[serde(rename = "a")]
    pub received_at: Millis,
}

/// The meaning of a receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Says {
    /// A rank of the ladder.
    Rank(Rank),
    /// The medium gave up; the vendor's wait in ms.
    Failed(Box<FaultRecord>, Option<u64>),
    /// A status name this version does not know.
    Unknown,
}

impl Receipt {
    /// Of what an adapter read, just now.
    #[must_use]
    pub fn of(reading: ReceiptReading, now: Millis) -> Self {
        let says = match &reading.says {
            ReceiptSays::Rank(rank) => Says::Rank(*rank),
            ReceiptSays::Failed(fault) => {
                let wait = fault.wait.and_then(|wait| u64::try_from(wait.as_millis()).ok());
                Says::Failed(Box::new(FaultRecord::new(fault, 0, now)), wait)
            }
            ReceiptSays::Unknown => Says::Unknown,
        };
        Self {
            provider_message_id: reading.provider_message_id,
            correlator: reading.correlator,
            says,
            raw: reading.raw,
            vendor_at: reading.vendor_at.map(Millis),
            received_at: now,
        }
    }

    /// The send and part it names itself.
    #[must_use]
    pub fn names(&self) -> Option<(SendId, u16)> {
        let (send, part) = self.correlator.as_deref()?.rsplit_once(':')?;
        Some((SendId::parse(send)?, part.parse().ok()?))
    }

    /// The word it is counted under.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match &self.says {
            Says::Rank(rank) => rank.as_str(),
            Says::Failed(..) => "failed",
            Says::Unknown => "unknown",
        }
    }

    /// The part status it stands for.
    fn status(&self) -> Option<PartStatus> {
        match &self.says {
            Says::Rank(rank) => Some(rank.status()),
            Says::Failed(..) => Some(PartStatus::Failed),
            Says::Unknown => None,
        }
    }
}

/// What a receipt did to its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It moved.
    Moved,
    /// It said what was known.
    Same,
    /// It said less than was known.
    Lower,
    /// It contradicted what was known.
    Contradiction,
    /// Its status name is not known.
    UnknownName,
}

impl Effect {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Same => "same",
            Self::Lower => "lower",
            Self::Contradiction => "contradiction",
            Self::UnknownName => "unknown_name",
        }
    }
}

/// A receipt in its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiptRow {
    /// Which part.
    #[serde(rename = "p")]
    pub part: u16,
    /// The part status it stands for.
    #[serde(rename = "s")]
    pub status: Option<PartStatus>,
    /// The vendor's own word.
    #[serde(rename = "r")]
    pub raw: String,
    /// The vendor's time.
    #[serde(rename = "v")]
    pub vendor_at: Option<Millis>,
    /// When it reached us.
    #[serde(rename = "a")]
    pub received_at: Millis,
    /// What the medium gave as the reason of a failure.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<FaultRecord>>,
    /// What it did.
    #[serde(rename = "f")]
    pub effect: Effect,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Applied {
    /// The record has it already: nothing to write.
    Duplicate,
    /// The request it speaks of has no answer yet: bring it again.
    Early,
    /// The record changed.
    Written(Written),
}

/// What follows a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What it did to the part.
    pub effect: Effect,
    /// The table of moves has no such pair: the status it met.
    pub refused: Option<PartStatus>,
    /// Its provider id was not known to the record: to be indexed.
    pub new_id: bool,
    /// The part goes out again, at the earliest then.
    pub retry: Option<Millis>,
}

/// Applies a receipt to a part. `correlated`: it named the part itself.
pub fn apply(
    record: &mut SendRecord,
    part: usize,
    receipt: &Receipt,
    correlated: bool,
    now: Millis,
) -> Applied {
    let number = u16::try_from(part).unwrap_or(u16::MAX);
    let same = |row: &ReceiptRow| {
        row.part == number && row.raw == receipt.raw && row.vendor_at == receipt.vendor_at
    };
    if record.receipts.iter().any(same) {
        return Applied::Duplicate;
    }
    let Some(row) = record.parts.get_mut(part) else { return Applied::Duplicate };
    let before = row.status;
    if correlated && before == PartStatus::Sending && row.provider_message_id.is_none() {
        return Applied::Early;
    }
    let (new_id, earlier) = match receipt.provider_message_id.as_deref() {
        None => (false, false),
        Some(id) if row.provider_message_id.as_deref() == Some(id) => (false, false),
        Some(id) if row.previous_ids.iter().any(|known| known == id) => (false, true),
        Some(id) if row.provider_message_id.is_none() && before != PartStatus::Queued => {
            row.provider_message_id = Some(id.to_owned());
            (true, false)
        }
        Some(id) => {
            remember(&mut row.previous_ids, id.to_owned());
            (true, true)
        }
    };
    row.receipt_at = Some(now);
    let step = match &receipt.says {
        Says::Unknown => None,
        // Of a message of an earlier try only its arrival counts.
        Says::Rank(Rank::Accepted | Rank::Sent) | Says::Failed(..) if earlier => Some(Step::Stays),
        Says::Rank(rank) => Some(moved(record, part, Event::Receipt(*rank), now)),
        Says::Failed(..) => Some(moved(record, part, Event::FailedReceipt, now)),
    };
    let effect = match step {
        None => Effect::UnknownName,
        Some(Step::To(_)) => Effect::Moved,
        Some(Step::ToAgainst(_) | Step::Contradicts) => Effect::Contradiction,
        Some(Step::Stays) if Some(before) == receipt.status() => Effect::Same,
        Some(Step::Stays | Step::Refused) => Effect::Lower,
    };
    let refused = (step == Some(Step::Refused)).then_some(before);
    let retry = follow(record, part, receipt, before, now);
    keep(record, number, receipt, effect);
    Applied::Written(Written { effect, refused, new_id, retry })
}

fn moved(record: &mut SendRecord, part: usize, event: Event, now: Millis) -> Step {
    ladder::move_part(record, part, event, Actor::Receipt, now, None)
}

pub(super) fn remember(previous: &mut Vec<String>, id: String) {
    if previous.len() >= PREVIOUS {
        previous.remove(0);
    }
    previous.push(id);
}

/// Faults, later parts and another try, after a part moved.
fn follow(
    record: &mut SendRecord,
    part: usize,
    receipt: &Receipt,
    before: PartStatus,
    now: Millis,
) -> Option<Millis> {
    let after = record.parts[part].status;
    if after == before {
        return None;
    }
    if after.rank().is_some() {
        let row = &mut record.parts[part];
        row.accepted_at.get_or_insert(now);
        row.fault = None;
        record.fault = record.parts.iter().find_map(|row| row.fault.clone());
        return None;
    }
    let Says::Failed(fault, wait) = &receipt.says else { return None };
    let mut fault = FaultRecord::clone(fault);
    fault.part = u16::try_from(part).unwrap_or(u16::MAX);
    let for_now = matches!(fault.kind, FaultKind::Transient | FaultKind::Throttled { .. });
    record.parts[part].fault = Some(fault.clone());
    record.fault = Some(fault);
    let tried = record.parts[part].async_retries;
    if for_now && tried < RETRIES && now <= record.expires_at {
        let own = RETRY_WAITS[usize::from(tried).min(RETRY_WAITS.len() - 1)];
        return Some(again(record, part, own.max(Duration::from_millis(wait.unwrap_or(0))), now));
    }
    ladder::cancel_later(record, now);
    None
}

/// The part waits for another try; what its id reports later is of an earlier one.
fn again(record: &mut SendRecord, part: usize, wait: Duration, now: Millis) -> Millis {
    let reason = Some("receipt_retry");
    ladder::move_part(record, part, Event::Retry, Actor::Platform, now, reason);
    let row = &mut record.parts[part];
    row.async_retries += 1;
    row.accepted_at = None;
    if let Some(id) = row.provider_message_id.take() {
        remember(&mut row.previous_ids, id);
    }
    record.cycle = record.cycle.saturating_add(1);
    record.tries = 0;
    record.waits = 0;
    let next = now.plus(wait);
    record.next_at = Some(next);
    next
}

fn keep(record: &mut SendRecord, part: u16, receipt: &Receipt, effect: Effect) {
    let changes = matches!(effect, Effect::Moved | Effect::Contradiction);
    if record.receipts.len() >= KEPT && !changes {
        return;
    }
    let error = match &receipt.says {
        Says::Failed(fault, _) => Some(fault.clone()),
        Says::Rank(_) | Says::Unknown => None,
    };
    record.receipts.push(ReceiptRow {
        part,
        status: receipt.status(),
        raw: receipt.raw.clone(),
        vendor_at: receipt.vendor_at,
        received_at: receipt.received_at,
        error,
        effect,
    });
}

#[cfg(test)]
#[path = "receipts_tests.rs"]
mod tests;
