//! What a collector gets, and that nothing waits for one.
use crate::world::{Plan, World};
use contract::receipt::{ReceiptReading, ReceiptSays};
use contract::{ChannelName, Rank};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tidings::sends::receipts::Receipt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A collector: the bytes of every request.
async fn collector() -> (String, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let got: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let all = got.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let all = all.clone();
            tokio::spawn(async move {
                let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
                loop {
                    let read = socket.read(&mut piece).await.unwrap_or(0);
                    bytes.extend_from_slice(&piece[..read]);
                    let head = bytes.windows(4).position(|w| w == b"\r\n\r\n");
                    let whole = head.is_some_and(|head| {
                        let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
                        let size = text.split("content-length: ").nth(1).unwrap_or("0");
                        let size: usize = size.lines().next().unwrap().trim().parse().unwrap();
                        bytes.len() >= head + 4 + size
                    });
                    if whole || read == 0 {
                        break;
                    }
                }
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = socket.write_all(answer.as_bytes()).await;
                all.lock().unwrap().push(bytes);
            });
        }
    });
    (url, got)
}

fn count(all: &[u8], part: &[u8]) -> usize {
    all.windows(part.len()).filter(|window| *window == part).count()
}

#[tokio::test]
async fn d_57_d_59_a_collector_gets_the_span_tree_and_no_content() {
    let (url, got) = collector().await;
    let plan = Plan::default()
        .set("trace.otlp_endpoint", &format!("'{url}'"))
        .set("trace.service_name", "'ours'")
        .with_vendors();
    let world = World::start(plan).await;
    let body = json!({ "message": "secret words", "channel": "telegram", "recipient": "4242" });
    let parent = [
        ("prefer", "wait=20"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ];
    let answer = world.post_with("/api/notifications", &body, &world.admin, &parent).await.json();
    let send = &answer["send"];
    let reading = ReceiptReading {
        provider_message_id: send["parts"][0]["provider_message_id"].as_str().map(str::to_owned),
        correlator: None,
        says: ReceiptSays::Rank(Rank::Read),
        raw: "read".to_owned(),
        vendor_at: None,
        alias: None,
    };
    let receipt = Receipt::of(reading, world.gateway.app.clock.now());
    let channel = ChannelName::parse("telegram").unwrap();
    world.gateway.app.outbox.settler.at_door(&channel, vec![receipt]).await.unwrap();
    let path = format!("/api/sends/{}", send["id"].as_str().unwrap());
    let record = world.get(&path).await.json();
    // What is queued when the process ends is flushed.
    world.stop().await;
    let all = got.lock().unwrap().concat();
    for name in ["notify", "send telegram", "attempt", "delivery_receipt", "ours"] {
        assert!(count(&all, name.as_bytes()) > 0, "{name}");
    }
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|n| u8::from_str_radix(&text[n..n + 2], 16).unwrap())
            .collect()
    };
    let trace = hex("4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(count(&all, &trace), 4, "four spans of one trace");
    assert_eq!(count(&all, &hex("00f067aa0ba902b7")), 1, "the caller's span is the root's parent");
    let own = hex(record["span_id"].as_str().unwrap());
    assert_eq!(count(&all, &own), 3, "itself, and the parent of the attempt and of the receipt");
    assert_eq!(count(&all, b"secret words"), 0);
    // The address stands nowhere but in the medium's own message id.
    assert_eq!(count(&all, b"4242"), count(&all, b"4242:"));
}

#[tokio::test]
async fn d_59_a_dead_collector_delays_nothing_and_what_is_lost_is_counted() {
    // It takes the connection and never answers.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("'http://{}/v1/traces'", mute.local_addr().unwrap());
    let plan = Plan::default().set("trace.otlp_endpoint", &url).with_vendors();
    let world = World::start(plan).await;
    let spans = &world.gateway.app.outbox.spans;
    let body = json!({ "message": "m", "channel": "telegram", "recipient": "42" });
    assert_eq!(world.deliver(&body).await.status, 200);
    let span = tidings::trace::spans::Span {
        trace: "0".repeat(32),
        id: "0".repeat(16),
        parent: None,
        name: "x".into(),
        kind: tidings::trace::spans::Kind::Internal,
        start: tidings::clock::Millis(0),
        end: tidings::clock::Millis(0),
        attributes: Vec::new(),
        event: None,
        failed: false,
    };
    for _ in 0..3_000 {
        spans.push(|| span.clone());
    }
    assert_eq!(world.deliver(&body).await.status, 200);
    let metrics = world.get("/metrics").await.text;
    let line =
        metrics.lines().find(|line| line.starts_with("tidings_trace_dropped_total")).unwrap();
    let dropped: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(dropped >= 3_000 - 2_048 - 512, "{dropped}");
    let stopping = Instant::now();
    world.stop().await;
    assert!(stopping.elapsed() < Duration::from_secs(8), "{:?}", stopping.elapsed());
}
