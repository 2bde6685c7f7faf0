//! Opt-outs.
use super::super::optouts::{OptChange, OptOuts, OptRow, OptScope};
use super::super::steps::{At, Lane, StoreResult};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::ChannelName;

impl State {
    /// Whether nothing may be sent to this recipient.
    pub(super) fn blocks(&self, channel: &ChannelName, lane: &Lane) -> bool {
        let row = self.opt_outs.get(&(channel.clone(), lane.clone()));
        row.is_some_and(|row| row.scope == OptScope::All)
    }

    fn opt(&mut self, channel: &ChannelName, lane: &Lane, row: OptRow) -> bool {
        let key = (channel.clone(), lane.clone());
        if self.opt_outs.get(&key).is_some_and(|known| known.scope >= row.scope) {
            return false;
        }
        self.opt_outs.insert(key, row);
        true
    }

    fn unopt(&mut self, channel: &ChannelName, lane: &Lane, scopes: &[OptScope]) -> Option<OptRow> {
        let key = (channel.clone(), lane.clone());
        let known = self.opt_outs.get(&key).filter(|row| scopes.contains(&row.scope)).cloned();
        known.inspect(|_| _ = self.opt_outs.remove(&key))
    }

    /// What a write brings along.
    pub(super) fn opt_change(&mut self, channel: &ChannelName, change: &OptChange) {
        match change {
            OptChange::Keep => {}
            OptChange::Set(lane, row) => _ = self.opt(channel, lane, row.clone()),
            OptChange::Reached(lane) => _ = self.unopt(channel, lane, &[OptScope::Unreachable]),
        }
    }
}

#[async_trait]
impl OptOuts for Model {
    async fn opt_set(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        row: OptRow,
        _at: At,
    ) -> StoreResult<bool> {
        Ok(self.state().opt(channel, lane, row))
    }

    async fn opt_clear(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        scopes: &[OptScope],
        _at: At,
    ) -> StoreResult<Option<OptRow>> {
        Ok(self.state().unopt(channel, lane, scopes))
    }

    async fn opt_get(&self, channel: &ChannelName, lane: &Lane) -> StoreResult<Option<OptRow>> {
        Ok(self.state().opt_outs.get(&(channel.clone(), lane.clone())).cloned())
    }

    async fn opt_list(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, Lane)>,
        limit: usize,
    ) -> StoreResult<Vec<(Lane, OptRow)>> {
        let state = self.state();
        let mut rows: Vec<(Millis, Lane, OptRow)> = state
            .opt_outs
            .iter()
            .filter(|((of, _), _)| of == channel)
            .map(|((_, lane), row)| (row.since, lane.clone(), row.clone()))
            .collect();
        rows.sort_by(|a, b| (b.0, &b.1).cmp(&(a.0, &a.1)));
        Ok(rows
            .into_iter()
            .filter(|(since, lane, _)| {
                before.as_ref().is_none_or(|(at, of)| (since, lane) < (at, of))
            })
            .take(limit)
            .map(|(_, lane, row)| (lane, row))
            .collect())
    }
}
