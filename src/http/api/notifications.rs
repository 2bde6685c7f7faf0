//! `POST /api/notifications` and the inbox.
use super::waiting::{self, Waited};
use crate::auth::clamp;
use crate::compose::json::Json;
use crate::compose::judge::{Planned, opted_out};
use crate::compose::rules::Purpose;
use crate::http::idempotency::{self, IdempotencyKey, State};
use crate::http::query::{Query, bad_cursor, problem};
use crate::http::router::Call;
use crate::http::{body, reply};
use crate::inbox::reading::Filter;
use crate::notification::{Notification, Origin};
use crate::outbox::Point;
use crate::outbox::open::NewSend;
use crate::problem::Refused;
use crate::sends::{SendRecord, spans, view};
use crate::store::{At, MediaRow, MediaStored, Opened, Scope};
use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::NotificationId;
use serde_json::{Value, json};

/// Query parameters of the list.
pub const LIST_QUERY: &[&str] = &["limit", "before", "audience", "channel", "origin"];

/// Names the route in idempotency keys.
const ROUTE: &str = "POST /api/notifications";

/// The one door in: checks 6–21 in their order.
///
/// # Errors
/// The first failing check's.
pub async fn post(mut call: Call) -> Result<HttpResponse, Refused> {
    // 6 content type and size
    body::require_json(&call.request)?;
    let bytes = body::read(&mut call.payload, body::NOTIFY_MAX).await?;
    // 7 idempotency key
    let header = idempotency::header(&call.request)?;
    let prefer = waiting::preference(&call.request);
    // 8 the body parses
    let entries = Json::object(&bytes).map_err(|why| Refused::new("malformed_json", why))?;
    // 9 a kept answer is replayed before any judgement
    let caller = call.caller()?.clone();
    let key = header.map(|key| idempotency::key(&caller.identity, ROUTE, &key, &bytes));
    if let Some(key) = &key
        && let Some(kept) = call.app.store.kept(&key.hash, At::Store).await?
    {
        if kept.fingerprint != key.fingerprint {
            return Err(idempotency::conflict());
        }
        return replay(&call, &kept.state, prefer).await;
    }
    // 10–13 content, 14–18 destination
    let app = call.app.clone();
    let counted = |refused: Refused| {
        let labels = [("outcome", "refused"), ("code", refused.code)];
        app.metrics.count("tidings_notifications_total", &labels);
        refused
    };
    let now = app.clock.now();
    let judged = app.composer.content(entries, &caller, Purpose::Record, now).map_err(counted)?;
    let planned = app.composer.destination(&judged).await.map_err(counted)?;
    // 19 media bytes
    store_media(&call, &planned).await.map_err(counted)?;
    // 20 record, 21 answer
    let request = judged.request;
    let notification = Notification {
        id: app.ids.notification(),
        created_at: now,
        origin: Origin::Caller,
        caller: Some(caller.identity.clone()),
        audience: judged.audience,
        channel: planned.destination.as_ref().map(|d| d.channel.name.clone()),
        recipient: request.recipient.map(|r| r.as_str().to_owned()),
        content: planned.content.clone(),
        expires_at: request.expires_at,
        metadata: request.metadata,
        trace_id: trace_id(&call),
    };
    let recorded = record(&call, &notification, &planned, key, prefer, caller.restricted).await;
    recorded.map_err(counted)
}

/// Check 20 and the answer.
async fn record(
    call: &Call,
    notification: &Notification,
    planned: &Planned,
    key: Option<IdempotencyKey>,
    prefer: Option<u64>,
    owned: bool,
) -> Result<HttpResponse, Refused> {
    let app = &call.app;
    let Some(destination) = &planned.destination else {
        let answer = answer(notification, Value::Null);
        let state = State::Done { status: 201, body: answer.clone(), retry_after: None };
        let idempotency = key.map(|k| (k.hash, state.kept(k.fingerprint)));
        let opened = app.outbox.open(notification, None, idempotency).await?;
        return match opened {
            Opened::Opened => {
                app.metrics
                    .count("tidings_notifications_total", &[("outcome", "recorded"), ("code", "")]);
                let mut response = reply::json(201, answer);
                reply::set(
                    &mut response,
                    "location",
                    &format!("/api/notifications/{}", notification.id),
                );
                Ok(response)
            }
            other => unopened(call, other, prefer).await,
        };
    };
    let wait = prefer.filter(|_| !app.outbox.is_draining());
    let new = NewSend {
        id: &destination.send,
        channel: &destination.channel,
        address: &destination.address,
        rendered: &destination.rendered,
        owned,
        watched: wait.is_some(),
    };
    let send = app.outbox.new_record(notification, &new);
    let queued = answer(notification, view::short(&send));
    let state = match wait {
        None => State::Done { status: 202, body: queued.clone(), retry_after: None },
        Some(_) => State::Opened { ntf: notification.id.clone(), snd: Some(send.id.clone()) },
    };
    let idempotency = key.clone().map(|k| (k.hash, state.kept(k.fingerprint)));
    // Registered before the send can be worked, so no write is missed.
    let waiter = wait.map(|_| app.outbox.waiting.register(&send.id));
    app.outbox.faults.at(Point::Opening);
    let opened = app.outbox.open(notification, Some((&new, &send)), idempotency).await?;
    if opened != Opened::Opened {
        return unopened(call, opened, prefer).await;
    }
    app.outbox.faults.at(Point::Opened);
    count_queued(call, &send);
    app.outbox.spans.push(|| spans::notify(&send, parent_of(call), app.clock.now()));
    let (Some(wait), Some(waiter)) = (wait, waiter) else { return Ok(reply::json(202, queued)) };
    let waited = waiting::wait(&app.outbox, &send, &waiter, wait).await?;
    let (mut response, state) = waited_answer(&waited);
    if let Some(key) = key {
        app.store.keep(&key.hash, state.kept(key.fingerprint), At::Store).await?;
    }
    reply::set(&mut response, "preference-applied", &format!("wait={wait}"));
    Ok(response)
}

fn count_queued(call: &Call, send: &SendRecord) {
    let metrics = &call.app.metrics;
    metrics.count("tidings_notifications_total", &[("outcome", "queued"), ("code", "")]);
    for degrade in &send.degrades {
        let capability = degrade.capability.as_str();
        let labels = [("channel", send.channel.as_str()), ("capability", capability)];
        metrics.count("tidings_degrades_total", &labels);
    }
}

/// The answers of a recording that did not happen.
async fn unopened(
    call: &Call,
    opened: Opened,
    prefer: Option<u64>,
) -> Result<HttpResponse, Refused> {
    match opened {
        Opened::Twin(state) => replay(call, &state, prefer).await,
        Opened::Conflict => Err(idempotency::conflict()),
        Opened::OptedOut => Err(opted_out()),
        // An estimate: a second for each hundred that wait.
        Opened::BacklogFull { depth } => Err(Refused::new(
            "backlog_full",
            "Too many sends wait already on this channel or for this recipient.",
        )
        .retry_after((depth / 100).clamp(1, 300))),
        Opened::Opened => Err(Refused::new("internal", "A recording was misread.")),
    }
}

/// A kept answer, or one from the record when the first caller's is not known.
async fn replay(call: &Call, state: &[u8], prefer: Option<u64>) -> Result<HttpResponse, Refused> {
    let app = &call.app;
    let mut response = match State::read(state) {
        Some(State::Done { status, body, retry_after }) => finished(status, body, retry_after),
        Some(State::Opened { snd: Some(snd), .. }) => {
            let Some((_, send)) = app.outbox.record(&snd).await? else {
                return Err(Refused::not_found());
            };
            let waiter = app.outbox.waiting.register(&snd);
            let waited = match prefer {
                Some(wait) => waiting::wait(&app.outbox, &send, &waiter, wait).await?,
                None => Waited::now(send),
            };
            waited_answer(&waited).0
        }
        Some(State::Opened { snd: None, .. }) | None => {
            return Err(Refused::new("internal", "A kept answer cannot be read."));
        }
    };
    reply::set(&mut response, "idempotency-replayed", "true");
    Ok(response)
}

fn finished(status: u16, body: String, retry_after: Option<u64>) -> HttpResponse {
    if status < 300 {
        return reply::json(status, body);
    }
    let document = serde_json::from_str(&body).unwrap_or(Value::Null);
    reply::problem(status, &document, retry_after)
}

fn waited_answer(waited: &Waited) -> (HttpResponse, State) {
    let (status, body, retry_after) = waited.answer();
    let state = State::Done { status, body: body.clone(), retry_after };
    (finished(status, body, retry_after), state)
}

fn answer(notification: &Notification, send: Value) -> String {
    json!({
        "id": notification.id,
        "created_at": notification.created_at.rfc3339(),
        "audience": notification.audience,
        "trace_id": notification.trace_id,
        "send": send,
    })
    .to_string()
}

/// Check 19: bytes under their minted ids, and the lifetimes of those in use.
async fn store_media(call: &Call, planned: &Planned) -> Result<(), Refused> {
    let app = &call.app;
    let now = app.clock.now();
    let expires = now.plus(app.settings.media.retention);
    for upload in &planned.uploads {
        let row = MediaRow {
            id: upload.id.clone(),
            content_type: upload.content_type.to_owned(),
            size: upload.bytes.len() as u64,
            sha256: crate::sends::record::sha256_hex(&upload.bytes),
            created: now,
            expires,
            by: call.caller()?.identity.clone(),
        };
        let total = app.settings.media.total_max;
        if app.store.media_put(row, upload.bytes.clone(), total, At::Store).await?
            == MediaStored::Full
        {
            return Err(super::media::full(app));
        }
    }
    if !planned.used.is_empty() {
        app.store.media_keep(&planned.used, expires, At::Store).await?;
    }
    Ok(())
}

/// The trace of an incoming `traceparent`, or a new one.
fn trace_id(call: &Call) -> String {
    let given = call.request.headers().get("traceparent").and_then(|v| v.to_str().ok());
    given.and_then(trace_of).unwrap_or_else(|| call.app.ids.trace())
}

/// The caller's span of an incoming `traceparent`.
fn parent_of(call: &Call) -> Option<String> {
    let given = call.request.headers().get("traceparent")?.to_str().ok()?;
    trace_of(given)?;
    given.split('-').nth(2).map(str::to_owned)
}

/// The trace id of a W3C `traceparent` of any version.
fn trace_of(header: &str) -> Option<String> {
    let mut parts = header.split('-');
    let (version, trace, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, len| {
        text.len() == len && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let zero = |text: &str| text.bytes().all(|b| b == b'0');
    let fine = hex(version, 2)
        && version != "ff"
        && hex(trace, 32)
        && hex(parent, 16)
        && !zero(trace)
        && !zero(parent);
    fine.then(|| trace.to_owned())
}

/// `GET /api/notifications`.
///
/// # Errors
/// 400 for a bad parameter, 403 for another's audience, 503.
pub async fn list(call: Call) -> Result<HttpResponse, Refused> {
    let query = Query::read(call.request.query_string(), LIST_QUERY)?;
    let limit = query.limit()?;
    let before = match query.get("before") {
        None => None,
        Some(text) => Some(cursor(text).ok_or_else(bad_cursor)?),
    };
    let origin = match query.get("origin") {
        None => None,
        Some(word) => Some(
            Origin::parse(word)
                .ok_or_else(|| problem("origin", "not_one_of", "one of: caller, platform"))?
                .as_str(),
        ),
    };
    let scope = match clamp(call.caller()?, query.get("audience"))? {
        None => Scope::Shared,
        Some(audience) => Scope::Slice(audience),
    };
    let filter = Filter { channel: query.get("channel").map(str::to_owned), origin };
    let page = call.app.inbox.list(&scope, before, limit, &filter).await?;
    let mut body = String::from("{\"notifications\":[");
    for (i, line) in page.lines.iter().enumerate() {
        if i > 0 {
            body.push(',');
        }
        body.push_str(&line.json);
    }
    let next = page.next.map_or("null".to_owned(), |seq| format!("\"{}\"", spell_cursor(seq)));
    body.push_str(&format!("],\"next\":{next}}}"));
    Ok(reply::json(200, body))
}

fn spell_cursor(seq: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("i{seq}"))
}

fn cursor(text: &str) -> Option<u64> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    std::str::from_utf8(&bytes).ok()?.strip_prefix('i')?.parse().ok()
}

/// `GET /api/notifications/{id}`.
///
/// # Errors
/// The uniform 404; 503.
pub async fn show(call: Call) -> Result<HttpResponse, Refused> {
    let caller = call.caller()?;
    let id = NotificationId::parse(call.parameter()).ok_or_else(Refused::not_found)?;
    let seen_by = caller.restricted.then_some(caller.identity.as_str());
    let entry = call.app.inbox.show(&id, seen_by).await?;
    Ok(reply::json(200, entry.ok_or_else(Refused::not_found)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_foreign_ones_do_not() {
        assert_eq!(cursor(&spell_cursor(u64::MAX)), Some(u64::MAX));
        for bad in ["", "1", "aTE=", "eA", "i5"] {
            assert_eq!(cursor(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_traceparent_gives_its_trace() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let header = format!("00-{trace}-00f067aa0ba902b7-01");
        assert_eq!(trace_of(&header).as_deref(), Some(trace));
        for bad in
            ["", "00-x-y-01", &header.to_uppercase(), &header.replace(trace, &"0".repeat(32))]
        {
            assert_eq!(trace_of(bad), None, "{bad}");
        }
    }
}
