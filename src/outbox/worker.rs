//! One lane, one send: its parts go out strictly one after another, each recorded before the next.
mod begin;
mod frame;

use super::exchange::{Attempted, attempt, ready};
use super::janitor::final_commit;
use super::leases::Held;
use super::{Outbox, Point};
use crate::clock::Millis;
use crate::inbox::entry;
use crate::registry::Channel;
use crate::sends::SendRecord;
use crate::sends::ladder::{self, Next, Policy};
use crate::sends::log::StoredExchange;
use crate::sends::optout;
use crate::sends::record::{AttemptSummary, provider_hash};
use crate::store::{At, Committed, Lease, Noted, OptChange, ProviderRef, StoreError};
use contract::{
    Address, Content, FaultKind, Outcome, Part, PartStatus, Payload, Rank, RenderCtx, SendFault,
    SendId,
};
use futures_util::FutureExt;
use kit::redact::Exchange;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

/// A head whose leases ran out this often is no send any more.
const REAPS_MAX: u8 = 5;
/// First and longest wait between tries to record what the medium said.
const RECORD_AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How long a lane waits whose record a newer version wrote.
const NEWER_FORMAT: Duration = Duration::from_secs(5);

/// What follows a step.
enum Flow {
    Again,
    Stop,
}

struct Work<'a> {
    outbox: &'a Outbox,
    channel: &'a Channel,
    held: Held<'a>,
    record: SendRecord,
    rev: u64,
    content: Content,
}

/// Works one claimed lane until its send is final, deferred, or no longer ours.
pub async fn work(outbox: &Outbox, channel: &Channel, lease: Lease) {
    let held = outbox.leases.hold(lease.hold.clone());
    if lease.reaped {
        outbox.metrics.count("tidings_lease_reaped_total", &[("queue", "out")]);
    }
    let Some(mut work) = take_up(outbox, channel, held, &lease).await else { return };
    if lease.reaps >= REAPS_MAX {
        work.poisoned().await;
        return;
    }
    if let Some(part) = work.sending_part() {
        // Claimed again while a request was under way: its worker is gone.
        let jitter = outbox.ids.fraction();
        let policy = work.policy();
        let now = outbox.now();
        let decide = |record: &mut SendRecord| ladder::reaped(record, part, policy, now, jitter);
        if matches!(work.decide(decide, Vec::new()).await, Flow::Stop) {
            return;
        }
    }
    if lease.opted_out && !work.record.is_final() {
        let now = outbox.now();
        work.decide(|record: &mut SendRecord| ladder::opted_out(record, now), Vec::new()).await;
        return;
    }
    while matches!(work.step().await, Flow::Again) {}
}

/// Reads what the lease holds; buries what cannot be read.
async fn take_up<'a>(
    outbox: &'a Outbox,
    channel: &'a Channel,
    held: Held<'a>,
    lease: &Lease,
) -> Option<Work<'a>> {
    let public_url = outbox.settings.public_url.as_deref();
    let record = lease.record.as_deref().and_then(SendRecord::decode);
    let stored = lease.body.as_deref().and_then(|body| entry::decode(body, public_url));
    match (record, stored) {
        (Some((_, record)), _) if record.format > crate::sends::record::FORMAT => {
            let until = outbox.now().plus(NEWER_FORMAT);
            log_store(outbox.store.defer_lane(&held.hold, until, At::Store).await);
            None
        }
        (Some((rev, record)), Some(stored)) => {
            let content = stored.notification.content;
            Some(Work { outbox, channel, held, record, rev, content })
        }
        (Some((rev, mut record)), None) => {
            let part = record.next_part().unwrap_or_default();
            let fault =
                SendFault::new(FaultKind::Permanent, "content_missing", "the content is gone");
            let policy = policy_of(channel);
            ladder::faulted(&mut record, part, &fault, policy, outbox.now(), 0.0);
            let commit = final_commit(outbox, &mut record, rev);
            log_store(outbox.store.finish(commit, &held.hold, At::Store).await);
            None
        }
        (None, _) => {
            tracing::error!(channel = %channel.name, "an item without a readable record is buried");
            outbox.note_poison(&channel.name, &item_id(&lease.item), "record_unreadable");
            log_store(outbox.store.bury(&held.hold, "record_unreadable", At::Store).await);
            None
        }
    }
}

/// The id an item is, or nothing where it is none: an item's bytes are nobody's to read.
fn item_id(item: &[u8]) -> String {
    let id = std::str::from_utf8(item).ok().and_then(SendId::parse);
    id.map_or_else(String::new, |id| id.as_str().to_owned())
}

fn log_store<T>(result: Result<T, StoreError>) {
    if let Err(error) = result {
        tracing::warn!(error = %error, "a lane could not be settled; its lease will lapse");
    }
}

fn policy_of(channel: &Channel) -> Policy<'_> {
    Policy {
        schedule: &channel.schedule,
        on_ambiguous: channel.on_ambiguous,
        idempotent_parts: channel.adapter.descriptor().idempotent_parts,
    }
}

impl<'a> Work<'a> {
    fn policy(&self) -> Policy<'a> {
        policy_of(self.channel)
    }

    fn sending_part(&self) -> Option<usize> {
        self.record.parts.iter().position(|part| part.status == PartStatus::Sending)
    }

    /// Five workers died over this head: the send ends, its bytes are kept for the operator.
    async fn poisoned(&mut self) {
        let (outbox, channel) = (self.outbox, self.channel);
        tracing::error!(send.id = %self.record.id, channel = %channel.name, "a send is poison");
        outbox.note_poison(&channel.name, self.record.id.as_str(), "poison");
        let now = outbox.now();
        if let Some(part) = self.record.next_part() {
            if self.record.parts[part].status == PartStatus::Sending {
                let policy = Policy {
                    on_ambiguous: crate::config::delivery::OnAmbiguous::Hold,
                    ..self.policy()
                };
                ladder::reaped(&mut self.record, part, policy, now, 0.0);
            } else {
                let fault = SendFault::new(
                    FaultKind::Permanent,
                    "poison",
                    "five workers ended while they held this send",
                );
                let policy = self.policy();
                ladder::faulted(&mut self.record, part, &fault, policy, now, 0.0);
            }
        }
        let commit = final_commit(outbox, &mut self.record, self.rev);
        log_store(outbox.store.commit(commit, At::Store).await);
        log_store(outbox.store.bury(&self.held.hold, "poison", At::Store).await);
    }

    /// One part, or the end of the send.
    async fn step(&mut self) -> Flow {
        if self.held.is_lost() {
            return Flow::Stop;
        }
        if self.record.is_final() {
            log_store(self.outbox.store.ack(&self.held.hold, At::Store).await);
            return Flow::Stop;
        }
        let now = self.outbox.now();
        if now > self.record.expires_at {
            let expire = |record: &mut SendRecord| {
                ladder::expire(record, crate::sends::record::Actor::Worker, now);
                Next::Finish
            };
            return self.decide(expire, Vec::new()).await;
        }
        if self.outbox.is_draining() {
            log_store(self.outbox.store.defer_lane(&self.held.hold, now, At::Store).await);
            return Flow::Stop;
        }
        let Some(index) = self.record.next_part() else { return Flow::Stop };
        let part = match self.part(index) {
            Ok(part) => part,
            Err(fault) => return self.fault(index, fault, None, Vec::new()).await,
        };
        self.send_part(index, part).await
    }

    /// Renders the content as it was at acceptance and picks one part.
    fn part(&mut self, index: usize) -> Result<Part, SendFault> {
        let address = self.address();
        let ctx = RenderCtx {
            send: Some(&self.record.id),
            form_token: None,
            address: &address,
            reply_to: None,
        };
        let render = || self.channel.adapter.render(&ctx, &self.content);
        let rendered =
            std::panic::catch_unwind(AssertUnwindSafe(render)).map_err(|_| panicked())?;
        let changed = || {
            SendFault::new(
                FaultKind::Permanent,
                "render_changed",
                "the content no longer renders into the parts it was accepted with",
            )
        };
        let rendered = rendered.map_err(|_| changed())?;
        let same = rendered.parts.len() == self.record.parts.len()
            && rendered.parts.iter().zip(&self.record.parts).all(|(new, old)| new.kind == old.kind);
        if !same {
            let untouched = self.record.parts.iter().all(|p| p.status == PartStatus::Queued);
            if !untouched {
                return Err(changed());
            }
            self.record.parts = rendered
                .parts
                .iter()
                .map(|part| crate::sends::PartRecord::queued(part.kind, part.facts.clone()))
                .collect();
            self.record.degrades.clone_from(&rendered.degrades);
        }
        rendered.parts.into_iter().nth(index).ok_or_else(changed)
    }

    /// Preparations, the record's `sending`, the exchange, and what it came to.
    async fn send_part(&mut self, index: usize, part: Part) -> Flow {
        if let Payload::Frame(frame) = &part.payload {
            return self.append(index, frame).await;
        }
        let prepared = match ready(self.outbox, self.channel, &part).await {
            Ok(prepared) => prepared,
            Err((fault, exchanges)) => {
                self.count_attempt(index);
                return self.fault(index, fault, None, exchanges).await;
            }
        };
        match self.begin(index, part.requests).await {
            Flow::Stop => return Flow::Stop,
            Flow::Again if self.sending_part() != Some(index) => return Flow::Again,
            Flow::Again => {}
        }
        self.outbox.faults.at(Point::Begun);
        let started = Instant::now();
        let guarded = AssertUnwindSafe(attempt(self.outbox, self.channel, &part, prepared));
        let attempted = guarded.catch_unwind().await.unwrap_or_else(|_| Attempted {
            outcome: Outcome::Fault(panicked()),
            http_status: None,
            exchanges: Vec::new(),
        });
        self.metrics(&attempted, started.elapsed());
        self.export(index, &attempted, started.elapsed());
        self.settle(index, attempted, None).await
    }

    /// Where the send goes now.
    fn address(&self) -> Address {
        let to = self.record.recipient_now.as_ref().unwrap_or(&self.record.recipient);
        Address::new(to.clone())
    }

    fn reload(&mut self, value: &[u8]) -> Flow {
        let Some((rev, record)) = SendRecord::decode(value) else { return Flow::Stop };
        self.rev = rev;
        self.record = record;
        Flow::Again
    }

    /// A preparation that failed is an attempt too: it is counted and shown.
    fn count_attempt(&mut self, index: usize) {
        self.record.attempts_made = self.record.attempts_made.saturating_add(1);
        self.record.attempts.push(AttemptSummary {
            number: self.record.attempts_made,
            part: u16::try_from(index).unwrap_or(u16::MAX),
            started: self.outbox.now(),
            elapsed_ms: None,
            http_status: None,
            fault: None,
        });
    }

    /// Records what an attempt came to; a new address is tried once.
    async fn settle(&mut self, index: usize, attempted: Attempted, moved: Option<Address>) -> Flow {
        let Attempted { outcome, http_status, exchanges } = attempted;
        match outcome {
            Outcome::Accepted { provider_message_id, alias, rank } => {
                let now_at = alias.or(moved.map(|a| a.as_str().to_owned()));
                let sent_to = now_at.filter(|address| *address != self.record.recipient);
                let facts = Accepted { provider_message_id, sent_to, rank, http_status };
                self.note(index, &facts, exchanges).await
            }
            Outcome::Moved { address } if moved.is_none() => {
                self.send_to(index, Address::new(address), exchanges).await
            }
            outcome => {
                let fault = ladder::fault_of(outcome).unwrap_or_else(panicked);
                if fault.render_defect {
                    let labels = [("channel", self.channel.name.as_str()), ("code", &*fault.code)];
                    self.outbox.metrics.count("tidings_render_defects_total", &labels);
                }
                self.fault(index, fault, http_status, exchanges).await
            }
        }
    }

    /// The same part once more, at the address the medium named.
    async fn send_to(&mut self, index: usize, address: Address, before: Vec<Exchange>) -> Flow {
        self.record.recipient_now = Some(address.as_str().to_owned());
        let part = match self.part(index) {
            Ok(part) => part,
            Err(fault) => return self.fault(index, fault, None, before).await,
        };
        let prepared = match ready(self.outbox, self.channel, &part).await {
            Ok(prepared) => prepared,
            Err((fault, after)) => {
                let exchanges = before.into_iter().chain(after).collect();
                return self.fault(index, fault, None, exchanges).await;
            }
        };
        let mut attempted = attempt(self.outbox, self.channel, &part, prepared).await;
        attempted.exchanges = before.into_iter().chain(attempted.exchanges).collect();
        Box::pin(self.settle(index, attempted, Some(address))).await
    }

    async fn fault(
        &mut self,
        index: usize,
        fault: SendFault,
        http_status: Option<u16>,
        exchanges: Vec<Exchange>,
    ) -> Flow {
        let (policy, now, jitter) = (self.policy(), self.outbox.now(), self.outbox.ids.fraction());
        let parked = self.hold_back(&fault, now).await;
        let number = self.record.attempts_made;
        let decide = |record: &mut SendRecord| {
            close_attempt(record, number, now, http_status, Some(&fault.code));
            match parked {
                Some(until) => ladder::parked(record, index, &fault, until, now),
                None => ladder::faulted(record, index, &fault, policy, now, jitter),
            }
        };
        self.outbox.faults.at(Point::Deciding);
        self.decide(decide, exchanges).await
    }

    fn stored(&self, exchanges: Vec<Exchange>) -> Option<bytes::Bytes> {
        if exchanges.is_empty() {
            return None;
        }
        let keep = self.outbox.settings.attempt_bodies;
        let exchanges = exchanges
            .into_iter()
            .map(|exchange| if keep { exchange } else { exchange.without_bodies() })
            .collect();
        Some(StoredExchange { attempt: self.record.attempts_made, exchanges }.encode())
    }

    /// Writes a decision: applied to the newest record, and only while the lane is ours. Once an
    /// exchange was made, a store that does not answer is asked until it does.
    async fn decide(
        &mut self,
        decide: impl Fn(&mut SendRecord) -> Next,
        exchanges: Vec<Exchange>,
    ) -> Flow {
        let exchange = self.stored(exchanges);
        let mut pause = RECORD_AGAIN.0;
        loop {
            let mut record = self.record.clone();
            let next = decide(&mut record);
            let mut commit = final_commit(self.outbox, &mut record, self.rev);
            commit.exchange.clone_from(&exchange);
            if record.is_dead_letter() {
                commit.opt = optout::of(&record, "send", self.outbox.now());
            }
            let hold = &self.held.hold;
            let store = &self.outbox.store;
            let written = match next {
                Next::Defer(until) => store.defer(commit, hold, until, At::Store).await,
                Next::Finish | Next::Part => store.finish(commit, hold, At::Store).await,
            };
            match written {
                Ok(Committed::Done) => {
                    self.outbox.note_end(&record);
                    return Flow::Stop;
                }
                Ok(Committed::Conflict(value)) => {
                    if matches!(self.reload(&value), Flow::Stop) || self.record.is_final() {
                        return Flow::Again;
                    }
                }
                Ok(Committed::Gone | Committed::Lost | Committed::Wait(_)) => return Flow::Stop,
                Err(error) => {
                    tracing::warn!(send.id = %self.record.id, error = %error, "a decision is not recorded yet");
                    if self.held.is_lost() {
                        return Flow::Stop;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RECORD_AGAIN.1);
                }
            }
        }
    }

    /// Records an accepted part: a fact, merged into whatever the record has become.
    async fn note(&mut self, index: usize, facts: &Accepted, exchanges: Vec<Exchange>) -> Flow {
        let exchange = self.stored(exchanges);
        let now = self.outbox.now();
        let number = self.record.attempts_made;
        let mut pause = RECORD_AGAIN.0;
        let mut shouted = Instant::now();
        loop {
            let mut record = self.record.clone();
            close_attempt(&mut record, number, now, facts.http_status, None);
            let to = facts.sent_to.as_deref();
            ladder::accepted(&mut record, index, &facts.provider_message_id, to, facts.rank, now);
            let last = record.is_final();
            let mut commit = final_commit(self.outbox, &mut record, self.rev);
            commit.exchange.clone_from(&exchange);
            commit.opt = OptChange::Reached(self.held.hold.lane.clone());
            let provider = ProviderRef {
                hash: provider_hash(&facts.provider_message_id),
                part: u16::try_from(index).unwrap_or(u16::MAX),
            };
            let hold = last.then_some(&self.held.hold);
            match self.outbox.store.note_part(commit, Some(provider), hold, At::Store).await {
                Ok(Noted::Done { shelved }) => {
                    self.outbox.faults.at(Point::Noted);
                    self.came_early(&facts.provider_message_id, shelved);
                    self.rev += 1;
                    self.accepted_in(&record, now);
                    if self.channel.is_parked() {
                        self.outbox.lift(self.channel).await;
                    }
                    if last {
                        self.outbox.note_end(&record);
                        return Flow::Stop;
                    }
                    self.record = record;
                    return Flow::Again;
                }
                Ok(Noted::Conflict(value)) => {
                    if matches!(self.reload(&value), Flow::Stop) {
                        return Flow::Stop;
                    }
                }
                Ok(Noted::Gone) => return Flow::Stop,
                Err(error) => {
                    if shouted.elapsed() > Duration::from_secs(30) || pause == RECORD_AGAIN.0 {
                        shouted = Instant::now();
                        tracing::error!(
                            code = "accepted_unrecorded", send.id = %self.record.id, part = index,
                            provider_message_id = facts.provider_message_id, error = %error,
                            "the medium accepted a part that is not recorded yet"
                        );
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RECORD_AGAIN.1);
                }
            }
        }
    }

    /// Settles receipts that came before the id was known, beside the work.
    fn came_early(&self, provider_message_id: &str, shelved: Vec<bytes::Bytes>) {
        if shelved.is_empty() {
            return;
        }
        let settler = self.outbox.settler.clone();
        let (channel, hash) = (self.channel.name.clone(), provider_hash(provider_message_id));
        tokio::spawn(async move { settler.early(&channel, &hash, shelved).await });
    }

    fn accepted_in(&self, record: &SendRecord, now: Millis) {
        let took = record.created_at.until(now);
        let labels = [("channel", self.channel.name.as_str())];
        self.outbox.metrics.seconds("tidings_accept_seconds", &labels, took.as_secs_f64());
        self.outbox.settler.tally.latency(&self.channel.name, took, now);
    }

    fn export(&self, index: usize, attempted: &Attempted, elapsed: Duration) {
        let fault = match &attempted.outcome {
            Outcome::Fault(fault) | Outcome::UseAlternate { fault } => Some(&*fault.code),
            Outcome::Accepted { .. } | Outcome::Moved { .. } => None,
        };
        let now = self.outbox.now();
        let began = Millis(now.0 - i64::try_from(elapsed.as_millis()).unwrap_or(0));
        let span = || crate::sends::spans::attempt(&self.record, index, (began, now), fault);
        self.outbox.spans.push(span);
    }

    fn metrics(&self, attempted: &Attempted, elapsed: Duration) {
        let fault = match &attempted.outcome {
            Outcome::Fault(fault) | Outcome::UseAlternate { fault } => fault.kind.class().as_str(),
            Outcome::Accepted { .. } | Outcome::Moved { .. } => "none",
        };
        let labels = [("channel", self.channel.name.as_str()), ("fault", fault)];
        self.outbox.metrics.count("tidings_attempts_total", &labels);
        let labels = [("channel", self.channel.name.as_str())];
        self.outbox.metrics.seconds("tidings_attempt_seconds", &labels, elapsed.as_secs_f64());
    }
}

/// What an accepted part is recorded with.
struct Accepted {
    provider_message_id: String,
    sent_to: Option<String>,
    rank: Rank,
    http_status: Option<u16>,
}

fn close_attempt(
    record: &mut SendRecord,
    number: u16,
    now: Millis,
    http_status: Option<u16>,
    fault: Option<&str>,
) {
    if let Some(attempt) = record.attempts.iter_mut().find(|a| a.number == number) {
        let elapsed = attempt.started.until(now).as_millis();
        attempt.elapsed_ms = Some(u64::try_from(elapsed).unwrap_or(u64::MAX));
        attempt.http_status = http_status;
        attempt.fault = fault.map(str::to_owned);
    }
}

fn panicked() -> SendFault {
    SendFault::new(FaultKind::Internal, "internal", "a defect of the gateway stopped this attempt")
}
