//! Reading the inbox: the ring and the slices by sequence number, the bodies by id.
use super::super::steps::{At, Entry, Inbox, Scope, StoreResult};
use super::Embedded;
use super::queue::body;
use super::rows::{
    Fields, SendRow, SliceRow, Standing, identity, joined, notification_id, notification_key,
    send_key,
};
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{NotificationId, SendId};
use std::ops::Bound;

#[async_trait]
impl Inbox for Embedded {
    async fn list(
        &self,
        scope: &Scope,
        before: Option<u64>,
        limit: usize,
        at: At,
    ) -> StoreResult<Vec<(u64, NotificationId)>> {
        let look = self.look()?;
        let (table, prefix, floor) = match scope {
            Scope::Shared => (TableId::Ring, Vec::new(), 0),
            Scope::Slice(audience) => {
                let audience = identity(audience);
                match live_slice(&look, &audience, self.now(at))? {
                    Some(row) => (TableId::Slice, audience.to_vec(), row.floor),
                    None => return Ok(Vec::new()),
                }
            }
        };
        let end = before.unwrap_or(u64::MAX);
        if end <= floor {
            return Ok(Vec::new());
        }
        let from = joined(&[&prefix, &floor.to_be_bytes()]);
        let to = joined(&[&prefix, &end.to_be_bytes()]);
        let rows = look.range(table, Bound::Included(&from), Bound::Excluded(&to))?;
        rows.rev()
            .take(limit)
            .map(|row| {
                let (key, value) = row?;
                let number = Fields(&key.value()[prefix.len()..]).number()?;
                Ok((number, notification_id(Fields(value.value()).take()?)))
            })
            .collect()
    }

    async fn bodies(&self, ids: &[NotificationId]) -> StoreResult<Vec<Option<Bytes>>> {
        let look = self.look()?;
        ids.iter()
            .map(|id| {
                let row = look.get(TableId::Body, &notification_key(id))?;
                row.map(|row| body(row.value())).transpose()
            })
            .collect()
    }

    async fn entry(&self, id: &NotificationId, at: At) -> StoreResult<Option<Entry>> {
        let look = self.look()?;
        let Some(row) = look.get(TableId::Body, &notification_key(id))? else { return Ok(None) };
        let mut fields = Fields(row.value());
        let sequence = fields.number()?;
        let standing = Standing::decode(&mut fields)?;
        let number = sequence.to_be_bytes();
        let in_slice = match standing.audience {
            None => false,
            Some(audience) => {
                live_slice(&look, &audience, self.now(at))?.is_some_and(|row| row.floor <= sequence)
                    && look.has(TableId::Slice, &joined(&[&audience, &number]))?
            }
        };
        Ok(Some(Entry {
            body: Bytes::copy_from_slice(fields.rest()),
            in_ring: look.has(TableId::Ring, &number)?,
            in_slice,
        }))
    }

    async fn send_headers(&self, ids: &[SendId]) -> StoreResult<Vec<Option<String>>> {
        let look = self.look()?;
        ids.iter()
            .map(|id| {
                let row = look.get(TableId::Send, &send_key(id))?;
                row.map(|row| SendRow::header(row.value()).map(str::to_owned)).transpose()
            })
            .collect()
    }
}

/// The slice's row unless its lifetime has passed.
fn live_slice(look: &impl Look, audience: &[u8; 16], now: Millis) -> StoreResult<Option<SliceRow>> {
    let row = look.get(TableId::Audience, audience)?;
    let row = row.map(|row| SliceRow::decode(row.value())).transpose()?;
    Ok(row.filter(|row| row.expires > now))
}
