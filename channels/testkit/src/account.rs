//! A sample account from JSON: the keys of a channel's table, as an operator writes them.
use contract::account::Opened;
use contract::{
    AccountConfig, ChannelName, KeyDefault, KeyKind, KeyProblem, KeyValue, Registration, Secret,
    Words,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Keys every channel has, and the two settings of the gateway an adapter is told.
const COMMON: &[&str] =
    &["channel", "public_url", "base_url", "allowed_recipients", "default_recipient", "text_parts"];

/// An account's configuration; a key that nobody declared fails the test.
#[must_use]
pub fn config(registration: &Registration, table: &Value) -> AccountConfig {
    let table = table.as_object().expect("an account is an object");
    for key in table.keys() {
        let known = COMMON.contains(&key.as_str())
            || registration.keys.iter().any(|declared| declared.name == key);
        assert!(known, "{} has no key {key}", registration.medium);
    }
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    let keys: BTreeMap<_, _> = registration
        .keys
        .iter()
        .filter_map(|key| {
            let given = table.get(key.name).map(|value| typed(key.kind, value));
            given.or_else(|| default(key.kind, key.default)).map(|value| (key.name, value))
        })
        .collect();
    AccountConfig {
        channel: ChannelName::parse(&text("channel").unwrap_or(registration.medium.to_owned()))
            .expect("a channel's name"),
        public_url: text("public_url"),
        base_url: text("base_url").or(registration.base_url.map(str::to_owned)),
        allowed_recipients: table.get("allowed_recipients").map(texts).unwrap_or_default(),
        default_recipient: text("default_recipient"),
        text_parts: table
            .get("text_parts")
            .and_then(Value::as_u64)
            .map(|n| u32::try_from(n).expect("text_parts fits")),
        words: Words::default(),
        keys,
    }
}

/// Opens an account that is right in form.
#[must_use]
pub fn open(registration: &Registration, table: &Value) -> Opened {
    match (registration.open)(config(registration, table)) {
        Ok(opened) => opened,
        Err(problems) => panic!("the account is refused: {problems:?}"),
    }
}

/// The problems of an account that is wrong in form.
#[must_use]
pub fn problems(registration: &Registration, table: &Value) -> Vec<KeyProblem> {
    match (registration.open)(config(registration, table)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

/// The secrets an account's table holds, by the keys' declared kinds.
#[must_use]
pub fn secrets(registration: &Registration, table: &Value) -> Vec<String> {
    let is_secret = |kind| matches!(kind, KeyKind::Secret | KeyKind::Secrets);
    let keys = registration.keys.iter().filter(|key| is_secret(key.kind));
    keys.flat_map(|key| match table.get(key.name) {
        Some(Value::Array(list)) => list.iter().map(text_of).collect(),
        Some(value) => vec![text_of(value)],
        None => Vec::new(),
    })
    .collect()
}

/// One table with the keys of another put over it.
#[must_use]
pub fn overlaid(table: &Value, over: &Value) -> Value {
    let mut merged = table.as_object().cloned().unwrap_or_default();
    for (key, value) in over.as_object().into_iter().flatten() {
        merged.insert(key.clone(), value.clone());
    }
    Value::Object(merged)
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(text_of).collect()
}

fn typed(kind: KeyKind, value: &Value) -> KeyValue {
    match kind {
        KeyKind::Text => KeyValue::Text(text_of(value)),
        KeyKind::Texts => KeyValue::Texts(texts(value)),
        KeyKind::Integer => KeyValue::Integer(value.as_i64().expect("a whole number")),
        KeyKind::Flag => KeyValue::Flag(value.as_bool().expect("true or false")),
        KeyKind::Secret => KeyValue::Secret(Secret::new(text_of(value))),
        KeyKind::Secrets => KeyValue::Secrets(texts(value).into_iter().map(Secret::new).collect()),
        // Whole seconds; the units operators write are the gateway's to read.
        KeyKind::Duration => {
            KeyValue::Duration(Duration::from_secs(value.as_u64().expect("seconds")))
        }
        KeyKind::Table(_) => {
            let members = value.as_object().expect("a table").iter();
            let given = members.map(|(name, text)| (name.clone(), text_of(text)));
            KeyValue::Table(given.filter(|(_, text)| !text.is_empty()).collect())
        }
        // The text stands for the file's content.
        KeyKind::File { .. } => KeyValue::File(text_of(value).into_bytes().into()),
    }
}

fn default(kind: KeyKind, default: KeyDefault) -> Option<KeyValue> {
    match (default, kind) {
        (KeyDefault::Text(_), KeyKind::Duration) => None,
        (KeyDefault::Text(text), _) => Some(KeyValue::Text(text.to_owned())),
        (KeyDefault::Integer(n), _) => Some(KeyValue::Integer(n)),
        (KeyDefault::Flag(flag), _) => Some(KeyValue::Flag(flag)),
        (KeyDefault::Empty, KeyKind::Texts) => Some(KeyValue::Texts(Vec::new())),
        (KeyDefault::Empty, KeyKind::Secrets) => Some(KeyValue::Secrets(Vec::new())),
        (KeyDefault::Empty | KeyDefault::Required | KeyDefault::None, _) => None,
    }
}
