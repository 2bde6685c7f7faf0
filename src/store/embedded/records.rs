//! The steps on send records: compare the revision, write, move the indexes, and what goes along
//! with the lane. A hold is looked at before the record, the record before anything is planned.
use super::super::pace::Pacing;
use super::super::records::{
    Active, Bounds, Commit, Committed, Dead, Noted, ProviderRef, Records, Requeued, SendIndex,
};
use super::super::steps::{At, Hold, Lane, QueueName, Signal, StoreResult};
use super::Embedded;
use super::gates::admit;
use super::lanes::LaneState;
use super::opening::full;
use super::optouts::change;
use super::receipts::index;
use super::retention::keep;
use super::rows::{
    Fields, SendRow, channel_prefix, corrupt, index_prefix, joined, revision, send_id, send_key,
    time, watched,
};
use super::step::Step;
use super::tables::{Look, TableId, after};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use std::ops::Bound;

/// Bytes of exchanges kept for one send, the newest.
const EXCHANGES_MAX: usize = 256 * 1024;

#[async_trait]
impl Records for Embedded {
    async fn record(&self, id: &SendId) -> StoreResult<Option<Bytes>> {
        let look = self.look()?;
        look.get(TableId::Send, &send_key(id))?.map(|row| SendRow::record(row.value())).transpose()
    }

    async fn commit(&self, commit: Commit, _at: At) -> StoreResult<Committed> {
        self.write(move |step| write(step, &commit)).await
    }

    async fn begin(
        &self,
        commit: Commit,
        hold: &Hold,
        pacing: Option<Pacing>,
        at: At,
    ) -> StoreResult<Committed> {
        let hold = hold.clone();
        self.write(move |step| {
            let Some((queue, lane, state)) = step.lanes().held(&hold) else {
                return Ok(Committed::Lost);
            };
            let now = step.now(at);
            let channel = commit.channel.as_str();
            let admitted = pacing.map(|p| admit(step.paces(), channel, &hold.lane.0, p, now));
            if let Some(Err(wait)) = admitted {
                return Ok(Committed::Wait(wait));
            }
            let written = write(step, &commit)?;
            if let (Some(Ok(paces)), Committed::Done) = (admitted, &written) {
                for (key, rate, idle) in paces.into_iter().filter(|(_, rate, _)| rate.interval > 0)
                {
                    step.set_pace(key, (idle, rate.next(idle)), now);
                }
            }
            if written == Committed::Done && !state.begun {
                step.set_lane(queue, &lane, Some(LaneState { begun: true, ..state }));
            }
            Ok(written)
        })
        .await
    }

    async fn note_part(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        let last = last.cloned();
        self.write(move |step| {
            match write(step, &commit)? {
                Committed::Done => {}
                Committed::Conflict(value) => return Ok(Noted::Conflict(value)),
                Committed::Gone | Committed::Lost | Committed::Wait(_) => return Ok(Noted::Gone),
            }
            let now = step.now(at);
            let shelved = match &provider {
                Some(provider) => index(step, &commit, provider, now)?,
                None => Vec::new(),
            };
            if let Some(hold) = last
                && let Some(held) = step.lanes().held(&hold)
            {
                step.drop_head(&hold, held, now)?;
            }
            Ok(Noted::Done { shelved })
        })
        .await
    }

    async fn finish(&self, commit: Commit, hold: &Hold, at: At) -> StoreResult<Committed> {
        let hold = hold.clone();
        self.write(move |step| {
            let Some(held) = step.lanes().held(&hold) else { return Ok(Committed::Lost) };
            let written = write(step, &commit)?;
            if written == Committed::Done {
                let now = step.now(at);
                step.drop_head(&hold, held, now)?;
            }
            Ok(written)
        })
        .await
    }

    async fn defer(
        &self,
        commit: Commit,
        hold: &Hold,
        until: Millis,
        at: At,
    ) -> StoreResult<Committed> {
        let hold = hold.clone();
        self.write(move |step| {
            let Some(held) = step.lanes().held(&hold) else { return Ok(Committed::Lost) };
            let written = write(step, &commit)?;
            if written == Committed::Done {
                let now = step.now(at);
                step.give_back(&hold, held, until, now);
            }
            Ok(written)
        })
        .await
    }

    async fn cancel(&self, commit: Commit, lane: &Lane, at: At) -> StoreResult<Committed> {
        let lane = lane.clone();
        self.write(move |step| {
            let now = step.now(at);
            let queue = QueueName::out(&commit.channel);
            let place = step.place_of(&queue, &lane.0, commit.id.as_str().as_bytes())?;
            if place.as_ref().is_some_and(|place| place.is_worked) {
                return Ok(Committed::Lost);
            }
            let written = write(step, &commit)?;
            if let (Committed::Done, Some(place)) = (&written, place) {
                step.take_out(&queue, place, now);
            }
            Ok(written)
        })
        .await
    }

    async fn requeue(
        &self,
        commit: Commit,
        lane: &Lane,
        bounds: Bounds,
        at: At,
    ) -> StoreResult<Requeued> {
        let lane = lane.clone();
        self.write(move |step| {
            let now = step.now(at);
            if let Some(depth) = full(step, &commit.channel, &lane, bounds) {
                return Ok(Requeued::BacklogFull { depth });
            }
            let written = write(step, &commit)?;
            if written == Committed::Done {
                let (queue, item) = (QueueName::out(&commit.channel), commit.id.as_str());
                step.push_item(&queue, &lane.0, item.as_bytes(), None, now)?;
            }
            Ok(Requeued::Written(written))
        })
        .await
    }

    async fn sends(
        &self,
        index: &SendIndex,
        before: Option<(Millis, SendId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, SendId)>> {
        let look = self.look()?;
        let table = match index {
            SendIndex::Channel(_) => TableId::ByChannel,
            SendIndex::Recipient(..) => TableId::ByRecipient,
            SendIndex::Owner(_) => TableId::ByOwner,
            SendIndex::Dead(_) => TableId::Dead,
        };
        let prefix = index_prefix(index);
        let end = match before {
            Some((at, id)) => Some(joined(&[&prefix, &time(at), &send_key(&id)])),
            None => after(&prefix),
        };
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        // A place before all of them leaves an empty range.
        if matches!(end, Bound::Excluded(end) if end <= &prefix[..]) {
            return Ok(Vec::new());
        }
        let rows = look.range(table, Bound::Included(&prefix), end)?;
        rows.rev()
            .take(limit)
            .map(|row| {
                let (key, _) = row?;
                let mut fields = Fields(&key.value()[prefix.len()..]);
                Ok((fields.time()?, send_id(fields.take()?)))
            })
            .collect()
    }

    async fn by_provider(
        &self,
        channel: &ChannelName,
        hash: &str,
    ) -> StoreResult<Option<(SendId, u16)>> {
        let look = self.look()?;
        let Some(row) = look.get(TableId::Provider, &provider_key(channel, hash))? else {
            return Ok(None);
        };
        let mut fields = Fields(row.value());
        Ok(Some((send_id(fields.take()?), u16::from_be_bytes(fields.take()?))))
    }

    async fn log(&self, id: &SendId) -> StoreResult<Bytes> {
        let look = self.look()?;
        let log = look.get(TableId::Log, &send_key(id))?;
        Ok(log.map(|log| Bytes::copy_from_slice(log.value())).unwrap_or_default())
    }

    async fn exchanges(&self, id: &SendId) -> StoreResult<Vec<Bytes>> {
        let look = self.look()?;
        let rows = look.beginning(TableId::Exchange, &send_key(id))?;
        rows.map(|row| Ok(Bytes::copy_from_slice(row?.1.value()))).collect()
    }
}

pub(super) fn provider_key(channel: &ChannelName, hash: &str) -> Vec<u8> {
    joined(&[&channel_prefix(channel), hash.as_bytes()])
}

/// Compares the revision and plans the write with its indexes, log and exchange.
pub(super) fn write(step: &mut Step<'_, '_>, commit: &Commit) -> StoreResult<Committed> {
    let id = send_key(&commit.id);
    let mut head = match step.get(TableId::Send, &id)? {
        None => return Ok(Committed::Gone),
        Some(row) => {
            let (head, record) = SendRow::decode(row.value())?;
            if revision(record)? != commit.rev {
                return Ok(Committed::Conflict(Bytes::copy_from_slice(record)));
            }
            head
        }
    };
    if revision(&commit.value)? != commit.rev + 1 {
        return Err(corrupt("a record's next revision does not follow"));
    }
    move_active(step, commit, &mut head, id);
    match commit.active {
        Active::Keep | Active::Remove => {}
        Active::Until(_) => keep(step, &mut head, id, None)?,
        Active::Final(until) => keep(step, &mut head, id, Some(until))?,
    }
    move_dead(step, commit, &mut head, id);
    step.put(TableId::Send, id, head.encode(&commit.value));
    if let Some(lines) = &commit.log {
        let log = match step.get(TableId::Log, &id)? {
            Some(log) => joined(&[log.value(), lines]),
            None => lines.to_vec(),
        };
        step.put(TableId::Log, id, log);
    }
    change(step, &commit.channel, &commit.opt)?;
    if let Some(exchange) = &commit.exchange {
        add_exchange(step, id, exchange)?;
    }
    if watched(&commit.value) {
        step.signal(Signal::Send(commit.id.clone()));
    }
    Ok(Committed::Done)
}

fn move_active(step: &mut Step<'_, '_>, commit: &Commit, head: &mut SendRow, id: [u8; 16]) {
    let next = match commit.active {
        Active::Keep => return,
        Active::Until(at) => Some(at),
        Active::Remove | Active::Final(_) => None,
    };
    if next == head.active {
        return;
    }
    if let Some(before) = head.active {
        step.remove(TableId::Active, joined(&[&time(before), &id]));
    }
    if let Some(at) = next {
        step.put(TableId::Active, joined(&[&time(at), &id]), []);
    }
    head.active = next;
}

fn move_dead(step: &mut Step<'_, '_>, commit: &Commit, head: &mut SendRow, id: [u8; 16]) {
    let next = match commit.dead {
        Dead::Keep => return,
        Dead::Since(at) => Some(at),
        Dead::Remove => None,
    };
    if next == head.dead {
        return;
    }
    let channel = channel_prefix(&commit.channel);
    if let Some(before) = head.dead {
        step.remove(TableId::Dead, joined(&[&channel, &time(before), &id]));
    }
    if let Some(at) = next {
        step.put(TableId::Dead, joined(&[&channel, &time(at), &id]), []);
    }
    head.dead = next;
}

/// One more exchange; the oldest go until all fit, the newest always stays.
fn add_exchange(step: &mut Step<'_, '_>, id: [u8; 16], exchange: &[u8]) -> StoreResult<()> {
    let mut kept: Vec<(u32, usize)> = Vec::new();
    for row in step.beginning(TableId::Exchange, &id)? {
        let (key, value) = row?;
        let number = u32::from_be_bytes(Fields(&key.value()[id.len()..]).take()?);
        kept.push((number, value.value().len()));
    }
    let next = kept.last().map_or(0, |(number, _)| number + 1);
    let mut total = exchange.len() + kept.iter().map(|(_, size)| size).sum::<usize>();
    for (number, size) in kept {
        if total <= EXCHANGES_MAX {
            break;
        }
        total -= size;
        step.remove(TableId::Exchange, joined(&[&id, &number.to_be_bytes()]));
    }
    step.put(TableId::Exchange, joined(&[&id, &next.to_be_bytes()]), exchange);
    Ok(())
}
