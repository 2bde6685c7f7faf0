//! Channels on which sends ended badly since somebody last looked.
use contract::ChannelName;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The channels, each once.
#[derive(Debug, Default)]
pub struct Endings(Mutex<BTreeSet<ChannelName>>);

impl Endings {
    /// A send of this channel ended badly.
    pub fn note(&self, channel: &ChannelName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(channel.clone());
    }

    /// Those noted since the last call.
    #[must_use]
    pub fn take(&self) -> BTreeSet<ChannelName> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
