//! Send records.
use super::super::pace::Pacing;
use super::super::records::{
    Active, Bounds, Commit, Committed, Dead, Noted, ProviderRef, Records, Requeued, SendIndex,
};
use super::super::steps::{At, Hold, Lane, QueueName, Signal, StoreError, StoreResult};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};

/// Bytes of exchanges kept for one send, the newest.
const EXCHANGES_MAX: usize = 256 * 1024;

fn header(record: &[u8]) -> String {
    String::from_utf8_lossy(record).lines().next().unwrap_or_default().to_owned()
}

fn revision(record: &[u8]) -> StoreResult<u64> {
    header(record)
        .split(' ')
        .next()
        .and_then(|rev| rev.parse().ok())
        .ok_or_else(|| StoreError::Corrupt("a send's header has no revision".into()))
}

impl State {
    pub(super) fn write(&mut self, commit: &Commit) -> StoreResult<(Committed, Option<Signal>)> {
        let Some(send) = self.sends.get_mut(&commit.id) else {
            return Ok((Committed::Gone, None));
        };
        if revision(&send.record)? != commit.rev {
            return Ok((Committed::Conflict(send.record.clone()), None));
        }
        if revision(&commit.value)? != commit.rev + 1 {
            return Err(StoreError::Corrupt("a record's next revision does not follow".into()));
        }
        send.record = commit.value.clone();
        match commit.active {
            Active::Keep => {}
            Active::Until(at) => (send.active, send.keep) = (Some(at), None),
            Active::Remove => send.active = None,
            Active::Final(keep) => (send.active, send.keep) = (None, Some(keep)),
        }
        let before = send.dead;
        match commit.dead {
            Dead::Keep => {}
            Dead::Since(at) => send.dead = Some(at),
            Dead::Remove => send.dead = None,
        }
        let after = send.dead;
        send.log.extend_from_slice(commit.log.as_deref().unwrap_or_default());
        if let Some(exchange) = &commit.exchange {
            send.exchanges.push(exchange.clone());
            while send.exchanges.len() > 1
                && send.exchanges.iter().map(Bytes::len).sum::<usize>() > EXCHANGES_MAX
            {
                send.exchanges.remove(0);
            }
        }
        self.opt_change(&commit.channel, &commit.opt);
        let dead = self.indexes.entry(SendIndex::Dead(commit.channel.clone())).or_default();
        if let Some(at) = before {
            dead.remove(&(at, commit.id.clone()));
        }
        if let Some(at) = after {
            dead.insert((at, commit.id.clone()));
        }
        let watched = header(&commit.value).ends_with(" w");
        Ok((Committed::Done, watched.then(|| Signal::Send(commit.id.clone()))))
    }
}

impl State {
    /// Drops sends whose time has passed.
    pub(super) fn drop_sends(&mut self, limit: usize, now: Millis) -> u64 {
        let mut gone: Vec<(Millis, SendId)> = self
            .sends
            .iter()
            .filter_map(|(id, send)| Some((send.keep?.until, id.clone())))
            .filter(|(until, _)| *until <= now)
            .collect();
        gone.sort();
        gone.truncate(limit);
        for (_, id) in &gone {
            for index in self.indexes.values_mut() {
                index.retain(|(_, send)| send != id);
            }
            self.provider.retain(|_, (send, _)| send != id);
            if let Some(send) = self.sends.remove(id) {
                if let Some(body) = self.bodies.get_mut(&send.notification) {
                    body.send = false;
                }
                self.drop_bodies(vec![send.notification]);
            }
        }
        gone.len() as u64
    }

    /// Drops exchanges whose time has passed.
    pub(super) fn drop_exchanges(&mut self, limit: usize, now: Millis) -> u64 {
        let passed = |send: &&mut super::SendModel| {
            send.keep.is_some_and(|keep| keep.exchanges <= now) && !send.exchanges.is_empty()
        };
        let sends = self.sends.values_mut().filter(passed).take(limit);
        sends.map(|send| send.exchanges.clear()).count() as u64
    }
}

#[async_trait]
impl Records for Model {
    async fn record(&self, id: &SendId) -> StoreResult<Option<Bytes>> {
        Ok(self.state().sends.get(id).map(|send| send.record.clone()))
    }

    async fn commit(&self, commit: Commit, _at: At) -> StoreResult<Committed> {
        let (written, signal) = self.state().write(&commit)?;
        self.signal(signal);
        Ok(written)
    }

    async fn begin(
        &self,
        commit: Commit,
        hold: &Hold,
        pacing: Option<Pacing>,
        at: At,
    ) -> StoreResult<Committed> {
        let now = self.now(at);
        let mut state = self.state();
        if state.held(hold).is_none() {
            return Ok(Committed::Lost);
        }
        let admitted = pacing.map(|p| state.admit(commit.channel.as_str(), &hold.lane.0, p, now));
        if let Some(Err(wait)) = admitted {
            return Ok(Committed::Wait(wait));
        }
        let (written, signal) = state.write(&commit)?;
        if let (Some(Ok(moved)), Committed::Done) = (admitted, &written) {
            for (key, rate, idle) in moved {
                state.paces.insert(key, (idle, rate.next(idle)));
            }
        }
        drop(state);
        self.signal(signal);
        Ok(written)
    }

    async fn note_part(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        last: Option<&Hold>,
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
        let shelved = match provider {
            Some(provider) => state.index(commit.channel, commit.id, provider, now),
            None => Vec::new(),
        };
        let woken = last.and_then(|hold| state.drop_head(hold, now));
        drop(state);
        self.signal(signal);
        self.signal(woken);
        Ok(Noted::Done { shelved })
    }

    async fn finish(&self, commit: Commit, hold: &Hold, at: At) -> StoreResult<Committed> {
        let now = self.now(at);
        let mut state = self.state();
        if state.held(hold).is_none() {
            return Ok(Committed::Lost);
        }
        let (written, signal) = state.write(&commit)?;
        let woken = (written == Committed::Done).then(|| state.drop_head(hold, now)).flatten();
        drop(state);
        self.signal(signal);
        self.signal(woken);
        Ok(written)
    }

    async fn defer(
        &self,
        commit: Commit,
        hold: &Hold,
        until: Millis,
        at: At,
    ) -> StoreResult<Committed> {
        let now = self.now(at);
        let mut state = self.state();
        if state.held(hold).is_none() {
            return Ok(Committed::Lost);
        }
        let (written, signal) = state.write(&commit)?;
        let woken =
            (written == Committed::Done).then(|| state.give_back(hold, until, now)).flatten();
        drop(state);
        self.signal(signal);
        self.signal(woken);
        Ok(written)
    }

    async fn cancel(&self, commit: Commit, lane: &Lane, at: At) -> StoreResult<Committed> {
        let now = self.now(at);
        let queue = QueueName::out(&commit.channel);
        let item = commit.id.as_str().as_bytes();
        let mut state = self.state();
        if state.is_worked(&queue, &lane.0, item) {
            return Ok(Committed::Lost);
        }
        let (written, signal) = state.write(&commit)?;
        let woken = (written == Committed::Done)
            .then(|| state.take_out(&queue, &lane.0, item, now))
            .flatten();
        drop(state);
        self.signal(signal);
        self.signal(woken);
        Ok(written)
    }

    async fn requeue(
        &self,
        commit: Commit,
        lane: &Lane,
        bounds: Bounds,
        at: At,
    ) -> StoreResult<Requeued> {
        let now = self.now(at);
        let mut state = self.state();
        if let Some(depth) = state.full(&commit.channel, lane, bounds) {
            return Ok(Requeued::BacklogFull { depth });
        }
        let (written, signal) = state.write(&commit)?;
        let mut woken = None;
        if written == Committed::Done {
            let (queue, item) = (QueueName::out(&commit.channel), commit.id.as_str().to_owned());
            woken = state.push_item(&queue, &lane.0, item.into(), None, now).1;
        }
        drop(state);
        self.signal(signal);
        self.signal(woken);
        Ok(Requeued::Written(written))
    }

    async fn sends(
        &self,
        index: &SendIndex,
        before: Option<(Millis, SendId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, SendId)>> {
        let state = self.state();
        let listed = state.indexes.get(index).into_iter().flatten().rev();
        Ok(listed
            .filter(|made| before.as_ref().is_none_or(|before| *made < before))
            .take(limit)
            .cloned()
            .collect())
    }

    async fn by_provider(
        &self,
        channel: &ChannelName,
        hash: &str,
    ) -> StoreResult<Option<(SendId, u16)>> {
        Ok(self.state().provider.get(&(channel.clone(), hash.to_owned())).cloned())
    }

    async fn log(&self, id: &SendId) -> StoreResult<Bytes> {
        let state = self.state();
        Ok(state.sends.get(id).map(|send| Bytes::from(send.log.clone())).unwrap_or_default())
    }

    async fn exchanges(&self, id: &SendId) -> StoreResult<Vec<Bytes>> {
        Ok(self.state().sends.get(id).map(|send| send.exchanges.clone()).unwrap_or_default())
    }
}
