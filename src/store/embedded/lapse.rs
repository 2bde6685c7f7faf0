//! Deadlines of rows that begin with theirs: one index over several tables, and its sweep.
//!
//! A row's deadline moves by [`put`], which takes the old index row away. The sweep removes what has
//! passed, each kind with what hangs on it; a transcript goes some frames at a time.
use super::super::steps::StoreResult;
use super::conversations::{drop_message, drop_thread};
use super::rows::{Fields, corrupt, joined, time};
use super::step::Step;
use super::tables::{Look, TableId};
use super::transcript::drop_frames;
use crate::clock::Millis;
use std::ops::Bound;

/// Tables whose rows begin with a deadline; the place in this list is written to disk.
const TABLES: &[TableId] = &[
    TableId::Token,
    TableId::Visitor,
    TableId::Transcript,
    TableId::Claim,
    TableId::Inbound,
    TableId::Thread,
    TableId::Trace,
    TableId::Hour,
];

fn index_key(table: TableId, deadline: Millis, key: &[u8]) -> Vec<u8> {
    let place = TABLES.iter().position(|t| *t == table).unwrap_or(usize::MAX);
    joined(&[&time(deadline), &[u8::try_from(place).unwrap_or(u8::MAX)], key])
}

/// The deadline a row begins with.
pub(super) fn deadline(
    look: &impl Look,
    table: TableId,
    key: &[u8],
) -> StoreResult<Option<Millis>> {
    look.get(table, key)?.map(|row| Fields(row.value()).time()).transpose()
}

/// Plans a row with this deadline in front of it.
pub(super) fn put(
    step: &mut Step<'_, '_>,
    table: TableId,
    key: &[u8],
    until: Millis,
    rest: &[u8],
) -> StoreResult<()> {
    let before = deadline(step, table, key)?;
    if let Some(before) = before.filter(|before| *before != until) {
        step.remove(TableId::Lapse, index_key(table, before, key));
    }
    if before != Some(until) {
        step.put(TableId::Lapse, index_key(table, until, key), []);
    }
    step.put(table, key, joined(&[&time(until), rest]));
    Ok(())
}

/// Plans that what has lapsed goes, at most `limit` rows; gives how many.
pub(super) fn sweep(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<u64> {
    let end = time(Millis(now.0.saturating_add(1)));
    let lapsed: Vec<Vec<u8>> = step
        .range(TableId::Lapse, Bound::Unbounded, Bound::Excluded(&end))?
        .take(limit)
        .map(|row| Ok(row?.0.value().to_vec()))
        .collect::<StoreResult<_>>()?;
    let mut left = limit;
    for index in lapsed {
        if left == 0 {
            break;
        }
        let mut fields = Fields(&index);
        fields.time()?;
        let place = usize::from(fields.take::<1>()?[0]);
        let table = *TABLES.get(place).ok_or_else(|| corrupt("a deadline of no table"))?;
        let key = fields.rest().to_vec();
        if table == TableId::Transcript {
            let gone = drop_frames(step, &key, left)?;
            left -= gone;
            if left == 0 {
                break;
            }
        }
        match table {
            TableId::Token => {
                let own: Vec<Vec<u8>> = step
                    .beginning(TableId::TokenVisitor, &key)?
                    .map(|row| Ok(row?.0.value().to_vec()))
                    .collect::<StoreResult<_>>()?;
                for row in own {
                    step.remove(TableId::TokenVisitor, row);
                }
            }
            TableId::Inbound => drop_message(step, &key)?,
            TableId::Thread => drop_thread(step, &key)?,
            _ => {}
        }
        step.remove(table, key);
        step.remove(TableId::Lapse, index);
        left -= 1;
    }
    Ok((limit - left) as u64)
}
