//! What a medium can render, as data: the matrix, and the closed list of degrades.
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum $name { $(#[serde(rename = $word)] $variant),+ }
        impl $name {
            /// Every member, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
            /// The member a word names.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words!(
    /// Something a notification may hold or a medium may report.
    Capability {
        Text = "text", MediaImage = "media.image", MediaDocument = "media.document",
        MediaVideo = "media.video", MediaAudio = "media.audio", MediaLink = "media.link",
        MediaFilename = "media.filename", OptionsReply = "options.reply",
        OptionsLink = "options.link", OptionsReplyId = "options.reply_id",
        OptionsDescription = "options.description", Sections = "sections", Header = "header",
        Footer = "footer", Location = "location", Template = "template", Form = "form",
        FormPages = "form.pages", FormValues = "form.values", FormOptions = "form.options",
        FormDate = "form.date", FormTime = "form.time", FormDateTime = "form.date_time",
        FormMultiple = "form.multiple", FormConditional = "form.conditional",
        FormDisplay = "form.display", FormReview = "form.review",
        ReceiptsDelivered = "receipts.delivered", ReceiptsRead = "receipts.read",
    }
);

words!(
    /// How something is approximated. The list is closed: another word cannot compile.
    How {
        LinkLine = "link_line", InLabel = "in_label", EchoOnly = "echo_only",
        ContextLine = "context_line", InText = "in_text", GroupedButtons = "grouped_buttons",
        NumberedText = "numbered_text", SeparateMedia = "separate_media",
        ItalicLine = "italic_line", InBody = "in_body", MapLink = "map_link",
        TextInput = "text_input", Split = "split", NumberedButtons = "numbered_buttons",
        SeparateMessage = "separate_message", CaptionText = "caption_text",
        LabelLine = "label_line", AsDocument = "as_document", AltText = "alt_text",
        AlwaysShown = "always_shown", ValuesShown = "values_shown",
        DefaultControl = "default_control", LabelAbove = "label_above",
        NumberedChoices = "numbered_choices",
    }
);

impl Capability {
    /// The capability one item of `media` needs.
    #[must_use]
    pub fn of_media(kind: crate::content::MediaKind) -> Self {
        use crate::content::MediaKind as K;
        match kind {
            K::Image => Self::MediaImage,
            K::Document => Self::MediaDocument,
            K::Video => Self::MediaVideo,
            K::Audio => Self::MediaAudio,
            K::Link => Self::MediaLink,
        }
    }
}

/// What a medium does with an ordinary value of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As it is; single values may still meet a conditional degrade.
    Native,
    /// Always approximated this way, and always reported.
    Degraded(How),
    /// Refused before anything is recorded.
    Declined,
}

impl Support {
    /// `native`, `degraded` or `declined`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Degraded(_) => "degraded",
            Self::Declined => "declined",
        }
    }
    /// The degrade's word, if it is one.
    #[must_use]
    pub fn how(self) -> Option<How> {
        match self {
            Self::Degraded(how) => Some(how),
            Self::Native | Self::Declined => None,
        }
    }
}

/// One [`Support`] for each [`Capability`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix([Support; Capability::ALL.len()]);

impl Matrix {
    /// Everything declined: where each medium starts.
    #[must_use]
    pub fn declined() -> Self {
        Self([Support::Declined; Capability::ALL.len()])
    }
    /// Declares these as native.
    #[must_use]
    pub fn native(mut self, capabilities: &[Capability]) -> Self {
        for capability in capabilities {
            self.0[*capability as usize] = Support::Native;
        }
        self
    }
    /// Declares one as always degraded.
    #[must_use]
    pub fn degraded(mut self, capability: Capability, how: How) -> Self {
        self.0[capability as usize] = Support::Degraded(how);
        self
    }
    /// What the medium does with this capability.
    #[must_use]
    pub fn support(&self, capability: Capability) -> Support {
        self.0[capability as usize]
    }
    /// Every capability with its support, in the order of the tables.
    pub fn iter(&self) -> impl Iterator<Item = (Capability, Support)> {
        Capability::ALL.iter().map(|c| (*c, self.support(*c)))
    }
}

/// An approximation made for one notification, as callers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degrade {
    /// What was approximated.
    pub capability: Capability,
    /// How.
    pub how: How,
    /// Field paths and the bound; never a value.
    pub detail: String,
}

/// Collects degrades: one entry per capability and how, paths joined, in order of first mention.
#[derive(Clone, Debug, Default)]
pub struct Degrades(Vec<(Capability, How, Vec<String>, &'static str)>);

impl Degrades {
    /// Notes one; `why` is the sentence behind the paths (the first mention's is kept).
    pub fn note(
        &mut self,
        capability: Capability,
        how: How,
        path: impl Into<String>,
        why: &'static str,
    ) {
        let path = path.into();
        let known = self.0.iter_mut().find(|(c, h, _, _)| *c == capability && *h == how);
        match known {
            Some((_, _, paths, _)) => {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
            None => self.0.push((capability, how, vec![path], why)),
        }
    }
    /// The list callers see.
    #[must_use]
    pub fn into_list(self) -> Vec<Degrade> {
        self.0
            .into_iter()
            .map(|(capability, how, paths, why)| Degrade {
                capability,
                how,
                detail: format!("{}: {why}", paths.join(", ")),
            })
            .collect()
    }
}
