//! Why a send that is not final waits, as of now: told by the store, not by a log.
use super::Outbox;
use crate::clock::Millis;
use crate::sends::SendRecord;
use crate::store::{At, QueueName, StoreResult};
use contract::{FaultKind, PartStatus, SendId};
use serde_json::{Value, json};

impl Outbox {
    /// What a send waits for: the `waiting` of `GET /api/sends/{id}`; null for one that is final.
    /// With `narrow` no other send is named.
    ///
    /// # Errors
    /// The store's.
    pub async fn waits_for(&self, send: &SendRecord, narrow: bool) -> StoreResult<Value> {
        if send.status() != PartStatus::Queued {
            return Ok(Value::Null);
        }
        let (channel, lane, now) = (&send.channel, send.lane(), self.now());
        let on = |what: &str, until: Option<Millis>| json!({ "for": what, "until": until.map(Millis::rfc3339) });
        if self.channels.get(channel.as_str()).is_none() {
            return Ok(on("channel", None));
        }
        let queue = QueueName::out(channel);
        let place = self.store.whereabouts(&queue, &lane, send.id.as_str().as_bytes()).await?;
        if let Some(place) = place.as_ref().filter(|place| place.ahead > 0) {
            let head = std::str::from_utf8(&place.head).ok().and_then(SendId::parse);
            let mut waiting = on("others", None);
            waiting["ahead"] = json!(place.ahead);
            waiting["head"] = json!(head.filter(|_| !narrow));
            return Ok(waiting);
        }
        if let Some(parked) = self.store.parked(channel).await? {
            let mut waiting = on("parked", Some(parked.until));
            waiting["since"] = json!(parked.since.rfc3339());
            waiting["reason"] = json!(parked.reason);
            return Ok(waiting);
        }
        let next = send.next_at.filter(|next| *next > now);
        if next.is_some() {
            let kind = send.fault.as_ref().map(|fault| fault.kind);
            let throttled = matches!(kind, Some(FaultKind::Throttled { .. }));
            return Ok(on(if throttled { "throttle" } else { "retry" }, next));
        }
        let breath = self.store.breath(channel, &lane, At::Store).await?;
        if breath.account.is_some() && breath.account >= breath.recipient {
            return Ok(on("account_pace", breath.account));
        }
        if breath.recipient.is_some() {
            return Ok(on("recipient_pace", breath.recipient));
        }
        let due = place.as_ref().and_then(|place| place.due).filter(|due| *due > now);
        Ok(match place {
            Some(place) if place.is_worked => on("worker", None),
            _ => on("turn", due),
        })
    }
}
