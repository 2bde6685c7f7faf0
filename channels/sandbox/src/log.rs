//! Everything that was received, in order, on disk before it is answered.
//!
//! `vendors/requests.jsonl` holds one JSON object a line and is only appended to; each line is
//! written whole by one call, so a killed process leaves at most one torn last line, which the next
//! start cuts off. In memory stand only number, medium, place and length of each kept line. Numbers
//! count from 1 without gaps. Past the bound the oldest leave the index at once and the file when it
//! has grown by [`Bounds::slack`] lines: it is then written anew.
//!
//! A first line `{"kept":{…}}` carries what the rooms know beyond the kept requests (message counts,
//! registrations), so that a chat never sees a message id twice. It is written with each new file.
//!
//! Whoever watches is told of each change by the pair (emptied how often, newest number).
use crate::entry::Entry;
use crate::mask::Masks;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Newest requests that stay.
    pub requests: usize,
    /// Lines the file may hold beyond them before it is written anew.
    pub slack: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { requests: 10_000, slack: 2_000 }
    }
}

/// Where the log stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// How often it was emptied since the start.
    pub emptied: u64,
    /// The newest number; 0 when it is empty.
    pub newest: u64,
}

/// A run of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Numbers and lines, in order.
    pub lines: Vec<(u64, String)>,
    /// More lines of the kind follow.
    pub more: bool,
}

struct Place {
    n: u64,
    medium: &'static str,
    at: u64,
    length: usize,
}

struct Held {
    file: File,
    end: u64,
    lines: usize,
    index: VecDeque<Place>,
    newest: u64,
}

type Snapshot = Box<dyn Fn() -> Value + Send + Sync>;

/// The log.
pub struct Log {
    path: PathBuf,
    bounds: Bounds,
    masks: Masks,
    snapshot: Snapshot,
    held: Mutex<Held>,
    mark: watch::Sender<Mark>,
}

/// What a start finds, for the rooms to take up.
#[derive(Default)]
pub struct Found {
    /// What the rooms knew when the file was last written anew.
    pub kept: Option<Value>,
    /// The kept requests, oldest first.
    pub entries: Vec<Entry>,
}

impl Log {
    /// Opens the file in `folder`, cuts off a torn last line and reads the rest back. `media` are
    /// the rooms' names; a line of another medium is left where it is but not shown. `snapshot`
    /// gives what the rooms know, whenever the file is written anew.
    ///
    /// # Errors
    /// The file cannot be opened, read or cut.
    pub fn open(
        folder: &Path,
        bounds: Bounds,
        masks: Masks,
        media: &[&'static str],
        snapshot: Snapshot,
    ) -> io::Result<(Self, Found)> {
        fs::create_dir_all(folder)?;
        let path = folder.join("requests.jsonl");
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        let mut held = Held { file, end: 0, lines: 0, index: VecDeque::new(), newest: 0 };
        let mut found = read_back(&path, &mut held, media)?;
        held.file.set_len(held.end)?;
        let over = held.index.len().saturating_sub(bounds.requests);
        held.index.drain(..over);
        let first = held.index.front().map_or(u64::MAX, |place| place.n);
        found.entries.retain(|entry| entry.n >= first);
        let (mark, _) = watch::channel(Mark { emptied: 0, newest: held.newest });
        Ok((Self { path, bounds, masks, snapshot, held: Mutex::new(held), mark }, found))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next number, has the entry made with it and writes it. What `make` does to a
    /// room's state happens in the order of the numbers.
    ///
    /// # Errors
    /// The line cannot be written; the number is then free again.
    pub fn append(&self, medium: &'static str, make: impl FnOnce(u64) -> Entry) -> io::Result<u64> {
        let mut held = self.lock();
        let n = held.newest + 1;
        let mut line = self.masks.clean(serde_json::to_string(&make(n))?).into_bytes();
        line.push(b'\n');
        let at = held.end;
        if let Err(problem) = held.file.write_all(&line) {
            held.file.set_len(at)?;
            return Err(problem);
        }
        held.end += line.len() as u64;
        held.lines += 1;
        held.newest = n;
        held.index.push_back(Place { n, medium, at, length: line.len() - 1 });
        if held.index.len() > self.bounds.requests {
            held.index.pop_front();
        }
        if held.lines > self.bounds.requests + self.bounds.slack
            && let Err(problem) = self.rewrite(&mut held)
        {
            tracing::warn!(%problem, "the log of received requests stays longer than it should");
        }
        self.mark.send_modify(|mark| mark.newest = n);
        Ok(n)
    }

    /// At most `most` lines with a number over `after`, of one medium or of all.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn after(&self, after: u64, medium: Option<&str>, most: usize) -> io::Result<Run> {
        let held = self.lock();
        let start = held.index.partition_point(|place| place.n <= after);
        let mut wanted = held
            .index
            .range(start..)
            .filter(|place| medium.is_none_or(|medium| place.medium == medium));
        let mut run = Run::default();
        for place in wanted.by_ref().take(most) {
            let mut bytes = vec![0; place.length];
            held.file.read_exact_at(&mut bytes, place.at)?;
            run.lines.push((place.n, String::from_utf8_lossy(&bytes).into_owned()));
        }
        run.more = wanted.next().is_some();
        Ok(run)
    }

    /// Empties the log; numbers start again.
    ///
    /// # Errors
    /// The file cannot be written anew.
    pub fn clear(&self) -> io::Result<()> {
        let mut held = self.lock();
        held.index.clear();
        self.rewrite(&mut held)?;
        held.newest = 0;
        self.mark.send_modify(|mark| {
            mark.emptied += 1;
            mark.newest = 0;
        });
        Ok(())
    }

    /// Tells of every change from now on.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Mark> {
        self.mark.subscribe()
    }

    /// Writes the kept lines into a new file and puts it in the old one's place.
    fn rewrite(&self, held: &mut Held) -> io::Result<()> {
        let beside = self.path.with_extension("jsonl.part");
        let mut out = BufWriter::new(File::create(&beside)?);
        let kept = serde_json::json!({ "kept": (self.snapshot)() });
        let first = self.masks.clean(kept.to_string());
        writeln!(out, "{first}")?;
        let mut at = first.len() as u64 + 1;
        let mut index = VecDeque::with_capacity(held.index.len());
        for place in &held.index {
            let mut bytes = vec![0; place.length + 1];
            held.file.read_exact_at(&mut bytes, place.at)?;
            out.write_all(&bytes)?;
            index.push_back(Place { at, ..*place });
            at += bytes.len() as u64;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, &self.path)?;
        held.file = OpenOptions::new().read(true).append(true).open(&self.path)?;
        held.lines = index.len() + 1;
        held.index = index;
        held.end = at;
        Ok(())
    }
}

/// Reads every whole line; `held` then ends where the last of them does.
fn read_back(path: &Path, held: &mut Held, media: &[&'static str]) -> io::Result<Found> {
    let mut found = Found::default();
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Ok(found);
        }
        let at = held.end;
        held.end += length as u64;
        held.lines += 1;
        if let Ok(entry) = serde_json::from_slice::<Entry>(&line) {
            held.newest = held.newest.max(entry.n);
            if let Some(medium) = media.iter().find(|known| **known == entry.medium) {
                held.index.push_back(Place { n: entry.n, medium, at, length: line.len() });
                found.entries.push(entry);
            }
        } else if let Ok(Value::Object(mut object)) = serde_json::from_slice(&line) {
            found.kept = object.remove("kept").or(found.kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SMALL: Bounds = Bounds { requests: 5, slack: 3 };

    fn entry(n: u64) -> Entry {
        serde_json::from_value(json!({
            "n": n, "at": "t", "medium": if n.is_multiple_of(2) { "even" } else { "odd" },
            "call": "c", "chat": null, "method": "POST", "path": "/p", "headers": {},
            "body": null, "status": 200
        }))
        .unwrap()
    }

    fn open(folder: &Path) -> (Log, Found) {
        let media = ["odd", "even"];
        Log::open(folder, SMALL, Masks::default(), &media, Box::new(|| json!({ "x": 1 }))).unwrap()
    }

    fn fill(log: &Log, times: usize) {
        for _ in 0..times {
            let medium =
                if (log.mark.borrow().newest + 1).is_multiple_of(2) { "even" } else { "odd" };
            log.append(medium, entry).unwrap();
        }
    }

    fn numbers(log: &Log, after: u64, medium: Option<&str>, most: usize) -> (Vec<u64>, bool) {
        let run = log.after(after, medium, most).unwrap();
        for (n, line) in &run.lines {
            assert_eq!(serde_json::from_str::<Entry>(line).unwrap(), entry(*n));
        }
        (run.lines.into_iter().map(|(n, _)| n).collect(), run.more)
    }

    #[test]
    fn sb_14_the_newest_stay_over_rewrites_and_restarts() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path();
        let (log, _) = open(folder);
        fill(&log, 4);
        assert_eq!(numbers(&log, 0, None, 3), (vec![1, 2, 3], true));
        fill(&log, 20);
        assert_eq!(numbers(&log, 0, None, 9), (vec![20, 21, 22, 23, 24], false));
        assert_eq!(numbers(&log, 21, Some("even"), 9), (vec![22, 24], false));
        assert_eq!(numbers(&log, 0, Some("even"), 2), (vec![20, 22], true));
        drop(log);
        let lines = fs::read_to_string(folder.join("requests.jsonl")).unwrap().lines().count();
        assert!(lines <= SMALL.requests + SMALL.slack, "{lines}");
        let (log, found) = open(folder);
        assert_eq!(found.entries.iter().map(|e| e.n).collect::<Vec<_>>(), [20, 21, 22, 23, 24]);
        assert_eq!(found.kept, Some(json!({ "x": 1 })));
        fill(&log, 1);
        assert_eq!(numbers(&log, 22, None, 9), (vec![23, 24, 25], false));
    }

    #[test]
    fn sb_14_a_torn_last_line_is_cut_off() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path();
        let (log, _) = open(folder);
        fill(&log, 3);
        drop(log);
        let path = folder.join("requests.jsonl");
        let whole = fs::read(&path).unwrap();
        for end in (whole.len() - 40)..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (log, found) = open(folder);
            assert_eq!(found.entries.len(), 2, "{end}");
            fill(&log, 1);
            assert_eq!(numbers(&log, 0, None, 9), (vec![1, 2, 3], false));
        }
    }

    #[test]
    fn emptied_it_counts_from_one_and_keeps_what_the_rooms_know() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = folder.path();
        let (log, _) = open(folder);
        let watch = log.watch();
        fill(&log, 3);
        log.clear().unwrap();
        assert_eq!(*watch.borrow(), Mark { emptied: 1, newest: 0 });
        assert_eq!(numbers(&log, 0, None, 9), (vec![], false));
        fill(&log, 2);
        drop(log);
        let (log, found) = open(folder);
        assert_eq!(found.kept, Some(json!({ "x": 1 })));
        assert_eq!(numbers(&log, 0, None, 9), (vec![1, 2], false));
    }
}
