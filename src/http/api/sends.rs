//! `GET /api/sends`: lists from the indexes, and one record whole.
use crate::clock::Millis;
use crate::http::query::{Query, bad_cursor, problem};
use crate::http::reply;
use crate::http::router::Call;
use crate::inbox::entry;
use crate::problem::Refused;
use crate::sends::log::StoredExchange;
use crate::sends::record::{lane, provider_hash};
use crate::sends::{SendRecord, view};
use crate::store::SendIndex;
use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::{ChannelName, NotificationId, PartStatus, SendId};
use serde_json::{Value, json};

/// Query parameters of the list.
pub const LIST_QUERY: &[&str] =
    &["status", "channel", "recipient", "notification", "provider_message_id", "limit", "before"];

/// Most records looked at for one page.
const LOOKED_AT: usize = 5000;
/// Ids read from an index at once.
const STRIDE: usize = 200;

/// A place in a list: newest first, so the next page is what stands before it.
type Place = (Millis, SendId);

/// Sends, newest first. A page may be short when a filter had to look far.
///
/// # Errors
/// 400 for a bad parameter, 404 for an unknown channel, 503.
pub async fn list(call: Call) -> Result<HttpResponse, Refused> {
    let query = Query::read(call.request.query_string(), LIST_QUERY)?;
    let limit = query.limit()?;
    let status = match query.get("status") {
        None => None,
        Some(word) => Some(PartStatus::parse(word).ok_or_else(|| {
            let words: Vec<_> = PartStatus::ALL.iter().map(|s| s.as_str()).collect();
            problem("status", "not_one_of", format!("one of: {}", words.join(", ")))
        })?),
    };
    let before = match query.get("before") {
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
    for filter in ["recipient", "provider_message_id"] {
        if query.get(filter).is_some() && channel.is_none() {
            return Err(problem(filter, "requires", "give the channel too"));
        }
    }
    if let Some(found) = narrowed(&call, &query, channel.as_ref()).await? {
        let wanted = |send: &SendRecord| {
            visible(&call, send)
                && status.is_none_or(|s| s == send.status())
                && channel.as_ref().is_none_or(|c| *c == send.channel)
                && query.get("recipient").is_none_or(|r| is_for(send, r))
        };
        let rows: Vec<Value> = found.iter().filter(|s| wanted(s)).map(view::listed).collect();
        return Ok(reply::value(200, &json!({ "sends": rows, "next": null })));
    }
    let indexes = indexes(&call, &query, status, channel.as_ref());
    let (rows, next) = scan(&call, &indexes, status, channel.as_ref(), before, limit).await?;
    let next = next.map(|place| spell_cursor(&place));
    Ok(reply::value(200, &json!({ "sends": rows, "next": next })))
}

/// The one send a notification or provider id names, if the query has such a filter.
async fn narrowed(
    call: &Call,
    query: &Query,
    channel: Option<&ChannelName>,
) -> Result<Option<Vec<SendRecord>>, Refused> {
    let store = &call.app.store;
    let by_notification = match query.get("notification") {
        None => None,
        Some(text) => {
            let id = NotificationId::parse(text);
            let body = match &id {
                Some(id) => store.bodies(std::slice::from_ref(id)).await?.pop().flatten(),
                None => None,
            };
            Some(body.and_then(|body| entry::split(&body)?.0))
        }
    };
    let by_provider = match (query.get("provider_message_id"), channel) {
        (Some(id), Some(channel)) => {
            Some(store.by_provider(channel, &provider_hash(id)).await?.map(|(send, _)| send))
        }
        _ => None,
    };
    let id = match (by_notification, by_provider) {
        (None, None) => return Ok(None),
        (Some(one), Some(two)) if one != two => None,
        (Some(one), _) => one,
        (None, Some(two)) => two,
    };
    let Some(id) = id else { return Ok(Some(Vec::new())) };
    let found = call.app.outbox.record(&id).await?;
    Ok(Some(found.map(|(_, send)| send).into_iter().collect()))
}

fn is_for(send: &SendRecord, recipient: &str) -> bool {
    send.recipient == recipient || send.recipient_now.as_deref() == Some(recipient)
}

/// The indexes to read: an owned key's own, a recipient's, dead letters, or the channels'.
fn indexes(
    call: &Call,
    query: &Query,
    status: Option<PartStatus>,
    channel: Option<&ChannelName>,
) -> Vec<SendIndex> {
    if let Some(caller) = call.caller.as_ref().filter(|c| c.restricted) {
        return vec![SendIndex::Owner(caller.identity.clone())];
    }
    let channels: Vec<ChannelName> = match channel {
        Some(channel) => vec![channel.clone()],
        None => call.app.channels.iter().map(|c| c.name.clone()).collect(),
    };
    if let (Some(channel), Some(recipient)) = (channel, query.get("recipient")) {
        return vec![SendIndex::Recipient(channel.clone(), lane(channel, recipient))];
    }
    let dead = matches!(
        status,
        Some(PartStatus::Failed | PartStatus::Expired | PartStatus::OutcomeUnknown)
    );
    channels.into_iter().map(if dead { SendIndex::Dead } else { SendIndex::Channel }).collect()
}

/// Merges the indexes newest first and keeps what the filters want.
async fn scan(
    call: &Call,
    indexes: &[SendIndex],
    status: Option<PartStatus>,
    channel: Option<&ChannelName>,
    mut before: Option<Place>,
    limit: usize,
) -> Result<(Vec<Value>, Option<Place>), Refused> {
    let query = Query::read(call.request.query_string(), LIST_QUERY)?;
    let recipient = query.get("recipient");
    let mut rows = Vec::new();
    let mut looked = 0;
    loop {
        let mut places: Vec<Place> = Vec::new();
        for index in indexes {
            places.extend(call.app.store.sends(index, before.clone(), STRIDE).await?);
        }
        places.sort_by(|a, b| b.cmp(a));
        places.dedup();
        places.truncate(STRIDE);
        let last_page = places.len() < STRIDE;
        for place in places {
            looked += 1;
            let send = call.app.outbox.record(&place.1).await?;
            before = Some(place);
            let wanted = send.map(|(_, send)| send).filter(|send| {
                visible(call, send)
                    && status.is_none_or(|s| s == send.status())
                    && channel.is_none_or(|c| *c == send.channel)
                    && recipient.is_none_or(|r| is_for(send, r))
            });
            rows.extend(wanted.as_ref().map(view::listed));
            if rows.len() == limit || looked == LOOKED_AT {
                return Ok((rows, before));
            }
        }
        if last_page {
            return Ok((rows, None));
        }
    }
}

/// An owned key sees the sends it made or that are addressed to it.
pub(super) fn visible(call: &Call, send: &SendRecord) -> bool {
    call.caller.as_ref().is_some_and(|caller| {
        !caller.restricted
            || send.caller == caller.identity
            || send.audience.as_deref() == Some(caller.identity.as_str())
    })
}

/// One send with everything known of it.
///
/// # Errors
/// The uniform 404; 503.
pub async fn show(call: Call) -> Result<HttpResponse, Refused> {
    let id = SendId::parse(call.parameter()).ok_or_else(Refused::not_found)?;
    let store = &call.app.store;
    let Some((_, send)) = call.app.outbox.record(&id).await? else {
        return Err(Refused::not_found());
    };
    if !visible(&call, &send) {
        return Err(Refused::not_found());
    }
    let log = store.log(&id).await?;
    let exchanges: Vec<StoredExchange> =
        store.exchanges(&id).await?.iter().filter_map(|b| StoredExchange::decode(b)).collect();
    let narrow = call.caller()?.restricted;
    let waiting = call.app.outbox.waits_for(&send, narrow).await?;
    let body = store.bodies(std::slice::from_ref(&send.notification)).await?.pop().flatten();
    let (content, metadata) = body.as_deref().map_or((Value::Null, Value::Null), content_of);
    let beside = view::Beside { log: &log, exchanges: &exchanges, content, metadata, waiting };
    Ok(reply::value(200, &view::whole(&send, &beside)))
}

/// The content fields and the metadata of a stored body.
fn content_of(body: &[u8]) -> (Value, Value) {
    const CONTENT: &[&str] = &[
        "message", "media", "location", "template", "options", "sections", "header", "footer",
        "schema", "data", "pages",
    ];
    let whole = entry::split(body)
        .and_then(|(_, json)| serde_json::from_str::<Value>(&format!("{json}}}")).ok());
    let Some(Value::Object(mut whole)) = whole else { return (Value::Null, Value::Null) };
    let metadata = whole.remove("metadata").unwrap_or(Value::Null);
    whole.retain(|key, _| CONTENT.contains(&key.as_str()));
    (Value::Object(whole), metadata)
}

fn spell_cursor(place: &Place) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}:{}", place.0.0, place.1))
}

fn cursor(text: &str) -> Option<Place> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (at, id) = std::str::from_utf8(&bytes).ok()?.split_once(':')?;
    Some((Millis(at.parse().ok()?), SendId::parse(id)?))
}
