//! An opt-out as it is kept and shown.
use super::record::SendRecord;
use crate::clock::Millis;
use crate::store::{OptChange, OptRow, OptScope};
use bytes::Bytes;
use contract::{FaultKind, GoneScope, InboundId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is kept of an opt-out beside scope and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptOut {
    /// Canonical address.
    #[serde(rename = "r")]
    pub recipient: String,
    /// How it was learnt: `send` (the medium's answer), `receipt`, or `inbound`.
    #[serde(rename = "s")]
    pub source: String,
    /// The inbound message that said so.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub message: Option<InboundId>,
}

impl OptOut {
    /// The row of the store.
    #[must_use]
    pub fn row(&self, scope: OptScope, since: Millis) -> OptRow {
        // Nothing in the struct can fail to serialise into a growing buffer.
        let value = rmp_serde::to_vec_named(self).unwrap_or_default();
        OptRow { scope, since, value: Bytes::from(value) }
    }

    /// Reads a row.
    #[must_use]
    pub fn read(row: &OptRow) -> Option<Self> {
        rmp_serde::from_slice(&row.value).ok()
    }
}

/// What a fault says about its recipient, if it says so.
fn scope_of(kind: FaultKind) -> Option<OptScope> {
    match kind {
        FaultKind::RecipientGone { hard: false, .. } => Some(OptScope::Unreachable),
        FaultKind::RecipientGone { hard: true, scope: GoneScope::All } => Some(OptScope::All),
        FaultKind::RecipientGone { hard: true, scope: GoneScope::Marketing } => {
            Some(OptScope::Marketing)
        }
        FaultKind::Transient
        | FaultKind::Throttled { .. }
        | FaultKind::Ambiguous
        | FaultKind::Permanent
        | FaultKind::WindowClosed
        | FaultKind::Misconfigured { .. }
        | FaultKind::Internal => None,
    }
}

/// What the last fault of a send says about its recipient, to go along with the write that ends it.
#[must_use]
pub fn of(record: &SendRecord, source: &str, at: Millis) -> OptChange {
    let scope = record.fault.as_ref().and_then(|fault| scope_of(fault.kind));
    // A web visitor's address ends with the visit: there is nobody to remember.
    let scope = scope.filter(|_| record.medium.as_str() != "web");
    let Some(scope) = scope else { return OptChange::Keep };
    let (recipient, source) = (record.recipient.clone(), source.to_owned());
    let opt_out = OptOut { recipient, source, message: None };
    OptChange::Set(record.lane(), opt_out.row(scope, at))
}

/// One line of `GET /api/channels/{name}/opt-outs`.
#[must_use]
pub fn view(row: &OptRow) -> Value {
    let known = OptOut::read(row);
    let of = |part: fn(&OptOut) -> Value| known.as_ref().map_or(Value::Null, part);
    json!({
        "recipient": of(|o| json!(o.recipient)),
        "scope": row.scope.as_str(),
        "source": of(|o| json!(o.source)),
        "since": row.since.rfc3339(),
        "message": of(|o| json!(o.message)),
    })
}
