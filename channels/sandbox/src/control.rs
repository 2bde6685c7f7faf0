//! The control routes: what was received, the scripts, the files.
//!
//! Open to this machine only: the host must be a loopback name and a write must come from this
//! origin or from no page at all. Paths are few and matched whole; a known path with another method
//! is 405.
use crate::events;
use crate::local;
use crate::page;
use crate::problem::Problem;
use crate::script;
use crate::server::{Seat, Shared};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::BytesMut;
use futures_util::StreamExt;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// Requests in one answer.
const PAGE: usize = 1_000;

/// Bytes of a body a control route reads.
const MAX_BODY: usize = 1 << 20;

/// Answers everything that is not a room's.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    request: &HttpRequest,
    mut payload: web::Payload,
) -> HttpResponse {
    let routed = route(shared, request, &mut payload).await;
    // What nobody read is read on: a connection that ends with unread bytes can lose its answer.
    let mut left = MAX_BODY;
    while let Some(Ok(chunk)) = payload.next().await {
        left = left.saturating_sub(chunk.len());
        if left == 0 {
            break;
        }
    }
    routed.unwrap_or_else(|problem| problem.response())
}

async fn route(
    shared: Arc<Shared>,
    request: &HttpRequest,
    payload: &mut web::Payload,
) -> Result<HttpResponse, Problem> {
    let Some(authority) = local::local_authority(request.headers()) else {
        return Err(Problem::new(403, "forbidden_host", "Only loopback names lead here."));
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads && !local::own_origin(request.headers(), authority) {
        return Err(Problem::new(403, "forbidden_origin", "Another origin may not write here."));
    }
    let path = request.uri().path();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match segments.as_slice() {
        ["_", "requests"] if reads => requests(&shared, request.query_string()),
        ["_", "requests"] if *request.method() == Method::DELETE => clear(&shared),
        ["_", "requests"] => Ok(other_method("GET, DELETE")),
        ["_", "events"] if reads => follow(shared, request),
        ["_", "about"] if reads => Ok(json(&shared.about)),
        ["_", "files", digest] if reads => file(&shared, digest),
        ["_", "script", medium] => {
            let seat = shared.seat(medium)?;
            match *request.method() {
                Method::GET | Method::HEAD => Ok(json(&seat.script.shown())),
                Method::PUT => put_script(seat, payload).await,
                _ => Ok(other_method("GET, PUT")),
            }
        }
        ["_", "receipts", medium] => {
            let seat = shared.seat(medium)?;
            if *request.method() == Method::PUT { receipts(seat) } else { Ok(other_method("PUT")) }
        }
        ["_", "events" | "about"] | ["_", "files", _] => Ok(other_method("GET")),
        _ => match page::file(path) {
            Some(file) if reads => Ok(file),
            Some(_) => Ok(other_method("GET")),
            None => Err(Problem::not_found()),
        },
    }
}

fn json(value: &Value) -> HttpResponse {
    text_json(value.to_string())
}

fn text_json(text: String) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("content-type", "application/json"))
        .insert_header(("x-content-type-options", "nosniff"))
        .insert_header(("cache-control", "no-store"))
        .body(text)
}

fn other_method(allowed: &'static str) -> HttpResponse {
    let problem = Problem::new(405, "method_not_allowed", format!("Allowed here: {allowed}."));
    let mut response = problem.response();
    if let Ok(value) = allowed.parse() {
        response.headers_mut().insert(actix_web::http::header::ALLOW, value);
    }
    response
}

fn disk(problem: io::Error) -> Problem {
    tracing::error!(%problem, "the sandbox's data directory cannot be used");
    Problem::new(500, "internal", "The sandbox's data directory cannot be used.")
}

/// The values of the query's known keys, in the order of `known`.
fn query<const N: usize>(text: &str, known: [&str; N]) -> Result<[Option<String>; N], Problem> {
    let mut values = [const { None }; N];
    for (key, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let Some(at) = known.iter().position(|name| *name == key) else {
            let detail = format!("Known here: {}.", known.join(", "));
            return Err(Problem::field("query", "unknown_field", detail));
        };
        if values[at].replace(value.into_owned()).is_some() {
            return Err(Problem::field(known[at], "duplicate", "It may be given once."));
        }
    }
    Ok(values)
}

fn number(field: &str, text: Option<&str>) -> Result<u64, Problem> {
    let digits = text.unwrap_or("0");
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = plain.then(|| digits.parse().unwrap_or(u64::MAX));
    parsed.ok_or_else(|| Problem::field(field, "bad_format", "A number in decimal digits."))
}

fn requests(shared: &Shared, text: &str) -> Result<HttpResponse, Problem> {
    let [medium, after] = query(text, ["medium", "after"])?;
    let after = number("after", after.as_deref())?;
    if let Some(medium) = &medium {
        shared.seat(medium)?;
    }
    let run = shared.log.after(after, medium.as_deref(), PAGE).map_err(disk)?;
    let next = run.lines.last().filter(|_| run.more).map(|(n, _)| *n);
    let lines: Vec<String> = run.lines.into_iter().map(|(_, line)| line).collect();
    let next = next.map_or_else(|| "null".to_owned(), |n| n.to_string());
    Ok(text_json(format!("{{\"requests\":[{}],\"next\":{next}}}", lines.join(","))))
}

fn clear(shared: &Shared) -> Result<HttpResponse, Problem> {
    shared.log.clear().map_err(disk)?;
    shared.files.clear().map_err(disk)?;
    Ok(HttpResponse::NoContent().finish())
}

fn follow(shared: Arc<Shared>, request: &HttpRequest) -> Result<HttpResponse, Problem> {
    let [after] = query(request.query_string(), ["after"])?;
    let resumed = request.headers().get("last-event-id");
    let resumed = resumed.map(|value| value.to_str().unwrap_or("-")).filter(|id| !id.is_empty());
    let after = match resumed {
        Some(id) => number("Last-Event-ID", Some(id))?,
        None => number("after", after.as_deref())?,
    };
    Ok(events::feed(shared, after))
}

/// The type is what the bytes say; only pictures, sounds and clips are shown in place.
fn file(shared: &Shared, digest: &str) -> Result<HttpResponse, Problem> {
    let bytes = shared.files.get(digest).ok_or_else(Problem::not_found)?;
    let kind = infer::get(&bytes).map_or("application/octet-stream", |kind| kind.mime_type());
    let shown = ["image/", "audio/", "video/"].iter().any(|start| kind.starts_with(start));
    let mut response = HttpResponse::Ok();
    response
        .insert_header(("content-type", if shown { kind } else { "application/octet-stream" }))
        .insert_header(("content-security-policy", "default-src 'none'; sandbox"))
        .insert_header(("x-content-type-options", "nosniff"))
        .insert_header(("cache-control", "no-cache"));
    if !shown {
        response.insert_header(("content-disposition", "attachment"));
    }
    Ok(response.body(bytes))
}

async fn put_script(seat: &Seat, payload: &mut web::Payload) -> Result<HttpResponse, Problem> {
    let items = script::read(&body(payload).await?)?;
    seat.script.put(items);
    Ok(json(&seat.script.shown()))
}

fn receipts(seat: &Seat) -> Result<HttpResponse, Problem> {
    let detail = format!("{} has no receipts.", seat.room.medium());
    Err(Problem::new(400, "not_applicable", detail))
}

async fn body(payload: &mut web::Payload) -> Result<Value, Problem> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk =
            chunk.map_err(|_| Problem::new(400, "malformed_json", "The body broke off."))?;
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY {
            let status = StatusCode::PAYLOAD_TOO_LARGE.as_u16();
            return Err(Problem::new(status, "too_large", "A body holds at most 1 MiB."));
        }
    }
    serde_json::from_slice(&bytes)
        .map_err(|_| Problem::new(400, "malformed_json", "The body is no JSON."))
}
