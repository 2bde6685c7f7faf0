//! kill -9: a child process works on a store and says what was answered to it; it is killed in the
//! middle; the store opened again holds all of it, and nothing half.
use crate::case::{
    Case, Folder, LEASE, at, body, commit, kept, lane, ntf, open_send, out, snd, tokens,
};
use contract::ids::decode26;
use contract::{NotificationId, SendId};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tidings::clock::SystemClock;
use tidings::store::embedded::{Embedded, Options};
use tidings::store::{
    Active, Commit, Committed, Noted, OpenSend, OpenStep, Opened, Opening, Queue, Records, Scope,
    StoreError,
};

/// Where the child works; its own test run has none and works in a folder of its own.
const FOLDER: &str = "TIDINGS_STORE_CHILD_FOLDER";
/// First number the child uses.
const FROM: &str = "TIDINGS_STORE_CHILD_FROM";
/// Callers of the child.
const CALLERS: u128 = 24;
/// Sends of each caller.
const EACH: u128 = 1_000;

/// This very binary, running [`the_childs_work_comes_to_its_end_when_nobody_kills_it`] alone.
fn child(folder: &Path, from: u128) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_childs_work_comes_to_its_end_when_nobody_kills_it"])
        .arg("--nocapture")
        .env(FOLDER, folder)
        .env(FROM, from.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn step(number: u128) -> OpenStep {
    let name = format!("r{}", number % 40);
    OpenStep {
        notification: ntf(number),
        body: body(number),
        audience: Some("ana".into()),
        idempotency: Some((format!("key {number}"), kept(1, "opened"))),
        trace: None,
        keep_for: std::time::Duration::from_secs(86_400),
        send: Some(OpenSend { lane: lane(&name), ..open_send(number, "") }),
        ring: 100_000,
        audience_ttl: std::time::Duration::from_secs(86_400),
    }
}

/// To the parent, if there is one.
fn say(what: &str, number: u128) {
    if std::env::var_os(FOLDER).is_none() {
        return;
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{what} {number}").unwrap();
    out.flush().unwrap();
}

/// A caller: opens a send, takes whatever lane is ready, begins its head, notes it as accepted.
async fn call(store: &Embedded, number: u128) -> Result<(), StoreError> {
    assert_eq!(store.open(step(number), at(0)).await?, Opened::Opened);
    say("opened", number);
    for lease in store.claim(&out(), tokens(1), LEASE, None, at(0)).await?.leases {
        let text = String::from_utf8(lease.item.to_vec()).unwrap();
        let taken = decode26(SendId::parse(&text).unwrap().tail()).unwrap();
        let begun = store.begin(commit(taken, 1, "sending"), &lease.hold, None, at(0)).await?;
        assert_eq!(begun, Committed::Done);
        say("begun", taken);
        let accepted = Commit { active: Active::Remove, ..commit(taken, 2, "accepted") };
        let noted = store.note_part(accepted, None, Some(&lease.hold), at(0)).await?;
        assert_eq!(noted, Noted::Done { shelved: vec![] });
        say("accepted", taken);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_childs_work_comes_to_its_end_when_nobody_kills_it() {
    // A killed child tidies nothing away: it makes no folder of its own.
    let own = std::env::var_os(FOLDER).is_none().then(Folder::new);
    let (folder, from, each) = match &own {
        Some(own) => (own.path().to_owned(), 0, 5),
        None => {
            let from = std::env::var(FROM).unwrap().parse().unwrap();
            (std::path::PathBuf::from(std::env::var_os(FOLDER).unwrap()), from, EACH)
        }
    };
    let store = Embedded::open(Options::new(folder, Arc::new(SystemClock))).unwrap();
    let store = Arc::new(store);
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                for number in 0..each {
                    call(&store, from + caller * EACH + number).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let listed = store.sends(&tidings::store::SendIndex::Owner("ops".into()), None, 9_999).await;
    assert!(listed.unwrap().len() as u128 >= CALLERS * each.min(200));
}

/// What the child was told before it died: number → the last thing said about it.
fn killed_after(mut child: Child, lines: usize) -> BTreeMap<u128, u64> {
    let mut said: BTreeMap<u128, u64> = BTreeMap::new();
    let mut counted = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap_or_default();
        let mut words = line.split(' ');
        let rev = match words.next() {
            Some("opened") => 1,
            Some("begun") => 2,
            Some("accepted") => 3,
            _ => continue,
        };
        let Some(number) = words.next().and_then(|word| word.parse().ok()) else { continue };
        let last = said.entry(number).or_default();
        *last = rev.max(*last);
        counted += 1;
        if counted == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(counted >= lines, "the child ended by itself after {counted}");
    said
}

fn number(id: &NotificationId) -> u128 {
    decode26(id.tail()).unwrap()
}

/// Every send of this round by its revision; all that belongs to it is there.
async fn whole(case: &Case, from: u128) -> BTreeMap<u128, u64> {
    let mut revisions = BTreeMap::new();
    let ring = case.store.list(&Scope::Shared, None, 200_000, at(1)).await.unwrap();
    let slice = case.store.list(&Scope::Slice("ana".into()), None, 200_000, at(1)).await.unwrap();
    assert_eq!(ring, slice);
    assert!(ring.windows(2).all(|pair| pair[0].0 == pair[1].0 + 1), "no number is missing");
    let ring: BTreeSet<u128> =
        ring.iter().map(|(_, id)| number(id)).filter(|number| *number >= from).collect();
    for number in ring {
        assert_eq!(case.store.bodies(&[ntf(number)]).await, Ok(vec![Some(body(number))]));
        let header = case.store.send_headers(&[snd(number)]).await.unwrap().remove(0);
        let header = header.unwrap_or_else(|| panic!("{number} has no record"));
        assert!(case.store.kept(&format!("key {number}"), at(1)).await.unwrap().is_some());
        revisions.insert(number, header.split(' ').next().unwrap().parse().unwrap());
    }
    revisions
}

/// Five rounds on one store, each killed at another point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_45_what_was_answered_survives_kill_9_and_nothing_is_half() {
    let folder = Folder::new();
    for (round, lines) in [(0u128, 1), (1, 150), (2, 700), (3, 2_000), (4, 4_321)] {
        let from = round * 1_000_000;
        let said = killed_after(child(folder.path(), from), lines);
        let store = Embedded::open(Options::new(folder.path(), Arc::new(SystemClock))).unwrap();
        let case = Case::of(store);
        let stored = whole(&case, from).await;
        for (number, rev) in &said {
            assert!(stored.get(number) >= Some(rev), "{number}: {rev}, {:?}", stored.get(number));
        }
        // Not accepted means waiting, once; begun means handed out as reaped, and nothing else.
        let mut waiting = BTreeMap::new();
        loop {
            let leases = case.claim(&out(), 32, at(2)).await.leases;
            if leases.is_empty() {
                break;
            }
            for lease in leases {
                let id = SendId::parse(std::str::from_utf8(&lease.item).unwrap()).unwrap();
                let number = decode26(id.tail()).unwrap();
                assert_eq!(lease.reaped, stored[&number] == 2, "{number}");
                assert_eq!(lease.body, Some(body(number)));
                assert_eq!(waiting.insert(number, stored[&number]), None);
                case.store.ack(&lease.hold, at(2)).await.unwrap();
            }
        }
        let unfinished: BTreeMap<u128, u64> =
            stored.iter().filter(|(_, rev)| **rev < 3).map(|(n, rev)| (*n, *rev)).collect();
        assert_eq!(waiting, unfinished);
        let overdue = case.store.overdue(200_000, at(i64::from(u32::MAX))).await.unwrap();
        let overdue: BTreeSet<u128> = overdue
            .iter()
            .map(|id| decode26(id.tail()).unwrap())
            .filter(|number| *number >= from)
            .collect();
        assert_eq!(overdue, unfinished.keys().copied().collect());
    }
}

/// While another process has the store it is locked, and free when that process is gone.
#[tokio::test]
async fn d_21_a_second_process_is_refused() {
    let folder = Folder::new();
    let mut child = child(folder.path(), 0);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("opened")), "the child has the store");
    let options = || Options::new(folder.path(), Arc::new(SystemClock));
    assert_eq!(Embedded::open(options()).err(), Some(StoreError::Locked));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Embedded::open(options()).is_ok());
}
