//! Send records as the store sees them: a header line, opaque bytes, and the indexes beside them.
//!
//! A stored record is `<rev> <status>[ w]\n` and then bytes. The store compares `rev`, shows the
//! header, and publishes a signal when the ` w` (watched) is there; it reads nothing else.
use super::optouts::OptChange;
use super::pace::{Pacing, Wait};
use super::steps::{At, Hold, Lane, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};

/// The send of a notification being opened.
#[derive(Clone, Debug)]
pub struct OpenSend {
    /// Its id.
    pub id: SendId,
    /// On which channel.
    pub channel: ChannelName,
    /// In which lane.
    pub lane: Lane,
    /// First stored value, revision 1.
    pub record: Bytes,
    /// Identities whose own index lists it.
    pub owners: Vec<String>,
    /// When it was made: the score of its indexes.
    pub created_at: Millis,
    /// When it expires unless accepted.
    pub expires_at: Millis,
    /// Most items of the channel's queue.
    pub backlog_max: u64,
    /// Most items of the lane.
    pub lane_max: u64,
}

impl OpenSend {
    /// How much may wait.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds { backlog_max: self.backlog_max, lane_max: self.lane_max }
    }
}

/// One compare-and-swap write of a record with what goes along.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Which send.
    pub id: SendId,
    /// Its channel.
    pub channel: ChannelName,
    /// The revision this write replaces.
    pub rev: u64,
    /// The new value, whose header carries `rev + 1`.
    pub value: Bytes,
    /// Log lines taken over by a write that makes the send final: appended to the send's log.
    pub log: Option<Bytes>,
    /// One exchange to append to the send's exchanges, newest kept up to 256 KiB.
    pub exchange: Option<Bytes>,
    /// Whether the send is listed as not final.
    pub active: Active,
    /// Whether the send is a dead letter.
    pub dead: Dead,
    /// What it says about its recipient.
    pub opt: OptChange,
}

/// A change of the index of sends that are not final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// Leave it.
    Keep,
    /// List it until this expiry.
    Until(Millis),
    /// It is final, and nothing is said of how long it is kept.
    Remove,
    /// It is final and kept so long.
    Final(Keep),
}

/// Until when what belongs to a final send is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Record, log, indexes, provider ids; the content too, unless a list of the inbox holds it.
    pub until: Millis,
    /// Exchanges, at most as long.
    pub exchanges: Millis,
}

/// A change of the dead-letter index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dead {
    /// Leave it.
    Keep,
    /// It failed, expired or is unknown since this time.
    Since(Millis),
    /// It is no dead letter.
    Remove,
}

/// What a write came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Written.
    Done,
    /// The record has another revision: its current value.
    Conflict(Bytes),
    /// There is no such record.
    Gone,
    /// The hold that went with the write is lost; nothing written.
    Lost,
    /// Pacing holds the request back; nothing written. From [`Records::begin`] alone.
    Wait(Wait),
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most items of the channel's queue.
    pub backlog_max: u64,
    /// Most items of the lane.
    pub lane_max: u64,
}

/// What queueing a send again came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requeued {
    /// As the write: queued with [`Committed::Done`] alone.
    Written(Committed),
    /// The channel or the lane holds as much as it may; nothing written.
    BacklogFull {
        /// Items waiting in what is full.
        depth: u64,
    },
}

/// A provider's message id to index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRef {
    /// Hash of the provider message id.
    pub hash: String,
    /// The part it belongs to.
    pub part: u16,
}

/// What noting a part came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// Written; receipts that had come early are handed over, oldest first.
    Done {
        /// Their bytes.
        shelved: Vec<Bytes>,
    },
    /// As [`Committed::Conflict`].
    Conflict(Bytes),
    /// As [`Committed::Gone`].
    Gone,
}

/// An index of sends, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SendIndex {
    /// All of a channel.
    Channel(ChannelName),
    /// Those of one recipient.
    Recipient(ChannelName, Lane),
    /// Those an owned key sees.
    Owner(String),
    /// Dead letters of a channel.
    Dead(ChannelName),
}

/// Steps on send records.
#[async_trait]
pub trait Records {
    /// The stored value.
    async fn record(&self, id: &SendId) -> StoreResult<Option<Bytes>>;

    /// Writes.
    async fn commit(&self, commit: Commit, at: At) -> StoreResult<Committed>;

    /// Writes if the lease is still held and both pacing lanes let the request go, which then moves
    /// them: what precedes the first byte of a request.
    async fn begin(
        &self,
        commit: Commit,
        hold: &Hold,
        pacing: Option<Pacing>,
        at: At,
    ) -> StoreResult<Committed>;

    /// Writes a fact: a provider id and the move it brought. Needs no lease. With `last`, and if
    /// that hold still stands, the lane's head goes as by an acknowledgement.
    async fn note_part(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted>;

    /// Writes and removes the lane's head.
    async fn finish(&self, commit: Commit, hold: &Hold, at: At) -> StoreResult<Committed>;

    /// Writes and gives the lane back until `until`.
    async fn defer(
        &self,
        commit: Commit,
        hold: &Hold,
        until: Millis,
        at: At,
    ) -> StoreResult<Committed>;

    /// Writes, and takes the send's item out of its lane. `Lost`: it is being worked; nothing is
    /// written.
    async fn cancel(&self, commit: Commit, lane: &Lane, at: At) -> StoreResult<Committed>;

    /// Writes, and appends the send to its lane again.
    async fn requeue(
        &self,
        commit: Commit,
        lane: &Lane,
        bounds: Bounds,
        at: At,
    ) -> StoreResult<Requeued>;

    /// Ids of an index before a place, newest first.
    async fn sends(
        &self,
        index: &SendIndex,
        before: Option<(Millis, SendId)>,
        limit: usize,
    ) -> StoreResult<Vec<(Millis, SendId)>>;

    /// The send and part a provider message id belongs to.
    async fn by_provider(
        &self,
        channel: &ChannelName,
        hash: &str,
    ) -> StoreResult<Option<(SendId, u16)>>;

    /// The log of a send.
    async fn log(&self, id: &SendId) -> StoreResult<Bytes>;

    /// The exchanges of a send, oldest first.
    async fn exchanges(&self, id: &SendId) -> StoreResult<Vec<Bytes>>;
}
