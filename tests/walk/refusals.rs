//! Every refusal that can occur yet: its status and code, over HTTP and the command line, on every
//! store, and nothing left behind. [NT-22] [NT-23] [NT-27] [NT-56] [NT-60]
use crate::world::{Answer, Plan, World};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use tidings::boot::Overrides;
use tidings::clock::SystemClock;
use tidings::problem::{CODES, NOT_YET};
use tidings::store::model::Model;

struct Case {
    code: &'static str,
    status: u16,
    body: Value,
}

fn case(status: u16, code: &'static str, body: Value) -> Case {
    Case { code, status, body }
}

fn with(extra: Value) -> Value {
    let mut body = json!({ "message": "hello" });
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn reply(text: &str) -> Value {
    json!({ "kind": "reply", "text": text })
}

fn shape_cases() -> Vec<Case> {
    let image = |url: &str| with(json!({ "media": [{ "kind": "image", "url": url }] }));
    let wide = "😀";
    vec![
        case(400, "required", json!({})),
        case(400, "required", with(json!({ "location": { "latitude": 1 } }))),
        case(400, "unknown_field", with(json!({ "SECRETKEY": 1 }))),
        case(
            400,
            "unknown_field",
            with(json!({ "template": { "name": "n", "language": "en", "parameters": [] } })),
        ),
        case(400, "wrong_type", json!({ "message": 5 })),
        case(400, "wrong_type", with(json!({ "options": ["Yes"] }))),
        case(400, "wrong_type", with(json!({ "location": { "latitude": "1", "longitude": 2 } }))),
        case(400, "blank", with(json!({ "recipient": "\u{200B}" }))),
        case(400, "too_long", json!({ "message": wide.repeat(65_537) })),
        case(400, "too_long", with(json!({ "audience": wide.repeat(513) }))),
        case(400, "too_many", with(json!({ "options": vec![reply("a"); 11] }))),
        case(
            400,
            "too_many",
            with(json!({ "sections": [
            { "title": "a", "rows": vec![reply("a"); 6] }, { "title": "b", "rows": vec![reply("b"); 5] }] })),
        ),
        case(400, "empty", with(json!({ "media": [] }))),
        case(400, "out_of_range", with(json!({ "location": { "latitude": 91, "longitude": 0 } }))),
        case(
            400,
            "not_one_of",
            with(json!({ "media": [{ "kind": "gif", "url": "https://h/x" }] })),
        ),
        case(400, "bad_text", json!({ "message": "a\u{1b}b" })),
        case(
            400,
            "bad_text",
            with(
                json!({ "options": [{ "kind": "link", "label": "a\u{202E}b", "url": "https://h" }] }),
            ),
        ),
        case(400, "bad_url", image("https://SECRET@host/x")),
        case(400, "bad_url", image("http://host/x.png")),
        case(400, "bad_url", image("/api/interactions/media/med_short")),
        case(400, "bad_data_uri", image("data:image/svg+xml;base64,PHN2Zy8+")),
        case(400, "bad_data_uri", image("data:image/png;base64,PGh0bWw+")),
        case(400, "bad_format", with(json!({ "form_tag": "two words" }))),
        case(400, "bad_format", with(json!({ "channel": "telegram", "expires_at": "tomorrow" }))),
        case(
            400,
            "not_allowed_here",
            with(json!({ "media": [
            { "kind": "image", "url": "https://h/x.png", "filename": "x.png" }] })),
        ),
        case(
            400,
            "duplicate",
            with(json!({ "options": [
            { "kind": "reply", "text": "a", "id": "SECRET" }, { "kind": "reply", "text": "b", "id": "SECRET" }] })),
        ),
        case(400, "sender_identity_not_allowed", with(json!({ "sender_identity": "SECRET" }))),
        case(400, "bad_text", with(json!({ "metadata": { "SECRETKEY\n": "v" } }))),
        case(
            400,
            "too_many",
            with(json!({ "metadata":
            (0..17).map(|i| (format!("k{i}"), json!("v"))).collect::<serde_json::Map<_, _>>() })),
        ),
    ]
}

fn later_cases() -> Vec<Case> {
    let on = |extra: Value| {
        let mut body = with(extra);
        body["channel"] = json!("telegram");
        body
    };
    let unknown = format!("/api/interactions/media/med_{}", "A".repeat(43));
    vec![
        case(400, "content_required", json!({ "message": " " })),
        case(
            400,
            "prompt_required",
            json!({ "message": "", "options": [reply("a")],
            "location": { "latitude": 1, "longitude": 1 } }),
        ),
        case(
            400,
            "conflict",
            with(json!({ "options": [reply("a")],
            "sections": [{ "title": "t", "rows": [reply("b")] }] })),
        ),
        case(400, "requires", with(json!({ "footer": "SECRET" }))),
        case(400, "requires", with(json!({ "schema": { "type": "object" } }))),
        case(404, "unknown_channel", with(json!({ "channel": "SECRET" }))),
        case(404, "unknown_channel", with(json!({ "channel": "" }))),
        case(
            501,
            "unsupported_capability",
            on(json!({ "template": { "name": "n", "language": "en" } })),
        ),
        case(501, "unsupported_capability", on(json!({ "schema": { "type": "object" } }))),
        case(400, "bad_recipient", on(json!({ "recipient": "SECRET nobody" }))),
        case(400, "media_unknown", with(json!({ "media": [{ "kind": "image", "url": unknown }] }))),
        case(400, "too_long_for_channel", {
            let mut body = on(json!({}));
            body["message"] = json!("word ".repeat(13_000));
            body["recipient"] = json!("42");
            body
        }),
    ]
}

/// Stores to hold the table on.
fn overrides(store: &str) -> Overrides {
    let clock = Arc::new(SystemClock);
    match store {
        "model" => Overrides { store: Some(Arc::new(Model::new(clock))), ..Overrides::default() },
        _ => Overrides::default(),
    }
}

fn check(case: &Case, answer: &Answer) {
    let body: String = case.body.to_string().chars().take(120).collect();
    assert_eq!(answer.code(), case.code, "{body}: {}", answer.text);
    assert_eq!(answer.status, case.status, "{body}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert!(!answer.text.contains("SECRET"), "a value is repeated: {}", answer.text);
    let document = answer.json();
    assert_eq!(document["type"], format!("urn:tidings:problem:{}", case.code));
    assert_eq!(document["status"], case.status);
}

#[tokio::test]
async fn nt_27_every_refusal_leaves_nothing_behind_on_every_store() {
    for store in ["embedded", "model"] {
        let plan = Plan { overrides: overrides(store), ..Plan::default() }
            .set("channels.telegram.text_parts", "3")
            .set("channels.telegram.default_recipient", "''")
            .with_vendors();
        let world = World::start(plan).await;
        let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        assert_eq!(
            world
                .notify(&json!({ "message": "kept", "media": [{ "kind": "image", "url": png }] }))
                .await
                .status,
            201
        );
        let before = world.state().await;
        for case in shape_cases().into_iter().chain(later_cases()) {
            check(&case, &world.notify(&case.body).await);
        }
        let required = with(json!({ "channel": "telegram" }));
        check(&case(400, "recipient_required", required.clone()), &world.notify(&required).await);
        assert_eq!(world.state().await, before, "{store}");
        assert!(world.received().await.is_empty(), "a refusal reached the medium");
        world.stop().await;
    }
}

/// Method, path, key, headers, body; status and code.
type Row<'a> =
    (&'a str, &'a str, Option<&'a str>, Vec<(&'a str, &'a str)>, Option<Vec<u8>>, u16, &'a str);

fn transport_rows<'a>(admin: &'a str, huge: &'a str) -> Vec<Row<'a>> {
    let json_type = ("content-type", "application/json");
    let body = || Some(br#"{"message":"hello"}"#.to_vec());
    let admin = Some(admin);
    let path = "/api/notifications";
    vec![
        ("POST", path, admin, vec![json_type, ("x-huge", huge)], body(), 413, "too_large"),
        ("POST", "/api/nothing", admin, vec![json_type], body(), 404, "not_found"),
        ("POST", "/api/notifications/", admin, vec![json_type], body(), 404, "not_found"),
        ("DELETE", path, admin, vec![], None, 405, "method_not_allowed"),
        ("GET", "/api/notifications/preview", admin, vec![], None, 405, "method_not_allowed"),
        ("POST", path, None, vec![json_type], body(), 401, "unauthenticated"),
        ("POST", path, Some("tk_wrong"), vec![json_type], body(), 401, "unauthenticated"),
        (
            "POST",
            path,
            admin,
            vec![json_type, ("accept", "text/html")],
            body(),
            406,
            "not_acceptable",
        ),
        (
            "POST",
            path,
            admin,
            vec![("content-type", "text/plain")],
            body(),
            415,
            "unsupported_media_type",
        ),
        (
            "POST",
            path,
            admin,
            vec![("content-type", "application/json; charset=latin1")],
            body(),
            415,
            "unsupported_media_type",
        ),
        ("POST", path, admin, vec![json_type], Some(vec![b'a'; 2_097_153]), 413, "too_large"),
        (
            "POST",
            path,
            admin,
            vec![json_type, ("idempotency-key", "\u{e9}")],
            body(),
            400,
            "bad_idempotency_key",
        ),
        (
            "POST",
            path,
            admin,
            vec![json_type],
            Some(b"{\"message\":1,\"message\":2}".to_vec()),
            400,
            "malformed_json",
        ),
    ]
}

#[tokio::test]
async fn nt_27_transport_refusals_leave_nothing_behind() {
    let world = World::ordinary().await;
    let before = world.state().await;
    let huge = "a".repeat(33 * 1024);
    let rows = transport_rows(&world.admin, &huge);
    for (method, path, key, headers, body, status, code) in rows {
        let answer = world.call(method, path, key, &headers, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{method} {path}: {}",
            answer.text
        );
        if status == 405 {
            assert!(answer.header("allow").is_some());
        }
        if status == 401 {
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(world.state().await, before);
    world.stop().await;
}

/// Files whose cases provoke refusals.
const REFUSING: &[&str] = &[
    "refusals",
    "idempotency",
    "media",
    "owned",
    "operations",
    "operator",
    "opting",
    "delivery",
    "inbox",
    "chat",
];

#[tokio::test]
async fn nt_60_every_code_of_the_table_is_provoked_somewhere_or_listed_as_not_yet() {
    let tests: String = REFUSING
        .iter()
        .map(|name| {
            let path = format!("{}/tests/walk/{name}.rs", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        })
        .collect();
    for (code, _, _) in CODES {
        let not_yet = NOT_YET.iter().any(|(c, _)| c == code);
        let provoked = tests.matches(&format!("\"{code}\"")).count() > usize::from(not_yet);
        let internal = *code == "internal";
        assert!(provoked != not_yet || internal, "{code}: provoked {provoked}, listed {not_yet}");
    }
}

/// The flags that say the same as a body; `None` for a body no command line can say.
fn flags(body: &Value) -> Option<Vec<String>> {
    let object = body.as_object()?;
    let mut flags = vec![object.get("message")?.as_str()?.to_owned()];
    for (key, value) in object.iter().filter(|(key, _)| *key != "message") {
        let plain = ["channel", "recipient", "audience", "footer", "form_tag", "expires_at"];
        let rich = [
            "media", "location", "template", "options", "sections", "header", "schema", "metadata",
        ];
        let value = match value {
            Value::String(text) if plain.contains(&key.as_str()) => text.clone(),
            value if rich.contains(&key.as_str()) => value.to_string(),
            _ => return None,
        };
        flags.push(format!("--{}={value}", key.replace('_', "-")));
    }
    Some(flags)
}

#[tokio::test]
async fn nt_56_the_command_line_gives_the_same_refusals() {
    let world =
        World::start(Plan::default().set("channels.telegram.text_parts", "3").with_vendors()).await;
    let before = world.state().await;
    let mut said = 0;
    for case in shape_cases().into_iter().chain(later_cases()) {
        let Some(flags) =
            flags(&case.body).filter(|f| f[0].len() < 100_000 && !f[0].contains('\0'))
        else {
            continue;
        };
        let output = tokio::task::spawn_blocking({
            let (url, key) = (world.url.clone(), world.admin.clone());
            move || {
                Command::new(env!("CARGO_BIN_EXE_tidings"))
                    .args(["notify", "--json"])
                    .args(
                        flags
                            .iter()
                            .map(std::string::String::as_str)
                            .filter(|f| f.starts_with("--")),
                    )
                    .arg("--")
                    .arg(&flags[0])
                    .env("TIDINGS_URL", url)
                    .env("TIDINGS_KEY", key)
                    .output()
                    .unwrap()
            }
        })
        .await
        .unwrap();
        // What does not decode into the field's shape is refused before any request is made.
        if matches!(case.code, "wrong_type" | "unknown_field" | "required") {
            assert_eq!(output.status.code(), Some(2), "{}", case.code);
            continue;
        }
        assert_eq!(
            output.status.code(),
            Some(1),
            "{}: {}",
            case.code,
            String::from_utf8_lossy(&output.stderr)
        );
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let http = world.notify(&case.body).await.json();
        assert_eq!(document["code"], case.code);
        assert_eq!(document["errors"], http["errors"]);
        said += 1;
    }
    assert!(said > 20, "only {said} rows could be said on the command line");
    assert_eq!(world.state().await, before);
    world.stop().await;
}

#[tokio::test]
async fn an_address_without_a_key_is_limited_and_a_valid_key_is_not() {
    let world = World::start(Plan::default()).await;
    let mut limited = None;
    for _ in 0..2000 {
        let answer = world.call("GET", "/api/notifications", None, &[], None).await;
        if answer.status == 429 {
            limited = Some(answer);
            break;
        }
    }
    let limited = limited.expect("calls without a key meet the bucket");
    assert_eq!(limited.code(), "rate_limited");
    assert!(limited.header("retry-after").is_some());
    assert_eq!(world.call("GET", "/healthz", None, &[], None).await.status, 200);
    for _ in 0..300 {
        assert_eq!(world.get("/api/notifications?limit=1").await.status, 200);
    }
    world.stop().await;
}

#[tokio::test]
async fn a_keys_own_rate_is_its_bucket() {
    let plan = Plan::default().set("limits.key_rate", "1").set("limits.key_burst", "3");
    let world = World::start(plan).await;
    let mut codes = Vec::new();
    for _ in 0..6 {
        codes.push(world.get("/api/notifications").await.status);
    }
    assert_eq!(codes[..3], [200, 200, 200]);
    assert!(codes[3..].contains(&429), "{codes:?}");
    world.stop().await;
}
