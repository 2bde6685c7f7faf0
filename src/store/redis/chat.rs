//! Visitors of the web chat, their transcripts, inbound messages and threads.
use super::super::chat::{
    Append, Chat, Conversations, FrameId, FrameNoted, InboundStep, Recorded, TokenHash, Visit,
    Visited,
};
use super::super::records::{Commit, ProviderRef};
use super::super::steps::{At, Hold, Lane, QueueName, StoreResult};
use super::Redis;
use super::link::Call;
use super::records::record_of;
use super::reply::{bytes, count, list, odd, take, text};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, InboundId, ThreadId, VisitorId};
use redis::Value;

fn frame_id(text: &str) -> StoreResult<FrameId> {
    FrameId::parse(text).ok_or_else(|| odd("a frame has no id"))
}

fn visitor_id(text: &str) -> StoreResult<VisitorId> {
    VisitorId::parse(text).ok_or_else(|| odd("a visitor is none"))
}

/// The frames of an `XRANGE`.
fn frames(value: Value) -> StoreResult<Vec<(FrameId, Bytes)>> {
    let frame = |entry: Value| {
        let mut entry = list(entry)?.into_iter();
        let id = frame_id(&text(take(&mut entry)?)?)?;
        let mut fields = list(take(&mut entry)?)?.into_iter();
        take(&mut fields)?;
        let frame = bytes(take(&mut fields)?)?.ok_or_else(|| odd("a frame is empty"))?;
        Ok((id, frame))
    };
    list(value)?.into_iter().map(frame).collect()
}

impl Redis {
    fn appending(call: Call, append: &Append) -> Call {
        call.arg(append.id.to_string())
            .arg(&append.frame)
            .number(append.keep)
            .number(append.ttl.as_millis())
            .arg(append.channel.as_str())
            .arg(append.visitor.as_str())
    }
}

#[async_trait]
impl Chat for Redis {
    async fn visit(&self, visit: Visit, at: At) -> StoreResult<Visited> {
        let keys = &self.link.keys;
        let fresh = keys.token(&visit.fresh);
        let given = visit.given.as_ref().map_or_else(|| fresh.clone(), |given| keys.token(given));
        let call = Call::new(Step::Visit, [given, fresh])
            .number(u8::from(visit.given.is_some()))
            .arg(visit.channel.as_str())
            .arg(visit.visitor.as_str())
            .number(visit.until.0)
            .number(visit.pending_until.0);
        let mut answer = list(self.link.run(call, at).await?)?.into_iter();
        let visitor = visitor_id(&text(take(&mut answer)?)?)?;
        Ok(Visited { visitor, fresh: text(take(&mut answer)?)? == "1" })
    }

    async fn visitor(
        &self,
        channel: &ChannelName,
        token: &TokenHash,
        until: Millis,
        at: At,
    ) -> StoreResult<Option<VisitorId>> {
        let call = Call::new(Step::Visitor, [self.link.keys.token(token)])
            .arg(channel.as_str())
            .number(until.0);
        match bytes(self.link.run(call, at).await?)? {
            None => Ok(None),
            Some(found) => {
                let text = std::str::from_utf8(&found).map_err(|_| odd("a visitor is none"))?;
                visitor_id(text).map(Some)
            }
        }
    }

    async fn visitor_known(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<bool> {
        let call = Call::new(Step::VisitorKnown, [self.link.keys.visitor(channel, visitor)]);
        Ok(count(self.link.run(call, at).await?)? == 1)
    }

    async fn note_frame(
        &self,
        commit: Commit,
        provider: ProviderRef,
        append: Append,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<FrameNoted> {
        let keys = &self.link.keys;
        let call = self.write(Step::NoteFrame, &commit)?;
        let call = match last {
            Some(hold) => self.under(call, hold),
            None => {
                let queue = QueueName::out(&commit.channel);
                let keys = keys.queue(&queue, &Lane(String::new()));
                call.keys(keys).arg(queue.as_str()).arg("").arg("")
            }
        };
        let call = call
            .keys([
                keys.provider(&commit.channel, &provider.hash),
                keys.visitor(&append.channel, &append.visitor),
                keys.transcript(&append.channel, &append.visitor),
            ])
            .arg(format!("{}:{}", commit.channel, provider.hash))
            .number(provider.part);
        let call = Self::appending(call, &append);
        let mut answer = list(self.link.run(call, at).await?)?.into_iter();
        match text(take(&mut answer)?)?.as_str() {
            "done" | "was" => Ok(FrameNoted::Done),
            "gone" => Ok(FrameNoted::Gone),
            "no_visitor" => Ok(FrameNoted::NoVisitor),
            "behind" => Ok(FrameNoted::Behind(frame_id(&text(take(&mut answer)?)?)?)),
            "conflict" => {
                let stored = bytes(take(&mut answer)?)?.ok_or_else(|| odd("a record expected"))?;
                Ok(FrameNoted::Conflict(record_of(&stored)?))
            }
            _ => Err(odd("a frame's answer")),
        }
    }

    async fn transcript_ends(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        _at: At,
    ) -> StoreResult<Option<(FrameId, FrameId)>> {
        let key = self.link.keys.transcript(channel, visitor);
        let mut ends = redis::pipe();
        ends.cmd("XRANGE").arg(&key).arg("-").arg("+").arg("COUNT").arg(1);
        ends.cmd("XREVRANGE").arg(&key).arg("+").arg("-").arg("COUNT").arg(1);
        let mut answers = list(self.link.commands(&ends).await?)?.into_iter();
        let oldest = frames(take(&mut answers)?)?;
        let newest = frames(take(&mut answers)?)?;
        Ok(oldest.first().zip(newest.first()).map(|((oldest, _), (newest, _))| (*oldest, *newest)))
    }

    async fn transcript(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        after: FrameId,
        until: FrameId,
        limit: usize,
    ) -> StoreResult<Vec<(FrameId, Bytes)>> {
        if until <= after {
            return Ok(Vec::new());
        }
        let mut command = redis::cmd("XRANGE");
        command.arg(self.link.keys.transcript(channel, visitor));
        command.arg(format!("({after}")).arg(until.to_string()).arg("COUNT").arg(limit);
        frames(self.link.command(&command).await?)
    }
}

#[async_trait]
impl Conversations for Redis {
    async fn record_inbound(&self, step: InboundStep, at: At) -> StoreResult<Recorded> {
        let keys = &self.link.keys;
        let claim = step.claim.as_ref();
        let frame = step.frame.as_ref();
        let call = Call::new(
            Step::RecordInbound,
            [
                keys.inbound(&step.id),
                keys.inbound_of(&step.channel),
                keys.thread_key(&step.channel, &step.address),
                keys.thread(&step.thread),
                keys.threads(&step.channel),
                keys.inbound_in(&step.thread),
                keys.claim(&step.channel, claim.map_or("", |claim| &claim.hash)),
            ],
        );
        // Without a frame the two last keys name nobody's transcript and are not looked at.
        let nobody = VisitorId::from_bits(0);
        let visitor = frame.map_or(&nobody, |frame| &frame.visitor);
        let call = call
            .keys([keys.visitor(&step.channel, visitor), keys.transcript(&step.channel, visitor)])
            .arg(step.id.as_str())
            .number(step.received_at.0)
            .arg(&step.value)
            .arg(step.thread.as_str())
            .arg(&step.thread_value)
            .number(step.keep.as_millis())
            .number(u8::from(claim.is_some()))
            .number(claim.map_or(0, |claim| claim.keep.as_millis()))
            .arg(claim.map_or("", |claim| &claim.fingerprint))
            .number(u8::from(frame.is_some()));
        let call = match frame {
            Some(frame) => Self::appending(call, frame),
            None => call,
        };
        let mut answer = list(self.link.run(call, at).await?)?.into_iter();
        match text(take(&mut answer)?)?.as_str() {
            "done" => Ok(Recorded::Done),
            "no_visitor" => Ok(Recorded::NoVisitor),
            "behind" => Ok(Recorded::Behind(frame_id(&text(take(&mut answer)?)?)?)),
            "thread" => {
                let thread = ThreadId::parse(&text(take(&mut answer)?)?);
                Ok(Recorded::Thread(thread.ok_or_else(|| odd("a thread is none"))?))
            }
            "seen" => {
                let id = InboundId::parse(&text(take(&mut answer)?)?);
                let id = id.ok_or_else(|| odd("a claim is nobody's"))?;
                Ok(Recorded::Seen { id, same: text(take(&mut answer)?)? == "1" })
            }
            _ => Err(odd("an inbound message's answer")),
        }
    }

    async fn thread_of(
        &self,
        channel: &ChannelName,
        address: &str,
        _at: At,
    ) -> StoreResult<Option<ThreadId>> {
        let found = self.value(self.link.keys.thread_key(channel, address)).await?;
        let id = found.map(|found| {
            let id = std::str::from_utf8(&found).ok().and_then(ThreadId::parse);
            id.ok_or_else(|| odd("a thread is none"))
        });
        id.transpose()
    }

    async fn inbound(&self, ids: &[InboundId], _at: At) -> StoreResult<Vec<Option<Bytes>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = redis::cmd("MGET");
        for id in ids {
            command.arg(self.link.keys.inbound(id));
        }
        list(self.link.command(&command).await?)?.into_iter().map(bytes).collect()
    }

    async fn inbound_of(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        let key = self.link.keys.inbound_of(channel);
        self.newest_first(&key, before, limit, InboundId::parse).await
    }

    async fn inbound_in(
        &self,
        thread: &ThreadId,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        let key = self.link.keys.inbound_in(thread);
        self.newest_first(&key, before, limit, InboundId::parse).await
    }
}
