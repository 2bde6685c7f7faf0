//! Inbound messages and threads.
use super::super::chat::{Conversations, FrameNoted, InboundStep, Recorded};
use super::super::steps::{At, StoreResult};
use super::Embedded;
use super::lapse;
use super::rows::{Fields, channel_prefix, corrupt, inbound_key, joined, thread_key, time};
use super::step::Step;
use super::tables::{Look, TableId, after};
use super::transcript;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, InboundId, ThreadId};
use std::ops::Bound;

fn address_key(channel: &ChannelName, address: &str) -> Vec<u8> {
    joined(&[&channel_prefix(channel), address.as_bytes()])
}

/// A message's row behind its deadline: reception, thread, channel, value.
struct MessageRow<'a> {
    received: [u8; 8],
    thread: [u8; 16],
    channel: &'a [u8],
    value: &'a [u8],
}

impl<'a> MessageRow<'a> {
    fn decode(row: &'a [u8]) -> StoreResult<(Millis, Self)> {
        let mut fields = Fields(row);
        let until = fields.time()?;
        let (received, thread) = (fields.take()?, fields.take()?);
        let (channel, value) = split(fields.rest())?;
        Ok((until, Self { received, thread, channel, value }))
    }
}

/// A name with the byte that ends it, and what follows.
fn split(rest: &[u8]) -> StoreResult<(&[u8], &[u8])> {
    let end = rest.iter().position(|byte| *byte == 0);
    Ok(rest.split_at(end.ok_or_else(|| corrupt("a name has no end"))? + 1))
}

/// Plans that a message leaves its indexes.
pub(super) fn drop_message(step: &mut Step<'_, '_>, key: &[u8]) -> StoreResult<()> {
    let Some((of, inside)) = (match step.get(TableId::Inbound, key)? {
        None => None,
        Some(row) => {
            let (_, row) = MessageRow::decode(row.value())?;
            let of = joined(&[row.channel, &row.received, key]);
            Some((of, joined(&[&row.thread, &row.received, key])))
        }
    }) else {
        return Ok(());
    };
    step.remove(TableId::InboundOf, of);
    step.remove(TableId::InboundIn, inside);
    Ok(())
}

/// Plans that a thread's address is free again.
pub(super) fn drop_thread(step: &mut Step<'_, '_>, key: &[u8]) -> StoreResult<()> {
    let address = match step.get(TableId::Thread, key)? {
        None => return Ok(()),
        Some(row) => {
            let (channel, rest) = split(row.value().get(8..).unwrap_or_default())?;
            let (address, _) = split(rest)?;
            joined(&[channel, &address[..address.len() - 1]])
        }
    };
    step.remove(TableId::ThreadKey, address);
    Ok(())
}

fn thread_at(
    look: &impl Look,
    channel: &ChannelName,
    address: &str,
    now: Millis,
) -> StoreResult<Option<ThreadId>> {
    let Some(row) = look.get(TableId::ThreadKey, &address_key(channel, address))? else {
        return Ok(None);
    };
    let key: [u8; 16] = row.value().try_into().map_err(|_| corrupt("a thread is none"))?;
    let until = lapse::deadline(look, TableId::Thread, &key)?;
    let known = until.is_some_and(|until| until > now);
    Ok(known.then(|| ThreadId::from_bits(u128::from_be_bytes(key))))
}

/// Why a message is not recorded now.
fn hindrance(
    step: &Step<'_, '_>,
    inbound: &InboundStep,
    now: Millis,
) -> StoreResult<Option<Recorded>> {
    if step.has(TableId::Inbound, &inbound_key(&inbound.id))? {
        return Ok(Some(Recorded::Done));
    }
    if let Some(claim) = &inbound.claim {
        let row = step.get(TableId::Claim, &address_key(&inbound.channel, &claim.hash))?;
        if let Some(row) = row {
            let mut fields = Fields(row.value());
            let until = fields.time()?;
            let id = InboundId::from_bits(u128::from_be_bytes(fields.take()?));
            if until > now {
                let same = fields.rest() == claim.fingerprint.as_bytes();
                return Ok(Some(Recorded::Seen { id, same }));
            }
        }
    }
    let thread = thread_at(step, &inbound.channel, &inbound.address, now)?;
    if let Some(other) = thread.filter(|thread| *thread != inbound.thread) {
        return Ok(Some(Recorded::Thread(other)));
    }
    let Some(frame) = &inbound.frame else { return Ok(None) };
    Ok(match transcript::hindrance(step, frame, now)? {
        None => None,
        Some(FrameNoted::Behind(newest)) => Some(Recorded::Behind(newest)),
        Some(_) => Some(Recorded::NoVisitor),
    })
}

#[async_trait]
impl Conversations for Embedded {
    async fn record_inbound(&self, inbound: InboundStep, at: At) -> StoreResult<Recorded> {
        self.write(move |step| {
            let now = step.now(at);
            if let Some(hindrance) = hindrance(step, &inbound, now)? {
                return Ok(hindrance);
            }
            let (id, thread) = (inbound_key(&inbound.id), thread_key(&inbound.thread));
            let (until, channel) = (now.plus(inbound.keep), channel_prefix(&inbound.channel));
            if let Some(claim) = &inbound.claim {
                let key = address_key(&inbound.channel, &claim.hash);
                let rest = joined(&[&id, claim.fingerprint.as_bytes()]);
                lapse::put(step, TableId::Claim, &key, now.plus(claim.keep), &rest)?;
            }
            let received = time(inbound.received_at);
            let row = joined(&[&received, &thread, &channel, &inbound.value]);
            lapse::put(step, TableId::Inbound, &id, until, &row)?;
            step.put(TableId::InboundOf, joined(&[&channel, &received, &id]), []);
            step.put(TableId::InboundIn, joined(&[&thread, &received, &id]), []);
            let row = [&channel[..], inbound.address.as_bytes(), &[0], &inbound.thread_value];
            lapse::put(step, TableId::Thread, &thread, until, &joined(&row))?;
            step.put(TableId::ThreadKey, address_key(&inbound.channel, &inbound.address), thread);
            if let Some(frame) = &inbound.frame {
                transcript::append(step, frame, now)?;
            }
            Ok(Recorded::Done)
        })
        .await
    }

    async fn thread_of(
        &self,
        channel: &ChannelName,
        address: &str,
        at: At,
    ) -> StoreResult<Option<ThreadId>> {
        thread_at(&self.look()?, channel, address, self.now(at))
    }

    async fn inbound(&self, ids: &[InboundId], at: At) -> StoreResult<Vec<Option<Bytes>>> {
        let (look, now) = (self.look()?, self.now(at));
        let value = |id| {
            let Some(row) = look.get(TableId::Inbound, &inbound_key(id))? else { return Ok(None) };
            let (until, row) = MessageRow::decode(row.value())?;
            Ok((until > now).then(|| Bytes::copy_from_slice(row.value)))
        };
        ids.iter().map(value).collect()
    }

    async fn inbound_of(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        self.listed(TableId::InboundOf, &channel_prefix(channel), before, limit)
    }

    async fn inbound_in(
        &self,
        thread: &ThreadId,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        self.listed(TableId::InboundIn, &thread_key(thread), before, limit)
    }
}

impl Embedded {
    fn listed(
        &self,
        table: TableId,
        prefix: &[u8],
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        let look = self.look()?;
        let end = match before {
            Some((at, id)) => Some(joined(&[prefix, &time(at), &inbound_key(&id)])),
            None => after(prefix),
        };
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        if matches!(end, Bound::Excluded(end) if end <= prefix) {
            return Ok(Vec::new());
        }
        let rows = look.range(table, Bound::Included(prefix), end)?;
        rows.rev()
            .take(limit)
            .map(|row| {
                let (key, _) = row?;
                let mut fields = Fields(&key.value()[prefix.len()..]);
                let at = fields.time()?;
                Ok((at, InboundId::from_bits(u128::from_be_bytes(fields.take()?))))
            })
            .collect()
    }
}
