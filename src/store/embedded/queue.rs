//! The queue steps. Claims and extensions move lanes in memory and write nothing, but for a claim
//! that takes over a lease that ran out: the lane's row counts those.
use super::super::pace::Account;
use super::super::steps::{
    At, Claimed, Held, Hold, Lane, Lease, Poison, Queue, QueueDepth, QueueName, StoreResult, Token,
    Whereabouts,
};
use super::Embedded;
use super::gates::{pace_key, parking};
use super::lanes::{LaneState, Place, QueueLanes};
use super::optouts::blocks;
use super::rows::{Fields, SendRow, Standing, corrupt, send_key};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

/// Delayed lanes that one claim makes ready at most.
const DUE: usize = 64;
/// Lanes one claim takes at most.
const TAKEN: usize = 32;
/// Poisoned items kept, the newest.
const POISON_MAX: u64 = 1_000;

#[async_trait]
impl Queue for Embedded {
    async fn push(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: Bytes,
        due: Option<Millis>,
        at: At,
    ) -> StoreResult<u64> {
        let (queue, lane) = (queue.clone(), lane.clone());
        self.write(move |step| {
            let now = step.now(at);
            step.push_item(&queue, &lane.0, &item, due, now)
        })
        .await
    }

    async fn claim(
        &self,
        queue: &QueueName,
        tokens: Vec<Token>,
        lease: Duration,
        account: Option<&Account>,
        at: At,
    ) -> StoreResult<Claimed> {
        let (queue, account) = (queue.clone(), account.cloned());
        let mut tokens = tokens;
        self.write(move |step| {
            let now = step.now(at);
            if let Some(Account { channel, rate }) = account {
                if let Some(parked) = parking(step, &channel)? {
                    let wait_until = Some(parked.until);
                    return Ok(Claimed { wait_until, parked: true, ..Claimed::default() });
                }
                let key = pace_key(channel.as_str(), None);
                let room = rate.room(step.paces().idle_at(&key), now, tokens.len());
                if room == 0 && !tokens.is_empty() {
                    let wait_until = Some(step.paces().next(&key).unwrap_or(now));
                    return Ok(Claimed { wait_until, ..Claimed::default() });
                }
                tokens.truncate(room);
            }
            claim(step, &queue, tokens, now, now.plus(lease))
        })
        .await
    }

    async fn extend(&self, holds: Vec<Hold>, lease: Duration, at: At) -> StoreResult<Vec<Hold>> {
        self.write(move |step| {
            let deadline = step.now(at).plus(lease);
            let mut still = Vec::with_capacity(holds.len());
            for hold in holds {
                let Some((queue, lane, state)) = step.lanes().held(&hold) else { continue };
                let place = Place::Leased { token: hold.token.clone(), deadline };
                step.place_lane(queue, &lane, Some(LaneState { place, ..state }));
                still.push(hold);
            }
            Ok(still)
        })
        .await
    }

    async fn ack(&self, hold: &Hold, at: At) -> StoreResult<Held> {
        let hold = hold.clone();
        self.write(move |step| {
            let Some(held) = step.lanes().held(&hold) else { return Ok(Held::Lost) };
            let now = step.now(at);
            step.drop_head(&hold, held, now)?;
            Ok(Held::Done)
        })
        .await
    }

    async fn defer_lane(&self, hold: &Hold, until: Millis, at: At) -> StoreResult<Held> {
        let hold = hold.clone();
        self.write(move |step| {
            let Some(held) = step.lanes().held(&hold) else { return Ok(Held::Lost) };
            let now = step.now(at);
            step.give_back(&hold, held, until, now);
            Ok(Held::Done)
        })
        .await
    }

    async fn bury(&self, hold: &Hold, reason: &str, at: At) -> StoreResult<Held> {
        let (hold, reason) = (hold.clone(), reason.to_owned());
        self.write(move |step| {
            let Some(held) = step.lanes().held(&hold) else { return Ok(Held::Lost) };
            let now = step.now(at);
            if let Some((_, item)) = step.head(held.0, &held.1)? {
                poison(step, &hold, item, reason, now)?;
            }
            step.drop_head(&hold, held, now)?;
            Ok(Held::Done)
        })
        .await
    }

    async fn whereabouts(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: &[u8],
    ) -> StoreResult<Option<Whereabouts>> {
        let (queue, lane, item) = (queue.clone(), lane.clone(), item.to_vec());
        self.write(move |step| step.whereabouts(&queue, &lane.0, &item)).await
    }

    async fn depth(&self, queue: &QueueName, at: At) -> StoreResult<QueueDepth> {
        let queue = queue.clone();
        self.write(move |step| {
            let now = step.now(at);
            Ok(step.lanes().named(&queue).map(|(_, lanes)| lanes.depth(now)).unwrap_or_default())
        })
        .await
    }

    async fn poison(&self, limit: usize) -> StoreResult<Vec<Poison>> {
        let look = self.look()?;
        let rows = look.range(TableId::Poison, Bound::Unbounded, Bound::Unbounded)?;
        rows.rev()
            .take(limit)
            .map(|row| {
                let (_, value) = row?;
                let row: PoisonRow = rmp_serde::from_slice(value.value())
                    .map_err(|error| corrupt(&error.to_string()))?;
                Ok(Poison {
                    at: row.at,
                    queue: QueueName::parse(&row.queue),
                    lane: Lane(row.lane),
                    size: row.item.len() as u64,
                    item: String::from_utf8(row.item).unwrap_or_default(),
                    reason: row.reason,
                })
            })
            .collect()
    }
}

/// A poisoned item as it is stored, bytes and all.
#[derive(Serialize, Deserialize)]
struct PoisonRow {
    at: Millis,
    queue: String,
    lane: String,
    reason: String,
    item: Vec<u8>,
}

fn poison(
    step: &mut Step<'_, '_>,
    hold: &Hold,
    item: Vec<u8>,
    reason: String,
    at: Millis,
) -> StoreResult<()> {
    let queue = hold.queue.as_str().to_owned();
    let row = PoisonRow { at, queue, lane: hold.lane.0.clone(), reason, item };
    let row = rmp_serde::to_vec(&row).map_err(|error| corrupt(&error.to_string()))?;
    let last = match step.range(TableId::Poison, Bound::Unbounded, Bound::Unbounded)?.next_back() {
        Some(row) => Fields(row?.0.value()).number()?,
        None => 0,
    };
    if step.len(TableId::Poison)? >= POISON_MAX {
        let first = step.range(TableId::Poison, Bound::Unbounded, Bound::Unbounded)?.next();
        let first = first.transpose()?.map(|(key, _)| key.value().to_vec());
        if let Some(key) = first {
            step.remove(TableId::Poison, key);
        }
    }
    step.put(TableId::Poison, (last + 1).to_be_bytes(), row);
    Ok(())
}

/// A lane a claim may take.
struct Candidate {
    lane: Arc<str>,
    ran_out: bool,
}

/// Lanes in the order a claim takes them, and how many of the delayed have come due.
fn candidates<'a>(
    lanes: &'a QueueLanes,
    now: Millis,
) -> (impl Iterator<Item = Candidate> + 'a, Vec<(Millis, Arc<str>)>) {
    let due: Vec<_> = lanes
        .due()
        .take_while(|(at, _)| *at <= now)
        .take(DUE)
        .map(|(at, lane)| (at, lane.clone()))
        .collect();
    let ran_out = lanes
        .leases()
        .take_while(move |(deadline, _)| *deadline <= now)
        .map(|(_, lane)| Candidate { lane: lane.clone(), ran_out: true });
    let ready = lanes.ready().map(|lane| Candidate { lane: lane.clone(), ran_out: false });
    let come = due.clone();
    let come = come.into_iter().map(|(_, lane)| Candidate { lane, ran_out: false });
    (ran_out.chain(ready).chain(come), due)
}

fn claim(
    step: &mut Step<'_, '_>,
    queue: &QueueName,
    tokens: Vec<Token>,
    now: Millis,
    deadline: Millis,
) -> StoreResult<Claimed> {
    let Some((id, lanes)) = step.lanes().named(queue) else { return Ok(Claimed::default()) };
    let (candidates, due) = candidates(lanes, now);
    for (at, lane) in &due {
        if let Some((_, state)) = lanes.lane(lane) {
            let place = Place::Ready { since: *at };
            step.place_lane(id, lane, Some(LaneState { place, ..state.clone() }));
        }
    }
    let mut leases = Vec::new();
    let mut taken_over = 0;
    let mut tokens = tokens.into_iter().take(TAKEN).peekable();
    for Candidate { lane, ran_out } in candidates {
        if tokens.peek().is_none() {
            break;
        }
        taken_over += usize::from(ran_out);
        let Some((_, state)) = lanes.lane(&lane) else { continue };
        let Some((_, item)) = step.head(id, &lane)? else {
            // A lane without items is none: it is forgotten, and the next one looked at.
            step.set_lane(id, &lane, None);
            continue;
        };
        let Some(token) = tokens.next() else { break };
        let reaped = ran_out || state.orphaned;
        let next = LaneState {
            reaps: state.reaps.saturating_add(u8::from(reaped)),
            orphaned: false,
            place: Place::Leased { token: token.clone(), deadline },
            ..state.clone()
        };
        let (reaps, hold) = (next.reaps, Hold { queue: queue.clone(), lane: name(&lane), token });
        if reaped {
            step.set_lane(id, &lane, Some(next));
        } else {
            step.place_lane(id, &lane, Some(next));
        }
        let (record, body) = contents(step, &item)?;
        let channel = queue.channel().and_then(ChannelName::parse);
        let opted_out = match channel {
            Some(channel) => blocks(step, &channel, &lane)?,
            None => false,
        };
        let item = item.into();
        leases.push(Lease { hold, item, record, body, reaps, reaped, opted_out });
    }
    let waiting = lanes.due().nth(due.len()).map(|(at, _)| at);
    let leased = lanes.leases().nth(taken_over).map(|(at, _)| at);
    let own = (!leases.is_empty()).then_some(deadline);
    let next_due = waiting.into_iter().chain(leased).chain(own).min();
    Ok(Claimed { leases, next_due, ..Claimed::default() })
}

fn name(lane: &str) -> Lane {
    Lane(lane.to_owned())
}

/// For an item that is a send's id: its record and its notification's body.
fn contents(step: &Step<'_, '_>, item: &[u8]) -> StoreResult<(Option<Bytes>, Option<Bytes>)> {
    let Some(send) = std::str::from_utf8(item).ok().and_then(SendId::parse) else {
        return Ok((None, None));
    };
    let Some(row) = step.get(TableId::Send, &send_key(&send))? else { return Ok((None, None)) };
    let (head, record) = SendRow::decode(row.value())?;
    let body = match step.get(TableId::Body, &head.notification)? {
        Some(row) => Some(body(row.value())?),
        None => None,
    };
    Ok((Some(Bytes::copy_from_slice(record)), body))
}

/// The body behind its number and standing.
pub(super) fn body(row: &[u8]) -> StoreResult<Bytes> {
    let mut fields = Fields(row);
    fields.number()?;
    Standing::decode(&mut fields)?;
    Ok(Bytes::copy_from_slice(fields.rest()))
}
