//! One request as it came, and how it is recorded.
//!
//! The head ([`Head`]) is known before a body byte is read. The body is read whole and understood
//! once by its content type ([`Content`]); rooms judge from that, and the record shows it.
use crate::entry::ShownPart;
use crate::files::Files;
use crate::mask::{self, MASK};
use crate::multipart;
pub use crate::multipart::Part;
use bytes::Bytes;
use serde_json::{Map, Value};
use std::io;

/// What stands before the body.
#[derive(Clone, Debug)]
pub struct Head {
    /// HTTP method, as sent.
    pub method: String,
    /// Path, as sent: percent-encoded.
    pub path: String,
    /// Query without its question mark; empty when there is none.
    pub query: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first header of that lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
    /// The segments of the path behind its first one, decoded.
    #[must_use]
    pub fn segments(&self) -> Vec<String> {
        self.path.split('/').skip(2).map(percent_decoded).collect()
    }
    /// The headers as the record shows them: repeats joined, credentials masked.
    #[must_use]
    pub(crate) fn shown_headers(&self) -> Map<String, Value> {
        let mut shown: Map<String, Value> = Map::new();
        for (name, value) in &self.headers {
            let value = mask::header(name, value);
            let text = match shown.get(name) {
                Some(Value::String(before)) => format!("{before}, {value}"),
                _ => value.to_owned(),
            };
            shown.insert(name.clone(), Value::String(text));
        }
        shown
    }
}

/// A body by what it says it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Nothing came, or it was not read.
    Nothing,
    /// JSON.
    Json(Value),
    /// A form's pairs, decoded, in order.
    Form(Vec<(String, String)>),
    /// Multipart.
    Parts(Vec<Part>),
    /// Anything else, and what is not well-formed under its type.
    Other(Bytes),
}

impl Content {
    /// Reads a body by its content type.
    #[must_use]
    pub fn read(content_type: &str, body: Bytes) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if body.is_empty() {
            return Self::Nothing;
        }
        match kind.as_str() {
            "application/json" => match serde_json::from_slice(&body) {
                Ok(value) => Self::Json(value),
                Err(_) => Self::Other(body),
            },
            "application/x-www-form-urlencoded" => {
                Self::Form(url::form_urlencoded::parse(&body).into_owned().collect())
            }
            "multipart/form-data" => {
                let read = multipart::boundary(content_type)
                    .and_then(|boundary| multipart::parts(&body, &boundary));
                read.map_or(Self::Other(body), Self::Parts)
            }
            _ => Self::Other(body),
        }
    }
}

/// A whole request.
#[derive(Clone, Debug)]
pub struct Received {
    /// What stood before the body.
    pub head: Head,
    /// The body.
    pub content: Content,
    /// The body was over the bound and thrown away.
    pub oversize: bool,
}

/// The body as the record shows it: one of the three, JSON or text in `body`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShownContent {
    pub body: Option<Value>,
    pub form: Option<Vec<(String, String)>>,
    pub parts: Option<Vec<ShownPart>>,
}

impl ShownContent {
    pub fn unread() -> Self {
        Self { body: Some(Value::Null), form: None, parts: None }
    }
}

impl Received {
    /// How the record shows the body. Uploads are stored; a field named in `secret` is masked.
    ///
    /// # Errors
    /// An upload could not be stored.
    pub(crate) fn shown(&self, files: &Files, secret: &[&str]) -> io::Result<ShownContent> {
        let mut shown = ShownContent { body: None, form: None, parts: None };
        match &self.content {
            Content::Nothing => return Ok(ShownContent::unread()),
            Content::Json(value) => shown.body = Some(without(value, secret)),
            Content::Other(bytes) => {
                shown.body = Some(Value::String(String::from_utf8_lossy(bytes).into_owned()));
            }
            Content::Form(pairs) => {
                let pair = |(name, value): &(String, String)| {
                    let hidden = secret.contains(&name.as_str());
                    (name.clone(), if hidden { MASK.to_owned() } else { value.clone() })
                };
                shown.form = Some(pairs.iter().map(pair).collect());
            }
            Content::Parts(parts) => {
                let list = parts.iter().map(|part| shown_part(part, files, secret));
                shown.parts = Some(list.collect::<io::Result<_>>()?);
            }
        }
        Ok(shown)
    }
}

fn without(value: &Value, secret: &[&str]) -> Value {
    let mut value = value.clone();
    if let Value::Object(object) = &mut value {
        for name in secret {
            if let Some(held) = object.get_mut(*name) {
                *held = Value::String(MASK.to_owned());
            }
        }
    }
    value
}

fn shown_part(part: &Part, files: &Files, secret: &[&str]) -> io::Result<ShownPart> {
    let mut shown = ShownPart { name: part.name.clone(), ..ShownPart::default() };
    if let Some(text) = part.text() {
        let hidden = secret.contains(&part.name.as_str());
        shown.value = Some(if hidden { MASK.to_owned() } else { text });
        return Ok(shown);
    }
    shown.filename.clone_from(&part.filename);
    shown.content_type.clone_from(&part.content_type);
    shown.size = Some(part.bytes.len() as u64);
    shown.sha256 = Some(files.put(&part.bytes)?);
    Ok(shown)
}

/// A path segment without its percent-encoding; what is not well-formed stays as it is.
#[must_use]
pub(crate) fn percent_decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if let [b'%', high, low, ..] = &bytes[at..]
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            out.push(high * 16 + low);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_decoded_and_bad_escapes_kept() {
        let head = Head {
            method: "GET".into(),
            path: "/telegram/bot1%3Ax/a%2fb/%zz%+1%4/%".into(),
            query: String::new(),
            headers: vec![
                ("a".into(), "1".into()),
                ("authorization".into(), "x".into()),
                ("a".into(), "2".into()),
            ],
        };
        assert_eq!(head.segments(), ["bot1:x", "a/b", "%zz%+1%4", "%"]);
        assert_eq!(
            Value::Object(head.shown_headers()).to_string(),
            r#"{"a":"1, 2","authorization":"***"}"#
        );
    }

    #[test]
    fn a_body_is_what_its_type_says_or_bytes() {
        let read = |kind: &str, body: &'static str| {
            Content::read(kind, Bytes::from_static(body.as_bytes()))
        };
        assert_eq!(
            read("Application/JSON; charset=utf-8", "[1]"),
            Content::Json(serde_json::json!([1]))
        );
        assert_eq!(read("application/json", "[1"), Content::Other(Bytes::from_static(b"[1")));
        assert_eq!(
            read("application/x-www-form-urlencoded", "a=b+c&a="),
            Content::Form(vec![("a".into(), "b c".into()), ("a".into(), String::new())])
        );
        assert_eq!(read("multipart/form-data", "x"), Content::Other(Bytes::from_static(b"x")));
        assert_eq!(read("application/json", ""), Content::Nothing);
    }
}
