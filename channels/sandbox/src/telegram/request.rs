//! A call's arguments, read the way the vendor reads them.
//!
//! Arguments may stand in the query, in a JSON object, in a form or in multipart parts, and arrive
//! as text all the same: a JSON string is its text, a number or a flag its letters, an object or a
//! list its JSON. What needs structure is parsed from that text again. So every check sees one
//! shape, whichever way the call was made.
use super::answers::Refused;
use crate::received::{Content, Part, Received};
use serde_json::Value;

/// The arguments of one call.
pub struct Arguments<'a> {
    texts: Vec<(String, String)>,
    files: Vec<&'a Part>,
}

impl<'a> Arguments<'a> {
    /// Reads them all.
    ///
    /// # Errors
    /// The body is not what its content type says.
    pub fn read(request: &'a Received) -> Result<Self, Refused> {
        let query = url::form_urlencoded::parse(request.head.query.as_bytes()).into_owned();
        let mut arguments = Self { texts: Vec::new(), files: Vec::new() };
        match &request.content {
            Content::Nothing => {}
            Content::Json(Value::Object(object)) => {
                arguments.texts.extend(
                    object.iter().filter_map(|(name, value)| {
                        text_of(value).map(|text| (name.clone(), text))
                    }),
                );
            }
            Content::Json(_) => return Err(Refused::bad("can't parse JSON: object expected")),
            Content::Form(pairs) => arguments.texts.extend(pairs.iter().cloned()),
            Content::Parts(parts) => {
                for part in parts {
                    match part.text() {
                        Some(text) => arguments.texts.push((part.name.clone(), text)),
                        None => arguments.files.push(part),
                    }
                }
            }
            Content::Other(_) => return Err(unreadable(request)),
        }
        arguments.texts.extend(query);
        Ok(arguments)
    }

    /// An argument's text; an empty one counts as absent.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(key, _)| key == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// A file part of that name.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&'a Part> {
        self.files.iter().find(|part| part.name == name).copied()
    }

    /// A flag: the vendor takes `true`, `yes` and `1`, whatever the case.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        let text = self.text(name).unwrap_or_default().to_ascii_lowercase();
        matches!(text.as_str(), "true" | "yes" | "1")
    }

    /// An argument that is JSON.
    ///
    /// # Errors
    /// It is not; `what` names it in the refusal.
    pub fn json(&self, name: &str, what: &str) -> Result<Option<Value>, Refused> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = serde_json::from_str(text);
        parsed.map(Some).map_err(|_| Refused::bad(format!("can't parse {what} JSON object")))
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Well-formed arguments never end up as plain bytes: this says what was wrong.
fn unreadable(request: &Received) -> Refused {
    let kind = request.head.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind {
        "application/json" => Refused::bad("can't parse JSON object"),
        "multipart/form-data" => Refused::bad("can't parse multipart form"),
        _ => Refused { status: 415, description: "Unsupported Media Type".to_owned() },
    }
}
