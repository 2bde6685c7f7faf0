//! The in-memory model: the reference every store is compared with, and a store for fast tests.
//!
//! One mutex over plain collections: every step locks, decides, changes, unlocks, so each is atomic
//! by construction. Nothing is indexed that a sort can find; being obviously right is its only aim.
//! It forgets everything when dropped.
mod chat;
mod gates;
mod inbox;
mod lanes;
mod media;
mod optouts;
mod oversight;
mod receipts;
mod records;
mod traces;

use super::optouts::OptRow;
use super::oversight::HourCounts;
use super::pace::Parked;
use super::records::{Keep, SendIndex};
use super::steps::{At, Kept, Lane, MediaRow, Poison, QueueName, Signal};
use crate::clock::{Clock, Millis};
use bytes::Bytes;
use contract::{ChannelName, MediaId, NotificationId, SendId};
use lanes::LaneModel;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Signals a slow reader may lag behind.
const SIGNALS: usize = 4096;

/// The model.
pub struct Model {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    signals: broadcast::Sender<Signal>,
}

impl Model {
    /// An empty one that goes by this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (signals, _) = broadcast::channel(SIGNALS);
        Self { state: Mutex::default(), clock, signals }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self, at: At) -> Millis {
        match at {
            At::Store => self.clock.now(),
            At::Given(now) => now,
        }
    }

    fn signal(&self, signal: Option<Signal>) {
        if let Some(signal) = signal {
            // Nobody listening is no fault.
            let _ = self.signals.send(signal);
        }
    }
}

/// Everything there is.
#[derive(Default)]
struct State {
    sequence: u64,
    bodies: BTreeMap<NotificationId, BodyModel>,
    ring: BTreeMap<u64, NotificationId>,
    slices: HashMap<String, SliceModel>,
    kept: BTreeMap<String, (Millis, Kept)>,
    sends: BTreeMap<SendId, SendModel>,
    indexes: HashMap<SendIndex, BTreeSet<(Millis, SendId)>>,
    provider: HashMap<(ChannelName, String), (SendId, u16)>,
    queues: HashMap<QueueName, BTreeMap<String, LaneModel>>,
    turn: u64,
    poison: Vec<Poison>,
    paces: HashMap<(String, Option<String>), (i64, Millis)>,
    parked: HashMap<ChannelName, Parked>,
    opt_outs: BTreeMap<(ChannelName, Lane), OptRow>,
    media: BTreeMap<MediaId, (MediaRow, Bytes)>,
    notices: BTreeMap<(String, String), (Millis, u64)>,
    nodes: BTreeMap<String, (Millis, String)>,
    chat: chat::ChatModel,
    shelves: BTreeMap<(ChannelName, String), Shelf>,
    orphans: Vec<(Millis, ChannelName, Bytes)>,
    traces: BTreeMap<String, (Millis, Vec<String>)>,
    hours: BTreeMap<(ChannelName, String), HourCounts>,
}

/// A stored notification.
struct BodyModel {
    sequence: u64,
    audience: Option<String>,
    send: bool,
    body: Bytes,
}

/// An audience's slice.
#[derive(Default)]
struct SliceModel {
    expires: Millis,
    entries: BTreeMap<u64, NotificationId>,
}

/// A send.
struct SendModel {
    notification: NotificationId,
    record: Bytes,
    active: Option<Millis>,
    dead: Option<Millis>,
    keep: Option<Keep>,
    log: Vec<u8>,
    exchanges: Vec<Bytes>,
}

/// Receipts under one provider id.
struct Shelf {
    until: Millis,
    receipts: Vec<Bytes>,
}
