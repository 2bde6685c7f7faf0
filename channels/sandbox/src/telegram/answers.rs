//! The vendor's answers: errors in its words, results in its shapes.
use super::chats::Chat;
use super::photo::Size;
use crate::room::Answer;
use serde_json::{Map, Value, json};

/// A refusal as the vendor words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// HTTP status and `error_code`.
    pub status: u16,
    /// `description`.
    pub description: String,
}

impl Refused {
    /// 400 `Bad Request: …`.
    #[must_use]
    pub fn bad(what: impl AsRef<str>) -> Self {
        Self { status: 400, description: format!("Bad Request: {}", what.as_ref()) }
    }
    /// 401.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self { status: 401, description: "Unauthorized".to_owned() }
    }
    /// 404.
    #[must_use]
    pub fn not_found() -> Self {
        Self { status: 404, description: "Not Found".to_owned() }
    }
    /// 413.
    #[must_use]
    pub fn too_large() -> Self {
        Self { status: 413, description: "Request Entity Too Large".to_owned() }
    }
    /// 501: neither GET nor POST.
    #[must_use]
    pub fn not_implemented() -> Self {
        Self { status: 501, description: "Not Implemented".to_owned() }
    }
    /// As an answer.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let body =
            json!({ "ok": false, "error_code": self.status, "description": self.description });
        Answer::json(self.status, &body)
    }
}

/// `{"ok":true,"result":…}`.
#[must_use]
pub fn accepted(result: &Value) -> Answer {
    Answer::json(200, &json!({ "ok": true, "result": result }))
}

/// The same with the sentence that some calls add.
#[must_use]
pub fn accepted_saying(result: &Value, description: &str) -> Answer {
    Answer::json(200, &json!({ "ok": true, "result": result, "description": description }))
}

/// The bot as `getMe` and messages show it; `full` adds what only `getMe` tells.
#[must_use]
pub fn bot(token: &str, full: bool) -> Value {
    let mut bot = json!({
        "id": bot_id(token),
        "is_bot": true,
        "first_name": "Tidings sandbox",
        "username": "tidings_sandbox_bot",
    });
    if full {
        bot["can_join_groups"] = json!(true);
        bot["can_read_all_group_messages"] = json!(false);
        bot["supports_inline_queries"] = json!(false);
    }
    bot
}

/// The digits before the token's colon.
#[must_use]
pub fn bot_id(token: &str) -> i64 {
    token.split(':').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// What a message holds beside its head; every entry goes into the result as it stands.
pub type MessageBody = Map<String, Value>;

/// A message as the vendor gives it back.
#[must_use]
pub fn message(id: u64, bot: Value, chat: &Chat, date: i64, body: MessageBody) -> Value {
    let mut message = Map::new();
    message.insert("message_id".to_owned(), json!(id));
    message.insert("from".to_owned(), bot);
    message.insert("chat".to_owned(), chat.shown());
    message.insert("date".to_owned(), json!(date));
    message.extend(body);
    Value::Object(message)
}

/// A file inside a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// The vendor's id for it.
    pub id: String,
    /// Its name, when it came with one.
    pub name: Option<String>,
    /// Its type, when it is known.
    pub content_type: Option<String>,
    /// Bytes, when they are known.
    pub bytes: Option<u64>,
    /// Pixels, when they are known.
    pub size: Option<Size>,
}

impl ShownFile {
    /// As the field of that name: a photo is a list of sizes, the rest one object.
    #[must_use]
    pub fn shown(&self, field: &str) -> Value {
        let mut file = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                file.insert(name.to_owned(), value);
            }
        };
        let photo = field == "photo";
        put("file_id", Some(json!(self.id)));
        put("file_unique_id", Some(json!(self.id.get(..16).unwrap_or(&self.id))));
        let size = self.size.unwrap_or(Size { width: 480, height: 300 });
        if matches!(field, "photo" | "video" | "animation") {
            put("width", Some(json!(size.width)));
            put("height", Some(json!(size.height)));
        }
        if matches!(field, "video" | "animation" | "audio") {
            put("duration", Some(json!(1)));
        }
        if !photo {
            put("file_name", self.name.as_ref().map(|name| json!(name)));
            put("mime_type", self.content_type.as_ref().map(|kind| json!(kind)));
        }
        put("file_size", self.bytes.map(|bytes| json!(bytes)));
        if photo { json!([file]) } else { Value::Object(file) }
    }
}
