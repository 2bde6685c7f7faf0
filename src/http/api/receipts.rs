//! Receipts no send was found for.
use crate::clock::Millis;
use crate::http::query::{Query, bad_cursor};
use crate::http::reply;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::sends::settle::Unmatched;
use actix_web::HttpResponse;
use serde_json::{Value, json};

/// Rows looked at for one page that asks for one channel.
const SCANNED: usize = 1000;

/// `GET /api/receipts/unmatched`: unrestricted keys only.
///
/// # Errors
/// 403 for a restricted key; 400 for a bad parameter; 404 for an unknown channel; 503.
pub async fn unmatched(call: Call) -> Result<HttpResponse, Refused> {
    if call.caller()?.restricted {
        let why = "An owned key does not see receipts that belong to nobody.";
        return Err(Refused::new("forbidden", why));
    }
    let query = Query::read(call.request.query_string(), &["channel", "limit", "before"])?;
    let (limit, before) = (query.limit()?, query.get("before"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if before.is_some_and(|before| !before.splitn(2, '-').all(digits)) {
        return Err(bad_cursor());
    }
    let channel = query.get("channel");
    if let Some(name) = channel
        && call.app.channels.get(name).is_none()
    {
        let known = call.app.channels.names().join(", ");
        let detail = format!("No such channel; registered: {known}.");
        return Err(Refused::new("unknown_channel", detail));
    }
    let asked = if channel.is_some() { SCANNED } else { limit };
    let rows = call.app.outbox.settler.unmatched(before, asked).await?;
    let whole = rows.len() == asked;
    let mut last = rows.last().map(|row| row.place.clone());
    let mut shown: Vec<Value> = Vec::new();
    for row in rows {
        if channel.is_some_and(|name| row.channel.as_str() != name) {
            continue;
        }
        if shown.len() == limit {
            break;
        }
        if shown.len() + 1 == limit {
            last = Some(row.place.clone());
        }
        shown.push(line(&row));
    }
    let next = last.filter(|_| whole || shown.len() == limit);
    Ok(reply::value(200, &json!({ "unmatched": shown, "next": next })))
}

fn line(row: &Unmatched) -> Value {
    let receipt = row.receipt.as_ref();
    json!({
        "at": row.at.rfc3339(),
        "channel": row.channel,
        "provider_message_id": receipt.and_then(|r| r.provider_message_id.clone()),
        "raw": receipt.map(|r| r.raw.clone()),
        "vendor_at": receipt.and_then(|r| r.vendor_at).map(Millis::rfc3339),
    })
}
