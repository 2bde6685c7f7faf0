//! What nobody works on: sends that expire while they wait behind another one, media and slices
//! past their lifetime, kept answers past their day. Every task may be repeated.
use super::Outbox;
use crate::sends::ladder;
use crate::sends::log::LogChunk;
use crate::sends::record::{Actor, SendRecord};
use crate::store::{Active, At, Commit, Committed, Dead, OptChange, StoreResult, Sweep};
use contract::{PartStatus, SendId};
use std::sync::Arc;
use std::time::Duration;

/// Between looks for sends that expired.
const EXPIRY: Duration = Duration::from_secs(5);
/// Looks for expired sends between two sweeps: a sweep a minute.
const SWEEP_EVERY: u32 = 12;
/// Sends of one run.
const RUN: u64 = 10_000;
/// Rows of one step.
const ROWS: usize = 200;

/// Runs until the process ends.
pub async fn run(outbox: Arc<Outbox>) {
    let mut round = 0u32;
    loop {
        tokio::time::sleep(EXPIRY).await;
        if let Err(error) = expire_waiting(&outbox).await {
            tracing::warn!(error = %error, "expired sends could not be ended");
        }
        round = round.wrapping_add(1);
        if round.is_multiple_of(SWEEP_EVERY) {
            sweep(&outbox).await;
        }
    }
}

async fn expire_waiting(outbox: &Outbox) -> StoreResult<()> {
    for id in outbox.store.overdue(ROWS, At::Store).await? {
        expire(outbox, &id).await?;
    }
    Ok(())
}

/// Ends one send that waits. Its item stays in the lane; the worker that comes to it finds it
/// final.
async fn expire(outbox: &Outbox, id: &SendId) -> StoreResult<()> {
    let Some((rev, mut record)) = outbox.record(id).await? else { return Ok(()) };
    let now = outbox.now();
    // A part under way is its worker's business.
    let under_way = record.parts.iter().any(|part| part.status == PartStatus::Sending);
    if record.is_final() || under_way || now <= record.expires_at {
        return Ok(());
    }
    ladder::expire(&mut record, Actor::Janitor, now);
    let commit = final_commit(outbox, &mut record, rev);
    if outbox.store.commit(commit, At::Store).await? == Committed::Done {
        outbox.note_end(&record);
    }
    Ok(())
}

/// The write of a record that may have become final: its log goes along then.
pub(super) fn final_commit(outbox: &Outbox, record: &mut SendRecord, rev: u64) -> Commit {
    let ended = record.is_final();
    let log = ended.then(|| {
        LogChunk {
            moves: std::mem::take(&mut record.moves),
            attempts: std::mem::take(&mut record.attempts),
        }
        .encode()
    });
    Commit {
        id: record.id.clone(),
        channel: record.channel.clone(),
        rev,
        value: record.encode(rev + 1),
        log,
        exchange: None,
        active: if ended { outbox.settings.retention.of(record) } else { Active::Keep },
        opt: OptChange::Keep,
        dead: if record.is_dead_letter() { Dead::Since(record.updated_at) } else { Dead::Keep },
    }
}

/// Sends whose time has passed, with what leads to them, and exchanges: a bounded number a run.
async fn sweep_sends(outbox: &Outbox) -> StoreResult<()> {
    for what in [Sweep::Sends, Sweep::Exchanges] {
        let mut rows = 0;
        while rows < RUN {
            match outbox.store.sweep(what, ROWS, At::Store).await? {
                0 => break,
                more => rows += more,
            }
        }
    }
    Ok(())
}

async fn sweep(outbox: &Outbox) {
    if let Err(error) = sweep_sends(outbox).await {
        tracing::warn!(error = %error, "sends past their retention could not be dropped");
    }
    if let Err(error) = outbox.settler.lapse().await {
        tracing::warn!(error = %error, "shelved receipts could not be looked after");
    }
    for what in [Sweep::Media, Sweep::Slices, Sweep::Idempotency, Sweep::Conversations] {
        loop {
            match outbox.store.sweep(what, ROWS, At::Store).await {
                Ok(rows) if rows == ROWS as u64 => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(error = %error, "a sweep failed");
                    break;
                }
            }
        }
    }
}
