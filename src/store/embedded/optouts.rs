//! Opt-outs: a row for each channel and lane, and one in their order.
use super::super::optouts::{OptChange, OptOuts, OptRow, OptScope};
use super::super::steps::{At, Lane, StoreResult};
use super::Embedded;
use super::rows::{Fields, channel_prefix, corrupt, joined, time};
use super::step::Step;
use super::tables::{Look, TableId, after};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::ChannelName;
use std::ops::Bound;

fn row_key(channel: &ChannelName, lane: &str) -> Vec<u8> {
    joined(&[&channel_prefix(channel), lane.as_bytes()])
}

fn place_key(channel: &ChannelName, since: Millis, lane: &str) -> Vec<u8> {
    joined(&[&channel_prefix(channel), &time(since), lane.as_bytes()])
}

fn read(look: &impl Look, channel: &ChannelName, lane: &str) -> StoreResult<Option<OptRow>> {
    let Some(row) = look.get(TableId::OptOut, &row_key(channel, lane))? else { return Ok(None) };
    let mut fields = Fields(row.value());
    let scope = OptScope::of_letter(fields.take::<1>()?[0]);
    let scope = scope.ok_or_else(|| corrupt("an opt-out has no scope"))?;
    let since = fields.time()?;
    Ok(Some(OptRow { scope, since, value: Bytes::copy_from_slice(fields.rest()) }))
}

/// Whether nothing may be sent to this recipient.
pub(super) fn blocks(look: &impl Look, channel: &ChannelName, lane: &str) -> StoreResult<bool> {
    Ok(read(look, channel, lane)?.is_some_and(|row| row.scope == OptScope::All))
}

fn set(
    step: &mut Step<'_, '_>,
    channel: &ChannelName,
    lane: &str,
    row: &OptRow,
) -> StoreResult<bool> {
    if let Some(known) = read(step, channel, lane)? {
        if known.scope >= row.scope {
            return Ok(false);
        }
        step.remove(TableId::OptPlace, place_key(channel, known.since, lane));
    }
    let letter = [u8::try_from(row.scope.letter()).unwrap_or(b'a')];
    let value = joined(&[&letter, &time(row.since), &row.value]);
    step.put(TableId::OptOut, row_key(channel, lane), value);
    step.put(TableId::OptPlace, place_key(channel, row.since, lane), []);
    Ok(true)
}

fn clear(
    step: &mut Step<'_, '_>,
    channel: &ChannelName,
    lane: &str,
    scopes: &[OptScope],
) -> StoreResult<Option<OptRow>> {
    let known = read(step, channel, lane)?.filter(|row| scopes.contains(&row.scope));
    if let Some(row) = &known {
        step.remove(TableId::OptOut, row_key(channel, lane));
        step.remove(TableId::OptPlace, place_key(channel, row.since, lane));
    }
    Ok(known)
}

/// Plans what a write brings along.
pub(super) fn change(
    step: &mut Step<'_, '_>,
    channel: &ChannelName,
    change: &OptChange,
) -> StoreResult<()> {
    match change {
        OptChange::Keep => {}
        OptChange::Set(lane, row) => _ = set(step, channel, &lane.0, row)?,
        OptChange::Reached(lane) => {
            clear(step, channel, &lane.0, &[OptScope::Unreachable])?;
        }
    }
    Ok(())
}

#[async_trait]
impl OptOuts for Embedded {
    async fn opt_set(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        row: OptRow,
        _at: At,
    ) -> StoreResult<bool> {
        let (channel, lane) = (channel.clone(), lane.clone());
        self.write(move |step| set(step, &channel, &lane.0, &row)).await
    }

    async fn opt_clear(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        scopes: &[OptScope],
        _at: At,
    ) -> StoreResult<Option<OptRow>> {
        let (channel, lane, scopes) = (channel.clone(), lane.clone(), scopes.to_vec());
        self.write(move |step| clear(step, &channel, &lane.0, &scopes)).await
    }

    async fn opt_get(&self, channel: &ChannelName, lane: &Lane) -> StoreResult<Option<OptRow>> {
        read(&self.look()?, channel, &lane.0)
    }

    async fn opt_list(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, Lane)>,
        limit: usize,
    ) -> StoreResult<Vec<(Lane, OptRow)>> {
        let (look, prefix) = (self.look()?, channel_prefix(channel));
        let end = match before {
            Some((since, lane)) => Some(place_key(channel, since, &lane.0)),
            None => after(&prefix),
        };
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut found = Vec::new();
        for place in look.range(TableId::OptPlace, Bound::Included(&prefix), end)?.rev().take(limit)
        {
            let (key, _) = place?;
            let mut fields = Fields(&key.value()[prefix.len()..]);
            fields.time()?;
            let lane = std::str::from_utf8(fields.rest()).map_err(|_| corrupt("a lane's name"))?;
            let row = read(&look, channel, lane)?;
            found.extend(row.map(|row| (Lane(lane.to_owned()), row)));
        }
        Ok(found)
    }
}
