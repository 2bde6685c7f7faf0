//! Health, readiness, metrics, the poison list, the `OpenAPI` document.
use crate::http::openapi;
use crate::http::query::Query;
use crate::http::reply;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::store::{At, QueueName};
use actix_web::HttpResponse;
use actix_web::http::header;
use serde_json::{Value, json};
use std::time::Duration;

/// A look at the queue may be this old.
const LOOK_AGE: Duration = Duration::from_secs(5);
/// A webhook event may wait this long.
const HOOK_AGE: Duration = Duration::from_secs(10);
/// The store must answer within this.
const PING: Duration = Duration::from_secs(1);

/// `GET /healthz`: never touches the store.
///
/// # Errors
/// None.
pub async fn healthz(_call: Call) -> Result<HttpResponse, Refused> {
    Ok(reply::value(200, &json!({ "alive": true })))
}

/// `GET /readyz`.
///
/// # Errors
/// None: what is wrong is in the answer.
pub async fn readyz(call: Call) -> Result<HttpResponse, Refused> {
    let app = &call.app;
    let mut checks: Vec<Value> = Vec::new();
    let mut check = |name: &str, ok: bool, detail: String| {
        checks.push(json!({ "name": name, "ok": ok, "detail": detail }));
        ok
    };
    let ping = tokio::time::timeout(PING, app.store.ping()).await;
    let mut ready = match ping {
        Ok(Ok(())) => check("store", true, "answers".to_owned()),
        Ok(Err(_)) => check("store", false, "refuses; see the log".to_owned()),
        Err(_) => check("store", false, "gave no answer within 1 s".to_owned()),
    };
    let since = app.outbox.looked_at().until(app.clock.now());
    let busy = app.outbox.permits.available_permits() == 0;
    let claiming = app.channels.iter().next().is_none() || since <= LOOK_AGE || busy;
    ready &= check(
        "claiming",
        claiming,
        match (busy, claiming) {
            (true, _) => "every worker is busy".to_owned(),
            (false, true) => "looks at its queues".to_owned(),
            (false, false) => format!("no queue was looked at for {} s", since.as_secs()),
        },
    );
    let (lanes_ok, detail) = lanes(&call).await;
    ready &= check("lanes", lanes_ok, detail);
    let (hooks_ok, detail) = hooks(&call).await;
    ready &= check("hooks", hooks_ok, detail);
    let draining = app.outbox.is_draining();
    ready &= check("draining", !draining, if draining { "stopping" } else { "no" }.to_owned());
    let status = if ready { 200 } else { 503 };
    Ok(reply::value(status, &json!({ "ready": ready, "checks": checks })))
}

/// Webhook events are settled in moments: an old one means that nobody works them.
async fn hooks(call: &Call) -> (bool, String) {
    let app = &call.app;
    let Ok(depth) = app.store.depth(&QueueName::hook(), At::Store).await else {
        return (false, "the queue of webhook events cannot be read".to_owned());
    };
    let age = depth.oldest_ready.map_or(Duration::ZERO, |at| at.until(app.clock.now()));
    if age > HOOK_AGE {
        return (false, format!("the oldest webhook event waits {} s", age.as_secs()));
    }
    (true, format!("none older than {} s", HOOK_AGE.as_secs()))
}

async fn lanes(call: &Call) -> (bool, String) {
    let app = &call.app;
    let bound = app.settings.ready_lane_age;
    for channel in app.channels.iter() {
        let Ok(depth) = app.store.depth(&channel.queue, At::Store).await else {
            return (false, format!("the queue of {} cannot be read", channel.name));
        };
        let age = depth.oldest_ready.map_or(Duration::ZERO, |at| at.until(app.clock.now()));
        // What pacing or a parking holds back is a backlog, not a fault of this node.
        if age > bound && !channel.is_held_back(app.clock.now()) {
            let detail =
                format!("{}: the oldest claimable lane waits {} s", channel.name, age.as_secs());
            return (false, detail);
        }
    }
    (true, format!("none older than {} s", bound.as_secs()))
}

/// `GET /metrics`.
///
/// # Errors
/// 503.
pub async fn metrics(call: Call) -> Result<HttpResponse, Refused> {
    let app = &call.app;
    for channel in app.channels.iter() {
        let depth = app.store.depth(&channel.queue, At::Store).await?;
        let labels = [("channel", channel.name.as_str()), ("queue", "out")];
        #[allow(clippy::cast_precision_loss)] // a gauge is a float; counts stay far below 2^52
        let gauge = |name, value: u64| app.metrics.gauge(name, &labels, value as f64);
        gauge("tidings_queue_depth", depth.items);
        gauge("tidings_queue_delayed", depth.delayed);
        gauge("tidings_leases", depth.leased);
        let oldest = depth.oldest_ready.map_or(Duration::ZERO, |at| at.until(app.clock.now()));
        app.metrics.gauge("tidings_queue_oldest_seconds", &labels, oldest.as_secs_f64());
        let parked = app.store.parked(&channel.name).await?.is_some();
        let labels = [("channel", channel.name.as_str())];
        #[allow(clippy::cast_precision_loss)] // as above
        let dead = app.store.dead_letters(&channel.name).await? as f64;
        app.metrics.gauge("tidings_dead_letters", &labels, dead);
        app.metrics.gauge("tidings_channel_parked", &labels, f64::from(u8::from(parked)));
    }
    #[allow(clippy::cast_precision_loss)] // as above
    app.metrics.gauge("tidings_media_bytes", &[], app.store.media_bytes().await? as f64);
    #[allow(clippy::cast_precision_loss)] // as above
    app.metrics.gauge("tidings_streams", &[("kind", "chat")], app.streams.count() as f64);
    let since = app.outbox.looked_at().until(app.clock.now());
    app.metrics.gauge("tidings_claim_age_seconds", &[], since.as_secs_f64());
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4"))
        .body(app.metrics.render()))
}

/// `GET /openapi.json`.
///
/// # Errors
/// None.
pub async fn openapi(_call: Call) -> Result<HttpResponse, Refused> {
    Ok(reply::value(200, &openapi::document()))
}

/// `GET /api/queue/poison`: unrestricted keys only.
///
/// # Errors
/// 403 for a restricted key; 400 for a bad parameter; 503.
pub async fn poison(call: Call) -> Result<HttpResponse, Refused> {
    if call.caller()?.restricted {
        return Err(Refused::new("forbidden", "An owned key does not see the poison list."));
    }
    let query = Query::read(call.request.query_string(), &["queue", "limit", "before"])?;
    let limit = query.limit()?;
    let before = match query.get("before") {
        None => None,
        Some(text) => {
            let skip = text.parse::<usize>().map_err(|_| crate::http::query::bad_cursor())?;
            Some(skip)
        }
    };
    let wanted = |row: &crate::store::Poison| {
        query.get("queue").is_none_or(|queue| row.queue.as_str().split('.').next() == Some(queue))
    };
    let skip = before.unwrap_or(0);
    let all = call.app.store.poison(1000).await?;
    let matching: Vec<_> = all.into_iter().filter(wanted).collect();
    let next = (matching.len() > skip + limit).then(|| (skip + limit).to_string());
    let rows: Vec<Value> = matching
        .into_iter()
        .skip(skip)
        .take(limit)
        .map(|row| {
            json!({
                "at": row.at.rfc3339(), "queue": row.queue.as_str(), "lane": row.lane.0,
                "item": row.item, "reason": row.reason, "size": row.size,
            })
        })
        .collect();
    Ok(reply::value(200, &json!({ "poison": rows, "next": next })))
}
