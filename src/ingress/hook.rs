//! Works the queue `hook`: claims up to 32 lanes, works them side by side, looks again on a signal
//! or after a second. An item that cannot be read, or over which five workers died, is put aside.
use crate::clock::Clock;
use crate::inbox::notices::{Notice, Notices};
use crate::metrics::Metrics;
use crate::sends::settle::{Queued, Settler};
use crate::store::{At, Lease, QueueName, Signal, Store, Token};
use contract::ChannelName;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// Lanes of one claim.
const CLAIM: u64 = 32;
/// How long a claim holds them: settling takes a moment.
const LEASE: Duration = Duration::from_secs(60);
/// The longest time without a look.
const POLL: Duration = Duration::from_secs(1);
/// A head whose leases ran out this often is put aside.
const REAPS_MAX: u8 = 5;

/// The worker.
pub struct Hook {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Settles receipts.
    pub settler: Arc<Settler>,
    /// Tells operators.
    pub notices: Arc<Notices>,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Names this process in claim tokens.
    pub node: String,
    /// When the queue was last looked at, ms.
    pub looked_at: AtomicI64,
}

/// Works until the process ends.
pub async fn run(hook: Arc<Hook>) {
    let queue = QueueName::hook();
    let (mut signals, mut number) = (hook.store.signals(), 0u64);
    loop {
        let tokens = (number..number + CLAIM).map(|n| Token(format!("{}.h{n}", hook.node)));
        number += CLAIM;
        let claimed = match hook.store.claim(&queue, tokens.collect(), LEASE, None, At::Store).await
        {
            Ok(claimed) => {
                hook.looked_at.store(hook.clock.now().0, Ordering::SeqCst);
                claimed
            }
            Err(error) => {
                tracing::warn!(error = %error, "no webhook event could be claimed");
                tokio::time::sleep(POLL).await;
                continue;
            }
        };
        let full = claimed.leases.len() as u64 == CLAIM;
        let work = claimed.leases.into_iter().map(|lease| item(&hook, lease));
        futures_util::future::join_all(work).await;
        if full {
            continue;
        }
        let due = claimed.next_due.map_or(POLL, |due| hook.clock.now().until(due));
        let signalled = async {
            loop {
                match signals.recv().await {
                    Ok(Signal::Queue(woken)) if woken == queue => break,
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => std::future::pending::<()>().await,
                }
            }
        };
        tokio::select! {
            () = signalled => {}
            () = tokio::time::sleep(due.clamp(Duration::from_millis(1), POLL)) => {}
        }
    }
}

async fn item(hook: &Hook, lease: Lease) {
    let read = rmp_serde::from_slice::<Queued>(&lease.item);
    let done = match read {
        Ok(queued) if lease.reaps < REAPS_MAX => hook.settler.from_queue(queued, &lease.hold).await,
        Ok(queued) => put_aside(hook, &lease, queued.channel, "poison").await,
        Err(_) => {
            // No channel registers under this name: it stands for none.
            let Some(channel) = ChannelName::parse("unknown") else { return };
            put_aside(hook, &lease, channel, "unreadable").await
        }
    };
    if let Err(error) = done {
        tracing::warn!(error = %error, "a webhook event waits for the store");
    }
}

async fn put_aside(
    hook: &Hook,
    lease: &Lease,
    channel: ChannelName,
    reason: &'static str,
) -> crate::store::StoreResult<()> {
    tracing::error!(%channel, reason, "a webhook event is put aside");
    hook.metrics.count("tidings_poison_total", &[("queue", "hook")]);
    hook.store.bury(&lease.hold, reason, At::Store).await?;
    let (item, reason) = (String::new(), reason.to_owned());
    hook.notices.raise(Notice::Poison { channel, queue: "hook", item, reason });
    Ok(())
}
