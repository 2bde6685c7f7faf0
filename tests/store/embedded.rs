//! What only the store on disk has: restarts, a full disk, the lock, files.
use crate::case::{
    Case, Folder, LEASE, addressed, at, body, clock, commit, lane, note, ntf, out, record, sent,
    snd, time, tokens,
};
use crate::media;
use bytes::Bytes;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tidings::clock::{Clock, SystemClock};
use tidings::store::embedded::{Embedded, Options};
use tidings::store::{
    At, Commit, Committed, Held, Inbox, MediaRow, MediaShelf, MediaStored, Noted, OpenStep, Opened,
    Opening, Queue, Records, Scope, StoreError, Sweep, Upkeep,
};

const DONE: Result<Committed, StoreError> = Ok(Committed::Done);

fn options(folder: &Folder) -> Options {
    Options::new(folder.path(), clock())
}

/// Opens the store in this folder. A server that another test starts at this moment holds every
/// file of this process until its program begins, the lock too.
fn opened(folder: &Folder) -> Embedded {
    for _ in 0..100 {
        match Embedded::open(options(folder)) {
            Err(StoreError::Locked) => std::thread::sleep(Duration::from_millis(20)),
            opened => return opened.unwrap(),
        }
    }
    panic!("the folder stays locked");
}

#[tokio::test]
async fn d_21_a_folder_has_one_store_at_a_time() {
    let folder = Folder::new();
    let first = opened(&folder);
    assert_eq!(Embedded::open(options(&folder)).err(), Some(StoreError::Locked));
    first.open(note(1), at(0)).await.unwrap();
    drop(first);
    let next = opened(&folder);
    assert_eq!(next.open(note(1), at(0)).await, Ok(Opened::Opened));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    let path = folder.path().join("tidings.redb");
    std::fs::write(&path, b"somebody's notes").unwrap();
    assert!(matches!(
        Embedded::open(options(&folder)).err(),
        Some(StoreError::Unavailable(_) | StoreError::Corrupt(_))
    ));
    assert_eq!(std::fs::read(&path).unwrap(), b"somebody's notes");
}

/// What a worker did with a lane before the process died, and how it is handed out afterwards.
#[tokio::test]
async fn d_21_after_a_restart_only_a_begun_lane_counts_as_reaped() {
    let folder = Folder::new();
    let store = opened(&folder);
    let names =
        ["idle", "claimed", "begun", "noted", "last", "finished", "deferred", "acked", "delayed"];
    for (number, name) in (1..).zip(names) {
        store.open(sent(number, name), at(0)).await.unwrap();
        store.open(sent(number + 100, name), at(0)).await.unwrap();
    }
    let mut leases = store.claim(&out(), tokens(9), LEASE, None, at(0)).await.unwrap().leases;
    let idle = leases.remove(0).hold;
    assert_eq!(store.defer_lane(&idle, time(0), at(0)).await, Ok(Held::Done));
    for (number, lease) in (2..).zip(&leases) {
        let hold = &lease.hold;
        if !["claimed", "acked", "delayed"].contains(&hold.lane.0.as_str()) {
            assert_eq!(store.begin(commit(number, 1, "sending"), hold, None, at(1)).await, DONE);
        }
        let next = commit(number, 2, "next");
        match hold.lane.0.as_str() {
            "noted" | "last" => {
                let last = Some(hold).filter(|hold| hold.lane.0 == "last");
                let noted = store.note_part(next, None, last, at(2)).await;
                assert_eq!(noted, Ok(Noted::Done { shelved: vec![] }));
            }
            "finished" => assert_eq!(store.finish(next, hold, at(2)).await, DONE),
            "deferred" => assert_eq!(store.defer(next, hold, time(0), at(2)).await, DONE),
            "acked" => assert_eq!(store.ack(hold, at(2)).await, Ok(Held::Done)),
            "delayed" => {
                assert_eq!(store.defer_lane(hold, time(9_000), at(2)).await, Ok(Held::Done));
            }
            _ => {}
        }
    }
    drop(store);

    // Twice: a process that dies again before it claims changes nothing.
    drop(opened(&folder));
    let store = opened(&folder);
    let claimed = store.claim(&out(), tokens(32), LEASE, None, at(3)).await.unwrap();
    assert_eq!(claimed.next_due, Some(time(9_000)));
    let mut seen: Vec<_> = claimed
        .leases
        .iter()
        .map(|lease| (lease.hold.lane.0.as_str(), lease.reaped, lease.reaps))
        .collect();
    seen.sort_unstable();
    let expected = [
        ("acked", false, 0),
        ("begun", true, 1),
        ("claimed", false, 0),
        ("deferred", false, 0),
        ("finished", false, 0),
        ("idle", false, 0),
        ("last", false, 0),
        ("noted", true, 1),
    ];
    assert_eq!(seen, expected);
    drop(store);
    // It died again while it held it: counted again, until the head goes.
    let store = opened(&folder);
    let claimed = store.claim(&out(), tokens(32), LEASE, None, at(4)).await.unwrap();
    let begun = claimed.leases.iter().find(|lease| lease.hold.lane == lane("begun")).unwrap();
    assert_eq!((begun.reaps, begun.reaped), (2, true));
    assert_eq!(begun.record, Some(record(2, "sending")));
    store.finish(commit(3, 2, "outcome_unknown"), &begun.hold, at(4)).await.unwrap();
    drop(store);
    let store = opened(&folder);
    let claimed = store.claim(&out(), tokens(32), LEASE, None, at(5)).await.unwrap();
    let begun = claimed.leases.iter().find(|lease| lease.hold.lane == lane("begun")).unwrap();
    assert_eq!((begun.item.as_ref(), begun.reaps), (snd(103).as_str().as_bytes(), 0));
}

/// A file on a disk that has room for so many bytes, and where a write or a flush may fail once.
#[derive(Debug)]
struct Disk {
    file: FileBackend,
    state: Arc<DiskState>,
}

#[derive(Debug)]
struct DiskState {
    room: AtomicU64,
    write_fails: AtomicBool,
    flush_fails: AtomicBool,
}

impl DiskState {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            room: AtomicU64::new(u64::MAX),
            write_fails: AtomicBool::new(false),
            flush_fails: AtomicBool::new(false),
        })
    }
    fn fits(&self, end: u64) -> io::Result<()> {
        if end > self.room.load(Ordering::SeqCst) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.state.fits(len)?;
        self.file.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        if self.state.flush_fails.swap(false, Ordering::SeqCst) {
            return Err(io::Error::other("flush failed"));
        }
        self.file.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.state.fits(offset + data.len() as u64)?;
        if self.state.write_fails.swap(false, Ordering::SeqCst) {
            return Err(io::Error::other("write failed"));
        }
        self.file.write(offset, data)
    }
}

fn on_disk(folder: &Folder) -> (Embedded, Arc<DiskState>) {
    let state = DiskState::new();
    let shared = state.clone();
    let backend = move |path: &Path| {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(Disk { file, state: shared.clone() }) as Box<dyn StorageBackend>)
    };
    let options = Options { backend: Arc::new(backend), ..options(folder) };
    (Embedded::open(options).unwrap(), state)
}

/// Bodies that fill a disk.
fn fat(number: u128) -> OpenStep {
    let body = Bytes::from(vec![u8::try_from(number % 251).unwrap(); 20_000]);
    OpenStep { body, ..sent(number, "r") }
}

#[tokio::test]
async fn d_61_a_full_disk_refuses_whole_steps_and_heals() {
    let folder = Folder::new();
    let (store, disk) = on_disk(&folder);
    store.open(sent(1, "held"), at(0)).await.unwrap();
    let hold =
        store.claim(&out(), tokens(1), LEASE, None, at(0)).await.unwrap().leases.remove(0).hold;
    disk.room.store(3_000_000, Ordering::SeqCst);
    let mut number = 1;
    let refused = loop {
        number += 1;
        match store.open(fat(number), at(1)).await {
            Ok(opened) => assert_eq!(opened, Opened::Opened),
            Err(error) => break error,
        }
        assert!(number < 1_000, "the disk never filled");
    };
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");

    // What was answered is there, what was refused is not; reading goes on.
    let case = Case::of(store);
    let there = async |case: &Case, upto: u128| {
        let list = case.store.list(&Scope::Shared, None, 5_000, at(2)).await.unwrap();
        assert_eq!(list.len() as u128, upto);
        for number in 1..=upto {
            assert!(case.has_body(number).await, "{number}");
            assert!(case.store.record(&snd(number)).await.unwrap().is_some(), "{number}");
        }
        assert!(!case.has_body(upto + 1).await);
        assert_eq!(case.store.record(&snd(upto + 1)).await, Ok(None));
    };
    let waiting = async |case: &Case| case.store.depth(&out(), at(2)).await.unwrap().items;
    there(&case, number - 1).await;
    assert_eq!(u128::from(waiting(&case).await), number - 1);
    for _ in 0..3 {
        let again = case.store.open(fat(number), at(2)).await;
        assert!(matches!(again, Err(StoreError::Unavailable(_))), "{again:?}");
    }
    there(&case, number - 1).await;
    // A lane whose step failed is still held by whom it was held.
    let heavy = || Commit { exchange: Some(Bytes::from(vec![7; 200_000])), ..commit(1, 1, "done") };
    let failed = case.store.finish(heavy(), &hold, at(2)).await;
    assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
    there(&case, number - 1).await;
    assert_eq!(u128::from(waiting(&case).await), number - 1);

    disk.room.store(u64::MAX, Ordering::SeqCst);
    assert_eq!(case.store.ping().await, Ok(()));
    case.open(fat(number), at(3)).await;
    there(&case, number).await;
    // A lease from before the trouble still stands, and nobody else got its lane meanwhile.
    let others = case.claim(&out(), 9, at(3)).await.leases;
    assert!(others.iter().all(|lease| lease.hold.lane != lane("held")));
    assert_eq!(case.store.finish(heavy(), &hold, at(3)).await, DONE);
    assert_eq!(u128::from(waiting(&case).await), number - 1);
}

/// A commit whose flush fails is answered as unavailable; what it wrote is there whole or not at
/// all, lanes and leases are as the disk says, and the next step works.
#[tokio::test]
async fn d_11_a_failed_flush_answers_all_and_leaves_nothing_half() {
    let folder = Folder::new();
    let (store, disk) = on_disk(&folder);
    for number in 1..=3 {
        store.open(sent(number, &format!("r{number}")), at(0)).await.unwrap();
    }
    let mut leases = store.claim(&out(), tokens(2), LEASE, None, at(0)).await.unwrap().leases;
    let (second, first) = (leases.remove(1).hold, leases.remove(0).hold);
    for round in 0..5u128 {
        disk.flush_fails.store(true, Ordering::SeqCst);
        let failed = store.open(sent(10 + round, "new"), at(1)).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
        let body = store.bodies(&[ntf(10 + round)]).await.unwrap();
        let record = store.record(&snd(10 + round)).await.unwrap();
        assert_eq!(body[0].is_some(), record.is_some());
        // A repeat finds out: it is recorded now, once.
        assert_eq!(store.open(sent(10 + round, "new"), at(1)).await, Ok(Opened::Opened));
        let depth = store.depth(&out(), at(1)).await.unwrap();
        assert_eq!((u128::from(depth.items), depth.ready, depth.leased), (4 + round, 2, 2));
    }
    disk.flush_fails.store(true, Ordering::SeqCst);
    let failed = store.finish(commit(1, 1, "done"), &first, at(1)).await;
    assert!(matches!(failed, Err(StoreError::Unavailable(_))), "{failed:?}");
    // Whether it came to pass or not, lane and record say the same.
    let written = store.record(&snd(1)).await.unwrap() == Some(record(2, "done"));
    let again = store.finish(commit(1, 1, "done"), &first, at(1)).await;
    assert_eq!(again, Ok(if written { Committed::Lost } else { Committed::Done }));
    assert_eq!(store.ack(&second, at(1)).await, Ok(Held::Done), "the other lease stands");
    let poked = store.ping().await;
    assert_eq!(poked, Ok(()));
}

/// A commit that fails before it wrote anything moved no lane: whoever held one still does, whoever
/// claimed one in the failed batch does not.
#[tokio::test]
async fn d_11_a_failed_commit_takes_lanes_and_leases_back() {
    let folder = Folder::new();
    let (store, disk) = on_disk(&folder);
    for number in 1..=3 {
        store.open(sent(number, &format!("r{number}")), at(0)).await.unwrap();
        store.open(sent(number + 10, &format!("r{number}")), at(0)).await.unwrap();
    }
    let leases = store.claim(&out(), tokens(3), LEASE, None, at(0)).await.unwrap().leases;
    let before = store.depth(&out(), at(0)).await.unwrap();
    let failing = || disk.write_fails.store(true, Ordering::SeqCst);
    failing();
    assert!(store.finish(commit(1, 1, "done"), &leases[0].hold, at(1)).await.is_err());
    failing();
    assert!(store.defer(commit(2, 1, "x"), &leases[1].hold, time(9), at(1)).await.is_err());
    failing();
    assert!(store.ack(&leases[2].hold, at(1)).await.is_err());
    assert_eq!(store.depth(&out(), at(1)).await.unwrap(), before);
    assert_eq!(store.record(&snd(1)).await, Ok(Some(record(1, "queued"))));
    // A lease that ran out is taken over by a step that writes: it fails, so nobody took it over.
    failing();
    assert!(store.claim(&out(), tokens(1), LEASE, None, at(60_000)).await.is_err());
    assert_eq!(store.finish(commit(1, 1, "done"), &leases[0].hold, at(60_000)).await, DONE);
    let again = store.claim(&out(), tokens(9), LEASE, None, at(60_000)).await.unwrap().leases;
    let seen: Vec<_> = again.iter().map(|l| (l.hold.lane.0.as_str(), l.reaps, l.reaped)).collect();
    assert_eq!(seen, [("r2", 1, true), ("r3", 1, true), ("r1", 0, false)]);
}

/// While nothing can be written, the file's header included, a health check says so; the first
/// step after the trouble works.
#[tokio::test]
async fn a_store_that_cannot_write_is_not_healthy() {
    let folder = Folder::new();
    let (store, disk) = on_disk(&folder);
    store.open(note(1), at(0)).await.unwrap();
    assert_eq!(store.ping().await, Ok(()));
    disk.room.store(0, Ordering::SeqCst);
    assert!(store.open(note(2), at(0)).await.is_err());
    assert!(store.ping().await.is_err());
    assert!(store.ping().await.is_err());
    disk.room.store(u64::MAX, Ordering::SeqCst);
    assert_eq!(store.ping().await, Ok(()));
    assert_eq!(store.open(note(2), at(0)).await, Ok(Opened::Opened));
}

fn media_files(folder: &Folder) -> Vec<PathBuf> {
    let inside = |path: PathBuf| {
        std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path())
    };
    inside(folder.path().join("media")).flat_map(inside).collect()
}

#[tokio::test]
async fn nt_66_a_file_lies_by_its_id_and_goes_with_its_row() {
    let folder = Folder::new();
    let store = opened(&folder);
    let put = async |number, max| {
        let row = media::row(number, 10, 100);
        store.media_put(row, Bytes::from_static(&[7; 10]), max, at(0)).await.unwrap()
    };
    assert_eq!(put(1, 100).await, MediaStored::Stored);
    let id = media::media(1);
    let place = folder.path().join("media").join(&id.as_str()[4..6]).join(id.as_str());
    assert_eq!(std::fs::read(&place).unwrap(), [7; 10]);
    assert_eq!(put(2, 15).await, MediaStored::Full);
    assert_eq!(media_files(&folder), [place], "a refusal leaves no file");
    assert_eq!(store.sweep(Sweep::Media, 200, at(100)).await, Ok(1));
    assert_eq!(media_files(&folder), [] as [PathBuf; 0]);
}

#[tokio::test]
#[allow(clippy::disallowed_methods)] // file times are the machine's, not the store's
async fn nt_66_orphans_go_after_an_hour_and_nothing_else_does() {
    let folder = Folder::new();
    let store = opened(&folder);
    let now = SystemClock.now();
    let keep = MediaRow { expires: now.plus(Duration::from_secs(86_400)), ..media::row(1, 3, 0) };
    store.media_put(keep, Bytes::from_static(b"row"), 1 << 20, At::Given(now)).await.unwrap();
    let shelf = folder.path().join("media").join("00");
    let aged = |name: &str, minutes: u64| {
        let file = File::create(shelf.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
    };
    let old = File::open(shelf.join(media::media(1).as_str())).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(3 * 3600)).unwrap();
    aged(media::media(2).as_str(), 61);
    aged(&format!("{}.0.new", media::media(3)), 61);
    aged(media::media(4).as_str(), 59);
    assert_eq!(store.sweep(Sweep::Media, 1, At::Given(now)).await, Ok(1));
    assert_eq!(store.sweep(Sweep::Media, 200, At::Given(now)).await, Ok(1));
    assert_eq!(store.sweep(Sweep::Media, 200, At::Given(now)).await, Ok(0));
    let mut left: Vec<_> = media_files(&folder)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    left.sort();
    assert_eq!(left, [media::media(1).as_str(), media::media(4).as_str()]);
}

/// Pushes to full lists: the file stops growing, for what goes is used again.
#[tokio::test]
async fn the_file_of_a_full_inbox_stops_growing() {
    let folder = Folder::new();
    let store = opened(&folder);
    let size = || std::fs::metadata(folder.path().join("tidings.redb")).unwrap().len();
    let push = async |from: u128| {
        let steps = (from..from + 3_000).map(|number| {
            let step = addressed(number, if number % 2 == 0 { "ana" } else { "bo" });
            store.open(OpenStep { ring: 500, body: body(number), ..step }, at(0))
        });
        futures_util::future::join_all(steps).await;
    };
    push(0).await;
    let filled = size();
    push(3_000).await;
    push(6_000).await;
    assert!(size() <= filled * 3 / 2, "{filled} grew to {}", size());
    let listed = store.list(&Scope::Shared, None, 9_000, at(1)).await;
    assert_eq!(listed.unwrap().len(), 500);
}

/// What lapses is gone at once and swept later, a bounded number of rows a step; nothing is left.
#[tokio::test]
async fn lapsed_visitors_transcripts_and_messages_leave_nothing_behind() {
    use crate::case::{at, channel, seconds};
    use crate::chat::{append, vis};
    use contract::{InboundId, ThreadId};
    use tidings::store::{Claim, FrameId, InboundStep, Recorded, TokenHash, Visit};
    let case = crate::case::embedded();
    let visit = Visit {
        channel: channel(),
        given: None,
        fresh: TokenHash("t".into()),
        visitor: vis(1),
        until: time(9),
        pending_until: time(3_600_000),
    };
    case.store.visit(visit, at(0)).await.unwrap();
    for n in 0..300u64 {
        let id = FrameId { ms: 1, n };
        let step = InboundStep {
            id: InboundId::from_bits(u128::from(n) + 1),
            channel: channel(),
            received_at: time(0),
            value: Bytes::from_static(b"m"),
            address: "a".into(),
            thread: ThreadId::from_bits(1),
            thread_value: Bytes::new(),
            keep: seconds(3600),
            claim: Some(Claim {
                hash: n.to_string(),
                keep: seconds(60),
                fingerprint: String::new(),
            }),
            frame: Some(tidings::store::Append { keep: 1000, ..append(1, id, "f") }),
        };
        assert_eq!(case.store.record_inbound(step, at(1)).await, Ok(Recorded::Done));
    }
    let swept = async |moment| {
        let mut rows = 0;
        loop {
            match case.store.sweep(Sweep::Conversations, 200, at(moment)).await.unwrap() {
                0 => return rows,
                some => rows += some,
            }
        }
    };
    assert_eq!(swept(59_999).await, 0);
    assert_eq!(swept(60_001).await, 300, "claims");
    assert_eq!(case.store.inbound_of(&channel(), None, 500).await.unwrap().len(), 300);
    assert_eq!(case.store.transcript_ends(&channel(), &vis(1), at(3_600_001)).await, Ok(None));
    // Token, visitor, transcript with its frames, messages, thread.
    assert_eq!(swept(3_600_001).await, 1 + 1 + 1 + 300 + 300 + 1);
    assert_eq!(case.store.inbound_of(&channel(), None, 500).await, Ok(Vec::new()));
    assert_eq!(case.store.thread_of(&channel(), "a", at(0)).await, Ok(None));
    assert_eq!(case.store.visitor_known(&channel(), &vis(1), at(0)).await, Ok(false));
}
