//! The numbers a medium sets, each with its unit.
use crate::capability::words;
use serde::{Deserialize, Serialize};

words!(
    /// A named bound of a medium.
    LimitName {
        Text = "text", TextParts = "text_parts", Caption = "caption",
        InteractiveBody = "interactive_body", Options = "options", OptionLabel = "option_label",
        ReplyId = "reply_id", RowDescription = "row_description", SectionTitle = "section_title",
        Footer = "footer", MediaItems = "media_items", ImageBytes = "image_bytes",
        VideoBytes = "video_bytes", AudioBytes = "audio_bytes", DocumentBytes = "document_bytes",
    }
);
words!(
    /// What a bound counts.
    Unit { Chars = "chars", Utf16 = "utf16", Bytes = "bytes", Items = "items" }
);

impl Unit {
    /// The size of a text in this unit; `Items` counts one.
    #[must_use]
    pub fn measure(self, text: &str) -> usize {
        match self {
            Self::Chars => text.chars().count(),
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Bytes => text.len(),
            Self::Items => 1,
        }
    }
}

/// A bound: at most `max` of `unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Largest value taken.
    pub max: u64,
    /// What is counted.
    pub unit: Unit,
}

impl Limit {
    /// `max` UTF-16 code units.
    #[must_use]
    pub const fn utf16(max: u64) -> Self {
        Self { max, unit: Unit::Utf16 }
    }
    /// `max` Unicode scalar values.
    #[must_use]
    pub const fn chars(max: u64) -> Self {
        Self { max, unit: Unit::Chars }
    }
    /// `max` bytes.
    #[must_use]
    pub const fn bytes(max: u64) -> Self {
        Self { max, unit: Unit::Bytes }
    }
    /// `max` things.
    #[must_use]
    pub const fn items(max: u64) -> Self {
        Self { max, unit: Unit::Items }
    }
    /// True when the text fits.
    #[must_use]
    pub fn admits(self, text: &str) -> bool {
        self.unit.measure(text) as u64 <= self.max
    }
}

/// The limits a descriptor shows; a medium without a bound of that name leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub Vec<(LimitName, Limit)>);

impl Limits {
    /// The bound of that name.
    #[must_use]
    pub fn get(&self, name: LimitName) -> Option<Limit> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, l)| *l)
    }
}
