//! Token buckets of callers, per process: an address without a valid key, each key, and what an
//! address does at the chat's doors.
use crate::config::limits::{Bucket, LimitsConfig};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// The buckets.
pub struct Rates {
    address: Option<DefaultKeyedRateLimiter<IpAddr>>,
    key: Option<DefaultKeyedRateLimiter<u64>>,
    visits: Option<DefaultKeyedRateLimiter<IpAddr>>,
    posts: Option<DefaultKeyedRateLimiter<IpAddr>>,
    streams: Option<DefaultKeyedRateLimiter<IpAddr>>,
    clock: DefaultClock,
}

fn limiter<K: Hash + Eq + Clone>(bucket: Option<Bucket>) -> Option<DefaultKeyedRateLimiter<K>> {
    let bucket = bucket?;
    let rate = NonZeroU32::new(bucket.rate)?;
    let burst = NonZeroU32::new(bucket.burst)?;
    Some(RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst)))
}

/// New visitors of one address: one more each 20 s (30 in 10 minutes), 30 at once.
const VISIT: (Duration, u32) = (Duration::from_secs(20), 30);
/// Messages of one address: one more each second, 20 at once.
const POST: (Duration, u32) = (Duration::from_secs(1), 20);
/// Streams of one address: one more each second, 60 at once.
const STREAM: (Duration, u32) = (Duration::from_secs(1), 60);

fn every(period: Duration, burst: u32) -> Option<DefaultKeyedRateLimiter<IpAddr>> {
    let quota = Quota::with_period(period)?.allow_burst(NonZeroU32::new(burst)?);
    Some(RateLimiter::keyed(quota))
}

impl Rates {
    /// The buckets of a configuration.
    #[must_use]
    pub fn new(limits: &LimitsConfig) -> Self {
        Self {
            address: limiter(limits.address),
            key: limiter(limits.key),
            visits: every(VISIT.0, VISIT.1),
            posts: every(POST.0, POST.1),
            streams: every(STREAM.0, STREAM.1),
            clock: DefaultClock::default(),
        }
    }

    /// Spends a token of an address.
    ///
    /// # Errors
    /// Seconds until there is one.
    pub fn spend_address(&self, address: IpAddr) -> Result<(), u64> {
        self.spend(self.address.as_ref(), &address)
    }

    /// Spends a token of a key.
    ///
    /// # Errors
    /// Seconds until there is one.
    pub fn spend_key(&self, key: u64) -> Result<(), u64> {
        self.spend(self.key.as_ref(), &key)
    }

    /// Spends a new visitor of an address.
    ///
    /// # Errors
    /// Seconds until there is one.
    pub fn spend_visit(&self, address: IpAddr) -> Result<(), u64> {
        self.spend(self.visits.as_ref(), &address)
    }

    /// Spends a message of an address.
    ///
    /// # Errors
    /// Seconds until there is one.
    pub fn spend_post(&self, address: IpAddr) -> Result<(), u64> {
        self.spend(self.posts.as_ref(), &address)
    }

    /// Spends a stream of an address.
    ///
    /// # Errors
    /// Seconds until there is one.
    pub fn spend_stream(&self, address: IpAddr) -> Result<(), u64> {
        self.spend(self.streams.as_ref(), &address)
    }

    fn spend<K: Hash + Eq + Clone>(
        &self,
        limiter: Option<&DefaultKeyedRateLimiter<K>>,
        key: &K,
    ) -> Result<(), u64> {
        let Some(limiter) = limiter else { return Ok(()) };
        limiter.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
        })
    }

    /// Forgets buckets that are full again: without it memory grows with addresses.
    pub fn forget_idle(&self) {
        let all = [&self.address, &self.visits, &self.posts, &self.streams];
        for addresses in all.into_iter().flatten() {
            addresses.retain_recent();
        }
        if let Some(key) = &self.key {
            key.retain_recent();
        }
    }
}
