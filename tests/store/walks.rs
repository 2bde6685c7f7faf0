//! Random walks: the same steps at the same random times on a store and on the model, every answer
//! compared, and after each step everything that can be read.
//!
//! The lanes' invariant [D-13] is checked after each step too: the model counts a lane exactly once
//! by construction, and the store's counts must equal the model's.
use crate::case::{
    Case, Folder, at, body, clock, kept, model, ntf, open_send, record, seconds, snd, time, tokens,
};
use crate::media;
use crate::ops::{Content, GateStep, LaneStep, Op, Opening, Pick, WriteStep, walk};
use bytes::Bytes;
use contract::{ChannelName, NotificationId, SendId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use tidings::store::embedded::{Embedded, Options};
use tidings::store::{
    Account, At, Commit, Hold, Lane, OpenSend, OpenStep, OptChange, Pacing, ProviderRef, QueueName,
    Rate, Scope, SendIndex, Store, Sweep,
};

/// One in two seconds, two at once.
const ACCOUNT: Rate = Rate { interval: 2_000_000, tolerance: 4_000_000 };
/// One in seven seconds.
const RECIPIENT: Rate = Rate { interval: 7_000_000, tolerance: 7_000_000 };

fn channels() -> [ChannelName; 2] {
    ["telegram", "support"].map(|name| ChannelName::parse(name).unwrap())
}

fn queues() -> [QueueName; 3] {
    let [a, b] = channels();
    [QueueName::out(&a), QueueName::out(&b), QueueName::parse("hook")]
}

fn audiences() -> [String; 2] {
    ["ana".into(), "bo".into()]
}

fn lane(pick: Pick) -> Lane {
    Lane(["a", "ab", "b"][pick % 3].into())
}

/// Both stores and what the walk has seen of them.
struct Walk<'a> {
    store: &'a dyn Store,
    model: &'a dyn Store,
    now: i64,
    notifications: Vec<NotificationId>,
    sends: Vec<(SendId, ChannelName, Lane)>,
    holds: Vec<Hold>,
    /// An embedded store that was opened again forgot its recipients' pace.
    reopened: bool,
}

/// Does a step on both and compares what they say; gives it.
macro_rules! both {
    ($walk:ident, $($call:tt)*) => {{
        let theirs = $walk.store.$($call)*.await;
        let ours = $walk.model.$($call)*.await;
        same(&theirs, &ours, stringify!($($call)*))?;
        ours.unwrap()
    }};
}

fn same<T: PartialEq + Debug>(theirs: &T, ours: &T, what: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(theirs, ours, "store, then model, differ in {}", what);
    Ok(())
}

impl<'a> Walk<'a> {
    fn new(store: &'a dyn Store, model: &'a dyn Store) -> Self {
        let (notifications, sends, holds) = (Vec::new(), Vec::new(), Vec::new());
        Self { store, model, now: 0, notifications, sends, holds, reopened: false }
    }

    fn at(&self) -> At {
        at(self.now)
    }

    fn hold(&self, pick: Pick) -> Hold {
        let none =
            || Hold { queue: queues()[0].clone(), lane: lane(pick), token: tokens(1).remove(0) };
        let some = |count: usize| self.holds[pick % count].clone();
        Some(self.holds.len()).filter(|count| *count > 0).map_or_else(none, some)
    }

    async fn step(&mut self, op: Op) -> Result<(), TestCaseError> {
        let now = self.at();
        match op {
            Op::Open(opening) => self.open(opening).await?,
            Op::Push { queue, lane: pick, due } => {
                let (item, due) =
                    (Bytes::from(format!("item {}", self.now)), due.map(|d| self.now + d));
                both!(self, push(&queues()[queue], &lane(pick), item.clone(), due.map(time), now));
            }
            Op::Claim { queue, want, lease, paced } => {
                let (tokens, lease, queue) = (tokens(want), seconds(lease), &queues()[queue]);
                let channel = queue.channel().and_then(ChannelName::parse);
                let account = channel.filter(|_| paced);
                let account = account.map(|channel| Account { channel, rate: ACCOUNT });
                let claimed =
                    both!(self, claim(queue, tokens.clone(), lease, account.as_ref(), now));
                self.holds.extend(claimed.leases.into_iter().map(|lease| lease.hold));
            }
            Op::Gate { channel, lane: pick, how } => self.gate(channel, pick, how).await?,
            Op::Extend { holds, lease } => {
                let holds: Vec<Hold> = holds.into_iter().map(|pick| self.hold(pick)).collect();
                both!(self, extend(holds.clone(), seconds(lease), now));
            }
            Op::Lane { hold, how } => {
                let hold = self.hold(hold);
                match how {
                    LaneStep::Ack => _ = both!(self, ack(&hold, now)),
                    LaneStep::Defer(delay) => {
                        let until = time(self.now + delay);
                        both!(self, defer_lane(&hold, until, now));
                    }
                    LaneStep::Bury => _ = both!(self, bury(&hold, "reason", now)),
                }
            }
            Op::Write { send, stale, hold, how, content } => {
                self.write(send, stale, hold, how, content).await?;
            }
            Op::Keep { key, fingerprint } => {
                let state = kept(fingerprint, &format!("done {}", self.now));
                both!(self, keep(&format!("key {key}"), state.clone(), now));
            }
            Op::Media { number, size, life } => {
                let row = media::row(number, size, self.now + life);
                let bytes = Bytes::from(vec![u8::try_from(number).unwrap(); size]);
                both!(self, media_put(row.clone(), bytes.clone(), 100, now));
            }
            Op::KeepMedia { numbers, life } => {
                let ids: Vec<_> = numbers.into_iter().map(media::media).collect();
                both!(self, media_keep(&ids, time(self.now + life), now));
            }
            Op::Sweep(kind) => {
                let kind = [Sweep::Media, Sweep::Slices, Sweep::Idempotency][kind];
                both!(self, sweep(kind, 200, now));
            }
        }
        Ok(())
    }

    async fn open(&mut self, opening: Opening) -> Result<(), TestCaseError> {
        let number = self.notifications.len() as u128 + 1;
        let fresh = ntf(number);
        let known = self.notifications.len();
        let repeat = opening.repeat.filter(|_| known > 0).map(|pick| pick % known);
        let send = opening.send.filter(|_| repeat.is_none()).map(|(channel, to, all, one)| {
            let channel = channels()[channel].clone();
            self.sends.push((snd(number), channel.clone(), lane(to)));
            OpenSend {
                channel,
                lane: lane(to),
                owners: audiences()[..to.min(2)].to_vec(),
                created_at: time(self.now),
                expires_at: time(self.now + 50_000),
                backlog_max: all,
                lane_max: one,
                ..open_send(number, "")
            }
        });
        let step = OpenStep {
            notification: repeat.map_or(fresh.clone(), |pick| self.notifications[pick].clone()),
            body: body(number),
            audience: opening.audience.map(|pick| audiences()[pick].clone()),
            idempotency: opening.key.map(|(key, fingerprint)| {
                (format!("key {key}"), kept(fingerprint, &number.to_string()))
            }),
            trace: None,
            keep_for: seconds(opening.keep_for),
            send,
            ring: opening.ring,
            audience_ttl: seconds(opening.life),
        };
        self.notifications.push(fresh);
        both!(self, open(step.clone(), self.at()));
        Ok(())
    }

    async fn write(
        &mut self,
        send: Pick,
        stale: bool,
        hold: Pick,
        how: WriteStep,
        content: Content,
    ) -> Result<(), TestCaseError> {
        let Some(count) = Some(self.sends.len()).filter(|count| *count > 0) else { return Ok(()) };
        let (id, channel, _) = self.sends[send % count].clone();
        let stored = self.model.record(&id).await.unwrap().unwrap_or_else(|| record(1, "none"));
        let text = String::from_utf8(stored.to_vec()).unwrap();
        let current: u64 = text.split(' ').next().unwrap().parse().unwrap();
        let rev = if stale { current + 1 } else { current };
        let (hold, now) = (self.hold(hold), self.at());
        let text = |kind: &str| Bytes::from(format!("{kind} {rev};"));
        let commit = Commit {
            id,
            channel,
            rev,
            value: record(rev + 1, "moved"),
            log: content.log.then(|| text("log")),
            exchange: content.exchange.then(|| text("exchange")),
            active: content.active,
            dead: content.dead,
            opt: OptChange::Keep,
        };
        match how {
            WriteStep::Commit => _ = both!(self, commit(commit.clone(), now)),
            WriteStep::Begin(cost) => {
                let pacing =
                    cost.map(|cost| Pacing { account: ACCOUNT, recipient: RECIPIENT, cost });
                both!(self, begin(commit.clone(), &hold, pacing, now));
            }
            WriteStep::Finish => _ = both!(self, finish(commit.clone(), &hold, now)),
            WriteStep::Defer(delay) => {
                let until = time(self.now + delay);
                both!(self, defer(commit.clone(), &hold, until, now));
            }
            WriteStep::Note { provider, last } => {
                let provider =
                    provider.then(|| ProviderRef { hash: format!("hash {}", rev % 3), part: 1 });
                let last = last.then_some(&hold);
                both!(self, note_part(commit.clone(), provider.clone(), last, now));
            }
        }
        Ok(())
    }

    async fn gate(
        &mut self,
        channel: Pick,
        pick: Option<Pick>,
        how: GateStep,
    ) -> Result<(), TestCaseError> {
        let (channel, now) = (&channels()[channel], self.at());
        match how {
            GateStep::Penalise(delay) => {
                let lane = pick.map(lane);
                let rate = if lane.is_some() { RECIPIENT } else { ACCOUNT };
                let until = time(self.now + delay);
                both!(self, penalise(channel, lane.as_ref(), until, rate, now));
            }
            GateStep::Park(wait) => _ = both!(self, park(channel, "no", seconds(wait), now)),
            GateStep::Probation => _ = both!(self, probation(channel, seconds(40), now)),
            GateStep::Unpark => _ = both!(self, unpark(channel, now)),
        }
        Ok(())
    }

    /// Everything that can be read.
    async fn compare(&self) -> Result<(), TestCaseError> {
        let now = self.at();
        for queue in &queues() {
            let depth = both!(self, depth(queue, now));
            let standing = depth.ready + depth.delayed + depth.leased;
            prop_assert_eq!(depth.items > 0, standing > 0);
            prop_assert!(standing <= depth.items);
        }
        let [ana, bo] = audiences();
        for scope in [Scope::Shared, Scope::Slice(ana.clone()), Scope::Slice(bo.clone())] {
            both!(self, list(&scope, None, 100, now));
            both!(self, list(&scope, Some(3), 2, now));
        }
        for id in &self.notifications {
            both!(self, entry(id, now));
        }
        both!(self, bodies(&self.notifications));
        for channel in &channels() {
            both!(self, parked(channel));
            if !self.reopened {
                both!(self, breath(channel, &lane(0), now));
            }
        }
        let mut indexes: Vec<SendIndex> = vec![SendIndex::Owner(ana), SendIndex::Owner(bo)];
        for channel in channels() {
            for pick in 0..3 {
                indexes.push(SendIndex::Recipient(channel.clone(), lane(pick)));
                let hash = format!("hash {pick}");
                both!(self, by_provider(&channel, &hash));
            }
            indexes.push(SendIndex::Channel(channel.clone()));
            indexes.push(SendIndex::Dead(channel));
        }
        for index in &indexes {
            both!(self, sends(index, None, 100));
            both!(self, sends(index, Some((time(self.now / 2), snd(2))), 3));
        }
        let ids: Vec<SendId> = self.sends.iter().map(|(id, ..)| id.clone()).collect();
        both!(self, send_headers(&ids));
        for id in &ids {
            both!(self, record(id));
            both!(self, log(id));
            both!(self, exchanges(id));
        }
        both!(self, overdue(5, now));
        for key in 0..3 {
            both!(self, kept(&format!("key {key}"), now));
        }
        for number in 0..8 {
            both!(self, media_row(&media::media(number), now));
        }
        both!(self, media_read(&media::media(0), 1, now));
        both!(self, media_bytes());
        both!(self, poison(20));
        Ok(())
    }

    async fn run(&mut self, steps: Vec<(i64, Op)>) -> Result<(), TestCaseError> {
        for (later, op) in steps {
            self.now += later;
            self.step(op).await?;
            self.compare().await?;
        }
        Ok(())
    }
}

/// What every lane gives until it is empty, and every item at most once.
async fn drained(store: &dyn Store, now: i64) -> BTreeMap<(String, String), Vec<Bytes>> {
    let mut given: BTreeMap<(String, String), Vec<Bytes>> = BTreeMap::new();
    for queue in queues() {
        loop {
            let claimed = store.claim(&queue, tokens(9), seconds(1), None, at(now)).await.unwrap();
            if claimed.leases.is_empty() {
                break;
            }
            for lease in claimed.leases {
                let lane = (queue.as_str().to_owned(), lease.hold.lane.0.clone());
                given.entry(lane).or_default().push(lease.item);
                store.ack(&lease.hold, at(now)).await.unwrap();
            }
        }
    }
    given
}

/// In memory, so that a walk flushes nothing.
fn embedded_in_memory() -> (Embedded, Folder) {
    let folder = Folder::new();
    let mut options = Options::new(folder.path(), clock());
    options.backend = Arc::new(|_| Ok(Box::new(redb::backends::InMemoryBackend::new())));
    (Embedded::open(options).unwrap(), folder)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn d_13_d_18_the_embedded_store_walks_like_the_model(steps in walk()) {
        let (store, _folder) = embedded_in_memory();
        let Case { store: model, .. } = model();
        runtime().block_on(Walk::new(&store, &*model).run(steps))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Opened again after any walk the store holds what the model holds; what was leased is free,
    /// and each lane gives what is left of it in order.
    #[test]
    fn d_21_a_reopened_store_holds_what_the_model_holds(steps in walk()) {
        let folder = Folder::new();
        let options = Options::new(folder.path(), clock());
        let Case { store: model, .. } = model();
        let runtime = runtime();
        let store = Embedded::open(options.clone()).unwrap();
        let mut walk = Walk::new(&store, &*model);
        runtime.block_on(walk.run(steps))?;
        let Walk { now, notifications, sends, .. } = walk;
        drop(store);
        let store = Embedded::open(options).unwrap();
        let (model, holds) = (&*model, vec![]);
        let walk =
            Walk { store: &store, model, now, notifications, sends, holds, reopened: true };
        // All leases and delays are over a day later; whose lanes were leased only the model knows.
        let ends = now + 86_400_000;
        runtime.block_on(async {
            let (theirs, ours) = (drained(&store, ends).await, drained(model, ends).await);
            prop_assert_eq!(theirs, ours);
            walk.compare().await
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn d_13_d_18_redis_walks_like_the_model(steps in walk()) {
        let Case { store: model, .. } = model();
        runtime().block_on(async {
            let Case { store, .. } = crate::servers::redis().await;
            Walk::new(&*store, &*model).run(steps).await
        })?;
    }
}

/// A walk that never claims or never evicts would prove little.
#[test]
fn the_walks_reach_what_they_are_meant_to_reach() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..60 {
        let steps = walk().new_tree(&mut runner).unwrap().current();
        let Case { store, .. } = model();
        let Case { store: twin, .. } = model();
        let mut walk = Walk::new(&*store, &*twin);
        runtime().block_on(async {
            for (later, op) in steps {
                walk.now += later;
                walk.step(op).await.unwrap();
                if walk.holds.len() > 1 {
                    seen.insert("claims");
                }
            }
            let now = walk.at();
            if walk.notifications.len() > 5
                && store.entry(&walk.notifications[0], now).await.unwrap().is_none()
            {
                seen.insert("evictions");
            }
            for (id, channel, _) in &walk.sends {
                if let Some(record) = store.record(id).await.unwrap() {
                    seen.insert("records");
                    if !record.starts_with(b"1 ") {
                        seen.insert("moves");
                    }
                }
                if !store
                    .sends(&SendIndex::Dead(channel.clone()), None, 1)
                    .await
                    .unwrap()
                    .is_empty()
                {
                    seen.insert("dead letters");
                }
            }
            if !store.poison(1).await.unwrap().is_empty() {
                seen.insert("poison");
            }
            if store.media_bytes().await.unwrap() > 0 {
                seen.insert("media");
            }
        });
    }
    let expected = ["claims", "dead letters", "evictions", "media", "moves", "poison", "records"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}
