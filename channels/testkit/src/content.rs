//! Content from the JSON that callers write, media taken as prepared.
//!
//! A media url `/api/interactions/media/med_…` (with or without an origin before it) is this
//! gateway's own; `<media:N>` is the literal of a preview. Bounds are the door's business: texts
//! pass by their class alone.
use contract::content::{MEDIA_PATH, OptionSection};
use contract::target::Scheme;
use contract::{
    ChoiceList, ChoiceOption, ChoiceSurface, Content, Filename, FormRequest, Location, MediaId,
    MediaItem, MediaKind, MediaSource, Surface, Template, Text, WebUrl,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mirror {
    message: String,
    #[serde(default)]
    media: Vec<Item>,
    location: Option<Location>,
    options: Option<Vec<ChoiceOption>>,
    sections: Option<Vec<Section>>,
    header: Option<Item>,
    footer: Option<Text>,
    template: Option<Template<String>>,
    schema: Option<Value>,
    data: Option<Value>,
    pages: Option<Value>,
    form_tag: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    kind: MediaKind,
    url: String,
    caption: Option<Text>,
    filename: Option<Filename>,
}

#[derive(Deserialize)]
struct Section {
    title: contract::Line,
    rows: Vec<contract::ReplyOption>,
}

impl From<Item> for MediaItem {
    fn from(item: Item) -> Self {
        Self {
            kind: item.kind,
            source: source(item.kind, &item.url),
            caption: item.caption,
            filename: item.filename,
        }
    }
}

fn source(kind: MediaKind, url: &str) -> MediaSource {
    let own = url.find(MEDIA_PATH).and_then(|at| MediaId::parse(&url[at + MEDIA_PATH.len()..]));
    let literal = url.strip_prefix("<media:").and_then(|rest| rest.strip_suffix('>'));
    let literal = literal.and_then(|index| index.parse().ok()).map(MediaId::literal);
    if let Some(id) = own.or(literal) {
        return MediaSource::Own { id, url: url.to_owned() };
    }
    let scheme = if kind == MediaKind::Link { Scheme::HttpOrHttps } else { Scheme::Https };
    MediaSource::Remote(WebUrl::parse(url, scheme).unwrap_or_else(|| panic!("no url: {url}")))
}

/// The content that a caller's JSON stands for.
#[must_use]
pub fn content(json: &Value) -> Content {
    let mirror: Mirror = serde_json::from_value(json.clone())
        .unwrap_or_else(|problem| panic!("{problem} in {json}"));
    let message = Text::parse_or_blank(mirror.message.clone(), usize::MAX).expect("a text");
    let media: Vec<MediaItem> = mirror.media.into_iter().map(MediaItem::from).collect();
    let location = mirror.location;
    let list = match (mirror.options, mirror.sections) {
        (Some(options), None) => Some(ChoiceList::Options(options)),
        (None, Some(sections)) => Some(ChoiceList::Sections(
            sections
                .into_iter()
                .map(|section| OptionSection { title: section.title, rows: section.rows })
                .collect(),
        )),
        (None, None) => None,
        (Some(_), Some(_)) => panic!("options and sections in one content"),
    };
    let surface = if let Some(list) = list {
        let header = mirror.header.map(MediaItem::from);
        Surface::Choice(ChoiceSurface { list, header, footer: mirror.footer })
    } else if let Some(template) = mirror.template {
        Surface::Template(prepared(template))
    } else if let Some(schema) = mirror.schema {
        Surface::Form(FormRequest {
            schema: schema.to_string(),
            data: mirror.data.map(|data| data.to_string()),
            pages: mirror.pages.map(|pages| pages.to_string()),
            form_tag: mirror.form_tag,
        })
    } else {
        Surface::None
    };
    Content { message, media, location, surface }
}

fn prepared(template: Template<String>) -> Template {
    Template {
        name: template.name,
        language: template.language,
        header_media: template.header_media.map(|item| MediaItem {
            kind: item.kind,
            source: source(item.kind, &item.source),
            caption: item.caption,
            filename: item.filename,
        }),
        body_parameters: template.body_parameters,
        buttons: template.buttons,
    }
}
