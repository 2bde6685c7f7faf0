//! Sweeps, overdue sends, signals, health.
use super::super::steps::{At, Signal, StoreResult, Sweep, Upkeep};
use super::Redis;
use super::keys::Fixed;
use super::link::Call;
use super::reply::{count, list, odd, text};
use super::scripts::Step;
use async_trait::async_trait;
use contract::SendId;
use tokio::sync::broadcast;

/// Rows one sweep removes at most, whatever was asked.
const ROWS: usize = 200;

#[async_trait]
impl Upkeep for Redis {
    async fn sweep(&self, what: Sweep, limit: usize, at: At) -> StoreResult<u64> {
        let (step, keys): (_, &[Fixed]) = match what {
            Sweep::Media => (Step::SweepMedia, &[Fixed::MediaExpiries, Fixed::MediaBytes]),
            Sweep::Slices => (Step::SweepSlices, &[Fixed::SliceExpiries]),
            Sweep::Sends => (Step::SweepSends, &[Fixed::SendExpiries]),
            // Redis lets them lapse itself.
            Sweep::Exchanges => return Ok(0),
            Sweep::Idempotency => (Step::SweepKept, &[Fixed::KeptExpiries]),
            // Redis lets them lapse itself; indexes are trimmed by what is recorded next.
            Sweep::Conversations => return Ok(0),
        };
        let call = Call::new(step, keys.iter().map(|key| self.link.keys.fixed(*key)));
        count(self.link.run(call.number(limit.min(ROWS)), at).await?)
    }

    async fn overdue(&self, limit: usize, at: At) -> StoreResult<Vec<SendId>> {
        let call = Call::new(Step::Overdue, [self.link.keys.fixed(Fixed::Active)]).number(limit);
        let ids = list(self.link.run(call, at).await?)?;
        ids.into_iter()
            .map(|id| SendId::parse(&text(id)?).ok_or_else(|| odd("an index holds no id")))
            .collect()
    }

    fn signals(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    /// A read by the key's own slot: in a Cluster it asks the node that matters.
    async fn ping(&self) -> StoreResult<()> {
        let mut command = redis::cmd("EXISTS");
        command.arg(self.link.keys.fixed(Fixed::Sequence));
        self.link.command(&command).await.map(|_| ())
    }
}
