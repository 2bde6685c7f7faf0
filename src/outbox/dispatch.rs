//! One loop per channel: permits decide how many lanes a claim asks for; nothing is claimed
//! without one. Signals are hints; a look every second, or when the next lane comes due, stands
//! behind them.
//!
//! The registered set may be replaced while the loops run. Each loop looks its channel up before
//! every claim: a changed one works from then on, a removed one ends its loop once its workers are
//! done. A loop for a new channel is started by the task that watches the set.
use super::{Outbox, Point, worker};
use crate::clock::Millis;
use crate::registry::Channel;
use crate::store::{At, Claimed, Lease, QueueName, Signal};
use contract::ChannelName;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Most lanes of one claim.
const CLAIM_MAX: usize = 32;
/// The longest time without a look at the queue.
const POLL: Duration = Duration::from_secs(1);
/// Between looks at the line for an account's pace.
const LINE: Duration = Duration::from_millis(10);

/// Starts the loops. The set ends when the outbox drains and every worker has stopped.
pub fn start(outbox: &Arc<Outbox>) -> JoinSet<()> {
    let mut all = JoinSet::new();
    all.spawn(supervise(outbox.clone()));
    all
}

/// Channels that have a loop.
type Running = Arc<Mutex<HashSet<ChannelName>>>;

/// Keeps one loop for each registered channel.
async fn supervise(outbox: Arc<Outbox>) {
    let mut replaced = outbox.channels.watch();
    let (mut loops, running) = (JoinSet::new(), Running::default());
    while !outbox.is_draining() {
        while loops.try_join_next().is_some() {}
        for channel in outbox.channels.iter() {
            let fresh = lock(&running).insert(channel.name.clone());
            if fresh {
                loops.spawn(run(outbox.clone(), channel, running.clone()));
            }
        }
        tokio::select! {
            () = replaced.replaced() => {}
            () = outbox.wake_on_drain() => {}
        }
    }
    while loops.join_next().await.is_some() {}
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashSet<ChannelName>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The channel as it is now. `None` when it is registered no more: then, and in the same moment,
/// its name is free for another loop.
fn current(outbox: &Outbox, name: &ChannelName, running: &Running) -> Option<Arc<Channel>> {
    let mut running = lock(running);
    let channel = outbox.channels.get(name.as_str());
    if channel.is_none() {
        running.remove(name);
    }
    channel
}

/// A channel's permits; a bound lowered by a reload takes effect as permits come back.
struct InFlight {
    permits: Arc<Semaphore>,
    bound: usize,
    owed: usize,
}

impl InFlight {
    fn of(bound: u32) -> Self {
        let bound = bound as usize;
        Self { permits: Arc::new(Semaphore::new(bound)), bound, owed: 0 }
    }

    fn adjust(&mut self, bound: u32) {
        let bound = bound as usize;
        let raise = bound.saturating_sub(self.bound);
        let repaid = raise.min(self.owed);
        self.permits.add_permits(raise - repaid);
        self.owed = self.owed - repaid + self.bound.saturating_sub(bound);
        self.bound = bound;
        self.owed -= self.permits.forget_permits(self.owed);
    }
}

async fn run(outbox: Arc<Outbox>, channel: Arc<Channel>, running: Running) {
    let mut in_flight = InFlight::of(channel.max_in_flight);
    let (name, queue) = (channel.name.clone(), channel.queue.clone());
    drop(channel);
    let mut signals = outbox.store.signals();
    let mut workers = JoinSet::new();
    while !outbox.is_draining() {
        while workers.try_join_next().is_some() {}
        if !out_of_line(&outbox, &name).await {
            break;
        }
        let Some(permits) = permits(&outbox, &in_flight.permits).await else { break };
        let Some(channel) = current(&outbox, &name, &running) else { break };
        in_flight.adjust(channel.max_in_flight);
        let wanted = permits.len();
        outbox.faults.at(Point::Looking);
        let claimed = claim(&outbox, &channel, wanted).await.unwrap_or_else(|error| {
            tracing::warn!(channel = %name, error = %error, "no work could be claimed");
            Claimed::default()
        });
        let full = claimed.leases.len() == wanted;
        for (lease, permit) in claimed.leases.into_iter().zip(permits) {
            workers.spawn(work(outbox.clone(), channel.clone(), lease, permit));
        }
        if let Some(until) = claimed.wait_until {
            channel.note_held_back(outbox.now());
            if claimed.parked {
                outbox.probe_parked(&channel, until).await;
            }
        }
        if !claimed.parked && channel.is_parked() {
            channel.note_parked(false);
        }
        if !full {
            // A parking is looked at each second: whoever lifts it says so, but that may be missed.
            let next = if claimed.parked { None } else { claimed.wait_until };
            let next = claimed.next_due.into_iter().chain(next).min();
            rest(&outbox, &queue, &mut signals, next).await;
        }
    }
    while workers.join_next().await.is_some() {}
}

/// Until nobody of this process waits for the account's pace: what is claimed could not go out
/// before them. False when the outbox drains.
async fn out_of_line(outbox: &Outbox, name: &ChannelName) -> bool {
    while outbox.channels.get(name.as_str()).is_some_and(|channel| channel.in_line() > 0) {
        if outbox.is_draining() {
            return false;
        }
        outbox.note_look();
        tokio::time::sleep(LINE).await;
    }
    true
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
    let (lease, account) = (outbox.settings.lease, channel.account());
    let store = &outbox.store;
    let claimed = store.claim(&channel.queue, tokens, lease, Some(&account), At::Store).await?;
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
    queue: &QueueName,
    signals: &mut tokio::sync::broadcast::Receiver<Signal>,
    next_due: Option<Millis>,
) {
    let until_due = next_due.map_or(POLL, |due| outbox.clock.now().until(due));
    let pause = until_due.min(POLL).max(Duration::from_millis(1));
    let signalled = async {
        loop {
            match signals.recv().await {
                Ok(Signal::Queue(woken)) if woken == *queue => break,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_changed_by_a_reload_holds_as_permits_come_back() {
        let mut in_flight = InFlight::of(4);
        let held: Vec<_> =
            (0..3).map(|_| in_flight.permits.clone().try_acquire_owned().unwrap()).collect();
        in_flight.adjust(2);
        assert_eq!(in_flight.permits.available_permits(), 0, "three of two are under way");
        drop(held);
        in_flight.adjust(2);
        assert_eq!(in_flight.permits.available_permits(), 2);
        let _one = in_flight.permits.clone().try_acquire_owned().unwrap();
        in_flight.adjust(6);
        assert_eq!(in_flight.permits.available_permits(), 5);
    }
}
