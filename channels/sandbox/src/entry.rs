//! One received request as the log keeps it and the control routes show it.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A part of a multipart body: text, or a file that is stored by its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPart {
    /// Field name.
    pub name: String,
    /// Text of a part that is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Its type, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// SHA-256 in lower-case hex; the bytes are at `/_/files/<sha256>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A medium's file that the room fetched from the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The address the request named.
    pub url: String,
    /// SHA-256 of the bytes, lower-case hex.
    pub sha256: String,
    /// The type the gateway gave.
    pub content_type: String,
}

/// One received request. Exactly one of `body`, `form` and `parts` is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number: from 1, without gaps.
    pub n: u64,
    /// When it was recorded, RFC 3339.
    pub at: String,
    /// The room it came to.
    pub medium: String,
    /// The vendor's method name; null where the path names none.
    pub call: Option<String>,
    /// The address it is for; null where it is for nobody.
    pub chat: Option<String>,
    /// HTTP method.
    pub method: String,
    /// Path and query, tokens masked.
    pub path: String,
    /// Headers, lower-case names, credentials masked.
    pub headers: Map<String, Value>,
    /// JSON or text; null when there was none or it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub body: Option<Value>,
    /// A form's pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Vec<(String, String)>>,
    /// A multipart body's parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<ShownPart>>,
    /// HTTP status given; null when the connection was cut.
    pub status: Option<u16>,
    /// What the room made of it: `{message_id}` for a message that was delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The answer, when it was an error or a script's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Own media that the room fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Seen>,
    /// False when a script kept the request from its room: nobody got it, nothing is drawn.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub drawn: bool,
}

/// A `null` that is there is a value: it says the body was empty or not read.
fn present<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
fn is_true(value: &bool) -> bool {
    *value
}
