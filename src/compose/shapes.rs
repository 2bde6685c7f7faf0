//! The nested shapes of a request: media items, location, template, choices, form parts.
use super::bounds;
use super::json::Json;
use super::reader::{Node, Object, Problems};
use super::request::{Decoder, GivenItem, GivenSource};
use contract::content::{MEDIA_MAX, OPTIONS_MAX, SECTIONS_MAX};
use contract::target::Scheme;
use contract::{
    ChoiceOption, LinkOption, Location, MediaKind, OptionSection, ReplyOption, Template,
    TemplateButton, Text, WebUrl,
};

const KINDS: &[(&str, MediaKind)] = &[
    ("image", MediaKind::Image),
    ("document", MediaKind::Document),
    ("video", MediaKind::Video),
    ("audio", MediaKind::Audio),
    ("link", MediaKind::Link),
];

/// `media`: the good items of a bounded list; bad ones have left their problems behind.
pub(super) fn media_list(decoder: &mut Decoder<'_>, node: Node) -> Option<Vec<GivenItem>> {
    let items = decoder.problems.bounded_list(node, MEDIA_MAX)?;
    Some(items.into_iter().filter_map(|item| media_item(decoder, item, true)).collect())
}

/// `header` and `template.header_media`: an item that is no link.
pub(super) fn file_item(decoder: &mut Decoder<'_>, node: Node) -> Option<GivenItem> {
    media_item(decoder, node, false)
}

fn media_item(decoder: &mut Decoder<'_>, node: Node, links: bool) -> Option<GivenItem> {
    const KNOWN: &[&str] = &["kind", "url", "caption", "filename"];
    let mut object = decoder.problems.object(node, KNOWN)?;
    let words = if links { KINDS } else { &KINDS[..4] };
    let kind =
        object.require("kind", &mut decoder.problems).and_then(|n| decoder.problems.word(n, words));
    let source = object
        .require("url", &mut decoder.problems)
        .and_then(|n| decoder.problems.string(n))
        .and_then(|(path, url)| item_source(decoder, &path, &url, kind));
    let caption = object.take("caption").and_then(|n| caption(&mut decoder.problems, n, kind));
    let filename = object.take("filename").and_then(|n| {
        if kind.is_some_and(|k| k != MediaKind::Document) {
            decoder.problems.add(
                n.path,
                "not_allowed_here",
                "a filename goes with a document only",
            );
            return None;
        }
        decoder.problems.filename(n, bounds::FILENAME)
    });
    object.finish(&mut decoder.problems);
    Some(GivenItem { kind: kind?, source: source?, caption, filename })
}

fn item_source(
    decoder: &mut Decoder<'_>,
    path: &str,
    url: &str,
    kind: Option<MediaKind>,
) -> Option<GivenSource> {
    match kind? {
        MediaKind::Link => {
            decoder.url_chars += url.chars().count();
            link_url(&mut decoder.problems, path, url).map(GivenSource::Remote)
        }
        kind => decoder.file_source(path, url, kind == MediaKind::Image),
    }
}

fn link_url(problems: &mut Problems, path: &str, url: &str) -> Option<WebUrl> {
    let parsed = WebUrl::parse(url, Scheme::HttpOrHttps);
    if parsed.is_none() {
        let detail = "an absolute http or https url of at most 8192 characters with a plain host";
        problems.add(path, "bad_url", detail);
    }
    parsed
}

/// A caption; on a link it must not be able to read as another address.
fn caption(problems: &mut Problems, node: Node, kind: Option<MediaKind>) -> Option<Text> {
    let path = node.path.clone();
    let caption = problems.text(node, bounds::LABEL)?;
    if kind == Some(MediaKind::Link)
        && caption.as_str().chars().any(contract::text::is_bidi_control)
    {
        problems.add(path, "bad_text", "a link's caption must not hold bidi controls");
        return None;
    }
    Some(caption)
}

pub(super) fn location(decoder: &mut Decoder<'_>, node: Node) -> Option<Location> {
    let problems = &mut decoder.problems;
    let mut object = problems.object(node, &["latitude", "longitude", "name", "address"])?;
    let latitude =
        object.require("latitude", problems).and_then(|n| problems.number(n, -90.0, 90.0));
    let longitude =
        object.require("longitude", problems).and_then(|n| problems.number(n, -180.0, 180.0));
    let name = object.take("name").and_then(|n| problems.line(n, bounds::LABEL));
    let address = object.take("address").and_then(|n| problems.line(n, bounds::LABEL));
    object.finish(problems);
    Some(Location { latitude: latitude?, longitude: longitude?, name, address })
}

pub(super) fn template(decoder: &mut Decoder<'_>, node: Node) -> Option<Template<GivenSource>> {
    const KNOWN: &[&str] = &["name", "language", "header_media", "body_parameters", "buttons"];
    let mut object = decoder.problems.object(node, KNOWN)?;
    let name = object
        .require("name", &mut decoder.problems)
        .and_then(|n| decoder.problems.token(n, bounds::TEMPLATE_NAME));
    let language = object
        .require("language", &mut decoder.problems)
        .and_then(|n| decoder.problems.token(n, bounds::TEMPLATE_LANGUAGE));
    let header_media = object.take("header_media").and_then(|n| file_item(decoder, n));
    let body_parameters = object.take("body_parameters").and_then(|n| body_parameters(decoder, n));
    let buttons = object.take("buttons").and_then(|n| template_buttons(&mut decoder.problems, n));
    object.finish(&mut decoder.problems);
    Some(Template {
        name: name?,
        language: language?,
        header_media,
        body_parameters: body_parameters.unwrap_or_default(),
        buttons: buttons.unwrap_or_default(),
    })
}

fn body_parameters(decoder: &mut Decoder<'_>, node: Node) -> Option<Vec<Text>> {
    let (path, items) = decoder.problems.list(node)?;
    if items.len() > bounds::TEMPLATE_PARAMETERS {
        let detail = format!("at most {} items", bounds::TEMPLATE_PARAMETERS);
        decoder.problems.add(path, "too_many", detail);
        return None;
    }
    let value = |item| decoder.problems.text(item, bounds::TEMPLATE_VALUE);
    Some(items.into_iter().filter_map(value).collect())
}

fn template_buttons(problems: &mut Problems, node: Node) -> Option<Vec<TemplateButton>> {
    let (path, items) = problems.list(node)?;
    if items.len() > bounds::TEMPLATE_BUTTONS {
        problems.add(path, "too_many", format!("at most {} items", bounds::TEMPLATE_BUTTONS));
        return None;
    }
    let button = |item| {
        let mut object = problems.object(item, &["kind", "payload", "url_parameter"])?;
        let quick = object
            .require("kind", problems)
            .and_then(|n| problems.word(n, &[("quick_reply", true), ("url", false)]));
        let key = if quick == Some(false) { "url_parameter" } else { "payload" };
        let value =
            object.require(key, problems).and_then(|n| problems.text(n, bounds::TEMPLATE_VALUE));
        object.finish(problems);
        Some(match (quick?, value?) {
            (true, payload) => TemplateButton::QuickReply { payload },
            (false, url_parameter) => TemplateButton::Url { url_parameter },
        })
    };
    Some(items.into_iter().filter_map(button).collect())
}

/// `options` and `sections`, with authored ids unique over both.
pub(super) fn choices(
    decoder: &mut Decoder<'_>,
    root: &mut Object,
) -> (Option<Vec<ChoiceOption>>, Option<Vec<OptionSection>>) {
    let mut ids = Vec::new();
    let options = root.take("options").and_then(|node| {
        let items = decoder.problems.bounded_list(node, OPTIONS_MAX)?;
        Some(items.into_iter().filter_map(|item| option(decoder, item, &mut ids)).collect())
    });
    let sections = root.take("sections").and_then(|node| sections(decoder, node, &mut ids));
    (options, sections)
}

fn option(decoder: &mut Decoder<'_>, node: Node, ids: &mut Vec<String>) -> Option<ChoiceOption> {
    const KNOWN: &[&str] = &["kind", "text", "description", "id", "label", "url"];
    let mut object = decoder.problems.object(node, KNOWN)?;
    let reply = object
        .require("kind", &mut decoder.problems)
        .and_then(|n| decoder.problems.word(n, &[("reply", true), ("link", false)]));
    let option = match reply {
        Some(true) => {
            reply_fields(&mut decoder.problems, &mut object, ids).map(ChoiceOption::Reply)
        }
        Some(false) => link_fields(decoder, &mut object).map(ChoiceOption::Link),
        None => return None,
    };
    object.finish(&mut decoder.problems);
    option
}

fn reply_fields(
    problems: &mut Problems,
    object: &mut Object,
    ids: &mut Vec<String>,
) -> Option<ReplyOption> {
    let text = object.require("text", problems).and_then(|n| problems.line(n, bounds::LABEL));
    let description = object.take("description").and_then(|n| problems.text(n, bounds::LABEL));
    let id = object.take("id").and_then(|n| {
        let path = n.path.clone();
        let id = problems.token(n, bounds::OPTION_ID)?;
        if ids.iter().any(|known| known == id.as_str()) {
            problems.add(path, "duplicate", "ids must be unique over the whole notification");
            return None;
        }
        ids.push(id.as_str().to_owned());
        Some(id)
    });
    Some(ReplyOption { text: text?, description, id })
}

fn link_fields(decoder: &mut Decoder<'_>, object: &mut Object) -> Option<LinkOption> {
    let label = object.require("label", &mut decoder.problems).and_then(|n| {
        let path = n.path.clone();
        let label = decoder.problems.line(n, bounds::LABEL)?;
        if label.as_str().chars().any(contract::text::is_bidi_control) {
            decoder.problems.add(path, "bad_text", "a link's label must not hold bidi controls");
            return None;
        }
        Some(label)
    });
    let url = object
        .require("url", &mut decoder.problems)
        .and_then(|n| decoder.problems.string(n))
        .and_then(|(path, url)| {
            decoder.url_chars += url.chars().count();
            link_url(&mut decoder.problems, &path, &url)
        });
    Some(LinkOption { label: label?, url: url? })
}

fn sections(
    decoder: &mut Decoder<'_>,
    node: Node,
    ids: &mut Vec<String>,
) -> Option<Vec<OptionSection>> {
    let path = node.path.clone();
    let items = decoder.problems.bounded_list(node, SECTIONS_MAX)?;
    let mut rows_seen = 0;
    let mut sections = Vec::with_capacity(items.len());
    for item in items {
        let Some(mut object) = decoder.problems.object(item, &["title", "rows"]) else { continue };
        let problems = &mut decoder.problems;
        let title = object.require("title", problems).and_then(|n| problems.line(n, bounds::LABEL));
        let rows = object
            .require("rows", problems)
            .and_then(|n| section_rows(problems, n, &mut rows_seen, ids));
        object.finish(problems);
        if let (Some(title), Some(rows)) = (title, rows) {
            sections.push(OptionSection { title, rows });
        }
    }
    if rows_seen > OPTIONS_MAX {
        let detail = format!("at most {OPTIONS_MAX} rows over all sections");
        decoder.problems.add(path, "too_many", detail);
    }
    Some(sections)
}

fn section_rows(
    problems: &mut Problems,
    node: Node,
    rows_seen: &mut usize,
    ids: &mut Vec<String>,
) -> Option<Vec<ReplyOption>> {
    const KNOWN: &[&str] = &["kind", "text", "description", "id"];
    let (path, items) = problems.list(node)?;
    if items.is_empty() {
        problems.add(path, "empty", "at least 1 row");
        return None;
    }
    *rows_seen += items.len();
    let row = |item| {
        let mut object = problems.object(item, KNOWN)?;
        if let Some(kind) = object.take("kind") {
            let kind_path = kind.path.clone();
            let word = problems.word(kind, &[("reply", true), ("link", false)]);
            if word == Some(false) {
                problems.add(kind_path, "not_allowed_here", "a section's row is a reply");
            }
            if word != Some(true) {
                return None;
            }
        }
        let reply = reply_fields(problems, &mut object, ids);
        object.finish(problems);
        reply
    };
    Some(items.into_iter().filter_map(row).collect())
}

/// `data`: an object with `values` and `options`, whose inside the form rules judge.
pub(super) fn form_data(decoder: &mut Decoder<'_>, node: Node) -> Option<Json> {
    let whole = node.json.clone();
    let mut object = decoder.problems.object(node, &["values", "options"])?;
    for key in ["values", "options"] {
        if let Some(part) = object.take(key)
            && !matches!(part.json, Json::Object(_))
        {
            let _: Option<()> = decoder.problems.wrong_type(&part.path, "an object");
        }
    }
    object.finish(&mut decoder.problems);
    Some(whole)
}

/// `pages`: 1–10 objects, whose inside the form rules judge; display images count as urls.
pub(super) fn form_pages(decoder: &mut Decoder<'_>, node: Node) -> Option<Json> {
    let whole = node.json.clone();
    for item in decoder.problems.bounded_list(node, bounds::PAGES)? {
        let Some(mut page) =
            decoder.problems.object(item, &["title", "kind", "fields", "display", "button_label"])
        else {
            continue;
        };
        if let Some(display) = page.take("display")
            && let Some((_, blocks)) = decoder.problems.list(display)
        {
            for block in blocks {
                page_block(decoder, block);
            }
        }
        for key in ["title", "kind", "fields", "button_label"] {
            let _ = page.take(key);
        }
        page.finish(&mut decoder.problems);
    }
    Some(whole)
}

fn page_block(decoder: &mut Decoder<'_>, node: Node) {
    let Some(mut block) = decoder.problems.object(node, &["kind", "text", "src", "alt"]) else {
        return;
    };
    if let Some(src) = block.take("src")
        && let Some((path, url)) = decoder.problems.string(src)
    {
        let _ = decoder.file_source(&path, &url, true);
    }
    for key in ["kind", "text", "alt"] {
        let _ = block.take(key);
    }
    block.finish(&mut decoder.problems);
}
