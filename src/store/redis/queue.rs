//! The queue steps.
//!
//! A claim whose answer was lost may have taken lanes under tokens nobody works with. Its tokens
//! are remembered, and the next claims bring them along: the script frees what they hold, so such
//! lanes do not wait for a lease to run out.
use super::super::pace::Account;
use super::super::steps::{
    At, Claimed, Held, Hold, Lane, Lease, Poison, Queue, QueueDepth, QueueName, StoreResult, Token,
    Whereabouts,
};
use super::Redis;
use super::inbox::body_of;
use super::keys::Fixed;
use super::link::Call;
use super::records::record_of;
use super::reply::{bytes, count, list, number, odd, take, text, whole};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use redis::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lanes one claim takes at most.
const TAKEN: usize = 32;
/// Tokens of lost answers remembered for one queue at most.
const UNANSWERED: usize = 4096;

/// Tokens of claims whose answer was lost, each until its lease would have run out.
#[derive(Default)]
pub(super) struct Unanswered(Mutex<HashMap<QueueName, Vec<(Instant, Token)>>>);

impl Unanswered {
    fn note(&self, queue: &QueueName, tokens: &[Token], lease: Duration) {
        let until = Instant::now() + lease;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(queue.clone()).or_default();
        known.extend(tokens.iter().map(|token| (until, token.clone())));
        let over = known.len().saturating_sub(UNANSWERED);
        known.drain(..over);
    }

    fn of(&self, queue: &QueueName) -> Vec<Token> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = all.get_mut(queue) else { return Vec::new() };
        let now = Instant::now();
        known.retain(|(until, _)| *until > now);
        let tokens = known.iter().map(|(_, token)| token.clone()).collect();
        if known.is_empty() {
            all.remove(queue);
        }
        tokens
    }
}

impl Redis {
    fn on_hold(&self, step: Step, hold: &Hold) -> Call {
        Call::new(step, self.link.keys.held(hold))
            .arg(hold.queue.as_str())
            .arg(&hold.lane.0)
            .arg(&hold.token.0)
    }

    async fn held(&self, call: Call, at: At) -> StoreResult<Held> {
        let done = number(self.link.run(call, at).await?)? == 1;
        Ok(if done { Held::Done } else { Held::Lost })
    }
}

#[async_trait]
impl Queue for Redis {
    async fn push(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: Bytes,
        due: Option<Millis>,
        at: At,
    ) -> StoreResult<u64> {
        let call = Call::new(Step::Push, self.link.keys.queue(queue, lane))
            .arg(queue.as_str())
            .arg(&lane.0)
            .arg(item)
            .arg(due.map(|due| due.0.to_string()).unwrap_or_default());
        count(self.link.run(call, at).await?)
    }

    async fn claim(
        &self,
        queue: &QueueName,
        mut tokens: Vec<Token>,
        lease: Duration,
        account: Option<&Account>,
        at: At,
    ) -> StoreResult<Claimed> {
        tokens.truncate(TAKEN);
        self.note_lease(lease);
        let lost = self.unanswered.of(queue);
        // No lane is known before: the script makes its key from the name.
        let mut call = Call::new(Step::Claim, self.link.keys.queue(queue, &Lane(String::new())))
            .arg(queue.as_str())
            .number(lease.as_millis());
        call = match account {
            None => call.arg("").arg(""),
            Some(Account { channel, rate }) => call
                .keys([
                    self.link.keys.parking(channel.as_str()),
                    self.link.keys.pace(channel, None),
                ])
                .number(rate.interval)
                .number(rate.tolerance),
        };
        call = call.number(lost.len());
        for token in lost.iter().chain(&tokens) {
            call = call.arg(&token.0);
        }
        let answer = self.link.run_noting(call, at).await.map_err(|(error, perhaps)| {
            if perhaps {
                self.unanswered.note(queue, &tokens, lease);
            }
            error
        })?;
        claimed(queue, answer)
    }

    async fn extend(&self, holds: Vec<Hold>, lease: Duration, at: At) -> StoreResult<Vec<Hold>> {
        if holds.is_empty() {
            return Ok(holds);
        }
        let mut call = Call::new(Step::Extend, []).number(lease.as_millis());
        for hold in &holds {
            let [_, _, _, deadlines, own, _] = self.link.keys.held(hold);
            call = call.keys([deadlines, own]).arg(&hold.lane.0).arg(&hold.token.0);
        }
        let still = list(self.link.run(call, at).await?)?;
        let mut kept = Vec::with_capacity(still.len());
        for place in still {
            let place = usize::try_from(number(place)?).map_err(|_| odd("a hold's number"))?;
            let hold = place.checked_sub(1).and_then(|place| holds.get(place));
            kept.push(hold.ok_or_else(|| odd("a hold's number"))?.clone());
        }
        Ok(kept)
    }

    async fn ack(&self, hold: &Hold, at: At) -> StoreResult<Held> {
        self.held(self.on_hold(Step::Ack, hold), at).await
    }

    async fn defer_lane(&self, hold: &Hold, until: Millis, at: At) -> StoreResult<Held> {
        self.held(self.on_hold(Step::DeferLane, hold).number(until.0), at).await
    }

    async fn bury(&self, hold: &Hold, reason: &str, at: At) -> StoreResult<Held> {
        let list = self.link.keys.fixed(Fixed::Poison);
        self.held(self.on_hold(Step::Bury, hold).keys([list]).arg(reason), at).await
    }

    async fn whereabouts(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: &[u8],
    ) -> StoreResult<Option<Whereabouts>> {
        let call = Call::new(Step::Whereabouts, self.link.keys.queue(queue, lane))
            .arg(queue.as_str())
            .arg(&lane.0)
            .arg(item);
        let fields = list(self.link.run(call, At::Store).await?)?;
        if fields.is_empty() {
            return Ok(None);
        }
        let mut fields = fields.into_iter();
        Ok(Some(Whereabouts {
            ahead: count(take(&mut fields)?)?,
            head: bytes(take(&mut fields)?)?.unwrap_or_default(),
            is_worked: number(take(&mut fields)?)? == 1,
            due: time(take(&mut fields)?)?,
        }))
    }

    async fn depth(&self, queue: &QueueName, at: At) -> StoreResult<QueueDepth> {
        let keys = self.link.keys.queue(queue, &Lane(String::new()));
        let answer = list(self.link.run(Call::new(Step::Depth, keys), at).await?)?;
        let mut fields = answer.into_iter();
        Ok(QueueDepth {
            items: count(take(&mut fields)?)?,
            ready: count(take(&mut fields)?)?,
            delayed: count(take(&mut fields)?)?,
            leased: count(take(&mut fields)?)?,
            oldest_ready: time(take(&mut fields)?)?,
        })
    }

    async fn poison(&self, limit: usize) -> StoreResult<Vec<Poison>> {
        let mut command = redis::cmd("XREVRANGE");
        command.arg(self.link.keys.fixed(Fixed::Poison)).arg("+").arg("-");
        command.arg("COUNT").arg(limit);
        let rows = list(self.link.command(&command).await?)?;
        rows.into_iter().map(poison).collect()
    }
}

/// A time, or none where the script gives empty text.
pub(super) fn time(value: Value) -> StoreResult<Option<Millis>> {
    let text = text(value)?;
    if text.is_empty() { Ok(None) } else { Ok(Some(Millis(whole(&text)?))) }
}

fn claimed(queue: &QueueName, answer: Value) -> StoreResult<Claimed> {
    let mut answer = list(answer)?.into_iter();
    let rows = list(take(&mut answer)?)?;
    let next_due = time(take(&mut answer)?)?;
    let wait_until = time(take(&mut answer)?)?;
    let parked = number(take(&mut answer)?)? == 1;
    let mut leases = Vec::with_capacity(rows.len());
    for row in rows {
        let mut row = list(row)?.into_iter();
        let token = Token(text(take(&mut row)?)?);
        let lane = Lane(text(take(&mut row)?)?);
        let item = bytes(take(&mut row)?)?.ok_or_else(|| odd("an item"))?;
        let record = bytes(take(&mut row)?)?.map(|stored| record_of(&stored)).transpose()?;
        let body = bytes(take(&mut row)?)?.map(|stored| body_of(&stored)).transpose()?;
        let reaps = u8::try_from(number(take(&mut row)?)?).unwrap_or(u8::MAX);
        let opted_out = number(take(&mut row)?)? == 1;
        let hold = Hold { queue: queue.clone(), lane, token };
        // A head whose count is above nothing was taken from a lease that ran out: acknowledging or
        // deferring starts the count anew.
        leases.push(Lease { hold, item, record, body, reaps, reaped: reaps > 0, opted_out });
    }
    Ok(Claimed { leases, next_due, wait_until, parked })
}

/// A row of the poison list: its id, then names and values in turn.
fn poison(row: Value) -> StoreResult<Poison> {
    let mut row = list(row)?.into_iter();
    take(&mut row)?;
    let mut fields = list(take(&mut row)?)?.into_iter();
    let mut named = HashMap::new();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        named.insert(text(name)?, bytes(value)?.unwrap_or_default());
    }
    let mut field = |name: &str| named.remove(name).unwrap_or_default();
    let words = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap_or_default();
    let item = field("item");
    Ok(Poison {
        at: Millis(whole(&words(field("at")))?),
        queue: QueueName::parse(&words(field("queue"))),
        lane: Lane(words(field("lane"))),
        size: item.len() as u64,
        item: words(item),
        reason: words(field("reason")),
    })
}
