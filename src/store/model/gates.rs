//! Pacing lanes and parked accounts.
use super::super::pace::{Breath, Gates, Pacing, Parked, Rate, Verdict, Wait};
use super::super::steps::{At, Lane, QueueName, Signal, StoreResult};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::{ChannelName, ThrottleScope};
use std::time::Duration;

/// A lane of pacing.
type Key = (String, Option<String>);

impl State {
    /// When a lane lets the next request go.
    pub(super) fn next_of(&self, channel: &str, lane: Option<&str>) -> Option<Millis> {
        let key = (channel.to_owned(), lane.map(str::to_owned));
        self.paces.get(&key).map(|(_, next)| *next)
    }

    /// When a lane is idle again.
    pub(super) fn idle_at(&self, channel: &str, lane: Option<&str>) -> Option<i64> {
        let key = (channel.to_owned(), lane.map(str::to_owned));
        self.paces.get(&key).map(|(idle, _)| *idle)
    }

    /// Both lanes admit a request, or the longer wait.
    pub(super) fn admit(
        &self,
        channel: &str,
        lane: &str,
        pacing: Pacing,
        now: Millis,
    ) -> Result<Vec<(Key, Rate, i64)>, Wait> {
        let lanes = [
            (None, pacing.account, ThrottleScope::Account),
            (Some(lane), pacing.recipient, ThrottleScope::Recipient),
        ];
        let (mut moved, mut waits) = (Vec::new(), Vec::new());
        for (lane, rate, scope) in lanes {
            match rate.admit(self.idle_at(channel, lane), now, pacing.cost) {
                Verdict::Wait(until) => waits.push(Wait { until, scope }),
                Verdict::Go(_) if rate == Rate::UNPACED => {}
                Verdict::Go(idle) => {
                    moved.push(((channel.to_owned(), lane.map(str::to_owned)), rate, idle));
                }
            }
        }
        match waits.into_iter().max_by_key(|wait| wait.until) {
            Some(wait) => Err(wait),
            None => Ok(moved),
        }
    }
}

#[async_trait]
impl Gates for Model {
    async fn penalise(
        &self,
        channel: &ChannelName,
        lane: Option<&Lane>,
        until: Millis,
        rate: Rate,
        _at: At,
    ) -> StoreResult<()> {
        let mut state = self.state();
        let lane = lane.map(|lane| lane.0.as_str());
        let idle = rate.penalised(state.idle_at(channel.as_str(), lane), until);
        let key = (channel.as_str().to_owned(), lane.map(str::to_owned));
        state.paces.insert(key, (idle, rate.next(idle)));
        Ok(())
    }

    async fn breath(&self, channel: &ChannelName, lane: &Lane, at: At) -> StoreResult<Breath> {
        let (now, state) = (self.now(at), self.state());
        let next = |lane| state.next_of(channel.as_str(), lane).filter(|next| *next > now);
        Ok(Breath { account: next(None), recipient: next(Some(lane.0.as_str())) })
    }

    async fn park(
        &self,
        channel: &ChannelName,
        reason: &str,
        wait: Duration,
        at: At,
    ) -> StoreResult<(Parked, bool)> {
        let now = self.now(at);
        let mut state = self.state();
        if let Some(parked) = state.parked.get(channel) {
            return Ok((parked.clone(), false));
        }
        let parked = Parked { reason: reason.to_owned(), since: now, until: now.plus(wait), wait };
        state.parked.insert(channel.clone(), parked.clone());
        Ok((parked, true))
    }

    async fn parked(&self, channel: &ChannelName) -> StoreResult<Option<Parked>> {
        Ok(self.state().parked.get(channel).cloned())
    }

    async fn probation(
        &self,
        channel: &ChannelName,
        longest: Duration,
        at: At,
    ) -> StoreResult<bool> {
        let now = self.now(at);
        let mut state = self.state();
        let Some(parked) = state.parked.get_mut(channel).filter(|p| p.until <= now) else {
            return Ok(false);
        };
        parked.wait = (parked.wait * 2).min(longest);
        parked.until = now.plus(parked.wait);
        Ok(true)
    }

    async fn unpark(&self, channel: &ChannelName, _at: At) -> StoreResult<Option<Parked>> {
        let parked = self.state().parked.remove(channel);
        self.signal(parked.is_some().then(|| Signal::Queue(QueueName::out(channel))));
        Ok(parked)
    }
}
