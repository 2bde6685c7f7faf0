//! Pacing and parking: how fast requests of one account, and to one recipient, may follow each
//! other, and accounts that send nothing for now.
//!
//! A lane of pacing is a GCRA: one number, the time (µs) at which it is idle again. A request goes
//! when the lane has room for it and then moves that time on. The arithmetic stands here once, as
//! pure functions; `scripts/lib_pace.lua` mirrors them, and both run the same table of cases.
//! A penalty (a vendor asked to wait) is nothing but such a time further ahead.
use super::steps::{At, Lane, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::{ChannelName, ThrottleScope};
use std::time::Duration;

/// A wait up to this is slept with the lane held; a longer one gives the lane back.
pub const SLEPT: Duration = Duration::from_secs(1);

/// How fast requests may follow each other, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// From one request to the next in the long run; 0: unpaced.
    pub interval: i64,
    /// How far ahead of that an idle lane may run: burst × interval.
    pub tolerance: i64,
}

/// What a lane says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go; then the lane is idle again at this time, µs.
    Go(i64),
    /// Not before then.
    Wait(Millis),
}

impl Rate {
    /// No pace at all.
    pub const UNPACED: Self = Self { interval: 0, tolerance: 0 };

    /// So many requests a second after a first burst; 0 for either is unpaced.
    #[must_use]
    pub fn per_second(rate: f64, burst: f64) -> Self {
        let positive = rate.is_finite() && burst.is_finite() && rate > 0.0 && burst > 0.0;
        if !positive {
            return Self::UNPACED;
        }
        let interval = (1_000_000.0 / rate).clamp(1.0, 1e14);
        let tolerance = (interval * burst).clamp(0.0, 1e15);
        // Both are whole and far below 2^53 here.
        #[expect(clippy::cast_possible_truncation)]
        let whole = |number: f64| number.round() as i64;
        Self { interval: whole(interval), tolerance: whole(tolerance) }
    }

    /// What the lane says to a request of this cost. One that costs more than a burst goes when the
    /// lane is idle.
    #[must_use]
    pub fn admit(self, idle_at: Option<i64>, now: Millis, cost: u32) -> Verdict {
        let from = idle_at.unwrap_or(i64::MIN).max(micros(now));
        let cost = self.interval.saturating_mul(i64::from(cost));
        let earliest = from + cost.min(self.tolerance) - self.tolerance;
        if earliest > micros(now) {
            return Verdict::Wait(millis(earliest));
        }
        Verdict::Go(from.saturating_add(cost))
    }

    /// When a request of cost 1 may go.
    #[must_use]
    pub fn next(self, idle_at: i64) -> Millis {
        millis(idle_at + self.interval.min(self.tolerance) - self.tolerance)
    }

    /// The lane with nobody let through before `until`, and one right then.
    #[must_use]
    pub fn penalised(self, idle_at: Option<i64>, until: Millis) -> i64 {
        let penalty = micros(until) + self.tolerance - self.interval.min(self.tolerance);
        idle_at.unwrap_or(i64::MIN).max(penalty)
    }

    /// How many requests of cost 1 may go within [`SLEPT`] from now, at most `most`.
    #[must_use]
    pub fn room(self, idle_at: Option<i64>, now: Millis, most: usize) -> usize {
        let Some(idle_at) = idle_at else {
            return if self.interval == 0 { most } else { self.room(Some(i64::MIN), now, most) };
        };
        let ahead = micros(now.plus(SLEPT));
        if self.interval == 0 {
            return if idle_at > ahead { 0 } else { most };
        }
        let free = ahead + self.tolerance - idle_at.max(micros(now));
        // A tolerance below one interval lets one through whenever the lane is idle.
        let least = self.interval.min(self.tolerance);
        let room = if free < least { 0 } else { 1 + (free - least) / self.interval };
        usize::try_from(room).unwrap_or(0).min(most)
    }
}

fn micros(at: Millis) -> i64 {
    at.0.saturating_mul(1000)
}

/// The first whole millisecond not before.
fn millis(micros: i64) -> Millis {
    Millis(micros.div_euclid(1000) + i64::from(micros.rem_euclid(1000) != 0))
}

/// What a request is paced by: it goes when both lanes let it, and then moves both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The channel's.
    pub account: Rate,
    /// The recipient's.
    pub recipient: Rate,
    /// What it costs either.
    pub cost: u32,
}

/// A request that has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Until then.
    pub until: Millis,
    /// For the lane that holds it back longer.
    pub scope: ThrottleScope,
}

/// Whose sends a claim takes: their account may be parked or out of breath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The channel.
    pub channel: ChannelName,
    /// Its pace.
    pub rate: Rate,
}

/// An account that sends nothing for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Code of the fault that parked it.
    pub reason: String,
    /// Since when.
    pub since: Millis,
    /// When it is probed next.
    pub until: Millis,
    /// The wait that ends then.
    pub wait: Duration,
}

/// Where a pacing lane of a channel stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breath {
    /// The account lets the next request go then.
    pub account: Option<Millis>,
    /// The recipient's lane does.
    pub recipient: Option<Millis>,
}

/// Pacing lanes and parked accounts.
#[async_trait]
pub trait Gates {
    /// Holds a lane back until then: the recipient's if one is given, else the account's.
    async fn penalise(
        &self,
        channel: &ChannelName,
        lane: Option<&Lane>,
        until: Millis,
        rate: Rate,
        at: At,
    ) -> StoreResult<()>;

    /// When the account's and this recipient's lane let the next request go, where that is later
    /// than now.
    async fn breath(&self, channel: &ChannelName, lane: &Lane, at: At) -> StoreResult<Breath>;

    /// Parks a channel for so long; one that is parked stays as it is. True with a new parking.
    async fn park(
        &self,
        channel: &ChannelName,
        reason: &str,
        wait: Duration,
        at: At,
    ) -> StoreResult<(Parked, bool)>;

    /// The parking of a channel.
    async fn parked(&self, channel: &ChannelName) -> StoreResult<Option<Parked>>;

    /// When a parking's time has come: parks it on for twice as long, at most `longest`, and gives
    /// true to the one caller that is to probe now.
    async fn probation(
        &self,
        channel: &ChannelName,
        longest: Duration,
        at: At,
    ) -> StoreResult<bool>;

    /// Lifts a parking, and announces the queue; gives what is lifted.
    async fn unpark(&self, channel: &ChannelName, at: At) -> StoreResult<Option<Parked>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_read_and_zero_is_unpaced() {
        assert_eq!(Rate::per_second(25.0, 30.0), Rate { interval: 40_000, tolerance: 1_200_000 });
        let slow = Rate::per_second(20.0 / 60.0, 3.0);
        assert_eq!((slow.interval, slow.tolerance), (3_000_000, 9_000_000));
        for (rate, burst) in [(0.0, 3.0), (3.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0)] {
            assert_eq!(Rate::per_second(rate, burst), Rate::UNPACED);
        }
    }

    proptest! {
        /// Whatever is asked in whatever order: over any window no more goes than rate × window +
        /// burst, a refusal names a time at which the same request goes, and nothing goes in a
        /// penalty.
        #[test]
        fn d_34_no_window_holds_more_than_rate_and_burst(
            interval in 1i64..2_000_000,
            burst in 1i64..20,
            steps in prop::collection::vec((0i64..3000, 1u32..4, prop::bool::weighted(0.05)), 1..80),
        ) {
            let rate = Rate { interval, tolerance: interval * burst };
            let (mut now, mut idle) = (Millis(1_790_000_000_000), None);
            let (mut gone, mut barred): (Vec<(i64, i64)>, Millis) = (Vec::new(), Millis(0));
            for (pause, cost, penalty) in steps {
                now = Millis(now.0 + pause);
                if penalty {
                    barred = Millis(now.0 + 2500).max(barred);
                    idle = Some(rate.penalised(idle, Millis(now.0 + 2500)));
                }
                let cost = cost.min(u32::try_from(burst).unwrap());
                match rate.admit(idle, now, cost) {
                    Verdict::Go(next) => {
                        prop_assert!(now >= barred);
                        idle = Some(next);
                        gone.push((now.0, i64::from(cost)));
                    }
                    Verdict::Wait(until) => {
                        prop_assert!(until > now);
                        prop_assert!(matches!(rate.admit(idle, until, cost), Verdict::Go(_)));
                        let before = Millis(until.0 - 1);
                        prop_assert!(matches!(rate.admit(idle, before, cost), Verdict::Wait(_)));
                    }
                }
                let room = rate.room(idle, now, 100);
                prop_assert_eq!(room == 0, idle.is_some_and(|i| rate.next(i) > now.plus(SLEPT)));
            }
            for (i, (from, _)) in gone.iter().enumerate() {
                let mut sum = 0;
                for (at, cost) in &gone[i..] {
                    sum += cost;
                    let allowed = ((at - from) * 1000) / interval + burst;
                    prop_assert!(sum <= allowed, "{} in {} ms, allowed {}", sum, at - from, allowed);
                }
            }
        }
    }
}
