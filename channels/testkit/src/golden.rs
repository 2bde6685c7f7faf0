//! Golden files: JSON in which long runs are folded, refreshed only when asked.
//!
//! `{"repeat": ["a", 4096]}` stands for a run and `{"join": [..]}` for texts put together, in what
//! a case gives and in what it expects alike.
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Set to `1` to write what is found as what is expected. Never set by the test command.
pub const REFRESH: &str = "TIDINGS_REFRESH_CASES";

/// Shortest run that is folded, in characters.
const RUN_MIN: usize = 64;

/// True when golden files are to be written.
#[must_use]
pub fn refreshing() -> bool {
    std::env::var(REFRESH).is_ok_and(|value| value == "1")
}

/// Every JSON file of a folder with its text, by name; none when there is no such folder.
#[must_use]
pub fn files(folder: &Path) -> Vec<(PathBuf, Value)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// One JSON file.
#[must_use]
pub fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// Writes a golden file.
pub fn write(path: &Path, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("JSON");
    std::fs::write(path, text + "\n")
        .unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
}

/// Unfolds `repeat` and `join` everywhere.
#[must_use]
pub fn unfolded(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(unfolded).collect(),
        Value::Object(members) => {
            if let (Some(Value::Array(run)), 1) = (members.get("repeat"), members.len()) {
                let unit = run.first().and_then(Value::as_str).expect("what is repeated");
                let times = run.get(1).and_then(Value::as_u64).expect("how often");
                return Value::String(unit.repeat(usize::try_from(times).expect("a count")));
            }
            if let (Some(Value::Array(texts)), 1) = (members.get("join"), members.len()) {
                let texts = texts.iter().map(unfolded);
                return Value::String(
                    texts.map(|text| text.as_str().expect("a text").to_owned()).collect(),
                );
            }
            Value::Object(members.iter().map(|(k, v)| (k.clone(), unfolded(v))).collect())
        }
        _ => value.clone(),
    }
}

/// Folds the long runs of every text.
#[must_use]
pub fn folded(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(folded).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(k, v)| (k.clone(), folded(v))).collect())
        }
        Value::String(text) => folded_text(text),
        _ => value.clone(),
    }
}

fn folded_text(text: &str) -> Value {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = rest.chars().take_while(|other| *other == c).count();
        if run >= RUN_MIN {
            if !plain.is_empty() {
                pieces.push(Value::String(std::mem::take(&mut plain)));
            }
            pieces.push(json!({ "repeat": [c.to_string(), run] }));
        } else {
            plain.extend(std::iter::repeat_n(c, run));
        }
        rest = &rest[run * c.len_utf8()..];
    }
    if pieces.is_empty() {
        return Value::String(plain);
    }
    if !plain.is_empty() {
        pieces.push(Value::String(plain));
    }
    match <[Value; 1]>::try_from(pieces) {
        Ok([only]) => only,
        Err(pieces) => json!({ "join": pieces }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_reads_back() {
        for text in [String::new(), "abc".into(), "a".repeat(99), format!("x{}\n", "😀".repeat(70))]
        {
            let value = json!({ "text": [text] });
            assert_eq!(unfolded(&folded(&value)), value);
        }
        assert_eq!(folded(&json!("a".repeat(RUN_MIN))), json!({ "repeat": ["a", RUN_MIN] }));
    }
}
