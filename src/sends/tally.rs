//! Counts by channel and hour, gathered in memory and added to the store now and then: what
//! `GET /api/overview` shows.
use crate::clock::Millis;
use crate::store::HourCounts;
use contract::ChannelName;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Buckets of the time from the 202 to the medium's acceptance, doubling from 1 ms.
pub const BUCKETS: u32 = 24;

/// What a send came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The medium accepted it.
    Accepted,
    /// It put it into the chat.
    Sent,
    /// It reached the person.
    Delivered,
    /// It ended badly.
    Failed,
}

impl Counted {
    fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// The counts not yet added.
#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<(ChannelName, String), HourCounts>>);

impl Tally {
    /// One more.
    pub fn note(&self, channel: &ChannelName, counted: Counted, now: Millis) {
        self.add(channel, counted.as_str().to_owned(), now);
    }

    /// The medium accepted a send so long after the call.
    pub fn latency(&self, channel: &ChannelName, took: Duration, now: Millis) {
        self.add(channel, format!("lat:{}", bucket(took)), now);
    }

    fn add(&self, channel: &ChannelName, field: String, now: Millis) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry((channel.clone(), hour(now))).or_default().entry(field).or_default() += 1;
    }

    /// What was counted since the last call.
    #[must_use]
    pub fn take(&self) -> BTreeMap<(ChannelName, String), HourCounts> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An hour's name: `yyyymmddhh`, UTC.
#[must_use]
pub fn hour(at: Millis) -> String {
    at.rfc3339().chars().filter(char::is_ascii_digit).take(10).collect()
}

/// The bucket of a duration: i holds what took less than 2^i ms.
fn bucket(took: Duration) -> u32 {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    (u64::BITS - millis.leading_zeros()).min(BUCKETS - 1)
}

/// The time below which this share of an hour's sends was accepted, ms: the upper end of a bucket.
#[must_use]
pub fn quantile(counts: &HourCounts, share: f64) -> Option<u64> {
    let of = |i: u32| counts.get(&format!("lat:{i}")).copied().unwrap_or(0);
    let total: u64 = (0..BUCKETS).map(of).sum();
    if total == 0 {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count of one hour"
    )]
    let wanted = ((total as f64 * share).ceil() as u64).max(1);
    let mut seen = 0;
    (0..BUCKETS)
        .find(|i| {
            seen += of(*i);
            seen >= wanted
        })
        .map(|i| 1 << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_80_quantiles_are_the_upper_ends_of_doubling_buckets() {
        let channel = ChannelName::parse("web").unwrap();
        let (tally, now) = (Tally::default(), Millis(1_796_000_000_000));
        for (millis, times) in [(0, 1), (3, 48), (900, 50), (5_000, 1)] {
            for _ in 0..times {
                tally.latency(&channel, Duration::from_millis(millis), now);
            }
        }
        tally.note(&channel, Counted::Failed, now);
        let counts = tally.take().remove(&(channel, "2026113000".to_owned())).unwrap();
        assert_eq!(counts["failed"], 1);
        let found = [0.0, 0.49, 0.5, 0.99, 1.0].map(|share| quantile(&counts, share).unwrap());
        assert_eq!(found, [1, 4, 1024, 1024, 8192]);
        assert_eq!(quantile(&HourCounts::new(), 0.5), None);
        assert_eq!(bucket(Duration::from_secs(10_000_000)), BUCKETS - 1);
        assert!(tally.take().is_empty());
    }
}
