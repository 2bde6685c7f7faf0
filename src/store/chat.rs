//! Visitors of the web chat, their transcripts, and what people say: steps and the types they
//! exchange.
//!
//! A visitor session is a token (kept as its hash) that one browser holds; under it the browser has
//! one visitor for each web channel. A transcript is a list of frames with strictly rising ids.
//! Whoever appends proposes an id; the step refuses one that is not above the newest and names that
//! one, so two nodes with different clocks agree on one order. Frames and inbound messages are
//! opaque here.
use super::records::{Commit, ProviderRef};
use super::steps::{At, Hold, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, InboundId, ThreadId, VisitorId};
use std::fmt;
use std::time::Duration;

/// SHA-256 of a visitor's token in hex: the token itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenHash(pub String);

/// A frame's place: milliseconds and a number within them, spelt `<ms>-<n>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId {
    /// Milliseconds since the epoch.
    pub ms: u64,
    /// Within the millisecond.
    pub n: u64,
}

impl FrameId {
    /// Before every frame.
    pub const START: Self = Self { ms: 0, n: 0 };

    /// Reads `^\d{1,15}-\d{1,10}$`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, n) = text.split_once('-')?;
        let number = |digits: &str, most: usize| {
            let fine =
                (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
            fine.then(|| digits.parse().ok()).flatten()
        };
        Some(Self { ms: number(ms, 15)?, n: number(n, 10)? })
    }

    /// The id to propose at this time, above `newest`.
    #[must_use]
    pub fn after(newest: Self, now: Millis) -> Self {
        let ms = u64::try_from(now.0).unwrap_or(0);
        if ms > newest.ms { Self { ms, n: 0 } } else { Self { ms: newest.ms, n: newest.n + 1 } }
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.n)
    }
}

/// A browser comes to a channel's page.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Which page.
    pub channel: ChannelName,
    /// The token it brought.
    pub given: Option<TokenHash>,
    /// The token it gets when it brought none that is known.
    pub fresh: TokenHash,
    /// The visitor it becomes when it is none of this channel yet.
    pub visitor: VisitorId,
    /// Until when a known session is kept after this use.
    pub until: Millis,
    /// Until when a new one is kept unless it comes back.
    pub pending_until: Millis,
}

/// What a browser is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visited {
    /// Its visitor on the channel.
    pub visitor: VisitorId,
    /// The token it brought is unknown or lapsed: it gets the fresh one.
    pub fresh: bool,
}

/// A frame to append to a transcript.
#[derive(Clone, Debug)]
pub struct Append {
    /// Which page.
    pub channel: ChannelName,
    /// Whose transcript.
    pub visitor: VisitorId,
    /// Proposed place.
    pub id: FrameId,
    /// Opaque.
    pub frame: Bytes,
    /// Frames kept.
    pub keep: u32,
    /// Lifetime of the transcript from now.
    pub ttl: Duration,
}

/// What an append together with a send's part came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameNoted {
    /// Both are written.
    Done,
    /// The newest frame's id is not below the proposed one; nothing written.
    Behind(FrameId),
    /// The visitor is unknown or has lapsed; nothing written.
    NoVisitor,
    /// As [`super::Committed::Conflict`].
    Conflict(Bytes),
    /// As [`super::Committed::Gone`].
    Gone,
}

/// One inbound message to be recorded.
#[derive(Clone, Debug)]
pub struct InboundStep {
    /// Its id; a repeat with the same id changes nothing and gives the first result.
    pub id: InboundId,
    /// On which channel.
    pub channel: ChannelName,
    /// When we received it: the score of its indexes.
    pub received_at: Millis,
    /// First stored value: opaque.
    pub value: Bytes,
    /// Hash of the address that names the thread.
    pub address: String,
    /// The thread it is placed in, as `value` says: the one found, or a new one.
    pub thread: ThreadId,
    /// The thread's stored value: opaque.
    pub thread_value: Bytes,
    /// How long the message and, after its last use, the thread are kept.
    pub keep: Duration,
    /// What names the event, so that it acts once.
    pub claim: Option<Claim>,
    /// The frame that shows the person what they said.
    pub frame: Option<Append>,
}

/// What names an event among all of its channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Hash of the claim key.
    pub hash: String,
    /// How long it is kept.
    pub keep: Duration,
    /// Hash of what was said under it.
    pub fingerprint: String,
}

/// What recording an inbound message came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Recorded, now or by an earlier call with this very id.
    Done,
    /// The claim is held by this message.
    Seen {
        /// Which was recorded under it.
        id: InboundId,
        /// It said the same.
        same: bool,
    },
    /// The address has another thread by now; nothing written.
    Thread(ThreadId),
    /// As [`FrameNoted::Behind`].
    Behind(FrameId),
    /// As [`FrameNoted::NoVisitor`].
    NoVisitor,
}

/// Visitors and transcripts.
#[async_trait]
pub trait Chat {
    /// Takes a browser in: the session it brought is prolonged, or a new one made; it becomes a
    /// visitor of the channel if it is none yet.
    async fn visit(&self, visit: Visit, at: At) -> StoreResult<Visited>;

    /// The visitor a token stands for on a channel, prolonged until `until`.
    async fn visitor(
        &self,
        channel: &ChannelName,
        token: &TokenHash,
        until: Millis,
        at: At,
    ) -> StoreResult<Option<VisitorId>>;

    /// Whether an address is a known, unexpired visitor of this channel.
    async fn visitor_known(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<bool>;

    /// Writes a part's acceptance and its frame together: a frame is never appended twice and never
    /// without its record. With `last`, and if that hold still stands, the lane's head goes.
    async fn note_frame(
        &self,
        commit: Commit,
        provider: ProviderRef,
        append: Append,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<FrameNoted>;

    /// Oldest and newest id of a transcript; `None` when it is empty or has lapsed.
    async fn transcript_ends(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<Option<(FrameId, FrameId)>>;

    /// Frames strictly after `after` and up to `until`, oldest first.
    async fn transcript(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        after: FrameId,
        until: FrameId,
        limit: usize,
    ) -> StoreResult<Vec<(FrameId, Bytes)>>;
}

/// Inbound messages and threads.
#[async_trait]
pub trait Conversations {
    /// Message, thread, indexes, claim and frame: all or nothing.
    async fn record_inbound(&self, step: InboundStep, at: At) -> StoreResult<Recorded>;

    /// The thread of an address, by its hash.
    async fn thread_of(
        &self,
        channel: &ChannelName,
        address: &str,
        at: At,
    ) -> StoreResult<Option<ThreadId>>;

    /// Stored values of messages, in the order asked.
    async fn inbound(&self, ids: &[InboundId], at: At) -> StoreResult<Vec<Option<Bytes>>>;

    /// Ids of a channel's messages before a place, newest first.
    async fn inbound_of(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>>;

    /// Ids of a thread's messages before a place, newest first.
    async fn inbound_in(
        &self,
        thread: &ThreadId,
        before: Option<(Millis, InboundId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, InboundId)>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_25_frame_ids_are_read_strictly_and_rise() {
        for text in ["0-0", "1790000000000-0", "1-4294967295"] {
            assert_eq!(FrameId::parse(text).map(|id| id.to_string()).as_deref(), Some(text));
        }
        for bad in
            ["", "-", "1", "1-", "-1", "-1-0", "abc", "1-2-3", "+1-0", "1 -0", "1-11111111111"]
        {
            assert_eq!(FrameId::parse(bad), None, "{bad}");
        }
        let newest = FrameId { ms: 10, n: 3 };
        for (now, wanted) in [(11, "11-0"), (10, "10-4"), (9, "10-4"), (-5, "10-4")] {
            let next = FrameId::after(newest, Millis(now));
            assert!(next > newest);
            assert_eq!(next.to_string(), wanted);
        }
    }
}
