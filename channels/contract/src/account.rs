//! How a medium is configured: the keys it declares, and the values it is opened with.
//!
//! The gateway reads the configuration layers, refuses unknown keys and wrong types, resolves
//! secrets, and hands an adapter typed values. What a value must look like is the adapter's rule;
//! it reports every problem at once.
use crate::adapter::Adapter;
use crate::ids::ChannelName;
use crate::refusal::Address;
use crate::secret::Secret;
use crate::words::Words;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One configuration key of a medium.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in the channel's table.
    pub name: &'static str,
    /// Type.
    pub kind: KeyKind,
    /// What stands when the operator gives nothing.
    pub default: KeyDefault,
    /// One sentence for `config.toml` and the docs.
    pub doc: &'static str,
}

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number.
    Integer,
    /// True or false.
    Flag,
    /// A secret: `env:NAME`, `file:PATH` or inline.
    Secret,
    /// Up to four secrets, newest first.
    Secrets,
    /// A duration such as `30d`.
    Duration,
    /// A table of texts with these members.
    Table(&'static [&'static str]),
    /// A path; the adapter is given the file's bytes.
    File {
        /// Most bytes.
        max: u64,
    },
}

/// A key's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyDefault {
    /// The operator must give it.
    Required,
    /// Absent.
    None,
    /// A text.
    Text(&'static str),
    /// A number.
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// An empty list.
    Empty,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyValue {
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// A secret.
    Secret(Secret),
    /// Secrets, newest first.
    Secrets(Vec<Secret>),
    /// A duration.
    Duration(Duration),
    /// Texts by member; a member that is absent or empty is left out.
    Table(BTreeMap<String, String>),
    /// A file's bytes.
    File(Bytes),
}

/// A problem with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyProblem {
    /// The key.
    pub key: &'static str,
    /// What is found and what is needed, never a secret.
    pub detail: String,
}

/// What an adapter is opened with.
#[derive(Clone, Debug)]
pub struct AccountConfig {
    /// The registered name.
    pub channel: ChannelName,
    /// `listen.public_url` without a trailing slash.
    pub public_url: Option<String>,
    /// `base_url` without a trailing slash; the gateway checked scheme and host.
    pub base_url: Option<String>,
    /// Raw entries of `allowed_recipients`.
    pub allowed_recipients: Vec<String>,
    /// `default_recipient`, absent when empty.
    pub default_recipient: Option<String>,
    /// Most text parts of a send.
    pub text_parts: Option<u32>,
    /// Words of the channel's language.
    pub words: Words,
    /// The medium's own keys, each of the declared type; a key without value is absent.
    pub keys: BTreeMap<&'static str, KeyValue>,
}

impl AccountConfig {
    /// A text key.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.keys.get(key) {
            Some(KeyValue::Text(text)) => Some(text),
            _ => None,
        }
    }
    /// A list of texts; empty when absent.
    #[must_use]
    pub fn texts(&self, key: &str) -> &[String] {
        match self.keys.get(key) {
            Some(KeyValue::Texts(texts)) => texts,
            _ => &[],
        }
    }
    /// A whole number.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.keys.get(key) {
            Some(KeyValue::Integer(n)) => Some(*n),
            _ => None,
        }
    }
    /// A flag; false when absent.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.keys.get(key), Some(KeyValue::Flag(true)))
    }
    /// A secret.
    #[must_use]
    pub fn secret(&self, key: &str) -> Option<&Secret> {
        match self.keys.get(key) {
            Some(KeyValue::Secret(secret)) => Some(secret),
            _ => None,
        }
    }
    /// A duration.
    #[must_use]
    pub fn duration(&self, key: &str) -> Option<Duration> {
        match self.keys.get(key) {
            Some(KeyValue::Duration(duration)) => Some(*duration),
            _ => None,
        }
    }
    /// A member of a table.
    #[must_use]
    pub fn member(&self, key: &str, member: &str) -> Option<&str> {
        match self.keys.get(key) {
            Some(KeyValue::Table(table)) => table.get(member).map(String::as_str),
            _ => None,
        }
    }
    /// A file's bytes.
    #[must_use]
    pub fn file(&self, key: &str) -> Option<&Bytes> {
        match self.keys.get(key) {
            Some(KeyValue::File(bytes)) => Some(bytes),
            _ => None,
        }
    }
    /// A list of secrets; empty when absent.
    #[must_use]
    pub fn secrets(&self, key: &str) -> &[Secret] {
        match self.keys.get(key) {
            Some(KeyValue::Secrets(secrets)) => secrets,
            _ => &[],
        }
    }
}

/// A medium as the registry lists it: one line each.
pub struct Registration {
    /// The medium's name.
    pub medium: &'static str,
    /// Its `base_url` when the operator gives none; `None`: the medium has none.
    pub base_url: Option<&'static str>,
    /// It takes a `default_recipient`.
    pub takes_default_recipient: bool,
    /// Its own keys.
    pub keys: &'static [Key],
    /// Accounts the documentation is drawn from: each kind of account by its name.
    pub samples: &'static [Sample],
    /// Opens an account, or reports every problem of its keys.
    pub open: fn(AccountConfig) -> Result<Opened, Vec<KeyProblem>>,
}

/// A sample account: invented values in the right form.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What the documentation calls it: the medium, or the medium and a kind.
    pub name: &'static str,
    /// Texts and secrets by key.
    pub keys: &'static [(&'static str, &'static str)],
}

impl Registration {
    /// Opens a sample.
    ///
    /// # Errors
    /// The problems of its keys: a sample in the wrong form.
    pub fn open_sample(&self, sample: &Sample) -> Result<Opened, Vec<KeyProblem>> {
        let typed = |key: &Key, text: &str| match key.kind {
            KeyKind::Secret => KeyValue::Secret(Secret::new(text)),
            KeyKind::Secrets => KeyValue::Secrets(vec![Secret::new(text)]),
            KeyKind::Texts => KeyValue::Texts(vec![text.to_owned()]),
            KeyKind::Text
            | KeyKind::Integer
            | KeyKind::Flag
            | KeyKind::Duration
            | KeyKind::Table(_)
            | KeyKind::File { .. } => KeyValue::Text(text.to_owned()),
        };
        let given = |key: &Key| sample.keys.iter().find(|(name, _)| *name == key.name);
        let keys = self.keys.iter().filter_map(|key| {
            let (_, text) = given(key)?;
            Some((key.name, typed(key, text)))
        });
        (self.open)(AccountConfig {
            channel: ChannelName::parse(self.medium).ok_or_else(Vec::new)?,
            public_url: Some("https://notify.example.com".to_owned()),
            base_url: self.base_url.map(str::to_owned),
            allowed_recipients: Vec::new(),
            default_recipient: None,
            text_parts: None,
            words: Words::default(),
            keys: keys.collect(),
        })
    }
}

/// An opened account.
pub struct Opened {
    /// The adapter bound to it.
    pub adapter: Arc<dyn Adapter>,
    /// The vendor's identity of the account: two channels with the same one are refused.
    pub identity: String,
    /// Notes for the operator at start, such as a door that does not exist.
    pub notes: Vec<String>,
}

/// Checks a canonical address against a configured list; `["*"]` admits everyone.
#[must_use]
pub fn admits(allowed: &[String], address: &Address) -> bool {
    allowed.iter().any(|entry| entry == "*" || entry == address.as_str())
}
