//! Minting ids: `UUIDv7`, monotonic within the process, and random capabilities.
use crate::clock::Clock;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::{InboundId, MediaId, NotificationId, SendId, ThreadId, VisitorId};
use std::sync::{Arc, Mutex, PoisonError};

/// Where random bits come from; injected so that tests can repeat a run.
pub trait Random: Send + Sync {
    /// Fills the buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, buffer: &mut [u8]) {
        // Without randomness no id is a capability: there is nothing safe to go on with.
        assert!(getrandom::fill(buffer).is_ok(), "the operating system gives no random bytes");
    }
}

/// The mint.
pub struct Ids {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    last: Mutex<u128>,
}

/// The low 74 bits of a `UUIDv7` that are free for randomness: 12 behind the version, 62 behind the
/// variant.
const RANDOM_LOW: u128 = (1 << 62) - 1;

impl Ids {
    /// A mint on this clock and randomness.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random, last: Mutex::new(0) }
    }

    /// The next time-ordered 128 bits: later than every one before, whatever the clock does.
    fn next(&self) -> u128 {
        let mut bytes = [0u8; 10];
        self.random.fill(&mut bytes);
        let mut wide = [0u8; 16];
        wide[6..].copy_from_slice(&bytes);
        let random = u128::from_be_bytes(wide);
        let millis = u128::from(u64::try_from(self.clock.now().0).unwrap_or(0)) & ((1 << 48) - 1);
        let fresh = (millis << 80)
            | (7 << 76)
            | ((random >> 62 & 0xFFF) << 64)
            | (0b10 << 62)
            | (random & RANDOM_LOW);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A repeat or a clock that went back counts on from the last id, inside its free low bits.
        let next = if fresh > *last { fresh } else { *last + 1 };
        *last = next;
        next
    }

    /// A notification's id.
    #[must_use]
    pub fn notification(&self) -> NotificationId {
        NotificationId::from_bits(self.next())
    }
    /// A send's id.
    #[must_use]
    pub fn send(&self) -> SendId {
        SendId::from_bits(self.next())
    }
    /// A thread's id.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        ThreadId::from_bits(self.next())
    }
    /// An inbound message's id.
    #[must_use]
    pub fn inbound(&self) -> InboundId {
        InboundId::from_bits(self.next())
    }
    /// A visitor's id: random, not ordered.
    #[must_use]
    pub fn visitor(&self) -> VisitorId {
        VisitorId::from_bits(u128::from_be_bytes(self.random_array()))
    }
    /// A media id: 256 random bits.
    #[must_use]
    pub fn media(&self) -> MediaId {
        let text = URL_SAFE_NO_PAD.encode(self.random_array::<32>());
        MediaId::from_random(&text).unwrap_or_else(|| MediaId::literal(0))
    }
    /// `n` random bytes.
    #[must_use]
    pub fn random_array<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0u8; N];
        self.random.fill(&mut bytes);
        bytes
    }
    /// A W3C trace id: 32 lower-case hex digits, not all zero.
    #[must_use]
    pub fn trace(&self) -> String {
        hex(&self.random_array::<16>())
    }
    /// A W3C span id: 16 lower-case hex digits.
    #[must_use]
    pub fn span(&self) -> String {
        hex(&self.random_array::<8>())
    }
    /// A number in 0…1, for jitter.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from(u32::from_be_bytes(self.random_array())) / f64::from(u32::MAX)
    }
}

/// Lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Millis, StandingClock};

    #[test]
    fn ids_rise_even_when_the_clock_goes_back() {
        let clock = Arc::new(StandingClock::at(Millis(1_790_000_000_000)));
        let ids = Ids::new(clock.clone(), Arc::new(SystemRandom));
        let mut last = ids.send();
        for step in 0..2000i64 {
            clock.set(Millis(1_790_000_000_000 - step * 7 + (step % 3) * 20));
            let next = ids.send();
            assert!(next.as_str() > last.as_str());
            last = next;
        }
    }
}
