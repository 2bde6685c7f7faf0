//! `{account?, recipient, content, send?, reply_to?}` → `{parts, degrades}` or `{refused}`.
use super::Setting;
use crate::{account, content};
use contract::{Adapter, Part, Payload, Refusal, RefusalStatus, RenderCtx, Rendered, SendId};
use kit::view::{Mask, bare_view, frame_view, need_view};
use serde_json::{Map, Value, json};

pub(super) fn run(setting: &Setting<'_>, case: &Value) -> Map<String, Value> {
    let opened = account::open(setting.registration, &setting.table(case));
    match rendered(&*opened.adapter, case) {
        Ok(rendered) => rendered_json(&rendered),
        Err(refusal) => Map::from_iter([("refused".to_owned(), refusal_json(&refusal))]),
    }
}

/// Renders a case: the recipient is read as a caller's, then the content is rendered for it.
pub(super) fn rendered(adapter: &dyn Adapter, case: &Value) -> Result<Rendered, Refusal> {
    let text = |key: &str| case.get(key).and_then(Value::as_str);
    let reply_to = text("reply_to");
    let address = adapter.recipient(text("recipient"), reply_to.is_some())?;
    let send = text("send").map(|id| SendId::parse(id).expect("a send id"));
    let ctx = RenderCtx {
        send: send.as_ref(),
        form_token: text("form_token"),
        address: &address,
        reply_to,
    };
    let content = content::content(case.get("content").expect("a case has content"));
    let rendered = adapter.render(&ctx, &content);
    assert_eq!(rendered, adapter.render(&ctx, &content), "two renderings differ");
    rendered
}

/// Parts and degrades as golden files hold them.
#[must_use]
pub fn rendered_json(rendered: &Rendered) -> Map<String, Value> {
    let degrades = serde_json::to_value(&rendered.degrades).expect("degrades are JSON");
    Map::from_iter([
        ("parts".to_owned(), rendered.parts.iter().map(part_json).collect()),
        ("degrades".to_owned(), degrades),
    ])
}

/// One part as golden files hold it.
#[must_use]
pub fn part_json(part: &Part) -> Value {
    let request = match &part.payload {
        Payload::Request(request) => bare_view(request, &part.needs, Mask::Named),
        Payload::Frame(frame) => frame_view(frame, frame.event),
    };
    let alternate = part.alternate.as_ref().map(|alternate| {
        json!({
            "needs": alternate.needs.iter().map(need_view).collect::<Vec<_>>(),
            "request": bare_view(&alternate.request, &alternate.needs, Mask::Named),
        })
    });
    json!({
        "kind": part.kind,
        "needs": part.needs.iter().map(need_view).collect::<Vec<_>>(),
        "request": request,
        "alternate": alternate,
        "facts": part.facts,
    })
}

fn refusal_json(refusal: &Refusal) -> Value {
    let status = match refusal.status {
        RefusalStatus::BadRequest => 400,
        RefusalStatus::Forbidden => 403,
        RefusalStatus::NotImplemented => 501,
    };
    let fields: Vec<_> = refusal.problems.iter().map(|problem| &problem.field).collect();
    json!({ "status": status, "code": refusal.code(), "fields": fields })
}
