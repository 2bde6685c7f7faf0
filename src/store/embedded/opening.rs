//! The step that records a notification: everything it is, or nothing.
//!
//! Known id → nothing to do. Kept answer under the key → twin or conflict. Full backlog → refused.
//! Then, with the next sequence number: body, ring and slice with what they evict, the send with
//! its indexes, its item at the end of its lane, the kept state.
use super::super::records::{Bounds, OpenSend, SendIndex};
use super::super::steps::{At, Lane, OpenStep, Opened, Opening, QueueName, StoreResult};
use super::Embedded;
use super::idempotency::{KeptRow, drop_kept, put_kept};
use super::optouts::blocks;
use super::rows::{
    Fields, SendRow, SliceRow, Standing, corrupt, identity, index_prefix, joined, notification_key,
    revision, send_key, time,
};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::ChannelName;
use std::ops::Bound;

/// Entries a push evicts from one list at most, when its bound was lowered.
const TRIM: u64 = 200;
/// Newest sends of one recipient that are listed.
const RECIPIENT_MAX: u32 = 1_000;
/// Newest sends an identity sees.
const OWNER_MAX: u32 = 100_000;

#[async_trait]
impl Opening for Embedded {
    async fn open(&self, step: OpenStep, at: At) -> StoreResult<Opened> {
        self.write(move |work| open(work, &step, at)).await
    }
}

fn open(step: &mut Step<'_, '_>, open: &OpenStep, at: At) -> StoreResult<Opened> {
    let now = step.now(at);
    let id = notification_key(&open.notification);
    if step.has(TableId::Body, &id)? {
        return Ok(Opened::Opened);
    }
    let mut lapsed = None;
    if let Some((hash, kept)) = &open.idempotency
        && let Some(row) = step.get(TableId::Idempotency, hash.as_bytes())?
    {
        let row = KeptRow::decode(row.value())?;
        if row.deadline > now {
            return Ok(if row.fingerprint == kept.fingerprint {
                Opened::Twin(row.state.to_vec().into())
            } else {
                Opened::Conflict
            });
        }
        lapsed = Some(row.deadline);
    }
    if let Some(send) = &open.send
        && blocks(step, &send.channel, &send.lane.0)?
    {
        return Ok(Opened::OptedOut);
    }
    if let Some(send) = &open.send
        && let Some(depth) = full(step, &send.channel, &send.lane, send.bounds())
    {
        return Ok(Opened::BacklogFull { depth });
    }
    push_entry(step, open, id, now)?;
    if let Some(send) = &open.send {
        record_send(step, send, id, now)?;
    }
    if let Some(trace) = &open.trace {
        let send = open.send.as_ref().map(|send| send.id.as_str());
        let ids: Vec<&str> = [open.notification.as_str()].into_iter().chain(send).collect();
        super::traces::note(step, trace, &ids, now)?;
    }
    if let Some((hash, kept)) = &open.idempotency {
        if let Some(deadline) = lapsed {
            drop_kept(step, hash.as_bytes(), deadline);
        }
        put_kept(step, hash, kept, now.plus(open.keep_for));
    }
    Ok(Opened::Opened)
}

/// How much waits in what is full.
pub(super) fn full(
    step: &Step<'_, '_>,
    channel: &ChannelName,
    lane: &Lane,
    bounds: Bounds,
) -> Option<u64> {
    let (_, queue) = step.lanes().named(&QueueName::out(channel))?;
    let lane = queue.lane(&lane.0).map_or(0, |(_, state)| u64::from(state.count));
    if queue.items() >= bounds.backlog_max {
        Some(queue.items())
    } else if lane >= bounds.lane_max {
        Some(lane)
    } else {
        None
    }
}

/// An entry that leaves a list.
struct Evicted {
    sequence: u64,
    id: [u8; 16],
    standing: Standing,
}

/// The body, and its place in the lists.
fn push_entry(
    step: &mut Step<'_, '_>,
    open: &OpenStep,
    id: [u8; 16],
    now: Millis,
) -> StoreResult<()> {
    let bound = u64::from(open.ring.max(1));
    let standing =
        Standing { send: open.send.is_some(), audience: open.audience.as_deref().map(identity) };
    let slice = match standing.audience {
        Some(audience) => push_slice(step, audience, bound, now.plus(open.audience_ttl), now)?,
        None => Vec::new(),
    };
    let over = (step.len(TableId::Ring)? + 1).saturating_sub(bound).min(TRIM);
    let ring = oldest(step, TableId::Ring, &[], over)?;
    drop_bodies(step, &ring, &slice, standing.audience)?;

    let sequence = step.next_sequence().to_be_bytes();
    let place = standing.encode();
    step.put(TableId::Body, id, joined(&[&sequence, &place, &open.body]));
    step.put(TableId::Ring, sequence, joined(&[&id, &place]));
    if let Some(audience) = standing.audience {
        step.put(TableId::Slice, joined(&[&audience, &sequence]), joined(&[&id, &place]));
    }
    Ok(())
}

/// Re-arms a slice for one more entry; gives those it evicts.
fn push_slice(
    step: &mut Step<'_, '_>,
    audience: [u8; 16],
    bound: u64,
    expires: Millis,
    now: Millis,
) -> StoreResult<Vec<Evicted>> {
    let before = match step.get(TableId::Audience, &audience)? {
        Some(row) => Some(SliceRow::decode(row.value())?),
        None => None,
    };
    let mut row = before.unwrap_or(SliceRow { expires, floor: 0, count: 0 });
    if row.expires <= now {
        // A new life: what the old one held stays below the floor until it is trimmed.
        row.floor = step.sequence() + 1;
    }
    let dead = if row.floor == 0 { 0 } else { dead_entries(step, audience, row.floor)? };
    let over = (u64::from(row.count) + 1).saturating_sub(bound).max(dead).min(TRIM);
    let out = oldest(step, TableId::Slice, &audience, over)?;
    if let Some(before) = before {
        step.remove(TableId::AudienceExpiry, joined(&[&time(before.expires), &audience]));
    }
    let left = u64::from(row.count).saturating_sub(out.len() as u64) + 1;
    row.count = u32::try_from(left).unwrap_or(u32::MAX);
    row.expires = expires;
    if (out.len() as u64) < TRIM {
        row.floor = 0;
    }
    step.put(TableId::Audience, audience, row.encode());
    step.put(TableId::AudienceExpiry, joined(&[&time(expires), &audience]), []);
    Ok(out)
}

/// Entries of a slice's earlier life, counted up to what one push may trim.
fn dead_entries(step: &Step<'_, '_>, audience: [u8; 16], floor: u64) -> StoreResult<u64> {
    let end = joined(&[&audience, &floor.to_be_bytes()]);
    let rows = step.range(TableId::Slice, Bound::Included(&audience), Bound::Excluded(&end))?;
    let mut count = 0;
    for row in rows.take(usize::try_from(TRIM).unwrap_or(usize::MAX)) {
        row?;
        count += 1;
    }
    Ok(count)
}

/// Takes the oldest entries off a list; `prefix` stands in front of their numbers.
fn oldest(
    step: &mut Step<'_, '_>,
    table: TableId,
    prefix: &[u8],
    count: u64,
) -> StoreResult<Vec<Evicted>> {
    let mut out = Vec::new();
    if count == 0 {
        return Ok(out);
    }
    for row in step.beginning(table, prefix)? {
        let (key, value) = row?;
        let mut number = Fields(&key.value()[prefix.len()..]);
        let mut fields = Fields(value.value());
        out.push(Evicted {
            sequence: number.number()?,
            id: fields.take()?,
            standing: Standing::decode(&mut fields)?,
        });
        if out.len() as u64 == count {
            break;
        }
    }
    for entry in &out {
        step.remove(table, joined(&[prefix, &entry.sequence.to_be_bytes()]));
    }
    Ok(out)
}

/// Drops the bodies of evicted entries that no list and no send holds any more. What leaves the
/// ring and what leaves the slice of `audience` in this step are both the oldest of their list.
fn drop_bodies(
    step: &mut Step<'_, '_>,
    ring: &[Evicted],
    slice: &[Evicted],
    audience: Option<[u8; 16]>,
) -> StoreResult<()> {
    let ring_cut = ring.last().map_or(0, |entry| entry.sequence);
    let slice_cut = slice.last().map_or(0, |entry| entry.sequence);
    for entry in ring {
        let in_slice = match entry.standing.audience {
            None => false,
            Some(whose) if Some(whose) == audience && entry.sequence <= slice_cut => false,
            Some(whose) => {
                let key = joined(&[&whose, &entry.sequence.to_be_bytes()]);
                step.has(TableId::Slice, &key)?
            }
        };
        if !in_slice && !entry.standing.send {
            step.remove(TableId::Body, entry.id);
        }
    }
    for entry in slice {
        let in_ring =
            entry.sequence > ring_cut && step.has(TableId::Ring, &entry.sequence.to_be_bytes())?;
        if !in_ring && !entry.standing.send {
            step.remove(TableId::Body, entry.id);
        }
    }
    Ok(())
}

/// The send's record, its indexes, its item.
fn record_send(
    step: &mut Step<'_, '_>,
    send: &OpenSend,
    notification: [u8; 16],
    now: Millis,
) -> StoreResult<()> {
    if revision(&send.record)? != 1 {
        return Err(corrupt("a new record's revision is not 1"));
    }
    let id = send_key(&send.id);
    let row = SendRow {
        notification,
        created: send.created_at,
        active: Some(send.expires_at),
        dead: None,
        retain: None,
    };
    step.put(TableId::Send, id, row.encode(&send.record));
    let refs = (send.channel.as_str(), &send.lane.0, &send.owners);
    let refs = rmp_serde::to_vec(&refs).map_err(|error| corrupt(&error.to_string()))?;
    step.put(TableId::SendRefs, id, refs);
    step.put(TableId::Active, joined(&[&time(send.expires_at), &id]), []);

    let made = joined(&[&time(send.created_at), &id]);
    let channel = index_prefix(&SendIndex::Channel(send.channel.clone()));
    step.put(TableId::ByChannel, joined(&[&channel, &made]), []);
    let recipient = SendIndex::Recipient(send.channel.clone(), send.lane.clone());
    let recipient = index_prefix(&recipient);
    index(step, TableId::ByRecipient, &recipient, &made, RECIPIENT_MAX)?;
    let mut owners: Vec<_> = send.owners.iter().map(|owner| identity(owner)).collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        index(step, TableId::ByOwner, &owner, &made, OWNER_MAX)?;
    }
    let queue = QueueName::out(&send.channel);
    step.push_item(&queue, &send.lane.0, send.id.as_str().as_bytes(), None, now)?;
    Ok(())
}

/// One more entry of an index that lists at most `max`, the newest.
fn index(
    step: &mut Step<'_, '_>,
    table: TableId,
    prefix: &[u8],
    made: &[u8],
    max: u32,
) -> StoreResult<()> {
    let counter = joined(&[&[table as u8], prefix]);
    let count = match step.get(TableId::Counts, &counter)? {
        Some(row) => u32::from_be_bytes(Fields(row.value()).take()?),
        None => 0,
    };
    let mut left = count.saturating_add(1);
    if left > max {
        let oldest: Vec<Vec<u8>> = step
            .beginning(table, prefix)?
            .take((left - max).min(200) as usize)
            .map(|row| Ok(row?.0.value().to_vec()))
            .collect::<StoreResult<_>>()?;
        left = left.saturating_sub(u32::try_from(oldest.len()).unwrap_or(u32::MAX));
        for key in oldest {
            step.remove(table, key);
        }
    }
    step.put(table, joined(&[prefix, made]), []);
    step.put(TableId::Counts, counter, left.to_be_bytes());
    Ok(())
}
