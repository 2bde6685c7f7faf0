//! Refusals of the control routes: `application/problem+json`, the same shape the gateway gives.
//!
//! A problem names fields by their place and bounds by their number; it never repeats a value.
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::{Map, Value, json};

/// At most this many problems are listed.
const LISTED: usize = 50;

/// One field's problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// Path of the field, such as `[0].answer.status`.
    pub field: String,
    /// Stable code.
    pub code: &'static str,
    /// A sentence for a person.
    pub detail: String,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// Stable code.
    pub code: &'static str,
    /// A sentence for a person.
    pub detail: String,
    /// The fields, for a 400 about some.
    pub errors: Vec<FieldProblem>,
}

impl Problem {
    pub(crate) fn new(status: u16, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), errors: Vec::new() }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(404, "not_found", "There is nothing of that name here.")
    }

    /// Of a non-empty list of fields.
    pub(crate) fn fields(errors: Vec<FieldProblem>) -> Self {
        let first = errors.first();
        let code = first.map_or("malformed_json", |problem| problem.code);
        let detail = first.map_or(String::new(), |problem| problem.detail.clone());
        Self { status: 400, code, detail, errors }
    }

    pub(crate) fn field(field: &str, code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self::fields(vec![FieldProblem { field: field.to_owned(), code, detail }])
    }

    fn body(&self) -> Value {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut body = Map::new();
        body.insert("type".to_owned(), json!(format!("urn:tidings:problem:{}", self.code)));
        body.insert("title".to_owned(), json!(status.canonical_reason().unwrap_or("Problem")));
        body.insert("status".to_owned(), json!(self.status));
        body.insert("detail".to_owned(), json!(self.detail));
        body.insert("code".to_owned(), json!(self.code));
        if !self.errors.is_empty() {
            let listed = self.errors.iter().take(LISTED).map(
                |problem| json!({ "field": problem.field, "code": problem.code, "detail": problem.detail }),
            );
            body.insert("errors".to_owned(), listed.collect());
            body.insert("errors_total".to_owned(), json!(self.errors.len()));
        }
        Value::Object(body)
    }

    pub(crate) fn response(&self) -> HttpResponse {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        HttpResponse::build(status)
            .insert_header(("content-type", "application/problem+json"))
            .insert_header(("x-content-type-options", "nosniff"))
            .insert_header(("cache-control", "no-store"))
            .body(self.body().to_string())
    }
}
