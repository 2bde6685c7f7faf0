//! Whatever the content, what goes out keeps the vendor's bounds and loses no word.
use super::{REGISTRATION, sample};
use contract::{Body, MultipartValue, Part, Payload, Unit, WireRequest};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use testkit::generic::Subject;

/// A request's arguments, multipart read back into JSON.
fn arguments(request: &WireRequest) -> Map<String, Value> {
    match &request.body {
        Body::Json(text) => serde_json::from_str(text).unwrap(),
        Body::Multipart(fields) => fields
            .iter()
            .filter_map(|field| match &field.value {
                MultipartValue::Text(text) => {
                    let plain = matches!(&*field.name, "text" | "caption" | "title" | "address");
                    let json = (!plain).then(|| serde_json::from_str(text).ok()).flatten();
                    Some((field.name.clone(), json.unwrap_or_else(|| json!(text))))
                }
                MultipartValue::File { .. } => None,
            })
            .collect(),
        Body::Empty | Body::Form(_) => panic!("no such body"),
    }
}

fn requests(part: &Part) -> Vec<Map<String, Value>> {
    let Payload::Request(request) = &part.payload else { panic!("no frame") };
    let alternate = part.alternate.as_ref().map(|alternate| &alternate.request);
    [request].into_iter().chain(alternate).map(arguments).collect()
}

fn units(text: &str) -> usize {
    Unit::Utf16.measure(text)
}

/// The slice of a text that an entity lies over.
fn slice(text: &str, entity: &Value) -> String {
    let number = |key: &str| usize::try_from(entity[key].as_u64().unwrap()).unwrap();
    let all: Vec<u16> = text.encode_utf16().collect();
    let range = number("offset")..number("offset") + number("length");
    String::from_utf16(&all[range]).expect("an entity cuts no character")
}

/// Checks one request of part `index` of `count`, and gives the text it shows.
fn check(arguments: &Map<String, Value>, index: usize, count: usize) -> String {
    assert!(!arguments.contains_key("parse_mode"));
    assert_eq!(arguments.contains_key("disable_notification"), index > 0);
    let mut shown = String::new();
    for (member, entities, max) in
        [("text", "entities", 4096), ("caption", "caption_entities", 1024)]
    {
        let Some(text) = arguments.get(member).and_then(Value::as_str) else { continue };
        assert!(!contract::text::is_blank(text) && units(text) <= max, "{member}: {text}");
        for entity in arguments.get(entities).and_then(Value::as_array).into_iter().flatten() {
            assert!(!slice(text, entity).is_empty());
        }
        shown.push_str(text);
    }
    if let Some(markup) = arguments.get("reply_markup") {
        assert_eq!(index + 1, count, "the keyboard is under the last message");
        for row in markup["inline_keyboard"].as_array().unwrap() {
            let label = row[0]["text"].as_str().unwrap();
            assert!(!contract::text::is_blank(label) && units(label) <= 64);
            match (row[0]["callback_data"].as_str(), row[0]["url"].as_str()) {
                (Some(data), None) => assert!(data.starts_with("o:") && data.len() <= 31),
                (None, Some(url)) => assert!(url.chars().count() <= 2048),
                other => panic!("a button is one of both: {other:?}"),
            }
        }
    }
    shown
}

fn long_text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "word ",
        "😀",
        "e\u{301}",
        "\n\n",
        "\n",
        "ж",
        "👩‍👩‍👧",
        "<b>",
        "*_~`",
        " ",
        "\u{202E}x\u{202C}",
        "long",
    ]);
    let times = prop_oneof![1usize..20, 1usize..900];
    let runs = prop::collection::vec((bits, times), 0..12);
    runs.prop_map(|runs| {
        let text: String = runs.into_iter().map(|(bit, times)| bit.repeat(times)).collect();
        format!("begin {text}")
    })
}

fn label() -> impl Strategy<Value = String> {
    ("[a-z]{1,4}", prop::sample::select(vec!["a", "😀", "e\u{301}", "•"]), 0usize..120)
        .prop_map(|(head, bit, times)| head + &bit.repeat(times))
}

fn choice() -> impl Strategy<Value = Value> {
    let reply = (label(), prop::option::of(label())).prop_map(|(text, id)| match id {
        Some(id) => json!({ "kind": "reply", "text": text, "id": id }),
        None => json!({ "kind": "reply", "text": text, "description": text }),
    });
    let host = prop::sample::select(vec!["www.x.test", "intranet", "10.0.0.1"]);
    let link = (label(), host).prop_map(|(label, host)| {
        json!({ "kind": "link", "label": label, "url": format!("https://{host}/a") })
    });
    let options = prop::collection::vec(prop_oneof![3 => reply, 1 => link], 1..10)
        .prop_map(|options| json!({ "options": options }));
    let rows = prop::collection::vec(label().prop_map(|text| json!({ "text": text })), 1..3);
    let section = (label(), rows).prop_map(|(title, rows)| json!({ "title": title, "rows": rows }));
    let sections =
        prop::collection::vec(section, 1..5).prop_map(|sections| json!({ "sections": sections }));
    prop_oneof![options, sections]
}

fn file() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        ("image", "a.jpg"),
        ("image", "a.gif"),
        ("video", "a.mp4"),
        ("audio", "a.ogg"),
        ("audio", "a"),
        ("document", "a.pdf"),
        ("document", "a.docx"),
    ]);
    (kinds, prop::option::of(label())).prop_map(|((kind, name), caption)| {
        let url = format!("https://files.example.test/{name}");
        json!({ "kind": kind, "url": url, "caption": caption })
    })
}

fn contents() -> impl Strategy<Value = Value> {
    let surface = (choice(), prop::option::of(file()), prop::option::of(label()));
    let files = prop::collection::vec(file(), 0..3);
    let pin = prop::option::of(Just(json!({ "latitude": 1.5, "longitude": 2.5, "name": "Here" })));
    let parts = (long_text(), files, pin, prop::option::of(surface));
    parts.prop_map(|(message, media, location, surface)| {
        let mut content = json!({ "message": message, "media": media, "location": location });
        if let Some((choice, header, footer)) = surface {
            content = testkit::account::overlaid(&content, &choice);
            content["header"] = header.unwrap_or_default();
            content["footer"] = footer.map_or(Value::Null, |footer| json!(footer));
        }
        content
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn t_3_t_27_bounds_hold_and_no_word_is_lost(content in contents()) {
        // Room for the longest text this makes: refusals are the cases' business.
        let table = testkit::account::overlaid(&sample(), &json!({ "text_parts": 60 }));
        let subject = Subject::new(&REGISTRATION, &table, "42");
        let Ok(rendered) = subject.render_json(&content) else {
            panic!("nothing here is over a bound that refuses");
        };
        let count = rendered.parts.len();
        let mut shown = String::new();
        for (index, part) in rendered.parts.iter().enumerate() {
            let texts: Vec<_> =
                requests(part).iter().map(|request| check(request, index, count)).collect();
            prop_assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "the other way differs");
            shown.push_str(&texts[0]);
        }
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let message = content["message"].as_str().unwrap();
        prop_assert!(bare(&shown).contains(&bare(message)));
        if let Some(footer) = content["footer"].as_str() {
            let last = requests(rendered.parts.last().unwrap()).remove(0);
            let member = if last.contains_key("text") { "text" } else { "caption" };
            let entities = last.get("entities").or(last.get("caption_entities")).unwrap();
            let text = last[member].as_str().unwrap();
            let italic = entities.as_array().unwrap().iter().find(|e| e["type"] == "italic");
            prop_assert_eq!(slice(text, italic.unwrap()), footer);
        }
    }
}
