//! Content → one frame. Nothing is approximated and nothing is split: the page draws every shape.
use crate::limits;
use crate::wire::{FileCard, MESSAGE, MessageFrame, OptionChip, ReplyRow, SectionCard};
use contract::content::MEDIA_PATH;
use contract::{
    ChoiceList, ChoiceOption, Content, Facts, Frame, MediaItem, MediaSource, Part, PartKind,
    Payload, Problem, Refusal, RefusalStatus, RenderCtx, Rendered, ReplyOption, Surface,
};

/// Renders content for a visitor.
pub fn render(ctx: &RenderCtx<'_>, content: &Content) -> Result<Rendered, Refusal> {
    let text = content.message.as_str();
    if !limits::TEXT.admits(text) {
        let detail = format!("at most {} characters in one bubble", limits::TEXT.max);
        return Err(Refusal::bad_request("message", "too_long_for_channel", detail));
    }
    let mut frame = MessageFrame {
        media: content.media.iter().map(file).collect(),
        location: content.location.as_ref(),
        text: Some(text).filter(|text| !contract::text::is_blank(text)),
        ..MessageFrame::default()
    };
    let mut kind = match (&frame.media[..], frame.location) {
        ([], None) => PartKind::Text,
        _ => PartKind::Card,
    };
    match &content.surface {
        Surface::None => {}
        Surface::Choice(choice) => {
            kind = PartKind::Choice;
            frame.header = choice.header.as_ref().map(file);
            frame.footer = choice.footer.as_ref().map(contract::Text::as_str);
            match &choice.list {
                ChoiceList::Options(options) => frame.options = chips(ctx, options),
                ChoiceList::Sections(_) => frame.sections = sections(ctx, &choice.list),
            }
        }
        Surface::Form(_) => return Err(declined("schema", "form")),
        Surface::Template(_) => return Err(declined("template", "template")),
    }
    if frame == MessageFrame::default() {
        return Ok(Rendered { parts: Vec::new(), degrades: Vec::new() });
    }
    let json = serde_json::to_string(&frame).map_err(|_| not_renderable())?;
    let part = Part {
        kind,
        needs: Vec::new(),
        payload: Payload::Frame(Frame { event: MESSAGE, json }),
        alternate: None,
        requests: 1,
        facts: Facts::default(),
    };
    Ok(Rendered { parts: vec![part], degrades: Vec::new() })
}

fn declined(field: &str, capability: &str) -> Refusal {
    let detail = format!("web does not take {capability}");
    Refusal {
        status: RefusalStatus::NotImplemented,
        problems: vec![Problem::new(field, "unsupported_capability", detail)],
    }
}

fn not_renderable() -> Refusal {
    Refusal::bad_request("location", "not_renderable", "coordinates must be finite numbers")
}

/// Own bytes are named relative to the page, which is served from the same origin.
fn file(item: &MediaItem) -> FileCard<'_> {
    FileCard {
        kind: item.kind,
        url: match &item.source {
            MediaSource::Own { id, .. } => format!("{MEDIA_PATH}{id}"),
            MediaSource::Remote(url) => url.as_str().to_owned(),
        },
        caption: item.caption.as_ref().map(contract::Text::as_str),
        filename: item.filename.as_ref().map(contract::Filename::as_str),
    }
}

fn row<'a>(ctx: &RenderCtx<'_>, index: usize, reply: &'a ReplyOption) -> ReplyRow<'a> {
    ReplyRow {
        id: ctx.minted_option_id(index),
        text: reply.text.as_str(),
        description: reply.description.as_ref().map(contract::Text::as_str),
    }
}

fn chips<'a>(ctx: &RenderCtx<'_>, options: &'a [ChoiceOption]) -> Vec<OptionChip<'a>> {
    let chip = |(index, option): (usize, &'a ChoiceOption)| match option {
        ChoiceOption::Reply(reply) => OptionChip::Reply(row(ctx, index, reply)),
        ChoiceOption::Link(link) => {
            OptionChip::Link { label: link.label.as_str(), url: link.url.as_str() }
        }
    };
    options.iter().enumerate().map(chip).collect()
}

fn sections<'a>(ctx: &RenderCtx<'_>, list: &'a ChoiceList) -> Vec<SectionCard<'a>> {
    let ChoiceList::Sections(sections) = list else { return Vec::new() };
    let replies = list.replies();
    let rows = |section: usize| {
        let own = replies.iter().filter(move |choice| choice.section == Some(section));
        own.map(|choice| row(ctx, choice.index, choice.reply)).collect()
    };
    sections
        .iter()
        .enumerate()
        .map(|(index, section)| SectionCard { title: section.title.as_str(), rows: rows(index) })
        .collect()
}
