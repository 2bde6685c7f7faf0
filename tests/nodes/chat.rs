//! One visitor, several gateways: whoever appends, every stream shows the same transcript.
use crate::fleet::Fleet;
use serde_json::{Value, json};
use std::time::Duration;

/// A stream that follows a visitor: it resumes wherever a gateway still stands.
async fn follow(
    urls: Vec<String>,
    cookie: String,
    last: String,
    http: reqwest::Client,
) -> Vec<(String, Value)> {
    let (mut frames, mut cursor, mut at) = (Vec::<(String, Value)>::new(), String::new(), 0);
    loop {
        let url = format!("{}/chat/web/stream", urls[at % urls.len()]);
        at += 1;
        let mut request = http.get(url).header("cookie", &cookie);
        if !cursor.is_empty() {
            request = request.header("last-event-id", &cursor);
        }
        let Ok(mut response) = request.send().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        assert_eq!(response.status().as_u16(), 200);
        let mut text = String::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some(end) = text.find("\n\n") {
                let block: String = text.drain(..end + 2).collect();
                assert!(!block.contains("chat.reset"), "the cursor is good on every node");
                let id = block.lines().find_map(|line| line.strip_prefix("id: "));
                let data = block.lines().find_map(|line| line.strip_prefix("data: "));
                if let (Some(id), Some(data)) = (id, data) {
                    cursor = id.to_owned();
                    frames.push((id.to_owned(), serde_json::from_str(data).unwrap()));
                }
            }
            if frames.last().is_some_and(|(_, frame)| frame["text"] == last.as_str()) {
                return frames;
            }
        }
    }
}

async fn send(fleet: &Fleet, node: usize, to: &str, text: &str) -> Option<String> {
    let body = json!({ "message": text, "channel": "web", "recipient": to });
    let answer = fleet.post(node, "/api/notifications", text, &body).await?;
    assert_eq!(answer.status, 202, "{}", answer.json);
    Some(answer.json["send"]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_frame_is_lost_doubled_or_reordered_when_a_gateway_dies() {
    let mut fleet = Fleet::start(3).await;
    let (cookie, visitor) = fleet.visit(0).await;
    let urls: Vec<String> = fleet.nodes.iter().map(|node| node.url.clone()).collect();
    let following: Vec<_> = (0..3)
        .map(|first| {
            let mut urls = urls.clone();
            urls.rotate_left(first);
            let http = tidings::cli::http_client().unwrap();
            tokio::spawn(follow(urls, cookie.clone(), "the end".to_owned(), http))
        })
        .collect();
    let (mut sends, mut said) = (Vec::new(), 0);
    for n in 0..60 {
        if n == 30 {
            fleet.kill(1);
        }
        let node = if n < 30 { n % 3 } else { (n % 2) * 2 };
        // A repeat after a lost answer is the same notification and the same message.
        let text = format!("s{n:02}");
        sends.push(match send(&fleet, node, &visitor, &text).await {
            Some(id) => id,
            None => send(&fleet, 0, &visitor, &text).await.expect("a gateway that stands"),
        });
        if n % 4 == 0 {
            let message =
                json!({ "text": format!("v{n:02}"), "client_message_id": format!("c-{n:08}") });
            fleet.say(if n < 30 { node } else { 2 }, &cookie, &message).await;
            said += 1;
        }
    }
    for id in &sends {
        assert_eq!(fleet.settled(0, id).await, "sent");
    }
    let last = send(&fleet, 2, &visitor, "the end").await.unwrap();
    assert_eq!(fleet.settled(0, &last).await, "sent");
    let mut seen = Vec::new();
    for stream in following {
        let stream = tokio::time::timeout(Duration::from_secs(30), stream);
        seen.push(stream.await.expect("every stream gets there").unwrap());
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "one order on every node");
    let of = |dir: &str| -> Vec<String> {
        let frames = seen[0].iter().filter(|(_, frame)| frame["dir"] == dir);
        frames.map(|(_, frame)| frame["text"].as_str().unwrap().to_owned()).collect()
    };
    let mut wanted: Vec<String> = (0..60).map(|n| format!("s{n:02}")).collect();
    wanted.push("the end".to_owned());
    assert_eq!(of("out"), wanted, "in the order they were accepted, each once");
    let wanted: Vec<String> = (0..60).step_by(4).map(|n| format!("v{n:02}")).collect();
    assert_eq!(of("in"), wanted);
    let inbound = fleet.get(0, "/api/inbound?limit=200").await.unwrap();
    assert_eq!(inbound.json["inbound"].as_array().unwrap().len(), said);
}
