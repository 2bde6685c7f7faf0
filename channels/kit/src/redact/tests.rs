//! Nothing secret survives, whatever it is wrapped in.
use super::*;
use base64::engine::general_purpose::URL_SAFE;
use contract::{Method, MultipartField, Sealed, Secret, WireResponse};

const TOKEN: &str = "123456:AA/b+c=\"ü\"-_x\\y zQ9";

fn secrets() -> Secrets {
    Secrets::none().with("bot_token", Secret::new(TOKEN)).with("empty", Secret::new(""))
}

fn request(body: Body) -> WireRequest {
    WireRequest {
        method: Method::Post,
        url: Sealed::plain("https://api.test/bot").secret("bot_token").then("/send"),
        headers: vec![
            ("authorization", Sealed::plain("Bearer ").secret("bot_token")),
            ("x-request-id", Sealed::plain("r-1")),
        ],
        body,
    }
}

fn answer(body: impl Into<Bytes>) -> WireResult {
    let header = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    Ok(WireResponse {
        status: 200,
        headers: vec![header("date", "now"), header("set-cookie", TOKEN), header("x-vendor", "v")],
        body: body.into(),
    })
}

fn made(body: Body, resources: &[Resource], result: &WireResult) -> Exchange {
    exchange(&request(body), resources, result, &secrets(), &["x-vendor"], Duration::from_millis(7))
}

fn lower_hex(percent: &str) -> String {
    let (head, escapes) = percent.split_once('%').unwrap();
    let lower = escapes.split('%').map(|e| format!("%{}{}", e[..2].to_lowercase(), &e[2..]));
    format!("{head}{}", lower.collect::<String>())
}

#[test]
fn d_56_a_secret_is_replaced_in_every_spelling() {
    let json = serde_json::Value::String(TOKEN.to_owned()).to_string();
    let percent: String = url::form_urlencoded::byte_serialize(TOKEN.as_bytes()).collect();
    let echoes = [
        TOKEN.to_owned(),
        json,
        lower_hex(&percent.replace('+', "%20")),
        percent,
        STANDARD.encode(TOKEN),
        URL_SAFE.encode(TOKEN),
        STANDARD.encode(format!("u:{TOKEN}")),
        STANDARD.encode(format!("us:{TOKEN}!")),
        URL_SAFE.encode(format!("user:{TOKEN}")),
    ];
    for echo in echoes {
        let made = made(Body::Json(format!("<{echo}>")), &[], &answer(format!("<{echo}>")));
        let shown = serde_json::to_string(&made).unwrap();
        assert!(made.response_body.text.contains("[secret:bot_token]"), "{echo}: {shown}");
        assert_eq!(made.response_body, made.request_body);
        let core: String = echo.chars().skip(echo.chars().count() / 3).take(8).collect();
        assert!(!shown.contains(&core), "{core} in {shown}");
    }
}

#[test]
fn d_56_headers_pass_an_allow_list_and_urls_hold_no_secret() {
    let made = made(Body::Empty, &[], &answer("{}"));
    let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    assert_eq!(made.url, "https://api.test/bot[secret:bot_token]/send");
    assert_eq!(
        made.request_headers,
        [pair("authorization", "[redacted]"), pair("x-request-id", "r-1")]
    );
    assert_eq!(
        made.response_headers,
        [pair("date", "now"), pair("set-cookie", "[redacted]"), pair("x-vendor", "v")]
    );
    assert_eq!((made.status, made.error.clone(), made.elapsed_ms), (Some(200), None, 7));
}

#[test]
fn d_56_uploads_and_data_bytes_become_size_and_hash() {
    let file = MultipartField {
        name: "f0".to_owned(),
        value: MultipartValue::File { file: FileRef(0), filename: "a.png".to_owned() },
    };
    let text = MultipartField { name: "n".to_owned(), value: MultipartValue::Text("v".to_owned()) };
    let bytes =
        Resource::Bytes { bytes: Bytes::from_static(b"abc"), content_type: "image/png".to_owned() };
    let made = made(Body::Multipart(vec![text, file]), &[bytes], &Err(WireError::Timeout));
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(made.request_body.text, format!("n: v\nf0: a.png [3 bytes, sha256 {hash}]\n"));
    assert_eq!((made.status, made.error.as_deref()), (None, Some("timeout")));
    assert_eq!(
        without_data(r#"{"a":"data:image/png;base64,YWJj","b":";base64,x"}"#),
        format!(r#"{{"a":"data:image/png;base64,[3 bytes, sha256 {hash}]","b":";base64,x"}}"#)
    );
}

#[test]
fn a_body_is_cut_after_redaction_and_says_how_much() {
    let long = format!("{}{TOKEN}", "ä".repeat(BODY_MAX / 2 - 5));
    let body = made(Body::Empty, &[], &answer(long)).response_body;
    assert!(body.text.len() <= BODY_MAX && body.text.ends_with("[secret:bo"));
    assert_eq!(body.truncated_bytes, "t_token]".len() as u64);
    let odd = made(Body::Empty, &[], &answer("ä".repeat(BODY_MAX))).response_body;
    assert_eq!(odd.truncated_bytes, BODY_MAX as u64);
    assert!(made(Body::Empty, &[], &answer(vec![0xff, b'a'])).response_body.text.ends_with('a'));
}

#[test]
fn an_exchange_reads_back_and_can_lose_its_bodies() {
    let made = made(Body::Json("{}".to_owned()), &[], &answer("x"));
    let text = serde_json::to_string(&made).unwrap();
    assert_eq!(serde_json::from_str::<Exchange>(&text).unwrap(), made);
    assert!(!text.contains("truncated_bytes"), "only what applies is written");
    assert_eq!(made.without_bodies().response_body, KeptBody::default());
}

#[test]
fn a_fetch_keeps_no_byte_of_the_file() {
    let url = WebUrl::parse("https://x.test/a", contract::target::Scheme::Https).unwrap();
    let fetched = Fetched {
        bytes: Bytes::from_static(b"abc"),
        content_type: "image/png".to_owned(),
        note: Some("sandbox: stand-in"),
    };
    let made = fetch_exchange(&url, &Ok(fetched), &secrets(), Duration::ZERO);
    assert!(made.response_body.text.starts_with("[3 bytes, sha256 ba78"));
    assert_eq!(made.note.as_deref(), Some("sandbox: stand-in"));
    let fault = crate::fault::blocked("private address", "http.allow_hosts");
    let made = fetch_exchange(&url, &Err(fault), &secrets(), Duration::ZERO);
    assert!(made.error.is_some_and(|e| e.starts_with("blocked_address")) && made.status.is_none());
}

#[test]
fn debug_of_a_redactor_shows_no_secret() {
    assert!(!format!("{:?}", Redactor::new(&secrets())).contains("123456"));
}
