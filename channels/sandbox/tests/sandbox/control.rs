//! The start, the page, and who may use the control routes.
use crate::client::{Vendors, settings};
use sandbox::{Sandbox, StartProblem};
use serde_json::{Value, json};

#[tokio::test]
async fn sb_1_only_loopback_is_listened_on() {
    let folder = tempfile::TempDir::new().unwrap();
    for foreign in ["0.0.0.0:0", "[::]:0", "10.0.0.1:0"] {
        let mut settings = settings(folder.path());
        settings.listen = foreign.parse().unwrap();
        let problem = Sandbox::start(settings).await.err().expect("refused");
        assert!(matches!(problem, StartProblem::NotLoopback(_)));
        assert!(problem.to_string().starts_with("--vendors: "), "{problem}");
    }
    let vendors = Vendors::start().await;
    let mut taken = settings(folder.path());
    taken.listen = vendors.address();
    let problem = Sandbox::start(taken).await.err().expect("refused");
    assert!(
        matches!(problem, StartProblem::InUse(_)) && problem.to_string().starts_with("--vendors: ")
    );
    let mut abroad = settings(folder.path());
    abroad.gateway = "http://10.0.0.1:80".to_owned();
    assert!(matches!(Sandbox::start(abroad).await.err(), Some(StartProblem::Gateway(_))));
    let address = vendors.address();
    vendors.running.stop().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "stopped");
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-ancestors 'none'";

#[tokio::test]
async fn sb_16_the_page_is_itself_and_loads_nothing_else() {
    let vendors = Vendors::start().await;
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/drawers.js", "text/javascript; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
    ] {
        let reply = vendors.get(path).await;
        assert_eq!((reply.status, reply.header("content-type")), (Some(200), kind));
        assert_eq!(reply.header("content-security-policy"), POLICY);
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        let text = String::from_utf8(reply.body).unwrap();
        for foreign in ["src=\"http", "href=\"http", "@import", "url(http", "from 'http"] {
            assert!(!text.contains(foreign), "{foreign} in {path}");
        }
    }
    assert_eq!(vendors.get("/favicon.ico").await.status, Some(204));
    let about = vendors.get("/_/about").await.json();
    assert_eq!(about["gateway"], "http://127.0.0.1:9");
    assert_eq!(about["links"], json!([{ "label": "Chat", "url": "http://127.0.0.1:9/chat/web" }]));
    let head = vendors.send("HEAD", "/", &[], b"").await;
    assert_eq!((head.status, head.body.len()), (Some(200), 0));
}

#[tokio::test]
async fn sb_17_foreign_hosts_and_origins_are_shut_out() {
    let vendors = Vendors::start().await;
    let port = vendors.address().port();
    let own = format!("127.0.0.1:{port}");
    for path in [
        "/",
        "/page.js",
        "/favicon.ico",
        "/_/requests",
        "/_/events",
        "/_/about",
        "/_/files/x",
        "/_/script/telegram",
        "/nothing",
    ] {
        for host in ["evil.test", "127.0.0.1.evil.test", "10.0.0.1", ""] {
            let reply = vendors.send("GET", path, &[("host", host)], b"").await;
            assert_eq!(
                (reply.status, &reply.json()["code"]),
                (Some(403), &json!("forbidden_host")),
                "{path} {host}"
            );
            assert_eq!(reply.header("content-type"), "application/problem+json");
        }
    }
    let local = format!("localhost:{port}");
    for host in [own.as_str(), local.as_str(), "[::1]:1"] {
        assert_eq!(
            vendors.send("GET", "/_/requests", &[("host", host)], b"").await.status,
            Some(200)
        );
    }
    for (method, path) in [
        ("DELETE", "/_/requests"),
        ("PUT", "/_/script/telegram"),
        ("PUT", "/_/receipts/telegram"),
        ("POST", "/_/person/telegram"),
    ] {
        for origin in ["http://evil.test", "null", "http://127.0.0.1:1", &format!("https://{own}")]
        {
            let headers = [("host", own.as_str()), ("origin", origin)];
            let reply = vendors.send(method, path, &headers, b"[]").await;
            assert_eq!(
                (reply.status, &reply.json()["code"]),
                (Some(403), &json!("forbidden_origin")),
                "{method} {path}"
            );
        }
    }
    let origin = format!("http://{own}");
    let headers = [("host", own.as_str()), ("origin", origin.as_str())];
    assert_eq!(vendors.send("PUT", "/_/script/telegram", &headers, b"[]").await.status, Some(200));
    // A read from another origin is kept from its page by the browser: no route allows it.
    let reply = vendors.send("GET", "/_/requests", &[("origin", "http://evil.test")], b"").await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (Some(200), ""));
}

#[tokio::test]
async fn sb_17_bad_input_has_its_status_and_code() {
    let vendors = Vendors::start().await;
    let big = vec![b' '; (1 << 20) + 1];
    for (method, path, body, status, code) in [
        ("GET", "/_/requests?x=1", b"".as_slice(), 400, "unknown_field"),
        ("GET", "/_/requests?after=x", b"", 400, "bad_format"),
        ("GET", "/_/requests?after=-1", b"", 400, "bad_format"),
        ("GET", "/_/requests?after=1&after=2", b"", 400, "duplicate"),
        ("GET", "/_/requests?medium=fax", b"", 404, "not_found"),
        ("GET", "/_/events?after=", b"", 400, "bad_format"),
        ("GET", "/_/script/fax", b"", 404, "not_found"),
        ("PUT", "/_/script/fax", b"[]", 404, "not_found"),
        ("PUT", "/_/script/telegram", b"[", 400, "malformed_json"),
        ("PUT", "/_/script/telegram", b"{}", 400, "wrong_type"),
        ("PUT", "/_/script/telegram", b"[{}]", 400, "required"),
        (
            "PUT",
            "/_/script/telegram",
            br#"[{"receipts":[{"status":"read"}]}]"#,
            400,
            "not_applicable",
        ),
        ("PUT", "/_/script/telegram", &big, 413, "too_large"),
        ("POST", "/_/script/telegram", b"[]", 405, "method_not_allowed"),
        ("PUT", "/_/receipts/telegram", br#"{"auto":true}"#, 400, "not_applicable"),
        ("PUT", "/_/receipts/fax", br#"{"auto":true}"#, 404, "not_found"),
        ("GET", "/_/receipts/telegram", b"", 405, "method_not_allowed"),
        ("GET", "/_/files/x", b"", 404, "not_found"),
        ("GET", "/_/files/..%2Frequests.jsonl", b"", 404, "not_found"),
        ("PUT", "/_/requests", b"", 405, "method_not_allowed"),
        ("POST", "/", b"", 405, "method_not_allowed"),
        ("POST", "/_/person/telegram", b"{}", 404, "not_found"),
        ("GET", "/_/", b"", 404, "not_found"),
        ("GET", "/fax/x", b"", 404, "not_found"),
    ] {
        let reply = vendors.send(method, path, &[], body).await;
        let problem = reply.json();
        assert_eq!(
            (reply.status, &problem["code"]),
            (Some(status), &json!(code)),
            "{method} {path}"
        );
        assert_eq!(problem["type"], format!("urn:tidings:problem:{code}"));
        assert_eq!(
            (reply.header("content-type"), &problem["status"]),
            ("application/problem+json", &json!(status))
        );
        if status == 405 {
            assert!(!reply.header("allow").is_empty());
        }
    }
    let untouched = vendors.get("/_/script/telegram").await.json();
    assert_eq!((untouched, vendors.requests().await), (json!([]), Vec::<Value>::new()));
}
