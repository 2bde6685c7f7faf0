//! Media: a row in the database, the bytes in a file beside it.
//!
//! A file is written, flushed and renamed before its row exists, and removed after its row is gone.
//! So a row always has its bytes; a file without a row is what a crash left, and the sweep takes it
//! an hour later.
use super::super::steps::{
    At, MEDIA_PIECE, MediaRow, MediaShelf, MediaStored, StoreError, StoreResult,
};
use super::Embedded;
use super::rows::{Fields, corrupt, joined, time};
use super::step::Step;
use super::tables::{Look, TableId};
use super::{Priority, sync_folder};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::MediaId;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Age from which a file without a row is an orphan, milliseconds.
const ORPHAN_AFTER: i64 = 3_600_000;
/// Rows that making room removes in one commit.
const ROOM: usize = 200;
/// Where the count of all bytes is kept.
const TOTAL: &[u8] = b"med_bytes";

/// The folder of the files.
pub(super) struct Shelf {
    folder: PathBuf,
    written: AtomicU64,
}

impl Shelf {
    /// The shelf of this store.
    pub(super) fn in_folder(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("media"), written: AtomicU64::new(0) }
    }

    /// Where the bytes of an id are.
    fn path(&self, id: &MediaId) -> PathBuf {
        self.folder.join(id.as_str().get(4..6).unwrap_or("--")).join(id.as_str())
    }

    /// Where they are while they are written: a name of its own for each writing.
    fn draft(&self, id: &MediaId) -> PathBuf {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        self.path(id).with_extension(format!("{number}.new"))
    }
}

fn failed(error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("media: {error}"))
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> StoreResult<T> + Send + 'static,
) -> StoreResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(StoreError::Unavailable("file work was cut short".into())))
}

/// Writes the whole file and flushes it before it gets its name.
fn write_file(draft: &Path, path: &Path, bytes: &[u8]) -> StoreResult<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let written = File::create(draft)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(draft, path));
    if let Err(error) = written {
        // What is left of it would only be swept later.
        let _ = fs::remove_file(draft);
        return Err(failed(&error));
    }
    sync_folder(folder)?;
    folder.parent().map_or(Ok(()), sync_folder)
}

fn read_piece(path: &Path, offset: u64) -> StoreResult<Option<Bytes>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    let mut piece = Vec::new();
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(MEDIA_PIECE).read_to_end(&mut piece))
        .map_err(|error| failed(&error))?;
    Ok(Some(piece.into()))
}

fn encode(row: &MediaRow) -> StoreResult<Vec<u8>> {
    let fields = (&row.content_type, row.size, &row.sha256, row.created, row.expires, &row.by);
    rmp_serde::to_vec(&fields).map_err(|error| corrupt(&error.to_string()))
}

fn decode(id: MediaId, row: &[u8]) -> StoreResult<MediaRow> {
    let (content_type, size, sha256, created, expires, by) =
        rmp_serde::from_slice(row).map_err(|error| corrupt(&error.to_string()))?;
    Ok(MediaRow { id, content_type, size, sha256, created, expires, by })
}

fn expiry_key(row: &MediaRow) -> Vec<u8> {
    joined(&[&time(row.expires), row.id.as_str().as_bytes()])
}

fn row(look: &impl Look, id: &MediaId) -> StoreResult<Option<MediaRow>> {
    let row = look.get(TableId::Media, id.as_str().as_bytes())?;
    row.map(|row| decode(id.clone(), row.value())).transpose()
}

fn total(look: &impl Look) -> StoreResult<u64> {
    let row = look.get(TableId::Meta, TOTAL)?;
    row.map_or(Ok(0), |row| Fields(row.value()).number())
}

/// Plans that expired rows go; gives their ids, whose files go after the commit.
fn drop_expired(step: &mut Step<'_, '_>, limit: usize, now: Millis) -> StoreResult<Vec<MediaId>> {
    let end = time(Millis(now.0.saturating_add(1)));
    let mut gone = Vec::new();
    for expired in
        step.range(TableId::MediaExpiry, Bound::Unbounded, Bound::Excluded(&end))?.take(limit)
    {
        let (key, _) = expired?;
        let id = std::str::from_utf8(key.value().get(8..).unwrap_or_default()).ok();
        gone.push((key.value().to_vec(), id.and_then(MediaId::parse)));
    }
    let mut held = total(step)?;
    let mut ids = Vec::with_capacity(gone.len());
    for (key, id) in gone {
        step.remove(TableId::MediaExpiry, key);
        let Some(id) = id else { continue };
        if let Some(row) = row(step, &id)? {
            held = held.saturating_sub(row.size);
            step.remove(TableId::Media, id.as_str().as_bytes());
        }
        ids.push(id);
    }
    if !ids.is_empty() {
        step.put(TableId::Meta, TOTAL, held.to_be_bytes());
    }
    Ok(ids)
}

impl Embedded {
    /// Removes expired media: rows, then files; gives how many.
    async fn drop_media(&self, priority: Priority, limit: usize, at: At) -> StoreResult<u64> {
        let ids = self
            .writer
            .submit(priority, move |step| {
                let now = step.now(at);
                drop_expired(step, limit, now)
            })
            .await?;
        let count = ids.len() as u64;
        let paths: Vec<_> = ids.iter().map(|id| self.shelf.path(id)).collect();
        if !paths.is_empty() {
            blocking(move || {
                for path in paths {
                    // A file that stays has no row any more: the next sweep takes it as an orphan.
                    let _ = fs::remove_file(path);
                }
                Ok(())
            })
            .await?;
        }
        Ok(count)
    }

    /// The sweep: expired media, then orphans, together at most `limit`.
    pub(super) async fn sweep_media(&self, limit: usize, at: At) -> StoreResult<u64> {
        let expired = self.drop_media(Priority::Sweep, limit, at).await?;
        let left = limit.saturating_sub(usize::try_from(expired).unwrap_or(limit));
        let (folder, database, now) =
            (self.shelf.folder.clone(), self.database.clone(), self.now(at));
        let orphans = blocking(move || {
            let mut removed = 0;
            for path in old_files(&folder, now) {
                if removed as usize >= left {
                    break;
                }
                let name = path.file_name().and_then(|name| name.to_str());
                let known = match name.and_then(MediaId::parse) {
                    // Asked of the last commit each time: a row may have come meanwhile.
                    Some(id) => row(&database.snapshot()?, &id)?.is_some(),
                    None => false,
                };
                if !known && fs::remove_file(&path).is_ok() {
                    removed += 1;
                }
            }
            Ok(removed)
        })
        .await?;
        Ok(expired + orphans)
    }
}

/// Files last written more than an hour before `now`. What cannot be read is passed over.
fn old_files(folder: &Path, now: Millis) -> Vec<PathBuf> {
    let inside = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    inside(folder)
        .flat_map(|folder| inside(&folder).collect::<Vec<_>>())
        .filter(|path| {
            let written = fs::metadata(path)
                .and_then(|meta| meta.modified())
                .ok()
                .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
                .and_then(|since| i64::try_from(since.as_millis()).ok());
            written.is_some_and(|at| now.0.saturating_sub(at) > ORPHAN_AFTER)
        })
        .collect()
}

#[async_trait]
impl MediaShelf for Embedded {
    async fn media_put(
        &self,
        row: MediaRow,
        bytes: Bytes,
        total_max: u64,
        at: At,
    ) -> StoreResult<MediaStored> {
        let size = bytes.len() as u64;
        if self::row(&self.look()?, &row.id)?.is_some() {
            return Ok(MediaStored::Stored);
        }
        while total(&self.look()?)?.saturating_add(size) > total_max {
            if self.drop_media(Priority::Urgent, ROOM, at).await? == 0 {
                return Ok(MediaStored::Full);
            }
        }
        let (draft, path) = (self.shelf.draft(&row.id), self.shelf.path(&row.id));
        let written = path.clone();
        blocking(move || write_file(&draft, &written, &bytes)).await?;
        let row = MediaRow { size, ..row };
        let stored = self
            .write(move |step| {
                if self::row(step, &row.id)?.is_some() {
                    return Ok(MediaStored::Stored);
                }
                let total = total(step)?.saturating_add(size);
                if total > total_max {
                    return Ok(MediaStored::Full);
                }
                step.put(TableId::Media, row.id.as_str().as_bytes(), encode(&row)?);
                step.put(TableId::MediaExpiry, expiry_key(&row), []);
                step.put(TableId::Meta, TOTAL, total.to_be_bytes());
                Ok(MediaStored::Stored)
            })
            .await?;
        if stored == MediaStored::Full {
            blocking(move || {
                // Without a row it is an orphan in any case.
                let _ = fs::remove_file(path);
                Ok(())
            })
            .await?;
        }
        Ok(stored)
    }

    async fn media_row(&self, id: &MediaId, at: At) -> StoreResult<Option<MediaRow>> {
        let now = self.now(at);
        Ok(row(&self.look()?, id)?.filter(|row| row.expires > now))
    }

    async fn media_read(&self, id: &MediaId, offset: u64, at: At) -> StoreResult<Option<Bytes>> {
        if self.media_row(id, at).await?.is_none() {
            return Ok(None);
        }
        let path = self.shelf.path(id);
        blocking(move || read_piece(&path, offset)).await
    }

    async fn media_keep(&self, ids: &[MediaId], until: Millis, at: At) -> StoreResult<()> {
        let ids: std::collections::BTreeSet<MediaId> = ids.iter().cloned().collect();
        self.write(move |step| {
            let now = step.now(at);
            for id in ids {
                let Some(row) = row(step, &id)? else { continue };
                if row.expires <= now || row.expires >= until {
                    continue;
                }
                step.remove(TableId::MediaExpiry, expiry_key(&row));
                let row = MediaRow { expires: until, ..row };
                step.put(TableId::MediaExpiry, expiry_key(&row), []);
                step.put(TableId::Media, row.id.as_str().as_bytes(), encode(&row)?);
            }
            Ok(())
        })
        .await
    }

    async fn media_bytes(&self) -> StoreResult<u64> {
        total(&self.look()?)
    }
}
