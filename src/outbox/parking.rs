//! Parked channels: an account that cannot send keeps its sends queued. Its parking stands in the
//! store, so all nodes stop; one of them probes it after a minute, then after twice as long each
//! time, up to a quarter of an hour. A probe that succeeds, an accepted part or a reload lifts it.
use super::{Outbox, probes};
use crate::clock::Millis;
use crate::inbox::notices::Notice;
use crate::registry::Channel;
use crate::store::At;
use contract::SendFault;
use std::sync::Arc;
use std::time::Duration;

/// To the first probe.
const FIRST: Duration = Duration::from_secs(60);
/// Longest time between probes.
const LONGEST: Duration = Duration::from_secs(15 * 60);

impl Outbox {
    /// Parks a channel because of this fault; gives when it is probed. `None` when the store did
    /// not take it.
    pub async fn park(&self, channel: &Channel, fault: &SendFault) -> Option<Millis> {
        match self.store.park(&channel.name, &fault.code, FIRST, At::Store).await {
            Ok((parked, fresh)) => {
                channel.note_parked(true);
                if fresh {
                    let (name, code) = (channel.name.clone(), fault.code.to_string());
                    self.notices.raise(Notice::ChannelParked { channel: name, fault: code });
                    tracing::error!(
                        channel = %channel.name, fault = %fault.code,
                        "the channel is parked: its account cannot send; its sends wait"
                    );
                }
                Some(parked.until)
            }
            Err(error) => {
                tracing::warn!(channel = %channel.name, error = %error, "a channel could not be parked");
                None
            }
        }
    }

    /// Lifts a channel's parking, if it is parked.
    pub async fn lift(&self, channel: &Channel) {
        match self.store.unpark(&channel.name, At::Store).await {
            Ok(lifted) => {
                channel.note_parked(false);
                if lifted.is_some() {
                    tracing::info!(channel = %channel.name, "the channel is parked no more");
                    let channel = channel.name.clone();
                    self.notices.raise(Notice::ChannelRecovered { channel });
                }
            }
            Err(error) => {
                tracing::warn!(channel = %channel.name, error = %error, "a parking could not be lifted");
            }
        }
    }

    /// Probes a parked channel if its time has come and no other node does.
    pub async fn probe_parked(&self, channel: &Channel, until: Millis) {
        channel.note_parked(true);
        if until > self.now() {
            return;
        }
        match self.store.probation(&channel.name, LONGEST, At::Store).await {
            Ok(true) => _ = probes::probe(self, channel).await,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(channel = %channel.name, error = %error, "a parked channel was not probed");
            }
        }
    }

    /// After a reload: the parking of each channel made anew is lifted; one that did not change and
    /// is parked is probed at once.
    pub async fn reloaded(&self, fresh: Vec<Arc<Channel>>) {
        for channel in &fresh {
            self.lift(channel).await;
        }
        for channel in self.channels.iter().filter(|channel| channel.is_parked()) {
            probes::probe(self, &channel).await;
        }
    }
}
