//! Composition: which fields go together. One function, for every door and for a route's reply.
use super::request::NotifyRequest;
use contract::Problem;

/// What the caller is composing for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A notification to be recorded.
    Record,
    /// A preview over all channels: nothing needs a channel.
    PreviewAll,
}

/// Check 12: every violation in the order of the rules C1–C11; the first one's code is the
/// refusal's [NT-20].
#[must_use]
pub fn violations(request: &NotifyRequest, purpose: Purpose) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut add = |field: &str, code, detail: &str| found.push(Problem::new(field, code, detail));
    let blank = request.message.is_blank();
    let choice = request.options.is_some() || request.sections.is_some();
    let schema = request.form.schema.is_some();

    if blank && request.media.is_empty() && request.location.is_none() {
        add("message", "content_required", "a blank message needs media or a location beside it");
    }
    if blank && choice {
        add("message", "prompt_required", "options and sections need a message that asks");
    }
    if blank && schema {
        add("message", "prompt_required", "a form needs a message that introduces it");
    }
    if request.options.is_some() && request.sections.is_some() {
        add("sections", "conflict", "give options or sections, not both");
    }
    if schema && request.options.is_some() {
        add("schema", "conflict", "give a schema or options, not both");
    }
    if schema && request.sections.is_some() {
        add("schema", "conflict", "give a schema or sections, not both");
    }
    for (field, given) in
        [("header", request.header.is_some()), ("footer", request.footer.is_some())]
    {
        if given && !choice {
            add(
                field,
                "requires",
                "rides on options or sections; use media or the message instead",
            );
        }
    }
    if request.template.is_some() {
        for (field, given) in beside_template(request) {
            if given {
                add(field, "conflict", "a template brings its own content; leave this out");
            }
        }
    }
    let form_parts = [
        ("data", request.form.data.is_some()),
        ("pages", request.form.pages.is_some()),
        ("form_tag", request.form.form_tag.is_some()),
    ];
    for (field, given) in form_parts {
        if given && !schema {
            add(field, "requires", "belongs to a form; give a schema with it");
        }
    }
    if request.channel.is_none() && purpose == Purpose::Record {
        if schema {
            add("channel", "requires", "a form needs a channel that draws it");
        }
        if request.expires_at.is_some() {
            add("channel", "requires", "only a send on a channel can expire");
        }
    }
    found
}

fn beside_template(request: &NotifyRequest) -> [(&'static str, bool); 7] {
    [
        ("media", !request.media.is_empty()),
        ("location", request.location.is_some()),
        ("options", request.options.is_some()),
        ("sections", request.sections.is_some()),
        ("schema", request.form.schema.is_some()),
        ("header", request.header.is_some()),
        ("footer", request.footer.is_some()),
    ]
}
