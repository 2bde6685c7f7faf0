//! The one JSON picture of a request: what preview shows and golden files hold.
//!
//! A view is `{method, url, headers, body, facts}`. It is built from the very [`WireRequest`] that
//! is sent; only secrets, bytes and the multipart boundary are stood in for. Bodies keep their
//! order: JSON as it is, a form as a list of `[name, value]`, multipart as a list of fields.
use contract::{
    Body, Facts, FormField, Frame, MultipartField, MultipartValue, Need, Part, Payload, Sealed,
    WireRequest,
};
use serde_json::{Map, Value, json};

/// Stands in for the random boundary of a multipart body.
pub const BOUNDARY: &str = "<boundary>";

/// What stands where a secret is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// `***`: previews.
    Hidden,
    /// `{{name}}`: golden files.
    Named,
}

impl Mask {
    /// The text with its secrets stood in for.
    #[must_use]
    pub fn text(self, sealed: &Sealed) -> String {
        match self {
            Self::Hidden => sealed.masked(),
            Self::Named => sealed.named(),
        }
    }
}

/// A request with its facts; `needs` say what provides the files of a multipart body.
#[must_use]
pub fn request_view(request: &WireRequest, needs: &[Need], facts: &Facts, mask: Mask) -> Value {
    with_facts(bare_view(request, needs, mask), facts)
}

/// A request as `{method, url, headers, body}`.
#[must_use]
pub fn bare_view(request: &WireRequest, needs: &[Need], mask: Mask) -> Value {
    json!({
        "method": request.method.as_str(),
        "url": mask.text(&request.url),
        "headers": headers(request, mask),
        "body": body(&request.body, needs),
    })
}

/// A frame of a medium that is this gateway itself.
#[must_use]
pub fn frame_view(frame: &Frame, url: &str) -> Value {
    json!({ "method": "APPEND", "url": url, "headers": {}, "body": json_or_text(&frame.json) })
}

/// Every request a part makes, in order: its preparations, then its own with its facts. Stored
/// bytes make no request. `frame_url` is where a frame is appended.
#[must_use]
pub fn part_views(part: &Part, frame_url: &str, mask: Mask) -> Vec<Value> {
    let mut views = Vec::new();
    preparations(&part.needs, mask, &mut views);
    views.push(match &part.payload {
        Payload::Request(request) => request_view(request, &part.needs, &part.facts, mask),
        Payload::Frame(frame) => with_facts(frame_view(frame, frame_url), &part.facts),
    });
    views
}

fn preparations(needs: &[Need], mask: Mask, views: &mut Vec<Value>) {
    for need in needs {
        match need {
            Need::FetchMedia { url, .. } => views.push(with_facts(
                json!({ "method": "GET", "url": url.on_the_wire(), "headers": {}, "body": null }),
                &Facts::default(),
            )),
            Need::VendorUpload { request, needs } => {
                preparations(needs, mask, views);
                let uploads = uploads(request);
                let facts = Facts { uploads: (uploads > 0).then_some(uploads), ..Facts::default() };
                views.push(request_view(request, needs, &facts, mask));
            }
            // Stored bytes are read here; a Flow's requests depend on what is published already.
            Need::OwnMedia { .. } | Need::EnsureFlow { .. } => {}
        }
    }
}

/// How many files of a request carry bytes.
#[must_use]
pub fn uploads(request: &WireRequest) -> u32 {
    let Body::Multipart(fields) = &request.body else { return 0 };
    let files = fields.iter().filter(|f| matches!(f.value, MultipartValue::File { .. }));
    u32::try_from(files.count()).unwrap_or(u32::MAX)
}

/// The content type that goes with a body, `boundary` in the place of a multipart's own.
#[must_use]
pub fn content_type(body: &Body, boundary: &str) -> Option<String> {
    match body {
        Body::Empty => None,
        Body::Json(_) => Some("application/json".to_owned()),
        Body::Form(_) => Some("application/x-www-form-urlencoded".to_owned()),
        Body::Multipart(_) => Some(format!("multipart/form-data; boundary={boundary}")),
    }
}

fn headers(request: &WireRequest, mask: Mask) -> Map<String, Value> {
    let own = request.headers.iter().map(|(name, value)| ((*name).to_owned(), mask.text(value)));
    let kind = content_type(&request.body, BOUNDARY).map(|t| ("content-type".to_owned(), t));
    own.chain(kind).map(|(name, value)| (name, Value::String(value))).collect()
}

fn body(body: &Body, needs: &[Need]) -> Value {
    match body {
        Body::Empty => Value::Null,
        Body::Json(text) => json_or_text(text),
        Body::Form(fields) => fields.iter().map(pair).collect(),
        Body::Multipart(fields) => fields.iter().map(|field| part_field(field, needs)).collect(),
    }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn pair(field: &FormField) -> Value {
    json!([field.name, field.value])
}

fn part_field(field: &MultipartField, needs: &[Need]) -> Value {
    match &field.value {
        MultipartValue::Text(text) => json!({ "name": field.name, "value": text }),
        MultipartValue::File { file, filename } => json!({
            "name": field.name,
            "filename": filename,
            "bytes_of": needs.get(file.0).map(need_view),
        }),
    }
}

/// A need as golden files and multipart views name it.
#[must_use]
pub fn need_view(need: &Need) -> Value {
    match need {
        Need::OwnMedia { id, max_bytes } => {
            json!({ "own_media": id.as_str(), "max_bytes": max_bytes })
        }
        Need::FetchMedia { url, max_bytes } => {
            json!({ "fetch_media": url.on_the_wire(), "max_bytes": max_bytes })
        }
        Need::VendorUpload { request, needs } => {
            json!({ "vendor_upload": bare_view(request, needs, Mask::Named) })
        }
        Need::EnsureFlow { hash, .. } => json!({ "ensure_flow": hash }),
    }
}

fn with_facts(mut view: Value, facts: &Facts) -> Value {
    if let Value::Object(members) = &mut view {
        let facts = serde_json::to_value(facts).unwrap_or_else(|_| json!({}));
        members.insert("facts".to_owned(), facts);
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::target::Scheme;
    use contract::{FileRef, MediaId, Method, PartKind, WebUrl};

    fn request(body: Body) -> WireRequest {
        WireRequest {
            method: Method::Post,
            url: Sealed::plain("https://api.test/bot").secret("bot_token").then("/send"),
            headers: vec![("authorization", Sealed::plain("Bearer ").secret("token"))],
            body,
        }
    }

    #[test]
    fn secrets_are_hidden_in_previews_and_named_in_golden_files() {
        let request = request(Body::Json(r#"{"b":1,"a":"{{token}}"}"#.to_owned()));
        let hidden = bare_view(&request, &[], Mask::Hidden).to_string();
        assert_eq!(
            hidden,
            r#"{"method":"POST","url":"https://api.test/bot***/send","headers":{"authorization":"Bearer ***","content-type":"application/json"},"body":{"b":1,"a":"{{token}}"}}"#
        );
        let named = bare_view(&request, &[], Mask::Named);
        assert_eq!(named["url"], "https://api.test/bot{{bot_token}}/send");
    }

    #[test]
    fn bodies_keep_order_and_repeats() {
        let field = |name: &str, value: &str| FormField { name: name.into(), value: value.into() };
        let form = Body::Form(vec![field("b", "1"), field("a", "2"), field("b", "3")]);
        let view = bare_view(&request(form), &[], Mask::Hidden);
        assert_eq!(view["body"].to_string(), r#"[["b","1"],["a","2"],["b","3"]]"#);
        assert_eq!(view["headers"]["content-type"], "application/x-www-form-urlencoded");
        assert_eq!(bare_view(&request(Body::Empty), &[], Mask::Hidden)["body"], Value::Null);
    }

    #[test]
    fn a_part_shows_its_fetch_first_and_names_where_bytes_come_from() {
        let url = WebUrl::parse("https://files.test/ä.docx", Scheme::Https).unwrap();
        let file = |file| MultipartField {
            name: "f0".to_owned(),
            value: MultipartValue::File { file: FileRef(file), filename: "a.docx".to_owned() },
        };
        let part = Part {
            kind: PartKind::Document,
            needs: vec![
                Need::FetchMedia { url, max_bytes: 5 },
                Need::OwnMedia { id: MediaId::literal(0), max_bytes: 5 },
            ],
            payload: Payload::Request(request(Body::Multipart(vec![file(0), file(1)]))),
            alternate: None,
            requests: 1,
            facts: Facts { uploads: Some(2), ..Facts::default() },
        };
        let views = part_views(&part, "", Mask::Hidden);
        assert_eq!(views.len(), 2);
        assert_eq!(views[0]["method"], "GET");
        assert_eq!(views[0]["url"], "https://files.test/%C3%A4.docx");
        assert_eq!(views[0]["facts"], json!({}));
        assert_eq!(views[1]["headers"]["content-type"], "multipart/form-data; boundary=<boundary>");
        assert_eq!(views[1]["facts"], json!({ "uploads": 2 }));
        let fields = &views[1]["body"];
        assert_eq!(fields[0]["bytes_of"]["fetch_media"], "https://files.test/%C3%A4.docx");
        assert_eq!(fields[1]["bytes_of"]["own_media"], "<media:0>");
    }

    #[test]
    fn a_frame_is_an_append() {
        let frame = Frame { event: "chat.message", json: r#"{"text":"hi"}"#.to_owned() };
        let view = frame_view(&frame, "/web/vis_x");
        assert_eq!(view["method"], "APPEND");
        assert_eq!(view["body"], json!({ "text": "hi" }));
    }
}
