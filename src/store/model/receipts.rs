//! Receipts: shelves and what is unmatched.
use super::super::receipts::{
    HANDED_OVER, Lapsed, ORPHANS_FOR, ORPHANS_MAX, Orphan, Receipts, SHELF_MAX, Shelved,
};
use super::super::records::{Commit, Committed, Noted, ProviderRef};
use super::super::steps::{At, Hold, Lane, QueueName, StoreResult};
use super::{Model, Shelf, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use std::time::Duration;

impl State {
    /// Indexes a provider id and hands over what lies under it.
    pub(super) fn index(
        &mut self,
        channel: ChannelName,
        id: SendId,
        provider: ProviderRef,
        now: Millis,
    ) -> Vec<Bytes> {
        let key = (channel, provider.hash);
        self.provider.insert(key.clone(), (id, provider.part));
        let Some(shelf) = self.shelves.get_mut(&key) else { return Vec::new() };
        shelf.until = now.plus(HANDED_OVER);
        shelf.receipts.clone()
    }
}

#[async_trait]
impl Receipts for Model {
    async fn settle(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        requeue: Option<&Lane>,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        let now = self.now(at);
        let mut state = self.state();
        let (written, signal) = state.write(&commit)?;
        match written {
            Committed::Done => {}
            Committed::Conflict(value) => return Ok(Noted::Conflict(value)),
            Committed::Gone | Committed::Lost | Committed::Wait(_) => return Ok(Noted::Gone),
        }
        let queue = QueueName::out(&commit.channel);
        let item = commit.id.as_str().to_owned();
        let shelved = match provider {
            Some(provider) => state.index(commit.channel, commit.id, provider, now),
            None => Vec::new(),
        };
        let pushed =
            requeue.and_then(|lane| state.push_item(&queue, &lane.0, item.into(), None, now).1);
        let woken = hook.and_then(|hold| state.drop_head(hold, now));
        drop(state);
        self.signal(signal);
        self.signal(pushed);
        self.signal(woken);
        Ok(Noted::Done { shelved })
    }

    async fn shelve(
        &self,
        channel: &ChannelName,
        hash: &str,
        receipt: Bytes,
        keep: Duration,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Shelved> {
        let now = self.now(at);
        let mut state = self.state();
        let key = (channel.clone(), hash.to_owned());
        if let Some((id, part)) = state.provider.get(&key) {
            return Ok(Shelved::Found(id.clone(), *part));
        }
        let shelf = state
            .shelves
            .entry(key)
            .or_insert_with(|| Shelf { until: now.plus(keep), receipts: Vec::new() });
        if shelf.receipts.len() >= SHELF_MAX {
            return Ok(Shelved::Full);
        }
        shelf.receipts.push(receipt);
        let woken = hook.and_then(|hold| state.drop_head(hold, now));
        drop(state);
        self.signal(woken);
        Ok(Shelved::Kept)
    }

    async fn clear_shelf(&self, channel: &ChannelName, hash: &str) -> StoreResult<()> {
        self.state().shelves.remove(&(channel.clone(), hash.to_owned()));
        Ok(())
    }

    async fn lapse_shelves(&self, limit: usize, at: At) -> StoreResult<Vec<Lapsed>> {
        let now = self.now(at);
        let mut state = self.state();
        let mut due: Vec<_> = state
            .shelves
            .iter()
            .filter(|(_, shelf)| shelf.until <= now)
            .map(|(key, shelf)| (shelf.until, key.clone()))
            .collect();
        due.sort();
        let mut lapsed = Vec::new();
        for (_, key) in due.into_iter().take(limit) {
            let found = state.provider.get(&key).cloned();
            let receipts = match (&found, state.shelves.get_mut(&key)) {
                (Some(_), Some(shelf)) => {
                    shelf.until = now.plus(HANDED_OVER);
                    shelf.receipts.clone()
                }
                _ => state.shelves.remove(&key).map(|shelf| shelf.receipts).unwrap_or_default(),
            };
            if found.is_none() {
                let rows = receipts.iter().map(|receipt| (now, key.0.clone(), receipt.clone()));
                state.orphans.extend(rows.collect::<Vec<_>>());
            }
            lapsed.push(Lapsed { channel: key.0, hash: key.1, receipts, found });
        }
        state.orphans.retain(|(at, _, _)| now < at.plus(ORPHANS_FOR));
        let over = state.orphans.len().saturating_sub(ORPHANS_MAX as usize);
        state.orphans.drain(..over);
        Ok(lapsed)
    }

    async fn orphans(&self, before: Option<&str>, limit: usize) -> StoreResult<Vec<Orphan>> {
        let state = self.state();
        let end = before.and_then(|before| before.parse().ok()).unwrap_or(usize::MAX);
        let numbered = state.orphans.iter().enumerate().rev();
        Ok(numbered
            .filter(|(number, _)| *number < end)
            .take(limit)
            .map(|(number, (at, channel, receipt))| Orphan {
                place: number.to_string(),
                at: *at,
                channel: channel.clone(),
                receipt: receipt.clone(),
            })
            .collect())
    }
}
