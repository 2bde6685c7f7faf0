//! Texts and captions: length in UTF-16 units, entities inside them.
//!
//! The vendor trims a text at both ends and counts what is left. Entities are counted in the text
//! as it was sent. It cuts a list of entities at the hundredth and passes over empty ones; here
//! both are refused, so that a test sees what would be lost.
use super::answers::Refused;
use super::limits::{CAPTION_UNITS, ENTITIES, TEXT_UNITS};
use super::request::Arguments;
use serde_json::{Value, json};

/// The kinds of entity. Bot API, `MessageEntity`.
const KINDS: [&str; 19] = [
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "blockquote",
    "expandable_blockquote",
    "code",
    "pre",
    "text_link",
    "text_mention",
    "custom_emoji",
];

/// What some kinds need beside their place.
const NEEDED: [(&str, &str); 3] =
    [("text_link", "url"), ("text_mention", "user"), ("custom_emoji", "custom_emoji_id")];

/// A text as the person gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Trimmed.
    pub text: String,
    /// With offsets into the trimmed text.
    pub entities: Vec<Value>,
}

/// The text of a message.
///
/// # Errors
/// Empty, too long, or with an entity that does not lie in it.
pub fn message_text(arguments: &Arguments<'_>) -> Result<Written, Refused> {
    let text = arguments.text("text").ok_or_else(|| Refused::bad("message text is empty"))?;
    let written = written(arguments, text, "entities")?;
    if written.text.is_empty() {
        return Err(Refused::bad("text must be non-empty"));
    }
    if units(&written.text) > TEXT_UNITS {
        return Err(Refused::bad("message is too long"));
    }
    Ok(written)
}

/// The caption of a file; `None` when nothing is left of it.
///
/// # Errors
/// Too long, or with an entity that does not lie in it.
pub fn caption(arguments: &Arguments<'_>) -> Result<Option<Written>, Refused> {
    let Some(text) = arguments.text("caption") else { return Ok(None) };
    let written = written(arguments, text, "caption_entities")?;
    if units(&written.text) > CAPTION_UNITS {
        return Err(Refused::bad("message caption is too long"));
    }
    Ok(Some(written).filter(|written| !written.text.is_empty()))
}

/// UTF-16 code units.
#[must_use]
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{200B}'
}

fn written(arguments: &Arguments<'_>, text: &str, field: &str) -> Result<Written, Refused> {
    if arguments.text("parse_mode").is_some_and(|mode| !mode.eq_ignore_ascii_case("none")) {
        // Reading markup would be repairing it: what this room does not draw it does not take.
        return Err(Refused::bad("can't parse entities: markup is not read here"));
    }
    let list = match arguments.json(field, "entities")? {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Refused::bad("can't parse entities: expected an Array")),
    };
    if list.len() > ENTITIES {
        return Err(Refused::bad("can't parse entities: too many entities"));
    }
    let start = text.len() - text.trim_start_matches(is_blank).len();
    let trimmed = text.trim_matches(is_blank);
    let skipped = units(&text[..start]);
    let entities = list.iter().map(|entity| {
        let (offset, length) = place(entity, text)?;
        let end = (offset + length).min(skipped + units(trimmed)).saturating_sub(skipped);
        let offset = offset.saturating_sub(skipped);
        let mut kept = entity.clone();
        kept["offset"] = json!(offset);
        kept["length"] = json!(end.saturating_sub(offset));
        Ok(kept)
    });
    let entities = entities.collect::<Result<_, Refused>>()?;
    Ok(Written { text: trimmed.to_owned(), entities })
}

/// Where an entity lies, in UTF-16 units of the text as it was sent.
fn place(entity: &Value, text: &str) -> Result<(usize, usize), Refused> {
    let parse = |what: String| Refused::bad(format!("can't parse MessageEntity: {what}"));
    let Value::Object(fields) = entity else {
        return Err(parse("expected an Object".to_owned()));
    };
    let number = |name: &str| {
        let value =
            fields.get(name).ok_or_else(|| parse(format!("Can't find field \"{name}\"")))?;
        value.as_i64().ok_or_else(|| parse(format!("Field \"{name}\" must be of type Number")))
    };
    let kind = fields.get("type").and_then(Value::as_str);
    let kind = kind.ok_or_else(|| parse("Can't find field \"type\"".to_owned()))?;
    let (offset, length) = (number("offset")?, number("length")?);
    if !KINDS.contains(&kind) {
        return Err(parse("Unsupported type specified".to_owned()));
    }
    if let Some((_, name)) = NEEDED.iter().find(|(needing, _)| *needing == kind)
        && !fields.contains_key(*name)
    {
        return Err(parse(format!("Can't find field \"{name}\"")));
    }
    let incorrect = |what: &str, number: i64| {
        Refused::bad(format!("receive an entity with incorrect {what} {number}"))
    };
    let from = usize::try_from(offset).map_err(|_| incorrect("offset", offset))?;
    let long = usize::try_from(length).ok().filter(|length| *length > 0);
    let long = long.ok_or_else(|| incorrect("length", length))?;
    inside(text, from, long)?;
    Ok((from, long))
}

/// Both ends of an entity must lie in the text, and on borders of characters.
fn inside(text: &str, from: usize, long: usize) -> Result<(), Refused> {
    let whole = units(text);
    if from > whole {
        return Err(Refused::bad(format!(
            "entity begins after the end of the text at UTF-16 offset {from}"
        )));
    }
    let end = from.saturating_add(long);
    if end > whole {
        return Err(Refused::bad(format!(
            "entity beginning at UTF-16 offset {from} ends after the end of the text at UTF-16 offset {end}"
        )));
    }
    if let Err(byte) = border(text, from) {
        return Err(Refused::bad(format!(
            "entity begins in a middle of a UTF-16 symbol at byte offset {byte}"
        )));
    }
    border(text, end).map_err(|byte| {
        Refused::bad(format!(
            "entity beginning at UTF-16 offset {from} ends in a middle of a UTF-16 symbol at byte offset {byte}"
        ))
    })
}

/// True where a character begins or the text ends; else the byte behind the character it cuts.
fn border(text: &str, offset: usize) -> Result<(), usize> {
    let mut at = 0;
    for (byte, c) in text.char_indices() {
        if at >= offset {
            return if at == offset { Ok(()) } else { Err(byte) };
        }
        at += c.len_utf16();
    }
    if at == offset { Ok(()) } else { Err(text.len()) }
}
