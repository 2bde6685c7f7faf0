//! Sweeps of what has lapsed, overdue sends, signals, health.
use super::super::steps::{At, Signal, StoreResult, Sweep, Upkeep};
use super::Embedded;
use super::idempotency::drop_kept;
use super::rows::{Fields, SliceRow, Standing, corrupt, joined, send_id, time};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::SendId;
use std::ops::Bound;
use tokio::sync::broadcast;

/// Rows one sweep writes at most, whatever was asked.
const ROWS: usize = 200;

#[async_trait]
impl Upkeep for Embedded {
    async fn sweep(&self, what: Sweep, limit: usize, at: At) -> StoreResult<u64> {
        let limit = limit.min(ROWS);
        match what {
            Sweep::Media => self.sweep_media(limit, at).await,
            Sweep::Slices => {
                self.sweep_step(move |step| {
                    let now = step.now(at);
                    slices(step, limit, now)
                })
                .await
            }
            Sweep::Conversations => {
                self.sweep_step(move |step| {
                    let now = step.now(at);
                    super::lapse::sweep(step, limit, now)
                })
                .await
            }
            Sweep::Sends => {
                self.sweep_step(move |step| {
                    let now = step.now(at);
                    super::retention::sends(step, limit, now)
                })
                .await
            }
            Sweep::Exchanges => {
                self.sweep_step(move |step| {
                    let now = step.now(at);
                    super::retention::exchanges(step, limit, now)
                })
                .await
            }
            Sweep::Idempotency => {
                self.sweep_step(move |step| {
                    let now = step.now(at);
                    kept(step, limit, now)
                })
                .await
            }
        }
    }

    async fn overdue(&self, limit: usize, at: At) -> StoreResult<Vec<SendId>> {
        let look = self.look()?;
        let end = passed(self.now(at));
        let rows = look.range(TableId::Active, Bound::Unbounded, Bound::Excluded(&end))?;
        rows.take(limit)
            .map(|row| {
                let (key, _) = row?;
                let mut fields = Fields(key.value());
                fields.time()?;
                Ok(send_id(fields.take()?))
            })
            .collect()
    }

    fn signals(&self) -> broadcast::Receiver<Signal> {
        self.writer.signals()
    }

    async fn ping(&self) -> StoreResult<()> {
        self.write(|step| {
            // After a failed commit only a commit that works shows that the store works.
            if step.ailing {
                step.put(TableId::Meta, b"ping", []);
            }
            Ok(())
        })
        .await
    }
}

/// The key behind all whose time has passed.
fn passed(now: Millis) -> [u8; 8] {
    time(Millis(now.0.saturating_add(1)))
}

/// Plans that lapsed kept answers go.
fn kept(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<u64> {
    let end = passed(now);
    let gone: Vec<(Millis, Vec<u8>)> = step
        .range(TableId::IdempotencyExpiry, Bound::Unbounded, Bound::Excluded(&end))?
        .take(limit)
        .map(|row| {
            let (key, _) = row?;
            let mut fields = Fields(key.value());
            Ok((fields.time()?, fields.rest().to_vec()))
        })
        .collect::<StoreResult<_>>()?;
    for (deadline, hash) in &gone {
        drop_kept(step, hash, *deadline);
    }
    Ok(gone.len() as u64)
}

/// Plans that entries of lapsed slices go, with bodies nothing else holds; a slice's own row is
/// one more, removed with its last entry.
fn slices(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<u64> {
    let end = passed(now);
    let lapsed: Vec<(Vec<u8>, [u8; 16])> = step
        .range(TableId::AudienceExpiry, Bound::Unbounded, Bound::Excluded(&end))?
        .take(limit)
        .map(|row| {
            let (key, _) = row?;
            let mut fields = Fields(key.value());
            fields.time()?;
            Ok((key.value().to_vec(), fields.take()?))
        })
        .collect::<StoreResult<_>>()?;
    let mut left = limit;
    for (expiry_key, audience) in lapsed {
        if left == 0 {
            break;
        }
        let removed = slice_entries(step, audience, left)?;
        left -= removed;
        let row = match step.get(TableId::Audience, &audience)? {
            Some(row) => SliceRow::decode(row.value())?,
            None => return Err(corrupt("a slice has no row")),
        };
        let count = row.count.saturating_sub(u32::try_from(removed).unwrap_or(u32::MAX));
        if count > 0 {
            step.put(TableId::Audience, audience, SliceRow { count, ..row }.encode());
        } else if left > 0 {
            step.remove(TableId::Audience, audience);
            step.remove(TableId::AudienceExpiry, expiry_key);
            left -= 1;
        } else {
            step.put(TableId::Audience, audience, SliceRow { count: 0, ..row }.encode());
        }
    }
    Ok((limit - left) as u64)
}

/// Plans that the oldest entries of a slice go; gives how many.
fn slice_entries(step: &mut Step<'_, '_>, audience: [u8; 16], limit: usize) -> StoreResult<usize> {
    let mut gone: Vec<([u8; 8], [u8; 16], Standing)> = Vec::new();
    for row in step.beginning(TableId::Slice, &audience)?.take(limit) {
        let (key, value) = row?;
        let number = Fields(key.value().get(16..).unwrap_or_default()).take()?;
        let mut fields = Fields(value.value());
        gone.push((number, fields.take()?, Standing::decode(&mut fields)?));
    }
    for (number, id, standing) in &gone {
        step.remove(TableId::Slice, joined(&[&audience, number]));
        if !standing.send && !step.has(TableId::Ring, number)? {
            step.remove(TableId::Body, *id);
        }
    }
    Ok(gone.len())
}
