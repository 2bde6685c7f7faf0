//! The keys a gateway knows, and looking one up.
use crate::config::keys::KeyConfig;
use crate::ids::{Ids, hex};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use subtle::ConstantTimeEq;

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Record and deliver notifications.
    Notify,
    /// Read the inbox.
    Inbox,
    /// Read sends.
    Sends,
    /// Read channels.
    Channels,
    /// Read conversations.
    Conversations,
    /// Publish lifecycle records.
    RecordsPublish,
    /// Read lifecycle records.
    RecordsRead,
    /// Dismiss lifecycle records.
    RecordsDismiss,
    /// Feed the briefing.
    BriefingWrite,
    /// Read the briefing.
    BriefingRead,
    /// Read metrics.
    Metrics,
    /// All of them.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: &'static [Self] = &[
        Self::Notify,
        Self::Inbox,
        Self::Sends,
        Self::Channels,
        Self::Conversations,
        Self::RecordsPublish,
        Self::RecordsRead,
        Self::RecordsDismiss,
        Self::BriefingWrite,
        Self::BriefingRead,
        Self::Metrics,
        Self::Admin,
    ];

    /// The configured word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Inbox => "inbox",
            Self::Sends => "sends",
            Self::Channels => "channels",
            Self::Conversations => "conversations",
            Self::RecordsPublish => "records.publish",
            Self::RecordsRead => "records.read",
            Self::RecordsDismiss => "records.dismiss",
            Self::BriefingWrite => "briefing.write",
            Self::BriefingRead => "briefing.read",
            Self::Metrics => "metrics",
            Self::Admin => "admin",
        }
    }

    /// The scope of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == word)
    }
}

/// An authenticated principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its id.
    pub identity: String,
    /// Sees and addresses only its own identity.
    pub restricted: bool,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Tells its key from the others, across reloads too: for its rate bucket.
    pub key: u64,
}

impl Caller {
    /// True when the key may do this.
    #[must_use]
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|s| *s == scope || *s == Scope::Admin)
    }
}

/// A key's text; never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    /// A new key of 256 random bits.
    #[must_use]
    pub fn mint(ids: &Ids) -> Self {
        Self(format!("tk_{}", URL_SAFE_NO_PAD.encode(ids.random_array::<32>())))
    }
    /// Takes a text in a key's form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fine = text.strip_prefix("tk_").is_some_and(|rest| {
            rest.len() == 43
                && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
        fine.then(|| Self(text.to_owned()))
    }
    /// The text, for printing it once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
    /// SHA-256 of the text.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
    /// `sha256:` and the hash in hex, as `[[keys]]` takes it.
    #[must_use]
    pub fn spelt_hash(&self) -> String {
        format!("sha256:{}", hex(&self.hash()))
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The keys of a gateway. A reload replaces all of them at once.
#[derive(Debug, Default)]
pub struct Keyring(RwLock<Arc<Vec<KeyConfig>>>);

impl Keyring {
    /// A ring of these keys.
    #[must_use]
    pub fn new(keys: Vec<KeyConfig>) -> Self {
        Self(RwLock::new(Arc::new(keys)))
    }

    /// Takes these keys instead.
    pub fn adopt(&self, keys: Vec<KeyConfig>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }

    /// Who a bearer text is. Every key is compared, in constant time.
    #[must_use]
    pub fn caller(&self, bearer: &str) -> Option<Caller> {
        let hash = KeyText::parse(bearer)?.hash();
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found = None;
        for key in keys.iter() {
            if bool::from(key.hash.ct_eq(&hash)) {
                found = Some(key);
            }
        }
        let number = |hash: &[u8; 32]| hash.first_chunk().map_or(0, |b| u64::from_be_bytes(*b));
        found.map(|key| Caller {
            identity: key.identity.clone(),
            restricted: key.restricted,
            scopes: key.scopes.clone(),
            key: number(&key.hash),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::ids::SystemRandom;
    use std::sync::Arc;

    #[test]
    fn a_key_opens_only_its_own_caller() {
        let ids = Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom));
        let (one, two) = (KeyText::mint(&ids), KeyText::mint(&ids));
        let key = |text: &KeyText, identity: &str| KeyConfig {
            identity: identity.to_owned(),
            hash: text.hash(),
            restricted: false,
            scopes: vec![Scope::Notify],
        };
        let ring = Keyring::new(vec![key(&one, "one"), key(&two, "two")]);
        assert_eq!(ring.caller(two.expose()).map(|c| c.identity).as_deref(), Some("two"));
        assert_eq!(ring.caller(KeyText::mint(&ids).expose()), None);
        assert_eq!(ring.caller("tk_short"), None);
        assert_eq!(format!("{one:?}"), "***");
        let bucket = ring.caller(two.expose()).map(|c| c.key);
        ring.adopt(vec![key(&two, "two")]);
        assert_eq!(ring.caller(one.expose()), None, "a removed key opens nothing");
        assert_eq!(ring.caller(two.expose()).map(|c| c.key), bucket, "its place does not matter");
    }
}
