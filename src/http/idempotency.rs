//! `Idempotency-Key`: the first answer that carries ids is kept for a day and replayed.
//!
//! What is kept under a key is [`State`]: `opened` with the ids as soon as the notification is
//! recorded, `done` with the very answer once it is known. Refusals keep nothing.
use crate::problem::Refused;
use crate::store::Kept;
use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use contract::{NotificationId, SendId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A key as it is looked up: a hash over identity, route and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Names it in the store.
    pub hash: String,
    /// SHA-256 of the request body.
    pub fingerprint: [u8; 32],
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Recorded; the answer is read from the record.
    #[serde(rename = "o")]
    Opened {
        /// The notification.
        ntf: NotificationId,
        /// Its send.
        snd: Option<SendId>,
    },
    /// The answer.
    #[serde(rename = "d")]
    Done {
        /// HTTP status.
        status: u16,
        /// JSON text.
        body: String,
        /// Seconds of `Retry-After`.
        retry_after: Option<u64>,
    },
}

impl State {
    /// With the fingerprint that goes along.
    #[must_use]
    pub fn kept(&self, fingerprint: [u8; 32]) -> Kept {
        let state = rmp_serde::to_vec_named(self).unwrap_or_default();
        Kept { fingerprint, state: Bytes::from(state) }
    }
    /// Reads what is kept.
    #[must_use]
    pub fn read(state: &[u8]) -> Option<Self> {
        rmp_serde::from_slice(state).ok()
    }
}

/// Check 7: the header, when present, is 1–255 printable ASCII.
///
/// # Errors
/// 400 `bad_idempotency_key`.
pub fn header(request: &HttpRequest) -> Result<Option<String>, Refused> {
    let mut values = request.headers().get_all("idempotency-key");
    let Some(value) = values.next() else { return Ok(None) };
    let fine = values.next().is_none()
        && (1..=255).contains(&value.len())
        && value.as_bytes().iter().all(|b| (0x20..=0x7E).contains(b));
    if !fine {
        let detail = "Idempotency-Key must be one header of 1 to 255 printable ASCII characters.";
        return Err(Refused::new("bad_idempotency_key", detail));
    }
    Ok(value.to_str().ok().map(str::to_owned))
}

/// The key of a call.
#[must_use]
pub fn key(identity: &str, route: &str, key: &str, body: &[u8]) -> IdempotencyKey {
    let mut hasher = Sha256::new();
    for part in [identity, "\0", route, "\0", key] {
        hasher.update(part.as_bytes());
    }
    IdempotencyKey {
        hash: URL_SAFE_NO_PAD.encode(hasher.finalize()),
        fingerprint: Sha256::digest(body).into(),
    }
}

/// The 409.
#[must_use]
pub fn conflict() -> Refused {
    let detail = "This Idempotency-Key was used with another body; use a new key for a new call.";
    Refused::new("idempotency_conflict", detail)
}
