//! The last day by channel and hour.
use crate::clock::Millis;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::sends::tally::{hour, quantile};
use crate::store::At;
use actix_web::HttpResponse;
use serde_json::{Value, json};

/// Hours shown.
const HOURS: i64 = 25;
/// Milliseconds of one.
const HOUR: i64 = 3_600_000;

/// `GET /api/overview`: per channel and hour, newest first; unrestricted keys only.
///
/// # Errors
/// 403 for a restricted key; 503.
pub async fn show(call: Call) -> Result<HttpResponse, Refused> {
    if call.caller()?.restricted {
        return Err(Refused::new("forbidden", "An owned key does not see the whole gateway."));
    }
    Query::read(call.request.query_string(), &[])?;
    let app = &call.app;
    let now = app.clock.now().0;
    let starts: Vec<Millis> = (0..HOURS).map(|n| Millis((now / HOUR - n) * HOUR)).collect();
    let names: Vec<String> = starts.iter().map(|at| hour(*at)).collect();
    let mut rows: Vec<(Millis, Value)> = Vec::new();
    for channel in app.channels.iter() {
        let waiting = app.store.depth(&channel.queue, At::Store).await?.items;
        let hours = app.store.hours(&channel.name, &names).await?;
        for (n, (start, counts)) in starts.iter().zip(hours).enumerate() {
            let of = |field: &str| counts.get(field).copied().unwrap_or(0);
            let backlog = if n == 0 { waiting } else { of("backlog") };
            let row = json!({
                "channel": channel.name,
                "hour": start.rfc3339(),
                "accepted": of("accepted"),
                "sent": of("sent"),
                "delivered": of("delivered"),
                "failed": of("failed"),
                "p50_ms": quantile(&counts, 0.5),
                "p99_ms": quantile(&counts, 0.99),
                "backlog": backlog,
            });
            rows.push((*start, row));
        }
    }
    // Stable: channels stay in the order of their names within an hour.
    rows.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
    let hours: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
    Ok(reply::value(200, &json!({ "hours": hours })))
}
