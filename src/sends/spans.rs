//! A send's spans: `notify`, under it `send {channel}`, under that each attempt.
use super::SendRecord;
use crate::clock::Millis;
use crate::ids::hex;
use crate::trace::spans::{Kind, Span};
use sha2::{Digest, Sha256};

/// A span id made of what it stands for, so that every node makes the same.
#[must_use]
pub fn derived(of: &[&str]) -> String {
    hex(&Sha256::digest(of.join(" "))[..8])
}

/// What every span of a send carries.
#[must_use]
pub fn of_send(record: &SendRecord) -> Vec<(&'static str, String)> {
    vec![
        ("messaging.system", record.medium.as_str().to_owned()),
        ("messaging.operation.type", "send".to_owned()),
        ("tidings.channel", record.channel.as_str().to_owned()),
        ("tidings.send.id", record.id.as_str().to_owned()),
        ("tidings.notification.id", record.notification.as_str().to_owned()),
    ]
}

/// The call that was served; `parent` is the caller's own span.
#[must_use]
pub fn notify(record: &SendRecord, parent: Option<String>, now: Millis) -> Span {
    Span {
        trace: record.trace_id.clone(),
        id: derived(&[record.notification.as_str()]),
        parent,
        name: "notify".to_owned(),
        kind: Kind::Server,
        start: record.created_at,
        end: now,
        attributes: of_send(record),
        event: None,
        failed: false,
    }
}

/// The send, from its recording to its end.
#[must_use]
pub fn send(record: &SendRecord) -> Span {
    let failed = record.is_dead_letter();
    let error = record.fault.as_ref().filter(|_| failed);
    let error = error.map(|fault| ("error.type", fault.code.clone()));
    Span {
        trace: record.trace_id.clone(),
        id: record.span_id.clone(),
        parent: Some(derived(&[record.notification.as_str()])),
        name: format!("send {}", record.channel),
        kind: Kind::Producer,
        start: record.created_at,
        end: record.updated_at,
        attributes: of_send(record).into_iter().chain(error).collect(),
        event: None,
        failed,
    }
}

/// One exchange with the medium.
#[must_use]
pub fn attempt(
    record: &SendRecord,
    part: usize,
    (start, end): (Millis, Millis),
    fault: Option<&str>,
) -> Span {
    let (number, part) = (record.attempts_made.to_string(), part.to_string());
    let known = [("tidings.part", part), ("tidings.attempt", number.clone())];
    let error = fault.map(|code| ("error.type", code.to_owned()));
    Span {
        trace: record.trace_id.clone(),
        id: derived(&[&record.span_id, "attempt", &number]),
        parent: Some(record.span_id.clone()),
        name: "attempt".to_owned(),
        kind: Kind::Client,
        start,
        end,
        attributes: of_send(record).into_iter().chain(known).chain(error).collect(),
        event: None,
        failed: fault.is_some(),
    }
}
