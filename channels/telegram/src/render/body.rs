//! The body text: composed once, then cut into messages.
//!
//! The text is one string; beside it stand the byte ranges that must not be cut (every line this
//! adapter adds) and those that are formatted. Cutting maps the formatting onto each piece in
//! UTF-16 units.
use super::keyboard::{self, Layout};
use crate::limits;
use crate::wire::{Button, Entity, Keyboard, Style};
use contract::{
    Capability, ChoiceSurface, Content, Degrades, How, Location, MediaKind, Problem, RenderCtx,
    Unit,
};
use kit::text::{lines, split_keeping};
use std::ops::Range;

/// The body of a notification.
#[derive(Debug, Default)]
pub struct Body {
    draft: Draft,
    buttons: Vec<Button>,
    /// What was approximated in it.
    pub degrades: Degrades,
    /// What cannot be carried.
    pub problems: Vec<Problem>,
    /// It goes out as the header's caption.
    pub under_header: bool,
}

/// One message's text with its formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Over it.
    pub entities: Vec<Entity>,
}

impl Piece {
    /// Text without formatting.
    pub fn plain(text: String) -> Self {
        Self { text, entities: Vec::new() }
    }
}

impl Body {
    /// Composes: a first line, the message, link lines and the place's label, the listed choices,
    /// the footer.
    pub fn compose(
        content: &Content,
        choice: Option<&ChoiceSurface>,
        ctx: &RenderCtx<'_>,
        first_line: Option<&str>,
    ) -> Self {
        let mut body = Self::default();
        if let Some(line) = first_line {
            body.draft.line(line, None);
        }
        if !content.message.is_blank() {
            body.draft.text(&lines(content.message.as_str()));
        }
        let layout = choice
            .map(|choice| keyboard::lay_out(&choice.list, ctx, &mut body.degrades))
            .unwrap_or_default();
        body.add_lines(content, &layout);
        body.add_listing(&layout);
        body.buttons = layout.buttons;
        if let Some(footer) = choice.and_then(|choice| choice.footer.as_ref()) {
            let why = "the last line of the text, in italics";
            body.degrades.note(Capability::Footer, How::ItalicLine, "footer", why);
            body.draft.gap();
            body.draft.line(&lines(footer.as_str()), Some(Style::Italic));
        }
        body
    }

    fn add_lines(&mut self, content: &Content, layout: &Layout) {
        self.draft.gap();
        for (index, item) in content.media.iter().enumerate() {
            if item.kind == MediaKind::Link {
                let path = format!("media[{index}]");
                let why = "a line of the text";
                self.degrades.note(Capability::MediaLink, How::LinkLine, path.clone(), why);
                let url = item.source.url();
                let line = match &item.caption {
                    Some(caption) => format!("{}: {url}", lines(caption.as_str())),
                    None => url.to_owned(),
                };
                self.checked_line(&format!("{path}.url"), &line);
            }
        }
        for (path, line) in &layout.link_lines {
            self.checked_line(&format!("{path}.url"), line);
        }
        if let Some((path, label)) = content.location.as_ref().and_then(lone_label) {
            let why = "a pin takes a name only together with an address; it is a line of the text";
            self.degrades.note(Capability::Location, How::LabelLine, path, why);
            self.draft.line(label, None);
        }
    }

    fn add_listing(&mut self, layout: &Layout) {
        for group in &layout.listing {
            self.draft.gap();
            if let Some(title) = &group.title {
                self.draft.line(title, Some(Style::Bold));
            }
            for (path, line) in &group.lines {
                self.checked_line(path, line);
            }
        }
    }

    /// A line that never splits, so it has to fit into one message.
    fn checked_line(&mut self, path: &str, line: &str) {
        if !limits::TEXT.admits(line) {
            let detail = "its line in the text would be over 4096 UTF-16 units";
            self.problems.push(Problem::new(path, "too_long_for_channel", detail));
        }
        self.draft.line(line, None);
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.draft.text
    }

    /// The whole text as one piece.
    pub fn whole(&self) -> Piece {
        self.draft.piece(&self.draft.text)
    }

    /// The text cut into messages; nothing when it is blank.
    pub fn pieces(&self) -> Vec<Piece> {
        split_keeping(&self.draft.text, &self.draft.kept, limits::TEXT, limits::TEXT)
            .into_iter()
            .map(|piece| self.draft.piece(piece))
            .collect()
    }

    /// The keyboard under the last message.
    pub fn keyboard(&self) -> Option<Keyboard> {
        let rows = || self.buttons.iter().map(|button| [button.clone()]).collect();
        (!self.buttons.is_empty()).then(|| Keyboard { inline_keyboard: rows() })
    }
}

/// The one label of a pin that has either a name or an address.
fn lone_label(location: &Location) -> Option<(&'static str, &str)> {
    match (&location.name, &location.address) {
        (Some(name), None) => Some(("location.name", name.as_str())),
        (None, Some(address)) => Some(("location.address", address.as_str())),
        _ => None,
    }
}

/// A text in the making.
#[derive(Debug, Default)]
struct Draft {
    text: String,
    /// Byte ranges that must not be cut, ascending.
    kept: Vec<Range<usize>>,
    /// Formatted byte ranges, ascending.
    styled: Vec<(Range<usize>, Style)>,
    /// A blank line is due before the next addition.
    gap_due: bool,
}

impl Draft {
    /// A blank line before whatever comes next, if something stands before it.
    fn gap(&mut self) {
        self.gap_due = true;
    }

    fn break_line(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str(if self.gap_due { "\n\n" } else { "\n" });
        }
        self.gap_due = false;
    }

    /// Text that may be cut.
    fn text(&mut self, text: &str) {
        self.break_line();
        self.text.push_str(text);
    }

    /// A line that may not.
    fn line(&mut self, line: &str, style: Option<Style>) {
        self.break_line();
        let range = self.text.len()..self.text.len() + line.len();
        self.text.push_str(line);
        self.kept.push(range.clone());
        if let Some(style) = style {
            self.styled.push((range, style));
        }
    }

    /// A slice of the text with the formatting that lies over it.
    fn piece(&self, slice: &str) -> Piece {
        let start = slice.as_ptr() as usize - self.text.as_ptr() as usize;
        let units = |range: Range<usize>| Unit::Utf16.measure(&self.text[range]);
        let entities = self
            .styled
            .iter()
            .filter_map(|(range, style)| {
                let (from, to) = (range.start.max(start), range.end.min(start + slice.len()));
                (from < to).then(|| Entity {
                    style: *style,
                    offset: units(start..from),
                    length: units(from..to),
                })
            })
            .collect();
        Piece { text: slice.to_owned(), entities }
    }
}
