//! The medium under the case runner, the generic cases, and what files cannot say: its account,
//! its addresses, its probe.
mod properties;

use crate::REGISTRATION;
use contract::{
    HealthState, LimitName, Outcome, PartKind, RecipientPolicy, RenderCtx, SendId, Support, Wire,
};
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use testkit::cases::{FAULTS, RENDER, Setting, run};
use testkit::generic::Subject;
use testkit::wire::{ScriptedWire, Step, answer};
use testkit::{account, content, corpus, generic, held};

/// A token of the vendor's form that is nobody's.
const TOKEN: &str = "123456789:AAF-fake_Token_for_tests_0123456789";

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sample() -> Value {
    json!({
        "bot_token": TOKEN,
        "webhook_secrets": ["webhook-secret-of-tests-1", "webhook-secret-of-tests-2"],
        "public_url": "https://tidings.example.test",
        "allowed_recipients": ["*"],
        "default_recipient": "42",
    })
}

fn with(over: Value) -> Value {
    account::overlaid(&sample(), &over)
}

fn setting() -> Setting<'static> {
    Setting { registration: &REGISTRATION, account: sample() }
}

#[test]
fn render_cases_hold() {
    assert!(run(&setting(), crate_folder(), RENDER) >= 50);
}

#[test]
fn fault_cases_hold() {
    assert!(run(&setting(), crate_folder(), FAULTS) >= 50);
}

#[test]
fn generic_cases_hold_in_a_private_chat_a_topic_and_a_channel() {
    for recipient in ["42", "-1001234567890123:7", "@some_channel"] {
        generic::run(&Subject::new(&REGISTRATION, &sample(), recipient));
    }
}

#[test]
fn n_46_every_outbound_id_is_held() {
    let outbound = [
        "T-2", "T-3", "T-4", "T-5", "T-6", "T-7", "T-8", "T-9", "T-10", "T-11", "T-20", "T-21",
        "T-22", "T-26", "T-27", "T-28", "T-29", "T-30", "T-31", "T-32",
    ];
    assert_eq!(held::unheld(&outbound, crate_folder()), Vec::<String>::new());
}

#[test]
fn every_degrade_of_the_matrix_and_of_the_conditions_comes_from_the_corpus() {
    use contract::How as H;
    let subject = Subject::new(&REGISTRATION, &sample(), "42");
    let mut seen = std::collections::BTreeSet::new();
    for sample in corpus::corpus() {
        if let Ok(rendered) = subject.render_json(&sample.json) {
            seen.extend(rendered.degrades.iter().map(|degrade| degrade.how));
        }
    }
    let expected = [
        H::LinkLine,
        H::EchoOnly,
        H::GroupedButtons,
        H::ItalicLine,
        H::Split,
        H::NumberedButtons,
        H::SeparateMessage,
        H::CaptionText,
        H::LabelLine,
        H::AsDocument,
    ];
    assert_eq!(seen, expected.into_iter().collect());
}

#[test]
fn the_descriptor_shows_the_account() {
    let opened = account::open(&REGISTRATION, &sample());
    assert_eq!((opened.identity.as_str(), opened.notes.len()), ("123456789", 0));
    let descriptor = opened.adapter.descriptor().clone();
    assert_eq!(descriptor.recipients.policy, RecipientPolicy::Open);
    assert!(descriptor.recipients.has_default && descriptor.doors.is_empty());
    let bytes = |table: Value| {
        let limits = account::open(&REGISTRATION, &table).adapter.descriptor().limits.clone();
        [LimitName::ImageBytes, LimitName::DocumentBytes].map(|name| limits.get(name).unwrap().max)
    };
    assert_eq!(bytes(sample()), [10_000_000, 50_000_000]);
    assert_eq!(bytes(with(json!({ "local_api": true }))), [10_000_000, 2_000_000_000]);
    let declined: Vec<_> = descriptor
        .matrix
        .iter()
        .filter(|(_, support)| *support == Support::Declined)
        .map(|(capability, _)| capability.as_str())
        .collect();
    let wanted = |name: &&str| name.starts_with("form") || name.starts_with("receipts");
    assert!(declined.contains(&"template"));
    assert!(declined.iter().filter(|name| **name != "template").all(wanted));
    assert_eq!(declined.len(), 14);
}

#[test]
fn n_40_a_recipient_is_read_in_one_grammar_and_checked_against_the_list() {
    let table = with(json!({ "allowed_recipients": ["-100", "@some_name", "42:7"] }));
    let adapter = account::open(&REGISTRATION, &table).adapter;
    let read = |given: Option<&str>, reply| {
        let address = adapter.recipient(given, reply);
        address.map(|a| a.as_str().to_owned()).map_err(|refusal| refusal.code())
    };
    for (given, found) in [
        (None, Ok("42")),
        (Some("-100"), Ok("-100")),
        (Some("-0100"), Ok("-100")),
        (Some("@some_name"), Ok("@some_name")),
        (Some("42:7"), Ok("42:7")),
        (Some("42"), Err("recipient_not_allowed")),
        (Some("-100:7"), Err("recipient_not_allowed")),
        (Some("@other_name"), Err("recipient_not_allowed")),
        (Some(""), Err("bad_recipient")),
        (Some("+42"), Err("bad_recipient")),
        (Some(" 42"), Err("bad_recipient")),
        (Some("--42"), Err("bad_recipient")),
        (Some("@four"), Err("bad_recipient")),
        (Some("@1abcde"), Err("bad_recipient")),
        (Some("42:0"), Err("bad_recipient")),
        (Some("42:+1"), Err("bad_recipient")),
        (Some("42:2147483649"), Err("bad_recipient")),
        (Some("42:7:7"), Err("bad_recipient")),
        (Some("9999999999999999999"), Err("bad_recipient")),
        (Some("٤٢"), Err("bad_recipient")),
    ] {
        assert_eq!(read(given, false), found.map(str::to_owned), "{given:?}");
    }
    assert_eq!(read(Some("4242"), true), Ok("4242".to_owned()), "a reply needs no listing");
    let table = json!({ "bot_token": TOKEN });
    let adapter = account::open(&REGISTRATION, &table).adapter;
    let refusal = adapter.recipient(None, false).unwrap_err();
    assert_eq!(refusal.code(), "recipient_required");
}

#[test]
fn every_problem_of_the_keys_is_reported_at_once() {
    let table = json!({
        "bot_token": "12:short", "webhook_secrets": ["short"], "max_connections": 101,
        "webhook_url": "https://hook.example.test:9443/", "media_hosts": ["https://x"],
        "allowed_recipients": ["*", "me"], "default_recipient": "you",
    });
    let problems = account::problems(&REGISTRATION, &table);
    let keys: Vec<_> = problems.iter().map(|problem| problem.key).collect();
    let expected = [
        "bot_token",
        "webhook_secrets",
        "max_connections",
        "webhook_url",
        "media_hosts",
        "allowed_recipients",
        "default_recipient",
    ];
    assert_eq!(keys, expected);
    assert!(!format!("{problems:?}").contains("short"), "a detail never shows the value");
    for (over, fine) in [
        (json!({ "bot_token": "123:aaaaaaaaaaaaaaaaaaaa" }), true),
        (json!({ "bot_token": "123:aaaaaaaaaaaaaaaaaaaä" }), false),
        (json!({ "webhook_secrets": [""] }), false),
        (json!({ "webhook_url": "http://hook.example.test/" }), false),
        (json!({ "webhook_url": "https://hook.example.test:8443/x" }), true),
        (json!({ "webhook_url": "https://hook.example.test:9443/", "local_api": true }), true),
        (json!({ "public_url": "https://t.example.test:9443" }), false),
        (json!({ "public_url": "https://t.example.test:9443", "register_webhook": false }), true),
        (json!({ "public_url": "http://127.0.0.1:8080" }), true),
    ] {
        assert_eq!(
            account::problems(&REGISTRATION, &with(over.clone())).is_empty(),
            fine,
            "{over}"
        );
    }
}

#[test]
fn the_start_says_what_keeps_answers_from_coming_in() {
    let notes = |over| account::open(&REGISTRATION, &with(over)).notes.concat();
    assert!(notes(json!({ "webhook_secrets": [] })).contains("webhook_secrets"));
    assert!(notes(json!({ "public_url": "http://127.0.0.1:1" })).contains("not https"));
    assert!(notes(json!({ "public_url": null })).contains("listen.public_url"));
    assert!(notes(json!({ "register_webhook": false })).contains("register_webhook"));
    assert_eq!(notes(json!({})), "");
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a scripted wire never waits"),
    }
}

fn probed(answers: &[(&str, u16, Value)]) -> contract::Health {
    let adapter = account::open(&REGISTRATION, &sample()).adapter;
    let steps = answers.iter().map(|(method, status, body)| Step::Send {
        line: format!("GET https://api.telegram.org/bot***/{method}"),
        result: answer(*status, body),
    });
    let wire = ScriptedWire::new(steps);
    at_once(adapter.probe(&wire as &dyn Wire))
}

#[test]
fn n_44_a_probe_tells_the_bot_the_webhook_and_no_token() {
    let me = json!({ "ok": true, "result": { "id": 123_456_789, "username": "tidings_bot" } });
    let info = json!({ "ok": true, "result": {
        "url": "https://x.test", "pending_update_count": 3, "last_error_date": 1,
        "last_error_message": format!("Wrong response: {TOKEN}"),
    } });
    let health = probed(&[("getMe", 200, me.clone()), ("getWebhookInfo", 200, info)]);
    assert_eq!(health.state, HealthState::Ok);
    assert_eq!(health.identity_hint.as_deref(), Some("@tidings_bot"));
    assert!(health.detail.contains("3 updates pending"), "{}", health.detail);
    assert!(health.detail.contains("Wrong response: [secret:bot_token]"), "{}", health.detail);
    let none = json!({ "ok": true, "result": { "url": "" } });
    let health = probed(&[("getMe", 200, me), ("getWebhookInfo", 200, none)]);
    assert_eq!(health.detail, "no webhook is registered");

    let other = json!({ "ok": true, "result": { "id": 7, "username": "other_bot" } });
    let health = probed(&[("getMe", 200, other)]);
    assert_eq!(health.state, HealthState::Failing);
    assert!(health.detail.starts_with("identity_mismatch"));
    let refused = |status| {
        let body = json!({ "ok": false, "error_code": status, "description": "No" });
        probed(&[("getMe", status, body)])
    };
    assert!(refused(401).refused && refused(404).refused);
    assert!(refused(409).detail.starts_with("webhook_conflict"));
    assert!(!refused(500).refused);
}

#[test]
fn t_20_the_token_is_in_no_preview_fault_or_debug() {
    let opened = account::open(&REGISTRATION, &sample());
    let address = opened.adapter.recipient(Some("42"), false).unwrap();
    let ctx = RenderCtx { send: None, form_token: None, address: &address, reply_to: None };
    let content = content::content(&json!({ "message": "hello" }));
    let rendered = opened.adapter.render(&ctx, &content).unwrap();
    let echo = json!({ "ok": false, "error_code": 400, "description": TOKEN });
    let outcome = opened.adapter.interpret(&rendered.parts[0], &answer(400, &echo));
    let views = kit::view::part_views(&rendered.parts[0], "", kit::view::Mask::Hidden);
    let shown = format!("{rendered:?}{outcome:?}{views:?}");
    assert!(shown.contains("bot***/sendMessage"));
    assert!(!shown.contains("123456789:") && !shown.contains("AAF-fake"), "{shown}");
    let exposed = match &rendered.parts[0].payload {
        contract::Payload::Request(request) => request.url.expose(opened.adapter.secrets()),
        contract::Payload::Frame(_) => String::new(),
    };
    assert_eq!(exposed, format!("https://api.telegram.org/bot{TOKEN}/sendMessage"));
}

#[test]
fn t_31_a_part_moved_to_a_new_chat_is_the_same_message_there() {
    let adapter = account::open(&REGISTRATION, &sample()).adapter;
    let content = content::content(&json!({ "message": "a".repeat(9000) }));
    let parts_to = |chat: &str| {
        let address = adapter.recipient(Some(chat), false).unwrap();
        let ctx = RenderCtx {
            send: Some(&SendId::from_bits(1)),
            form_token: None,
            address: &address,
            reply_to: None,
        };
        adapter.render(&ctx, &content).unwrap().parts
    };
    let before = parts_to("-500");
    let body = json!({ "ok": false, "error_code": 400, "description": "Bad Request: upgraded",
        "parameters": { "migrate_to_chat_id": -1_000_000_000_900_i64 } });
    let Outcome::Moved { address } = adapter.interpret(&before[1], &answer(400, &body)) else {
        panic!("a migration is no fault");
    };
    let after = parts_to(&address);
    assert_eq!(after.len(), 3);
    for (old, new) in before.iter().zip(&after) {
        let text = |part: &contract::Part| format!("{:?}", part.payload);
        assert_eq!(text(old).replace("-500", "-1000000000900"), text(new));
        assert_eq!(old.kind, PartKind::Text);
    }
}
