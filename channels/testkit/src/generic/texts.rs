//! G-4 and G-5: long text stays whole and in order, hostile text breaks nothing.
use super::{Subject, leaves, shown};
use contract::LimitName;
use serde_json::{Value, json};

/// Numbered words of about `length` characters in all.
fn words(length: usize) -> String {
    let mut text = String::with_capacity(length + 8);
    for n in 0.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&format!("w{n:06} "));
    }
    text.truncate(length);
    text
}

/// Text of 0, 1, limit and 3 × limit + 7: the pieces hold every word once and in order, and none is
/// empty.
pub fn g_4_text_is_whole_and_in_order(subject: &Subject) {
    let limits = &subject.adapter.descriptor().limits;
    let Some(limit) = limits.get(LimitName::Text) else { return };
    let limit = usize::try_from(limit.max).expect("a limit fits");
    for length in [0, 1, limit, 3 * limit + 7] {
        let text = words(length.min(65_536));
        let rendered = match subject.render_json(&json!({ "message": text })) {
            Ok(rendered) => rendered,
            Err(refusal) => panic!("plain text of {length} is refused: {refusal:?}"),
        };
        assert!(length > 0 || rendered.parts.is_empty(), "a blank text makes no part");
        let mut texts = Vec::new();
        for view in shown(&rendered.parts) {
            let mut own = Vec::new();
            leaves(&view["body"], &mut own);
            let said: Vec<_> = own.into_iter().filter(|t| t.contains('w')).collect();
            texts.extend(said);
        }
        let said = texts.join(" ");
        let mut at = 0;
        for word in text.split_whitespace().filter(|word| word.len() == 7) {
            match said[at..].find(word) {
                Some(next) => at += next + word.len(),
                None => panic!("{word} of {length} characters is lost or out of order"),
            }
        }
    }
}

const HOSTILE: [&str; 8] = [
    "<!here> <@U1> <https://evil.test|x>",
    "*_~`bold`~_* \\*",
    "<b>&amp;</b> ]]>",
    "{{1}} {{bot_token}} ${x} %s",
    "\u{202E}gpj.exe\u{202C} \u{2066}x\u{2069} \u{200B}\u{FEFF}",
    "\"quoted\" \\ / 'x' \u{2028}",
    "Ω≈ç√ 👩‍👩‍👧 e\u{301} \u{10FFFF}",
    "a\r\nb\rc",
];

/// Hostile text in every field that takes it: rendering answers, twice the same, and every body it
/// makes is well formed.
pub fn g_5_hostile_text_breaks_nothing(subject: &Subject) {
    for hostile in HOSTILE.iter().map(|h| (*h).to_owned()).chain(["\n".repeat(10_000) + "x"]) {
        let line: String = hostile.chars().filter(|c| !"\r\n\u{2028}".contains(*c)).collect();
        for json in contents(&hostile, &line) {
            let rendered = subject.render_json(&json);
            assert_eq!(rendered, subject.render_json(&json));
            let Ok(rendered) = rendered else { continue };
            for part in &rendered.parts {
                if let contract::Payload::Request(request) = &part.payload
                    && let contract::Body::Json(text) = &request.body
                {
                    assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
                }
            }
        }
    }
}

fn contents(text: &str, line: &str) -> Vec<Value> {
    // Names and labels hold at most a thousand characters.
    let line = if line.trim().is_empty() { "x" } else { line };
    let line: String = line.chars().take(900).collect();
    let short: String = text.chars().take(900).collect();
    let short = if contract::text::is_blank(&short) { "x".to_owned() } else { short };
    let filename: String = line
        .chars()
        .filter(|c| !"/\\".contains(*c) && !contract::text::is_format(*c))
        .take(200)
        .collect();
    let file =
        json!({ "kind": "image", "url": "https://img.example.test/a.jpg", "caption": short });
    let reply = json!({ "kind": "reply", "text": line, "description": short });
    vec![
        json!({ "message": text }),
        json!({ "message": text, "media": [file, {
            "kind": "document", "url": "https://d.example.test/a", "filename": filename,
        }, { "kind": "link", "url": "https://www.example.test/", "caption": short }] }),
        json!({ "message": text, "location":
            { "latitude": 1, "longitude": 2, "name": line, "address": line } }),
        json!({ "message": text, "options": [reply, {
            "kind": "link", "label": line, "url": "https://www.example.test/",
        }], "header": file, "footer": short }),
        json!({ "message": text, "sections": [
            { "title": line, "rows": [{ "text": line, "description": short }] },
        ] }),
    ]
}
