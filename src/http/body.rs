//! Reading bodies: the actual bytes are counted, whatever a length header says.
use crate::problem::Refused;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::time::Duration;

/// Most bytes of a notification's body.
pub const NOTIFY_MAX: usize = 2 * 1024 * 1024;
/// Most bytes of an upload.
pub const MEDIA_MAX: usize = 25 * 1024 * 1024;

/// Longest pause inside a body.
const SILENCE: Duration = Duration::from_secs(30);

/// The media type of a request, lower case, without parameters.
#[must_use]
pub fn content_type(request: &HttpRequest) -> Option<String> {
    let value = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next().unwrap_or("").trim().to_ascii_lowercase())
}

/// Requires `application/json`, its charset absent or utf-8.
///
/// # Errors
/// 415.
pub fn require_json(request: &HttpRequest) -> Result<(), Refused> {
    let whole = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let charset = whole.split(';').skip(1).map(str::trim).find_map(|p| p.strip_prefix("charset="));
    let utf8 = charset.is_none_or(|c| matches!(c.trim_matches('"'), "utf-8" | "utf8"));
    let plain = request
        .headers()
        .get(header::CONTENT_ENCODING)
        .is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if content_type(request).as_deref() == Some("application/json") && utf8 && plain {
        return Ok(());
    }
    let detail = "Send the body as application/json in UTF-8, without a content encoding.";
    Err(Refused::new("unsupported_media_type", detail))
}

/// Reads at most `max` bytes.
///
/// # Errors
/// 413 when more come; 400 when the body breaks off.
pub async fn read(payload: &mut Payload, max: usize) -> Result<Bytes, Refused> {
    let mut body = BytesMut::new();
    let broken = || Refused::new("malformed_json", "The body broke off before its end.");
    // A body may take its time, but not stand still: a silent client must not hold memory for ever.
    while let Some(chunk) =
        tokio::time::timeout(SILENCE, payload.next()).await.map_err(|_| broken())?
    {
        let chunk = chunk.map_err(|_| broken())?;
        if body.len() + chunk.len() > max {
            return Err(too_large(max));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// The 413 that names the bound.
#[must_use]
pub fn too_large(max: usize) -> Refused {
    Refused::new("too_large", format!("The body may hold at most {max} bytes."))
}
