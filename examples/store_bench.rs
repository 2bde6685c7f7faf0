//! Measures the embedded store on this machine: durable opens a second, sends walked to their end,
//! disk a send, memory, and how long the store takes to open after a clean end and after a crash. `cargo run --release --example store_bench [callers] [seconds] [folder]`.
use bytes::Bytes;
use contract::{ChannelName, NotificationId, SendId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidings::clock::{Clock, SystemClock};
use tidings::store::embedded::{Embedded, Options};
use tidings::store::{
    Active, At, Commit, Committed, Dead, Lane, Noted, OpenSend, OpenStep, Opened, Opening,
    OptChange, ProviderRef, Queue, QueueName, Records, Token,
};

const BODY: usize = 560;
const RECORD: usize = 500;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let callers: usize = args.next().map_or(Ok(64), |text| text.parse())?;
    let seconds: u64 = args.next().map_or(Ok(5), |text| text.parse())?;
    let folder = args.next().map_or_else(
        || std::env::temp_dir().join(format!("tidings-bench-{}", std::process::id())),
        PathBuf::from,
    );
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let options = Options::new(&folder, Arc::new(SystemClock));
    let store = Arc::new(Embedded::open(options.clone())?);
    let span = Duration::from_secs(seconds);
    let file = folder.join("tidings.redb");
    let size = || std::fs::metadata(&file).map(|file| file.len());
    runtime.block_on(async {
        opens(&store, callers, span, false).await?;
        opens(&store, callers, span, true).await?;
        let before = size()?;
        let sent = sends(&store, callers, span).await?;
        let after = size()?;
        println!("{after} bytes of file, {} a send", (after - before) / sent.max(1));
        Ok::<_, Failure>(())
    })?;
    println!("resident: {}", resident()?);
    // A copy of the open file is what a crash leaves.
    let crashed = folder.join("crashed");
    std::fs::create_dir_all(&crashed)?;
    std::fs::copy(&file, crashed.join("tidings.redb"))?;
    drop(store);
    let reopen = |options: Options| {
        let start = Instant::now();
        Embedded::open(options).map(|_| start.elapsed().as_millis())
    };
    println!("opened again in {} ms", reopen(options.clone())?);
    let after = reopen(Options { data_dir: crashed, ..options })?;
    println!("opened after a crash in {after} ms");
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Memory this process holds, as the system says.
fn resident() -> Result<String, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    Ok(line.unwrap_or_default().trim_start_matches("VmRSS:").trim().to_owned())
}

fn step(notification: u64, audience: bool, send: Option<OpenSend>) -> OpenStep {
    OpenStep {
        notification: NotificationId::from_bits(fresh(notification)),
        body: Bytes::from(vec![b'x'; BODY]),
        audience: audience.then(|| format!("person-{}", notification % 100)),
        idempotency: None,
        trace: None,
        keep_for: Duration::from_secs(86_400),
        send,
        ring: 1000,
        audience_ttl: Duration::from_secs(30 * 86_400),
    }
}

/// An id that rises with time, as minted ones do.
fn fresh(number: u64) -> u128 {
    let now = u128::from(SystemClock.now().0.cast_unsigned());
    (now << 80) | u128::from(number)
}

fn record(rev: u64, status: &str) -> Bytes {
    let mut record = format!("{rev} {status}\n").into_bytes();
    record.resize(RECORD, b'r');
    record.into()
}

/// What callers measured.
fn report(what: &str, mut times: Vec<Duration>, span: Duration) {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let rate = times.len() as f64 / span.as_secs_f64();
    println!("{what}: {rate:.0}/s, p50 {:?}, p99 {:?}", at(50), at(99));
}

async fn opens(
    store: &Arc<Embedded>,
    callers: usize,
    span: Duration,
    audience: bool,
) -> Result<(), Failure> {
    let number = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (store, number) = (store.clone(), number.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                while start.elapsed() < span {
                    let step = step(number.fetch_add(1, Ordering::Relaxed), audience, None);
                    let begun = Instant::now();
                    let opened = store.open(step, At::Store).await?;
                    if opened != Opened::Opened {
                        return Err(Failure::from(format!("{opened:?}")));
                    }
                    times.push(begun.elapsed());
                }
                Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let what = if audience { "opens with an audience" } else { "inbox-only opens" };
    report(what, times, start.elapsed());
    Ok(())
}

/// Each caller opens a send to a recipient of its own, claims, begins, notes the last part.
async fn sends(store: &Arc<Embedded>, callers: usize, span: Duration) -> Result<u64, Failure> {
    let channel = ChannelName::parse("telegram").ok_or("a channel's name")?;
    let number = Arc::new(AtomicU64::new(1 << 40));
    let start = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (store, number, channel) = (store.clone(), number.clone(), channel.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                while start.elapsed() < span {
                    let begun = Instant::now();
                    send(&store, &channel, number.fetch_add(1, Ordering::Relaxed)).await?;
                    times.push(begun.elapsed());
                }
                Ok::<_, Failure>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let count = times.len() as u64;
    report("sends, open to acknowledged", times, start.elapsed());
    Ok(count)
}

async fn send(store: &Embedded, channel: &ChannelName, number: u64) -> Result<(), Failure> {
    let now = SystemClock.now();
    let open = OpenSend {
        id: SendId::from_bits(fresh(number)),
        channel: channel.clone(),
        lane: Lane(format!("recipient-{:012}", number % 10_000)),
        record: record(1, "queued"),
        owners: Vec::new(),
        created_at: now,
        expires_at: now.plus(Duration::from_secs(86_400)),
        backlog_max: 1_000_000,
        lane_max: 10_000,
    };
    store.open(step(number, false, Some(open)), At::Store).await?;
    let tokens = vec![Token(format!("bench:{number}"))];
    let queue = QueueName::out(channel);
    let claimed = store.claim(&queue, tokens, Duration::from_secs(60), None, At::Store).await?;
    let Some(lease) = claimed.leases.into_iter().next() else { return Ok(()) };
    let id = SendId::parse(std::str::from_utf8(&lease.item)?).ok_or("a send's id")?;
    let commit = |rev, status, active| Commit {
        id: id.clone(),
        channel: channel.clone(),
        rev,
        value: record(rev + 1, status),
        log: (rev == 2).then(|| Bytes::from_static(&[b'l'; 300])),
        exchange: (rev == 2).then(|| Bytes::from_static(&[b'e'; 700])),
        active,
        dead: Dead::Keep,
        opt: OptChange::Keep,
    };
    let begun =
        store.begin(commit(1, "sending", Active::Keep), &lease.hold, None, At::Store).await?;
    if begun != Committed::Done {
        return Err(format!("begin: {begun:?}").into());
    }
    let provider = Some(ProviderRef { hash: format!("{:022}", id.tail()), part: 0 });
    let last = commit(2, "accepted", Active::Remove);
    let noted = store.note_part(last, provider, Some(&lease.hold), At::Store).await?;
    match noted {
        Noted::Done { .. } => Ok(()),
        other => Err(format!("note_part: {other:?}").into()),
    }
}
