//! The server stopped or flushed under load, and servers a gateway refuses to start with.
use crate::fleet::{Fleet, refused};
use crate::server::Server;
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// Stopped for ten seconds under load: 503 with `Retry-After`, ready again by itself, and every
/// notification that was told as accepted arrives once.
#[tokio::test(flavor = "multi_thread")]
async fn d_63_a_stopped_redis_is_answered_with_503_and_healed_from() {
    let fleet = Fleet::start(1).await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        fleet.redis.signal("-STOP");
        tokio::time::sleep(Duration::from_secs(10)).await;
        fleet.redis.signal("-CONT");
    };
    let until = Instant::now() + Duration::from_secs(13);
    let callers = futures_util::stream::iter(0..8).map(|caller| {
        let fleet = &fleet;
        async move {
            let (mut accepted, mut refused) = (Vec::new(), 0);
            for number in 0.. {
                if Instant::now() > until {
                    break;
                }
                let text = format!("message {number:04} of {caller}");
                let recipient = (1000 + caller).to_string();
                let answer = fleet.notify(0, &text, &recipient, &text).await.unwrap();
                match answer.status {
                    202 => accepted.push((answer.json["send"]["id"].clone(), text)),
                    503 => {
                        assert!(answer.retry_after.is_some(), "{}", answer.json);
                        assert_eq!(answer.json["code"], "store_unavailable");
                        refused += 1;
                    }
                    _ => panic!("{} {}", answer.status, answer.json),
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            (accepted, refused)
        }
    });
    let all = callers.buffer_unordered(8).collect::<Vec<_>>();
    let (all, ()) = futures_util::future::join(all, stop).await;
    assert!(all.iter().all(|(accepted, refused)| *refused > 0 && !accepted.is_empty()));
    let ready = fleet.get(0, "/readyz").await.unwrap();
    assert_eq!(ready.status, 200, "{}", ready.json);
    for (send, text) in all.iter().flat_map(|(accepted, _)| accepted) {
        let status = fleet.settled(0, send.as_str().unwrap()).await;
        assert!(matches!(status.as_str(), "sent" | "outcome_unknown"), "{text} is {status}");
    }
    let mut texts: Vec<String> = fleet.received().await.into_iter().map(|(_, t)| t).collect();
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count, "nothing twice");
}

/// Flushed under load: new work is sent again at once.
#[tokio::test(flavor = "multi_thread")]
async fn d_15_a_flushed_redis_takes_new_work_at_once() {
    let fleet = Fleet::start(2).await;
    for number in 0..100 {
        let text = format!("before {number}");
        fleet.notify(number % 2, &text, &(1000 + number % 10).to_string(), &text).await.unwrap();
        if number == 50 {
            assert!(fleet.redis.cli(&["FLUSHALL"]).contains("OK"));
        }
    }
    let started = Instant::now();
    let answer = fleet.notify(0, "after", "2000", "after").await.unwrap();
    assert_eq!(answer.status, 202);
    let status = fleet.settled(1, answer.json["send"]["id"].as_str().unwrap()).await;
    assert_eq!(status, "sent");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(fleet.get(0, "/readyz").await.unwrap().status, 200);
}

/// From the embedded store to Redis by `[store]` alone: every other line of the file stays.
#[tokio::test(flavor = "multi_thread")]
async fn one_configuration_moves_from_the_embedded_store_to_redis() {
    let mut fleet = Fleet::start(0).await;
    let (store, rest): (Vec<String>, Vec<String>) =
        fleet.settings().into_iter().partition(|line| line.starts_with("store."));
    fleet.add_from_file(&rest);
    fleet.add_from_file(&[store, rest].concat());
    for node in 0..2 {
        let text = format!("over node {node}");
        let answer = fleet.notify(node, &text, "1000", &text).await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.json);
        let send = answer.json["send"]["id"].as_str().unwrap().to_owned();
        assert_eq!(fleet.settled(node, &send).await, "sent");
    }
    let keys = fleet.redis.cli(&["KEYS", "{tidings}:snd:*"]);
    assert_eq!(keys.lines().filter(|line| !line.is_empty()).count(), 1, "the second alone: {keys}");
}

#[test]
fn d_46_a_gateway_says_why_it_cannot_start() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let locked = Server::redis("requirepass right");
    let evicting = Server::redis("maxmemory-policy volatile-lru");
    let url = |port: u16, user: &str| {
        vec!["store.kind='redis'".to_owned(), format!("store.url='redis://{user}127.0.0.1:{port}'")]
    };
    let cases = [
        (url(free, ""), format!("store.url: Redis at 127.0.0.1:{free} cannot be reached")),
        (url(locked.port, ":hunter2@"), "refuses user and password".to_owned()),
        (url(evicting.port, ""), "maxmemory-policy volatile-lru; needed: noeviction".to_owned()),
    ];
    for (settings, expected) in cases {
        let refused = refused(&settings, &[]);
        assert_eq!(refused.code, Some(1), "{}", refused.errors);
        assert!(refused.errors.contains(&expected), "{}", refused.errors);
        assert!(!refused.errors.contains("hunter2"));
    }
}

#[test]
fn config_show_masks_what_opens_redis() {
    let output = crate::fleet::tidings()
        .args(["config", "show"])
        .env("TIDINGS__STORE__KIND", "redis")
        .env("TIDINGS__STORE__URL", "redis://ana:hunter2@redis.test/1")
        .env("TIDINGS__STORE__PASSWORD", "hunter3")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("hunter"), "{text}");
    assert!(text.contains("store.url = ***") && text.contains("store.password = ***"), "{text}");
}
