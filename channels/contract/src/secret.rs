//! Secrets: values that print as `***` and are wiped when dropped.
use std::fmt;
use zeroize::Zeroize;

/// A secret text. `Debug` and `Display` never show it; only [`Secret::expose`] does.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }
    /// The value itself: for the wire and for verification alone.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The secrets of one account by the name requests refer to them with.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<(&'static str, Secret)>);

impl Secrets {
    /// No secrets: a medium that is this gateway itself.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
    /// Adds one value under a name; a name may hold several (a rotated list), the first is used.
    #[must_use]
    pub fn with(mut self, name: &'static str, secret: Secret) -> Self {
        self.0.push((name, secret));
        self
    }
    /// The value a request's reference stands for.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, s)| s)
    }
    /// Every value with its name: what redaction looks for.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Secret)> {
        self.0.iter().map(|(n, s)| (*n, s))
    }
}
