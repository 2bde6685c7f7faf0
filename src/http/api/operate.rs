//! `POST /api/sends/{id}/cancel`, `/retry`, and `POST /api/sends/retry`: acting on sends.
use super::sends::visible;
use crate::clock::Millis;
use crate::compose::json::Json;
use crate::compose::judge::opted_out;
use crate::http::query::problem;
use crate::http::router::Call;
use crate::http::{body, reply};
use crate::outbox::operate::Undone;
use crate::problem::Refused;
use crate::sends::{SendRecord, view};
use crate::store::SendIndex;
use actix_web::HttpResponse;
use contract::{ChannelName, SendId};
use serde_json::json;

/// Keys of a bulk retry.
const FIELDS: &[&str] = &["channel", "fault", "since"];
/// Most bytes of its body.
const BODY_MAX: usize = 64 * 1024;
/// Dead letters read from an index at once.
const BATCH: usize = 100;
/// Most sends of one call.
const MOST: usize = 10_000;

fn refused(undone: Undone, code: &'static str) -> Refused {
    match undone {
        Undone::Unknown => Refused::not_found(),
        Undone::NotNow(why) => Refused::new(code, why),
        Undone::OptedOut => opted_out(),
        Undone::BacklogFull { depth } => Refused::new(
            "backlog_full",
            "Too many sends wait already on this channel or for this recipient.",
        )
        .retry_after((depth / 100).clamp(1, 300)),
    }
}

fn id(call: &Call) -> Result<SendId, Refused> {
    SendId::parse(call.parameter()).ok_or_else(Refused::not_found)
}

/// Cancels a send that waits.
///
/// # Errors
/// The uniform 404; 409 `not_cancellable`; 503.
pub async fn cancel(call: Call) -> Result<HttpResponse, Refused> {
    let sees = |send: &SendRecord| visible(&call, send);
    let cancelled = call.app.outbox.cancel(&id(&call)?, sees).await?;
    let send = cancelled.map_err(|undone| refused(undone, "not_cancellable"))?;
    Ok(reply::value(200, &view::listed(&send)))
}

/// Tries a send again that ended badly.
///
/// # Errors
/// The uniform 404; 403 `recipient_opted_out`; 409 `not_retryable`; 503.
pub async fn retry(call: Call) -> Result<HttpResponse, Refused> {
    let sees = |send: &SendRecord| visible(&call, send);
    let retried = call.app.outbox.retry(&id(&call)?, sees).await?;
    let send = retried.map_err(|undone| refused(undone, "not_retryable"))?;
    Ok(reply::value(202, &view::listed(&send)))
}

/// Which dead letters a bulk retry takes.
#[derive(Default)]
struct Wanted {
    channel: Option<ChannelName>,
    fault: Option<String>,
    since: Option<Millis>,
}

impl Wanted {
    fn read(call: &Call, entries: Vec<(String, Json)>) -> Result<Self, Refused> {
        let mut wanted = Self::default();
        for (name, value) in entries {
            let Some(field) = FIELDS.iter().copied().find(|field| *field == name) else {
                let detail = format!("known keys: {}", FIELDS.join(", "));
                return Err(problem("", "unknown_field", detail));
            };
            let text = match value {
                Json::Null => continue,
                Json::Text(text) => text,
                _ => return Err(problem(field, "wrong_type", "a string")),
            };
            match field {
                "channel" => {
                    let channel = call.app.channels.get(&text);
                    let channel = channel.ok_or_else(|| call.app.composer.unknown_channel())?;
                    wanted.channel = Some(channel.name.clone());
                }
                "fault" => wanted.fault = Some(text),
                _ => {
                    let at = Millis::parse(&text).ok_or_else(|| {
                        problem(field, "bad_format", "RFC 3339, such as 2030-01-31T12:00:00Z")
                    })?;
                    wanted.since = Some(at);
                }
            }
        }
        Ok(wanted)
    }

    fn takes(&self, send: &SendRecord) -> bool {
        let Some(wanted) = &self.fault else { return true };
        let fault = send.fault.as_ref();
        fault.is_some_and(|f| f.code == *wanted || f.kind.class().as_str() == wanted)
    }
}

/// Tries dead letters again, newest first, at most 10,000; what a single retry would refuse is
/// passed over.
///
/// # Errors
/// 400 for a bad body, 404 `unknown_channel`, 503 with what was done so far left done.
pub async fn retry_many(mut call: Call) -> Result<HttpResponse, Refused> {
    body::require_json(&call.request)?;
    let bytes = body::read(&mut call.payload, BODY_MAX).await?;
    let entries = Json::object(&bytes).map_err(|why| Refused::new("malformed_json", why))?;
    let wanted = Wanted::read(&call, entries)?;
    let channels = match &wanted.channel {
        Some(channel) => vec![channel.clone()],
        None => call.app.channels.iter().map(|channel| channel.name.clone()).collect(),
    };
    let (mut retried, outbox) = (0usize, &call.app.outbox);
    for channel in channels {
        let index = SendIndex::Dead(channel);
        let mut before = None;
        'pages: loop {
            let page = call.app.store.sends(&index, before.clone(), BATCH).await?;
            let last = page.len() < BATCH;
            for (at, id) in page {
                if wanted.since.is_some_and(|since| at < since) || retried == MOST {
                    break 'pages;
                }
                retried += usize::from(outbox.retry(&id, |send| wanted.takes(send)).await?.is_ok());
                before = Some((at, id));
            }
            if last {
                break;
            }
        }
    }
    Ok(reply::value(200, &json!({ "retried": retried })))
}
