//! `[[keys]]`: who may call. A key is stored as the hash of its text.
use super::values::{Problems, Values, add, strings};
use crate::auth::Scope;
use toml::{Table, Value};

/// Keys of one entry, for the docs.
pub const FIELDS: &[&str] = &["identity", "hash", "restricted", "scopes"];

/// One configured key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConfig {
    /// Whose it is.
    pub identity: String,
    /// SHA-256 of the key's ASCII text.
    pub hash: [u8; 32],
    /// Sees and addresses only its own identity.
    pub restricted: bool,
    /// What it may do.
    pub scopes: Vec<Scope>,
}

pub(super) fn read(values: &Values, problems: &mut Problems) -> Vec<KeyConfig> {
    let Some(list) = values.tree.get("keys") else { return Vec::new() };
    let Some(list) = list.as_array() else {
        add(problems, "keys", "must be a list of tables: [[keys]]");
        return Vec::new();
    };
    let mut keys: Vec<KeyConfig> = Vec::new();
    for (i, entry) in list.iter().enumerate() {
        let path = format!("keys[{i}]");
        let Some(table) = entry.as_table() else {
            add(problems, path, "must be a table");
            continue;
        };
        if let Some(key) = read_one(&path, table, problems) {
            if keys.iter().any(|known| known.hash == key.hash) {
                add(problems, format!("{path}.hash"), "is the hash of another key too");
            }
            keys.push(key);
        }
    }
    keys
}

fn read_one(path: &str, table: &Table, problems: &mut Problems) -> Option<KeyConfig> {
    for unknown in table.keys().filter(|key| !FIELDS.contains(&key.as_str())) {
        let detail = format!("there is no such key; known: {}", FIELDS.join(", "));
        add(problems, format!("{path}.{unknown}"), detail);
    }
    let identity = table.get("identity").and_then(Value::as_str).unwrap_or_default();
    if contract::Line::parse(identity, 512).is_err() {
        add(
            problems,
            format!("{path}.identity"),
            "is required: one line of at most 512 characters",
        );
    }
    let hash = table.get("hash").and_then(Value::as_str).and_then(parse_hash);
    if hash.is_none() {
        let detail = "is required: \"sha256:\" and 64 hex digits, as `tidings key new` prints it";
        add(problems, format!("{path}.hash"), detail);
    }
    let restricted = match table.get("restricted") {
        None => false,
        Some(Value::Boolean(restricted)) => *restricted,
        Some(_) => {
            add(problems, format!("{path}.restricted"), "must be true or false");
            false
        }
    };
    let scopes = read_scopes(path, table, problems);
    if restricted && scopes.contains(&Scope::Admin) {
        add(problems, format!("{path}.scopes"), "a restricted key cannot have the scope admin");
    }
    Some(KeyConfig { identity: identity.to_owned(), hash: hash?, restricted, scopes })
}

fn read_scopes(path: &str, table: &Table, problems: &mut Problems) -> Vec<Scope> {
    let given = table.get("scopes").map(strings).unwrap_or_default();
    let scopes: Vec<Scope> = given.iter().filter_map(|word| Scope::parse(word)).collect();
    if scopes.is_empty() || scopes.len() != given.len() {
        let words: Vec<_> = Scope::ALL.iter().map(|s| s.as_str()).collect();
        let detail = format!("must be a non-empty list of: {}", words.join(", "));
        add(problems, format!("{path}.scopes"), detail);
    }
    scopes
}

/// Reads `sha256:` and 64 hex digits.
#[must_use]
pub fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:").filter(|d| d.len() == 64 && d.is_ascii())?;
    let mut hash = [0u8; 32];
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[i * 2..i * 2 + 2], 16).ok()?;
    }
    Some(hash)
}
