//! One trace as a timeline.
use super::sends::visible;
use crate::http::reply;
use crate::http::router::Call;
use crate::inbox::entry;
use crate::problem::Refused;
use crate::sends::log::LogChunk;
use crate::store::At;
use crate::trace::timeline::{self, Event};
use actix_web::HttpResponse;
use contract::{ChannelName, NotificationId, SendId};
use serde_json::{Value, json};

/// `GET /api/traces/{trace_id}`: what happened, oldest first. An owned key sees its own alone.
///
/// # Errors
/// The uniform 404; 503.
pub async fn show(call: Call) -> Result<HttpResponse, Refused> {
    let trace = call.parameter().to_owned();
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if trace.len() != 32 || !trace.bytes().all(hex) {
        return Err(Refused::not_found());
    }
    let ids = call.app.store.trace(&trace, At::Store).await?;
    let mut events: Vec<Event> = Vec::new();
    for id in &ids {
        if let Some(id) = NotificationId::parse(id) {
            events.extend(recorded(&call, &id).await?);
        } else if let Some(id) = SendId::parse(id)
            && let Some((_, record)) = call.app.outbox.record(&id).await?
            && visible(&call, &record)
        {
            let log = call.app.store.log(&id).await?;
            events.extend(timeline::of_send(&record, &LogChunk::read_all(&log)));
        }
    }
    if events.is_empty() {
        return Err(Refused::not_found());
    }
    // Stable: what happened in one millisecond keeps the order of cause and effect.
    events.sort_by_key(|event| event.at);
    let events: Vec<Value> = events.iter().map(Event::view).collect();
    Ok(reply::value(200, &json!({ "trace_id": trace, "events": events })))
}

/// The recording of a notification, if the caller may see it and it is still kept.
async fn recorded(call: &Call, id: &NotificationId) -> Result<Option<Event>, Refused> {
    let body = call.app.store.bodies(std::slice::from_ref(id)).await?.pop().flatten();
    let Some(stored) = body.as_deref().and_then(|body| entry::decode(body, None)) else {
        return Ok(None);
    };
    let entry = stored.notification;
    let seen = call.caller.as_ref().is_some_and(|caller| {
        let own = Some(caller.identity.as_str());
        !caller.restricted || entry.caller.as_deref() == own || entry.audience.as_deref() == own
    });
    let channel = entry.channel.as_ref().map(ChannelName::as_str);
    let event = timeline::recorded(id, entry.created_at, entry.origin.as_str(), channel);
    Ok(seen.then_some(event))
}
