//! Pacing lanes and parked accounts. Pacing lanes live in memory: a restart gives everybody a fresh
//! burst, but what an account was told to wait is kept in a row. A parking is a row.
use super::super::pace::{Breath, Gates, Pacing, Parked, Rate, Verdict, Wait};
use super::super::steps::{At, Lane, QueueName, Signal, StoreResult};
use super::Embedded;
use super::rows::{Fields, channel_prefix, corrupt, joined, time};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::{ChannelName, ThrottleScope};
use std::collections::HashMap;
use std::ops::Bound;
use std::time::Duration;

/// Lanes above which those that are idle again are forgotten.
const FORGET_AT: usize = 4096;

/// A lane: idle again at (µs), the next request goes at.
type Busy = (i64, Millis);

/// Pacing lanes that are not idle.
#[derive(Default)]
pub(super) struct Paces {
    busy: HashMap<String, Busy>,
    forget_at: usize,
}

/// The name of a lane: its channel, and behind a zero byte its recipient's.
pub(super) fn pace_key(channel: &str, lane: Option<&str>) -> String {
    lane.map_or_else(|| channel.to_owned(), |lane| format!("{channel}\0{lane}"))
}

impl Paces {
    /// What accounts were told to wait.
    pub(super) fn load(look: &impl Look) -> StoreResult<Self> {
        let mut paces = Self::default();
        for row in look.range(TableId::Penalty, Bound::Unbounded, Bound::Unbounded)? {
            let (key, row) = row?;
            let key = std::str::from_utf8(key.value()).map_err(|_| corrupt("a pace's name"))?;
            let mut fields = Fields(row.value());
            paces.busy.insert(key.to_owned(), (fields.time()?.0, fields.time()?));
        }
        Ok(paces)
    }

    /// When the lane is idle again, µs.
    pub(super) fn idle_at(&self, key: &str) -> Option<i64> {
        self.busy.get(key).map(|busy| busy.0)
    }

    /// When the lane lets the next request go.
    pub(super) fn next(&self, key: &str) -> Option<Millis> {
        self.busy.get(key).map(|busy| busy.1)
    }

    /// Moves a lane on.
    pub(super) fn set(&mut self, key: String, busy: Busy, now: Millis) {
        self.busy.insert(key, busy);
        if self.busy.len() > self.forget_at.max(FORGET_AT) {
            self.busy.retain(|_, (idle, _)| *idle > now.0.saturating_mul(1000));
            self.forget_at = 2 * self.busy.len();
        }
    }
}

/// What both lanes of a request say: when each is idle again, or the longer wait.
pub(super) fn admit(
    paces: &Paces,
    channel: &str,
    lane: &str,
    pacing: Pacing,
    now: Millis,
) -> Result<[(String, Rate, i64); 2], Wait> {
    let keys = [pace_key(channel, None), pace_key(channel, Some(lane))];
    let rates = [pacing.account, pacing.recipient];
    let scopes = [ThrottleScope::Account, ThrottleScope::Recipient];
    let mut idle = [0, 0];
    let mut wait: Option<Wait> = None;
    for at in 0..2 {
        match rates[at].admit(paces.idle_at(&keys[at]), now, pacing.cost) {
            Verdict::Go(next) => idle[at] = next,
            Verdict::Wait(until) => {
                if wait.is_none_or(|known| until >= known.until) {
                    wait = Some(Wait { until, scope: scopes[at] });
                }
            }
        }
    }
    let [account, recipient] = keys;
    match wait {
        Some(wait) => Err(wait),
        None => Ok([(account, rates[0], idle[0]), (recipient, rates[1], idle[1])]),
    }
}

#[async_trait]
impl Gates for Embedded {
    async fn penalise(
        &self,
        channel: &ChannelName,
        lane: Option<&Lane>,
        until: Millis,
        rate: Rate,
        at: At,
    ) -> StoreResult<()> {
        let account = lane.is_none();
        let key = pace_key(channel.as_str(), lane.map(|lane| lane.0.as_str()));
        self.write(move |step| {
            let now = step.now(at);
            let idle = rate.penalised(step.paces().idle_at(&key), until);
            let next = rate.next(idle);
            if account {
                let row = joined(&[&time(Millis(idle)), &time(next)]);
                step.put(TableId::Penalty, key.as_bytes(), row);
            }
            step.set_pace(key, (idle, next), now);
            Ok(())
        })
        .await
    }

    async fn breath(&self, channel: &ChannelName, lane: &Lane, at: At) -> StoreResult<Breath> {
        let account = pace_key(channel.as_str(), None);
        let recipient = pace_key(channel.as_str(), Some(&lane.0));
        self.write(move |step| {
            let now = step.now(at);
            let next = |key: &str| step.paces().next(key).filter(|next| *next > now);
            Ok(Breath { account: next(&account), recipient: next(&recipient) })
        })
        .await
    }

    async fn park(
        &self,
        channel: &ChannelName,
        reason: &str,
        wait: Duration,
        at: At,
    ) -> StoreResult<(Parked, bool)> {
        let (key, reason) = (channel_prefix(channel), reason.to_owned());
        self.write(move |step| {
            let now = step.now(at);
            if let Some(parked) = read(step, &key)? {
                return Ok((parked, false));
            }
            let parked = Parked { reason, since: now, until: now.plus(wait), wait };
            step.put(TableId::Parking, key, encode(&parked));
            Ok((parked, true))
        })
        .await
    }

    async fn parked(&self, channel: &ChannelName) -> StoreResult<Option<Parked>> {
        read(&self.look()?, &channel_prefix(channel))
    }

    async fn probation(
        &self,
        channel: &ChannelName,
        longest: Duration,
        at: At,
    ) -> StoreResult<bool> {
        let key = channel_prefix(channel);
        self.write(move |step| {
            let now = step.now(at);
            let due = read(step, &key)?.filter(|parked| parked.until <= now);
            let Some(parked) = due else { return Ok(false) };
            let wait = (parked.wait * 2).min(longest);
            step.put(
                TableId::Parking,
                key,
                encode(&Parked { wait, until: now.plus(wait), ..parked }),
            );
            Ok(true)
        })
        .await
    }

    async fn unpark(&self, channel: &ChannelName, _at: At) -> StoreResult<Option<Parked>> {
        let (key, queue) = (channel_prefix(channel), QueueName::out(channel));
        self.write(move |step| {
            let parked = read(step, &key)?;
            if parked.is_some() {
                step.remove(TableId::Parking, key);
                step.signal(Signal::Queue(queue));
            }
            Ok(parked)
        })
        .await
    }
}

/// The parking of a queue's channel, for a claim.
pub(super) fn parking(step: &Step<'_, '_>, channel: &ChannelName) -> StoreResult<Option<Parked>> {
    read(step, &channel_prefix(channel))
}

fn encode(parked: &Parked) -> Vec<u8> {
    let wait = u64::try_from(parked.wait.as_millis()).unwrap_or(u64::MAX);
    let times = [time(parked.since), time(parked.until), wait.to_be_bytes()].concat();
    joined(&[&times, parked.reason.as_bytes()])
}

fn read(look: &impl Look, key: &[u8]) -> StoreResult<Option<Parked>> {
    let Some(row) = look.get(TableId::Parking, key)? else { return Ok(None) };
    let mut fields = Fields(row.value());
    let (since, until) = (fields.time()?, fields.time()?);
    let wait = Duration::from_millis(fields.number()?);
    let reason = String::from_utf8(fields.rest().to_vec());
    let reason = reason.map_err(|_| corrupt("a parking's reason is not text"))?;
    Ok(Some(Parked { reason, since, until, wait }))
}
