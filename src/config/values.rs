//! The merged layers: each key's value and where it came from, and typed reading with problems.
use super::spec::{KeySpec, Kind, Section};
use super::units;
use contract::Secret;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use toml::{Table, Value};

/// A layer of configuration, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The declared default.
    BuiltIn,
    /// The configuration file.
    File,
    /// An environment variable.
    Environment,
    /// A flag of the command line.
    Flag,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built-in",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// A problem with the configuration: where, what is found, what is needed. Never a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Dotted path.
    pub path: String,
    /// One sentence.
    pub detail: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.detail)
    }
}

/// Problems so far.
pub type Problems = Vec<ConfigProblem>;

/// Adds one.
pub fn add(problems: &mut Problems, path: impl Into<String>, detail: impl Into<String>) {
    problems.push(ConfigProblem { path: path.into(), detail: detail.into() });
}

/// The merged layers. `tree` holds everything given; `layers` where each leaf came from.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The merged tree of what was given (defaults are not in it).
    pub tree: Table,
    /// Layer of each given leaf by dotted path.
    pub layers: BTreeMap<String, Layer>,
    /// The environment, for `env:` secrets: injected so that tests need not change theirs.
    pub environment: BTreeMap<String, String>,
}

impl Values {
    /// What is given at `section.key`.
    #[must_use]
    pub fn given(&self, section: &str, key: &str) -> Option<&Value> {
        self.tree.get(section)?.as_table()?.get(key)
    }

    /// Sections and keys nobody declared.
    #[must_use]
    pub fn unknown_keys(&self, sections: &[Section]) -> Problems {
        let mut problems = Problems::new();
        for (name, value) in &self.tree {
            if matches!(name.as_str(), "keys" | "channels") {
                continue;
            }
            let Some(section) = sections.iter().find(|s| s.name == name) else {
                add(&mut problems, name, "there is no such section");
                continue;
            };
            let Some(table) = value.as_table() else {
                add(&mut problems, name, "must be a table");
                continue;
            };
            for key in table.keys().filter(|key| section.key(key).is_none()) {
                let known: Vec<_> = section.keys.iter().map(|k| k.name).collect();
                let path = format!("{name}.{key}");
                add(
                    &mut problems,
                    path,
                    format!("there is no such key; known: {}", known.join(", ")),
                );
            }
        }
        problems
    }

    /// The value of a declared key, given or default, when it is of its declared kind.
    fn checked(&self, section: &Section, name: &str, problems: &mut Problems) -> Option<Value> {
        let spec = section.key(name)?;
        let path = format!("{}.{name}", section.name);
        let value = match self.given(section.name, name) {
            Some(value) => value.clone(),
            None => default_value(spec)?,
        };
        match kind_problem(spec.kind, &value) {
            None => Some(value),
            Some(needed) => {
                add(problems, path, needed);
                default_value(spec)
            }
        }
    }

    /// A string.
    pub fn text(&self, section: &Section, name: &str, problems: &mut Problems) -> String {
        let value = self.checked(section, name, problems);
        value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// A list of strings.
    pub fn texts(&self, section: &Section, name: &str, problems: &mut Problems) -> Vec<String> {
        self.checked(section, name, problems).map(|v| strings(&v)).unwrap_or_default()
    }

    /// A whole number inside its declared range.
    pub fn integer(&self, section: &Section, name: &str, problems: &mut Problems) -> i64 {
        self.checked(section, name, problems).and_then(|v| v.as_integer()).unwrap_or_default()
    }

    /// A count: an integer declared to be non-negative.
    pub fn count(&self, section: &Section, name: &str, problems: &mut Problems) -> u32 {
        u32::try_from(self.integer(section, name, problems)).unwrap_or_default()
    }

    /// A duration inside its declared range.
    pub fn duration(&self, section: &Section, name: &str, problems: &mut Problems) -> Duration {
        let value = self.checked(section, name, problems);
        value.as_ref().and_then(Value::as_str).and_then(units::duration).unwrap_or_default()
    }

    /// A list of durations.
    pub fn durations(
        &self,
        section: &Section,
        name: &str,
        problems: &mut Problems,
    ) -> Vec<Duration> {
        let texts = self.texts(section, name, problems);
        texts.iter().filter_map(|text| units::duration(text)).collect()
    }

    /// A size in bytes inside its declared range.
    pub fn size(&self, section: &Section, name: &str, problems: &mut Problems) -> u64 {
        let value = self.checked(section, name, problems);
        value.as_ref().and_then(Value::as_str).and_then(units::size).unwrap_or_default()
    }

    /// Resolves `env:NAME`, `file:PATH` or an inline secret.
    ///
    /// # Errors
    /// What is missing; never the secret.
    pub fn secret(&self, text: &str) -> Result<Secret, String> {
        let found = if let Some(name) = text.strip_prefix("env:") {
            self.environment
                .get(name)
                .cloned()
                .ok_or_else(|| format!("the environment variable {name} is not set"))?
        } else if let Some(path) = text.strip_prefix("file:") {
            std::fs::read_to_string(path)
                .map(|content| content.trim_end_matches(['\r', '\n']).to_owned())
                .map_err(|error| format!("the file {path} cannot be read: {}", error.kind()))?
        } else {
            text.to_owned()
        };
        if found.is_empty() {
            Err("the secret is empty".to_owned())
        } else {
            Ok(Secret::new(found))
        }
    }
}

fn default_value(spec: &KeySpec) -> Option<Value> {
    let line = format!("v = {}", spec.default);
    line.parse::<Table>().ok()?.remove("v")
}

/// The strings of a list value.
#[must_use]
pub fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a value of this kind must be, when this one is not.
#[must_use]
pub fn kind_problem(kind: Kind, value: &Value) -> Option<String> {
    let text_list = || value.as_array().filter(|list| list.iter().all(Value::is_str));
    match kind {
        Kind::Text => (!value.is_str()).then(|| "must be a string".to_owned()),
        Kind::Texts => text_list().is_none().then(|| "must be a list of strings".to_owned()),
        Kind::Integer { min, max } => {
            let fine = value.as_integer().is_some_and(|n| (min..=max).contains(&n));
            (!fine).then(|| format!("must be a whole number from {min} to {max}"))
        }
        Kind::Duration { min, max } => {
            let found = value.as_str().and_then(units::duration);
            let (min, max) = (Duration::from_millis(min), Duration::from_millis(max));
            let fine = found.is_some_and(|d| (min..=max).contains(&d));
            (!fine).then(|| {
                format!(
                    "must be a duration such as \"30s\", from {} to {}",
                    units::spell(min),
                    units::spell(max)
                )
            })
        }
        Kind::Durations => {
            let fine = text_list().is_some_and(|list| {
                list.iter().all(|v| v.as_str().is_some_and(|t| units::duration(t).is_some()))
            });
            (!fine).then(|| "must be a list of durations such as [\"5s\", \"2m\"]".to_owned())
        }
        Kind::Size { min, max } => {
            let fine =
                value.as_str().and_then(units::size).is_some_and(|n| (min..=max).contains(&n));
            (!fine).then(|| format!("must be a size such as \"16MiB\", from {min} to {max} bytes"))
        }
        Kind::Word(words) => {
            let fine = value.as_str().is_some_and(|word| words.contains(&word));
            (!fine).then(|| format!("must be one of: {}", words.join(", ")))
        }
    }
}
