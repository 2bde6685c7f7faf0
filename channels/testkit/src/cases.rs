//! The runner of case files.
//!
//! A folder of cases is a list of JSON files; a file is one case or a list of them. A case is its
//! inputs and, beside them, the members of its outcome; the runner computes the outcome again and
//! compares it exactly. What differs between folders is one function from inputs to outcome
//! ([`Folder`]), so that another kind of case is another function.
mod faults;
mod render;

pub use faults::outcome_json;
pub use render::{part_json, rendered_json};

use crate::golden;
use contract::Registration;
use serde_json::{Map, Value};
use std::path::Path;

/// One kind of case.
#[derive(Clone, Copy)]
pub struct Folder {
    /// Its folder under `cases`.
    pub name: &'static str,
    /// Members that are outcome; all others are inputs.
    pub outcome: &'static [&'static str],
    /// From inputs to outcome.
    pub run: fn(&Setting<'_>, &Value) -> Map<String, Value>,
}

/// `cases/render`: content → parts, or a refusal.
pub const RENDER: Folder =
    Folder { name: "render", outcome: &["parts", "degrades", "refused"], run: render::run };
/// `cases/faults`: an answer → an outcome.
pub const FAULTS: Folder = Folder { name: "faults", outcome: &["outcome"], run: faults::run };

/// What all cases of a medium share.
pub struct Setting<'a> {
    /// The medium.
    pub registration: &'a Registration,
    /// The account that cases have unless they say otherwise.
    pub account: Value,
}

impl Setting<'_> {
    /// The account table of a case: the sample with the case's own keys over it.
    #[must_use]
    pub fn table(&self, case: &Value) -> Value {
        crate::account::overlaid(&self.account, case.get("account").unwrap_or(&Value::Null))
    }
}

/// The cases of a file.
#[must_use]
pub fn listed(file: &Value) -> Vec<Value> {
    match file {
        Value::Array(cases) => cases.clone(),
        one => vec![one.clone()],
    }
}

/// Runs every case of a folder of a crate; all differences are reported together. Returns how many
/// cases ran.
#[must_use]
pub fn run(setting: &Setting<'_>, crate_folder: &Path, folder: Folder) -> usize {
    let path = crate_folder.join("cases").join(folder.name);
    let mut differences = Vec::new();
    let mut count = 0;
    for (file, value) in golden::files(&path) {
        let mut found = Vec::new();
        for case in listed(&value) {
            count += 1;
            let outcome = outcome(setting, &case, folder);
            let expected = expected(&case, folder);
            if outcome != expected {
                differences.push(format!(
                    "{} ({})\n  expected {}\n  found    {}",
                    file.display(),
                    case.get("says").and_then(Value::as_str).unwrap_or("?"),
                    Value::Object(expected),
                    Value::Object(outcome.clone()),
                ));
            }
            found.push(with_outcome(&case, &outcome, folder));
        }
        if golden::refreshing() {
            let whole = if value.is_array() { Value::Array(found) } else { found.remove(0) };
            golden::write(&file, &whole);
        }
    }
    assert!(
        differences.is_empty() || golden::refreshing(),
        "{} of {count} cases differ (set {}=1 to take what was found):\n{}",
        differences.len(),
        golden::REFRESH,
        differences.join("\n")
    );
    count
}

fn outcome(setting: &Setting<'_>, case: &Value, folder: Folder) -> Map<String, Value> {
    let outcome = (folder.run)(setting, &golden::unfolded(case));
    let shown = Value::Object(outcome.clone()).to_string();
    for secret in crate::account::secrets(setting.registration, &setting.table(case)) {
        assert!(!shown.contains(&secret), "a secret is in the outcome of {case}");
    }
    outcome
}

fn expected(case: &Value, folder: Folder) -> Map<String, Value> {
    let unfolded = golden::unfolded(case);
    let members = unfolded.as_object().cloned().unwrap_or_default();
    members.into_iter().filter(|(key, _)| folder.outcome.contains(&key.as_str())).collect()
}

fn with_outcome(case: &Value, outcome: &Map<String, Value>, folder: Folder) -> Value {
    let members = case.as_object().expect("a case is an object").iter();
    let inputs = members.filter(|(key, _)| !folder.outcome.contains(&key.as_str()));
    let mut whole: Map<String, Value> = inputs.map(|(k, v)| (k.clone(), v.clone())).collect();
    whole.extend(outcome.iter().map(|(key, value)| (key.clone(), golden::folded(value))));
    Value::Object(whole)
}
