//! Streams that wait for a visitor's next frame, and the slots they hold.
//!
//! A signal of the store is a hint: a stream looks again besides, so a lost one delays a frame and
//! never loses it. A slot belongs to the stream's own lifetime: whatever ends it gives it back. A
//! client that went away is found out by writing to it, so whoever needs a slot may ask the
//! visitor's streams to say something ([`Streams::sound`]).
use crate::store::{Signal, Store};
use contract::{ChannelName, VisitorId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

type Watched = (ChannelName, VisitorId);

/// Open streams by visitor.
#[derive(Default)]
pub struct Streams(Mutex<Open>);

#[derive(Default)]
struct Open {
    visitors: HashMap<Watched, (Arc<Bell>, u32)>,
    channels: HashMap<ChannelName, u32>,
}

/// What wakes the streams of one visitor.
#[derive(Default)]
pub struct Bell {
    notify: Notify,
    sounded: AtomicU64,
}

impl Bell {
    /// Ends with the next wake.
    pub async fn rung(&self) {
        self.notify.notified().await;
    }
    /// How often the streams were asked to say something.
    #[must_use]
    pub fn sounded(&self) -> u64 {
        self.sounded.load(Ordering::Relaxed)
    }
    /// Wakes those that wait, and one that is between its look and its wait; the others look again
    /// soon.
    fn ring(&self) {
        self.notify.notify_waiters();
        self.notify.notify_one();
    }
}

/// Which bound is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The visitor's.
    Visitor,
    /// The node's.
    Node,
}

/// One open stream; its slot is free again when this is dropped.
pub struct Slot {
    streams: Arc<Streams>,
    watched: Watched,
    /// Woken by each frame of the visitor, and when the gateway drains.
    pub bell: Arc<Bell>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        if let Some((_, count)) = open.visitors.get_mut(&self.watched) {
            *count -= 1;
            if *count == 0 {
                open.visitors.remove(&self.watched);
            }
        }
        if let Some(count) = open.channels.get_mut(&self.watched.0) {
            *count -= 1;
            if *count == 0 {
                open.channels.remove(&self.watched.0);
            }
        }
    }
}

impl Streams {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot.
    ///
    /// # Errors
    /// The bound that is reached.
    pub fn take(
        self: &Arc<Self>,
        channel: &ChannelName,
        visitor: &VisitorId,
        per_visitor: u32,
        per_node: u32,
    ) -> Result<Slot, Full> {
        let watched = (channel.clone(), visitor.clone());
        let mut open = self.open();
        if open.visitors.get(&watched).is_some_and(|(_, count)| *count >= per_visitor) {
            return Err(Full::Visitor);
        }
        let on_channel = open.channels.entry(channel.clone()).or_default();
        if *on_channel >= per_node {
            return Err(Full::Node);
        }
        *on_channel += 1;
        let (bell, count) = open.visitors.entry(watched.clone()).or_default();
        *count += 1;
        let bell = bell.clone();
        drop(open);
        Ok(Slot { streams: self.clone(), watched, bell })
    }

    /// Streams open now.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.open().channels.values().map(|count| u64::from(*count)).sum()
    }

    fn wake(&self, watched: &Watched) {
        if let Some((bell, _)) = self.open().visitors.get(watched) {
            bell.ring();
        }
    }

    /// Asks the visitor's streams to say something: one whose client is gone ends by that.
    pub fn sound(&self, channel: &ChannelName, visitor: &VisitorId) {
        if let Some((bell, _)) = self.open().visitors.get(&(channel.clone(), visitor.clone())) {
            bell.sounded.fetch_add(1, Ordering::Relaxed);
            bell.ring();
        }
    }

    /// Wakes every stream: signals were missed, or the gateway drains.
    pub fn wake_all(&self) {
        for (bell, _) in self.open().visitors.values() {
            bell.ring();
        }
    }
}

/// Hands the store's signals on to open streams, until the store ends.
pub async fn hand_on(store: Arc<dyn Store>, streams: Arc<Streams>) {
    let mut signals = store.signals();
    loop {
        match signals.recv().await {
            Ok(Signal::Frame(channel, visitor)) => streams.wake(&(channel, visitor)),
            Ok(Signal::Queue(_) | Signal::Send(_)) => {}
            Err(RecvError::Lagged(_)) => streams.wake_all(),
            Err(RecvError::Closed) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_27_slots_are_bounded_and_come_back_however_a_stream_ends() {
        let streams = Arc::new(Streams::default());
        let channel = ChannelName::parse("web").unwrap();
        let take = |visitor| streams.take(&channel, &VisitorId::from_bits(visitor), 2, 3);
        for _ in 0..1000 {
            drop(take(1).unwrap());
        }
        let held = (take(1).unwrap(), take(1).unwrap(), take(2).unwrap());
        assert_eq!(take(1).err(), Some(Full::Visitor));
        assert_eq!(take(3).err(), Some(Full::Node));
        assert_eq!(streams.count(), 3);
        drop(held);
        assert_eq!(streams.count(), 0);
        assert!(streams.open().visitors.is_empty() && streams.open().channels.is_empty());
        assert!(take(3).is_ok());
    }
}
