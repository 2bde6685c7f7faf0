//! The outbox: recorded sends become requests.
//!
//! [`dispatch`] holds one loop per channel: permits, then a claim of as many lanes, then one
//! [`worker`] per lane. A worker walks a send's parts: render, [`prepare`], begin (in the store
//! before a byte is written), [`exchange`], note the part at once, decide. [`leases`] keeps claimed
//! lanes held, [`pace`] waits for pacing lanes, [`parking`] stops an account that cannot send,
//! [`janitor`] ends what nobody works on, [`waiting`] wakes callers that wait, [`whereabouts`] says what a send waits for,
//! [`operate`] cancels and tries again, [`watch`] looks for what operators should hear of, and [`open`] is the step that put the send
//! there.
//!
//! Facts are merged, decisions are fenced: a provider id is recorded however late it comes, a
//! retry or a failure counts only from the holder of the lane and the current revision.
pub mod dispatch;
pub mod exchange;
pub mod janitor;
pub mod leases;
pub mod open;
pub mod operate;
pub mod pace;
pub mod parking;
pub mod prepare;
pub mod probes;
pub mod waiting;
pub mod watch;
pub mod whereabouts;
pub mod worker;

use crate::clock::Clock;
use crate::config::delivery::Retention;
use crate::ids::Ids;
use crate::inbox::notices::Notices;
use crate::metrics::Metrics;
use crate::registry::Channels;
use crate::sends::settle::Settler;
use crate::store::Store;
use crate::trace::spans::Spans;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, Semaphore};

/// A named place at which a test may stop the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Every check has passed, nothing is recorded.
    Opening,
    /// The send is recorded, the caller has no answer.
    Opened,
    /// A dispatcher is about to look at its queue.
    Looking,
    /// A lane is claimed, nothing begun.
    Claimed,
    /// The part is `sending` in the store, nothing written.
    Begun,
    /// The medium answered, nothing recorded.
    Answered,
    /// The part is recorded.
    Noted,
    /// Before a send is finished or deferred.
    Deciding,
}

/// Fail points: nothing in the product, an abort in the crash test.
pub trait Faults: Send + Sync {
    /// Called at each point.
    fn at(&self, point: Point);
}

/// The product's: nothing happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn at(&self, _point: Point) {}
}

/// What every part of the outbox shares.
pub struct Outbox {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The channels.
    pub channels: Arc<Channels>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids and jitter.
    pub ids: Arc<Ids>,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Fail points.
    pub faults: Arc<dyn Faults>,
    /// Tells operators.
    pub notices: Arc<Notices>,
    /// Settles receipts.
    pub settler: Arc<Settler>,
    /// For a collector.
    pub spans: Arc<Spans>,
    /// Bounds.
    pub settings: Settings,
    /// Held lanes.
    pub leases: leases::Leases,
    /// Callers that wait.
    pub waiting: waiting::Waiting,
    /// Workers of the whole process.
    pub permits: Arc<Semaphore>,
    digest: Mutex<String>,
    /// Wakes the dispatchers of this process.
    pub wake: Notify,
    draining: AtomicBool,
    looked_at: AtomicI64,
}

/// Bounds of the outbox.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a claim holds a lane.
    pub lease: std::time::Duration,
    /// Workers.
    pub workers: u32,
    /// Attempts keep bodies.
    pub attempt_bodies: bool,
    /// `listen.public_url`.
    pub public_url: Option<String>,
    /// Names this process in claim tokens.
    pub node: String,
    /// Items a queue may hold.
    pub backlog_max: u64,
    /// Items a lane may hold.
    pub lane_max: u64,
    /// Entries an inbox list holds.
    pub ring: u32,
    /// Lifetime of an audience's slice.
    pub audience_ttl: std::time::Duration,
    /// A claimable lane that waits longer is told.
    pub ready_lane_age: std::time::Duration,
    /// How long what final sends leave is kept.
    pub retention: Retention,
    /// Of the configuration, to compare nodes by.
    pub digest: String,
}

/// What an outbox is made of.
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The channels.
    pub channels: Arc<Channels>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids and jitter.
    pub ids: Arc<Ids>,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Fail points.
    pub faults: Arc<dyn Faults>,
    /// Tells operators.
    pub notices: Arc<Notices>,
    /// Settles receipts.
    pub settler: Arc<Settler>,
    /// For a collector.
    pub spans: Arc<Spans>,
    /// Bounds.
    pub settings: Settings,
}

impl Outbox {
    /// An outbox that does not run yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(parts.settings.workers as usize)),
            leases: leases::Leases::default(),
            waiting: waiting::Waiting::default(),
            notices: parts.notices,
            settler: parts.settler,
            spans: parts.spans,
            digest: Mutex::new(parts.settings.digest.clone()),
            wake: Notify::new(),
            draining: AtomicBool::new(false),
            // A process that has just begun is not one that stands still.
            looked_at: AtomicI64::new(parts.clock.now().0),
            store: parts.store,
            channels: parts.channels,
            clock: parts.clock,
            ids: parts.ids,
            metrics: parts.metrics,
            faults: parts.faults,
            settings: parts.settings,
        }
    }

    /// Claims stop; workers finish their current part and give their lanes back.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
        self.wake.notify_waiters();
        self.waiting.release_all();
    }

    /// True once [`Outbox::drain`] was called.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// When a queue was last looked at: readiness.
    #[must_use]
    pub fn looked_at(&self) -> crate::clock::Millis {
        crate::clock::Millis(self.looked_at.load(Ordering::SeqCst))
    }

    fn note_look(&self) {
        self.looked_at.store(self.clock.now().0, Ordering::SeqCst);
    }
}
