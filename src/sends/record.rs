//! The send record and its stored form: a header line `<rev> <status>[ w]\n`, then `MessagePack`
//! with short names, so that a newer field is skipped by an older node.
use super::receipts::ReceiptRow;
use crate::clock::Millis;
use crate::ids::hex;
use crate::store::Lane;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use contract::{
    ChannelName, Degrade, Facts, FaultKind, Medium, NotificationId, PartKind, PartStatus,
    SendFault, SendId, ThreadId,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The record's format: a record of a newer one is left in its lane.
pub const FORMAT: u8 = 1;

fn no<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SendRecord {
    /// Format number.
    #[serde(rename = "v")]
    pub format: u8,
    /// Id.
    #[serde(rename = "i")]
    pub id: SendId,
    /// What is delivered.
    #[serde(rename = "n")]
    pub notification: NotificationId,
    /// On which channel.
    #[serde(rename = "c")]
    pub channel: ChannelName,
    /// Its medium.
    #[serde(rename = "m")]
    pub medium: Medium,
    /// Canonical address.
    #[serde(rename = "r")]
    pub recipient: String,
    /// Where the medium says it is now, when it answered another address.
    #[serde(rename = "rn", default, skip_serializing_if = "no")]
    pub recipient_now: Option<String>,
    /// Effective audience.
    #[serde(rename = "a", default, skip_serializing_if = "no")]
    pub audience: Option<String>,
    /// Identity of the caller.
    #[serde(rename = "by")]
    pub caller: String,
    /// Its thread, where a route exists for the channel.
    #[serde(rename = "t", default, skip_serializing_if = "no")]
    pub thread: Option<ThreadId>,
    /// W3C trace id.
    #[serde(rename = "tr")]
    pub trace_id: String,
    /// Span of the send.
    #[serde(rename = "sp")]
    pub span_id: String,
    /// Opened.
    #[serde(rename = "ca")]
    pub created_at: Millis,
    /// Expires unless accepted.
    #[serde(rename = "ea")]
    pub expires_at: Millis,
    /// Last move.
    #[serde(rename = "ua")]
    pub updated_at: Millis,
    /// Parts in order.
    #[serde(rename = "p")]
    pub parts: Vec<PartRecord>,
    /// What was approximated.
    #[serde(rename = "d", default, skip_serializing_if = "no")]
    pub degrades: Vec<Degrade>,
    /// The last fault.
    #[serde(rename = "f", default, skip_serializing_if = "no")]
    pub fault: Option<FaultRecord>,
    /// Counted attempts of this cycle.
    #[serde(rename = "ts", default, skip_serializing_if = "no")]
    pub tries: u16,
    /// Attempts in all: numbers them.
    #[serde(rename = "an", default, skip_serializing_if = "no")]
    pub attempts_made: u16,
    /// Waits in a row that count as no attempt.
    #[serde(rename = "w", default, skip_serializing_if = "no")]
    pub waits: u16,
    /// When the next try is due.
    #[serde(rename = "na", default, skip_serializing_if = "no")]
    pub next_at: Option<Millis>,
    /// 1, and one more at each retry.
    #[serde(rename = "cy")]
    pub cycle: u16,
    /// What happened that should not.
    #[serde(rename = "fl", default, skip_serializing_if = "no")]
    pub flags: Flags,
    /// When this cycle began, after the first.
    #[serde(rename = "ct", default, skip_serializing_if = "no")]
    pub cycle_at: Option<Millis>,
    /// Moves since the log was last written.
    #[serde(rename = "mv", default, skip_serializing_if = "no")]
    pub moves: Vec<Move>,
    /// Attempts since the log was last written.
    #[serde(rename = "at", default, skip_serializing_if = "no")]
    pub attempts: Vec<AttemptSummary>,
    /// Receipts in the order they came, ≤ 64 and those that moved a part.
    #[serde(rename = "re", default, skip_serializing_if = "no")]
    pub receipts: Vec<ReceiptRow>,
    /// A caller waits.
    #[serde(rename = "wa", default, skip_serializing_if = "no")]
    pub watched: bool,
}

/// What happened that should not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flags {
    /// A receipt contradicted what was known.
    #[serde(rename = "c", skip_serializing_if = "no")]
    pub contradiction: bool,
    /// The person may have it twice.
    #[serde(rename = "d", skip_serializing_if = "no")]
    pub duplicate_suspected: bool,
    /// A worker died over it.
    #[serde(rename = "r", skip_serializing_if = "no")]
    pub reaped: bool,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// What it mainly is.
    #[serde(rename = "k")]
    pub kind: PartKind,
    /// Its status.
    #[serde(rename = "s")]
    pub status: PartStatus,
    /// The vendor's message id.
    #[serde(rename = "p", default, skip_serializing_if = "no")]
    pub provider_message_id: Option<String>,
    /// Ids of earlier cycles, ≤ 4.
    #[serde(rename = "pi", default, skip_serializing_if = "no")]
    pub previous_ids: Vec<String>,
    /// The address it was sent to, when not the record's.
    #[serde(rename = "to", default, skip_serializing_if = "no")]
    pub sent_to: Option<String>,
    /// When the medium accepted it.
    #[serde(rename = "aa", default, skip_serializing_if = "no")]
    pub accepted_at: Option<Millis>,
    /// When the last receipt came.
    #[serde(rename = "ra", default, skip_serializing_if = "no")]
    pub receipt_at: Option<Millis>,
    /// Times it was sent again because a receipt said that it failed for now.
    #[serde(rename = "ar", default, skip_serializing_if = "no")]
    pub async_retries: u8,
    /// Its fault.
    #[serde(rename = "f", default, skip_serializing_if = "no")]
    pub fault: Option<FaultRecord>,
    /// What is true of its request.
    #[serde(rename = "fa", default, skip_serializing_if = "no")]
    pub facts: Facts,
    /// Outcomes without an answer so far.
    #[serde(rename = "am", default, skip_serializing_if = "no")]
    pub ambiguous: u8,
    /// Defects of ours so far.
    #[serde(rename = "in", default, skip_serializing_if = "no")]
    pub internals: u8,
}

impl PartRecord {
    /// A part that waits.
    #[must_use]
    pub fn queued(kind: PartKind, facts: Facts) -> Self {
        Self {
            kind,
            status: PartStatus::Queued,
            provider_message_id: None,
            previous_ids: Vec::new(),
            sent_to: None,
            accepted_at: None,
            receipt_at: None,
            async_retries: 0,
            fault: None,
            facts,
            ambiguous: 0,
            internals: 0,
        }
    }
    /// True when the medium has it.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.status.rank().is_some()
    }
}

/// A fault as kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Class and what it carries.
    #[serde(rename = "k")]
    pub kind: FaultKind,
    /// Stable code.
    #[serde(rename = "c")]
    pub code: String,
    /// Our sentence.
    #[serde(rename = "d")]
    pub detail: String,
    /// The vendor's code.
    #[serde(rename = "p", default, skip_serializing_if = "no")]
    pub provider_code: Option<String>,
    /// Seconds until the next try, when one is due.
    #[serde(rename = "r", default, skip_serializing_if = "no")]
    pub retry_after: Option<u64>,
    /// Which part.
    #[serde(rename = "n")]
    pub part: u16,
    /// When.
    #[serde(rename = "a")]
    pub at: Millis,
}

impl FaultRecord {
    /// A fault of a part.
    #[must_use]
    pub fn new(fault: &SendFault, part: usize, at: Millis) -> Self {
        Self {
            kind: fault.kind,
            code: fault.code.to_string(),
            detail: fault.detail.to_string(),
            provider_code: fault.provider_code.clone(),
            retry_after: None,
            part: u16::try_from(part).unwrap_or(u16::MAX),
            at,
        }
    }
}

/// Who moved a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A call of the API.
    Api,
    /// The worker that holds the lane.
    Worker,
    /// Whoever takes over a lease that ran out.
    Reaper,
    /// The janitor.
    Janitor,
    /// A receipt.
    Receipt,
    /// An operator.
    Operator,
    /// The platform.
    Platform,
}

/// A move of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// When.
    #[serde(rename = "a")]
    pub at: Millis,
    /// Which part.
    #[serde(rename = "p")]
    pub part: u16,
    /// From.
    #[serde(rename = "f")]
    pub from: PartStatus,
    /// To.
    #[serde(rename = "t")]
    pub to: PartStatus,
    /// By whom.
    #[serde(rename = "b")]
    pub actor: Actor,
    /// Why, where the statuses do not say it.
    #[serde(rename = "r", default, skip_serializing_if = "no")]
    pub reason: Option<String>,
}

/// One attempt in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// Number, from 1.
    #[serde(rename = "n")]
    pub number: u16,
    /// Which part.
    #[serde(rename = "p")]
    pub part: u16,
    /// When it began.
    #[serde(rename = "s")]
    pub started: Millis,
    /// How long it took; absent while it runs.
    #[serde(rename = "e", default, skip_serializing_if = "no")]
    pub elapsed_ms: Option<u64>,
    /// HTTP status of the answer.
    #[serde(rename = "h", default, skip_serializing_if = "no")]
    pub http_status: Option<u16>,
    /// Its fault's code.
    #[serde(rename = "f", default, skip_serializing_if = "no")]
    pub fault: Option<String>,
}

impl SendRecord {
    /// The send's status: the first that applies of failed, unknown, expired, cancelled; else the
    /// lowest part [D-6].
    #[must_use]
    pub fn status(&self) -> PartStatus {
        let aside = [
            PartStatus::Failed,
            PartStatus::OutcomeUnknown,
            PartStatus::Expired,
            PartStatus::Cancelled,
        ];
        let statuses = || self.parts.iter().map(|part| part.status);
        aside
            .into_iter()
            .find(|status| statuses().any(|s| s == *status))
            .or_else(|| statuses().min_by_key(|status| height(*status)))
            .unwrap_or(PartStatus::Queued)
    }

    /// True when nothing more will be tried.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self.status(), PartStatus::Queued | PartStatus::Sending)
    }

    /// True when it ended without being accepted.
    #[must_use]
    pub fn is_dead_letter(&self) -> bool {
        matches!(
            self.status(),
            PartStatus::Failed | PartStatus::Expired | PartStatus::OutcomeUnknown
        )
    }

    /// The first part the medium does not have.
    #[must_use]
    pub fn next_part(&self) -> Option<usize> {
        self.parts.iter().position(|part| !part.is_accepted())
    }

    /// The lane of this send.
    #[must_use]
    pub fn lane(&self) -> Lane {
        lane(&self.channel, &self.recipient)
    }

    /// The stored value of this record at a revision.
    #[must_use]
    pub fn encode(&self, rev: u64) -> Bytes {
        let watched = if self.watched { " w" } else { "" };
        let mut value = format!("{rev} {}{watched}\n", self.status()).into_bytes();
        // Nothing in the struct can fail to serialise into a growing buffer.
        let _ = rmp_serde::encode::write_named(&mut value, self);
        value.into()
    }

    /// Reads a stored value with its revision. `None`: it cannot be read.
    #[must_use]
    pub fn decode(value: &[u8]) -> Option<(u64, Self)> {
        let end = value.iter().position(|b| *b == b'\n')?;
        let header = std::str::from_utf8(&value[..end]).ok()?;
        let rev = header.split(' ').next()?.parse().ok()?;
        let record = rmp_serde::from_slice(&value[end + 1..]).ok()?;
        Some((rev, record))
    }
}

/// The place of a status on the way to the person.
fn height(status: PartStatus) -> u8 {
    match status {
        PartStatus::Queued => 0,
        PartStatus::Sending => 1,
        PartStatus::Accepted => 2,
        PartStatus::Sent => 3,
        PartStatus::Delivered => 4,
        PartStatus::Read => 5,
        PartStatus::Failed
        | PartStatus::OutcomeUnknown
        | PartStatus::Expired
        | PartStatus::Cancelled => 6,
    }
}

fn short_hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    URL_SAFE_NO_PAD.encode(&hasher.finalize()[..16])
}

/// The lane of a recipient on a channel: 22 characters, so that no address appears in a key.
#[must_use]
pub fn lane(channel: &ChannelName, recipient: &str) -> Lane {
    Lane::of(channel, recipient)
}

/// The index key of a provider's message id: ids may hold any byte.
#[must_use]
pub fn provider_hash(provider_message_id: &str) -> String {
    short_hash(&[provider_message_id.as_bytes()])
}

/// Lower-case hex SHA-256, for what is compared and never shown.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
