//! The embedded store: one redb file, one writer thread, media beside it.
//!
//! ```text
//! data_dir/lock          held exclusively while the store is open
//! data_dir/tidings.redb  every table
//! data_dir/media/ab/…    media bytes, one file an id, in folders by the id's first two characters
//! ```
//!
//! - `database` opens the file and opens it anew after a failed write; `tables` names the tables
//!   and gives the two views of them; `rows` spells keys and rows.
//! - `writer` is the thread and its group commit; `step` is one step at work: it decides over a view
//!   it cannot change and leaves a plan that the writer carries out.
//! - `lanes` is the part of the queues that lives in memory: which lane is ready, delayed, leased.
//! - `opening`, `queue`, `records`, `receipts`, `gates`, `optouts`, `inbox`, `idempotency`, `media`, `chat`,
//!   `conversations`, `oversight`, `sweep` implement the traits; `retention` drops sends, `lapse` keeps the deadlines of
//!   visitors, transcripts and messages.
//!
//! Life of one notification: [`Opening::open`](super::Opening::open) becomes a step; the writer runs
//! it with others over one write transaction, commits with one flush, answers. A worker's claim
//! moves a lane in memory only. `begin` writes the record and marks the lane's row, so that after a
//! crash the lane is handed out as reaped; `note_part` or `finish` write the record and drop the
//! head in one step. Readers never meet the writer: they take a read transaction on their own
//! thread, which sees the last commit.
mod chat;
mod conversations;
mod database;
mod gates;
mod idempotency;
mod inbox;
mod lanes;
mod lapse;
mod media;
mod opening;
mod optouts;
mod oversight;
mod queue;
mod receipts;
mod records;
mod retention;
mod rows;
#[cfg(test)]
mod scratch;
mod step;
mod sweep;
mod tables;
mod traces;
mod transcript;
mod writer;

use super::steps::{At, StoreError, StoreResult};
use crate::clock::{Clock, Millis};
pub use database::{Backend, file};
use database::{Database, lock};
use media::Shelf;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use step::{Memory, Step};
use tables::Snapshot;
use writer::{Priority, Writer};

/// Page cache unless the operator sets another, bytes: enough for the working set of a full inbox;
/// redb's own default of 1 GiB would not fit the memory a gateway may use.
pub const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// How to open the store.
#[derive(Clone)]
pub struct Options {
    /// The folder; made if it is not there.
    pub data_dir: PathBuf,
    /// Page cache, bytes.
    pub cache_bytes: usize,
    /// The store's clock, for [`At::Store`].
    pub clock: Arc<dyn Clock>,
    /// What the database is stored in.
    pub backend: Backend,
}

impl Options {
    /// The usual: a file in this folder, the default cache.
    pub fn new(data_dir: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self {
            data_dir: data_dir.into(),
            cache_bytes: CACHE_BYTES,
            clock,
            backend: Arc::new(|path: &Path| file(path)),
        }
    }
}

/// The store. Closed when it is dropped, after what was queued has been written.
pub struct Embedded {
    // Declared in the order they go: the writer ends before the database closes, the lock last.
    writer: Writer,
    database: Arc<Database>,
    shelf: Shelf,
    clock: Arc<dyn Clock>,
    _lock: File,
}

impl Embedded {
    /// Opens the store in this folder. Blocks: after a crash redb checks the whole file first.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process has it; `Unavailable` and `Corrupt` as the disk
    /// says.
    pub fn open(options: Options) -> StoreResult<Self> {
        let Options { data_dir, cache_bytes, clock, backend } = options;
        std::fs::create_dir_all(&data_dir)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let lock = lock(&data_dir)?;
        let database =
            Arc::new(Database::open(data_dir.join("tidings.redb"), cache_bytes, backend)?);
        sync_folder(&data_dir)?;
        let memory = Memory::load(&database.snapshot()?, clock.now())?;
        let writer = Writer::start(database.clone(), memory, clock.clone())?;
        Ok(Self { writer, database, shelf: Shelf::in_folder(&data_dir), clock, _lock: lock })
    }

    /// Runs a step and waits for its commit.
    async fn write<F, R>(&self, step: F) -> StoreResult<R>
    where
        F: FnOnce(&mut Step<'_, '_>) -> StoreResult<R> + Send + 'static,
        R: Send + 'static,
    {
        self.writer.submit(Priority::Urgent, step).await
    }

    /// Runs a step that others go before.
    async fn sweep_step<F, R>(&self, step: F) -> StoreResult<R>
    where
        F: FnOnce(&mut Step<'_, '_>) -> StoreResult<R> + Send + 'static,
        R: Send + 'static,
    {
        self.writer.submit(Priority::Sweep, step).await
    }

    /// The last commit, to read.
    fn look(&self) -> StoreResult<Snapshot> {
        self.database.snapshot()
    }

    /// The time a read goes by.
    fn now(&self, at: At) -> Millis {
        match at {
            At::Store => self.clock.now(),
            At::Given(now) => now,
        }
    }
}

/// Flushes a folder, so that a file made or renamed in it outlives a power cut.
fn sync_folder(folder: &Path) -> StoreResult<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}
