//! Sixty contents that hold every shape, as callers write them.
//!
//! The texts stand in `corpus.json`. Each `{m}` in them becomes a marker of its own, so that a test
//! can tell where every single field of a content went.
use crate::golden;
use serde_json::{Map, Value};

/// One content of the corpus.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Unique in the corpus.
    pub name: String,
    /// The content's members of a request, as a caller writes them.
    pub json: Value,
}

/// A marked field of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// `media[0].caption`.
    pub path: String,
    /// What stands in it and nowhere else.
    pub marker: String,
}

/// The sixty contents.
#[must_use]
pub fn corpus() -> Vec<Sample> {
    let whole: Value = serde_json::from_str(include_str!("corpus.json")).expect("the corpus");
    let mut count = 0;
    let samples = whole.as_array().expect("a list").iter().map(|entry| Sample {
        name: entry["name"].as_str().expect("a name").to_owned(),
        json: marked(&golden::unfolded(&entry["content"]), &mut count),
    });
    samples.collect()
}

fn marked(value: &Value, count: &mut usize) -> Value {
    match value {
        Value::String(text) if text.contains("{m}") => {
            *count += 1;
            Value::String(text.replace("{m}", &format!("mk{count}k")))
        }
        Value::Array(items) => items.iter().map(|item| marked(item, count)).collect(),
        Value::Object(members) => {
            let mut out = Map::new();
            for (key, member) in members {
                out.insert(key.clone(), marked(member, count));
            }
            Value::Object(out)
        }
        _ => value.clone(),
    }
}

/// Every marked field of a content.
#[must_use]
pub fn marks(json: &Value) -> Vec<Marked> {
    let mut marks = Vec::new();
    collect(json, String::new(), &mut marks);
    marks
}

fn collect(value: &Value, path: String, marks: &mut Vec<Marked>) {
    match value {
        Value::String(text) => {
            if let Some(marker) = marker_in(text) {
                marks.push(Marked { path, marker });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{path}[{index}]"), marks);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(member, path, marks);
            }
        }
        _ => {}
    }
}

fn marker_in(text: &str) -> Option<String> {
    text.match_indices("mk").find_map(|(at, _)| {
        let digits: String = text[at + 2..].chars().take_while(char::is_ascii_digit).collect();
        let closed = text[at + 2 + digits.len()..].starts_with('k');
        (closed && !digits.is_empty()).then(|| format!("mk{digits}k"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_corpus_is_sixty_readable_contents_with_markers_of_their_own() {
        let corpus = corpus();
        assert_eq!(corpus.len(), 60);
        let names: BTreeSet<_> = corpus.iter().map(|sample| sample.name.clone()).collect();
        assert_eq!(names.len(), 60);
        let mut seen = BTreeSet::new();
        for sample in &corpus {
            let _ = crate::content::content(&sample.json);
            for mark in marks(&sample.json) {
                assert!(seen.insert(mark.marker.clone()), "{} twice", mark.marker);
            }
        }
    }
}
