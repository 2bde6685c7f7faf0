//! Receipts come home: found, applied, written; queued, shelved or listed as unmatched.
//!
//! A door calls [`Settler::at_door`] before it answers: when that returns `Ok`, every receipt is in
//! the store. What cannot be settled in two tries there goes into the queue `hook`, whose worker
//! calls [`Settler::from_queue`]. Receipts that came before their id are handed over by the step that
//! writes it ([`Settler::early`]) and, should that process die, by [`Settler::lapse`]. All ways use
//! one function and end alike.
use super::SendRecord;
use super::endings::Endings;
use super::log::LogChunk;
use super::optout;
use super::receipts::{Applied, Effect, Receipt, Says, Written, apply};
use super::record::{lane, provider_hash};
use super::spans::{derived, of_send};
use super::tally::{Counted, Tally};
use crate::clock::{Clock, Millis};
use crate::config::delivery::Retention;
use crate::inbox::notices::{Notice, Notices};
use crate::metrics::Metrics;
use crate::store::{
    At, Commit, Dead, Hold, Noted, OptChange, ProviderRef, QueueName, Shelved, Store, StoreResult,
};
use crate::trace::spans::{Kind, Span, Spans};
use bytes::Bytes;
use contract::{ChannelName, PartStatus, SendId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Receipts a request settles while the platform waits; more go into the queue.
const AT_DOOR: usize = 32;
/// Tries against other writers of the record, at the door and elsewhere.
const TRIES: (u8, u8) = (2, 8);
/// How long a receipt without a send is kept for one.
const SHELVED_FOR: Duration = Duration::from_secs(24 * 3600);
/// How long a queued receipt waits that cannot be settled yet.
const LATER: Duration = Duration::from_secs(1);
/// Shelves of one sweep.
const SHELVES: usize = 100;
/// Moves and attempts a final record keeps before they go to its log: about 4 KiB.
const GATHERED: usize = 40;

/// A receipt in the queue `hook`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queued {
    /// The channel whose door took it.
    #[serde(rename = "ch")]
    pub channel: ChannelName,
    /// It.
    #[serde(rename = "re")]
    pub receipt: Receipt,
}

/// Where a receipt was settled: a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Door,
    Queue,
}

/// Whose receipt it is.
struct Target {
    send: SendId,
    part: u16,
    correlated: bool,
}

/// What trying to settle came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    /// No record takes it.
    Unknown,
    /// Not now: others write the record, or the request has no answer yet.
    Later,
}

/// Receipts of a channel in the hour that runs.
#[derive(Default)]
struct Hour {
    began: i64,
    receipts: u64,
    unmatched: u64,
}

/// Settles receipts.
pub struct Settler {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    notices: Arc<Notices>,
    retention: Retention,
    /// Channels on which sends ended badly.
    pub endings: Endings,
    /// Counts of each hour.
    pub tally: Tally,
    spans: Arc<Spans>,
    hours: Mutex<BTreeMap<ChannelName, Hour>>,
}

impl Settler {
    /// One for a process.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        notices: Arc<Notices>,
        retention: Retention,
        spans: Arc<Spans>,
    ) -> Self {
        let (endings, hours) = (Endings::default(), Mutex::default());
        Self {
            store,
            clock,
            metrics,
            notices,
            retention,
            endings,
            tally: Tally::default(),
            spans,
            hours,
        }
    }

    /// Settles the receipts of one request, or queues them: stored when it returns.
    ///
    /// # Errors
    /// The store's; then some are stored, and the platform's repeat does no harm.
    pub async fn at_door(&self, channel: &ChannelName, receipts: Vec<Receipt>) -> StoreResult<()> {
        let few = receipts.len() <= AT_DOOR;
        for receipt in receipts {
            let settled = few
                && match self.find(channel, &receipt).await? {
                    Some(target) => {
                        self.settle(channel, &target, &receipt, None, Path::Door).await?
                            == Outcome::Done
                    }
                    None => false,
                };
            if !settled {
                self.queue(channel, receipt).await?;
            }
        }
        Ok(())
    }

    /// Puts a receipt into the queue `hook`, behind others of its message.
    async fn queue(&self, channel: &ChannelName, receipt: Receipt) -> StoreResult<()> {
        let lane = lane(channel, &id_of(&receipt));
        let item = Queued { channel: channel.clone(), receipt };
        let item = rmp_serde::to_vec_named(&item).unwrap_or_default();
        self.store.push(&QueueName::hook(), &lane, item.into(), None, At::Store).await.map(|_| ())
    }

    /// Settles a claimed item of the queue; its hold is acknowledged or given back.
    ///
    /// # Errors
    /// The store's; the lease lapses, and the item comes again.
    pub async fn from_queue(&self, item: Queued, hold: &Hold) -> StoreResult<()> {
        let Queued { channel, receipt } = item;
        let hash = provider_hash(&id_of(&receipt));
        let mut target = self.find(&channel, &receipt).await?;
        if target.is_none() {
            match self.shelve(&channel, &hash, &receipt, hold).await? {
                None => return Ok(()),
                found => target = found,
            }
        }
        let Some(target) = target else { return Ok(()) };
        match self.settle(&channel, &target, &receipt, Some(hold), Path::Queue).await? {
            Outcome::Done => Ok(()),
            Outcome::Later => {
                let until = self.clock.now().plus(LATER);
                self.store.defer_lane(hold, until, At::Store).await.map(|_| ())
            }
            // The id outlives its record: nothing will ever take it up.
            Outcome::Unknown => {
                let gone = format!("{hash}.gone");
                self.shelve(&channel, &gone, &receipt, hold).await.map(|_| ())
            }
        }
    }

    /// Lays it down and acknowledges; a target when its id is known by now.
    async fn shelve(
        &self,
        channel: &ChannelName,
        hash: &str,
        receipt: &Receipt,
        hold: &Hold,
    ) -> StoreResult<Option<Target>> {
        let bytes = Bytes::from(rmp_serde::to_vec_named(receipt).unwrap_or_default());
        let labels = [("channel", channel.as_str())];
        let store = &self.store;
        match store.shelve(channel, hash, bytes, SHELVED_FOR, Some(hold), At::Store).await? {
            Shelved::Kept => self.metrics.count("tidings_receipts_shelved", &labels),
            Shelved::Found(send, part) => {
                return Ok(Some(Target { send, part, correlated: false }));
            }
            Shelved::Full => {
                tracing::warn!(%channel, raw = receipt.raw, "too many receipts of one unknown id");
                self.count_unmatched(channel, 1);
                self.store.ack(hold, At::Store).await?;
            }
        }
        Ok(None)
    }

    /// Its correlator first, then its provider id.
    async fn find(&self, channel: &ChannelName, receipt: &Receipt) -> StoreResult<Option<Target>> {
        if let Some((send, part)) = receipt.names()
            && let Some(record) = self.store.record(&send).await?
            && SendRecord::decode(&record).is_some_and(|(_, record)| {
                record.channel == *channel && usize::from(part) < record.parts.len()
            })
        {
            return Ok(Some(Target { send, part, correlated: true }));
        }
        let Some(id) = receipt.provider_message_id.as_deref() else { return Ok(None) };
        let found = self.store.by_provider(channel, &provider_hash(id)).await?;
        Ok(found.map(|(send, part)| Target { send, part, correlated: false }))
    }

    async fn settle(
        &self,
        channel: &ChannelName,
        target: &Target,
        receipt: &Receipt,
        hold: Option<&Hold>,
        path: Path,
    ) -> StoreResult<Outcome> {
        let tries = if path == Path::Door { TRIES.0 } else { TRIES.1 };
        for _ in 0..tries {
            let stored = self.store.record(&target.send).await?;
            let Some((rev, mut record)) = stored.and_then(|value| SendRecord::decode(&value))
            else {
                return Ok(Outcome::Unknown);
            };
            let now = self.clock.now();
            let (was_final, was_dead) = (record.is_final(), record.is_dead_letter());
            let part = usize::from(target.part);
            let written = match apply(&mut record, part, receipt, target.correlated, now) {
                Applied::Early => return Ok(Outcome::Later),
                Applied::Duplicate => {
                    if let Some(hold) = hold {
                        self.store.ack(hold, At::Store).await?;
                    }
                    self.count(channel, receipt, "duplicate", path);
                    return Ok(Outcome::Done);
                }
                Applied::Written(written) => written,
            };
            let mut commit = commit(&mut record, rev, was_final, self.retention);
            if record.is_dead_letter() && !was_dead {
                commit.opt = optout::of(&record, "receipt", now);
            }
            let hash = written.new_id.then(|| provider_hash(&id_of(receipt)));
            let provider = hash.clone().map(|hash| ProviderRef { hash, part: target.part });
            let lane = written.retry.map(|_| record.lane());
            let noted = self.store.settle(commit, provider, lane.as_ref(), hold, At::Store).await?;
            match noted {
                Noted::Conflict(_) => {}
                Noted::Gone => return Ok(Outcome::Unknown),
                Noted::Done { shelved } => {
                    self.count(channel, receipt, written.effect.as_str(), path);
                    self.tell(&record, &written, was_dead);
                    self.export(&record, target.part, receipt, &written);
                    if let Some(hash) = hash.filter(|_| !shelved.is_empty()) {
                        Box::pin(self.early(channel, &hash, shelved)).await;
                    }
                    return Ok(Outcome::Done);
                }
            }
        }
        Ok(Outcome::Later)
    }

    /// Settles what lay under a provider id before it was known, then clears the shelf. What fails
    /// is handed over again.
    pub async fn early(&self, channel: &ChannelName, hash: &str, shelved: Vec<Bytes>) {
        for bytes in shelved {
            let Ok(receipt) = rmp_serde::from_slice::<Receipt>(&bytes) else {
                tracing::error!(%channel, "a shelved receipt cannot be read");
                continue;
            };
            let settled = match self.find(channel, &receipt).await {
                Ok(Some(target)) => {
                    self.settle(channel, &target, &receipt, None, Path::Queue).await
                }
                Ok(None) => Ok(Outcome::Unknown),
                Err(error) => Err(error),
            };
            match settled {
                Ok(Outcome::Done | Outcome::Unknown) => {}
                Ok(Outcome::Later) => return,
                Err(error) => {
                    tracing::warn!(%channel, error = %error, "an early receipt waits");
                    return;
                }
            }
        }
        if let Err(error) = self.store.clear_shelf(channel, hash).await {
            tracing::warn!(%channel, error = %error, "a shelf could not be cleared");
        }
    }

    /// Looks after shelves whose time has passed: a sweep.
    ///
    /// # Errors
    /// The store's.
    pub async fn lapse(&self) -> StoreResult<()> {
        loop {
            let lapsed = self.store.lapse_shelves(SHELVES, At::Store).await?;
            let count = lapsed.len();
            for shelf in lapsed {
                if shelf.found.is_some() {
                    self.early(&shelf.channel, &shelf.hash, shelf.receipts).await;
                    continue;
                }
                tracing::warn!(
                    channel = %shelf.channel, receipts = shelf.receipts.len(),
                    "receipts belong to no send; GET /api/receipts/unmatched lists them"
                );
                self.count_unmatched(&shelf.channel, shelf.receipts.len() as u64);
            }
            if count < SHELVES {
                return Ok(());
            }
        }
    }

    /// A receipt hangs under its send's span even days later: a span of no length, since most
    /// collectors drop what is added to a span that has ended.
    fn export(&self, record: &SendRecord, part: u16, receipt: &Receipt, written: &Written) {
        let now = self.clock.now();
        self.spans.push(|| {
            let error = match &receipt.says {
                Says::Failed(fault, _) => Some(("error.type", fault.code.clone())),
                Says::Rank(_) | Says::Unknown => None,
            };
            let id = receipt.provider_message_id.clone().map(|id| ("messaging.message.id", id));
            let known = [
                ("tidings.receipt.status", receipt.word().to_owned()),
                ("tidings.receipt.effect", written.effect.as_str().to_owned()),
                ("tidings.part", part.to_string()),
            ];
            Span {
                trace: record.trace_id.clone(),
                id: derived(&[&record.span_id, "receipt", &part.to_string(), &receipt.raw]),
                parent: Some(record.span_id.clone()),
                name: "delivery_receipt".to_owned(),
                kind: Kind::Internal,
                start: now,
                end: now,
                failed: error.is_some(),
                attributes: of_send(record)
                    .into_iter()
                    .chain(known)
                    .chain(error)
                    .chain(id)
                    .collect(),
                event: Some("delivery_receipt"),
            }
        });
    }

    fn count(&self, channel: &ChannelName, receipt: &Receipt, effect: &'static str, path: Path) {
        let path = if path == Path::Door { "door" } else { "queue" };
        let labels = [
            ("channel", channel.as_str()),
            ("status", receipt.word()),
            ("effect", effect),
            ("path", path),
        ];
        self.metrics.count("tidings_receipts_total", &labels);
        self.in_hour(channel, |hour| hour.receipts += 1);
    }

    fn count_unmatched(&self, channel: &ChannelName, more: u64) {
        let labels = [("channel", channel.as_str())];
        self.metrics.add("tidings_receipts_unmatched_total", &labels, more);
        let (unmatched, receipts) = self.in_hour(channel, |hour| {
            hour.receipts += more;
            hour.unmatched += more;
        });
        if too_many(unmatched, receipts) {
            let channel = channel.clone();
            self.notices.raise(Notice::ReceiptsUnmatched { channel, unmatched, receipts });
        }
    }

    fn in_hour(&self, channel: &ChannelName, change: impl FnOnce(&mut Hour)) -> (u64, u64) {
        let began = self.clock.now().0 / 3_600_000;
        let mut hours = self.hours.lock().unwrap_or_else(PoisonError::into_inner);
        let hour = hours.entry(channel.clone()).or_default();
        if hour.began != began {
            *hour = Hour { began, ..Hour::default() };
        }
        change(hour);
        (hour.unmatched, hour.receipts)
    }

    fn tell(&self, record: &SendRecord, written: &Written, was_dead: bool) {
        if let Some(from) = written.refused {
            let labels = [("from", from.as_str()), ("event", "receipt")];
            self.metrics.count("tidings_ladder_refused_total", &labels);
        }
        let now = self.clock.now();
        if written.effect == Effect::Moved {
            let counted = match record.status() {
                PartStatus::Sent => Some(Counted::Sent),
                PartStatus::Delivered => Some(Counted::Delivered),
                _ => None,
            };
            if let Some(counted) = counted {
                self.tally.note(&record.channel, counted, now);
            }
        }
        if record.is_dead_letter() && !was_dead {
            self.tally.note(&record.channel, Counted::Failed, now);
            let code = record.fault.as_ref().map_or("none", |fault| fault.code.as_str());
            tracing::warn!(
                send.id = %record.id, channel = %record.channel, fault = code,
                "the medium reports that a send failed"
            );
            self.endings.note(&record.channel);
        }
        if written.effect == Effect::Contradiction {
            tracing::warn!(
                send.id = %record.id, channel = %record.channel, "a receipt contradicts another"
            );
        }
    }
}

/// More than one in twenty, and not just one.
fn too_many(unmatched: u64, receipts: u64) -> bool {
    unmatched > 1 && unmatched * 20 > receipts
}

/// What names the message: the vendor's id, else our own correlator.
fn id_of(receipt: &Receipt) -> String {
    receipt.provider_message_id.clone().or_else(|| receipt.correlator.clone()).unwrap_or_default()
}

/// The write of a record that a receipt changed. Its log goes along when the record becomes final,
/// or has gathered much since.
fn commit(record: &mut SendRecord, rev: u64, was_final: bool, retention: Retention) -> Commit {
    let ended = record.is_final();
    let much = record.moves.len() + record.attempts.len() >= GATHERED;
    let log = (ended && (!was_final || much)).then(|| {
        LogChunk {
            moves: std::mem::take(&mut record.moves),
            attempts: std::mem::take(&mut record.attempts),
        }
        .encode()
    });
    let dead = if record.is_dead_letter() { Dead::Since(record.updated_at) } else { Dead::Remove };
    Commit {
        id: record.id.clone(),
        channel: record.channel.clone(),
        rev,
        value: record.encode(rev + 1),
        log,
        exchange: None,
        active: retention.of(record),
        dead,
        opt: OptChange::Keep,
    }
}

/// An unmatched receipt as it is listed.
pub struct Unmatched {
    /// Where the next page goes on.
    pub place: String,
    /// When it was given up.
    pub at: Millis,
    /// Channel.
    pub channel: ChannelName,
    /// It, unless it cannot be read.
    pub receipt: Option<Receipt>,
}

impl Settler {
    /// Unmatched receipts, newest first, before a place if given.
    ///
    /// # Errors
    /// The store's.
    pub async fn unmatched(
        &self,
        before: Option<&str>,
        limit: usize,
    ) -> StoreResult<Vec<Unmatched>> {
        let rows = self.store.orphans(before, limit).await?;
        let read = rows.into_iter().map(|row| Unmatched {
            place: row.place,
            at: row.at,
            channel: row.channel,
            receipt: rmp_serde::from_slice(&row.receipt).ok(),
        });
        Ok(read.collect())
    }
}
