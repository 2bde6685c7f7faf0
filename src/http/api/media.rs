//! Media: storing bytes, and serving them to whoever holds the id.
use crate::app::App;
use crate::compose::sniff::sniff;
use crate::http::router::Call;
use crate::http::{body, reply};
use crate::problem::Refused;
use crate::sends::record::sha256_hex;
use crate::store::{At, MEDIA_PIECE, MediaRow, MediaStored, Store};
use actix_multipart::Multipart;
use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::http::header::{ByteRangeSpec, Range};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{HttpMessage, HttpResponse};
use contract::MediaId;
use contract::content::MEDIA_PATH;
use futures_util::{Stream, StreamExt};
use serde_json::json;
use std::sync::Arc;

/// The 503 when there is no room.
#[must_use]
pub fn full(app: &App) -> Refused {
    app.metrics.count("tidings_media_refused_total", &[("reason", "media_full")]);
    let detail = "The store holds as many media bytes as media.total_max allows; try again later.";
    Refused::new("media_full", detail).retry_after(60)
}

/// `POST /api/media`.
///
/// # Errors
/// 413, 415, 503 `media_full`.
pub async fn post(mut call: Call) -> Result<HttpResponse, Refused> {
    let (bytes, declared) = match body::content_type(&call.request).as_deref() {
        Some("multipart/form-data") => one_file(&mut call).await?,
        declared => {
            let declared = declared.map(str::to_owned);
            (body::read(&mut call.payload, body::MEDIA_MAX).await?, declared)
        }
    };
    let app = &call.app;
    let Some(content_type) = sniff(&bytes, declared.as_deref()) else {
        app.metrics.count("tidings_media_refused_total", &[("reason", "unsupported_media_type")]);
        let detail = "These bytes are of no type that is taken: png, jpeg, gif, webp; mp4, 3gpp, \
                      webm, quicktime; mp3, m4a, aac, ogg, amr, wav; pdf, zip, office documents; \
                      plain text, csv.";
        return Err(Refused::new("unsupported_media_type", detail));
    };
    let now = app.clock.now();
    let row = MediaRow {
        id: app.ids.media(),
        content_type: content_type.to_owned(),
        size: bytes.len() as u64,
        sha256: sha256_hex(&bytes),
        created: now,
        expires: now.plus(app.settings.media.retention),
        by: call.caller()?.identity.clone(),
    };
    let answer = json!({
        "id": row.id,
        "url": format!("{MEDIA_PATH}{}", row.id),
        "content_type": row.content_type,
        "size": row.size,
        "expires_at": row.expires.rfc3339(),
    });
    let total = app.settings.media.total_max;
    match app.store.media_put(row, bytes, total, At::Store).await? {
        MediaStored::Stored => Ok(reply::value(201, &answer)),
        MediaStored::Full => Err(full(app)),
    }
}

/// The one file of a multipart body, with the type it claims.
async fn one_file(call: &mut Call) -> Result<(Bytes, Option<String>), Refused> {
    let broken = |_| Refused::new("malformed_json", "The multipart body cannot be read.");
    let payload = std::mem::replace(&mut call.payload, Payload::None);
    let mut parts = Multipart::new(call.request.headers(), payload);
    let mut found = None;
    while let Some(part) = parts.next().await {
        let mut part = part.map_err(broken)?;
        let declared = part.content_type().map(ToString::to_string);
        let mut bytes = BytesMut::new();
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(broken)?;
            if bytes.len() + chunk.len() > body::MEDIA_MAX {
                return Err(body::too_large(body::MEDIA_MAX));
            }
            bytes.extend_from_slice(&chunk);
        }
        if found.replace((bytes.freeze(), declared)).is_some() {
            return Err(Refused::new("too_many", "Send one file at a time."));
        }
    }
    found.ok_or_else(|| Refused::new("empty", "The multipart body holds no file."))
}

/// `GET` and `HEAD /api/interactions/media/{id}`, one range at most.
///
/// # Errors
/// The uniform 404; 503.
pub async fn get(call: Call) -> Result<HttpResponse, Refused> {
    let id = MediaId::parse(call.parameter()).ok_or_else(Refused::not_found)?;
    let store = call.app.store.clone();
    let Some(row) = store.media_row(&id, At::Store).await? else {
        return Err(Refused::not_found());
    };
    let mut response = HttpResponse::Ok();
    let inline = ["image/", "video/", "audio/"].iter().any(|k| row.content_type.starts_with(k));
    response
        .insert_header((header::CONTENT_TYPE, row.content_type.as_str()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"))
        .insert_header((header::CONTENT_DISPOSITION, if inline { "inline" } else { "attachment" }))
        .insert_header((header::CACHE_CONTROL, "private, max-age=86400, immutable"))
        .insert_header((header::ACCEPT_RANGES, "bytes"))
        .insert_header(("referrer-policy", "no-referrer"));
    let range = call.request.get_header::<Range>().and_then(|range| match range {
        Range::Bytes(specs) if specs.len() == 1 => specs.into_iter().next(),
        _ => None,
    });
    let (start, end) = match range.map(|spec: ByteRangeSpec| spec.to_satisfiable_range(row.size)) {
        None => (0, row.size),
        Some(Some((first, last))) => {
            response.status(actix_web::http::StatusCode::PARTIAL_CONTENT);
            let content_range = format!("bytes {first}-{last}/{}", row.size);
            response.insert_header((header::CONTENT_RANGE, content_range));
            (first, last + 1)
        }
        Some(None) => {
            response.status(actix_web::http::StatusCode::RANGE_NOT_SATISFIABLE);
            response.insert_header((header::CONTENT_RANGE, format!("bytes */{}", row.size)));
            return Ok(response.finish());
        }
    };
    if call.request.method() == actix_web::http::Method::HEAD {
        response.no_chunking(end - start);
        return Ok(response.body(actix_web::body::SizedStream::new(
            end - start,
            futures_util::stream::empty::<Result<Bytes, std::io::Error>>(),
        )));
    }
    let pieces = pieces(store, id, start, end);
    Ok(response.body(actix_web::body::SizedStream::new(end - start, pieces)))
}

/// The bytes from `start` to `end`, a piece at a time.
fn pieces(
    store: Arc<dyn Store>,
    id: MediaId,
    start: u64,
    end: u64,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    futures_util::stream::try_unfold((store, id, start), move |(store, id, at)| async move {
        if at >= end {
            return Ok(None);
        }
        let gone = || std::io::Error::other("the media are gone");
        let read = store.media_read(&id, at, At::Store).await.map_err(std::io::Error::other)?;
        let mut piece = read.filter(|piece| !piece.is_empty()).ok_or_else(gone)?;
        let left = usize::try_from((end - at).min(MEDIA_PIECE)).unwrap_or(usize::MAX);
        piece.truncate(left);
        let next = at + piece.len() as u64;
        Ok(Some((piece, (store, id, next))))
    })
}
