//! The request of `notify_user` as a JSON schema, made from the same bounds the decoder checks.
use super::bounds as b;
use contract::content::{MEDIA_MAX, OPTIONS_MAX, SECTIONS_MAX};
use contract::target::URL_MAX;
use serde_json::{Value, json};

fn text(max: usize, about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": max, "description": about })
}

fn media_item(kinds: &[&str], about: &str) -> Value {
    json!({
        "type": "object",
        "description": about,
        "required": ["kind", "url"],
        "additionalProperties": false,
        "properties": {
            "kind": { "type": "string", "enum": kinds },
            "url": {
                "type": "string",
                "maxLength": b::DATA_URI,
                "description": format!(
                    "https (links also http, at most {URL_MAX} characters), a reference from \
                     POST /api/media, or for images a data: URI."
                ),
            },
            "caption": text(b::LABEL, "Shown with the item."),
            "filename": text(b::FILENAME, "Documents only."),
        },
    })
}

/// In a row the kind may be left out: only a reply can stand there.
fn reply_option(required: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": {
            "kind": { "const": "reply" },
            "text": text(b::LABEL, "What the person reads and, tapping it, says."),
            "description": text(b::LABEL, "A second line, where the medium has one."),
            "id": text(b::OPTION_ID, "Your own id; it comes back exactly with the tap."),
        },
    })
}

fn link_option() -> Value {
    json!({
        "type": "object",
        "required": ["kind", "label", "url"],
        "additionalProperties": false,
        "properties": {
            "kind": { "const": "link" },
            "label": text(b::LABEL, "What the person reads."),
            "url": { "type": "string", "maxLength": URL_MAX, "description": "http or https." },
        },
    })
}

fn location() -> Value {
    json!({
        "type": "object",
        "description": "A pin.",
        "required": ["latitude", "longitude"],
        "additionalProperties": false,
        "properties": {
            "latitude": { "type": "number", "minimum": -90, "maximum": 90 },
            "longitude": { "type": "number", "minimum": -180, "maximum": 180 },
            "name": text(b::LABEL, "Name of the place."),
            "address": text(b::LABEL, "Its address."),
        },
    })
}

fn template() -> Value {
    json!({
        "type": "object",
        "description": "A message template approved by the vendor, instead of free text.",
        "required": ["name", "language"],
        "additionalProperties": false,
        "properties": {
            "name": text(b::TEMPLATE_NAME, "Template name."),
            "language": text(b::TEMPLATE_LANGUAGE, "Template language."),
            "header_media": media_item(&["image", "document", "video", "audio"], "Media header."),
            "body_parameters": {
                "type": "array", "maxItems": b::TEMPLATE_PARAMETERS,
                "items": text(b::TEMPLATE_VALUE, "Positional parameter."),
            },
            "buttons": {
                "type": "array", "maxItems": b::TEMPLATE_BUTTONS,
                "items": { "oneOf": [
                    { "type": "object", "required": ["kind", "payload"],
                      "properties": { "kind": { "const": "quick_reply" },
                                      "payload": text(b::TEMPLATE_VALUE, "Comes back when tapped.") } },
                    { "type": "object", "required": ["kind", "url_parameter"],
                      "properties": { "kind": { "const": "url" },
                                      "url_parameter": text(b::TEMPLATE_VALUE, "Completes the url.") } },
                ] },
            },
        },
    })
}

/// The schema of the request.
#[must_use]
pub fn request() -> Value {
    let files = ["image", "document", "video", "audio"];
    let all = ["image", "document", "video", "audio", "link"];
    json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "message": { "type": "string", "maxLength": b::MESSAGE,
                "description": "Plain text; \"\" when media or a location say it all." },
            "channel": { "type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$",
                "description": "A registered channel; absent: the inbox alone." },
            "recipient": text(b::ADDRESS, "Address on the channel; absent: its default."),
            "audience": text(b::ADDRESS, "Identity whose inbox slice shows it."),
            "media": { "type": "array", "minItems": 1, "maxItems": MEDIA_MAX,
                "items": media_item(&all, "A file or a link."), "description": "Files and links." },
            "location": location(),
            "template": template(),
            "options": { "type": "array", "minItems": 1, "maxItems": OPTIONS_MAX,
                "items": { "oneOf": [reply_option(&["kind", "text"]), link_option()] },
                "description": "Choices; not with sections." },
            "sections": { "type": "array", "minItems": 1, "maxItems": SECTIONS_MAX,
                "description": format!("Titled choices, at most {OPTIONS_MAX} rows in all."),
                "items": { "type": "object", "required": ["title", "rows"],
                    "additionalProperties": false,
                    "properties": {
                        "title": text(b::LABEL, "Title of the group."),
                        "rows": { "type": "array", "minItems": 1, "items": reply_option(&["text"]) },
                    } } },
            "header": media_item(&files, "A file above the choices."),
            "footer": text(b::LABEL, "A line below the choices."),
            "schema": { "type": "object", "description": "A form's JSON schema." },
            "data": { "type": "object", "description": "A form's values and options." },
            "pages": { "type": "array", "minItems": 1, "maxItems": b::PAGES,
                "items": { "type": "object" }, "description": "A form's pages." },
            "form_tag": { "type": "string", "pattern": "^[A-Za-z0-9_.~-]{1,64}$",
                "description": "An opaque correlation word; no personal data." },
            "expires_at": { "type": "string", "format": "date-time",
                "description": "The send expires unless accepted by then; at most 7 days ahead." },
            "metadata": { "type": "object", "maxProperties": b::METADATA_PAIRS,
                "additionalProperties": { "type": "string", "maxLength": b::METADATA_VALUE },
                "description": "Your own pairs; returned, never sent to the medium." },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::request::FIELDS;

    #[test]
    fn every_field_of_the_decoder_is_published_and_no_other() {
        let schema = request();
        let published: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(published, FIELDS.iter().collect::<Vec<_>>());
    }
}
