//! The Bot API's room: `/telegram/bot<token>/<method>` and `/telegram/file/bot<token>/<path>`.
//!
//! A call is judged in the vendor's order: token, method, HTTP method, arguments, content, keyboard,
//! chat. The first thing wrong is the answer, in the vendor's words ([`answers`]). What passes is
//! delivered by an act that takes the chat's next message id ([`chats`]); the result is shaped like
//! the vendor's.
//!
//! - reading: [`request`] (arguments), [`text`], [`keyboard`], [`media`], [`photo`], [`place`];
//! - bounds: [`limits`], this room's own;
//! - registration: [`webhook`].
pub mod answers;
pub mod chats;
pub mod keyboard;
pub mod limits;
pub mod media;
pub mod photo;
pub mod place;
pub mod request;
pub mod text;
pub mod webhook;

use crate::entry::Entry;
use crate::mask::MASK;
use crate::received::{Head, Received, percent_decoded};
use crate::room::{Act, Answer, Done, Outcome, Outside, Room, Verdict};
use answers::{MessageBody, Refused, accepted, accepted_saying};
use async_trait::async_trait;
use chats::Memory;
use media::Kind;
use request::Arguments;
use serde_json::{Value, json};
use std::sync::Arc;
use text::Written;
use webhook::Webhook;

/// The vendor's methods that this room knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    GetMe,
    SetWebhook,
    GetWebhookInfo,
    Message,
    File(Kind),
    Location,
    Venue,
    AnswerCallbackQuery,
    GetFile,
}

const METHODS: [(&str, Method); 13] = [
    ("getMe", Method::GetMe),
    ("setWebhook", Method::SetWebhook),
    ("getWebhookInfo", Method::GetWebhookInfo),
    ("sendMessage", Method::Message),
    ("sendPhoto", Method::File(Kind::Photo)),
    ("sendAnimation", Method::File(Kind::Animation)),
    ("sendVideo", Method::File(Kind::Video)),
    ("sendAudio", Method::File(Kind::Audio)),
    ("sendDocument", Method::File(Kind::Document)),
    ("sendLocation", Method::Location),
    ("sendVenue", Method::Venue),
    ("answerCallbackQuery", Method::AnswerCallbackQuery),
    ("getFile", Method::GetFile),
];

/// What a record shows as the call of a file download.
const DOWNLOAD: &str = "file";

/// Letters of an unknown method that a record shows.
const SHOWN_METHOD: usize = 64;

/// What a path asks for.
enum Asked {
    Call { token: String, method: String },
    Download { token: String, path: String },
    Nothing,
}

fn asked(head: &Head) -> Asked {
    let segments = head.segments();
    match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [bot, method] if bot.starts_with("bot") => {
            Asked::Call { token: bot[3..].to_owned(), method: (*method).to_owned() }
        }
        ["file", bot, path @ ..] if bot.starts_with("bot") && !path.is_empty() => {
            Asked::Download { token: bot[3..].to_owned(), path: path.join("/") }
        }
        _ => Asked::Nothing,
    }
}

fn method(name: &str) -> Option<(&'static str, Method)> {
    METHODS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// The room.
pub struct Telegram {
    tokens: Vec<String>,
    memory: Arc<Memory>,
}

impl Telegram {
    /// Knows these bots, by their tokens.
    #[must_use]
    pub fn new(tokens: &[String]) -> Self {
        Self { tokens: tokens.to_vec(), memory: Arc::default() }
    }

    fn known(&self, token: &str) -> Result<(), Refused> {
        let known = self.tokens.iter().any(|own| own == token);
        known.then_some(()).ok_or_else(Refused::unauthorized)
    }

    async fn answer(&self, request: &Received, outside: Outside<'_>) -> Result<Verdict, Refused> {
        match asked(&request.head) {
            Asked::Call { token, method: name } => {
                self.known(&token)?;
                let (_, method) = method(&name).ok_or_else(Refused::not_found)?;
                if !matches!(request.head.method.as_str(), "GET" | "POST") {
                    return Err(Refused::not_implemented());
                }
                if request.oversize {
                    return Err(Refused::too_large());
                }
                let arguments = Arguments::read(request)?;
                self.call(&token, method, &arguments, outside).await
            }
            Asked::Download { token, path } => {
                self.known(&token)?;
                let bytes = media::download(&path, outside).ok_or_else(Refused::not_found)?;
                Ok(Verdict::answer(Answer::bytes("application/octet-stream", bytes)))
            }
            Asked::Nothing => Err(Refused::not_found()),
        }
    }

    async fn call(
        &self,
        token: &str,
        method: Method,
        arguments: &Arguments<'_>,
        outside: Outside<'_>,
    ) -> Result<Verdict, Refused> {
        let known = |result: &Value| Ok(Verdict::answer(accepted(result)));
        let bot = answers::bot_id(token).to_string();
        let (body, media) = match method {
            Method::GetMe => return known(&answers::bot(token, true)),
            Method::GetWebhookInfo => return known(&self.memory.webhook(&bot).shown()),
            Method::GetFile => return known(&media::get_file(arguments, outside)?),
            Method::AnswerCallbackQuery => {
                tap_answered(arguments)?;
                return known(&json!(true));
            }
            Method::SetWebhook => {
                let outcome = Outcome::Taken(self.register(bot, arguments)?);
                return Ok(Verdict { media: Vec::new(), outcome });
            }
            Method::Message => (message(arguments)?, None),
            Method::Location => (place::location(arguments)?, None),
            Method::Venue => (place::venue(arguments)?, None),
            Method::File(kind) => {
                let caption = text::caption(arguments)?;
                let taken = media::file(arguments, kind, outside).await?;
                let mut body = MessageBody::new();
                body.insert(kind.field().to_owned(), taken.shown.shown(kind.field()));
                written(&mut body, "caption", "caption_entities", caption);
                (body, taken.seen)
            }
        };
        let act = self.deliver(token, arguments, body)?;
        Ok(Verdict { media: media.into_iter().collect(), outcome: Outcome::Taken(act) })
    }

    /// What every message has besides its content, and the act that gives it its id.
    fn deliver(
        &self,
        token: &str,
        arguments: &Arguments<'_>,
        mut body: MessageBody,
    ) -> Result<Act, Refused> {
        let keyboard = keyboard::keyboard(arguments)?;
        let chat = chats::chat(arguments)?;
        if let Some(thread) = chats::thread(arguments)? {
            body.insert("message_thread_id".to_owned(), json!(thread));
            body.insert("is_topic_message".to_owned(), json!(true));
        }
        if let Some(id) = self.memory.reply(arguments, chat.id)? {
            let replied = json!({ "message_id": id, "chat": chat.shown(), "date": 0 });
            body.insert("reply_to_message".to_owned(), replied);
        }
        if let Some(keyboard) = keyboard {
            body.insert("reply_markup".to_owned(), keyboard);
        }
        let (memory, bot) = (Arc::clone(&self.memory), answers::bot(token, false));
        Ok(Box::new(move |date| {
            let id = memory.next(chat.id);
            let message = answers::message(id, bot, &chat, date, body);
            Done {
                answer: accepted(&message),
                result: Some(json!({ "message_id": id, "chat_id": chat.id })),
            }
        }))
    }

    fn register(&self, bot: String, arguments: &Arguments<'_>) -> Result<Act, Refused> {
        let before = self.memory.webhook(&bot);
        let webhook = Webhook::read(arguments, &before)?;
        let said = match (webhook.url.is_empty(), before.url.is_empty()) {
            (false, _) => "Webhook was set",
            (true, false) => "Webhook was deleted",
            (true, true) => "Webhook is already deleted",
        };
        let memory = Arc::clone(&self.memory);
        Ok(Box::new(move |_| {
            let result = json!({ "bot": bot, "webhook": webhook.shown() });
            memory.register(&bot, webhook);
            Done { answer: accepted_saying(&json!(true), said), result: Some(result) }
        }))
    }
}

fn message(arguments: &Arguments<'_>) -> Result<MessageBody, Refused> {
    let mut body = MessageBody::new();
    written(&mut body, "text", "entities", Some(text::message_text(arguments)?));
    let options = arguments.json("link_preview_options", "link preview options")?;
    match options {
        None => {}
        Some(Value::Object(options)) => {
            if options.get("is_disabled").is_some_and(|flag| !flag.is_boolean()) {
                return Err(Refused::bad("field \"is_disabled\" must be of type Boolean"));
            }
            body.insert("link_preview_options".to_owned(), Value::Object(options));
        }
        Some(_) => return Err(Refused::bad("can't parse link preview options JSON object")),
    }
    Ok(body)
}

fn written(body: &mut MessageBody, text: &str, entities: &str, written: Option<Written>) {
    let Some(written) = written else { return };
    body.insert(text.to_owned(), json!(written.text));
    if !written.entities.is_empty() {
        body.insert(entities.to_owned(), Value::Array(written.entities));
    }
}

/// Any tap is young enough to be answered; its id must be one.
fn tap_answered(arguments: &Arguments<'_>) -> Result<(), Refused> {
    let id = arguments.text("callback_query_id").and_then(|id| id.parse::<i64>().ok());
    if id.is_none_or(|id| id == 0) {
        let what = "query is too old and response timeout expired or query ID is invalid";
        return Err(Refused::bad(what));
    }
    let notice = arguments.text("text").unwrap_or_default();
    if notice.chars().count() > limits::NOTICE_CHARS {
        return Err(Refused::bad("MESSAGE_TOO_LONG"));
    }
    Ok(())
}

#[async_trait]
impl Room for Telegram {
    fn prefix(&self) -> &'static str {
        "telegram"
    }

    fn medium(&self) -> &'static str {
        "telegram"
    }

    fn call(&self, head: &Head) -> Option<String> {
        match asked(head) {
            Asked::Call { method: name, .. } => Some(match method(&name) {
                Some((known, _)) => known.to_owned(),
                None => name.chars().take(SHOWN_METHOD).collect(),
            }),
            Asked::Download { .. } => Some(DOWNLOAD.to_owned()),
            Asked::Nothing => None,
        }
    }

    fn shown_path(&self, path: &str) -> String {
        let shown = path.split('/').enumerate().map(|(at, segment)| {
            let token = (2..=3).contains(&at) && percent_decoded(segment).starts_with("bot");
            if token { format!("bot{MASK}") } else { segment.to_owned() }
        });
        shown.collect::<Vec<_>>().join("/")
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &["secret_token"]
    }

    fn chat(&self, request: &Received) -> Option<String> {
        let arguments = Arguments::read(request).ok()?;
        arguments.text("chat_id").map(str::to_owned)
    }

    async fn judge(&self, request: &Received, outside: Outside<'_>) -> Verdict {
        let judged = self.answer(request, outside).await;
        judged.unwrap_or_else(|refused| Verdict::answer(refused.answer()))
    }

    fn snapshot(&self) -> Value {
        self.memory.snapshot()
    }

    fn restore(&self, snapshot: &Value) {
        self.memory.restore(snapshot);
    }

    fn replay(&self, entry: &Entry) {
        let Some(result) = &entry.result else { return };
        if let (Some(chat), Some(id)) = (result["chat_id"].as_i64(), result["message_id"].as_u64())
        {
            self.memory.had(chat, id);
        }
        if let Some(bot) = result["bot"].as_str() {
            self.memory.register(bot, Webhook::from_shown(&result["webhook"]));
        }
    }
}
