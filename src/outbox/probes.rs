//! Asking each account who it is: in the background at start, every ten minutes, when a
//! reload brings it, and on demand.
use super::Outbox;
use crate::registry::Channel;
use contract::{FaultKind, Health, HealthState, MisconfiguredScope, SendFault};
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;

/// Between probes.
const EVERY: Duration = Duration::from_secs(600);
/// Probes under way at once.
const TOGETHER: usize = 8;
/// Longest probe.
pub const BOUND: Duration = Duration::from_secs(10);

/// Probes every channel now and then, and those a reload brought at once, until the process ends.
pub async fn run(outbox: Arc<Outbox>) {
    let mut replaced = outbox.channels.watch();
    let mut every = tokio::time::interval(EVERY);
    loop {
        let all = tokio::select! {
            _ = every.tick() => true,
            () = replaced.replaced() => false,
        };
        let due = outbox.channels.iter().filter(|channel| all || channel.health().1.is_none());
        futures_util::stream::iter(due)
            .for_each_concurrent(TOGETHER, |channel| {
                let outbox = &outbox;
                async move {
                    let found = probe(outbox, &channel).await;
                    if found.state != HealthState::Ok {
                        tracing::warn!(channel = %channel.name, detail = found.detail, "a probe failed");
                    }
                }
            })
            .await;
    }
}

/// Probes one channel and keeps what it found: an account that can send is parked no more, one whose
/// credentials are refused is parked.
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
    if health.state == HealthState::Ok {
        outbox.lift(channel).await;
    } else if health.refused {
        let kind = FaultKind::Misconfigured { scope: MisconfiguredScope::Account };
        let detail = "the medium refused the account's credentials";
        outbox.park(channel, &SendFault::new(kind, "credentials_refused", detail)).await;
    }
    health
}
