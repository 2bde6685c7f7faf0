//! Recording: the one step that puts an inbox entry, a send record and its job into the store.
use super::Outbox;
use crate::clock::Millis;
use crate::inbox::entry;
use crate::notification::Notification;
use crate::registry::Channel;
use crate::sends::record::{FORMAT, Flags};
use crate::sends::{PartRecord, SendRecord};
use crate::store::{At, Kept, OpenSend, OpenStep, Opened, StoreError, StoreResult, TraceRef};
use contract::{Address, Rendered, SendId};
use std::time::Duration;

/// How long an idempotency key is kept.
pub const KEEP_ANSWERS: Duration = Duration::from_secs(24 * 3600);
/// How long a trace outlives the retention of a send that expired as late as it may.
const BEYOND_RETENTION: Duration = Duration::from_secs(8 * 24 * 3600);
/// How long a step whose answer was lost is repeated.
const REPEAT_FOR: Duration = Duration::from_secs(2);

/// A send to be opened with its notification.
pub struct NewSend<'a> {
    /// Id.
    pub id: &'a SendId,
    /// Channel.
    pub channel: &'a Channel,
    /// Canonical address.
    pub address: &'a Address,
    /// Parts and degrades.
    pub rendered: &'a Rendered,
    /// The caller's key is restricted: its own index lists the send.
    pub owned: bool,
    /// A caller waits.
    pub watched: bool,
}

impl Outbox {
    /// The first record of a send.
    #[must_use]
    pub fn new_record(&self, notification: &Notification, new: &NewSend<'_>) -> SendRecord {
        let created_at = notification.created_at;
        let expires_at =
            notification.expires_at.unwrap_or_else(|| created_at.plus(new.channel.expiry));
        SendRecord {
            format: FORMAT,
            id: new.id.clone(),
            notification: notification.id.clone(),
            channel: new.channel.name.clone(),
            medium: new.channel.medium.clone(),
            recipient: new.address.as_str().to_owned(),
            recipient_now: None,
            audience: notification.audience.clone(),
            caller: notification.caller.clone().unwrap_or_default(),
            thread: None,
            trace_id: notification.trace_id.clone(),
            span_id: self.ids.span(),
            created_at,
            expires_at,
            updated_at: created_at,
            parts: new
                .rendered
                .parts
                .iter()
                .map(|part| PartRecord::queued(part.kind, part.facts.clone()))
                .collect(),
            degrades: new.rendered.degrades.clone(),
            fault: None,
            tries: 0,
            attempts_made: 0,
            waits: 0,
            next_at: None,
            cycle: 1,
            flags: Flags::default(),
            cycle_at: None,
            moves: Vec::new(),
            attempts: Vec::new(),
            receipts: Vec::new(),
            watched: new.watched,
        }
    }

    /// Records a notification, with its send if there is one.
    ///
    /// # Errors
    /// The store's; then nothing is recorded, or (its answer lost and not found again) everything.
    pub async fn open(
        &self,
        notification: &Notification,
        send: Option<(&NewSend<'_>, &SendRecord)>,
        idempotency: Option<(String, Kept)>,
    ) -> StoreResult<Opened> {
        let id = send.map(|(new, _)| new.id);
        let step = OpenStep {
            notification: notification.id.clone(),
            body: entry::encode(notification, id),
            audience: notification.audience.clone(),
            idempotency,
            keep_for: KEEP_ANSWERS,
            trace: Some(TraceRef {
                trace: notification.trace_id.clone(),
                keep: self.settings.retention.record + BEYOND_RETENTION,
            }),
            send: send.map(|(new, record)| self.open_send(notification, new, record)),
            ring: self.settings.ring,
            audience_ttl: self.settings.audience_ttl,
        };
        let started = std::time::Instant::now();
        loop {
            match self.store.open(step.clone(), At::Store).await {
                // The step knows its own id: repeating it finds out whether it happened.
                Err(StoreError::Unavailable(why)) if started.elapsed() < REPEAT_FOR => {
                    tracing::warn!(why, "the store gave no answer to a recording; asking again");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                answer => return answer,
            }
        }
    }

    fn open_send(
        &self,
        notification: &Notification,
        new: &NewSend<'_>,
        record: &SendRecord,
    ) -> OpenSend {
        let own = new.owned.then(|| notification.caller.clone()).flatten();
        let mut owners: Vec<String> =
            own.into_iter().chain(notification.audience.clone()).collect();
        owners.dedup();
        OpenSend {
            id: new.id.clone(),
            channel: new.channel.name.clone(),
            lane: record.lane(),
            record: record.encode(1),
            owners,
            created_at: record.created_at,
            expires_at: record.expires_at,
            backlog_max: self.settings.backlog_max,
            lane_max: self.settings.lane_max,
        }
    }

    /// Reads a send's record.
    ///
    /// # Errors
    /// The store's.
    pub async fn record(&self, id: &SendId) -> StoreResult<Option<(u64, SendRecord)>> {
        let value = self.store.record(id).await?;
        Ok(value.and_then(|value| SendRecord::decode(&value)))
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.clock.now()
    }
}
