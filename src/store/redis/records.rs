//! Send records.
use super::super::pace::{Pacing, Wait};
use super::super::receipts::HANDED_OVER;
use super::super::records::{
    Active, Bounds, Commit, Committed, Dead, Noted, ProviderRef, Records, Requeued, SendIndex,
};
use super::super::steps::{At, Hold, Lane, QueueName, StoreResult};
use super::Redis;
use super::keys::Fixed;
use super::link::Call;
use super::optouts::spelt;
use super::reply::{bytes, count, framed, list, number, odd, take, text};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::{BufMut, Bytes, BytesMut};
use contract::{ChannelName, SendId, ThrottleScope};
use redis::Value;
use std::time::Duration;

/// A stored value without the store's own line.
pub(super) fn record_of(stored: &Bytes) -> StoreResult<Bytes> {
    let line_end = |from: usize| {
        let at = stored.get(from..)?.iter().position(|byte| *byte == b'\n')?;
        Some(from + at + 1)
    };
    let header = line_end(0).ok_or_else(|| odd("a record has no header"))?;
    let own = line_end(header).ok_or_else(|| odd("a record has no second line"))?;
    let mut record = BytesMut::with_capacity(stored.len());
    record.put_slice(&stored[..header]);
    record.put_slice(&stored[own..]);
    Ok(record.freeze())
}

/// A record's header line and what is behind it.
pub(super) fn halves(record: &[u8]) -> StoreResult<(&[u8], &[u8])> {
    let end = record.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or_else(|| odd("a record has no header"))?;
    Ok((&record[..end], &record[end + 1..]))
}

/// What a write's answer says.
fn committed(answer: &mut Vec<Value>) -> StoreResult<Committed> {
    let mut answer = answer.drain(..);
    match text(take(&mut answer)?)?.as_str() {
        // `was`: an earlier try of this very write got through.
        "done" | "was" => Ok(Committed::Done),
        "gone" => Ok(Committed::Gone),
        "lost" => Ok(Committed::Lost),
        "wait" => {
            let until = Millis(number(take(&mut answer)?)?);
            let scope = match text(take(&mut answer)?)?.as_str() {
                "account" => ThrottleScope::Account,
                _ => ThrottleScope::Recipient,
            };
            Ok(Committed::Wait(Wait { until, scope }))
        }
        "conflict" => {
            let stored = bytes(take(&mut answer)?)?.ok_or_else(|| odd("a record expected"))?;
            Ok(Committed::Conflict(record_of(&stored)?))
        }
        "corrupt" => Err(odd("a send's header has no revision")),
        _ => Err(odd("a write's answer")),
    }
}

impl Redis {
    /// The keys and arguments of a write; whatever goes along comes after them.
    pub(super) fn write(&self, step: Step, commit: &Commit) -> StoreResult<Call> {
        let keys = &self.link.keys;
        let (header, rest) = halves(&commit.value)?;
        let next = header.split(|byte| *byte == b' ').next().unwrap_or_default();
        if next != (commit.rev + 1).to_string().as_bytes() {
            return Err(odd("a record's next revision does not follow"));
        }
        let active = match commit.active {
            Active::Keep => String::new(),
            Active::Until(at) => at.0.to_string(),
            Active::Remove => "-".to_owned(),
            Active::Final(keep) => format!("={},{}", keep.until.0, keep.exchanges.0),
        };
        let dead = match commit.dead {
            Dead::Keep => String::new(),
            Dead::Since(at) => at.0.to_string(),
            Dead::Remove => "-".to_owned(),
        };
        let own = [keys.send(&commit.id), keys.log(&commit.id), keys.exchanges(&commit.id)];
        let indexes =
            [keys.fixed(Fixed::Active), keys.index(&SendIndex::Dead(commit.channel.clone()))];
        Ok(Call::new(step, own)
            .keys(indexes)
            .arg(commit.id.as_str())
            .number(commit.rev)
            .arg(header)
            .arg(rest)
            .number(u8::from(commit.log.is_some()))
            .arg(commit.log.as_deref().unwrap_or_default())
            .number(u8::from(commit.exchange.is_some()))
            .arg(commit.exchange.as_deref().unwrap_or_default())
            .arg(active)
            .arg([dead.into_bytes(), spelt(&commit.channel, &commit.opt)].concat()))
    }

    pub(super) fn under(&self, call: Call, hold: &Hold) -> Call {
        call.keys(self.link.keys.held(hold))
            .arg(hold.queue.as_str())
            .arg(&hold.lane.0)
            .arg(&hold.token.0)
    }

    /// A write that goes along with a lane nobody needs to hold.
    fn in_lane(&self, step: Step, commit: &Commit, lane: &Lane) -> StoreResult<Call> {
        let queue = QueueName::out(&commit.channel);
        let call = self.write(step, commit)?.keys(self.link.keys.queue(&queue, lane));
        Ok(call.arg(queue.as_str()).arg(&lane.0))
    }

    async fn written(&self, call: Call, at: At) -> StoreResult<Committed> {
        committed(&mut list(self.link.run(call, at).await?)?)
    }

    /// The keys of a hold's queue, with its name, lane and token; of no use without a hold.
    pub(super) fn hook(&self, hold: Option<&Hold>) -> ([String; 6], [String; 3]) {
        match hold {
            Some(hold) => {
                let words = [hold.queue.as_str(), &hold.lane.0, &hold.token.0];
                (self.link.keys.held(hold), words.map(str::to_owned))
            }
            None => {
                let keys = self.link.keys.queue(&QueueName::hook(), &Lane(String::new()));
                (keys, Default::default())
            }
        }
    }

    /// Writes a fact: `note_part`, and `settle`, which may put the send into its lane again.
    pub(super) async fn noted(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        requeue: Option<&Lane>,
        hold: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        let (held, words) = self.hook(hold);
        let hash = provider.as_ref().map(|provider| provider.hash.as_str()).unwrap_or_default();
        let keys = &self.link.keys;
        let (queue, lane) = (QueueName::out(&commit.channel), requeue.cloned());
        let lane = lane.unwrap_or(Lane(String::new()));
        let call = self
            .write(Step::NotePart, &commit)?
            .keys(held)
            .keys([
                keys.provider(&commit.channel, hash),
                keys.shelf(&commit.channel, hash),
                keys.fixed(Fixed::ShelfExpiries),
            ])
            .keys(keys.queue(&queue, &lane))
            .arg(&words[0])
            .arg(&words[1])
            .arg(&words[2]);
        let call = match &provider {
            Some(provider) => call.arg(format!("{}:{hash}", commit.channel)).number(provider.part),
            None => call.arg("").arg(""),
        };
        let call = call.arg(queue.as_str()).arg(&lane.0).number(HANDED_OVER.as_millis());
        let mut answer = list(self.link.run(call, at).await?)?;
        if let [Value::BulkString(word), shelf] = &answer[..]
            && matches!(&word[..], b"done" | b"was")
        {
            let shelf = bytes(shelf.clone())?.unwrap_or_default();
            return Ok(Noted::Done { shelved: framed(&shelf)? });
        }
        Ok(match committed(&mut answer)? {
            Committed::Done => Noted::Done { shelved: Vec::new() },
            Committed::Conflict(value) => Noted::Conflict(value),
            Committed::Gone | Committed::Lost | Committed::Wait(_) => Noted::Gone,
        })
    }

    /// A write about a part as it is written again to a server that lost it: without its exchange,
    /// which only explains. `lease`: the lane went on being held.
    fn fact(
        &self,
        commit: &Commit,
        provider: Option<&ProviderRef>,
        hold: Option<&Hold>,
        lease: Option<Duration>,
    ) -> StoreResult<Call> {
        let commit = Commit { exchange: None, ..commit.clone() };
        let (held, words) = self.hook(hold);
        let (hash, of, part) = match provider {
            Some(ProviderRef { hash, part }) => {
                (hash.as_str(), format!("{}:{hash}", commit.channel), part.to_string())
            }
            None => ("", String::new(), String::new()),
        };
        let call = self.write(Step::Restate, &commit)?.keys(held);
        let call = call.keys([self.link.keys.provider(&commit.channel, hash)]);
        let call = words.iter().fold(call, Call::arg).arg(of).arg(part);
        Ok(call.arg(lease.map(|lease| lease.as_millis().to_string()).unwrap_or_default()))
    }

    pub(super) async fn value(&self, key: String) -> StoreResult<Option<Bytes>> {
        let mut command = redis::cmd("GET");
        command.arg(key);
        bytes(self.link.command(&command).await?)
    }
}

#[async_trait]
impl Records for Redis {
    async fn record(&self, id: &SendId) -> StoreResult<Option<Bytes>> {
        let stored = self.value(self.link.keys.send(id)).await?;
        stored.map(|stored| record_of(&stored)).transpose()
    }

    async fn commit(&self, commit: Commit, at: At) -> StoreResult<Committed> {
        self.written(self.write(Step::Commit, &commit)?, at).await
    }

    async fn begin(
        &self,
        commit: Commit,
        hold: &Hold,
        pacing: Option<Pacing>,
        at: At,
    ) -> StoreResult<Committed> {
        let keys = &self.link.keys;
        let call = self
            .under(self.write(Step::Begin, &commit)?, hold)
            .keys([keys.pace(&commit.channel, None), keys.pace(&commit.channel, Some(&hold.lane))]);
        let call = match pacing {
            None => call.arg(""),
            Some(Pacing { account, recipient, cost }) => call
                .number(cost)
                .number(account.interval)
                .number(account.tolerance)
                .number(recipient.interval)
                .number(recipient.tolerance),
        };
        let fact = self.fact(&commit, None, Some(hold), Some(self.lease()))?;
        let written = self.written(call, at).await?;
        if written == Committed::Done {
            self.link.note_fact(fact);
        }
        Ok(written)
    }

    async fn note_part(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        let fact = self.fact(&commit, provider.as_ref(), last, None)?;
        let noted = self.noted(commit, provider, None, last, at).await?;
        if matches!(noted, Noted::Done { .. }) {
            self.link.note_fact(fact);
        }
        Ok(noted)
    }

    async fn finish(&self, commit: Commit, hold: &Hold, at: At) -> StoreResult<Committed> {
        self.written(self.under(self.write(Step::Finish, &commit)?, hold), at).await
    }

    async fn defer(
        &self,
        commit: Commit,
        hold: &Hold,
        until: Millis,
        at: At,
    ) -> StoreResult<Committed> {
        let call = self.under(self.write(Step::Defer, &commit)?, hold).number(until.0);
        self.written(call, at).await
    }

    async fn cancel(&self, commit: Commit, lane: &Lane, at: At) -> StoreResult<Committed> {
        let call = self.in_lane(Step::Cancel, &commit, lane)?;
        self.written(call, at).await
    }

    async fn requeue(
        &self,
        commit: Commit,
        lane: &Lane,
        bounds: Bounds,
        at: At,
    ) -> StoreResult<Requeued> {
        let call = self.in_lane(Step::Requeue, &commit, lane)?;
        let call = call.number(bounds.backlog_max).number(bounds.lane_max);
        let mut answer = list(self.link.run(call, at).await?)?;
        if let [Value::BulkString(word), depth] = &answer[..]
            && word == b"full"
        {
            return Ok(Requeued::BacklogFull { depth: count(depth.clone())? });
        }
        committed(&mut answer).map(Requeued::Written)
    }

    async fn sends(
        &self,
        index: &SendIndex,
        before: Option<(Millis, SendId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, SendId)>> {
        let key = self.link.keys.index(index);
        self.newest_first(&key, before, limit, SendId::parse).await
    }

    async fn by_provider(
        &self,
        channel: &ChannelName,
        hash: &str,
    ) -> StoreResult<Option<(SendId, u16)>> {
        let Some(value) = self.value(self.link.keys.provider(channel, hash)).await? else {
            return Ok(None);
        };
        let of = std::str::from_utf8(&value).ok().and_then(|text| {
            let (id, part) = text.rsplit_once(':')?;
            Some((SendId::parse(id)?, part.parse().ok()?))
        });
        of.map(Some).ok_or_else(|| odd("a provider id leads nowhere"))
    }

    async fn log(&self, id: &SendId) -> StoreResult<Bytes> {
        Ok(self.value(self.link.keys.log(id)).await?.unwrap_or_default())
    }

    async fn exchanges(&self, id: &SendId) -> StoreResult<Vec<Bytes>> {
        let all = self.value(self.link.keys.exchanges(id)).await?.unwrap_or_default();
        framed(&all)
    }
}
