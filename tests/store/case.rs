//! Stores to test, and what goes into them.
use bytes::Bytes;
use contract::{ChannelName, NotificationId, SendId};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tidings::clock::{Millis, StandingClock};
use tidings::store::embedded::{Embedded, Options};
use tidings::store::model::Model;
use tidings::store::{
    Active, At, Claimed, Commit, Dead, Hold, Kept, Lane, OpenSend, OpenStep, Opened, OptChange,
    QueueName, Store, Token,
};

/// Where the tests' time begins.
pub const START: i64 = 1_790_000_000_000;
/// The lease of every claim made by [`Case::claim`].
pub const LEASE: Duration = Duration::from_secs(60);

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("tidings-store-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A store under test.
pub struct Case {
    pub store: Arc<dyn Store>,
    _folder: Option<Folder>,
}

pub fn clock() -> Arc<StandingClock> {
    Arc::new(StandingClock::at(Millis(START)))
}

pub fn model() -> Case {
    Case { store: Arc::new(Model::new(clock())), _folder: None }
}

pub fn embedded() -> Case {
    let folder = Folder::new();
    let store = Embedded::open(Options::new(folder.path(), clock())).unwrap();
    Case { store: Arc::new(store), _folder: Some(folder) }
}

/// So many milliseconds after the beginning.
pub fn at(millis: i64) -> At {
    At::Given(time(millis))
}

pub fn time(millis: i64) -> Millis {
    Millis(START + millis)
}

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn channel() -> ChannelName {
    ChannelName::parse("telegram").unwrap()
}

pub fn out() -> QueueName {
    QueueName::out(&channel())
}

pub fn lane(name: &str) -> Lane {
    Lane(name.to_owned())
}

pub fn ntf(number: u128) -> NotificationId {
    NotificationId::from_bits(number)
}

pub fn snd(number: u128) -> SendId {
    SendId::from_bits(number)
}

pub fn body(number: u128) -> Bytes {
    Bytes::from(format!("body of {number}"))
}

/// A record: header line, then bytes that say which revision they are of.
pub fn record(rev: u64, status: &str) -> Bytes {
    Bytes::from(format!("{rev} {status}\nrest of {rev}"))
}

/// An inbox-only notification.
pub fn note(number: u128) -> OpenStep {
    OpenStep {
        notification: ntf(number),
        body: body(number),
        audience: None,
        idempotency: None,
        keep_for: seconds(60),
        trace: None,
        send: None,
        ring: 1000,
        audience_ttl: seconds(600),
    }
}

/// One for an audience.
pub fn addressed(number: u128, audience: &str) -> OpenStep {
    OpenStep { audience: Some(audience.to_owned()), ..note(number) }
}

/// The send of a notification, same number.
pub fn open_send(number: u128, recipient: &str) -> OpenSend {
    OpenSend {
        id: snd(number),
        channel: channel(),
        lane: lane(recipient),
        record: record(1, "queued"),
        owners: vec!["ops".into()],
        created_at: time(i64::try_from(number).unwrap()),
        expires_at: time(86_400_000 + i64::try_from(number).unwrap()),
        backlog_max: 1_000_000,
        lane_max: 10_000,
    }
}

/// A notification with a send.
pub fn sent(number: u128, recipient: &str) -> OpenStep {
    OpenStep { send: Some(open_send(number, recipient)), ..note(number) }
}

pub fn kept(fingerprint: u8, state: &str) -> Kept {
    Kept { fingerprint: [fingerprint; 32], state: Bytes::from(state.to_owned()) }
}

/// A write that changes nothing beside the record.
pub fn commit(number: u128, rev: u64, status: &str) -> Commit {
    Commit {
        id: snd(number),
        channel: channel(),
        rev,
        value: record(rev + 1, status),
        log: None,
        exchange: None,
        active: Active::Keep,
        dead: Dead::Keep,
        opt: OptChange::Keep,
    }
}

impl Case {
    /// This very store.
    pub fn of(store: impl Store + 'static) -> Self {
        Self { store: Arc::new(store), _folder: None }
    }

    /// Opens and expects it to be recorded.
    pub async fn open(&self, step: OpenStep, at: At) {
        assert_eq!(self.store.open(step, at).await, Ok(Opened::Opened));
    }

    /// Claims up to `want` lanes with fresh tokens.
    pub async fn claim(&self, queue: &QueueName, want: usize, at: At) -> Claimed {
        self.store.claim(queue, tokens(want), LEASE, None, at).await.unwrap()
    }

    /// Claims the only lane there is to claim.
    pub async fn take(&self, queue: &QueueName, at: At) -> Hold {
        let claimed = self.claim(queue, 1, at).await;
        claimed.leases.into_iter().next().expect("a lane to claim").hold
    }

    /// Whether a body is stored.
    pub async fn has_body(&self, number: u128) -> bool {
        self.store.bodies(&[ntf(number)]).await.unwrap()[0].is_some()
    }
}

/// Tokens never used before.
pub fn tokens(count: usize) -> Vec<Token> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    (0..count).map(|_| Token(format!("node:{}", NUMBER.fetch_add(1, Ordering::Relaxed)))).collect()
}
