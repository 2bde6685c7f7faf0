//! Delivery statuses: the ladder's words, and what an adapter reads from a receipt.
use crate::capability::words;
use crate::fault::SendFault;

words!(
    /// The status of one part (and, derived, of a send).
    PartStatus {
        Queued = "queued", Sending = "sending", Accepted = "accepted", Sent = "sent",
        Delivered = "delivered", Read = "read", Failed = "failed",
        OutcomeUnknown = "outcome_unknown", Expired = "expired", Cancelled = "cancelled",
    }
);
words!(
    /// What a medium says on acceptance, or later by receipt.
    Rank { Accepted = "accepted", Sent = "sent", Delivered = "delivered", Read = "read" }
);
words!(
    /// A status a medium can report, as `GET /api/channels` lists them.
    ReceiptName {
        Accepted = "accepted", Sent = "sent", Delivered = "delivered", Read = "read",
        Failed = "failed",
    }
);

impl Rank {
    /// The part status this rank stands for.
    #[must_use]
    pub fn status(self) -> PartStatus {
        match self {
            Self::Accepted => PartStatus::Accepted,
            Self::Sent => PartStatus::Sent,
            Self::Delivered => PartStatus::Delivered,
            Self::Read => PartStatus::Read,
        }
    }
}

impl PartStatus {
    /// The rank of a status on the ladder; none for what stands aside or was never accepted.
    #[must_use]
    pub fn rank(self) -> Option<Rank> {
        match self {
            Self::Accepted => Some(Rank::Accepted),
            Self::Sent => Some(Rank::Sent),
            Self::Delivered => Some(Rank::Delivered),
            Self::Read => Some(Rank::Read),
            Self::Queued
            | Self::Sending
            | Self::Failed
            | Self::OutcomeUnknown
            | Self::Expired
            | Self::Cancelled => None,
        }
    }
}

/// A receipt as an adapter read it. Times are milliseconds since the epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiptReading {
    /// The vendor's message id.
    pub provider_message_id: Option<String>,
    /// `snd_…:part` where the medium echoes it.
    pub correlator: Option<String>,
    /// What it says about the part: a rank, a failure, or a name nobody knows.
    pub says: ReceiptSays,
    /// The vendor's own word.
    pub raw: String,
    /// The vendor's time.
    pub vendor_at: Option<i64>,
    /// Another address of the person that the receipt names.
    pub alias: Option<String>,
}

/// The meaning of a receipt.
#[derive(Clone, Debug, PartialEq)]
pub enum ReceiptSays {
    /// A rank of the ladder.
    Rank(Rank),
    /// The medium gave up.
    Failed(SendFault),
    /// A status name this version does not know: kept raw, moves nothing.
    Unknown,
}
