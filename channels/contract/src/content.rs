//! What a person is to get, after the door has parsed it and media have been prepared.
//!
//! [`Content`] is what every adapter renders. Its parts serialise to the very shapes callers send
//! and the inbox shows; optional members are left out when absent.
use crate::ids::MediaId;
use crate::target::WebUrl;
use crate::text::{Filename, Line, Text, Token};
use serde::{Deserialize, Serialize};

/// Most options of a notification: flat, or rows summed over its sections.
pub const OPTIONS_MAX: usize = 10;
/// Most sections.
pub const SECTIONS_MAX: usize = 10;
/// Most media items.
pub const MEDIA_MAX: usize = 50;
/// Path that serves stored media; the id follows.
pub const MEDIA_PATH: &str = "/api/interactions/media/";

/// A notification's content as an adapter sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// Plain text; blank only when media or a location carry the notification.
    pub message: Text,
    /// In the caller's order.
    pub media: Vec<MediaItem>,
    /// A pin.
    pub location: Option<Location>,
    /// What the person can act on.
    pub surface: Surface,
}

/// The one interactive thing a notification may hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Surface {
    /// Nothing to act on.
    None,
    /// Options or sections, with what rides on them.
    Choice(ChoiceSurface),
    /// A form.
    Form(FormRequest),
    /// A template that the vendor approved; the medium gets it instead of the message.
    Template(Template),
}

/// Options or sections with the header and footer that ride on them.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceSurface {
    /// What can be chosen.
    pub list: ChoiceList,
    /// A file above the text.
    pub header: Option<MediaItem>,
    /// A line below it.
    pub footer: Option<Text>,
}

/// Flat options or titled sections, never both.
#[derive(Clone, Debug, PartialEq)]
pub enum ChoiceList {
    /// Replies and links, mixed.
    Options(Vec<ChoiceOption>),
    /// Titled groups of replies.
    Sections(Vec<OptionSection>),
}

/// One choice with its index over the whole notification: what a minted id names.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// 0-based, over all options or all rows in order.
    pub index: usize,
    /// Where it stands in the request, for degrades and problems.
    pub section: Option<usize>,
    /// Index inside its list.
    pub row: usize,
    /// The reply.
    pub reply: &'a ReplyOption,
}

impl Choice<'_> {
    /// The field path of this choice: `options[2]` or `sections[0].rows[1]`.
    #[must_use]
    pub fn path(&self) -> String {
        match self.section {
            Some(section) => format!("sections[{section}].rows[{}]", self.row),
            None => format!("options[{}]", self.row),
        }
    }
}

impl ChoiceList {
    /// Every reply with its index: links take part in the numbering of a flat list.
    #[must_use]
    pub fn replies(&self) -> Vec<Choice<'_>> {
        match self {
            Self::Options(options) => options
                .iter()
                .enumerate()
                .filter_map(|(index, option)| match option {
                    ChoiceOption::Reply(reply) => {
                        Some(Choice { index, section: None, row: index, reply })
                    }
                    ChoiceOption::Link(_) => None,
                })
                .collect(),
            Self::Sections(sections) => sections
                .iter()
                .enumerate()
                .flat_map(|(s, section)| {
                    section.rows.iter().enumerate().map(move |(r, reply)| (s, r, reply))
                })
                .enumerate()
                .map(|(index, (s, row, reply))| Choice { index, section: Some(s), row, reply })
                .collect(),
        }
    }
}

/// What kind of thing a media item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Any file.
    Document,
    /// A film.
    Video,
    /// Sound.
    Audio,
    /// A web address; not a file.
    Link,
}

impl MediaKind {
    /// As callers write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Link => "link",
        }
    }
}

/// One media item, header or template header. `S` is where its bytes are: a [`MediaSource`] once
/// prepared; the door has a type of its own before that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MediaItem<S = MediaSource> {
    /// What it is.
    pub kind: MediaKind,
    /// Where it is; on the wire the key is `url`.
    #[serde(rename = "url")]
    pub source: S,
    /// ≤ 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<Text>,
    /// Documents only, ≤ 255 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Filename>,
}

/// Where a prepared media item's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MediaSource {
    /// Stored by this gateway; `url` is the reference, absolute when a public address is known.
    Own {
        /// The stored bytes.
        id: MediaId,
        /// Relative or absolute reference to them.
        url: String,
    },
    /// Somewhere on the web.
    Remote(WebUrl),
}

impl MediaSource {
    /// The reference as text.
    #[must_use]
    pub fn url(&self) -> &str {
        match self {
            Self::Own { url, .. } => url,
            Self::Remote(url) => url.as_str(),
        }
    }
    /// The stored id when this gateway serves the bytes.
    #[must_use]
    pub fn own_id(&self) -> Option<&MediaId> {
        match self {
            Self::Own { id, .. } => Some(id),
            Self::Remote(_) => None,
        }
    }
}

impl Serialize for MediaSource {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.url())
    }
}

/// A pin. Coordinates are finite and inside their ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// −90…90.
    pub latitude: f64,
    /// −180…180.
    pub longitude: f64,
    /// ≤ 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Line>,
    /// ≤ 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Line>,
}

/// One entry of `options`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChoiceOption {
    /// Comes back to us when tapped.
    Reply(ReplyOption),
    /// Opens an address.
    Link(LinkOption),
}

/// A choice that comes back when tapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyOption {
    /// What the person reads and, tapping it, says. ≤ 1000 characters.
    pub text: Line,
    /// ≤ 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The author's own id, ≤ 256 characters; echoed exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Token>,
}

/// A choice that opens an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkOption {
    /// ≤ 1000 characters.
    pub label: Line,
    /// `http` or `https`.
    pub url: WebUrl,
}

/// A titled group of replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionSection {
    /// ≤ 1000 characters.
    pub title: Line,
    /// At least one.
    pub rows: Vec<ReplyOption>,
}

/// A message template approved by the vendor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template<S = MediaSource> {
    /// 1–512 characters.
    pub name: Token,
    /// 1–35 characters.
    pub language: Token,
    /// Absent: the template has no media header.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub header_media: Option<MediaItem<S>>,
    /// Positional, ≤ 100, each ≤ 4096 characters.
    #[serde(default)]
    pub body_parameters: Vec<Text>,
    /// Positional, ≤ 10.
    #[serde(default)]
    pub buttons: Vec<TemplateButton>,
}

fn none<T>() -> Option<T> {
    None
}

/// The argument of one template button.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TemplateButton {
    /// Comes back when tapped.
    QuickReply {
        /// ≤ 4096 characters.
        payload: Text,
    },
    /// Completes the button's address.
    Url {
        /// ≤ 4096 characters.
        url_parameter: Text,
    },
}

/// A form: its schema and what goes with it, as compact JSON texts whose key order is the
/// caller's. The form rules turn them into a model.
#[derive(Clone, Debug, PartialEq)]
pub struct FormRequest {
    /// The schema object.
    pub schema: String,
    /// `{values?, options?}`.
    pub data: Option<String>,
    /// A list of pages.
    pub pages: Option<String>,
    /// The author's correlation word; never shown.
    pub form_tag: Option<String>,
}
