//! Recording, reading, kept answers.
use super::super::records::{Bounds, OpenSend, SendIndex};
use super::super::steps::{
    At, Entry, Idempotency, Inbox, Kept, Lane, OpenStep, Opened, Opening, QueueName, Scope,
    StoreResult,
};
use super::{BodyModel, Model, SendModel, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, NotificationId, SendId};

/// Entries a push evicts from one list at most.
const TRIM: usize = 200;

#[async_trait]
impl Opening for Model {
    async fn open(&self, step: OpenStep, at: At) -> StoreResult<Opened> {
        let now = self.now(at);
        let mut state = self.state();
        if state.bodies.contains_key(&step.notification) {
            return Ok(Opened::Opened);
        }
        if let Some((hash, new)) = &step.idempotency
            && let Some((deadline, kept)) = state.kept.get(hash)
            && *deadline > now
        {
            return Ok(if kept.fingerprint == new.fingerprint {
                Opened::Twin(kept.state.clone())
            } else {
                Opened::Conflict
            });
        }
        if let Some(send) = &step.send
            && state.blocks(&send.channel, &send.lane)
        {
            return Ok(Opened::OptedOut);
        }
        if let Some(send) = &step.send
            && let Some(depth) = state.full(&send.channel, &send.lane, send.bounds())
        {
            return Ok(Opened::BacklogFull { depth });
        }
        state.push_entry(&step, now);
        if let Some(trace) = &step.trace {
            state.note_trace(trace, step.notification.as_str(), now);
            if let Some(send) = &step.send {
                state.note_trace(trace, send.id.as_str(), now);
            }
        }
        let mut signal = None;
        if let Some(send) = &step.send {
            state.record_send(send, &step.notification);
            let (queue, item) = (QueueName::out(&send.channel), send.id.as_str().to_owned());
            signal = state.push_item(&queue, &send.lane.0, item.into(), None, now).1;
        }
        if let Some((hash, kept)) = step.idempotency {
            state.kept.insert(hash, (now.plus(step.keep_for), kept));
        }
        drop(state);
        self.signal(signal);
        Ok(Opened::Opened)
    }
}

impl State {
    /// How much waits in what is full.
    pub(super) fn full(&self, channel: &ChannelName, lane: &Lane, bounds: Bounds) -> Option<u64> {
        let lanes = self.queues.get(&QueueName::out(channel))?;
        let all: usize = lanes.values().map(|lane| lane.items.len()).sum();
        let lane = lanes.get(&lane.0).map_or(0, |lane| lane.items.len());
        if all as u64 >= bounds.backlog_max {
            Some(all as u64)
        } else {
            Some(lane as u64).filter(|lane| *lane >= bounds.lane_max)
        }
    }

    fn push_entry(&mut self, step: &OpenStep, now: Millis) {
        self.sequence += 1;
        let (sequence, id) = (self.sequence, step.notification.clone());
        let body = BodyModel {
            sequence,
            audience: step.audience.clone(),
            send: step.send.is_some(),
            body: step.body.clone(),
        };
        self.bodies.insert(id.clone(), body);
        let bound = step.ring.max(1) as usize;
        let mut evicted = Vec::new();
        self.ring.insert(sequence, id.clone());
        for _ in 0..self.ring.len().saturating_sub(bound).min(TRIM) {
            evicted.extend(self.ring.pop_first().map(|(_, id)| id));
        }
        if let Some(audience) = &step.audience {
            let slice = self.slices.entry(audience.clone()).or_default();
            if slice.expires <= now {
                evicted.extend(std::mem::take(&mut slice.entries).into_values());
            }
            slice.expires = now.plus(step.audience_ttl);
            slice.entries.insert(sequence, id);
            for _ in 0..slice.entries.len().saturating_sub(bound).min(TRIM) {
                evicted.extend(slice.entries.pop_first().map(|(_, id)| id));
            }
        }
        self.drop_bodies(evicted);
    }

    /// Drops those of these bodies that no list and no send holds.
    pub(super) fn drop_bodies(&mut self, ids: Vec<NotificationId>) {
        for id in ids {
            let Some(body) = self.bodies.get(&id) else { continue };
            let in_ring = self.ring.contains_key(&body.sequence);
            let in_slice =
                self.slices.values().any(|slice| slice.entries.contains_key(&body.sequence));
            if !in_ring && !in_slice && !body.send {
                self.bodies.remove(&id);
            }
        }
    }

    fn record_send(&mut self, send: &OpenSend, notification: &NotificationId) {
        let made = (send.created_at, send.id.clone());
        let recipient = SendIndex::Recipient(send.channel.clone(), send.lane.clone());
        self.add_to(SendIndex::Channel(send.channel.clone()), made.clone(), usize::MAX);
        self.add_to(recipient, made.clone(), 1_000);
        for owner in &send.owners {
            self.add_to(SendIndex::Owner(owner.clone()), made.clone(), 100_000);
        }
        let model = SendModel {
            notification: notification.clone(),
            record: send.record.clone(),
            active: Some(send.expires_at),
            dead: None,
            keep: None,
            log: Vec::new(),
            exchanges: Vec::new(),
        };
        self.sends.insert(send.id.clone(), model);
    }

    /// Lists a send, the newest `max` at most.
    fn add_to(&mut self, index: SendIndex, made: (Millis, SendId), max: usize) {
        let list = self.indexes.entry(index).or_default();
        if list.len() >= max && !list.contains(&made) {
            list.pop_first();
        }
        list.insert(made);
    }
}

#[async_trait]
impl Inbox for Model {
    async fn list(
        &self,
        scope: &Scope,
        before: Option<u64>,
        limit: usize,
        at: At,
    ) -> StoreResult<Vec<(u64, NotificationId)>> {
        let now = self.now(at);
        let state = self.state();
        let list = match scope {
            Scope::Shared => Some(&state.ring),
            Scope::Slice(audience) => state
                .slices
                .get(audience)
                .filter(|slice| slice.expires > now)
                .map(|slice| &slice.entries),
        };
        let newest_first = list.into_iter().flatten().rev();
        Ok(newest_first
            .filter(|(sequence, _)| before.is_none_or(|before| **sequence < before))
            .take(limit)
            .map(|(sequence, id)| (*sequence, id.clone()))
            .collect())
    }

    async fn bodies(&self, ids: &[NotificationId]) -> StoreResult<Vec<Option<Bytes>>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.bodies.get(id).map(|body| body.body.clone())).collect())
    }

    async fn entry(&self, id: &NotificationId, at: At) -> StoreResult<Option<Entry>> {
        let now = self.now(at);
        let state = self.state();
        Ok(state.bodies.get(id).map(|body| {
            let slice = body.audience.as_ref().and_then(|audience| state.slices.get(audience));
            Entry {
                body: body.body.clone(),
                in_ring: state.ring.contains_key(&body.sequence),
                in_slice: slice.is_some_and(|slice| {
                    slice.expires > now && slice.entries.contains_key(&body.sequence)
                }),
            }
        }))
    }

    async fn send_headers(&self, ids: &[SendId]) -> StoreResult<Vec<Option<String>>> {
        let state = self.state();
        let header = |record: &Bytes| {
            String::from_utf8_lossy(record).lines().next().unwrap_or_default().to_owned()
        };
        Ok(ids.iter().map(|id| state.sends.get(id).map(|send| header(&send.record))).collect())
    }
}

#[async_trait]
impl Idempotency for Model {
    async fn kept(&self, hash: &str, at: At) -> StoreResult<Option<Kept>> {
        let now = self.now(at);
        let state = self.state();
        let kept = state.kept.get(hash).filter(|(deadline, _)| *deadline > now);
        Ok(kept.map(|(_, kept)| kept.clone()))
    }

    async fn keep(&self, hash: &str, new: Kept, at: At) -> StoreResult<()> {
        let now = self.now(at);
        let mut state = self.state();
        if let Some((deadline, kept)) = state.kept.get_mut(hash)
            && *deadline > now
            && kept.fingerprint == new.fingerprint
        {
            *kept = new;
        }
        Ok(())
    }
}
