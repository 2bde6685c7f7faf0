//! Receipts: a shelf is one row under its provider id, its deadline another.
use super::super::receipts::{
    HANDED_OVER, Lapsed, ORPHANS_FOR, ORPHANS_MAX, Orphan, Receipts, SHELF_MAX, Shelved,
};
use super::super::records::{Commit, Committed, Noted, ProviderRef};
use super::super::steps::{At, Hold, Lane, QueueName, StoreResult};
use super::Embedded;
use super::records::{provider_key, write};
use super::rows::{Fields, corrupt, joined, send_id, send_key, time};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use std::time::Duration;

/// Rows of unmatched receipts one sweep removes beyond those it adds.
const TRIM: usize = 200;

/// A shelf: its deadline, then the receipts, each behind its length.
struct ShelfRow {
    until: Millis,
    receipts: Vec<Bytes>,
}

impl ShelfRow {
    fn encode(&self) -> Vec<u8> {
        let mut row = time(self.until).to_vec();
        for receipt in &self.receipts {
            row.extend(u32::try_from(receipt.len()).unwrap_or(u32::MAX).to_be_bytes());
            row.extend_from_slice(receipt);
        }
        row
    }

    fn decode(row: &[u8]) -> StoreResult<Self> {
        let mut fields = Fields(row);
        let until = fields.time()?;
        let mut receipts = Vec::new();
        while !fields.0.is_empty() {
            let size = u32::from_be_bytes(fields.take()?) as usize;
            let (receipt, rest) =
                fields.0.split_at_checked(size).ok_or_else(|| corrupt("a shelf is cut"))?;
            receipts.push(Bytes::copy_from_slice(receipt));
            fields.0 = rest;
        }
        Ok(Self { until, receipts })
    }

    fn read(step: &Step<'_, '_>, key: &[u8]) -> StoreResult<Option<Self>> {
        step.get(TableId::Shelf, key)?.map(|row| Self::decode(row.value())).transpose()
    }

    /// Plans it with another deadline than the one it had.
    fn put(&self, step: &mut Step<'_, '_>, key: &[u8], before: Option<Millis>) {
        if let Some(before) = before {
            step.remove(TableId::ShelfExpiry, joined(&[&time(before), key]));
        }
        step.put(TableId::ShelfExpiry, joined(&[&time(self.until), key]), []);
        step.put(TableId::Shelf, key, self.encode());
    }
}

/// The part a provider id belongs to.
fn known(step: &Step<'_, '_>, key: &[u8]) -> StoreResult<Option<(SendId, u16)>> {
    let Some(row) = step.get(TableId::Provider, key)? else { return Ok(None) };
    let mut fields = Fields(row.value());
    Ok(Some((send_id(fields.take()?), u16::from_be_bytes(fields.take()?))))
}

/// Plans the index of a provider id; hands over what lies under it.
pub(super) fn index(
    step: &mut Step<'_, '_>,
    commit: &Commit,
    provider: &ProviderRef,
    now: Millis,
) -> StoreResult<Vec<Bytes>> {
    let key = provider_key(&commit.channel, &provider.hash);
    let value = joined(&[&send_key(&commit.id), &provider.part.to_be_bytes()]);
    step.put(TableId::Provider, key.clone(), value);
    step.put(TableId::ProviderOf, joined(&[&send_key(&commit.id), &key]), []);
    let Some(mut shelf) = ShelfRow::read(step, &key)? else { return Ok(Vec::new()) };
    let before = std::mem::replace(&mut shelf.until, now.plus(HANDED_OVER));
    shelf.put(step, &key, Some(before));
    Ok(shelf.receipts)
}

#[derive(Serialize, Deserialize)]
struct OrphanRow {
    at: Millis,
    channel: ChannelName,
    receipt: Vec<u8>,
}

#[async_trait]
impl Receipts for Embedded {
    async fn settle(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        requeue: Option<&Lane>,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        let (requeue, hook) = (requeue.cloned(), hook.cloned());
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
            if let Some(lane) = requeue {
                let queue = QueueName::out(&commit.channel);
                step.push_item(&queue, &lane.0, commit.id.as_str().as_bytes(), None, now)?;
            }
            acknowledge(step, hook.as_ref(), now)?;
            Ok(Noted::Done { shelved })
        })
        .await
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
        let (key, hook) = (provider_key(channel, hash), hook.cloned());
        self.write(move |step| {
            if let Some((id, part)) = known(step, &key)? {
                return Ok(Shelved::Found(id, part));
            }
            let now = step.now(at);
            let before = ShelfRow::read(step, &key)?;
            let deadline = before.as_ref().map(|shelf| shelf.until);
            let mut shelf =
                before.unwrap_or(ShelfRow { until: now.plus(keep), receipts: Vec::new() });
            if shelf.receipts.len() >= SHELF_MAX {
                return Ok(Shelved::Full);
            }
            shelf.receipts.push(receipt);
            shelf.put(step, &key, deadline);
            acknowledge(step, hook.as_ref(), now)?;
            Ok(Shelved::Kept)
        })
        .await
    }

    async fn clear_shelf(&self, channel: &ChannelName, hash: &str) -> StoreResult<()> {
        let key = provider_key(channel, hash);
        self.write(move |step| {
            if let Some(shelf) = ShelfRow::read(step, &key)? {
                step.remove(TableId::ShelfExpiry, joined(&[&time(shelf.until), &key]));
                step.remove(TableId::Shelf, key);
            }
            Ok(())
        })
        .await
    }

    async fn lapse_shelves(&self, limit: usize, at: At) -> StoreResult<Vec<Lapsed>> {
        self.sweep_step(move |step| {
            let now = step.now(at);
            let lapsed = lapse(step, limit, now)?;
            let orphans = lapsed.iter().filter(|shelf| shelf.found.is_none());
            let rows: Vec<OrphanRow> = orphans
                .flat_map(|shelf| {
                    shelf.receipts.iter().map(|receipt| OrphanRow {
                        at: now,
                        channel: shelf.channel.clone(),
                        receipt: receipt.to_vec(),
                    })
                })
                .collect();
            keep_orphans(step, rows, now)?;
            Ok(lapsed)
        })
        .await
    }

    async fn orphans(&self, before: Option<&str>, limit: usize) -> StoreResult<Vec<Orphan>> {
        let look = self.look()?;
        let end = before.and_then(|before| before.parse().ok()).unwrap_or(u64::MAX);
        let end = end.to_be_bytes();
        let rows = look.range(TableId::Orphan, Bound::Unbounded, Bound::Excluded(&end))?;
        rows.rev()
            .take(limit)
            .map(|row| {
                let (key, value) = row?;
                let row = orphan(value.value())?;
                Ok(Orphan {
                    place: Fields(key.value()).number()?.to_string(),
                    at: row.at,
                    channel: row.channel,
                    receipt: row.receipt.into(),
                })
            })
            .collect()
    }
}

fn orphan(row: &[u8]) -> StoreResult<OrphanRow> {
    rmp_serde::from_slice(row).map_err(|error| corrupt(&error.to_string()))
}

fn acknowledge(step: &mut Step<'_, '_>, hook: Option<&Hold>, now: Millis) -> StoreResult<()> {
    match hook.and_then(|hold| Some((hold, step.lanes().held(hold)?))) {
        Some((hold, held)) => step.drop_head(hold, held, now),
        None => Ok(()),
    }
}

/// Plans what becomes of shelves whose time has passed.
fn lapse(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<Vec<Lapsed>> {
    let end = time(Millis(now.0.saturating_add(1)));
    let due: Vec<Vec<u8>> = step
        .range(TableId::ShelfExpiry, Bound::Unbounded, Bound::Excluded(&end))?
        .take(limit)
        .map(|row| Ok(row?.0.value()[8..].to_vec()))
        .collect::<StoreResult<_>>()?;
    let mut lapsed = Vec::new();
    for key in due {
        let split = key.iter().position(|byte| *byte == 0);
        let name = split.and_then(|at| std::str::from_utf8(&key[..at]).ok());
        let channel = name.and_then(ChannelName::parse);
        let (Some(split), Some(channel)) = (split, channel) else {
            return Err(corrupt("a shelf has no channel"));
        };
        let hash = String::from_utf8_lossy(&key[split + 1..]).into_owned();
        let Some(mut shelf) = ShelfRow::read(step, &key)? else { continue };
        let found = known(step, &key)?;
        let before = std::mem::replace(&mut shelf.until, now.plus(HANDED_OVER));
        if found.is_some() {
            shelf.put(step, &key, Some(before));
        } else {
            step.remove(TableId::ShelfExpiry, joined(&[&time(before), &key]));
            step.remove(TableId::Shelf, key);
        }
        lapsed.push(Lapsed { channel, hash, receipts: shelf.receipts, found });
    }
    Ok(lapsed)
}

/// Plans rows of unmatched receipts; those too old or too many go.
fn keep_orphans(step: &mut Step<'_, '_>, rows: Vec<OrphanRow>, now: Millis) -> StoreResult<()> {
    let mut number =
        match step.range(TableId::Orphan, Bound::Unbounded, Bound::Unbounded)?.next_back() {
            Some(row) => Fields(row?.0.value()).number()?,
            None => 0,
        };
    let over = (step.len(TableId::Orphan)? + rows.len() as u64).saturating_sub(ORPHANS_MAX);
    let mut gone = Vec::new();
    for row in step.range(TableId::Orphan, Bound::Unbounded, Bound::Unbounded)? {
        let (key, value) = row?;
        let old = now >= orphan(value.value())?.at.plus(ORPHANS_FOR);
        if gone.len() >= TRIM || (!old && gone.len() as u64 >= over) {
            break;
        }
        gone.push(key.value().to_vec());
    }
    for key in gone {
        step.remove(TableId::Orphan, key);
    }
    for row in rows {
        number += 1;
        let row = rmp_serde::to_vec(&row).map_err(|error| corrupt(&error.to_string()))?;
        step.put(TableId::Orphan, number.to_be_bytes(), row);
    }
    Ok(())
}
