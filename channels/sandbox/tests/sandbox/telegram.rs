//! What the Bot API's room takes and what it refuses, in the vendor's words.
use crate::client::{TOKEN, Vendors};
use serde_json::{Value, json};

fn message(extra: Value) -> Value {
    let mut arguments = json!({ "chat_id": 42, "text": "hello" });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    arguments
}

fn button(button: Value) -> Value {
    message(json!({ "reply_markup": { "inline_keyboard": [[button]] } }))
}

fn keyboard(rows: usize, columns: usize) -> Value {
    let row = vec![json!({ "text": "x", "callback_data": "d" }); columns];
    message(json!({ "reply_markup": { "inline_keyboard": vec![row; rows] } }))
}

/// An empty expectation: accepted; otherwise the description begins so.
async fn expect(table: Vec<(&str, Value, &str)>) {
    let vendors = Vendors::start().await;
    for (method, arguments, expected) in table {
        let said = vendors.refusal(method, &arguments).await;
        let shown: String = arguments.to_string().chars().take(200).collect();
        match expected {
            "" => assert_eq!(said, "", "{method} {shown}"),
            words => assert!(
                said.starts_with(&format!("Bad Request: {words}")),
                "{method} {shown}: {said}"
            ),
        }
    }
    vendors.running.stop().await;
}

#[tokio::test]
async fn sb_35_texts_count_utf16_units_after_trimming() {
    let text = |text: String| json!({ "chat_id": 42, "text": text });
    expect(vec![
        ("sendMessage", text("a".repeat(4096)), ""),
        ("sendMessage", text("a".repeat(4097)), "message is too long"),
        ("sendMessage", text("ä".repeat(4096)), ""),
        ("sendMessage", text("ä".repeat(4097)), "message is too long"),
        ("sendMessage", text("😀".repeat(2048)), ""),
        ("sendMessage", text("😀".repeat(2049)), "message is too long"),
        ("sendMessage", text(format!(" \n{}\t ", "a".repeat(4096))), ""),
        ("sendMessage", text(format!("a{}", " ".repeat(4096))), ""),
        ("sendMessage", text(format!("a{}a", " ".repeat(4095))), "message is too long"),
        ("sendMessage", text(String::new()), "message text is empty"),
        ("sendMessage", json!({ "chat_id": 42 }), "message text is empty"),
        ("sendMessage", json!({ "chat_id": 42, "text": null }), "message text is empty"),
        ("sendMessage", text(" \n\u{200b}".to_owned()), "text must be non-empty"),
        ("sendMessage", json!({ "chat_id": 42, "text": 5 }), ""),
    ])
    .await;
}

#[tokio::test]
async fn sb_35_captions_count_utf16_units_after_trimming() {
    let caption =
        |text: String| json!({ "chat_id": 42, "photo": "https://h.test/a.png", "caption": text });
    expect(vec![
        ("sendPhoto", caption("a".repeat(1024)), ""),
        ("sendPhoto", caption("a".repeat(1025)), "message caption is too long"),
        ("sendPhoto", caption("😀".repeat(512)), ""),
        ("sendPhoto", caption("😀".repeat(513)), "message caption is too long"),
        ("sendPhoto", caption(format!("{}   ", "a".repeat(1024))), ""),
        ("sendPhoto", caption("  ".to_owned()), ""),
    ])
    .await;
}

#[tokio::test]
async fn sb_8_entities_lie_in_the_text_in_utf16_units() {
    let entity = |offset: i64, length: i64| json!({ "chat_id": 42, "text": " a😀b ", "entities": [{ "type": "bold", "offset": offset, "length": length }] });
    let of = |entity: Value| json!({ "chat_id": 42, "text": "hello", "entities": entity });
    let many =
        |count: usize| of(json!(vec![json!({ "type": "bold", "offset": 0, "length": 1 }); count]));
    expect(vec![
        ("sendMessage", entity(0, 6), ""),
        ("sendMessage", entity(1, 1), ""),
        ("sendMessage", entity(2, 2), ""),
        ("sendMessage", entity(0, 7), "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 7"),
        ("sendMessage", entity(7, 1), "entity begins after the end of the text at UTF-16 offset 7"),
        ("sendMessage", entity(6, 1), "entity beginning at UTF-16 offset 6 ends after"),
        ("sendMessage", entity(3, 1), "entity begins in a middle of a UTF-16 symbol"),
        ("sendMessage", entity(1, 2), "entity beginning at UTF-16 offset 1 ends in a middle"),
        ("sendMessage", entity(-1, 1), "receive an entity with incorrect offset -1"),
        ("sendMessage", entity(0, 0), "receive an entity with incorrect length 0"),
        ("sendMessage", entity(0, i64::MAX), "entity beginning at UTF-16 offset 0 ends after"),
        ("sendMessage", many(100), ""),
        ("sendMessage", many(101), "can't parse entities"),
        ("sendMessage", of(json!([{ "type": "shiny", "offset": 0, "length": 1 }])), "can't parse MessageEntity: Unsupported type"),
        ("sendMessage", of(json!([{ "type": "text_link", "offset": 0, "length": 1 }])), "can't parse MessageEntity: Can't find field \"url\""),
        ("sendMessage", of(json!([{ "type": "bold", "offset": "0", "length": 1 }])), "can't parse MessageEntity: Field \"offset\""),
        ("sendMessage", of(json!([{ "type": "bold", "offset": 0 }])), "can't parse MessageEntity: Can't find field \"length\""),
        ("sendMessage", of(json!([1])), "can't parse MessageEntity"),
        ("sendMessage", of(json!({ "a": 1 })), "can't parse entities"),
        ("sendMessage", of(json!("[")), "can't parse entities"),
        ("sendMessage", message(json!({ "parse_mode": "HTML" })), "can't parse entities"),
        ("sendMessage", message(json!({ "parse_mode": "" })), ""),
        ("sendPhoto", json!({ "chat_id": 1, "photo": "https://h.test/a", "caption": "ab", "caption_entities": [{ "type": "italic", "offset": 1, "length": 2 }] }), "entity beginning at UTF-16 offset 1"),
    ])
    .await;
}

#[tokio::test]
async fn sb_35_callback_data_counts_bytes() {
    let data = |data: String| button(json!({ "text": "x", "callback_data": data }));
    expect(vec![
        ("sendMessage", data("a".repeat(64)), ""),
        ("sendMessage", data("a".repeat(65)), "BUTTON_DATA_INVALID"),
        ("sendMessage", data("😀".repeat(16)), ""),
        ("sendMessage", data("😀".repeat(17)), "BUTTON_DATA_INVALID"),
        ("sendMessage", data("ä".repeat(33)), "BUTTON_DATA_INVALID"),
        ("sendMessage", data("a".to_owned()), ""),
        (
            "sendMessage",
            data(String::new()),
            "can't parse inline keyboard button: Text buttons are unallowed",
        ),
    ])
    .await;
}

#[tokio::test]
async fn sb_8_one_bad_button_refuses_the_message() {
    let link = |url: &str| button(json!({ "text": "x", "url": url }));
    let markup = |markup: Value| message(json!({ "reply_markup": markup }));
    let long = format!("https://ex.test/{}", "ä".repeat(2048 - 16));
    expect(vec![
        ("sendMessage", link("https://ex.test/menu"), ""),
        ("sendMessage", link("https://10.0.0.1/x"), ""),
        ("sendMessage", link(&long), ""),
        ("sendMessage", link(&format!("{long}a")), "BUTTON_URL_INVALID"),
        ("sendMessage", link("http://localhost:3000/x"), "BUTTON_URL_INVALID"),
        ("sendMessage", link("https://intranet/x"), "BUTTON_URL_INVALID"),
        (
            "sendMessage",
            button(json!({ "text": "x" })),
            "can't parse inline keyboard button: Text buttons",
        ),
        (
            "sendMessage",
            button(json!({ "callback_data": "x" })),
            "can't parse inline keyboard button: Can't find field \"text\"",
        ),
        (
            "sendMessage",
            button(json!({ "text": 1, "callback_data": "x" })),
            "can't parse inline keyboard button: Field \"text\"",
        ),
        (
            "sendMessage",
            button(json!({ "text": "", "callback_data": "x" })),
            "can't parse inline keyboard button: Text must be non-empty",
        ),
        (
            "sendMessage",
            button(json!({ "text": "a", "callback_data": "x", "url": "https://ex.test" })),
            "can't parse inline keyboard button: exactly one",
        ),
        (
            "sendMessage",
            button(json!({ "text": "a", "web_app": { "url": "https://ex.test" } })),
            "BUTTON_TYPE_INVALID",
        ),
        ("sendMessage", button(json!("x")), "can't parse inline keyboard button"),
        (
            "sendMessage",
            markup(json!({ "inline_keyboard": "x" })),
            "field \"inline_keyboard\" must be of type Array",
        ),
        ("sendMessage", markup(json!({ "inline_keyboard": [1] })), "can't parse inline keyboard"),
        ("sendMessage", markup(json!({})), "inline keyboard expected"),
        ("sendMessage", markup(json!([])), "object expected as reply markup"),
        ("sendMessage", markup(json!("{")), "can't parse reply keyboard markup JSON object"),
        ("sendMessage", markup(json!({ "inline_keyboard": [] })), ""),
        ("sendMessage", keyboard(100, 1), ""),
        ("sendMessage", keyboard(101, 1), "reply markup is too long"),
        ("sendMessage", keyboard(1, 8), ""),
        ("sendMessage", keyboard(1, 9), "reply markup is too long"),
    ])
    .await;
}

#[tokio::test]
async fn sb_8_places_are_on_the_globe_and_named() {
    let pin = |latitude: Value, longitude: Value| json!({ "chat_id": 42, "latitude": latitude, "longitude": longitude });
    let venue = |title: Value, address: Value| json!({ "chat_id": 42, "latitude": 1, "longitude": 2, "title": title, "address": address });
    expect(vec![
        ("sendLocation", pin(json!(90), json!(-180)), ""),
        ("sendLocation", pin(json!(-90.0), json!(180.0)), ""),
        ("sendLocation", pin(json!("52.5"), json!("13.4")), ""),
        ("sendLocation", pin(json!(90.000_001), json!(0)), "wrong location specified"),
        ("sendLocation", pin(json!(0), json!(-180.000_001)), "wrong location specified"),
        ("sendLocation", pin(json!("NaN"), json!(0)), "wrong location specified"),
        ("sendLocation", pin(Value::Null, json!(0)), "latitude is empty"),
        ("sendLocation", pin(json!(0), Value::Null), "longitude is empty"),
        ("sendVenue", venue(json!("t"), json!("a")), ""),
        ("sendVenue", venue(json!(" "), json!("a")), "venue title must be non-empty"),
        ("sendVenue", venue(json!("t"), Value::Null), "venue address must be non-empty"),
    ])
    .await;
}

#[tokio::test]
async fn sb_11_chats_topics_and_replies() {
    let to = |chat: Value| json!({ "chat_id": chat, "text": "x" });
    let reply = |reply: Value| json!({ "chat_id": -500, "text": "x", "reply_parameters": reply });
    expect(vec![
        ("sendMessage", to(json!(42)), ""),
        ("sendMessage", to(json!("42")), ""),
        ("sendMessage", to(json!(-500)), ""),
        ("sendMessage", to(json!(i64::MIN)), ""),
        ("sendMessage", to(json!("@news_room")), ""),
        ("sendMessage", to(json!("@x")), "chat not found"),
        ("sendMessage", to(json!(0)), "chat not found"),
        ("sendMessage", to(json!(1.5)), "chat not found"),
        ("sendMessage", to(json!("9223372036854775808")), "chat not found"),
        ("sendMessage", to(Value::Null), "chat_id is empty"),
        ("sendMessage", to(json!("")), "chat_id is empty"),
        ("sendMessage", message(json!({ "message_thread_id": 2_147_483_647_u32 })), ""),
        (
            "sendMessage",
            message(json!({ "message_thread_id": 2_147_483_648_u32 })),
            "message thread not found",
        ),
        ("sendMessage", message(json!({ "message_thread_id": -1 })), "message thread not found"),
        ("sendMessage", reply(json!({ "message_id": 1 })), ""),
        ("sendMessage", reply(json!({ "message_id": 99 })), "message to be replied not found"),
        (
            "sendMessage",
            reply(json!({ "message_id": 99, "allow_sending_without_reply": true })),
            "",
        ),
        (
            "sendMessage",
            reply(json!({ "message_id": 99, "allow_sending_without_reply": "yes" })),
            "field \"allow_sending_without_reply\"",
        ),
        ("sendMessage", reply(json!({})), "can't find field \"message_id\""),
        ("sendMessage", reply(json!([])), "object expected as reply parameters"),
        ("sendMessage", message(json!({ "link_preview_options": { "is_disabled": true } })), ""),
        (
            "sendMessage",
            message(json!({ "link_preview_options": { "is_disabled": "yes" } })),
            "field \"is_disabled\"",
        ),
        (
            "sendMessage",
            message(json!({ "link_preview_options": [] })),
            "can't parse link preview options",
        ),
    ])
    .await;
}

#[tokio::test]
async fn sb_9_registration_and_taps() {
    let hook = |extra: Value| {
        let mut arguments = json!({ "url": "https://tidings.test/webhooks/telegram" });
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        arguments
    };
    expect(vec![
        (
            "setWebhook",
            hook(json!({ "secret_token": "a".repeat(257) })),
            "secret token is too long",
        ),
        (
            "setWebhook",
            hook(json!({ "secret_token": "a b" })),
            "secret token contains unallowed characters",
        ),
        ("setWebhook", hook(json!({ "max_connections": 0 })), "max_connections must be between"),
        ("setWebhook", hook(json!({ "max_connections": 101 })), "max_connections must be between"),
        ("setWebhook", hook(json!({ "url": "http://tidings.test/" })), "bad webhook: An HTTPS URL"),
        (
            "setWebhook",
            hook(json!({ "url": "https://tidings.test:444/" })),
            "bad webhook: Webhook can be set up only on ports",
        ),
        ("setWebhook", hook(json!({ "url": "nowhere" })), "invalid webhook URL"),
        ("setWebhook", hook(json!({ "allowed_updates": {} })), "expected an Array"),
        ("setWebhook", hook(json!({ "allowed_updates": [1] })), "expected an Array"),
        ("answerCallbackQuery", json!({ "callback_query_id": "77", "text": "ä".repeat(200) }), ""),
        (
            "answerCallbackQuery",
            json!({ "callback_query_id": "77", "text": "ä".repeat(201) }),
            "MESSAGE_TOO_LONG",
        ),
        ("answerCallbackQuery", json!({}), "query is too old"),
        ("answerCallbackQuery", json!({ "callback_query_id": "x" }), "query is too old"),
    ])
    .await;

    let vendors = Vendors::start().await;
    let kinds = json!(["message", "callback_query"]);
    let (status, answer) = vendors.call("setWebhook", &hook(json!({ "secret_token": "a".repeat(256), "max_connections": 100, "allowed_updates": kinds }))).await;
    assert_eq!((status, answer["description"].as_str()), (200, Some("Webhook was set")));
    let vendors = vendors.restart().await;
    let (_, info) = vendors.call("getWebhookInfo", &json!({})).await;
    assert_eq!(info["result"]["url"], "https://tidings.test/webhooks/telegram");
    assert_eq!(
        (&info["result"]["max_connections"], &info["result"]["allowed_updates"]),
        (&json!(100), &kinds)
    );
    let (_, answer) = vendors.call("setWebhook", &json!({ "url": "" })).await;
    assert_eq!(answer["description"], "Webhook was deleted");
    assert_eq!(vendors.call("getWebhookInfo", &json!({})).await.1["result"]["url"], "");
    let (_, me) = vendors.call("getMe", &json!({})).await;
    assert_eq!(
        (&me["result"]["id"], &me["result"]["username"]),
        (&json!(700_100), &json!("tidings_sandbox_bot"))
    );
}

#[tokio::test]
async fn sb_9_tokens_methods_and_bodies() {
    let vendors = Vendors::start().await;
    let json_type = [("content-type", "application/json")];
    for (method, path, kind, body, status, description) in [
        ("POST", "/telegram/bot1:wrong/getMe".to_owned(), json_type, "", 401, "Unauthorized"),
        ("POST", "/telegram/bot/getMe".to_owned(), json_type, "", 401, "Unauthorized"),
        ("POST", "/telegram/bot1:wrong/nothing".to_owned(), json_type, "", 401, "Unauthorized"),
        ("POST", format!("/telegram/bot{TOKEN}/nothing"), json_type, "", 404, "Not Found"),
        ("POST", format!("/telegram/bot{TOKEN}"), json_type, "", 404, "Not Found"),
        ("POST", format!("/telegram/bot{TOKEN}/getMe/x"), json_type, "", 404, "Not Found"),
        ("POST", "/telegram".to_owned(), json_type, "", 404, "Not Found"),
        ("PUT", format!("/telegram/bot{TOKEN}/getMe"), json_type, "", 501, "Not Implemented"),
        (
            "POST",
            format!("/telegram/bot{TOKEN}/sendMessage"),
            json_type,
            "{",
            400,
            "Bad Request: can't parse JSON object",
        ),
        (
            "POST",
            format!("/telegram/bot{TOKEN}/sendMessage"),
            json_type,
            "[]",
            400,
            "Bad Request: can't parse JSON: object expected",
        ),
        (
            "POST",
            format!("/telegram/bot{TOKEN}/sendMessage"),
            [("content-type", "text/plain")],
            "x",
            415,
            "Unsupported Media Type",
        ),
        (
            "POST",
            format!("/telegram/bot{TOKEN}/sendMessage"),
            [("content-type", "multipart/form-data; boundary=x")],
            "x",
            400,
            "Bad Request: can't parse multipart form",
        ),
        ("GET", format!("/telegram/file/bot{TOKEN}/files/x"), json_type, "", 404, "Not Found"),
        ("GET", "/telegram/file/bot1:wrong/files/x".to_owned(), json_type, "", 401, "Unauthorized"),
    ] {
        let reply = vendors.send(method, &path, &kind, body.as_bytes()).await;
        let expected = json!({ "ok": false, "error_code": status, "description": description });
        assert_eq!(
            (reply.status, reply.json()),
            (Some(status), expected),
            "{method} {path} {body}"
        );
    }
}

#[tokio::test]
async fn sb_9_a_call_may_come_in_four_ways() {
    let vendors = Vendors::start().await;
    let good = json!({ "chat_id": 42, "text": "x" }).to_string();
    for (method, path, kind, body) in [
        (
            "POST",
            format!("/telegram/bot{TOKEN}/SENDmessage"),
            "application/json; charset=utf-8",
            good.as_str(),
        ),
        (
            "POST",
            format!("/telegram/bot{}/sendMessage", TOKEN.replace(':', "%3A")),
            "application/json",
            &good,
        ),
        (
            "POST",
            format!("/telegram/bot{TOKEN}/sendMessage"),
            "application/x-www-form-urlencoded",
            "chat_id=42&text=x",
        ),
        ("GET", format!("/telegram/bot{TOKEN}/sendMessage?chat_id=42&text=x"), "text/html", ""),
    ] {
        let reply = vendors.send(method, &path, &[("content-type", kind)], body.as_bytes()).await;
        assert_eq!(
            (reply.status, &reply.json()["result"]["text"]),
            (Some(200), &json!("x")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn sb_10_a_result_is_the_message_as_it_was_sent() {
    let vendors = Vendors::start().await;
    let arguments = json!({
        "chat_id": -500, "message_thread_id": 7, "text": "\n a😀b",
        "entities": [{ "type": "italic", "offset": 0, "length": 6 }],
        "reply_markup": { "inline_keyboard": [[{ "text": "Yes", "callback_data": "o:1:0" }], []] }
    });
    let (_, answer) = vendors.call("sendMessage", &arguments).await;
    let result = &answer["result"];
    assert_eq!(result["chat"], json!({ "id": -500, "type": "group", "title": "Group" }));
    assert_eq!((&result["message_id"], &result["text"]), (&json!(1), &json!("a😀b")));
    assert_eq!(result["entities"], json!([{ "type": "italic", "offset": 0, "length": 4 }]));
    assert_eq!(
        result["reply_markup"],
        json!({ "inline_keyboard": [[{ "text": "Yes", "callback_data": "o:1:0" }]] })
    );
    assert_eq!(result["message_thread_id"], 7);
    assert!(result["date"].as_i64().unwrap() > 1_700_000_000);
    for (chat, id) in [(-500, 2), (42, 1), (42, 2), (-500, 3)] {
        let (_, answer) =
            vendors.call("sendMessage", &json!({ "chat_id": chat, "text": "x" })).await;
        assert_eq!(answer["result"]["message_id"], id);
    }
}
