//! The lanes this process holds. One task extends them all; a worker asks whether its own still
//! stands before it begins another part.
use super::Outbox;
use crate::store::{At, Hold};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Held lanes by token.
#[derive(Default)]
pub struct Leases {
    held: Mutex<HashMap<String, (Hold, Arc<AtomicBool>)>>,
    counter: AtomicU64,
}

/// One held lane; forgotten when dropped.
pub struct Held<'a> {
    leases: &'a Leases,
    /// What to show the store.
    pub hold: Hold,
    lost: Arc<AtomicBool>,
}

impl Held<'_> {
    /// True when the store said that the lane went to somebody else.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = self.leases.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&self.hold.token.0);
    }
}

impl Leases {
    /// A fresh token: node and counter, used once.
    #[must_use]
    pub fn token(&self, node: &str) -> crate::store::Token {
        let n = self.counter.fetch_add(1, Ordering::Relaxed);
        crate::store::Token(format!("{node}.{n}"))
    }

    /// Keeps a claimed lane held until the guard is dropped.
    #[must_use]
    pub fn hold(&self, hold: Hold) -> Held<'_> {
        let lost = Arc::new(AtomicBool::new(false));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(hold.token.0.clone(), (hold.clone(), lost.clone()));
        drop(held);
        Held { leases: self, hold, lost }
    }

    /// How many lanes are held.
    #[must_use]
    pub fn count(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn snapshot(&self) -> Vec<Hold> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.values().map(|(hold, _)| hold.clone()).collect()
    }

    fn note_lost(&self, asked: &[Hold], still: &[Hold]) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for hold in asked.iter().filter(|hold| !still.contains(hold)) {
            if let Some((_, lost)) = held.get(&hold.token.0) {
                lost.store(true, Ordering::SeqCst);
            }
        }
    }
}

/// Extends every held lane after each third of a lease, until the process ends.
pub async fn extend_forever(outbox: Arc<Outbox>) {
    let lease = outbox.settings.lease;
    loop {
        tokio::time::sleep(lease / 3).await;
        let asked = outbox.leases.snapshot();
        if asked.is_empty() {
            continue;
        }
        match outbox.store.extend(asked.clone(), lease, At::Store).await {
            Ok(still) => outbox.leases.note_lost(&asked, &still),
            Err(error) => tracing::warn!(error = %error, "leases could not be extended"),
        }
    }
}
