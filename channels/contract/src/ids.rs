//! Ids and names: validated strings, one type each, so that none can stand where another belongs.
//!
//! Time-ordered ids are a prefix and a `UUIDv7` in 26 lower-case Crockford characters
//! ([`encode26`]); the gateway mints them, this module only spells and reads them.
use serde::{Deserialize, Serialize};
use std::fmt;

/// Crockford's base 32 in lower case: no i, l, o, u.
const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Spells 128 bits as 26 Crockford characters, most significant first.
#[must_use]
pub fn encode26(bits: u128) -> String {
    (0..26).rev().map(|i| char::from(CROCKFORD[((bits >> (i * 5)) & 31) as usize])).collect()
}

/// Reads what [`encode26`] wrote; `None` for anything else.
#[must_use]
pub fn decode26(text: &str) -> Option<u128> {
    if text.len() != 26 || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0u128, |bits, byte| {
        let digit = CROCKFORD.iter().position(|c| *c == byte)?;
        Some((bits << 5) | digit as u128)
    })
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text when it has this type's form.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let valid: fn(&str) -> bool = $valid;
                valid(text).then(|| Self(text.to_owned()))
            }
            /// The whole text, prefix included.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! minted_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        text_id!($(#[$doc])* $name, |text| {
            text.strip_prefix($prefix).is_some_and(|rest| decode26(rest).is_some())
        });
        impl $name {
            /// The prefix every id of this type carries.
            pub const PREFIX: &'static str = $prefix;
            /// Makes the id that spells these 128 bits.
            #[must_use]
            pub fn from_bits(bits: u128) -> Self {
                Self(format!("{}{}", $prefix, encode26(bits)))
            }
            /// The 26 characters behind the prefix.
            #[must_use]
            pub fn tail(&self) -> &str {
                &self.0[$prefix.len()..]
            }
        }
    };
}

minted_id!(
    /// A notification: what one `notify_user` call recorded.
    NotificationId, "ntf_"
);
minted_id!(
    /// A send: the delivery of one notification on one channel.
    SendId, "snd_"
);
minted_id!(
    /// A thread: the conversation with one person on one channel.
    ThreadId, "thr_"
);
minted_id!(
    /// An inbound message.
    InboundId, "msg_"
);
minted_id!(
    /// A visitor of a web channel; random, not time-ordered.
    VisitorId, "vis_"
);

text_id!(
    /// Stored media: `med_` and 43 base64url characters. The id is the capability to read the
    /// bytes. Before sending, a literal `<media:N>` stands in ([`MediaId::literal`]).
    MediaId,
    |text| text.strip_prefix("med_").is_some_and(|rest| rest.len() == 43
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'))
);

impl MediaId {
    /// The stand-in that a preview shows for media which would be stored by a real call.
    #[must_use]
    pub fn literal(index: usize) -> Self {
        Self(format!("<media:{index}>"))
    }
    /// Makes an id from 43 base64url characters (32 random bytes).
    #[must_use]
    pub fn from_random(base64url: &str) -> Option<Self> {
        Self::parse(&format!("med_{base64url}"))
    }
}

text_id!(
    /// A registered channel: `^[a-z][a-z0-9_-]{0,31}$`.
    ChannelName,
    |text| is_name(text, 32, |b| b == b'_' || b == b'-')
);
text_id!(
    /// A medium: `^[a-z][a-z0-9_]{0,15}$`. A string, not an enum, so that another medium changes
    /// nothing here.
    Medium,
    |text| is_name(text, 16, |b| b == b'_')
);

fn is_name(text: &str, max: usize, also: fn(u8) -> bool) -> bool {
    text.len() <= max
        && text.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || also(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crockford_reads_back_what_it_wrote_and_keeps_order() {
        let mut last = String::new();
        for bits in [0, 1, 31, 32, u128::from(u64::MAX), u128::MAX / 3, u128::MAX] {
            let text = encode26(bits);
            assert_eq!(decode26(&text), Some(bits));
            assert!(text > last);
            last = text;
        }
        for bad in ["", "8zzzzzzzzzzzzzzzzzzzzzzzzz", "0000000000000000000000000i", "000"] {
            assert_eq!(decode26(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_and_ids_take_only_their_own_form() {
        assert!(ChannelName::parse("support-2").is_some());
        for bad in ["", "Support", "2x", "a:b", &"a".repeat(33)] {
            assert!(ChannelName::parse(bad).is_none(), "{bad}");
        }
        assert!(SendId::parse(NotificationId::from_bits(7).as_str()).is_none());
        assert_eq!(SendId::from_bits(7).tail().len(), 26);
        assert!(MediaId::parse("med_short").is_none());
    }
}
