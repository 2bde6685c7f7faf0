//! `GET /api/channels`, and probing one.
use crate::http::query::Query;
use crate::http::reply;
use crate::http::router::Call;
use crate::outbox::probes;
use crate::problem::Refused;
use crate::registry::Channel;
use crate::store::At;
use actix_web::HttpResponse;
use contract::{Descriptor, HealthState};
use serde_json::{Map, Value, json};

/// Every registered channel.
///
/// # Errors
/// 503.
pub async fn list(call: Call) -> Result<HttpResponse, Refused> {
    Query::read(call.request.query_string(), &[])?;
    let mut rows = Vec::new();
    for channel in call.app.channels.iter() {
        rows.push(row(&call, &channel).await?);
    }
    Ok(reply::value(200, &json!({ "channels": rows, "next": null })))
}

/// Probes a channel now.
///
/// # Errors
/// 404 for an unknown channel; 503.
pub async fn check(call: Call) -> Result<HttpResponse, Refused> {
    let app = &call.app;
    let channel =
        app.channels.get(call.parameter()).ok_or_else(|| app.composer.unknown_channel())?;
    probes::probe(&app.outbox, &channel).await;
    Ok(reply::value(200, &row(&call, &channel).await?))
}

async fn row(call: &Call, channel: &Channel) -> Result<Value, Refused> {
    let app = &call.app;
    let descriptor = channel.adapter.descriptor();
    let (health, checked_at) = channel.health();
    let parked = app.store.parked(&channel.name).await?;
    let (state, detail) = match &parked {
        None => (health.state, health.detail),
        Some(parked) => {
            let detail = format!(
                "parked since {}: the account cannot send ({}); its sends wait, the next probe is \
                 at {}",
                parked.since.rfc3339(),
                parked.reason,
                parked.until.rfc3339()
            );
            (HealthState::Failing, detail)
        }
    };
    let depth = app.store.depth(&channel.queue, At::Store).await?;
    let oldest = depth.oldest_ready.map_or(0, |at| at.until(app.clock.now()).as_secs());
    Ok(json!({
        "name": channel.name,
        "medium": channel.medium,
        "identity_hint": health.identity_hint,
        "capabilities": capabilities(descriptor),
        "limits": limits(descriptor),
        "recipients": {
            "policy": descriptor.recipients.policy.as_str(),
            "has_default": descriptor.recipients.has_default,
        },
        "receipts": descriptor.receipts,
        "health": {
            "state": state.as_str(),
            "detail": detail,
            "checked_at": checked_at.map(crate::clock::Millis::rfc3339),
        },
        "lane": { "queued": depth.items, "oldest_s": oldest,
                  "paused_until": parked.map(|parked| parked.until.rfc3339()) },
    }))
}

/// The matrix as the API and the docs show it.
#[must_use]
pub fn capabilities(descriptor: &Descriptor) -> Value {
    let rows = descriptor.matrix.iter().map(|(capability, support)| {
        let row = json!({ "support": support.word(), "how": support.how() });
        (capability.as_str().to_owned(), row)
    });
    Value::Object(rows.collect::<Map<_, _>>())
}

fn limits(descriptor: &Descriptor) -> Value {
    let rows =
        descriptor.limits.0.iter().map(|(name, limit)| (name.as_str().to_owned(), json!(limit)));
    Value::Object(rows.collect::<Map<_, _>>())
}
