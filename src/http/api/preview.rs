//! `POST /api/notifications/preview`: the dry run.
use crate::compose::json::Json;
use crate::compose::rules::Purpose;
use crate::http::router::Call;
use crate::http::{body, reply};
use crate::problem::Refused;
use actix_web::HttpResponse;

/// Judges content, then each channel; records nothing and sends nothing.
///
/// # Errors
/// The content's refusal; 404 for an unknown channel; 503.
pub async fn post(mut call: Call) -> Result<HttpResponse, Refused> {
    body::require_json(&call.request)?;
    let bytes = body::read(&mut call.payload, body::NOTIFY_MAX).await?;
    let entries = Json::object(&bytes).map_err(|why| Refused::new("malformed_json", why))?;
    let named = entries.iter().any(|(name, value)| name == "channel" && *value != Json::Null);
    let purpose = if named { Purpose::Record } else { Purpose::PreviewAll };
    let app = &call.app;
    let judged = app.composer.content(entries, call.caller()?, purpose, app.clock.now())?;
    Ok(reply::value(200, &app.composer.preview(&judged).await?))
}
