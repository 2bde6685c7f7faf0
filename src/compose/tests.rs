//! Bounds at, below and above their number, with four-byte characters; composition rule by rule.
use super::bounds as b;
use super::json::Json;
use super::request::{DecodeCtx, NotifyRequest};
use super::rules::{Purpose, violations};
use crate::clock::Millis;
use serde_json::{Value, json};

const NOW: Millis = Millis(1_796_000_000_000);

fn decode(body: &Value) -> Result<NotifyRequest, Vec<contract::Problem>> {
    let entries = Json::object(body.to_string().as_bytes()).unwrap();
    NotifyRequest::decode(entries, DecodeCtx { now: NOW, public_url: Some("https://p.test") })
}

fn with(field: &str, value: Value) -> Value {
    let mut body = json!({ "message": "m" });
    body[field] = value;
    body
}

/// A row: the bound, the code past it, a body of that size.
type Row = (usize, &'static str, fn(usize) -> Value);

fn wide(n: usize) -> String {
    "😀".repeat(n)
}

fn reply(text: String) -> Value {
    json!({ "kind": "reply", "text": text })
}

fn url_of(n: usize) -> String {
    format!("https://h/{}", "a".repeat(n - 10))
}

fn text_rows() -> Vec<Row> {
    vec![
        (b::MESSAGE, "too_long", |n| json!({ "message": wide(n) })),
        (b::ADDRESS, "too_long", |n| with("recipient", json!(wide(n)))),
        (b::ADDRESS, "too_long", |n| with("audience", json!(wide(n)))),
        (b::LABEL, "too_long", |n| with("footer", json!(wide(n)))),
        (b::LABEL, "too_long", |n| {
            with("media", json!([{ "kind": "link", "url": "http://h", "caption": wide(n) }]))
        }),
        (b::FILENAME, "too_long", |n| {
            with(
                "media",
                json!([{ "kind": "document", "url": "https://h/x", "filename": wide(n) }]),
            )
        }),
        (8192, "bad_url", |n| with("media", json!([{ "kind": "link", "url": url_of(n) }]))),
        (b::LABEL, "too_long", |n| with("options", json!([reply(wide(n))]))),
        (b::LABEL, "too_long", |n| {
            with("options", json!([{ "kind": "reply", "text": "a", "description": wide(n) }]))
        }),
        (b::OPTION_ID, "too_long", |n| {
            with("options", json!([{ "kind": "reply", "text": "a", "id": wide(n) }]))
        }),
        (b::LABEL, "too_long", |n| {
            with("options", json!([{ "kind": "link", "label": wide(n), "url": "https://h" }]))
        }),
        (b::LABEL, "too_long", |n| {
            with("sections", json!([{ "title": wide(n), "rows": [{ "text": "a" }] }]))
        }),
        (b::LABEL, "too_long", |n| {
            with("location", json!({ "latitude": 1, "longitude": 1, "name": wide(n) }))
        }),
        (b::LABEL, "too_long", |n| {
            with("location", json!({ "latitude": 1, "longitude": 1, "address": wide(n) }))
        }),
        (b::TEMPLATE_NAME, "too_long", |n| {
            with("template", json!({ "name": wide(n), "language": "en" }))
        }),
        (b::TEMPLATE_LANGUAGE, "too_long", |n| {
            with("template", json!({ "name": "n", "language": wide(n) }))
        }),
        (b::TEMPLATE_VALUE, "too_long", |n| {
            with("template", json!({ "name": "n", "language": "en", "body_parameters": [wide(n)] }))
        }),
        (b::METADATA_VALUE, "too_long", |n| with("metadata", json!({ "k": wide(n) }))),
        (b::METADATA_KEY, "too_long", |n| with("metadata", json!({ wide(n): "v" }))),
        (b::FORM_TAG, "bad_format", |n| with("form_tag", json!("a".repeat(n)))),
        (b::SCHEMA_BYTES, "too_long", |n| with("schema", json!({ "a": "b".repeat(n - 8) }))),
    ]
}

fn list_rows() -> Vec<Row> {
    vec![
        (50, "too_many", |n| {
            with("media", json!(vec![json!({ "kind": "link", "url": "https://h" }); n]))
        }),
        (10, "too_many", |n| with("options", json!(vec![reply("a".to_owned()); n]))),
        (10, "too_many", |n| {
            with("sections", json!(vec![json!({ "title": "t", "rows": [{ "text": "a" }] }); n]))
        }),
        (10, "too_many", |n| {
            with("sections", json!([{ "title": "t", "rows": vec![json!({ "text": "a" }); n] }]))
        }),
        (b::TEMPLATE_PARAMETERS, "too_many", |n| {
            with(
                "template",
                json!({ "name": "n", "language": "en", "body_parameters": vec!["p"; n] }),
            )
        }),
        (b::TEMPLATE_BUTTONS, "too_many", |n| {
            let button = json!({ "kind": "quick_reply", "payload": "p" });
            with("template", json!({ "name": "n", "language": "en", "buttons": vec![button; n] }))
        }),
        (b::METADATA_PAIRS, "too_many", |n| {
            let pairs: serde_json::Map<_, _> =
                (0..n).map(|i| (format!("k{i}"), json!("v"))).collect();
            with("metadata", Value::Object(pairs))
        }),
        (b::PAGES, "too_many", |n| with("pages", json!(vec![json!({ "title": "p" }); n]))),
    ]
}

#[test]
fn every_bound_holds_at_its_number_and_refuses_one_past_it() {
    for (i, (max, code, body)) in text_rows().into_iter().chain(list_rows()).enumerate() {
        for n in [max - 1, max] {
            assert_eq!(decode(&body(n)).err(), None, "row {i} at {n}");
        }
        let problems = decode(&body(max + 1)).expect_err(&format!("row {i} past {max}"));
        assert_eq!(problems[0].code, code, "row {i}: {problems:?}");
    }
}

#[test]
fn the_urls_of_a_request_are_bounded_together() {
    let image = |n: usize| {
        let payload = "A".repeat((n - 22) / 4 * 4);
        json!({ "kind": "image", "url": format!("data:image/png;base64,{payload}") })
    };
    let body = with("media", json!([image(524_286), image(524_286), image(524_286)]));
    let problems = decode(&body).unwrap_err();
    assert!(problems.iter().any(|p| p.code == "too_long" && p.field == "media"), "{problems:?}");
}

#[test]
fn expiry_lies_between_a_second_and_seven_days() {
    let at = |millis: i64| {
        let mut body = with("expires_at", json!(Millis(NOW.0 + millis).rfc3339()));
        body["channel"] = json!("c");
        decode(&body).err().map(|problems| problems[0].code)
    };
    assert_eq!(at(1000), Some("out_of_range"));
    assert_eq!(at(1001), None);
    assert_eq!(at(7 * 86_400_000), None);
    assert_eq!(at(7 * 86_400_000 + 1), Some("out_of_range"));
    for (text, fine) in [
        ("2026-12-01T00:00:00Z", true),
        ("2026-12-01T02:00:00.123456789+02:00", true),
        ("2026-12-01T00:00:00.1234567890Z", false),
        ("2026-12-01 00:00:00Z", false),
        ("2026-12-01T00:00:00", false),
        ("2026-12-01T00:00:00+0200", false),
        ("2026-02-30T00:00:00Z", false),
    ] {
        let found = decode(&with("expires_at", json!(text)));
        let bad = found.err().is_some_and(|p| p[0].code == "bad_format");
        assert_eq!(!bad, fine, "{text}");
    }
}

#[test]
fn nt_5_null_is_absent_at_every_depth() {
    let body = json!({
        "message": "m", "channel": null, "media": null, "sender_identity": null,
        "options": [{ "kind": "reply", "text": "a", "id": null, "description": null }],
        "metadata": { "k": null },
    });
    let request = decode(&body).unwrap();
    assert!(request.media.is_empty() && request.channel.is_none() && request.metadata.is_empty());
}

#[test]
fn nt_14_own_references_are_known_by_their_path_and_origin_alone() {
    use super::request::GivenSource;
    let id = format!("med_{}", "A".repeat(43));
    let source = |url: String| {
        let body = with("media", json!([{ "kind": "image", "url": url }]));
        decode(&body).map(|r| r.media[0].source.clone())
    };
    for url in [
        format!("/api/interactions/media/{id}"),
        format!("https://p.test/api/interactions/media/{id}"),
    ] {
        assert!(matches!(source(url), Ok(GivenSource::Own(_))));
    }
    let foreign = source(format!("https://other.test/api/interactions/media/{id}"));
    assert!(matches!(foreign, Ok(GivenSource::Remote(_))));
    assert!(source(format!("/api/interactions/media/{id}x")).is_err());
}

/// A rule: a body that breaks it alone, its code, its field.
type Broken = (Value, &'static str, &'static str);

fn broken() -> Vec<Broken> {
    let options = json!([{ "kind": "reply", "text": "a" }]);
    let sections = json!([{ "title": "t", "rows": [{ "text": "a" }] }]);
    let pin = json!({ "latitude": 1, "longitude": 1 });
    let header = json!({ "kind": "image", "url": "https://h/x" });
    let template = json!({ "name": "n", "language": "en" });
    let schema = json!({ "type": "object" });
    vec![
        (json!({ "message": "" }), "content_required", "message"),
        (json!({ "message": "", "template": template }), "content_required", "message"),
        (
            json!({ "message": "", "location": pin, "options": options }),
            "prompt_required",
            "message",
        ),
        (
            json!({ "message": "", "location": pin, "sections": sections }),
            "prompt_required",
            "message",
        ),
        (
            json!({ "message": "", "location": pin, "schema": schema, "channel": "c" }),
            "prompt_required",
            "message",
        ),
        (
            json!({ "message": "m", "options": options, "sections": sections }),
            "conflict",
            "sections",
        ),
        (
            json!({ "message": "m", "schema": schema, "options": options, "channel": "c" }),
            "conflict",
            "schema",
        ),
        (
            json!({ "message": "m", "schema": schema, "sections": sections, "channel": "c" }),
            "conflict",
            "schema",
        ),
        (json!({ "message": "m", "header": header }), "requires", "header"),
        (json!({ "message": "m", "footer": "f" }), "requires", "footer"),
        (json!({ "message": "m", "template": template, "location": pin }), "conflict", "location"),
        (
            json!({ "message": "m", "template": template, "options": options }),
            "conflict",
            "options",
        ),
        (json!({ "message": "m", "data": {} }), "requires", "data"),
        (json!({ "message": "m", "pages": [{ "title": "p" }] }), "requires", "pages"),
        (json!({ "message": "m", "form_tag": "t" }), "requires", "form_tag"),
        (json!({ "message": "m", "schema": schema }), "requires", "channel"),
        (
            json!({ "message": "m", "expires_at": Millis(NOW.0 + 60_000).rfc3339() }),
            "requires",
            "channel",
        ),
    ]
}

#[test]
fn nt_20_each_rule_of_composition_is_found_alone() {
    for (body, code, field) in broken() {
        let request = decode(&body).unwrap_or_else(|p| panic!("{body}: {p:?}"));
        let found = violations(&request, Purpose::Record);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert_eq!((found[0].code, found[0].field.as_str()), (code, field), "{body}");
    }
}

#[test]
fn nt_20_violations_come_in_the_order_of_the_rules() {
    let body = json!({
        "message": "", "options": [{ "kind": "reply", "text": "a" }],
        "sections": [{ "title": "t", "rows": [{ "text": "a" }] }], "schema": {}, "footer": "f",
        "template": { "name": "n", "language": "en" }, "expires_at": Millis(NOW.0 + 9000).rfc3339(),
    });
    let found = violations(&decode(&body).unwrap(), Purpose::Record);
    let codes: Vec<(&str, &str)> = found.iter().map(|p| (p.code, p.field.as_str())).collect();
    assert_eq!(
        codes,
        [
            ("content_required", "message"),
            ("prompt_required", "message"),
            ("prompt_required", "message"),
            ("conflict", "sections"),
            ("conflict", "schema"),
            ("conflict", "schema"),
            ("conflict", "options"),
            ("conflict", "sections"),
            ("conflict", "schema"),
            ("conflict", "footer"),
            ("requires", "channel"),
            ("requires", "channel"),
        ]
    );
    // A preview of every channel needs none.
    assert_eq!(violations(&decode(&body).unwrap(), Purpose::PreviewAll).len(), 10);
}

#[test]
fn nt_21_what_may_stand_together_does() {
    let pin = json!({ "latitude": -90, "longitude": 180.0 });
    let media = json!([{ "kind": "image", "url": "https://h/x.png" }]);
    for body in [
        json!({ "message": "m", "media": media, "location": pin, "options": [{ "kind": "reply", "text": "a" }] }),
        json!({ "message": "m", "media": media, "location": pin, "schema": {}, "channel": "c" }),
        json!({ "message": "", "media": media }),
        json!({ "message": "", "location": pin }),
        json!({ "message": "m", "template": { "name": "n", "language": "en" }, "channel": "c",
            "metadata": { "a": "b" }, "expires_at": Millis(NOW.0 + 9000).rfc3339() }),
        json!({ "message": "m", "recipient": "42" }),
        json!({ "message": "m", "header": media[0], "footer": "f",
            "sections": [{ "title": "t", "rows": [{ "text": "a" }] }] }),
    ] {
        let request = decode(&body).unwrap_or_else(|p| panic!("{body}: {p:?}"));
        assert_eq!(violations(&request, Purpose::Record), [], "{body}");
    }
}
