//! The Redis store: any number of gateways share one Redis 7, alone, behind Sentinels or a Cluster.
//!
//! - `keys` names the keys; all carry one hash tag, so every step is a script in one slot.
//! - `scripts` holds the steps (`store/scripts/*.lua`), `link` the connection they run over and what
//!   happens when it is lost, `dial` the ways to make one, `reply` how answers are read.
//! - `facts` remembers what was lately written about parts, for a server that lost it.
//! - `start` checks the server before it is used; `signals` listens for wake-ups on a connection of
//!   its own.
//! - `opening`, `queue`, `records`, `receipts`, `gates`, `optouts`, `inbox`, `media`, `oversight`, `upkeep`
//!   implement the traits.
//!
//! What is stored is opaque: a script compares revisions and moves bytes. Where it must know more
//! the store adds its own bytes to a value and takes them off again when it is read: a record
//! carries a second line (its notification and provider ids), a body an ending (its audience and
//! send). A missing key is an empty one everywhere, so a flushed server works at once.
//!
//! Life of one notification: `open.lua` writes body, lists, record, indexes and the lane in one
//! step and publishes the queue's name. A node claims the lane (`q_claim.lua`), which writes token
//! and deadline in one step; `begin`, `note_part` and `finish` compare the record's revision and
//! the lane's token. A lease that ran out is found by its deadline by whichever node claims next.
mod chat;
mod dial;
mod facts;
mod gates;
mod inbox;
mod keys;
mod link;
mod listing;
mod media;
mod opening;
mod optouts;
mod oversight;
mod queue;
mod receipts;
mod records;
mod reply;
mod scripts;
mod signals;
mod start;
mod traces;
mod upkeep;

use super::steps::Signal;
pub use dial::{Mode, Options};
use link::Link;
use queue::Unanswered;
pub use start::StartRefused;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

/// Signals a slow reader may lag behind.
const SIGNALS: usize = 4096;

/// The store.
pub struct Redis {
    link: Arc<Link>,
    signals: broadcast::Sender<Signal>,
    listener: JoinHandle<()>,
    unanswered: Unanswered,
    /// Of the last claim, ms.
    lease: AtomicU64,
}

impl Redis {
    /// Connects, checks the server, and listens.
    ///
    /// # Errors
    /// Why the server cannot be used; names its address, never a password.
    pub async fn open(options: Options) -> Result<Self, StartRefused> {
        let link = start::checked(options).await?;
        let (signals, _) = broadcast::channel(SIGNALS);
        let listener = signals::listen(link.clone(), signals.clone()).await;
        Ok(Self {
            link,
            signals,
            listener,
            unanswered: Unanswered::default(),
            lease: AtomicU64::new(0),
        })
    }
}

impl Redis {
    /// How long this node's claims hold a lane.
    fn lease(&self) -> Duration {
        Duration::from_millis(self.lease.load(Ordering::Relaxed))
    }

    fn note_lease(&self, lease: Duration) {
        let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        self.lease.store(lease, Ordering::Relaxed);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
