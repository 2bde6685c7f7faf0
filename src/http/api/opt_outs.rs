//! `GET /api/channels/{name}/opt-outs` and clearing one.
use crate::clock::Millis;
use crate::http::query::{Query, bad_cursor, path_text};
use crate::http::reply;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::registry::Channel;
use crate::sends::optout;
use crate::store::{At, Lane, OptScope};
use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::sync::Arc;

/// Query parameters of the list.
pub const LIST_QUERY: &[&str] = &["limit", "before"];

fn channel(call: &Call) -> Result<Arc<Channel>, Refused> {
    let app = &call.app;
    app.channels.get(call.parameter()).ok_or_else(|| app.composer.unknown_channel())
}

/// Opt-outs of a channel, newest first.
///
/// # Errors
/// 404 `unknown_channel`, 400 for a bad parameter, 503.
pub async fn list(call: Call) -> Result<HttpResponse, Refused> {
    let query = Query::read(call.request.query_string(), LIST_QUERY)?;
    let (limit, channel) = (query.limit()?, channel(&call)?);
    let before = match query.get("before") {
        None => None,
        Some(text) => Some(cursor(text).ok_or_else(bad_cursor)?),
    };
    let rows = call.app.store.opt_list(&channel.name, before, limit).await?;
    let next = (rows.len() == limit)
        .then(|| rows.last())
        .flatten()
        .map(|(lane, row)| URL_SAFE_NO_PAD.encode(format!("{}:{}", row.since.0, lane.0)));
    let rows: Vec<Value> = rows.iter().map(|(_, row)| optout::view(row)).collect();
    Ok(reply::value(200, &json!({ "opt_outs": rows, "next": next })))
}

fn cursor(text: &str) -> Option<(Millis, Lane)> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (since, lane) = std::str::from_utf8(&bytes).ok()?.split_once(':')?;
    Some((Millis(since.parse().ok()?), Lane(lane.to_owned())))
}

/// Clears the opt-out of a recipient; gives what was cleared.
///
/// # Errors
/// 404 `unknown_channel`; 404 when there is none; 503.
pub async fn clear(call: Call) -> Result<HttpResponse, Refused> {
    let channel = channel(&call)?;
    let given = call.parameters.get(1).and_then(|text| path_text(text));
    let given = given.ok_or_else(Refused::not_found)?;
    // Another spelling of the address leads to the same row.
    let canonical = channel.adapter.recipient(Some(&given), true);
    let recipient = canonical.map_or(given, |address| address.as_str().to_owned());
    let lane = Lane::of(&channel.name, &recipient);
    let store = &call.app.store;
    let cleared = store.opt_clear(&channel.name, &lane, &OptScope::ALL, At::Store).await?;
    let cleared = cleared.ok_or_else(Refused::not_found)?;
    tracing::info!(channel = %channel.name, "an operator cleared an opt-out");
    Ok(reply::value(200, &optout::view(&cleared)))
}
