//! What is kept of each request: numbers, shape, secrets, restarts, the live feed.
use crate::client::{TOKEN, Vendors, read_on};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

fn text(chat: i64, text: &str) -> Value {
    json!({ "chat_id": chat, "text": text })
}

#[tokio::test]
async fn sb_18_everything_received_in_order_and_whole() {
    let vendors = Vendors::start().await;
    vendors
        .call(
            "sendMessage",
            &json!({ "text": "a\u{202e}<script>", "chat_id": -500, "z": [1.0, null] }),
        )
        .await;
    vendors.call("getMe", &json!({})).await;
    vendors.call("sendMessage", &text(7, "")).await;
    let form = [("content-type", "application/x-www-form-urlencoded"), ("x-a", "1"), ("x-a", "2")];
    vendors
        .send(
            "POST",
            &format!("/telegram/bot{TOKEN}/sendMessage?q=1"),
            &form,
            b"chat_id=42&text=a+b&text=c",
        )
        .await;
    vendors.send("GET", "/telegram/nothing", &[], b"").await;
    let requests = vendors.requests().await;
    assert_eq!(
        requests.iter().map(|r| r["n"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    let first = &requests[0];
    assert_eq!(
        first["body"],
        json!({ "text": "a\u{202e}<script>", "chat_id": -500, "z": [1.0, null] })
    );
    assert_eq!(
        (&first["medium"], &first["call"], &first["chat"]),
        (&json!("telegram"), &json!("sendMessage"), &json!("-500"))
    );
    assert_eq!(
        (&first["method"], &first["path"], &first["status"]),
        (&json!("POST"), &json!("/telegram/bot***/sendMessage"), &json!(200))
    );
    assert_eq!(
        (&first["headers"]["content-type"], &first["result"]["message_id"]),
        (&json!("application/json"), &json!(1))
    );
    assert!(first["at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        (first.get("answer"), first.get("form"), first.get("parts"), first.get("drawn")),
        (None, None, None, None)
    );
    assert_eq!((&requests[1]["chat"], requests[1].get("result")), (&Value::Null, None));
    assert_eq!(
        (&requests[2]["status"], &requests[2]["answer"]["error_code"]),
        (&json!(400), &json!(400))
    );
    assert_eq!(requests[3]["form"], json!([["chat_id", "42"], ["text", "a b"], ["text", "c"]]));
    assert_eq!(
        (&requests[3]["headers"]["x-a"], &requests[3]["path"]),
        (&json!("1, 2"), &json!("/telegram/bot***/sendMessage?q=1"))
    );
    assert_eq!(
        (&requests[4]["call"], &requests[4]["body"], &requests[4]["status"]),
        (&Value::Null, &Value::Null, &json!(404))
    );
}

#[tokio::test]
async fn sb_18_long_logs_come_in_pages() {
    let vendors = Vendors::start().await;
    for _ in 0..1_003 {
        vendors.call("getMe", &json!({})).await;
    }
    let page = vendors.get("/_/requests?medium=telegram").await.json();
    assert_eq!((page["requests"].as_array().unwrap().len(), &page["next"]), (1_000, &json!(1_000)));
    let page = vendors.get("/_/requests?after=1000").await.json();
    assert_eq!((page["requests"].as_array().unwrap().len(), &page["next"]), (3, &Value::Null));
    assert_eq!(page["requests"][0]["n"], 1_001);
}

#[tokio::test]
async fn sb_14_a_restart_counts_on_and_nothing_comes_twice() {
    let vendors = Vendors::start().await;
    vendors.call("sendMessage", &text(42, "one")).await;
    vendors.call("sendMessage", &text(42, "two")).await;
    vendors.call("sendMessage", &text(-500, "three")).await;
    let before = vendors.requests().await;
    let vendors = vendors.restart().await;
    assert_eq!(vendors.requests().await, before);
    let (_, answer) = vendors.call("sendMessage", &text(42, "four")).await;
    assert_eq!(answer["result"]["message_id"], 3);
    assert_eq!(vendors.requests().await[3]["n"], 4);
    assert_eq!(vendors.send("DELETE", "/_/requests", &[], b"").await.status, Some(204));
    assert_eq!(vendors.requests().await, Vec::<Value>::new());
    let vendors = vendors.restart().await;
    let (_, answer) = vendors.call("sendMessage", &text(42, "five")).await;
    assert_eq!(answer["result"]["message_id"], 4, "an emptied log does not use an id again");
    assert_eq!(vendors.requests().await[0]["n"], 1);
}

#[tokio::test]
async fn sb_14_a_request_is_on_disk_before_its_answer() {
    let vendors = Vendors::start().await;
    vendors.script(&json!([{ "delay_ms": 60_000 }])).await;
    let arguments = text(42, "slow");
    let path = vendors.log();
    let waiting = vendors.try_call("sendMessage", &arguments);
    let seen = async {
        loop {
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            if kept.contains("slow") {
                return kept;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = waiting => panic!("answered before it was recorded"),
        kept = seen => assert_eq!(kept.lines().count(), 1),
    }
}

#[tokio::test]
async fn sb_14_bodies_over_the_bound_are_refused_and_recorded() {
    let vendors = Vendors::start().await;
    let path = format!("/telegram/bot{TOKEN}/sendMessage");
    let body = vec![b' '; 100_000_001];
    let reply = vendors.send("POST", &path, &[("content-type", "application/json")], &body).await;
    assert_eq!(
        reply.json(),
        json!({ "ok": false, "error_code": 413, "description": "Request Entity Too Large" })
    );
    assert_eq!(
        (&vendors.requests().await[0]["status"], &vendors.requests().await[0]["body"]),
        (&json!(413), &Value::Null)
    );
}

#[tokio::test]
async fn sb_34_no_token_is_kept_or_shown() {
    let vendors = Vendors::start().await;
    let encoded = TOKEN.replace(':', "%3a");
    let wrong = "99:another-secret-token-0123456789";
    for path in [
        format!("/telegram/bot{TOKEN}/getMe"),
        format!("/telegram/bot{encoded}/getMe?token={TOKEN}&x={encoded}"),
        format!("/telegram/%62ot{TOKEN}/getMe"),
        format!("/telegram/bot{wrong}/getMe"),
        format!("/telegram/file/bot{TOKEN}/files/x"),
        format!("/telegram/{TOKEN}/getMe"),
    ] {
        let headers = [("authorization", "Bearer abcdefgh"), ("x-token", TOKEN)];
        vendors.send("POST", &path, &headers, b"").await;
    }
    vendors
        .call(
            "setWebhook",
            &json!({ "url": "https://tidings.test/w", "secret_token": "hook-secret" }),
        )
        .await;
    vendors.call("sendMessage", &text(42, TOKEN)).await;
    let kept = std::fs::read_to_string(vendors.log()).unwrap();
    let shown = String::from_utf8(vendors.get("/_/requests").await.body).unwrap();
    let about = String::from_utf8(vendors.get("/_/about").await.body).unwrap();
    for text in [kept, shown, about] {
        for secret in
            [TOKEN, "sandbox-test-token", "another-secret", "Bearer", "hook-secret", "%3asandbox"]
        {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    assert_eq!(vendors.requests().await.len(), 8);
}

/// Opens the feed.
async fn feed(vendors: &Vendors, path: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(vendors.address()).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Ids and names of the events until the last expected one came.
async fn events(stream: &mut TcpStream, last: &str) -> Vec<String> {
    let raw = read_on(stream, |text| text.contains(last)).await;
    let text = String::from_utf8(raw).unwrap();
    let told = text.lines().filter_map(|line| {
        line.strip_prefix("id: ").or_else(|| (line == "event: cleared").then_some("cleared"))
    });
    told.map(str::to_owned).collect()
}

#[tokio::test]
async fn sb_18_the_feed_resumes_where_it_was_left() {
    let vendors = Vendors::start().await;
    for n in 1..=3 {
        vendors.call("sendMessage", &text(n, "x")).await;
    }
    let mut all = feed(&vendors, "/_/events", "").await;
    assert_eq!(events(&mut all, "id: 3\n").await, ["1", "2", "3"]);
    vendors.call("sendMessage", &text(4, "live")).await;
    assert_eq!(events(&mut all, "id: 4\n").await, ["4"]);
    let mut asked = feed(&vendors, "/_/events?after=2", "").await;
    assert_eq!(events(&mut asked, "id: 4\n").await, ["3", "4"]);
    let mut resumed = feed(&vendors, "/_/events?after=0", "last-event-id: 3\r\n").await;
    assert_eq!(events(&mut resumed, "id: 4\n").await, ["4"]);

    vendors.send("DELETE", "/_/requests", &[], b"").await;
    assert_eq!(events(&mut all, "event: cleared\n").await, ["cleared"]);
    vendors.call("sendMessage", &text(1, "x")).await;
    assert_eq!(events(&mut all, "id: 1\n").await, ["1"]);
    let mut behind = feed(&vendors, "/_/events?after=4", "").await;
    assert_eq!(events(&mut behind, "id: 1\n").await, ["1"], "its log was emptied since");

    let raw = async { read_on(&mut all, |_| false).await };
    let ((), rest) = tokio::join!(vendors.running.stop(), raw);
    assert!(!String::from_utf8(rest).unwrap().contains("event"), "a stop ends the feeds");
}

#[tokio::test]
async fn the_feed_carries_what_the_list_shows() {
    let vendors = Vendors::start().await;
    vendors.call("sendMessage", &text(1, "line\nbreak\u{2028}")).await;
    let mut stream = feed(&vendors, "/_/events", "").await;
    let raw = String::from_utf8(read_on(&mut stream, |text| text.contains("}\n\n")).await).unwrap();
    assert!(raw.to_lowercase().contains("content-type: text/event-stream"));
    let line = raw.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(line).unwrap(), vendors.requests().await[0]);
}
