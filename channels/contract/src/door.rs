//! Webhook doors: how a medium proves itself, what it says, how it is answered. Pure.
use crate::inbound::InboundReading;
use crate::receipt::ReceiptReading;
use crate::wire::Method;
use bytes::Bytes;

/// A request at a door, before anything is believed.
#[derive(Clone, Debug)]
pub struct RawHook {
    /// Method.
    pub method: Method,
    /// Door name, `""` for the main one.
    pub door: String,
    /// Raw query without `?`.
    pub query: String,
    /// Names in lower case, values as bytes, repeats kept.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The very bytes.
    pub body: Bytes,
    /// Public urls under which the platform may have called, best first.
    pub urls: Vec<String>,
}

impl RawHook {
    /// The value of a header that occurs exactly once.
    #[must_use]
    pub fn single_header(&self, name: &str) -> Option<&[u8]> {
        let mut found = self.headers.iter().filter(|(n, _)| n == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }
}

/// An answer as the platform wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorAnswer {
    /// HTTP status.
    pub status: u16,
    /// Content type, when there is a body.
    pub content_type: Option<&'static str>,
    /// Body.
    pub body: String,
}

impl DoorAnswer {
    /// A status without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self { status, content_type: None, body: String::new() }
    }
}

/// Why a proof does not hold: counted, never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofProblem {
    /// Absent, or twice.
    Missing,
    /// Not in the form of a proof.
    Malformed,
    /// Does not match.
    Wrong,
    /// Too old or from the future.
    Stale,
}

/// A proof that holds, and by which secret of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// 0 = newest.
    pub position: usize,
}

/// One item of a verified request.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Understood.
    Event(Box<HookEvent>),
    /// Known and of no use.
    Ignored {
        /// A word of a closed list.
        reason: &'static str,
    },
    /// Names another account.
    Foreign {
        /// Which, as the vendor names it.
        identity: String,
    },
    /// Not understood; siblings go on.
    Quarantined {
        /// The item's bytes.
        raw: Bytes,
        /// Why, value-free.
        reason: &'static str,
    },
}

/// An understood item.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// Names the item among all of the channel; receipts have none.
    pub claim: Option<String>,
    /// How long the claim is kept, seconds: longer than the platform repeats.
    pub claim_ttl_s: u32,
    /// What it says.
    pub says: HookSays,
}

/// What an item says.
#[derive(Clone, Debug, PartialEq)]
pub enum HookSays {
    /// A delivery status.
    Receipt(ReceiptReading),
    /// A person did something.
    Inbound(Box<InboundReading>),
    /// A person or group has a new address.
    AddressChanged {
        /// Old address.
        from: String,
        /// New address.
        to: String,
    },
    /// Something happened to the account.
    Account {
        /// A word of the medium's page.
        kind: &'static str,
        /// True when the account can no longer send.
        refused: bool,
    },
}

/// The door side of an adapter.
pub trait Door: Send + Sync {
    /// Checks the proof over the raw bytes; every configured secret is tried without early exit.
    /// `now` is seconds since the epoch.
    ///
    /// # Errors
    /// Why it does not hold.
    fn verify(&self, raw: &RawHook, now: i64) -> Result<Proven, ProofProblem>;
    /// Answers a handshake, if this verified request is one.
    fn handshake(&self, _raw: &RawHook) -> Option<DoorAnswer> {
        None
    }
    /// Reads a verified body; one bad item loses only itself.
    fn parse(&self, raw: &RawHook) -> Vec<Verdict>;
    /// The acknowledgement: never a body that the platform would act on.
    fn ack(&self, raw: &RawHook) -> DoorAnswer;
}
