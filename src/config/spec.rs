//! How a section declares its keys: one source for reading, the shipped file, and the docs.

/// The type of a configured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A whole number from `min` to `max`.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A duration such as `"30s"`, in milliseconds from `min` to `max`.
    Duration {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A list of durations.
    Durations,
    /// A size such as `"16MiB"`, in bytes from `min` to `max`.
    Size {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// Name inside its section.
    pub name: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// Default, written as TOML.
    pub default: &'static str,
    /// One line for people.
    pub doc: &'static str,
}

/// A section of the file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Name between the brackets.
    pub name: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// Keys, in the order of the file.
    pub keys: &'static [KeySpec],
}

impl Section {
    /// The declaration of a key.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// One hour in milliseconds.
pub const HOUR: u64 = 3_600_000;
/// One day in milliseconds.
pub const DAY: u64 = 24 * HOUR;
