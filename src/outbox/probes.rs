//! Asking each account who it is: in the background at start, every ten minutes, and on demand.
use super::Outbox;
use crate::registry::Channel;
use contract::{Health, HealthState};
use std::sync::Arc;
use std::time::Duration;

/// Between probes.
const EVERY: Duration = Duration::from_secs(600);
/// Longest probe.
pub const BOUND: Duration = Duration::from_secs(10);

/// Probes every channel now and then, until the process ends.
pub async fn run(outbox: Arc<Outbox>) {
    loop {
        for channel in outbox.channels.iter() {
            let found = probe(&outbox, channel).await;
            if found.state != HealthState::Ok {
                tracing::warn!(channel = %channel.name, detail = found.detail, "a probe failed");
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Probes one channel and keeps what it found.
pub async fn probe(outbox: &Outbox, channel: &Channel) -> Health {
    let health = match tokio::time::timeout(BOUND, channel.adapter.probe(&*channel.wire)).await {
        Ok(health) => health,
        Err(_) => Health {
            state: HealthState::Unknown,
            detail: "the medium did not answer in 10 seconds".to_owned(),
            identity_hint: None,
            refused: false,
        },
    };
    channel.note_health(health.clone(), outbox.now());
    health
}
