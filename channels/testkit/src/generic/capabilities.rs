//! G-1: each capability × support.
use super::Subject;
use contract::{Capability, RefusalStatus, Support};
use serde_json::{Value, json};

/// An ordinary content that needs the capability, and nothing special beside it.
fn sample(capability: Capability) -> Option<Value> {
    use Capability as C;
    let reply = json!({ "kind": "reply", "text": "Yes" });
    let file = |kind: &str, name: &str| json!({ "kind": kind, "url": format!("https://files.example.test/{name}") });
    let media = |item: Value| json!({ "message": "hello", "media": [item] });
    Some(match capability {
        C::Text => json!({ "message": "hello" }),
        C::MediaImage => media(file("image", "a.jpg")),
        C::MediaDocument => media(file("document", "a.pdf")),
        C::MediaVideo => media(file("video", "a.mp4")),
        C::MediaAudio => media(file("audio", "a.mp3")),
        C::MediaLink => media(file("link", "a")),
        C::MediaFilename => media(json!({
            "kind": "document", "url": "https://files.example.test/a.pdf", "filename": "b.pdf",
        })),
        C::OptionsReply => json!({ "message": "hello", "options": [reply] }),
        C::OptionsLink => json!({ "message": "hello", "options": [
            { "kind": "link", "label": "More", "url": "https://www.example.test/" },
        ] }),
        C::OptionsReplyId => json!({ "message": "hello", "options": [
            { "kind": "reply", "text": "Yes", "id": "yes-1" },
        ] }),
        C::OptionsDescription => json!({ "message": "hello", "options": [
            { "kind": "reply", "text": "Yes", "description": "I will" },
        ] }),
        C::Sections => json!({ "message": "hello", "sections": [
            { "title": "Drinks", "rows": [{ "text": "Tea" }] },
        ] }),
        C::Header => json!({
            "message": "hello", "options": [reply], "header": file("image", "a.jpg"),
        }),
        C::Footer => json!({ "message": "hello", "options": [reply], "footer": "by noon" }),
        C::Location => json!({
            "message": "hello", "location": { "latitude": 1.5, "longitude": 2.5 },
        }),
        C::Template => json!({
            "message": "hello", "template": { "name": "order", "language": "en" },
        }),
        C::Form => json!({ "message": "hello", "schema": {
            "type": "object", "properties": { "name": { "type": "string" } },
        } }),
        // Details of a form, and what receipts say: the form's cases and the door's.
        _ => return None,
    })
}

/// Native leaves no degrade, degraded leaves exactly its own, and what is declined and reaches the
/// adapter all the same is refused with 501.
pub fn g_1_support_is_what_render_does(subject: &Subject) {
    for (capability, support) in subject.adapter.descriptor().matrix.iter() {
        let Some(json) = sample(capability) else { continue };
        let rendered = subject.render_json(&json);
        let found = rendered.as_ref().map(|rendered| {
            let own = rendered.degrades.iter().filter(|d| d.capability == capability);
            own.map(|degrade| degrade.how).collect::<Vec<_>>()
        });
        match support {
            Support::Native => assert_eq!(found, Ok(vec![]), "{capability} is native"),
            Support::Degraded(how) => assert_eq!(found, Ok(vec![how]), "{capability}"),
            // A header rides a choice and a file's name a file: the gate meets those first.
            Support::Declined if matches!(capability, Capability::Template | Capability::Form) => {
                let refusal = rendered.expect_err("declined content is refused");
                assert_eq!(refusal.status, RefusalStatus::NotImplemented, "{capability}");
                assert_eq!(refusal.code(), "unsupported_capability", "{capability}");
            }
            Support::Declined => {}
        }
    }
}
