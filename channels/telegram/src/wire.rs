//! The shapes on the wire: arguments of the methods we call, and what we read of the answers.
//!
//! One [`Arguments`] serves all sending methods: absent members are left out, and the order of the
//! members is the order on the wire. Answers are read leniently: every member is optional.
use crate::config::{Account, Chat, ChatId, TOKEN};
use contract::{
    Body, FileRef, Method, MultipartField, MultipartValue, Sealed, WireRequest, WireResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the one file a multipart request carries.
const FILE_FIELD: &str = "f0";

/// A method of the Bot API that sends one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Text.
    Message,
    /// A picture.
    Photo,
    /// A moving picture without sound.
    Animation,
    /// A film.
    Video,
    /// Music.
    Audio,
    /// Any file.
    Document,
    /// A pin.
    Location,
    /// A pin with a name and an address.
    Venue,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Self::Message => "sendMessage",
            Self::Photo => "sendPhoto",
            Self::Animation => "sendAnimation",
            Self::Video => "sendVideo",
            Self::Audio => "sendAudio",
            Self::Document => "sendDocument",
            Self::Location => "sendLocation",
            Self::Venue => "sendVenue",
        }
    }
}

/// The file argument; its name is the method's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum File {
    /// Of `sendPhoto`.
    Photo(String),
    /// Of `sendAnimation`.
    Animation(String),
    /// Of `sendVideo`.
    Video(String),
    /// Of `sendAudio`.
    Audio(String),
    /// Of `sendDocument`.
    Document(String),
}

impl File {
    /// The file argument of a call; `None` when it takes none.
    pub fn of(call: Call, value: String) -> Option<Self> {
        match call {
            Call::Photo => Some(Self::Photo(value)),
            Call::Animation => Some(Self::Animation(value)),
            Call::Video => Some(Self::Video(value)),
            Call::Audio => Some(Self::Audio(value)),
            Call::Document => Some(Self::Document(value)),
            Call::Message | Call::Location | Call::Venue => None,
        }
    }

    /// What stands in the argument when the file goes along.
    pub fn attached() -> String {
        format!("attach://{FILE_FIELD}")
    }
}

/// Formatting over a range of a text, in UTF-16 units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entity {
    /// How it looks.
    #[serde(rename = "type")]
    pub style: Style,
    /// Where it starts.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

/// The formatting this adapter adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Section titles.
    Bold,
    /// The footer.
    Italic,
}

/// One button; each stands in a row of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Button {
    /// What the person reads.
    pub text: String,
    /// What comes back when it is tapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_data: Option<String>,
    /// What it opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The keyboard under a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Keyboard {
    /// Rows of one button.
    pub inline_keyboard: Vec<[Button; 1]>,
}

/// Whether links in a text are previewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkPreview {
    /// They are not.
    pub is_disabled: bool,
}

/// The message a message answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplyParameters {
    /// Its id in the same chat.
    pub message_id: i64,
    /// The answer is sent even when the message is gone.
    pub allow_sending_without_reply: bool,
}

/// Arguments of a sending method.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arguments {
    /// Where it goes; filled in last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    /// The topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_thread_id: Option<i64>,
    /// Of `sendMessage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Over the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// Of `sendMessage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_preview_options: Option<LinkPreview>,
    /// Of the methods that send one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub file: Option<File>,
    /// Of a pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    /// Of a pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
    /// Of a named pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Of a named pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Under a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// Over the caption.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caption_entities: Vec<Entity>,
    /// Of `sendVideo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_streaming: Option<bool>,
    /// Of `sendDocument`: the file stays a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_content_type_detection: Option<bool>,
    /// The keyboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_markup: Option<Keyboard>,
    /// One buzz per notification: set on every part but the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_notification: Option<bool>,
    /// What it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_parameters: Option<ReplyParameters>,
}

/// The address of a method.
pub fn method_url(account: &Account, method: &str) -> Sealed {
    Sealed::plain(format!("{}/bot", account.base_url)).secret(TOKEN).then(format!("/{method}"))
}

/// A call as a request: JSON, or multipart when a file of that name goes along.
pub fn request(
    account: &Account,
    call: Call,
    arguments: &Arguments,
    upload: Option<&str>,
) -> WireRequest {
    let json = serde_json::to_value(arguments).unwrap_or_default();
    let body = match upload {
        None => Body::Json(json.to_string()),
        Some(filename) => Body::Multipart(multipart(&json, filename)),
    };
    let url = method_url(account, call.name());
    WireRequest { method: Method::Post, url, headers: Vec::new(), body }
}

fn multipart(json: &Value, filename: &str) -> Vec<MultipartField> {
    let field = |name: &str, value| MultipartField { name: name.to_owned(), value };
    let members = json.as_object().into_iter().flatten();
    let texts = members.map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        field(name, MultipartValue::Text(text))
    });
    let file = MultipartValue::File { file: FileRef(0), filename: filename.to_owned() };
    texts.chain([field(FILE_FIELD, file)]).collect()
}

/// Where a request was sent to, read back from its own body.
pub fn sent_to(request: &WireRequest) -> Option<Chat> {
    #[derive(Deserialize)]
    struct To {
        chat_id: Value,
        message_thread_id: Option<i64>,
    }
    let (chat, topic) = match &request.body {
        Body::Json(text) => {
            let to: To = serde_json::from_str(text).ok()?;
            (
                to.chat_id.as_str().map_or_else(|| to.chat_id.to_string(), str::to_owned),
                to.message_thread_id,
            )
        }
        Body::Multipart(fields) => {
            let text = |name: &str| {
                fields.iter().find(|f| f.name == name).and_then(|f| match &f.value {
                    MultipartValue::Text(text) => Some(text.clone()),
                    MultipartValue::File { .. } => None,
                })
            };
            (text("chat_id")?, text("message_thread_id").and_then(|t| t.parse().ok()))
        }
        Body::Empty | Body::Form(_) => return None,
    };
    Chat::parse(&chat).map(|chat| Chat { topic, ..chat })
}

/// What every answer holds.
#[derive(Debug, Default, Deserialize)]
pub struct Answer<T> {
    /// It worked.
    #[serde(default)]
    pub ok: bool,
    /// The vendor's status.
    pub error_code: Option<u16>,
    /// Why it did not work.
    pub description: Option<String>,
    /// What to do about it.
    pub parameters: Option<Parameters>,
    /// What came of it.
    pub result: Option<T>,
}

impl<'a, T: Deserialize<'a>> Answer<T> {
    /// Reads an answer's body; `None` when it is no answer of the Bot API.
    pub fn read(response: &'a WireResponse) -> Option<Self> {
        serde_json::from_slice(&response.body).ok()
    }
}

/// What an unsuccessful answer asks for.
#[derive(Debug, Default, Deserialize)]
pub struct Parameters {
    /// Seconds to wait.
    pub retry_after: Option<u64>,
    /// The chat's new id.
    pub migrate_to_chat_id: Option<i64>,
}

/// A message that was sent.
#[derive(Debug, Deserialize)]
pub struct Sent {
    /// Unique in its chat only.
    pub message_id: i64,
    /// Where it is.
    pub chat: SentChat,
}

/// The chat of a sent message.
#[derive(Debug, Deserialize)]
pub struct SentChat {
    /// Its id.
    pub id: i64,
}
