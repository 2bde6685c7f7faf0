//! Callers that asked to wait. They register before the send is recorded; each write of a watched
//! record wakes them, and they look once a second besides.
use super::Outbox;
use crate::store::Signal;
use contract::SendId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The waiting callers by send.
#[derive(Default)]
pub struct Waiting(Mutex<HashMap<SendId, (Arc<Notify>, usize)>>);

/// One waiting caller; forgotten when dropped.
pub struct Waiter<'a> {
    waiting: &'a Waiting,
    send: SendId,
    /// Woken by each write of the send.
    pub notify: Arc<Notify>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = waiting.get_mut(&self.send) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.send);
            }
        }
    }
}

impl Waiting {
    /// Registers a caller.
    #[must_use]
    pub fn register(&self, send: &SendId) -> Waiter<'_> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let row = waiting.entry(send.clone()).or_default();
        row.1 += 1;
        Waiter { waiting: self, send: send.clone(), notify: row.0.clone() }
    }

    fn wake(&self, send: &SendId) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((notify, _)) = waiting.get(send) {
            notify.notify_waiters();
            // A caller between its look and its wait must not sleep through this one.
            notify.notify_one();
        }
    }

    /// Wakes everyone: the gateway drains.
    pub fn release_all(&self) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (notify, _) in waiting.values() {
            notify.notify_waiters();
            notify.notify_one();
        }
    }
}

/// Hands the store's signals on to waiting callers, until the store ends.
pub async fn hand_on(outbox: Arc<Outbox>) {
    let mut signals = outbox.store.signals();
    loop {
        match signals.recv().await {
            Ok(Signal::Send(send)) => outbox.waiting.wake(&send),
            Ok(Signal::Queue(_) | Signal::Frame(..)) => {}
            Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                outbox.waiting.release_all();
            }
            Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
        }
    }
}
