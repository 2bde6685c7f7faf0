//! Reading the configuration again while the gateway runs: what can change without a restart, and
//! what has changed that cannot.
use super::values::Values;
use super::{Config, SECTIONS, load};
use crate::config::values::ConfigProblem;
use contract::Registration;

/// What a running gateway takes over from a new reading; everything else needs a restart.
const RELOADED: &[&str] = &["keys", "channels"];

/// A new reading, checked.
pub struct Reread {
    /// The running configuration with the reloaded parts of the new one.
    pub config: Config,
    /// What [`Reread::config`] was read from: the running values of the next reload.
    pub values: Values,
    /// Keys that changed and stay as they were until a restart, as dotted paths.
    pub held_back: Vec<String>,
}

/// Reads the same layers again. The new reading must be sound as a whole, and its reloaded parts
/// sound beside what keeps running.
///
/// # Errors
/// Every problem; then nothing of the new reading counts.
pub fn reread(
    sources: &load::Sources,
    running: &Values,
    media: &[&Registration],
) -> Result<Reread, Vec<ConfigProblem>> {
    let (_, read) = load::load(sources, media)?;
    let held_back = held_back(running, &read);
    let mut values = running.clone();
    let reloaded = |path: &str| RELOADED.contains(&path.split('.').next().unwrap_or(path));
    values.layers.retain(|path, _| !reloaded(path));
    values.layers.extend(read.layers.into_iter().filter(|(path, _)| reloaded(path)));
    for part in RELOADED {
        match read.tree.get(*part) {
            Some(value) => values.tree.insert((*part).to_owned(), value.clone()),
            None => values.tree.remove(*part),
        };
    }
    let config = Config::read(&values, media)?;
    Ok(Reread { config, values, held_back })
}

/// Keys of the fixed sections whose effective value differs.
fn held_back(running: &Values, read: &Values) -> Vec<String> {
    let mut paths = Vec::new();
    for section in SECTIONS {
        for key in section.keys {
            let effective = |values: &Values| {
                let given = values.given(section.name, key.name).map(ToString::to_string);
                given.unwrap_or_else(|| key.default.to_owned())
            };
            if effective(running) != effective(read) {
                paths.push(format!("{}.{}", section.name, key.name));
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    fn sources(file: &std::path::Path) -> load::Sources {
        load::Sources {
            file: Some(PathBuf::from(file)),
            environment: BTreeMap::new(),
            flags: vec![("store.data_dir".into(), "'here'".into())],
        }
    }

    #[test]
    fn keys_and_channels_come_over_the_rest_is_named_and_a_bad_file_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let key = |letter: &str| {
            let hash = letter.repeat(64);
            format!("[[keys]]\nidentity = 'ops'\nhash = 'sha256:{hash}'\nscopes = ['admin']\n")
        };
        std::fs::write(&file, format!("[limits]\nkey_rate = 5\nkey_burst = 5\n{}", key("a")))
            .unwrap();
        let sources = sources(&file);
        let (first, running) = load::load(&sources, &[]).unwrap();
        std::fs::write(&file, format!("[limits]\nkey_rate = 7\nkey_burst = 5\n{}", key("b")))
            .unwrap();
        let reread = reread(&sources, &running, &[]).unwrap();
        assert_eq!(reread.held_back, ["limits.key_rate"]);
        assert_eq!(reread.config.keys[0].hash, [0xbb; 32]);
        assert_eq!(reread.config.limits.key, first.limits.key, "until a restart");
        let again = super::reread(&sources, &reread.values, &[]).unwrap();
        assert_eq!(again.held_back, ["limits.key_rate"], "as long as it differs from what runs");
        std::fs::write(&file, "[limits]\nkey_rate = 7\n[nonsense]\n").unwrap();
        let problems = super::reread(&sources, &reread.values, &[]).err().unwrap();
        assert_eq!(problems[0].path, "nonsense");
    }
}
