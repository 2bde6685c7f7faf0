//! Which test ids of a medium are held by a case file or by a test's name.
//!
//! A case holds the ids its `ids` member lists; a test `fn t_26_…` holds `T-26`.
use crate::golden;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Folders of a crate's cases.
pub const FOLDERS: [&str; 3] = ["render", "faults", "door"];

/// The ids of `wanted` that neither a case nor a test of the crate holds.
#[must_use]
pub fn unheld(wanted: &[&str], crate_folder: &Path) -> Vec<String> {
    let mut held = BTreeSet::new();
    for folder in FOLDERS {
        for (_, file) in golden::files(&crate_folder.join("cases").join(folder)) {
            for case in crate::cases::listed(&file) {
                let ids = case.get("ids").and_then(Value::as_array).into_iter().flatten();
                held.extend(ids.filter_map(Value::as_str).map(str::to_owned));
            }
        }
    }
    for folder in ["src", "tests"] {
        sources(&crate_folder.join(folder), &mut held);
    }
    wanted.iter().filter(|id| !held.contains(**id)).map(|id| (*id).to_owned()).collect()
}

fn sources(folder: &Path, held: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        if path.is_dir() {
            sources(&path, held);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a readable source");
            held.extend(text.split("fn ").skip(1).filter_map(id_of));
        }
    }
}

/// `t_26_name(` → `T-26`.
fn id_of(name: &str) -> Option<String> {
    let mut words = name.split('_');
    let (letters, number) = (words.next()?, words.next()?);
    let is_id = (1..=3).contains(&letters.len())
        && letters.bytes().all(|b| b.is_ascii_lowercase())
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit());
    is_id.then(|| format!("{}-{number}", letters.to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_46_an_id_that_nobody_holds_is_named() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(unheld(&["N-46", "N-999"], here), ["N-999"]);
        assert_eq!(id_of("t_26_bubbles()").as_deref(), Some("T-26"));
        assert_eq!(id_of("texts_26_x()"), None);
        assert_eq!(id_of("plain()"), None);
    }
}
