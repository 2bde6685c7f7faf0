//! Visitors, transcripts, inbound messages and threads.
use super::super::chat::{
    Append, Chat, Claim, Conversations, FrameId, FrameNoted, InboundStep, Recorded, TokenHash,
    Visit, Visited,
};
use super::super::records::{Commit, Committed, ProviderRef};
use super::super::steps::{At, Hold, Signal, StoreResult};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, InboundId, ThreadId, VisitorId};
use std::collections::{BTreeMap, HashMap};

/// Messages a thread lists.
const THREAD_MAX: usize = 5000;

/// Everything of this kind.
#[derive(Default)]
pub(super) struct ChatModel {
    tokens: HashMap<TokenHash, TokenModel>,
    visitors: HashMap<(ChannelName, VisitorId), Millis>,
    transcripts: HashMap<(ChannelName, VisitorId), TranscriptModel>,
    claims: HashMap<(ChannelName, String), ClaimModel>,
    messages: BTreeMap<InboundId, MessageModel>,
    threads: HashMap<ThreadId, (Millis, ChannelName, String)>,
    thread_keys: HashMap<(ChannelName, String), ThreadId>,
}

#[derive(Default)]
struct TokenModel {
    until: Millis,
    visitors: HashMap<ChannelName, VisitorId>,
}

#[derive(Default)]
struct TranscriptModel {
    until: Millis,
    newest: FrameId,
    frames: BTreeMap<FrameId, Bytes>,
}

struct ClaimModel {
    until: Millis,
    id: InboundId,
    fingerprint: String,
}

struct MessageModel {
    until: Millis,
    channel: ChannelName,
    thread: ThreadId,
    received_at: Millis,
    value: Bytes,
}

impl ChatModel {
    fn is_known(&self, channel: &ChannelName, visitor: &VisitorId, now: Millis) -> bool {
        let key = (channel.clone(), visitor.clone());
        self.visitors.get(&key).is_some_and(|until| *until > now)
    }

    fn keep_visitor(&mut self, channel: &ChannelName, visitor: &VisitorId, until: Millis) {
        let key = (channel.clone(), visitor.clone());
        let kept = self.visitors.entry(key).or_default();
        *kept = (*kept).max(until);
    }

    /// Why a frame cannot be appended.
    fn hindrance(&self, append: &Append, now: Millis) -> Option<FrameNoted> {
        if !self.is_known(&append.channel, &append.visitor, now) {
            return Some(FrameNoted::NoVisitor);
        }
        let key = (append.channel.clone(), append.visitor.clone());
        let newest = self.transcripts.get(&key).map_or(FrameId::START, |t| t.newest);
        (append.id <= newest).then_some(FrameNoted::Behind(newest))
    }

    fn append(&mut self, append: &Append, now: Millis) -> Signal {
        let key = (append.channel.clone(), append.visitor.clone());
        let transcript = self.transcripts.entry(key).or_default();
        if transcript.until <= now {
            transcript.frames.clear();
        }
        transcript.until = now.plus(append.ttl);
        transcript.newest = append.id;
        transcript.frames.insert(append.id, append.frame.clone());
        while transcript.frames.len() > append.keep as usize {
            transcript.frames.pop_first();
        }
        Signal::Frame(append.channel.clone(), append.visitor.clone())
    }

    fn seen(&self, channel: &ChannelName, claim: &Claim, now: Millis) -> Option<Recorded> {
        let held = self.claims.get(&(channel.clone(), claim.hash.clone()))?;
        (held.until > now).then(|| Recorded::Seen {
            id: held.id.clone(),
            same: held.fingerprint == claim.fingerprint,
        })
    }

    fn thread_at(&self, channel: &ChannelName, address: &str, now: Millis) -> Option<ThreadId> {
        let id = self.thread_keys.get(&(channel.clone(), address.to_owned()))?;
        self.threads.get(id).filter(|(until, _, _)| *until > now)?;
        Some(id.clone())
    }

    fn record(&mut self, step: InboundStep, now: Millis) -> (Recorded, Option<Signal>) {
        if self.messages.contains_key(&step.id) {
            return (Recorded::Done, None);
        }
        if let Some(seen) = step.claim.as_ref().and_then(|c| self.seen(&step.channel, c, now)) {
            return (seen, None);
        }
        let thread = self.thread_at(&step.channel, &step.address, now);
        if let Some(other) = thread.filter(|thread| *thread != step.thread) {
            return (Recorded::Thread(other), None);
        }
        let hindrance = step.frame.as_ref().and_then(|frame| self.hindrance(frame, now));
        match hindrance {
            Some(FrameNoted::Behind(newest)) => return (Recorded::Behind(newest), None),
            Some(_) => return (Recorded::NoVisitor, None),
            None => {}
        }
        let until = now.plus(step.keep);
        if let Some(claim) = step.claim {
            let held = ClaimModel {
                until: now.plus(claim.keep),
                id: step.id.clone(),
                fingerprint: claim.fingerprint,
            };
            self.claims.insert((step.channel.clone(), claim.hash), held);
        }
        let address = (step.channel.clone(), step.address);
        self.threads.insert(step.thread.clone(), (until, address.0.clone(), address.1.clone()));
        self.thread_keys.insert(address, step.thread.clone());
        let message = MessageModel {
            until,
            channel: step.channel,
            thread: step.thread,
            received_at: step.received_at,
            value: step.value,
        };
        self.messages.insert(step.id, message);
        (Recorded::Done, step.frame.map(|frame| self.append(&frame, now)))
    }

    fn listed(
        &self,
        belongs: impl Fn(&MessageModel) -> bool,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> Vec<(Millis, InboundId)> {
        let own = self.messages.iter().filter(|(_, message)| belongs(message));
        let mut found: Vec<_> =
            own.map(|(id, message)| (message.received_at, id.clone())).collect();
        found.sort();
        let older = found.into_iter().rev().filter(|m| before.as_ref().is_none_or(|b| m < b));
        older.take(limit).collect()
    }

    /// Removes what has lapsed; gives how many rows.
    pub(super) fn sweep(&mut self, limit: usize, now: Millis) -> u64 {
        let mut left = limit;
        let mut go = |until: Millis| {
            let gone = until <= now && left > 0;
            left -= usize::from(gone);
            !gone
        };
        self.tokens.retain(|_, token| go(token.until));
        self.visitors.retain(|_, until| go(*until));
        self.transcripts.retain(|_, transcript| go(transcript.until));
        self.claims.retain(|_, claim| go(claim.until));
        self.messages.retain(|_, message| go(message.until));
        let before = self.threads.len();
        self.threads.retain(|_, (until, _, _)| go(*until));
        if self.threads.len() < before {
            let threads = &self.threads;
            self.thread_keys.retain(|_, id| threads.contains_key(id));
        }
        (limit - left) as u64
    }
}

impl State {
    fn noting(
        &mut self,
        commit: &Commit,
        append: &Append,
        now: Millis,
    ) -> StoreResult<Result<Vec<Signal>, FrameNoted>> {
        if let Some(hindrance) = self.chat.hindrance(append, now) {
            return Ok(Err(hindrance));
        }
        let (written, signal) = self.write(commit)?;
        Ok(match written {
            Committed::Done => {
                let frame = self.chat.append(append, now);
                Ok(signal.into_iter().chain([frame]).collect())
            }
            Committed::Conflict(value) => Err(FrameNoted::Conflict(value)),
            Committed::Gone | Committed::Lost | Committed::Wait(_) => Err(FrameNoted::Gone),
        })
    }
}

#[async_trait]
impl Chat for Model {
    async fn visit(&self, visit: Visit, at: At) -> StoreResult<Visited> {
        let now = self.now(at);
        let mut state = self.state();
        let chat = &mut state.chat;
        let known = visit
            .given
            .filter(|given| chat.tokens.get(given).is_some_and(|token| token.until > now));
        let fresh = known.is_none();
        let until = if fresh { visit.pending_until } else { visit.until };
        let token = chat.tokens.entry(known.unwrap_or(visit.fresh)).or_default();
        token.until = token.until.max(until);
        let key = |visitor: &VisitorId| (visit.channel.clone(), visitor.clone());
        let standing = token.visitors.get(&visit.channel);
        let standing = standing
            .filter(|visitor| chat.visitors.get(&key(visitor)).is_some_and(|until| *until > now))
            .cloned();
        let visitor = standing.unwrap_or(visit.visitor);
        token.visitors.insert(visit.channel.clone(), visitor.clone());
        chat.keep_visitor(&visit.channel, &visitor, until);
        Ok(Visited { visitor, fresh })
    }

    async fn visitor(
        &self,
        channel: &ChannelName,
        token: &TokenHash,
        until: Millis,
        at: At,
    ) -> StoreResult<Option<VisitorId>> {
        let now = self.now(at);
        let mut state = self.state();
        let chat = &mut state.chat;
        let Some(found) = chat.tokens.get_mut(token).filter(|token| token.until > now) else {
            return Ok(None);
        };
        let Some(visitor) = found.visitors.get(channel).cloned() else { return Ok(None) };
        let standing = chat.visitors.get_mut(&(channel.clone(), visitor.clone()));
        let Some(standing) = standing.filter(|until| **until > now) else { return Ok(None) };
        found.until = found.until.max(until);
        *standing = (*standing).max(until);
        Ok(Some(visitor))
    }

    async fn visitor_known(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<bool> {
        Ok(self.state().chat.is_known(channel, visitor, self.now(at)))
    }

    async fn note_frame(
        &self,
        commit: Commit,
        provider: ProviderRef,
        append: Append,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<FrameNoted> {
        let now = self.now(at);
        let mut state = self.state();
        let signals = match state.noting(&commit, &append, now)? {
            Ok(signals) => signals,
            Err(hindrance) => return Ok(hindrance),
        };
        state.provider.insert((commit.channel, provider.hash), (commit.id, provider.part));
        let woken = last.and_then(|hold| state.drop_head(hold, now));
        drop(state);
        for signal in signals {
            self.signal(Some(signal));
        }
        self.signal(woken);
        Ok(FrameNoted::Done)
    }

    async fn transcript_ends(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<Option<(FrameId, FrameId)>> {
        let state = self.state();
        let transcript = state.chat.transcripts.get(&(channel.clone(), visitor.clone()));
        let kept = transcript.filter(|transcript| transcript.until > self.now(at));
        Ok(kept.and_then(|transcript| {
            let (oldest, _) = transcript.frames.first_key_value()?;
            let (newest, _) = transcript.frames.last_key_value()?;
            Some((*oldest, *newest))
        }))
    }

    async fn transcript(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        after: FrameId,
        until: FrameId,
        limit: usize,
    ) -> StoreResult<Vec<(FrameId, Bytes)>> {
        let state = self.state();
        let transcript = state.chat.transcripts.get(&(channel.clone(), visitor.clone()));
        let frames = transcript.iter().flat_map(|transcript| &transcript.frames);
        let wanted = frames.filter(|(id, _)| **id > after && **id <= until).take(limit);
        Ok(wanted.map(|(id, frame)| (*id, frame.clone())).collect())
    }
}

#[async_trait]
impl Conversations for Model {
    async fn record_inbound(&self, step: InboundStep, at: At) -> StoreResult<Recorded> {
        let now = self.now(at);
        let (recorded, signal) = self.state().chat.record(step, now);
        self.signal(signal);
        Ok(recorded)
    }

    async fn thread_of(
        &self,
        channel: &ChannelName,
        address: &str,
        at: At,
    ) -> StoreResult<Option<ThreadId>> {
        Ok(self.state().chat.thread_at(channel, address, self.now(at)))
    }

    async fn inbound(&self, ids: &[InboundId], at: At) -> StoreResult<Vec<Option<Bytes>>> {
        let now = self.now(at);
        let state = self.state();
        let value = |id| {
            let message = state.chat.messages.get(id).filter(|message| message.until > now)?;
            Some(message.value.clone())
        };
        Ok(ids.iter().map(value).collect())
    }

    async fn inbound_of(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        Ok(self.state().chat.listed(|message| message.channel == *channel, before, limit))
    }

    async fn inbound_in(
        &self,
        thread: &ThreadId,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>> {
        let limit = limit.min(THREAD_MAX);
        Ok(self.state().chat.listed(|message| message.thread == *thread, before, limit))
    }
}
