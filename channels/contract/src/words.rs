//! The few words Tidings itself adds to a message, per language.
use crate::capability::words;

words!(
    /// A word of ours; the name is its key in a words file.
    Word {
        Document = "document", ReplyHint = "reply_hint", MapLine = "map_line",
        NoLongerAvailable = "no_longer_available",
    }
);

/// Words of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<(Word, String)>);

impl Words {
    /// Words from pairs; a missing one falls back to English.
    #[must_use]
    pub fn new(pairs: Vec<(Word, String)>) -> Self {
        Self(pairs)
    }
    /// The text of a word.
    #[must_use]
    pub fn get(&self, word: Word) -> &str {
        self.0.iter().find(|(w, _)| *w == word).map_or_else(|| english(word), |(_, t)| t)
    }
}

fn english(word: Word) -> &'static str {
    match word {
        Word::Document => "document",
        Word::ReplyHint => "Reply with a number.",
        Word::MapLine => "Map",
        Word::NoLongerAvailable => "This is no longer available.",
    }
}
