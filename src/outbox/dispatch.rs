//! One loop per channel: permits decide how many lanes a claim asks for; nothing is claimed
//! without one. Signals are hints; a look every second, or when the next lane comes due, stands
//! behind them.
use super::{Outbox, Point, worker};
use crate::clock::Millis;
use crate::registry::Channel;
use crate::store::{At, Claimed, Lease, Signal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Most lanes of one claim.
const CLAIM_MAX: usize = 32;
/// The longest time without a look at the queue.
const POLL: Duration = Duration::from_secs(1);

/// Starts the loops. The set ends when the outbox drains and every worker has stopped.
pub fn start(outbox: &Arc<Outbox>) -> JoinSet<()> {
    let mut loops = JoinSet::new();
    for channel in outbox.channels.iter() {
        loops.spawn(run(outbox.clone(), channel.clone()));
    }
    loops
}

async fn run(outbox: Arc<Outbox>, channel: Arc<Channel>) {
    let in_flight = Arc::new(Semaphore::new(channel.max_in_flight as usize));
    let mut signals = outbox.store.signals();
    let mut workers = JoinSet::new();
    while !outbox.is_draining() {
        while workers.try_join_next().is_some() {}
        let Some(permits) = permits(&outbox, &in_flight).await else { break };
        let wanted = permits.len();
        let claimed = claim(&outbox, &channel, wanted).await;
        let (leases, next_due) = match claimed {
            Ok(claimed) => (claimed.leases, claimed.next_due),
            Err(error) => {
                tracing::warn!(channel = %channel.name, error = %error, "no work could be claimed");
                (Vec::new(), None)
            }
        };
        let full = leases.len() == wanted;
        for (lease, permit) in leases.into_iter().zip(permits) {
            workers.spawn(work(outbox.clone(), channel.clone(), lease, permit));
        }
        if !full {
            rest(&outbox, &channel, &mut signals, next_due).await;
        }
    }
    while workers.join_next().await.is_some() {}
}

type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

/// At least one pair of permits, as many as are free; `None` when the outbox drains.
async fn permits(outbox: &Outbox, in_flight: &Arc<Semaphore>) -> Option<Vec<Permits>> {
    let first = tokio::select! {
        channel = in_flight.clone().acquire_owned() => channel.ok()?,
        () = outbox.wake_on_drain() => return None,
    };
    let node = tokio::select! {
        node = outbox.permits.clone().acquire_owned() => node.ok()?,
        () = outbox.wake_on_drain() => return None,
    };
    let mut permits = vec![(first, node)];
    while permits.len() < CLAIM_MAX {
        let Ok(channel) = in_flight.clone().try_acquire_owned() else { break };
        let Ok(node) = outbox.permits.clone().try_acquire_owned() else { break };
        permits.push((channel, node));
    }
    Some(permits)
}

impl Outbox {
    /// Ends when the outbox drains.
    async fn wake_on_drain(&self) {
        while !self.is_draining() {
            self.wake.notified().await;
        }
    }
}

async fn claim(
    outbox: &Outbox,
    channel: &Channel,
    wanted: usize,
) -> crate::store::StoreResult<Claimed> {
    let tokens = (0..wanted).map(|_| outbox.leases.token(&outbox.settings.node)).collect();
    let claimed =
        outbox.store.claim(&channel.queue, tokens, outbox.settings.lease, At::Store).await?;
    outbox.note_look();
    Ok(claimed)
}

async fn work(outbox: Arc<Outbox>, channel: Arc<Channel>, lease: Lease, _permits: Permits) {
    outbox.faults.at(Point::Claimed);
    worker::work(&outbox, &channel, lease).await;
}

/// Waits for a signal of this queue, the next due lane, or a second.
async fn rest(
    outbox: &Outbox,
    channel: &Channel,
    signals: &mut tokio::sync::broadcast::Receiver<Signal>,
    next_due: Option<Millis>,
) {
    let until_due = next_due.map_or(POLL, |due| outbox.clock.now().until(due));
    let pause = until_due.min(POLL).max(Duration::from_millis(1));
    let signalled = async {
        loop {
            match signals.recv().await {
                Ok(Signal::Queue(queue)) if queue == channel.queue => break,
                Ok(_) => {}
                // Missed signals may have been ours: look.
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => break,
                Err(tokio::sync::broadcast::error::RecvError::Closed) => {
                    std::future::pending::<()>().await;
                }
            }
        }
    };
    tokio::select! {
        () = signalled => {}
        () = tokio::time::sleep(pause) => {}
        () = outbox.wake_on_drain() => {}
    }
}
