//! The redb file: opened, opened anew after a failed write, closed; and the lock on the folder.
use super::super::steps::{StoreError, StoreResult};
use super::tables::{ALL, Look, Snapshot, Tables, failed};
use redb::{ReadableDatabase, StorageBackend, WriteTransaction};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Opens what the database is stored in; called again after a failed write.
pub type Backend = Arc<dyn Fn(&Path) -> io::Result<Box<dyn StorageBackend>> + Send + Sync>;

/// The file itself.
///
/// # Errors
/// What the operating system says, and what redb says of a file it cannot lock.
pub fn file(path: &Path) -> io::Result<Box<dyn StorageBackend>> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let backend = redb::backends::FileBackend::new(file).map_err(io::Error::other)?;
    Ok(Box::new(backend))
}

/// redb takes backends by value; this one is whichever was given.
#[derive(Debug)]
struct Boxed(Box<dyn StorageBackend>);

impl StorageBackend for Boxed {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

/// The database while it works; none between a failure and the next successful opening.
pub(super) struct Database {
    path: PathBuf,
    cache_bytes: usize,
    backend: Backend,
    open: RwLock<Option<redb::Database>>,
}

impl Database {
    /// Opens it and makes every table, so that no reader meets a missing one.
    pub(super) fn open(path: PathBuf, cache_bytes: usize, backend: Backend) -> StoreResult<Self> {
        let database = Self { path, cache_bytes, backend, open: RwLock::new(None) };
        database.reopen()?;
        if database.snapshot().and_then(|look| look.table(ALL[ALL.len() - 1]).map(drop)).is_err() {
            let transaction = database.begin()?;
            {
                let tables = Tables::of(&transaction);
                for table in ALL {
                    tables.table(*table)?;
                }
            }
            transaction.commit().map_err(failed)?;
        }
        Ok(database)
    }

    /// Closes it if it is open, then opens it.
    pub(super) fn reopen(&self) -> StoreResult<()> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        // Two databases on one file would not see each other: the old one goes first.
        *open = None;
        let backend = (self.backend)(&self.path)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut builder = redb::Builder::new();
        builder.set_cache_size(self.cache_bytes);
        *open = Some(builder.create_with_backend(Boxed(backend)).map_err(failed)?);
        Ok(())
    }

    /// Closes it until [`Database::reopen`].
    pub(super) fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The database as it is now, for a reader.
    pub(super) fn snapshot(&self) -> StoreResult<Snapshot> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let database = open.as_ref().ok_or_else(closed)?;
        Ok(Snapshot::of(database.begin_read().map_err(failed)?))
    }

    /// A write transaction, for the writer.
    pub(super) fn begin(&self) -> StoreResult<WriteTransaction> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().ok_or_else(closed)?.begin_write().map_err(failed)
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the database could not be opened anew".into())
}

/// Takes the folder for this process, as long as the file lives.
pub(super) fn lock(folder: &Path) -> StoreResult<File> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked),
        Err(TryLockError::Error(error)) => Err(StoreError::Unavailable(error.to_string())),
    }
}
