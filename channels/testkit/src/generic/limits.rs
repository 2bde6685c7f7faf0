//! G-2: each limit at its edge, in characters of every width.
use super::Subject;
use contract::{Limit, LimitName, Unit};
use serde_json::{Value, json};

/// What a text at a limit is made of: one unit wide, astral, and with a combining mark.
const FILLERS: [&str; 3] = ["a", "😀", "e\u{301}"];

/// Most characters the door takes in a label, title, caption, footer or description.
const FIELD_MAX: usize = 1000;

/// A text of exactly `max` units made of `filler`, padded with `a`.
fn filled(filler: &str, limit: Limit) -> String {
    let max = usize::try_from(limit.max).expect("a limit fits");
    let width = limit.unit.measure(filler);
    let whole = filler.repeat(max / width);
    let rest = max - limit.unit.measure(&whole);
    whole + &"a".repeat(rest)
}

/// A content with that text in the field a limit bounds, and the field's path.
fn content(name: LimitName, text: &str) -> Option<(Value, &'static str)> {
    let reply = json!({ "kind": "reply", "text": "Yes" });
    let image = json!({ "kind": "image", "url": "https://img.example.test/a.jpg" });
    Some(match name {
        LimitName::Text => (json!({ "message": text }), "message"),
        LimitName::InteractiveBody => (json!({ "message": text, "options": [reply] }), "message"),
        LimitName::Caption => {
            let item = crate::account::overlaid(&image, &json!({ "caption": text }));
            (json!({ "message": "", "media": [item] }), "media[0].caption")
        }
        LimitName::OptionLabel => (
            json!({ "message": "m", "options": [{ "kind": "reply", "text": text }] }),
            "options[0].text",
        ),
        LimitName::RowDescription => (
            json!({ "message": "m", "sections": [
                { "title": "t", "rows": [{ "text": "r", "description": text }] },
            ] }),
            "sections[0].rows[0].description",
        ),
        LimitName::SectionTitle => (
            json!({ "message": "m", "sections": [{ "title": text, "rows": [{ "text": "r" }] }] }),
            "sections[0].title",
        ),
        LimitName::Footer => {
            (json!({ "message": "m", "options": [reply], "footer": text }), "footer")
        }
        _ => return None,
    })
}

/// At the limit a text goes through with nothing approximated that a short one does not have; one
/// unit more is a degrade or a refusal of that field.
pub fn g_2_each_limit_holds_at_its_edge(subject: &Subject) {
    let limits = &subject.adapter.descriptor().limits;
    for (name, limit) in &limits.0 {
        if limit.unit == Unit::Bytes {
            continue;
        }
        let Some((short, path)) = content(*name, "s") else { continue };
        // What is declined never gets here.
        let Ok(short) = subject.render_json(&short) else { continue };
        let baseline: Vec<_> = short.degrades.iter().map(|d| (d.capability, d.how)).collect();
        for filler in FILLERS {
            let full = filled(filler, *limit);
            let bounded = matches!(name, LimitName::Text | LimitName::InteractiveBody);
            let reachable = |text: &str| bounded || text.chars().count() <= FIELD_MAX;
            let at = |text: &str| {
                let (json, _) = content(*name, text).expect("as above");
                subject.render_json(&json).map(|rendered| {
                    rendered.degrades.iter().map(|d| (d.capability, d.how)).collect::<Vec<_>>()
                })
            };
            if reachable(&full) {
                assert_eq!(at(&full), Ok(baseline.clone()), "{name} at {} of {filler}", limit.max);
            }
            let over = full + "a";
            if reachable(&over) {
                match at(&over) {
                    Ok(degrades) => {
                        assert_ne!(degrades, baseline, "{name} over {} of {filler}", limit.max);
                    }
                    Err(refusal) => {
                        let fields: Vec<_> = refusal.problems.iter().map(|p| &*p.field).collect();
                        assert!(fields.contains(&path), "{name}: {fields:?}");
                    }
                }
            }
        }
    }
}
