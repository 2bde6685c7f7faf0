//! Receipts that reach a record, and those that came before there was one to reach.
//!
//! A receipt whose provider id is not known yet is shelved under that id. The step that writes the
//! id hands the shelf over and leaves it for another minute: whoever was handed it settles what lies
//! there and clears it, and if that process dies, a sweep hands it over again. A receipt is told
//! apart from its repeat by its record, so being handed over twice changes nothing.
use super::records::{Commit, Noted, ProviderRef};
use super::steps::{At, Hold, Lane, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use std::time::Duration;

/// Receipts that lie under one provider id at most.
pub const SHELF_MAX: usize = 16;
/// How long a shelf that was handed over waits to be cleared.
pub const HANDED_OVER: Duration = Duration::from_secs(60);
/// Unmatched receipts kept, about.
pub const ORPHANS_MAX: u64 = 10_000;
/// How long one is kept.
pub const ORPHANS_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// What shelving came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shelved {
    /// It lies there.
    Kept,
    /// Its provider id is known by now: it belongs to this part; nothing was shelved.
    Found(SendId, u16),
    /// The shelf holds as many as it may; nothing was shelved.
    Full,
}

/// A shelf whose time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapsed {
    /// Channel.
    pub channel: ChannelName,
    /// Hash of the provider id.
    pub hash: String,
    /// What lay there, oldest first.
    pub receipts: Vec<Bytes>,
    /// The part the id belongs to by now: the shelf stays, to be settled and cleared. Without one
    /// the shelf is gone and its receipts are listed as unmatched.
    pub found: Option<(SendId, u16)>,
}

/// A receipt no send was found for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its place in the list: what [`Receipts::orphans`] reads before.
    pub place: String,
    /// When it was given up.
    pub at: Millis,
    /// Channel.
    pub channel: ChannelName,
    /// Its bytes.
    pub receipt: Bytes,
}

/// Steps of receipts.
#[async_trait]
pub trait Receipts {
    /// Writes what a receipt made of a record, as [`super::Records::note_part`]; `requeue` appends
    /// the send to that lane of its channel's queue, `hook` acknowledges the item it came from.
    async fn settle(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        requeue: Option<&Lane>,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted>;

    /// Lays a receipt down until its provider id is written, or `keep` has passed; a shelf lapses
    /// as a whole, `keep` after its first receipt. Acknowledges `hook` when it lies there.
    async fn shelve(
        &self,
        channel: &ChannelName,
        hash: &str,
        receipt: Bytes,
        keep: Duration,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Shelved>;

    /// What was handed over is settled.
    async fn clear_shelf(&self, channel: &ChannelName, hash: &str) -> StoreResult<()>;

    /// Takes up to `limit` shelves whose time has passed.
    async fn lapse_shelves(&self, limit: usize, at: At) -> StoreResult<Vec<Lapsed>>;

    /// Unmatched receipts, newest first, before a place if given.
    async fn orphans(&self, before: Option<&str>, limit: usize) -> StoreResult<Vec<Orphan>>;
}
