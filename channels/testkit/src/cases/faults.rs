//! `{part_kind, content?, recipient?, http | transport}` → `{outcome}`.
//!
//! The part is rendered, so that the adapter reads the answer to a request of its own. Without
//! content it is a short text.
use super::{Setting, render};
use crate::account;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use contract::{Outcome, PartKind, SendFault, WireError, WireResponse, WireResult};
use serde_json::{Map, Value, json};

pub(super) fn run(setting: &Setting<'_>, case: &Value) -> Map<String, Value> {
    let opened = account::open(setting.registration, &setting.table(case));
    let kind = case.get("part_kind").and_then(Value::as_str).expect("a part_kind");
    let kind = PartKind::parse(kind).expect("a known part_kind");
    let mut request = case.clone();
    if request.get("content").is_none() {
        request["content"] = json!({ "message": "hello" });
    }
    let rendered = render::rendered(&*opened.adapter, &request)
        .unwrap_or_else(|refusal| panic!("the case's content is refused: {refusal:?}"));
    let part = rendered.parts.iter().find(|part| part.kind == kind).expect("a part of that kind");
    let outcome = opened.adapter.interpret(part, &result(case));
    Map::from_iter([("outcome".to_owned(), outcome_json(&outcome))])
}

fn result(case: &Value) -> WireResult {
    let Some(http) = case.get("http") else {
        return Err(match case.get("transport").and_then(Value::as_str) {
            Some("connect") => WireError::Connect,
            Some("timeout") => WireError::Timeout,
            Some("reset") => WireError::Reset,
            Some("unreadable") => WireError::Unreadable,
            other => panic!("http, or transport connect, timeout, reset or unreadable: {other:?}"),
        });
    };
    let headers = http.get("headers").and_then(Value::as_object).into_iter().flatten();
    let status = http.get("status").and_then(Value::as_u64).expect("a status");
    Ok(WireResponse {
        status: u16::try_from(status).expect("a status"),
        headers: headers
            .map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned()))
            .collect(),
        body: body(http),
    })
}

/// `body` as text or as JSON, or `body_base64`.
fn body(http: &Value) -> Bytes {
    if let Some(encoded) = http.get("body_base64").and_then(Value::as_str) {
        return STANDARD.decode(encoded).expect("base64").into();
    }
    match http.get("body") {
        None => Bytes::new(),
        Some(Value::String(text)) => text.clone().into(),
        Some(json) => json.to_string().into(),
    }
}

/// An outcome as golden files hold it.
#[must_use]
pub fn outcome_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Accepted { provider_message_id, alias, rank } => json!({ "accepted": {
            "provider_message_id": provider_message_id, "alias": alias, "rank": rank,
        } }),
        Outcome::UseAlternate { fault } => json!({ "use_alternate": fault_json(fault) }),
        Outcome::Moved { address } => json!({ "moved": address }),
        Outcome::Fault(fault) => json!({ "fault": fault_json(fault) }),
    }
}

fn fault_json(fault: &SendFault) -> Value {
    let mut json = serde_json::to_value(fault.kind).expect("a kind is JSON");
    json["code"] = json!(fault.code);
    json["detail"] = json!(fault.detail);
    for (key, value) in [
        ("provider_code", json!(fault.provider_code)),
        ("wait_s", json!(fault.wait.map(|wait| wait.as_secs()))),
        ("render_defect", json!(fault.render_defect.then_some(true))),
    ] {
        if !value.is_null() {
            json[key] = value;
        }
    }
    json
}
