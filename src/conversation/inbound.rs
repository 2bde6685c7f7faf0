//! An inbound message in its normal form, and how it is stored.
//!
//! Stored: `1\n` (format version) and `MessagePack` with field names, so that a later version may add
//! fields.
use crate::clock::Millis;
use bytes::Bytes;
use contract::inbound::InboundKind;
use contract::{ChannelName, InboundId, Medium, SendId, ThreadId};
use serde::{Deserialize, Serialize};

/// The format this version writes.
const HEADER: &[u8] = b"1\n";

/// What a person did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InboundMessage {
    /// Its id, ordered by our receipt.
    pub id: InboundId,
    /// On which channel.
    pub channel: ChannelName,
    /// Its medium.
    pub medium: Medium,
    /// The conversation it belongs to.
    pub thread: ThreadId,
    /// What it is.
    pub kind: InboundKind,
    /// The platform's time, or ours.
    pub at: Millis,
    /// When we received it.
    pub received_at: Millis,
    /// Who.
    pub sender: Sender,
    /// What was said, never absent.
    pub text: String,
    /// Facts beside the text.
    pub params: Vec<(String, String)>,
    /// The message it answers.
    pub reply_to: Option<ReplyTo>,
    /// Where it stands on its way to a route.
    pub state: InboundState,
}

/// The person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// The address to answer to.
    pub address: String,
    /// Their name.
    pub name: Option<String>,
    /// Their language tag.
    pub locale: Option<String>,
}

/// The send that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTo {
    /// Which; none when the quoted message is not ours.
    pub send: Option<SendId>,
    /// Its part.
    pub part: Option<u16>,
    /// The medium's id of the message.
    pub provider_message_id: String,
}

/// A message's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboundState {
    /// Kept; no route wants it.
    Recorded,
}

impl InboundState {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
        }
    }
}

impl InboundMessage {
    /// The stored value.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut value = HEADER.to_vec();
        // Plain fields and maps: there is nothing MessagePack cannot hold.
        value.extend(rmp_serde::to_vec_named(self).unwrap_or_default());
        value.into()
    }

    /// Reads a stored value; none for another format or a broken one.
    #[must_use]
    pub fn decode(stored: &[u8]) -> Option<Self> {
        rmp_serde::from_slice(stored.strip_prefix(HEADER)?).ok()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn message() -> InboundMessage {
        InboundMessage {
            id: InboundId::from_bits(1),
            channel: ChannelName::parse("web").unwrap(),
            medium: Medium::parse("web").unwrap(),
            thread: ThreadId::from_bits(2),
            kind: InboundKind::Tap,
            at: Millis(1_790_000_000_000),
            received_at: Millis(1_790_000_000_001),
            sender: Sender { address: "vis_x".into(), name: None, locale: Some("de-AT".into()) },
            text: "Yes".into(),
            params: vec![("reply_id".into(), "yes-1".into())],
            reply_to: Some(ReplyTo {
                send: Some(SendId::from_bits(3)),
                part: Some(0),
                provider_message_id: "1-0".into(),
            }),
            state: InboundState::Recorded,
        }
    }

    #[test]
    fn a_message_reads_back_and_broken_bytes_do_not() {
        let stored = message().encode();
        assert_eq!(InboundMessage::decode(&stored), Some(message()));
        assert_eq!(InboundMessage::decode(b""), None);
        assert_eq!(InboundMessage::decode(&stored[2..]), None);
        for end in 0..stored.len() {
            assert_eq!(InboundMessage::decode(&stored[..end]), None, "{end}");
        }
    }
}
