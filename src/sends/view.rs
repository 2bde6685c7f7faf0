//! A send as callers see it: the short form beside an answer, and the whole record.
use super::log::{LogChunk, StoredExchange};
use super::receipts::ReceiptRow;
use super::record::{AttemptSummary, FaultRecord, Move, PartRecord, SendRecord};
use crate::clock::Millis;
use contract::{FaultKind, GoneScope, MisconfiguredScope, ThrottleScope};
use kit::redact::Exchange;
use serde_json::{Map, Value, json};

fn time(at: Option<Millis>) -> Value {
    at.map_or(Value::Null, |at| json!(at.rfc3339()))
}

/// A fault as the wire has it.
#[must_use]
pub fn fault(fault: &FaultRecord) -> Value {
    let mut object = Map::new();
    object.insert("class".into(), json!(fault.kind.class()));
    object.insert("code".into(), json!(fault.code));
    object.insert("detail".into(), json!(fault.detail));
    object.insert("provider_code".into(), json!(fault.provider_code));
    object.insert("retry_after".into(), json!(fault.retry_after));
    object.insert("part".into(), json!(fault.part));
    object.insert("at".into(), json!(fault.at.rfc3339()));
    match fault.kind {
        FaultKind::Throttled { scope } => {
            let word = match scope {
                ThrottleScope::Account => "account",
                ThrottleScope::Recipient => "recipient",
            };
            object.insert("scope".into(), json!(word));
        }
        FaultKind::RecipientGone { hard, scope } => {
            object.insert("hard".into(), json!(hard));
            let word = match scope {
                GoneScope::All => "all",
                GoneScope::Marketing => "marketing",
            };
            object.insert("scope".into(), json!(word));
        }
        FaultKind::Misconfigured { scope } => {
            let word = match scope {
                MisconfiguredScope::Account => "account",
                MisconfiguredScope::Send => "send",
            };
            object.insert("scope".into(), json!(word));
        }
        FaultKind::Transient
        | FaultKind::Ambiguous
        | FaultKind::Permanent
        | FaultKind::WindowClosed
        | FaultKind::Internal => {}
    }
    Value::Object(object)
}

fn part(index: usize, part: &PartRecord) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("index".into(), json!(index));
    object.insert("kind".into(), json!(part.kind));
    object.insert("status".into(), json!(part.status));
    object.insert("provider_message_id".into(), json!(part.provider_message_id));
    object.insert("facts".into(), json!(part.facts));
    object
}

/// The `send` of an answer.
#[must_use]
pub fn short(record: &SendRecord) -> Value {
    let parts: Vec<Value> =
        record.parts.iter().enumerate().map(|(i, p)| Value::Object(part(i, p))).collect();
    json!({
        "id": record.id,
        "channel": record.channel,
        "medium": record.medium,
        "status": record.status(),
        "thread": record.thread,
        "parts": parts,
        "degrades": record.degrades,
        "fault": record.fault.as_ref().map(fault),
    })
}

/// One line of `GET /api/sends`.
#[must_use]
pub fn listed(record: &SendRecord) -> Value {
    let mut line = short(record);
    if let Some(object) = line.as_object_mut() {
        object.insert("notification".into(), json!(record.notification));
        object.insert("recipient".into(), json!(record.recipient));
        object.insert("created_at".into(), json!(record.created_at.rfc3339()));
        object.insert("updated_at".into(), json!(record.updated_at.rfc3339()));
        object.insert("next_at".into(), time(record.next_at));
        object.insert("tries".into(), json!(record.tries));
        object.insert("trace_id".into(), json!(record.trace_id));
    }
    line
}

/// What the whole record is joined with.
pub struct Beside<'a> {
    /// The log as stored.
    pub log: &'a [u8],
    /// Exchanges, oldest first.
    pub exchanges: &'a [StoredExchange],
    /// The notification's content fields; null once trimmed.
    pub content: Value,
    /// The caller's pairs; null once trimmed.
    pub metadata: Value,
    /// What it waits for; null when it is final.
    pub waiting: Value,
}

/// `GET /api/sends/{id}`.
#[must_use]
pub fn whole(record: &SendRecord, beside: &Beside<'_>) -> Value {
    let log = LogChunk::read_all(beside.log);
    let moves: Vec<&Move> = log.moves.iter().chain(&record.moves).collect();
    let attempts: Vec<&AttemptSummary> = log.attempts.iter().chain(&record.attempts).collect();
    let parts: Vec<Value> = record
        .parts
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let mut object = part(i, row);
            object.insert("previous_ids".into(), json!(row.previous_ids));
            object.insert("sent_to".into(), json!(row.sent_to));
            object.insert("accepted_at".into(), time(row.accepted_at));
            object.insert("receipt_at".into(), time(row.receipt_at));
            object.insert("async_retries".into(), json!(row.async_retries));
            object.insert("fault".into(), row.fault.as_ref().map_or(Value::Null, fault));
            object.insert("history".into(), history(i, &moves));
            Value::Object(object)
        })
        .collect();
    json!({
        "id": record.id,
        "notification": record.notification,
        "channel": record.channel,
        "medium": record.medium,
        "recipient": record.recipient,
        "recipient_now": record.recipient_now,
        "audience": record.audience,
        "caller": record.caller,
        "thread": record.thread,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "created_at": record.created_at.rfc3339(),
        "expires_at": record.expires_at.rfc3339(),
        "updated_at": record.updated_at.rfc3339(),
        "status": record.status(),
        "parts": parts,
        "degrades": record.degrades,
        "fault": record.fault.as_ref().map(fault),
        "tries": record.tries,
        "next_at": time(record.next_at),
        "waiting": beside.waiting,
        "cycle": record.cycle,
        "flags": flags(record),
        "metadata": beside.metadata,
        "content": beside.content,
        "attempts": attempts.iter().map(|a| attempt(a, beside.exchanges)).collect::<Vec<_>>(),
        "receipts": record.receipts.iter().map(receipt).collect::<Vec<_>>(),
    })
}

fn receipt(row: &ReceiptRow) -> Value {
    let error = row.error.as_ref().map(|fault| {
        let code = fault.provider_code.as_ref().unwrap_or(&fault.code);
        json!({ "code": code, "title": fault.code, "detail": fault.detail })
    });
    json!({
        "part": row.part,
        "status": row.status,
        "raw": row.raw,
        "at": row.vendor_at.unwrap_or(row.received_at).rfc3339(),
        "received_at": row.received_at.rfc3339(),
        "error": error,
        "effect": row.effect,
    })
}

fn flags(record: &SendRecord) -> Vec<&'static str> {
    let all = [
        ("contradiction", record.flags.contradiction),
        ("duplicate_suspected", record.flags.duplicate_suspected),
        ("reaped", record.flags.reaped),
    ];
    all.into_iter().filter(|(_, set)| *set).map(|(name, _)| name).collect()
}

fn history(index: usize, moves: &[&Move]) -> Value {
    let rows: Vec<Value> = moves
        .iter()
        .filter(|m| usize::from(m.part) == index)
        .map(|m| {
            json!({
                "at": m.at.rfc3339(), "from": m.from, "to": m.to,
                "actor": m.actor, "reason": m.reason,
            })
        })
        .collect();
    json!(rows)
}

fn attempt(summary: &AttemptSummary, exchanges: &[StoredExchange]) -> Value {
    let own: Vec<Value> = exchanges
        .iter()
        .filter(|e| e.attempt == summary.number)
        .flat_map(|e| e.exchanges.iter().map(exchange))
        .collect();
    json!({
        "number": summary.number,
        "part": summary.part,
        "started_at": summary.started.rfc3339(),
        "elapsed_ms": summary.elapsed_ms,
        "http_status": summary.http_status,
        "fault": summary.fault,
        "exchanges": own,
    })
}

fn exchange(exchange: &Exchange) -> Value {
    let headers = |list: &[(String, String)]| {
        list.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>()
    };
    json!({
        "request": {
            "method": exchange.method,
            "url": exchange.url,
            "headers": headers(&exchange.request_headers),
            "body": exchange.request_body.text,
            "truncated_bytes": exchange.request_body.truncated_bytes,
        },
        "response": {
            "status": exchange.status,
            "headers": headers(&exchange.response_headers),
            "body": exchange.response_body.text,
            "truncated_bytes": exchange.response_body.truncated_bytes,
        },
        "error": exchange.error,
        "elapsed_ms": exchange.elapsed_ms,
        "note": exchange.note,
    })
}
