//! What a room is: one vendor's API, imitated.
//!
//! A room is asked in steps, so that a script can act between them: which call a head makes, which
//! chat a request is for, what the vendor makes of it. The last step gives either an answer at once
//! (a refusal, or a call that changes nothing) or an [`Act`], which runs when the request gets its
//! number: there the message gets its id, in the order of the log.
//!
//! A room's state outlives a restart twice over: the kept requests are replayed, and what lies
//! before them is in the snapshot that the log carries.
use crate::entry::{Entry, Seen};
use crate::files::Files;
use crate::gateway::Gateway;
use crate::received::{Head, Received};
use crate::server::Settings;
use crate::telegram::Telegram;
use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;

/// Every room there is. A new one is a folder and a line here.
#[must_use]
pub fn rooms(settings: &Settings) -> Vec<Arc<dyn Room>> {
    vec![Arc::new(Telegram::new(&settings.telegram_tokens))]
}

/// An answer as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers beside the length.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Bytes,
}

impl Answer {
    /// A JSON answer.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: Bytes::from(body.to_string()) }
    }
    /// Bytes of a type.
    #[must_use]
    pub fn bytes(content_type: &str, body: Bytes) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status: 200, headers, body }
    }
    /// The body as the record shows it: JSON when it is, else text.
    #[must_use]
    pub(crate) fn shown(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.body).into_owned()))
    }
}

/// What a delivery came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The vendor's answer.
    pub answer: Answer,
    /// What the record shows of it, such as `{message_id}`.
    pub result: Option<Value>,
}

/// Delivers: runs under the log's lock, with the time in Unix seconds.
pub type Act = Box<dyn FnOnce(i64) -> Done + Send>;

/// What a room makes of a request.
pub enum Outcome {
    /// The answer is known and nothing is delivered.
    Answer(Answer),
    /// Taken: the act delivers.
    Taken(Act),
}

/// A judged request.
pub struct Verdict {
    /// Own media the room looked at.
    pub media: Vec<Seen>,
    /// What comes of it.
    pub outcome: Outcome,
}

impl Verdict {
    /// An answer without more.
    #[must_use]
    pub fn answer(answer: Answer) -> Self {
        Self { media: Vec::new(), outcome: Outcome::Answer(answer) }
    }
}

/// What a room may reach.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Own media.
    pub gateway: &'a Gateway,
    /// Bytes received so far.
    pub files: &'a Files,
}

/// One imitated vendor.
#[async_trait]
pub trait Room: Send + Sync {
    /// The first path segment of its routes.
    fn prefix(&self) -> &'static str;

    /// The medium's name in records and routes.
    fn medium(&self) -> &'static str;

    /// The vendor's method that a head calls; `None` where the path names none.
    fn call(&self, head: &Head) -> Option<String>;

    /// A path with its tokens masked.
    fn shown_path(&self, path: &str) -> String;

    /// Top-level fields of a body that hold secrets.
    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// The address a request is for, as it names it.
    fn chat(&self, request: &Received) -> Option<String>;

    /// Judges a request as the vendor does.
    async fn judge(&self, request: &Received, outside: Outside<'_>) -> Verdict;

    /// What must be known beyond the kept requests.
    fn snapshot(&self) -> Value;

    /// Takes up a snapshot at the start.
    fn restore(&self, snapshot: &Value);

    /// Takes up a kept request at the start, after the snapshot, oldest first.
    fn replay(&self, entry: &Entry);
}
