//! The traits whose steps are not writes of one send record, and the types they exchange.
use super::chat::{Chat, Conversations};
use super::optouts::OptOuts;
use super::oversight::Oversight;
use super::pace::{Account, Gates};
use super::receipts::Receipts;
use super::records::{OpenSend, Records};
use super::traces::{TraceRef, Traces};
use crate::clock::Millis;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use contract::{ChannelName, MediaId, NotificationId, SendId, VisitorId};
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::sync::broadcast;

/// Whose clock a step goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The store's own.
    Store,
    /// A given time: tests.
    Given(Millis),
}

/// Why a step did not happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or refuses writes; nothing half-done. The text is for logs.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Another process holds the store.
    #[error("the store is locked by another process")]
    Locked,
    /// A stored value the store itself wrote cannot be read back.
    #[error("the store holds a value that cannot be read: {0}")]
    Corrupt(String),
}

/// What a step gives back.
pub type StoreResult<T> = Result<T, StoreError>;

/// Everything the gateway keeps.
pub trait Store:
    Opening
    + Queue
    + Records
    + Gates
    + Receipts
    + Traces
    + OptOuts
    + Inbox
    + Idempotency
    + MediaShelf
    + Oversight
    + Chat
    + Conversations
    + Upkeep
    + Send
    + Sync
{
}
impl<T> Store for T where
    T: Opening
        + Queue
        + Records
        + Gates
        + Receipts
        + Traces
        + OptOuts
        + Inbox
        + Idempotency
        + MediaShelf
        + Oversight
        + Chat
        + Conversations
        + Upkeep
        + Send
        + Sync
{
}

/// A queue: a family of lanes worked by one kind of worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(String);

impl QueueName {
    /// Sends of a channel: `out.<channel>`.
    #[must_use]
    pub fn out(channel: &ChannelName) -> Self {
        Self(format!("out.{channel}"))
    }
    /// Webhook events that wait to be worked.
    #[must_use]
    pub fn hook() -> Self {
        Self("hook".to_owned())
    }
    /// The stored name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// The channel whose sends it holds, if it holds sends.
    #[must_use]
    pub fn channel(&self) -> Option<&str> {
        self.0.strip_prefix("out.")
    }
    /// The queue of that stored name.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        Self(name.to_owned())
    }
}

/// A lane: a FIFO of items that go one after another. For sends, one recipient on one channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub String);

impl Lane {
    /// The lane of a recipient on a channel: 22 characters, so that no address appears in a key.
    #[must_use]
    pub fn of(channel: &ChannelName, recipient: &str) -> Self {
        let mut hasher = Sha256::new();
        for part in [channel.as_str().as_bytes(), &[0], recipient.as_bytes()] {
            hasher.update(part);
        }
        Self(URL_SAFE_NO_PAD.encode(&hasher.finalize()[..16]))
    }
}

/// A claim's proof: node and counter, used once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub String);

/// A lane held by a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Which queue.
    pub queue: QueueName,
    /// Which lane.
    pub lane: Lane,
    /// The proof.
    pub token: Token,
}

/// One claimed lane with its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// What to show when acting on it.
    pub hold: Hold,
    /// The head item's bytes: for sends, the send id.
    pub item: Bytes,
    /// For sends: the record, if there is one.
    pub record: Option<Bytes>,
    /// For sends: the notification's stored body, if there is one.
    pub body: Option<Bytes>,
    /// How often a lease on this head ran out before.
    pub reaps: u8,
    /// This claim took over a lease that had run out.
    pub reaped: bool,
    /// For sends: the recipient wants nothing from the account any more.
    pub opted_out: bool,
}

/// What a claim gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// At most as many as tokens were brought.
    pub leases: Vec<Lease>,
    /// When the next delayed lane comes due or the next lease runs out, if any is waiting.
    pub next_due: Option<Millis>,
    /// The account lets nothing go before then: it is out of breath or parked.
    pub wait_until: Option<Millis>,
    /// It is parked; `wait_until` is when it is to be probed.
    pub parked: bool,
}

/// What acting on a hold came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It was held; the step happened.
    Done,
    /// It is not, or no longer, the lane's token; nothing changed.
    Lost,
}

/// Where an item stands in its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// Items before it.
    pub ahead: u64,
    /// The lane's head.
    pub head: Bytes,
    /// The lane is being worked.
    pub is_worked: bool,
    /// The lane is delayed until then.
    pub due: Option<Millis>,
}

/// What is in a queue now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Items in all lanes.
    pub items: u64,
    /// Lanes that may be claimed.
    pub ready: u64,
    /// Lanes that wait for a time.
    pub delayed: u64,
    /// Lanes being worked.
    pub leased: u64,
    /// Since when the oldest claimable lane has been claimable.
    pub oldest_ready: Option<Millis>,
}

/// Lanes. The invariant: a non-empty lane is in exactly one of ready, delayed, leased.
#[async_trait]
pub trait Queue {
    /// Appends an item; a lane that was empty becomes ready, or delayed until `due`. Gives the
    /// lane's depth.
    async fn push(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: Bytes,
        due: Option<Millis>,
        at: At,
    ) -> StoreResult<u64>;

    /// Takes up to one lane for each token (≤ 32), each held for `lease`. Leases that ran out come
    /// first (their reaps + 1), then ready lanes in order; due lanes become ready before that. A
    /// parked account gives none, one out of breath as many as may go within a second.
    async fn claim(
        &self,
        queue: &QueueName,
        tokens: Vec<Token>,
        lease: Duration,
        account: Option<&Account>,
        at: At,
    ) -> StoreResult<Claimed>;

    /// Moves the deadline of these holds to now + `lease`; gives those still held.
    async fn extend(&self, holds: Vec<Hold>, lease: Duration, at: At) -> StoreResult<Vec<Hold>>;

    /// Removes the head and the lease; a next head makes the lane ready, or delayed until its
    /// recipient's pace lets it go.
    async fn ack(&self, hold: &Hold, at: At) -> StoreResult<Held>;

    /// Gives the lane back, delayed until `until`; the head stays.
    async fn defer_lane(&self, hold: &Hold, until: Millis, at: At) -> StoreResult<Held>;

    /// Moves the head's bytes to the poison list and goes on as [`Queue::ack`].
    async fn bury(&self, hold: &Hold, reason: &str, at: At) -> StoreResult<Held>;

    /// Where an item stands; none when it is in no lane of that name.
    async fn whereabouts(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: &[u8],
    ) -> StoreResult<Option<Whereabouts>>;

    /// Counts.
    async fn depth(&self, queue: &QueueName, at: At) -> StoreResult<QueueDepth>;

    /// Poisoned items, newest first, without their bytes.
    async fn poison(&self, limit: usize) -> StoreResult<Vec<Poison>>;
}

/// An item no worker could take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poison {
    /// When.
    pub at: Millis,
    /// Which queue.
    pub queue: QueueName,
    /// Which lane.
    pub lane: Lane,
    /// Head item as text when it is text.
    pub item: String,
    /// Why.
    pub reason: String,
    /// Size of the buried bytes.
    pub size: u64,
}

/// A list of the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every entry.
    Shared,
    /// The entries addressed to one identity.
    Slice(String),
}

/// One notification to be recorded.
#[derive(Clone, Debug)]
pub struct OpenStep {
    /// Its id; a repeat with the same id changes nothing and gives the first result.
    pub notification: NotificationId,
    /// Stored body: opaque.
    pub body: Bytes,
    /// Effective audience: the entry also goes to its slice.
    pub audience: Option<String>,
    /// The idempotency key's hash and what to keep under it.
    pub idempotency: Option<(String, Kept)>,
    /// How long that is kept.
    pub keep_for: Duration,
    /// The trace it joins, with its send.
    pub trace: Option<TraceRef>,
    /// The send, unless the notification is for the inbox alone.
    pub send: Option<OpenSend>,
    /// Entries a list holds at most.
    pub ring: u32,
    /// Lifetime of a slice after its last push.
    pub audience_ttl: Duration,
}

/// What is kept under an idempotency key: the store compares fingerprints only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256 of the request body.
    pub fingerprint: [u8; 32],
    /// Opaque state.
    pub state: Bytes,
}

/// What recording came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Recorded, now or by an earlier call with this very id.
    Opened,
    /// The idempotency key is there with the same fingerprint.
    Twin(Bytes),
    /// The idempotency key is there with another fingerprint.
    Conflict,
    /// The channel or the lane holds as much as it may.
    BacklogFull {
        /// Items waiting in what is full.
        depth: u64,
    },
    /// The recipient opted out meanwhile.
    OptedOut,
}

/// Recording.
#[async_trait]
pub trait Opening {
    /// Sequence number, body, ring and slice (push and trim), send record, indexes, lane and
    /// idempotency state: all or nothing. A list over `ring` drops its oldest, at most 200 a push.
    async fn open(&self, step: OpenStep, at: At) -> StoreResult<Opened>;
}

/// One stored notification and where it still stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Stored body.
    pub body: Bytes,
    /// In the shared ring.
    pub in_ring: bool,
    /// In its audience's slice, and that slice has not lapsed.
    pub in_slice: bool,
}

/// Reading the inbox.
#[async_trait]
pub trait Inbox {
    /// Newest first: sequence numbers and ids, those before `before` if given. A slice whose
    /// lifetime has passed is empty.
    async fn list(
        &self,
        scope: &Scope,
        before: Option<u64>,
        limit: usize,
        at: At,
    ) -> StoreResult<Vec<(u64, NotificationId)>>;

    /// Stored bodies, in the order asked.
    async fn bodies(&self, ids: &[NotificationId]) -> StoreResult<Vec<Option<Bytes>>>;

    /// One entry with its standing.
    async fn entry(&self, id: &NotificationId, at: At) -> StoreResult<Option<Entry>>;

    /// Header lines (`<rev> <status>[ w]`) of send records, in the order asked.
    async fn send_headers(&self, ids: &[SendId]) -> StoreResult<Vec<Option<String>>>;
}

/// Kept answers.
#[async_trait]
pub trait Idempotency {
    /// What is kept under this key's hash.
    async fn kept(&self, hash: &str, at: At) -> StoreResult<Option<Kept>>;
    /// Keeps the final answer over what `open` wrote, until the first deadline. Nothing happens
    /// when the key lapsed or holds another fingerprint.
    async fn keep(&self, hash: &str, kept: Kept, at: At) -> StoreResult<()>;
}

/// What is known of stored media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRow {
    /// The id, which is the capability.
    pub id: MediaId,
    /// Sniffed MIME type.
    pub content_type: String,
    /// Bytes.
    pub size: u64,
    /// Hex digest.
    pub sha256: String,
    /// When it was stored.
    pub created: Millis,
    /// When it goes.
    pub expires: Millis,
    /// Identity of the key, or the channel, that brought it.
    pub by: String,
}

/// What storing media came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaStored {
    /// Stored.
    Stored,
    /// Would pass the bound, after what had expired was swept; nothing stored.
    Full,
}

/// Largest piece [`MediaShelf::media_read`] gives, bytes.
pub const MEDIA_PIECE: u64 = 512 * 1024;

/// Media bytes. They never pass the writer of the embedded store: a file is complete before its
/// row exists.
#[async_trait]
pub trait MediaShelf {
    /// Stores bytes under a fresh id unless all media would then pass `total_max` bytes.
    async fn media_put(
        &self,
        row: MediaRow,
        bytes: Bytes,
        total_max: u64,
        at: At,
    ) -> StoreResult<MediaStored>;
    /// The row of an unexpired id.
    async fn media_row(&self, id: &MediaId, at: At) -> StoreResult<Option<MediaRow>>;
    /// Up to [`MEDIA_PIECE`] bytes from `offset`; empty past the end, `None` when it is gone.
    async fn media_read(&self, id: &MediaId, offset: u64, at: At) -> StoreResult<Option<Bytes>>;
    /// Moves expiries up to `until`, never down; unknown ids are passed over.
    async fn media_keep(&self, ids: &[MediaId], until: Millis, at: At) -> StoreResult<()>;
    /// Bytes held now.
    async fn media_bytes(&self) -> StoreResult<u64>;
}

/// A hint that something changed; correctness rests on polling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A queue has work.
    Queue(QueueName),
    /// A watched send record was written.
    Send(SendId),
    /// A frame was appended to a visitor's transcript.
    Frame(ChannelName, VisitorId),
}

/// What a sweep removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Media past their expiry, and files without a row that are older than an hour.
    Media,
    /// Lapsed audience slices, with bodies nothing else holds.
    Slices,
    /// Kept answers past their deadline.
    Idempotency,
    /// Sends past their retention, with everything that leads to them; a step may do fewer than
    /// asked while more are left.
    Sends,
    /// Exchanges past theirs, as [`Sweep::Sends`].
    Exchanges,
    /// Visitor sessions, transcripts, claims, inbound messages and threads past their deadline.
    Conversations,
}

/// Sweeps, signals, health.
#[async_trait]
pub trait Upkeep {
    /// Removes up to `limit` rows (≤ 200) of that kind; gives how many.
    async fn sweep(&self, what: Sweep, limit: usize, at: At) -> StoreResult<u64>;
    /// Ids of sends not final whose `expires_at` has passed, oldest first.
    async fn overdue(&self, limit: usize, at: At) -> StoreResult<Vec<SendId>>;
    /// Signals from now on. A slow reader misses some.
    fn signals(&self) -> broadcast::Receiver<Signal>;
    /// Answers when the store works.
    async fn ping(&self) -> StoreResult<()>;
}
