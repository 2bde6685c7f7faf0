//! What an exchange looks like once nothing secret is left in it.
//!
//! [`exchange`] is the only way to an [`Exchange`]: headers pass an allow-list, file bytes and
//! `data:` payloads become their size and hash, every configured secret becomes
//! `[secret:<name>]` in each spelling it can travel in ([`spellings`]), and only then are bodies
//! cut, so that no cut leaves half a secret behind.
mod spellings;

pub use spellings::Redactor;

use crate::view;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use contract::{
    Body, Fetched, FileRef, MultipartValue, Resource, Secrets, SendFault, WebUrl, WireError,
    WireRequest, WireResult,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::Duration;

/// Most bytes kept of one body.
pub const BODY_MAX: usize = 20_000;

/// Headers every medium's log keeps; every other value is `[redacted]`.
pub const KEPT_HEADERS: &[&str] =
    &["content-type", "content-length", "retry-after", "date", "x-request-id"];

/// One body as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBody {
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Bytes cut off behind [`BODY_MAX`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub truncated_bytes: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// One exchange with a medium, safe to store and show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// `GET` or `POST`.
    pub method: String,
    /// Secrets in it are `[secret:<name>]`.
    pub url: String,
    /// In order; values outside the allow-list are `[redacted]`.
    pub request_headers: Vec<(String, String)>,
    /// What was sent; file bytes stand as their size and hash.
    pub request_body: KeptBody,
    /// HTTP status; absent without a response.
    pub status: Option<u16>,
    /// As the request's.
    pub response_headers: Vec<(String, String)>,
    /// What came back.
    pub response_body: KeptBody,
    /// Why there is no response.
    pub error: Option<String>,
    /// Milliseconds from the first try to connect to the last byte read.
    pub elapsed_ms: u64,
    /// Said beside it, such as that a fetch was answered by a stand-in.
    pub note: Option<String>,
}

impl Exchange {
    /// Without bodies, for an operator who keeps none.
    #[must_use]
    pub fn without_bodies(mut self) -> Self {
        self.request_body = KeptBody::default();
        self.response_body = KeptBody::default();
        self
    }
}

/// The exchange of a request with what it came to. `kept` are the medium's additions to
/// [`KEPT_HEADERS`].
#[must_use]
pub fn exchange(
    request: &WireRequest,
    resources: &[Resource],
    result: &WireResult,
    secrets: &Secrets,
    kept: &[&str],
    elapsed: Duration,
) -> Exchange {
    let redactor = Redactor::new(secrets);
    let own = request.headers.iter().map(|(n, v)| ((*n).to_owned(), v.expose(secrets)));
    let kind = view::content_type(&request.body, view::BOUNDARY)
        .map(|kind| ("content-type".to_owned(), kind));
    let (status, response_headers, response_body, error) = match result {
        Ok(response) => (
            Some(response.status),
            headers(response.headers.iter().cloned(), kept, &redactor),
            body(&String::from_utf8_lossy(&response.body), &redactor),
            None,
        ),
        Err(error) => (None, Vec::new(), KeptBody::default(), Some(error_text(error))),
    };
    Exchange {
        method: request.method.as_str().to_owned(),
        url: redactor.text(&request.url.expose(secrets)),
        request_headers: headers(own.chain(kind), kept, &redactor),
        request_body: body(&request_text(&request.body, resources), &redactor),
        status,
        response_headers,
        response_body,
        error,
        elapsed_ms: milliseconds(elapsed),
        note: None,
    }
}

/// The exchange of a media fetch. No byte of the file is kept.
#[must_use]
pub fn fetch_exchange(
    url: &WebUrl,
    result: &Result<Fetched, SendFault>,
    secrets: &Secrets,
    elapsed: Duration,
) -> Exchange {
    let (headers, text, error, note) = match result {
        Ok(fetched) => (
            vec![("content-type".to_owned(), fetched.content_type.clone())],
            digest(&fetched.bytes),
            None,
            fetched.note.map(str::to_owned),
        ),
        Err(fault) => {
            (Vec::new(), String::new(), Some(format!("{}: {}", fault.code, fault.detail)), None)
        }
    };
    Exchange {
        method: "GET".to_owned(),
        url: Redactor::new(secrets).text(&url.on_the_wire()),
        request_headers: Vec::new(),
        request_body: KeptBody::default(),
        status: error.is_none().then_some(200),
        response_headers: headers,
        response_body: KeptBody { text, truncated_bytes: 0 },
        error,
        elapsed_ms: milliseconds(elapsed),
        note,
    }
}

fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn error_text(error: &WireError) -> String {
    match error {
        WireError::Connect => "connect".to_owned(),
        WireError::Timeout => "timeout".to_owned(),
        WireError::Reset => "reset".to_owned(),
        WireError::Unreadable => "unreadable".to_owned(),
        WireError::Blocked { rule, key } => format!("blocked: {rule}; see {key}"),
    }
}

fn headers(
    pairs: impl Iterator<Item = (String, String)>,
    kept: &[&str],
    redactor: &Redactor,
) -> Vec<(String, String)> {
    pairs
        .map(|(name, value)| {
            let keep = KEPT_HEADERS.contains(&name.as_str()) || kept.contains(&name.as_str());
            let value = if keep { redactor.text(&value) } else { "[redacted]".to_owned() };
            (name, value)
        })
        .collect()
}

fn request_text(body: &Body, resources: &[Resource]) -> String {
    match body {
        Body::Empty => String::new(),
        Body::Json(text) => text.clone(),
        Body::Form(fields) => {
            let pairs = fields.iter().map(|f| (f.name.as_str(), f.value.as_str()));
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
        }
        Body::Multipart(fields) => {
            let mut text = String::new();
            for field in fields {
                let value = match &field.value {
                    MultipartValue::Text(value) => value.clone(),
                    MultipartValue::File { file, filename } => {
                        format!("{filename} {}", digest_of(*file, resources))
                    }
                };
                let _ = writeln!(text, "{}: {value}", field.name);
            }
            text
        }
    }
}

fn digest_of(file: FileRef, resources: &[Resource]) -> String {
    match resources.get(file.0) {
        Some(Resource::Bytes { bytes, .. }) => digest(bytes),
        Some(Resource::VendorId(_)) | None => "[no bytes]".to_owned(),
    }
}

/// `[n bytes, sha256 …]`.
fn digest(bytes: &Bytes) -> String {
    digest_text(bytes)
}

fn digest_text(bytes: &[u8]) -> String {
    let mut text = format!("[{} bytes, sha256 ", bytes.len());
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text.push(']');
    text
}

/// A body with `data:` payloads and secrets stood in for, cut to [`BODY_MAX`].
fn body(text: &str, redactor: &Redactor) -> KeptBody {
    let mut text = redactor.text(&without_data(text));
    let mut end = text.len().min(BODY_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let truncated_bytes = (text.len() - end) as u64;
    text.truncate(end);
    KeptBody { text, truncated_bytes }
}

/// Replaces the payload of every `data:…;base64,…` by its size and hash.
fn without_data(text: &str) -> String {
    const MARK: &str = ";base64,";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let start = at + MARK.len();
        let is_data = rest[..at].rfind("data:").is_some_and(|d| at - d < 100);
        let end = rest[start..].find(|c| !is_base64(c)).map_or(rest.len(), |n| start + n);
        out.push_str(&rest[..start]);
        if is_data {
            let payload = &rest[start..end];
            let bytes = STANDARD.decode(payload).unwrap_or_else(|_| payload.as_bytes().to_vec());
            out.push_str(&digest_text(&bytes));
        } else {
            out.push_str(&rest[start..end]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')
}

#[cfg(test)]
mod tests;
