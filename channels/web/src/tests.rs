//! The medium under the case runner, the generic cases, and what files cannot say: its page, its
//! addresses, its probe.
use crate::REGISTRATION;
use contract::{Payload, RecipientPolicy, ShowAddress, Support};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use testkit::cases::{RENDER, Setting, run};
use testkit::generic::Subject;
use testkit::{account, corpus, generic};

const VISITOR: &str = "vis_01j0000000000000000000000a";

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sample() -> Value {
    json!({ "public_url": "https://tidings.example.test" })
}

fn problems(table: Value) -> Vec<&'static str> {
    account::problems(&REGISTRATION, &table).into_iter().map(|p| p.key).collect()
}

#[test]
fn render_cases_hold() {
    let setting = Setting { registration: &REGISTRATION, account: sample() };
    assert!(run(&setting, crate_folder(), RENDER) >= 12);
}

#[test]
fn generic_cases_hold() {
    generic::run(&Subject::new(&REGISTRATION, &sample(), VISITOR));
}

#[test]
fn nothing_is_approximated_and_every_send_is_one_frame() {
    let subject = Subject::new(&REGISTRATION, &sample(), VISITOR);
    for sample in corpus::corpus() {
        if let Ok(rendered) = subject.render_json(&sample.json) {
            assert_eq!((rendered.parts.len(), rendered.degrades.len()), (1, 0), "{}", sample.name);
        }
    }
}

#[test]
fn wb_13_no_frame_holds_what_is_the_authors_alone() {
    let subject = Subject::new(&REGISTRATION, &sample(), VISITOR);
    let content = json!({ "message": "m", "sections": [
        { "title": "t", "rows": [{ "text": "r", "id": "author-secret-id" }] },
    ] });
    let rendered = subject.render_json(&content).unwrap();
    let Payload::Frame(frame) = &rendered.parts[0].payload else { panic!("no frame") };
    assert!(!frame.json.contains("author-secret-id"), "{}", frame.json);
    let keys = serde_json::from_str::<Value>(&frame.json).unwrap();
    let keys: Vec<_> = keys.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["text", "sections"]);
}

#[test]
fn n_48_the_rows_declined_for_now_are_those_of_forms() {
    let descriptor = account::open(&REGISTRATION, &sample()).adapter.descriptor().clone();
    assert_eq!(descriptor.recipients.policy, RecipientPolicy::Visitor);
    assert!(descriptor.idempotent_parts && descriptor.carries_own_media);
    let declined = descriptor.matrix.iter().filter(|(_, s)| *s == Support::Declined);
    let mut forms = 0;
    for (capability, _) in declined {
        let word = capability.as_str();
        let meant = word == "template" || word.starts_with("receipts.");
        assert!(meant || word.starts_with("form"), "{word}");
        forms += usize::from(!meant);
    }
    assert_eq!(forms, 11);
}

#[test]
fn an_address_is_a_visitors_id() {
    let adapter = account::open(&REGISTRATION, &sample()).adapter;
    let code = |given| adapter.recipient(given, false).map_err(|r| r.code());
    assert_eq!(code(Some(VISITOR)).map(|a| a.as_str().to_owned()), Ok(VISITOR.to_owned()));
    assert_eq!(code(None), Err("recipient_required"));
    for bad in
        ["", "vis_", "42", "vis_01J0000000000000000000000A", "snd_01j0000000000000000000000a"]
    {
        assert_eq!(code(Some(bad)), Err("bad_recipient"), "{bad}");
    }
}

#[test]
fn the_page_has_its_defaults_and_its_bounds() {
    let opened = account::open(&REGISTRATION, &json!({}));
    let page = opened.adapter.page().unwrap();
    assert_eq!((page.title.as_str(), page.stylesheet.is_none()), ("Chat", true));
    assert_eq!((page.keepalive, page.body_max), (Duration::from_secs(15), 65_536));
    assert_eq!(page.show_address, ShowAddress::Loopback);
    for (table, key) in [
        (json!({ "title": " " }), "title"),
        (json!({ "title": "x".repeat(81) }), "title"),
        (json!({ "visitor_ttl": 3599 }), "visitor_ttl"),
        (json!({ "pending_ttl": 59 }), "pending_ttl"),
        (json!({ "transcript_max": 99 }), "transcript_max"),
        (json!({ "transcript_ttl": 3599 }), "transcript_ttl"),
        (json!({ "keepalive": 31 }), "keepalive"),
        (json!({ "streams_per_visitor": 0 }), "streams_per_visitor"),
        (json!({ "streams_per_node": 0 }), "streams_per_node"),
        (json!({ "body_max": 1_048_577 }), "body_max"),
        (json!({ "show_address": "sometimes" }), "show_address"),
        (json!({ "map_link": "http://maps.test/{lat}/{lon}" }), "map_link"),
        (json!({ "map_link": "https://maps.test/" }), "map_link"),
    ] {
        assert_eq!(problems(table.clone()), [key], "{table}");
    }
}

#[test]
fn wb_37_a_theme_or_avatar_that_is_none_is_refused() {
    for accent in ["red;} body{", "red", "#12345", "#12345g", "#+12345"] {
        assert_eq!(problems(json!({ "theme": { "accent": accent } })), ["theme"], "{accent}");
    }
    for avatar in ["<svg xmlns='http://www.w3.org/2000/svg'/>", "", "GIF"] {
        assert_eq!(problems(json!({ "avatar": avatar })), ["avatar"], "{avatar}");
    }
    let table = json!({ "avatar": "GIF89a…", "theme": { "accent": "#FFcc00", "background": "" } });
    let opened = account::open(&REGISTRATION, &table);
    let page = opened.adapter.page().unwrap();
    let avatar = page.avatar.as_ref().unwrap();
    assert_eq!(avatar.content_type, "image/gif");
    assert!(avatar.name.starts_with("avatar-") && avatar.name.ends_with(".gif"));
    let css = page.stylesheet.as_ref().unwrap();
    assert_eq!(css.bytes, ":root:root{--accent:#ffcc00;--on-accent:#000000;}\n");
    assert_ne!(css.name, avatar.name);
}
