//! The writer: one thread that owns every write.
//!
//! Callers put steps into one of two bounded lines, urgent ones and sweeps, and wait. The thread
//! takes what is there, at most [`BATCH`] steps and one sweep behind them, runs each over the same
//! write transaction, commits once, and answers all of them: that is the whole of group commit, no
//! timer. A batch that wrote nothing is aborted, which costs no flush. When a commit fails every
//! caller of the batch gets `Unavailable`, the database is opened anew (redb takes no writes after
//! a failed one), and memory goes back to what the disk says.
use super::super::steps::{Signal, StoreError, StoreResult};
use super::database::Database;
use super::step::{Memory, Plan, Step};
use super::tables::{Tables, failed};
use crate::clock::Clock;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{Semaphore, broadcast, oneshot};

/// Steps of one commit at most.
const BATCH: usize = 256;
/// Steps that may wait; further callers wait for a place.
const URGENT_WAITING: usize = 4096;
/// Sweeps that may wait.
const SWEEPS_WAITING: usize = 16;
/// Signals a slow reader may lag behind.
const SIGNALS: usize = 4096;

/// Which line a step waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// Steps of an accept, a worker, a receipt.
    Urgent,
    /// Sweeps: at most one rides along with each commit.
    Sweep,
}

/// A step with somebody waiting for it.
trait Job: Send {
    /// Runs it and keeps the answer back; gives what is to be done.
    fn run(&mut self, step: Step<'_, '_>) -> Plan;
    /// Gives the answer, or this error in its place.
    fn answer(self: Box<Self>, failure: Option<StoreError>);
}

struct Waiting<F, R> {
    step: Option<F>,
    result: Option<StoreResult<R>>,
    reply: oneshot::Sender<StoreResult<R>>,
}

impl<F, R> Job for Waiting<F, R>
where
    F: FnOnce(&mut Step<'_, '_>) -> StoreResult<R> + Send,
    R: Send,
{
    fn run(&mut self, mut step: Step<'_, '_>) -> Plan {
        let Some(body) = self.step.take() else { return Plan::default() };
        // Nothing the step touched outlives it when it panics: its plan is dropped with it.
        let result = catch_unwind(AssertUnwindSafe(|| body(&mut step)))
            .unwrap_or_else(|_| Err(StoreError::Unavailable("the step panicked".into())));
        let plan = if result.is_ok() { step.into_plan() } else { Plan::default() };
        self.result = Some(result);
        plan
    }
    fn answer(self: Box<Self>, failure: Option<StoreError>) {
        let result = match failure {
            Some(error) => Err(error),
            None => self.result.unwrap_or_else(|| Err(stopped())),
        };
        // A caller that went away has no use for the answer.
        let _ = self.reply.send(result);
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the writer has stopped".into())
}

/// The two lines.
#[derive(Default)]
struct Lines {
    urgent: VecDeque<Box<dyn Job>>,
    sweeps: VecDeque<Box<dyn Job>>,
    closed: bool,
    idle: bool,
}

struct Shared {
    lines: Mutex<Lines>,
    came: Condvar,
    urgent_places: Semaphore,
    sweep_places: Semaphore,
}

impl Shared {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle callers use.
pub(super) struct Writer {
    shared: Arc<Shared>,
    signals: broadcast::Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        database: Arc<Database>,
        memory: Memory,
        clock: Arc<dyn Clock>,
    ) -> StoreResult<Self> {
        let shared = Arc::new(Shared {
            lines: Mutex::default(),
            came: Condvar::new(),
            urgent_places: Semaphore::new(URGENT_WAITING),
            sweep_places: Semaphore::new(SWEEPS_WAITING),
        });
        let (signals, _) = broadcast::channel(SIGNALS);
        let worker = Worker {
            shared: shared.clone(),
            database,
            memory,
            clock,
            signals: signals.clone(),
            ailing: false,
            behind: false,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || worker.run())
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { shared, signals, thread: Some(thread) })
    }

    /// Signals from now on.
    pub(super) fn signals(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    /// Waits for a place in the line, then for the commit that carries the step.
    pub(super) async fn submit<F, R>(&self, priority: Priority, step: F) -> StoreResult<R>
    where
        F: FnOnce(&mut Step<'_, '_>) -> StoreResult<R> + Send + 'static,
        R: Send + 'static,
    {
        let places = match priority {
            Priority::Urgent => &self.shared.urgent_places,
            Priority::Sweep => &self.shared.sweep_places,
        };
        let place = places.acquire().await.map_err(|_| stopped())?;
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Waiting { step: Some(step), result: None, reply });
        let wake = {
            let mut lines = self.shared.lines();
            if lines.closed {
                return Err(stopped());
            }
            match priority {
                Priority::Urgent => lines.urgent.push_back(job),
                Priority::Sweep => lines.sweeps.push_back(job),
            }
            std::mem::take(&mut lines.idle)
        };
        if wake {
            self.shared.came.notify_one();
        }
        // The place is taken by the job from here on: the worker gives it back.
        place.forget();
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lines().closed = true;
        self.shared.came.notify_one();
        if let Some(thread) = self.thread.take() {
            // It catches its own panics; there is nothing to learn from how it ended.
            let _ = thread.join();
        }
    }
}

/// The thread's own state.
struct Worker {
    shared: Arc<Shared>,
    database: Arc<Database>,
    memory: Memory,
    clock: Arc<dyn Clock>,
    signals: broadcast::Sender<Signal>,
    /// The last batch failed and none has been committed since.
    ailing: bool,
    /// The database could not be opened anew yet: memory is not what the disk says.
    behind: bool,
}

impl Worker {
    fn run(mut self) {
        while let Some(mut batch) = self.take() {
            let mut signals = Vec::new();
            let outcome =
                catch_unwind(AssertUnwindSafe(|| self.transact(&mut batch, &mut signals)))
                    .unwrap_or_else(|_| Err(StoreError::Unavailable("the writer panicked".into())));
            let failure = match outcome {
                Ok(()) => None,
                Err(error) => Some(self.take_back(error)),
            };
            if failure.is_none() {
                for signal in signals {
                    // Nobody listening is no fault.
                    let _ = self.signals.send(signal);
                }
            }
            for job in batch {
                job.answer(failure.clone());
            }
        }
    }

    /// The next batch; none when the store is closed and every line is empty.
    fn take(&self) -> Option<Vec<Box<dyn Job>>> {
        let mut lines = self.shared.lines();
        while lines.urgent.is_empty() && lines.sweeps.is_empty() {
            if lines.closed {
                return None;
            }
            lines.idle = true;
            lines = self.shared.came.wait(lines).unwrap_or_else(PoisonError::into_inner);
        }
        let count = lines.urgent.len().min(BATCH);
        let mut batch: Vec<_> = lines.urgent.drain(..count).collect();
        if let Some(sweep) = lines.sweeps.pop_front() {
            batch.push(sweep);
            self.shared.sweep_places.add_permits(1);
        }
        drop(lines);
        self.shared.urgent_places.add_permits(count);
        Some(batch)
    }

    /// All steps of the batch, then one commit.
    fn transact(
        &mut self,
        batch: &mut [Box<dyn Job>],
        signals: &mut Vec<Signal>,
    ) -> StoreResult<()> {
        if self.behind {
            self.recover()?;
        }
        let transaction = self.database.begin()?;
        let mut wrote = false;
        {
            let mut tables = Tables::of(&transaction);
            for job in batch {
                let step = Step::over(&tables, &self.memory, &*self.clock, self.ailing);
                let plan = job.run(step);
                wrote |= plan.carry_out(&mut tables, &mut self.memory, signals)?;
            }
        }
        if wrote {
            transaction.commit().map_err(failed)?;
            self.ailing = false;
        } else {
            transaction.abort().map_err(failed)?;
        }
        self.memory.lanes.settled();
        Ok(())
    }

    /// After a failure: tries to go on from what the disk says. Gives the error on, for the callers.
    fn take_back(&mut self, error: StoreError) -> StoreError {
        self.ailing = true;
        self.behind = true;
        if self.recover().is_err() {
            // The next batch tries again; a database left open could serve what is not on disk.
            self.database.close();
        }
        error
    }

    /// The database opened anew, memory as the disk says, leases as they stood before the failure.
    fn recover(&mut self) -> StoreResult<()> {
        self.database.reopen()?;
        let now = self.clock.now();
        self.memory.reload(&self.database.snapshot()?, now)?;
        self.behind = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Embedded, Options, scratch};
    use super::*;
    use crate::clock::SystemClock;
    use crate::store::embedded::tables::{Look, TableId};
    use std::sync::atomic::{AtomicU32, Ordering};

    fn store(name: &str) -> (Embedded, scratch::Folder) {
        let folder = scratch::Folder::new(name);
        let store = Embedded::open(Options::new(folder.path(), Arc::new(SystemClock))).unwrap();
        (store, folder)
    }

    async fn count(store: &Embedded, key: &'static [u8]) -> bool {
        store.write(move |step| step.has(TableId::Meta, key)).await.unwrap()
    }

    #[tokio::test]
    async fn d_73_a_step_that_panics_or_refuses_writes_nothing_and_the_batch_goes_on() {
        let (store, _folder) = store("panic");
        // All three are queued before the writer looks: they share one batch or follow each other.
        let (bad, refused, good) = tokio::join!(
            store.write(|step| -> StoreResult<()> {
                step.put(TableId::Meta, b"bad", b"1");
                panic!("on purpose");
            }),
            store.write(|step| -> StoreResult<()> {
                step.put(TableId::Meta, b"refused", b"1");
                Err(StoreError::Corrupt("no".into()))
            }),
            store.write(|step| {
                step.put(TableId::Meta, b"good", b"1");
                Ok(7)
            }),
        );
        assert!(matches!(bad, Err(StoreError::Unavailable(_))));
        assert_eq!(refused, Err(StoreError::Corrupt("no".into())));
        assert_eq!(good, Ok(7));
        assert!(!count(&store, b"bad").await);
        assert!(!count(&store, b"refused").await);
        assert!(count(&store, b"good").await);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn d_73_steps_share_a_commit_and_sweeps_come_behind_them() {
        let (store, _folder) = store("order");
        let order = Arc::new(AtomicU32::new(0));
        let (go, gate) = std::sync::mpsc::channel::<()>();
        // The gate holds the writer while the lines fill.
        let held = store.write(move |_| {
            gate.recv().map_err(|_| stopped())?;
            Ok(())
        });
        let sweep = {
            let order = order.clone();
            store.sweep_step(move |_| Ok(order.fetch_add(1, Ordering::SeqCst)))
        };
        let urgent: Vec<_> = (0..5)
            .map(|_| {
                let order = order.clone();
                store.write(move |_| Ok(order.fetch_add(1, Ordering::SeqCst)))
            })
            .collect();
        let open = async {
            tokio::task::yield_now().await;
            go.send(()).unwrap();
        };
        let (_, sweep, urgent, ()) =
            tokio::join!(held, sweep, futures_util::future::join_all(urgent), open);
        assert_eq!(sweep, Ok(5));
        assert_eq!(urgent.into_iter().map(Result::unwrap).max(), Some(4));
    }
}
