//! `POST /chat/{channel}/messages`: what the visitor types and taps.
use super::{link, origin, visitor};
use crate::chat::frame;
use crate::compose::json::Json;
use crate::conversation::inbound::Sender;
use crate::conversation::record::{Echo, Outcome, Said};
use crate::conversation::taps;
use crate::http::router::Call;
use crate::http::{body, reply};
use crate::problem::Refused;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use contract::inbound::InboundKind;
use contract::{Problem, VisitorId};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Most characters of a message.
const TEXT_MAX: usize = 8000;
/// How long a `client_message_id` is known.
const CLAIM: Duration = Duration::from_secs(72 * 3600);
/// Longest language tag kept.
const LOCALE_MAX: usize = 35;

/// What the visitor did.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Text(String),
    Tap(String),
}

/// A parsed body.
#[derive(Debug, PartialEq, Eq)]
struct Message {
    act: Act,
    client_message_id: String,
}

/// Records what the visitor said.
///
/// # Errors
/// 400, 401, 403, 404 `unknown_reply`, 409 `idempotency_conflict`, 413, 415, 429, 503.
pub async fn post(mut call: Call) -> Result<HttpResponse, Refused> {
    let own = origin::of(&call)?;
    let chat = visitor::chat(&call)?;
    origin::require_own(&call.request, &own)?;
    body::require_json(&call.request)?;
    if let Some(address) = visitor::bucket(&call) {
        call.app.rates.spend_post(address).map_err(visitor::rated)?;
    }
    let visitor = visitor::known(&call, &chat, &own).await?;
    let bytes = body::read(&mut call.payload, chat.page.body_max as usize).await?;
    let message = read(&bytes)?;
    let params = link::params(call.request.query_string())?;
    let said = said(&call, &chat, &visitor, message, params).await?;
    match call.app.recorder.record(&said).await? {
        Outcome::Recorded(id) => Ok(reply::value(202, &json!({ "id": id }))),
        Outcome::Conflict => Err(Refused::new(
            "idempotency_conflict",
            "This client_message_id was used for another message; use a new one.",
        )),
        Outcome::NoVisitor => Err(Refused::new(
            "visitor_session_missing",
            "The visitor's session has ended; open the chat page again.",
        )),
    }
}

async fn said(
    call: &Call,
    chat: &visitor::Chat,
    visitor: &VisitorId,
    message: Message,
    mut params: Vec<(String, String)>,
) -> Result<Said, Refused> {
    let channel = &chat.channel.name;
    let (fingerprint, kind, text, reply_to) = match message.act {
        Act::Text(text) => (format!("text {text}"), InboundKind::Message, text, None),
        Act::Tap(id) => {
            let outbox = &call.app.outbox;
            let tapped = taps::resolve(outbox, channel, visitor.as_str(), &id).await?;
            let tapped = tapped.ok_or_else(|| {
                Refused::new("unknown_reply", "There is no such choice in this chat any more.")
            })?;
            params.extend(tapped.params);
            (format!("tap {id}"), InboundKind::Tap, tapped.text, Some(tapped.reply_to))
        }
    };
    let sender =
        Sender { address: visitor.as_str().to_owned(), name: None, locale: locale(&call.request) };
    let key = format!("c:{visitor}:{}", message.client_message_id);
    let hash = crate::ids::hex(&Sha256::digest(fingerprint.as_bytes()));
    Ok(Said {
        channel: channel.clone(),
        medium: chat.channel.medium.clone(),
        kind,
        at: None,
        sender,
        echo: Some(Echo {
            visitor: visitor.clone(),
            frame: frame::incoming(&text, &message.client_message_id),
            keep: chat.page.transcript_max,
            ttl: chat.page.transcript_ttl,
        }),
        text,
        params,
        reply_to,
        claim: Some((key, CLAIM, hash)),
    })
}

/// The first language a browser prefers.
fn locale(request: &HttpRequest) -> Option<String> {
    let given = request.headers().get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    let tag = given.split([',', ';']).next()?.trim();
    let fine = (1..=LOCALE_MAX).contains(&tag.len())
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    fine.then(|| tag.to_owned())
}

/// Reads a body: exactly one of `text` and `reply_id`, and the client's own id.
fn read(bytes: &[u8]) -> Result<Message, Refused> {
    let entries = Json::object(bytes).map_err(|why| Refused::new("malformed_json", why))?;
    let mut problems = Vec::new();
    let (mut text, mut reply_id, mut client_message_id) = (None, None, None);
    for (name, value) in entries {
        let (field, place) = match name.as_str() {
            "text" => ("text", &mut text),
            "reply_id" => ("reply_id", &mut reply_id),
            "client_message_id" => ("client_message_id", &mut client_message_id),
            _ => {
                let detail = "known keys: text, reply_id, client_message_id";
                problems.push(Problem::new("", "unknown_field", detail));
                continue;
            }
        };
        match value {
            Json::Text(value) => *place = Some(value),
            _ => problems.push(Problem::new(field, "wrong_type", "must be a string")),
        }
    }
    if let Some(refused) = Refused::from_problems(std::mem::take(&mut problems)) {
        return Err(refused);
    }
    if !client_message_id.as_deref().is_some_and(is_client_id) {
        let (code, detail) = match client_message_id {
            None => ("required", "give an id of your own: 8 to 64 of A-Z a-z 0-9 _ -"),
            Some(_) => ("bad_format", "must be 8 to 64 of A-Z a-z 0-9 _ -"),
        };
        problems.push(Problem::new("client_message_id", code, detail));
    }
    let act = match (text, reply_id) {
        (Some(text), None) if contract::text::is_blank(&text) => {
            problems.push(Problem::new("text", "blank", "say something"));
            None
        }
        (Some(text), None) if text.chars().any(is_stray_control) => {
            let detail = "control characters are not taken, but tabs and line breaks are";
            problems.push(Problem::new("text", "bad_text", detail));
            None
        }
        (Some(text), None) if text.chars().count() > TEXT_MAX => {
            let detail = format!("at most {TEXT_MAX} characters");
            problems.push(Problem::new("text", "too_long", detail));
            None
        }
        (Some(text), None) => Some(Act::Text(text)),
        (None, Some(id)) => Some(Act::Tap(id)),
        (Some(_), Some(_)) => {
            let detail = "give text or reply_id, not both";
            problems.push(Problem::new("reply_id", "conflict", detail));
            None
        }
        (None, None) => {
            problems.push(Problem::new("text", "required", "give text or reply_id"));
            None
        }
    };
    match (act, client_message_id, Refused::from_problems(problems)) {
        (Some(act), Some(client_message_id), None) => Ok(Message { act, client_message_id }),
        (_, _, Some(refused)) => Err(refused),
        _ => Err(Refused::new("required", "The body says nothing.")),
    }
}

fn is_stray_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

fn is_client_id(text: &str) -> bool {
    (8..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_exactly_one_act_with_an_id_of_its_own() {
        let code = |body: &str| read(body.as_bytes()).map_err(|refused| refused.code);
        let message = |act| Ok(Message { act, client_message_id: "c-123456".to_owned() });
        assert_eq!(
            code(r#"{"text":" hi\n","client_message_id":"c-123456"}"#),
            message(Act::Text(" hi\n".into()))
        );
        assert_eq!(
            code(r#"{"reply_id":"o:x:0","client_message_id":"c-123456"}"#),
            message(Act::Tap("o:x:0".into()))
        );
        let long = format!(r#"{{"text":"{}","client_message_id":"c-123456"}}"#, "a".repeat(8001));
        for (body, wanted) in [
            ("[]", "malformed_json"),
            (r#"{"text":"a","text":"b","client_message_id":"c-123456"}"#, "malformed_json"),
            (r#"{"text":"a","form_tag":"x","client_message_id":"c-123456"}"#, "unknown_field"),
            (r#"{"text":1,"client_message_id":"c-123456"}"#, "wrong_type"),
            (r#"{"client_message_id":"c-123456"}"#, "required"),
            (r#"{"text":"a"}"#, "required"),
            (r#"{"text":"a","client_message_id":"short"}"#, "bad_format"),
            (r#"{"text":"a","client_message_id":"c 12345678"}"#, "bad_format"),
            (r#"{"text":" \n\u200b","client_message_id":"c-123456"}"#, "blank"),
            (r#"{"text":"a\u0000b","client_message_id":"c-123456"}"#, "bad_text"),
            (r#"{"text":"a","reply_id":"b","client_message_id":"c-123456"}"#, "conflict"),
            (&long, "too_long"),
        ] {
            assert_eq!(code(body), Err(wanted), "{body:.60}");
        }
    }
}
