//! Which choices become buttons, what they are labelled, and what is listed in the text instead.
use crate::limits;
use crate::wire::Button;
use contract::{
    Capability, ChoiceList, ChoiceOption, Degrades, How, LinkOption, OptionSection, RenderCtx,
    ReplyOption,
};
use std::collections::BTreeMap;

/// A choice laid out.
#[derive(Debug, Default)]
pub struct Layout {
    /// In order.
    pub buttons: Vec<Button>,
    /// Links that cannot be buttons: path of the option and its line.
    pub link_lines: Vec<(String, String)>,
    /// What is listed in the text.
    pub listing: Vec<Group>,
}

/// Lines listed together.
#[derive(Debug)]
pub struct Group {
    /// A bold line above them.
    pub title: Option<String>,
    /// One line a choice: its path and its text.
    pub lines: Vec<(String, String)>,
}

/// One button to be, before it is known whether labels or numbers stand on them.
struct Entry {
    label: String,
    path: String,
    data: Option<String>,
    url: Option<String>,
}

impl Entry {
    fn reply(reply: &ReplyOption, path: String, index: usize, ctx: &RenderCtx<'_>) -> Self {
        let data = Some(ctx.minted_option_id(index));
        Self {
            label: reply.text.as_str().to_owned(),
            path: format!("{path}.text"),
            data,
            url: None,
        }
    }

    fn link(link: &LinkOption, path: &str) -> Self {
        let url = Some(link.url.on_the_wire());
        let label = link.label.as_str().to_owned();
        Self { label, path: format!("{path}.label"), data: None, url }
    }

    fn button(&self, number: Option<usize>) -> Button {
        Button {
            text: number.map_or_else(|| self.label.clone(), |n| n.to_string()),
            callback_data: self.data.clone(),
            url: self.url.clone(),
        }
    }
}

/// Lays a choice out.
pub fn lay_out(list: &ChoiceList, ctx: &RenderCtx<'_>, degrades: &mut Degrades) -> Layout {
    for choice in list.replies() {
        if choice.reply.description.is_some() {
            let why = "not shown; a tap carries it as params.reply_description";
            let path = format!("{}.description", choice.path());
            degrades.note(Capability::OptionsDescription, How::EchoOnly, path, why);
        }
    }
    match list {
        ChoiceList::Options(options) => flat(options, ctx, degrades),
        ChoiceList::Sections(sections) => grouped(sections, ctx, degrades),
    }
}

fn flat(options: &[ChoiceOption], ctx: &RenderCtx<'_>, degrades: &mut Degrades) -> Layout {
    let mut layout = Layout::default();
    let mut entries = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let path = format!("options[{index}]");
        match option {
            ChoiceOption::Reply(reply) => entries.push(Entry::reply(reply, path, index, ctx)),
            ChoiceOption::Link(link) if is_button_url(link) => {
                entries.push(Entry::link(link, &path));
            }
            ChoiceOption::Link(link) => {
                let why = "the medium makes no button of this url; it is a line of the text";
                degrades.note(Capability::OptionsLink, How::LinkLine, path.clone(), why);
                let line = format!("{}: {}", link.label, link.url.as_str());
                layout.link_lines.push((path, line));
            }
        }
    }
    let long: Vec<&Entry> = entries.iter().filter(|e| !fits(&e.label)).collect();
    let numbered = !long.is_empty();
    for entry in long {
        degrades.note(Capability::OptionsReply, How::NumberedButtons, entry.path.clone(), LONG);
    }
    if numbered {
        let lines = numbered_lines(&entries, 1);
        layout.listing.push(Group { title: None, lines });
    }
    layout.buttons = buttons(&entries, numbered, 1);
    layout
}

const LONG: &str = "over 64 UTF-16 units; the texts are numbered and the buttons are numbers";
const TWICE: &str = "the same text in two sections; the texts are numbered and so are the buttons";

fn grouped(sections: &[OptionSection], ctx: &RenderCtx<'_>, degrades: &mut Degrades) -> Layout {
    let why = "a keyboard has no titles; sections are listed in the text above it";
    degrades.note(Capability::Sections, How::GroupedButtons, "sections", why);
    let repeated = repeated_texts(sections);
    let mut numbered = false;
    let mut entries = Vec::new();
    let mut index = 0;
    for (s, section) in sections.iter().enumerate() {
        let mut rows = Vec::new();
        for (r, row) in section.rows.iter().enumerate() {
            let entry = Entry::reply(row, format!("sections[{s}].rows[{r}]"), index, ctx);
            let twice = repeated.contains(&row.text.as_str());
            let long = !fits(&entry.label);
            numbered |= long || twice;
            if long || twice {
                let why = if long { LONG } else { TWICE };
                let path = entry.path.clone();
                degrades.note(Capability::Sections, How::NumberedButtons, path, why);
            }
            rows.push(entry);
            index += 1;
        }
        entries.push(rows);
    }
    let mut layout = Layout::default();
    let mut first = 1;
    for (section, rows) in sections.iter().zip(&entries) {
        let lines = if numbered { numbered_lines(rows, first) } else { bullets(rows) };
        layout.listing.push(Group { title: Some(section.title.as_str().to_owned()), lines });
        layout.buttons.extend(buttons(rows, numbered, first));
        first += rows.len();
    }
    layout
}

/// Texts that stand in more than one section: a button with one of them could mean either.
fn repeated_texts(sections: &[OptionSection]) -> Vec<&str> {
    let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut repeated = Vec::new();
    for (home, section) in sections.iter().enumerate() {
        for row in &section.rows {
            if *homes.entry(row.text.as_str()).or_insert(home) != home {
                repeated.push(row.text.as_str());
            }
        }
    }
    repeated
}

fn fits(label: &str) -> bool {
    limits::OPTION_LABEL.admits(label)
}

fn buttons(entries: &[Entry], numbered: bool, first: usize) -> Vec<Button> {
    let number = |i: usize| numbered.then_some(first + i);
    entries.iter().enumerate().map(|(i, entry)| entry.button(number(i))).collect()
}

fn numbered_lines(entries: &[Entry], first: usize) -> Vec<(String, String)> {
    let line = |(i, entry): (usize, &Entry)| {
        (entry.path.clone(), format!("{}. {}", first + i, entry.label))
    };
    entries.iter().enumerate().map(line).collect()
}

fn bullets(entries: &[Entry]) -> Vec<(String, String)> {
    entries.iter().map(|entry| (entry.path.clone(), format!("• {}", entry.label))).collect()
}

/// One bad url button makes the vendor refuse the whole message, so a doubtful one is no button.
fn is_button_url(link: &LinkOption) -> bool {
    let host = link.url.host();
    let is_ip = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    let dotted = host.trim_matches('.').contains('.');
    (is_ip || dotted) && limits::BUTTON_URL.admits(&link.url.on_the_wire())
}
