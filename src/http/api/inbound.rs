//! `GET /api/inbound`: what people said, newest first.
use crate::clock::Millis;
use crate::conversation::inbound::InboundMessage;
use crate::conversation::view;
use crate::http::query::{Query, bad_cursor, problem};
use crate::http::reply;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::store::{At, StoreResult};
use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::inbound::InboundKind;
use contract::{ChannelName, InboundId, ThreadId};
use serde_json::{Value, json};

/// Query parameters of the list.
pub const LIST_QUERY: &[&str] = &["channel", "thread", "kind", "limit", "before"];

/// Most messages looked at for one page.
const LOOKED_AT: usize = 2000;
/// Ids read from an index at once.
const STRIDE: usize = 200;

/// A place in a list.
type Place = (Millis, InboundId);

/// What is listed.
enum Source {
    Thread(ThreadId),
    Channels(Vec<ChannelName>),
}

/// Inbound messages, newest first. A page may be short when a filter had to look far.
///
/// # Errors
/// 403 for an owned key, 400 for a bad parameter, 404 for an unknown channel, 503.
pub async fn list(call: Call) -> Result<HttpResponse, Refused> {
    unrestricted(&call)?;
    let query = Query::read(call.request.query_string(), LIST_QUERY)?;
    let limit = query.limit()?;
    let kind = match query.get("kind") {
        None => None,
        Some(word) => Some(InboundKind::parse(word).ok_or_else(|| {
            let words: Vec<_> = InboundKind::ALL.iter().map(|kind| kind.as_str()).collect();
            problem("kind", "not_one_of", format!("one of: {}", words.join(", ")))
        })?),
    };
    let mut before = match query.get("before") {
        None => None,
        Some(text) => Some(cursor(text).ok_or_else(bad_cursor)?),
    };
    let channel = match query.get("channel") {
        None => None,
        Some(name) => {
            let known = call.app.channels.get(name);
            Some(known.ok_or_else(|| call.app.composer.unknown_channel())?.name.clone())
        }
    };
    let source = match query.get("thread") {
        Some(text) => Source::Thread(ThreadId::parse(text).ok_or_else(Refused::not_found)?),
        None => Source::Channels(match &channel {
            Some(channel) => vec![channel.clone()],
            None => call.app.channels.iter().map(|channel| channel.name.clone()).collect(),
        }),
    };
    let wanted = |message: &InboundMessage| {
        kind.is_none_or(|kind| kind == message.kind)
            && channel.as_ref().is_none_or(|channel| *channel == message.channel)
    };
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    let next = loop {
        let page = page(&call, &source, before.clone()).await?;
        let whole = page.len() == STRIDE;
        let ids: Vec<_> = page.iter().map(|(_, id)| id.clone()).collect();
        let values = call.app.store.inbound(&ids, At::Store).await?;
        let mut full = None;
        for (place, value) in page.into_iter().zip(values) {
            looked_at += 1;
            if let Some(message) = value.and_then(|value| InboundMessage::decode(&value))
                && wanted(&message)
            {
                rows.push(view::message(&message));
            }
            before = Some(place);
            if rows.len() == limit || looked_at == LOOKED_AT {
                full.clone_from(&before);
                break;
            }
        }
        if full.is_some() || !whole {
            break full;
        }
    };
    let next = next.map(|(at, id)| URL_SAFE_NO_PAD.encode(format!("{} {id}", at.0)));
    Ok(reply::value(200, &json!({ "inbound": rows, "next": next })))
}

/// The next ids of a source, merged newest first.
async fn page(call: &Call, source: &Source, before: Option<Place>) -> StoreResult<Vec<Place>> {
    let store = &call.app.store;
    match source {
        Source::Thread(thread) => store.inbound_in(thread, before, STRIDE).await,
        Source::Channels(channels) => {
            let mut all = Vec::new();
            for channel in channels {
                all.extend(store.inbound_of(channel, before.clone(), STRIDE).await?);
            }
            all.sort_by(|a, b| b.cmp(a));
            all.truncate(STRIDE);
            Ok(all)
        }
    }
}

fn cursor(text: &str) -> Option<Place> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (at, id) = text.split_once(' ')?;
    Some((Millis(at.parse().ok()?), InboundId::parse(id)?))
}

/// One inbound message.
///
/// # Errors
/// 403 for an owned key, 404, 503.
pub async fn show(call: Call) -> Result<HttpResponse, Refused> {
    unrestricted(&call)?;
    let id = InboundId::parse(call.parameter()).ok_or_else(Refused::not_found)?;
    let mut values = call.app.store.inbound(&[id], At::Store).await?;
    let message = values.pop().flatten().and_then(|value| InboundMessage::decode(&value));
    let shown: Value = view::message(&message.ok_or_else(Refused::not_found)?);
    Ok(reply::value(200, &shown))
}

/// Threads of an owned key's sends come with conversations; until then it sees none.
fn unrestricted(call: &Call) -> Result<(), Refused> {
    if call.caller()?.restricted {
        return Err(Refused::new("forbidden", "An owned key does not see inbound messages."));
    }
    Ok(())
}
