//! What goes when a send's time has passed: the record and everything that leads to it.
use super::super::records::Keep;
use super::super::steps::{Lane, StoreResult};
use super::rows::{
    Fields, SendRow, Standing, channel_prefix, corrupt, identity, joined, recipient_prefix, time,
};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use contract::ChannelName;
use std::ops::Bound;

/// Sends one step drops at most: each has a dozen rows.
const SENDS: usize = 20;

/// Plans until when a send is kept, or that it is kept while it is worked.
pub(super) fn keep(
    step: &mut Step<'_, '_>,
    head: &mut SendRow,
    id: [u8; 16],
    keep: Option<Keep>,
) -> StoreResult<()> {
    let until = keep.map(|keep| keep.until);
    if head.retain != until {
        if let Some(before) = std::mem::replace(&mut head.retain, until) {
            step.remove(TableId::Retain, joined(&[&time(before), &id]));
        }
        if let Some(until) = until {
            step.put(TableId::Retain, joined(&[&time(until), &id]), []);
        }
    }
    let before = match step.get(TableId::ExchangeUntil, &id)? {
        Some(row) => Some(Fields(row.value()).time()?),
        None => None,
    };
    let until = keep.map(|keep| keep.exchanges);
    if before == until {
        return Ok(());
    }
    if let Some(before) = before {
        step.remove(TableId::ExchangeExpiry, joined(&[&time(before), &id]));
        step.remove(TableId::ExchangeUntil, id);
    }
    if let Some(until) = until {
        step.put(TableId::ExchangeExpiry, joined(&[&time(until), &id]), []);
        step.put(TableId::ExchangeUntil, id, time(until));
    }
    Ok(())
}

/// Ids under deadlines that have passed.
fn passed(
    step: &Step<'_, '_>,
    table: TableId,
    limit: usize,
    now: Millis,
) -> StoreResult<Vec<(Vec<u8>, [u8; 16])>> {
    let end = time(Millis(now.0.saturating_add(1)));
    step.range(table, Bound::Unbounded, Bound::Excluded(&end))?
        .take(limit)
        .map(|row| {
            let (key, _) = row?;
            let mut fields = Fields(key.value());
            fields.time()?;
            Ok((key.value().to_vec(), fields.take()?))
        })
        .collect()
}

/// Plans that sends whose time has passed go; gives how many.
pub(super) fn sends(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<u64> {
    let gone = passed(step, TableId::Retain, limit.min(SENDS), now)?;
    for (key, id) in &gone {
        step.remove(TableId::Retain, key.clone());
        drop_send(step, *id)?;
    }
    Ok(gone.len() as u64)
}

/// Plans that exchanges whose time has passed go; gives of how many sends.
pub(super) fn exchanges(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<u64> {
    let gone = passed(step, TableId::ExchangeExpiry, limit.min(SENDS), now)?;
    for (key, id) in &gone {
        step.remove(TableId::ExchangeExpiry, key.clone());
        step.remove(TableId::ExchangeUntil, *id);
        drop_all(step, TableId::Exchange, id)?;
    }
    Ok(gone.len() as u64)
}

fn keys(step: &Step<'_, '_>, table: TableId, prefix: &[u8]) -> StoreResult<Vec<Vec<u8>>> {
    step.beginning(table, prefix)?.map(|row| Ok(row?.0.value().to_vec())).collect()
}

fn drop_all(step: &mut Step<'_, '_>, table: TableId, prefix: &[u8]) -> StoreResult<()> {
    for key in keys(step, table, prefix)? {
        step.remove(table, key);
    }
    Ok(())
}

fn drop_send(step: &mut Step<'_, '_>, id: [u8; 16]) -> StoreResult<()> {
    let head = match step.get(TableId::Send, &id)? {
        Some(row) => SendRow::decode(row.value())?.0,
        None => return Ok(()),
    };
    let refs = step.get(TableId::SendRefs, &id)?.map(|row| row.value().to_vec());
    let refs = refs.ok_or_else(|| corrupt("a send has no references"))?;
    let (channel, lane, owners): (String, String, Vec<String>) =
        rmp_serde::from_slice(&refs).map_err(|error| corrupt(&error.to_string()))?;
    let channel = ChannelName::parse(&channel).ok_or_else(|| corrupt("a send has no channel"))?;
    let made = joined(&[&time(head.created), &id]);
    let by_channel = channel_prefix(&channel);
    step.remove(TableId::ByChannel, joined(&[&by_channel, &made]));
    if let Some(dead) = head.dead {
        step.remove(TableId::Dead, joined(&[&by_channel, &time(dead), &id]));
    }
    if let Some(active) = head.active {
        step.remove(TableId::Active, joined(&[&time(active), &id]));
    }
    unlist(step, TableId::ByRecipient, &recipient_prefix(&channel, &Lane(lane)), &made)?;
    let mut owners: Vec<_> = owners.iter().map(|owner| identity(owner)).collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        unlist(step, TableId::ByOwner, &owner, &made)?;
    }
    for key in keys(step, TableId::ProviderOf, &id)? {
        step.remove(TableId::Provider, &key[id.len()..]);
        step.remove(TableId::ProviderOf, key);
    }
    let until = step.get(TableId::ExchangeUntil, &id)?.map(|row| row.value().to_vec());
    if let Some(row) = until {
        step.remove(TableId::ExchangeExpiry, joined(&[&row, &id]));
        step.remove(TableId::ExchangeUntil, id);
    }
    drop_all(step, TableId::Exchange, &id)?;
    step.remove(TableId::Log, id);
    step.remove(TableId::SendRefs, id);
    step.remove(TableId::Send, id);
    release_body(step, head.notification)
}

/// One entry less of an index that counts its entries.
fn unlist(step: &mut Step<'_, '_>, table: TableId, prefix: &[u8], made: &[u8]) -> StoreResult<()> {
    let key = joined(&[prefix, made]);
    // A bounded index may have dropped it before.
    if !step.has(table, &key)? {
        return Ok(());
    }
    step.remove(table, key);
    let counter = joined(&[&[table as u8], prefix]);
    let count = match step.get(TableId::Counts, &counter)? {
        Some(row) => u32::from_be_bytes(Fields(row.value()).take()?),
        None => 0,
    };
    match count {
        0 | 1 => step.remove(TableId::Counts, counter),
        more => step.put(TableId::Counts, counter, (more - 1).to_be_bytes()),
    }
    Ok(())
}

/// The send no longer holds the body: it goes when no list holds it, else with the last list.
fn release_body(step: &mut Step<'_, '_>, id: [u8; 16]) -> StoreResult<()> {
    let (number, standing, body) = match step.get(TableId::Body, &id)? {
        None => return Ok(()),
        Some(row) => {
            let mut fields = Fields(row.value());
            let number = fields.number()?.to_be_bytes();
            (number, Standing::decode(&mut fields)?, fields.rest().to_vec())
        }
    };
    let free = Standing { send: false, ..standing }.encode();
    let mut listed = step.has(TableId::Ring, &number)?;
    if listed {
        step.put(TableId::Ring, number, joined(&[&id, &free]));
    }
    if let Some(audience) = standing.audience {
        let key = joined(&[&audience, &number]);
        if step.has(TableId::Slice, &key)? {
            listed = true;
            step.put(TableId::Slice, key, joined(&[&id, &free]));
        }
    }
    if listed {
        step.put(TableId::Body, id, joined(&[&number, &free, &body]));
    } else {
        step.remove(TableId::Body, id);
    }
    Ok(())
}
