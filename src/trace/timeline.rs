//! The events of a trace, derived from entries, records and logs. Pure.
use crate::clock::Millis;
use crate::sends::SendRecord;
use crate::sends::log::LogChunk;
use crate::sends::receipts::ReceiptRow;
use crate::sends::record::{AttemptSummary, Move};
use contract::{NotificationId, PartStatus, SendId};
use serde_json::{Map, Value, json};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Millis,
    /// Its name: a closed list.
    pub name: &'static str,
    /// The notification it is about.
    pub notification: Option<NotificationId>,
    /// The send.
    pub send: Option<SendId>,
    /// The part.
    pub part: Option<u16>,
    /// What is known of it: words, ids and numbers, never content or an address.
    pub attributes: Map<String, Value>,
}

impl Event {
    /// As the API shows it.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "at": self.at.rfc3339(),
            "name": self.name,
            "notification": self.notification,
            "send": self.send,
            "part": self.part,
            "attributes": self.attributes,
        })
    }
}

/// An entry of the inbox.
#[must_use]
pub fn recorded(id: &NotificationId, at: Millis, origin: &str, channel: Option<&str>) -> Event {
    Event {
        at,
        name: "notification_recorded",
        notification: Some(id.clone()),
        send: None,
        part: None,
        attributes: attributes([("origin", json!(origin)), ("channel", json!(channel))]),
    }
}

/// What happened to a send, oldest first.
#[must_use]
pub fn of_send(record: &SendRecord, log: &LogChunk) -> Vec<Event> {
    let event = |at, name, part, pairs: Vec<(&'static str, Value)>| Event {
        at,
        name,
        notification: Some(record.notification.clone()),
        send: Some(record.id.clone()),
        part,
        attributes: attributes(pairs),
    };
    let queued = vec![
        ("channel", json!(record.channel)),
        ("medium", json!(record.medium)),
        ("parts", json!(record.parts.len())),
        ("span_id", json!(record.span_id)),
    ];
    let mut events = vec![event(record.created_at, "send_queued", None, queued)];
    for attempt in log.attempts.iter().chain(&record.attempts) {
        for (at, name, pairs) in of_attempt(attempt) {
            events.push(event(at, name, Some(attempt.part), pairs));
        }
    }
    for row in log.moves.iter().chain(&record.moves) {
        if let Some((name, pairs)) = of_move(record, row) {
            events.push(event(row.at, name, Some(row.part), pairs));
        }
    }
    for row in &record.receipts {
        events.push(event(row.received_at, "delivery_receipt", Some(row.part), of_receipt(row)));
    }
    events.sort_by_key(|event| event.at);
    events
}

type Pairs = Vec<(&'static str, Value)>;

fn of_attempt(attempt: &AttemptSummary) -> Vec<(Millis, &'static str, Pairs)> {
    let number = ("attempt", json!(attempt.number));
    let mut events = vec![(attempt.started, "attempt_started", vec![number.clone()])];
    if let (Some(fault), Some(elapsed)) = (&attempt.fault, attempt.elapsed_ms) {
        let ended = attempt.started.plus(std::time::Duration::from_millis(elapsed));
        let pairs = vec![
            number,
            ("error.type", json!(fault)),
            ("http_status", json!(attempt.http_status)),
            ("elapsed_ms", json!(elapsed)),
        ];
        events.push((ended, "attempt_failed", pairs));
    }
    events
}

/// A receipt's move is told by the receipt.
fn of_move(record: &SendRecord, row: &Move) -> Option<(&'static str, Pairs)> {
    use crate::sends::record::Actor;
    if row.actor == Actor::Receipt {
        return None;
    }
    let part = record.parts.get(usize::from(row.part));
    let fault = part.and_then(|part| part.fault.as_ref()).map(|fault| json!(fault.code));
    let status = ("status", json!(row.to));
    match row.to {
        to if to.rank().is_some() => {
            let id = part.and_then(|part| part.provider_message_id.clone());
            Some(("part_accepted", vec![status, ("messaging.message.id", json!(id))]))
        }
        PartStatus::Failed | PartStatus::OutcomeUnknown => {
            Some(("send_failed", vec![status, ("error.type", json!(fault))]))
        }
        PartStatus::Expired => Some(("send_expired", vec![status])),
        _ => None,
    }
}

fn of_receipt(row: &ReceiptRow) -> Pairs {
    let error = row.error.as_ref().map(|fault| fault.code.clone());
    vec![
        ("status", json!(row.status)),
        ("raw", json!(row.raw)),
        ("effect", json!(row.effect)),
        ("vendor_at", json!(row.vendor_at.map(Millis::rfc3339))),
        ("error.type", json!(error)),
    ]
}

/// Those that are known.
fn attributes(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Map<String, Value> {
    let known = pairs.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}
