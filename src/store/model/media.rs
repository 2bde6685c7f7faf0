//! Media, sweeps, signals.
use super::super::steps::{
    At, MEDIA_PIECE, MediaRow, MediaShelf, MediaStored, Signal, StoreResult, Sweep, Upkeep,
};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{MediaId, SendId};
use tokio::sync::broadcast;

impl State {
    fn total(&self) -> u64 {
        self.media.values().map(|(row, _)| row.size).sum()
    }

    fn drop_media(&mut self, limit: usize, now: Millis) -> u64 {
        let mut expired: Vec<(Millis, MediaId)> = self
            .media
            .values()
            .filter(|(row, _)| row.expires <= now)
            .map(|(row, _)| (row.expires, row.id.clone()))
            .collect();
        expired.sort();
        expired.truncate(limit);
        for (_, id) in &expired {
            self.media.remove(id);
        }
        expired.len() as u64
    }

    fn drop_slices(&mut self, limit: usize, now: Millis) -> u64 {
        let mut lapsed: Vec<(Millis, String)> = self
            .slices
            .iter()
            .filter(|(_, slice)| slice.expires <= now)
            .map(|(audience, slice)| (slice.expires, audience.clone()))
            .collect();
        lapsed.sort();
        let (mut removed, mut evicted) = (0, Vec::new());
        for (_, audience) in lapsed {
            let Some(slice) = self.slices.get_mut(&audience) else { continue };
            while removed < limit
                && let Some((_, id)) = slice.entries.pop_first()
            {
                evicted.push(id);
                removed += 1;
            }
            if removed < limit {
                self.slices.remove(&audience);
                removed += 1;
            }
        }
        self.drop_bodies(evicted);
        removed as u64
    }

    fn drop_kept(&mut self, limit: usize, now: Millis) -> u64 {
        let lapsed: Vec<String> = self
            .kept
            .iter()
            .filter(|(_, (deadline, _))| *deadline <= now)
            .map(|(hash, _)| hash.clone())
            .take(limit)
            .collect();
        for hash in &lapsed {
            self.kept.remove(hash);
        }
        lapsed.len() as u64
    }
}

#[async_trait]
impl MediaShelf for Model {
    async fn media_put(
        &self,
        row: MediaRow,
        bytes: Bytes,
        total_max: u64,
        at: At,
    ) -> StoreResult<MediaStored> {
        let now = self.now(at);
        let mut state = self.state();
        if state.media.contains_key(&row.id) {
            return Ok(MediaStored::Stored);
        }
        let size = bytes.len() as u64;
        if state.total() + size > total_max {
            state.drop_media(usize::MAX, now);
        }
        if state.total() + size > total_max {
            return Ok(MediaStored::Full);
        }
        state.media.insert(row.id.clone(), (MediaRow { size, ..row }, bytes));
        Ok(MediaStored::Stored)
    }

    async fn media_row(&self, id: &MediaId, at: At) -> StoreResult<Option<MediaRow>> {
        let now = self.now(at);
        let state = self.state();
        Ok(state.media.get(id).map(|(row, _)| row.clone()).filter(|row| row.expires > now))
    }

    async fn media_read(&self, id: &MediaId, offset: u64, at: At) -> StoreResult<Option<Bytes>> {
        let now = self.now(at);
        let state = self.state();
        Ok(state.media.get(id).filter(|(row, _)| row.expires > now).map(|(row, bytes)| {
            let from = offset.min(row.size);
            let to = (from + MEDIA_PIECE).min(row.size);
            let place = |at| usize::try_from(at).unwrap_or(usize::MAX);
            bytes.slice(place(from)..place(to))
        }))
    }

    async fn media_keep(&self, ids: &[MediaId], until: Millis, at: At) -> StoreResult<()> {
        let now = self.now(at);
        let mut state = self.state();
        for id in ids {
            if let Some((row, _)) = state.media.get_mut(id)
                && row.expires > now
            {
                row.expires = row.expires.max(until);
            }
        }
        Ok(())
    }

    async fn media_bytes(&self) -> StoreResult<u64> {
        Ok(self.state().total())
    }
}

#[async_trait]
impl Upkeep for Model {
    async fn sweep(&self, what: Sweep, limit: usize, at: At) -> StoreResult<u64> {
        let (now, limit) = (self.now(at), limit.min(200));
        let mut state = self.state();
        Ok(match what {
            Sweep::Media => state.drop_media(limit, now),
            Sweep::Slices => state.drop_slices(limit, now),
            Sweep::Sends => state.drop_sends(limit, now),
            Sweep::Exchanges => state.drop_exchanges(limit, now),
            Sweep::Idempotency => state.drop_kept(limit, now),
            Sweep::Conversations => state.chat.sweep(limit, now),
        })
    }

    async fn overdue(&self, limit: usize, at: At) -> StoreResult<Vec<SendId>> {
        let now = self.now(at);
        let state = self.state();
        let mut due: Vec<(Millis, SendId)> = state
            .sends
            .iter()
            .filter_map(|(id, send)| Some((send.active.filter(|at| *at <= now)?, id.clone())))
            .collect();
        due.sort();
        Ok(due.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    fn signals(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    async fn ping(&self) -> StoreResult<()> {
        Ok(())
    }
}
