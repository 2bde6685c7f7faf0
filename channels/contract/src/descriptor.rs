//! What an adapter declares about one account, as data: the only source of the channel list, the
//! capability gate and the generated documentation.
use crate::capability::Matrix;
use crate::ids::Medium;
use crate::limits::Limits;
use crate::receipt::{Rank, ReceiptName};

/// Who may be addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientPolicy {
    /// The configured list.
    Allowlist,
    /// Anyone.
    Open,
    /// Known visitors of the channel's own page.
    Visitor,
}

impl RecipientPolicy {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowlist => "allowlist",
            Self::Open => "open",
            Self::Visitor => "visitor",
        }
    }
}

/// The recipients of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipients {
    /// Policy in force for this account.
    pub policy: RecipientPolicy,
    /// A default is configured.
    pub has_default: bool,
}

/// One webhook door. The main door has an empty name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorSpec {
    /// Path segment behind the channel, `""` for the main one.
    pub name: &'static str,
    /// The platform opens it with a `GET` handshake.
    pub handshake: bool,
    /// The platform repeats what is not acknowledged.
    pub repeats: bool,
    /// Milliseconds to the acknowledgement.
    pub budget_ms: u32,
    /// Most body bytes when the channel does not say otherwise.
    pub body_max: u32,
}

/// The declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The medium.
    pub medium: Medium,
    /// What it renders.
    pub matrix: Matrix,
    /// Its numbers.
    pub limits: Limits,
    /// Statuses it can reach.
    pub receipts: &'static [ReceiptName],
    /// The rank of a 2xx.
    pub accepted_rank: Rank,
    /// Who may be addressed.
    pub recipients: Recipients,
    /// Its webhook doors.
    pub doors: Vec<DoorSpec>,
    /// Sends stored bytes itself, so own media need no public address.
    pub carries_own_media: bool,
    /// Sending a part twice is harmless, so an ambiguous outcome is transient.
    pub idempotent_parts: bool,
}
