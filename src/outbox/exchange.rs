//! One attempt at one part: its preparations, its request, and where the medium says so its
//! alternate request or the same one at a new address, once, inside the same attempt.
use super::prepare::prepare;
use super::{Outbox, Point};
use crate::registry::Channel;
use contract::{FaultKind, Need, Outcome, Part, Payload, Resource, SendFault, WireRequest};
use kit::redact::{Exchange, exchange};
use std::time::Instant;

/// What an attempt came to.
pub struct Attempted {
    /// The reading of the last answer.
    pub outcome: Outcome,
    /// HTTP status of the last answer.
    pub http_status: Option<u16>,
    /// Every exchange, in order, redacted.
    pub exchanges: Vec<Exchange>,
}

/// A part whose preparations are had.
pub struct Prepared {
    /// In the order of the part's needs.
    pub resources: Vec<Resource>,
    /// Exchanges of the preparations.
    pub exchanges: Vec<Exchange>,
}

/// Has what the part needs, before anything begins.
///
/// # Errors
/// The fault, with the exchanges that led to it.
pub async fn ready(
    outbox: &Outbox,
    channel: &Channel,
    part: &Part,
) -> Result<Prepared, (SendFault, Vec<Exchange>)> {
    let mut exchanges = Vec::new();
    match prepare(outbox, channel, &part.needs, &mut exchanges).await {
        Ok(resources) => Ok(Prepared { resources, exchanges }),
        Err(fault) => Err((fault, exchanges)),
    }
}

/// Makes the request and, where the adapter asks for it, the alternate.
pub async fn attempt(
    outbox: &Outbox,
    channel: &Channel,
    part: &Part,
    ready: Prepared,
) -> Attempted {
    let Prepared { resources, mut exchanges } = ready;
    let Payload::Request(request) = &part.payload else {
        let detail = "this medium's parts are frames and have no request";
        let fault = SendFault::new(FaultKind::Internal, "internal", detail);
        return Attempted { outcome: Outcome::Fault(fault), http_status: None, exchanges };
    };
    let (outcome, http_status) =
        once(outbox, channel, part, request, &resources, &mut exchanges).await;
    let (Outcome::UseAlternate { .. }, Some(alternate)) = (&outcome, &part.alternate) else {
        return Attempted { outcome, http_status, exchanges };
    };
    let resources = prepare_alternate(outbox, channel, &alternate.needs, &mut exchanges).await;
    let (outcome, http_status) = match resources {
        Ok(resources) => {
            once(outbox, channel, part, &alternate.request, &resources, &mut exchanges).await
        }
        Err(fault) => (Outcome::Fault(fault), None),
    };
    Attempted { outcome, http_status, exchanges }
}

async fn prepare_alternate(
    outbox: &Outbox,
    channel: &Channel,
    needs: &[Need],
    exchanges: &mut Vec<Exchange>,
) -> Result<Vec<Resource>, SendFault> {
    prepare(outbox, channel, needs, exchanges).await
}

async fn once(
    outbox: &Outbox,
    channel: &Channel,
    part: &Part,
    request: &WireRequest,
    resources: &[Resource],
    exchanges: &mut Vec<Exchange>,
) -> (Outcome, Option<u16>) {
    let adapter = &channel.adapter;
    let started = Instant::now();
    let result = channel.wire.send(request, adapter.secrets(), resources).await;
    outbox.faults.at(Point::Answered);
    let elapsed = started.elapsed();
    let kept = adapter.kept_headers();
    exchanges.push(exchange(request, resources, &result, adapter.secrets(), kept, elapsed));
    let status = result.as_ref().ok().map(|response| response.status);
    (adapter.interpret(part, &result), status)
}
