//! Time, injected: nothing else in the crate reads a clock.
//!
//! Times are milliseconds since the Unix epoch ([`Millis`]); on the wire RFC 3339 UTC with
//! milliseconds and `Z`.
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A point in time, milliseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// This long after; saturates.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
    /// How long until `later`; zero when it has passed.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
    /// Reads RFC 3339 with `Z` or an offset.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }
    /// RFC 3339 UTC, milliseconds, `Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .map_or_else(|_| String::from("1970-01-01T00:00:00.000Z"), |t| format!("{t:.3}"))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place that reads the machine's clock
    fn now(&self) -> Millis {
        Millis(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock that stands until it is moved: for tests.
#[derive(Debug)]
pub struct StandingClock(AtomicI64);

impl StandingClock {
    /// Stands at this time.
    #[must_use]
    pub fn at(now: Millis) -> Self {
        Self(AtomicI64::new(now.0))
    }
    /// Moves to this time, forwards or back.
    pub fn set(&self, now: Millis) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelt_with_milliseconds_and_z() {
        assert_eq!(Millis(1_796_061_600_000).rfc3339(), "2026-11-30T18:00:00.000Z");
        assert_eq!(Millis(7).plus(Duration::from_millis(5)), Millis(12));
        assert_eq!(Millis(9).until(Millis(4)), Duration::ZERO);
    }
}
