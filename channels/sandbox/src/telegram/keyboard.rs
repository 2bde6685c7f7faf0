//! Inline keyboards: `{"inline_keyboard":[[{text, callback_data | url}]]}`.
//!
//! One bad button makes the vendor refuse the whole message, and so it is here.
use super::answers::Refused;
use super::limits::{BUTTON_URL_CHARS, BUTTONS, CALLBACK_DATA_BYTES, ROW_BUTTONS};
use super::request::Arguments;
use serde_json::{Map, Value, json};
use url::{Host, Url};

/// What a button may do beside telling and linking; messages of this kind cannot carry it.
const OTHER_ACTIONS: [&str; 9] = [
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
    "request_contact",
];

/// The keyboard as the message shows it; `None` when there is none.
///
/// # Errors
/// The shape is not a keyboard's, or a button is bad.
pub fn keyboard(arguments: &Arguments<'_>) -> Result<Option<Value>, Refused> {
    let Some(markup) = arguments.json("reply_markup", "reply keyboard markup")? else {
        return Ok(None);
    };
    let Value::Object(markup) = markup else {
        return Err(Refused::bad("object expected as reply markup"));
    };
    // Other markups put keys under the person's own text field, which no one here can press.
    let rows = markup
        .get("inline_keyboard")
        .ok_or_else(|| Refused::bad("inline keyboard expected"))?
        .as_array()
        .ok_or_else(|| Refused::bad("field \"inline_keyboard\" must be of type Array"))?;
    let mut shown = Vec::new();
    let mut total = 0;
    for row in rows {
        let row = row.as_array().ok_or_else(|| {
            Refused::bad("can't parse inline keyboard: expected an Array of buttons")
        })?;
        total += row.len();
        if row.len() > ROW_BUTTONS || total > BUTTONS {
            return Err(Refused::bad("reply markup is too long"));
        }
        let buttons = row.iter().map(button).collect::<Result<Vec<_>, _>>()?;
        if !buttons.is_empty() {
            shown.push(Value::Array(buttons));
        }
    }
    Ok((!shown.is_empty()).then(|| json!({ "inline_keyboard": shown })))
}

fn button(value: &Value) -> Result<Value, Refused> {
    let parse = |what: &str| Refused::bad(format!("can't parse inline keyboard button: {what}"));
    let button = value.as_object().ok_or_else(|| parse("expected an Object"))?;
    match button.get("text") {
        None => return Err(parse("Can't find field \"text\"")),
        Some(Value::String(text)) if text.trim().is_empty() => {
            return Err(parse("Text must be non-empty"));
        }
        Some(Value::String(_)) => {}
        Some(_) => return Err(parse("Field \"text\" must be of type String")),
    }
    if OTHER_ACTIONS.iter().any(|action| button.contains_key(*action)) {
        return Err(Refused::bad("BUTTON_TYPE_INVALID"));
    }
    let tells = string(button, "callback_data", &parse)?;
    let links = string(button, "url", &parse)?;
    match (tells, links) {
        (Some(_), Some(_)) => Err(parse("exactly one action must be used")),
        (None, None) => Err(parse("Text buttons are unallowed in the inline keyboard")),
        (Some(told), None) if told.len() > CALLBACK_DATA_BYTES => {
            Err(Refused::bad("BUTTON_DATA_INVALID"))
        }
        (None, Some(url)) if !is_link(url) => Err(Refused::bad("BUTTON_URL_INVALID")),
        _ => Ok(value.clone()),
    }
}

/// A field's text; an empty one counts as absent.
fn string<'a>(
    button: &'a Map<String, Value>,
    name: &str,
    parse: &impl Fn(&str) -> Refused,
) -> Result<Option<&'a str>, Refused> {
    match button.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(parse(&format!("Field \"{name}\" must be of type String"))),
    }
}

/// An address that the vendor's clients can open: a host with a dot inside it, or an IP address.
fn is_link(text: &str) -> bool {
    if text.chars().count() > BUTTON_URL_CHARS || text.contains(char::is_whitespace) {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    match (url.scheme(), url.host()) {
        ("tg", Some(_)) => true,
        ("http" | "https", Some(Host::Domain(name))) => name.trim_matches('.').contains('.'),
        ("http" | "https", Some(Host::Ipv4(_) | Host::Ipv6(_))) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sb_8_only_links_that_a_phone_can_open() {
        let long = format!("https://ex.test/{}", "a".repeat(BUTTON_URL_CHARS - 16));
        for good in [
            "https://ex.test",
            "http://10.0.0.1/x",
            "https://[2001:db8::1]:8/",
            "tg://resolve?domain=x",
            "HTTPS://EX.test/ä",
            &long,
        ] {
            assert!(is_link(good), "{good}");
        }
        let longer = format!("{long}a");
        for bad in [
            "",
            "ex.test",
            "http://localhost:3000/x",
            "https://intranet/x",
            "https://intranet./",
            "ftp://ex.test",
            "mailto:a@ex.test",
            "https://ex.test/a b",
            "https://",
            &longer,
        ] {
            assert!(!is_link(bad), "{bad}");
        }
    }
}
