//! The stored body of a notification.
//!
//! A header line `1 <snd_… or ->\n` (format version and send id), then the entry's JSON up to and
//! including the value of `trace_id`: reading appends `,"send":…}` and parses nothing. The worker
//! reads the same text back into [`Stored`].
use crate::clock::Millis;
use crate::notification::{Notification, Origin};
use bytes::Bytes;
use contract::content::MEDIA_PATH;
use contract::target::Scheme;
use contract::{
    ChannelName, ChoiceList, ChoiceOption, ChoiceSurface, Content, FormRequest, Location, MediaId,
    MediaItem, MediaSource, NotificationId, OptionSection, SendId, Surface, Template, Text, WebUrl,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The format this version writes.
const VERSION: &str = "1";

#[derive(Serialize)]
struct Written<'a> {
    id: &'a NotificationId,
    created_at: String,
    origin: &'static str,
    caller: Option<&'a str>,
    audience: Option<&'a str>,
    channel: Option<&'a ChannelName>,
    recipient: Option<&'a str>,
    message: &'a Text,
    media: Option<&'a [MediaItem]>,
    location: Option<&'a Location>,
    template: Option<&'a Template>,
    options: Option<&'a [ChoiceOption]>,
    sections: Option<&'a [OptionSection]>,
    header: Option<&'a MediaItem>,
    footer: Option<&'a Text>,
    schema: Option<Box<RawValue>>,
    data: Option<Box<RawValue>>,
    pages: Option<Box<RawValue>>,
    expires_at: Option<String>,
    metadata: Pairs<'a>,
    trace_id: &'a str,
}

/// Metadata in the caller's order.
struct Pairs<'a>(&'a [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

fn raw(text: Option<&String>) -> Option<Box<RawValue>> {
    text.and_then(|text| RawValue::from_string(text.clone()).ok())
}

/// Writes the stored body.
#[must_use]
pub fn encode(notification: &Notification, send: Option<&SendId>) -> Bytes {
    let content = &notification.content;
    let (choice, form, template) = match &content.surface {
        Surface::None => (None, None, None),
        Surface::Choice(choice) => (Some(choice), None, None),
        Surface::Form(form) => (None, Some(form), None),
        Surface::Template(template) => (None, None, Some(template)),
    };
    let written = Written {
        id: &notification.id,
        created_at: notification.created_at.rfc3339(),
        origin: notification.origin.as_str(),
        caller: notification.caller.as_deref(),
        audience: notification.audience.as_deref(),
        channel: notification.channel.as_ref(),
        recipient: notification.recipient.as_deref(),
        message: &content.message,
        media: (!content.media.is_empty()).then_some(&content.media),
        location: content.location.as_ref(),
        template,
        options: choice.and_then(|c| match &c.list {
            ChoiceList::Options(options) => Some(options.as_slice()),
            ChoiceList::Sections(_) => None,
        }),
        sections: choice.and_then(|c| match &c.list {
            ChoiceList::Options(_) => None,
            ChoiceList::Sections(sections) => Some(sections.as_slice()),
        }),
        header: choice.and_then(|c| c.header.as_ref()),
        footer: choice.and_then(|c| c.footer.as_ref()),
        schema: form.and_then(|f| raw(Some(&f.schema))),
        data: form.and_then(|f| raw(f.data.as_ref())),
        pages: form.and_then(|f| raw(f.pages.as_ref())),
        expires_at: notification.expires_at.map(Millis::rfc3339),
        metadata: Pairs(&notification.metadata),
        trace_id: &notification.trace_id,
    };
    let mut text = format!("{VERSION} {}\n", send.map_or("-", SendId::as_str)).into_bytes();
    // Nothing in the struct can fail to serialise: every map key is a string.
    let _ = serde_json::to_writer(&mut text, &written);
    text.pop();
    text.into()
}

/// The stored body split: its send and its JSON without the closing brace. `None` when the header
/// is of a version this one does not know.
#[must_use]
pub fn split(body: &[u8]) -> Option<(Option<SendId>, &str)> {
    let text = std::str::from_utf8(body).ok()?;
    let (header, json) = text.split_once('\n')?;
    let send = header.strip_prefix(VERSION)?.strip_prefix(' ')?;
    if !json.starts_with('{') {
        return None;
    }
    match send {
        "-" => Some((None, json)),
        id => Some((Some(SendId::parse(id)?), json)),
    }
}

/// A stored body read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// What was recorded.
    pub notification: Notification,
    /// Its send.
    pub send: Option<SendId>,
}

#[derive(Deserialize)]
struct Read {
    id: NotificationId,
    created_at: String,
    origin: String,
    caller: Option<String>,
    audience: Option<String>,
    channel: Option<ChannelName>,
    recipient: Option<String>,
    message: Text,
    media: Option<Vec<MediaItem<String>>>,
    location: Option<Location>,
    template: Option<Template<String>>,
    options: Option<Vec<ChoiceOption>>,
    sections: Option<Vec<OptionSection>>,
    header: Option<MediaItem<String>>,
    footer: Option<Text>,
    schema: Option<Box<RawValue>>,
    data: Option<Box<RawValue>>,
    pages: Option<Box<RawValue>>,
    expires_at: Option<String>,
    metadata: BTreeMap<String, String>,
    trace_id: String,
}

/// Reads a stored body back into what an adapter renders. `None`: it cannot be read.
#[must_use]
pub fn decode(body: &[u8], public_url: Option<&str>) -> Option<Stored> {
    let (send, json) = split(body)?;
    let mut text = String::with_capacity(json.len() + 1);
    text.push_str(json);
    text.push('}');
    let read: Read = serde_json::from_str(&text).ok()?;
    let source = |item: MediaItem<String>| prepared(item, public_url);
    let media: Option<Vec<MediaItem>> =
        read.media.unwrap_or_default().into_iter().map(source).collect();
    let header = match read.header {
        Some(item) => Some(source(item)?),
        None => None,
    };
    let template = match read.template {
        Some(template) => Some(Template {
            name: template.name,
            language: template.language,
            header_media: match template.header_media {
                Some(item) => Some(source(item)?),
                None => None,
            },
            body_parameters: template.body_parameters,
            buttons: template.buttons,
        }),
        None => None,
    };
    let list = read.options.map(ChoiceList::Options).or(read.sections.map(ChoiceList::Sections));
    let text_of = |raw: Box<RawValue>| raw.get().to_owned();
    let form = read.schema.map(|schema| FormRequest {
        schema: text_of(schema),
        data: read.data.map(text_of),
        pages: read.pages.map(text_of),
        form_tag: None,
    });
    let surface = match (list, form, template) {
        (Some(list), _, _) => Surface::Choice(ChoiceSurface { list, header, footer: read.footer }),
        (None, Some(form), _) => Surface::Form(form),
        (None, None, Some(template)) => Surface::Template(template),
        (None, None, None) => Surface::None,
    };
    Some(Stored {
        notification: Notification {
            id: read.id,
            created_at: millis(&read.created_at)?,
            origin: Origin::parse(&read.origin)?,
            caller: read.caller,
            audience: read.audience,
            channel: read.channel,
            recipient: read.recipient,
            content: Content {
                message: read.message,
                media: media?,
                location: read.location,
                surface,
            },
            expires_at: read.expires_at.as_deref().and_then(millis),
            metadata: read.metadata.into_iter().collect(),
            trace_id: read.trace_id,
        },
        send,
    })
}

fn millis(text: &str) -> Option<Millis> {
    text.parse::<jiff::Timestamp>().ok().map(|t| Millis(t.as_millisecond()))
}

fn prepared(item: MediaItem<String>, public_url: Option<&str>) -> Option<MediaItem> {
    let url = item.source;
    let relative = public_url.and_then(|origin| url.strip_prefix(origin)).unwrap_or(&url);
    let own = relative.strip_prefix(MEDIA_PATH).and_then(MediaId::parse);
    let source = match own {
        Some(id) => MediaSource::Own { id, url },
        None => MediaSource::Remote(WebUrl::parse(&url, Scheme::HttpOrHttps)?),
    };
    Some(MediaItem { kind: item.kind, source, caption: item.caption, filename: item.filename })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{MediaKind, ReplyOption};

    fn sample() -> Notification {
        let own = MediaId::parse(&format!("med_{}", "A".repeat(43))).unwrap();
        Notification {
            id: NotificationId::from_bits(7),
            created_at: Millis(1_796_061_600_000),
            origin: Origin::Caller,
            caller: Some("ops".to_owned()),
            audience: None,
            channel: ChannelName::parse("telegram"),
            recipient: Some("42".to_owned()),
            content: Content {
                message: Text::parse("Table \"for\" two?\n😀", 99).unwrap(),
                media: vec![MediaItem {
                    kind: MediaKind::Image,
                    source: MediaSource::Own { url: format!("{MEDIA_PATH}{own}"), id: own },
                    caption: None,
                    filename: None,
                }],
                location: None,
                surface: Surface::Choice(ChoiceSurface {
                    list: ChoiceList::Options(vec![ChoiceOption::Reply(ReplyOption {
                        text: contract::Line::parse("Yes", 9).unwrap(),
                        description: None,
                        id: None,
                    })]),
                    header: None,
                    footer: None,
                }),
            },
            expires_at: None,
            metadata: vec![("k".to_owned(), "v".to_owned())],
            trace_id: "ab".repeat(16),
        }
    }

    #[test]
    fn nt_65_the_body_ends_at_trace_id_and_reads_back() {
        let send = SendId::from_bits(9);
        let body = encode(&sample(), Some(&send));
        let (found, json) = split(&body).unwrap();
        assert_eq!(found.as_ref(), Some(&send));
        assert!(json.ends_with(&format!("\"trace_id\":\"{}\"", "ab".repeat(16))));
        let whole: serde_json::Value = serde_json::from_str(&format!("{json}}}")).unwrap();
        assert_eq!(whole["sections"], serde_json::Value::Null);
        assert_eq!(whole["metadata"]["k"], "v");
        assert_eq!(
            decode(&body, None).unwrap(),
            Stored { notification: sample(), send: Some(send) }
        );
    }

    #[test]
    fn nt_39_an_unknown_version_is_unreadable() {
        for bad in ["2 -\n{\"id\":1", "1 -{\"id\"", "", "1 snd_x\n{", "1 -\n["] {
            assert!(split(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
