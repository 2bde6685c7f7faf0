//! A notification: what one `notify_user` call records. Immutable once recorded.
use crate::clock::Millis;
use contract::{ChannelName, Content, NotificationId};

/// Who made an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A caller of the API.
    Caller,
    /// The gateway itself: something operators should know.
    Platform,
}

impl Origin {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Platform => "platform",
        }
    }
    /// The origin of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "caller" => Some(Self::Caller),
            "platform" => Some(Self::Platform),
            _ => None,
        }
    }
}

/// The notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Id.
    pub id: NotificationId,
    /// When it was recorded.
    pub created_at: Millis,
    /// Who made it.
    pub origin: Origin,
    /// Identity of the key that made it; none for the platform's own.
    pub caller: Option<String>,
    /// Effective audience.
    pub audience: Option<String>,
    /// The channel it goes out on.
    pub channel: Option<ChannelName>,
    /// The recipient as the caller wrote it.
    pub recipient: Option<String>,
    /// What the person gets, media prepared.
    pub content: Content,
    /// The expiry the caller asked for.
    pub expires_at: Option<Millis>,
    /// The caller's pairs.
    pub metadata: Vec<(String, String)>,
    /// W3C trace id.
    pub trace_id: String,
}
