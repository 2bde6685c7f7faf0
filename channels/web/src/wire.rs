//! The frame: one shape in the store, on the stream and in a preview. `id`, `dir` and `at` come
//! from the transcript. Never in a frame: the author's option id, metadata, caller, audience.
use serde::Serialize;

/// The event of a message frame.
pub const MESSAGE: &str = "chat.message";

/// A bubble: only what it has is present.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct MessageFrame<'a> {
    /// A file above everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<FileCard<'a>>,
    /// Files and links, in the caller's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<FileCard<'a>>,
    /// A pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<&'a contract::Location>,
    /// Plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// A flat choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionChip<'a>>,
    /// A choice in groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionCard<'a>>,
    /// A line below the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<&'a str>,
}

/// A file or a link.
#[derive(Debug, PartialEq, Serialize)]
pub struct FileCard<'a> {
    /// `image`, `video`, `audio`, `document`, `link`.
    pub kind: contract::MediaKind,
    /// Relative when this gateway serves it.
    pub url: String,
    /// What is said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caption: Option<&'a str>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<&'a str>,
}

/// One entry of a flat choice.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OptionChip<'a> {
    /// Posts its id.
    Reply(ReplyRow<'a>),
    /// Opens an address.
    Link {
        /// What is read.
        label: &'a str,
        /// Where it leads.
        url: &'a str,
    },
}

/// A reply with its minted id.
#[derive(Debug, PartialEq, Serialize)]
pub struct ReplyRow<'a> {
    /// `o:<send>:<index>`.
    pub id: String,
    /// What is read, and said by tapping.
    pub text: &'a str,
    /// A muted second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
}

/// A titled group.
#[derive(Debug, PartialEq, Serialize)]
pub struct SectionCard<'a> {
    /// Heading.
    pub title: &'a str,
    /// Its replies.
    pub rows: Vec<ReplyRow<'a>>,
}
