//! What the gateway keeps about itself: which notices it may write, and which of its nodes live.
use super::steps::{At, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use contract::ChannelName;
use std::collections::BTreeMap;
use std::time::Duration;

/// A node that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Its id.
    pub node: String,
    /// What it last said about itself: opaque, without line breaks.
    pub says: String,
    /// When.
    pub seen: Millis,
}

/// What the store's server says about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What was acknowledged outlives a stop of the server.
    pub durable: bool,
    /// Memory in use of what it may use; none where there is no bound.
    pub memory: Option<f64>,
}

/// Counts of one hour by name; `backlog` is the last that was seen.
pub type HourCounts = BTreeMap<String, u64>;

/// How long an hour's counts are kept after they were last added to.
pub const HOURS_FOR: Duration = Duration::from_secs(26 * 3600);

/// Steps that watch over the gateway.
#[async_trait]
pub trait Oversight {
    /// Notes that something happened which operators should read of. Gives how often it happened
    /// since it was last told, this time included, when it may be told now; nothing while `every`
    /// has not passed since. One answer for all nodes.
    async fn announce(
        &self,
        kind: &str,
        scope: &str,
        every: Duration,
        at: At,
    ) -> StoreResult<Option<u64>>;

    /// Notes that a node is alive and what it says; forgets nodes not seen for `keep`. Gives every
    /// node there is, by id.
    async fn beat(&self, node: &str, says: &str, keep: Duration, at: At) -> StoreResult<Vec<Beat>>;

    /// Adds counts to an hour (`yyyymmddhh`) of a channel, and notes its backlog.
    async fn add_hour(
        &self,
        channel: &ChannelName,
        hour: &str,
        counts: &HourCounts,
        backlog: Option<u64>,
    ) -> StoreResult<()>;

    /// The counts of these hours, in the order asked.
    async fn hours(&self, channel: &ChannelName, hours: &[String]) -> StoreResult<Vec<HourCounts>>;

    /// Dead letters of a channel.
    async fn dead_letters(&self, channel: &ChannelName) -> StoreResult<u64>;

    /// How the server is doing.
    async fn condition(&self) -> StoreResult<Condition>;
}
