//! Encoding answers.
use crate::problem::Refused;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use serde_json::Value;

/// A JSON answer.
#[must_use]
pub fn json(status: u16, body: String) -> HttpResponse {
    HttpResponse::build(status_code(status))
        .insert_header((header::CONTENT_TYPE, "application/json"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(body)
}

/// A JSON answer of a value.
#[must_use]
pub fn value(status: u16, body: &Value) -> HttpResponse {
    json(status, body.to_string())
}

/// An HTML answer.
#[must_use]
pub fn html(status: u16, body: String) -> HttpResponse {
    HttpResponse::build(status_code(status))
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .body(body)
}

/// A refusal as a problem document.
#[must_use]
pub fn refused(refused: &Refused) -> HttpResponse {
    problem(refused.status(), &refused.document(), refused.retry_after)
}

/// A problem document with its headers.
#[must_use]
pub fn problem(status: u16, document: &Value, retry_after: Option<u64>) -> HttpResponse {
    let mut response = HttpResponse::build(status_code(status));
    response
        .insert_header((header::CONTENT_TYPE, "application/problem+json"))
        .insert_header((header::CACHE_CONTROL, "no-store"));
    if let Some(seconds) = retry_after {
        response.insert_header((header::RETRY_AFTER, seconds.to_string()));
    }
    if status == 401 {
        response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
    }
    response.body(document.to_string())
}

/// Sets a header on a finished answer; a value that no header can hold is left out.
pub fn set(response: &mut HttpResponse, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}

fn status_code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
