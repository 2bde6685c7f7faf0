//! Token buckets of callers, per process: an address without a valid key, and each key.
use crate::config::limits::{Bucket, LimitsConfig};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;

/// The buckets.
pub struct Rates {
    address: Option<DefaultKeyedRateLimiter<IpAddr>>,
    key: Option<DefaultKeyedRateLimiter<u64>>,
    clock: DefaultClock,
}

fn limiter<K: Hash + Eq + Clone>(bucket: Option<Bucket>) -> Option<DefaultKeyedRateLimiter<K>> {
    let bucket = bucket?;
    let rate = NonZeroU32::new(bucket.rate)?;
    let burst = NonZeroU32::new(bucket.burst)?;
    Some(RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst)))
}

impl Rates {
    /// The buckets of a configuration.
    #[must_use]
    pub fn new(limits: &LimitsConfig) -> Self {
        Self {
            address: limiter(limits.address),
            key: limiter(limits.key),
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
        if let Some(address) = &self.address {
            address.retain_recent();
        }
        if let Some(key) = &self.key {
            key.retain_recent();
        }
    }
}
