//! What one exchange with a medium came to.
use crate::fault::SendFault;
use crate::receipt::Rank;

/// The reading of one response.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The medium has it.
    Accepted {
        /// The vendor's id, unique inside the channel.
        provider_message_id: String,
        /// The person's address as the medium answered it, when it differs from ours.
        alias: Option<String>,
        /// `accepted`, or `sent` where the medium reports nothing more.
        rank: Rank,
    },
    /// Send this part's alternate request once, at once.
    UseAlternate {
        /// What to report when there is no alternate left.
        fault: SendFault,
    },
    /// The chat has a new address; send this part there once.
    Moved {
        /// Canonical new address.
        address: String,
    },
    /// It was not accepted.
    Fault(SendFault),
}
