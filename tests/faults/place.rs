//! What a gateway stands on, spoilt: the clock, the disk, the queue, the way to the store.
use crate::server::Server;
use bytes::Bytes;
use redb::StorageBackend;
use redb::backends::FileBackend;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidings::boot::{self, Gateway, Overrides};
use tidings::clock::{Clock, Millis, SystemClock};
use tidings::config::load::{Sources, load};
use tidings::registry::MEDIA;
use tidings::store::embedded::{Embedded, Options};
use tidings::store::{At, Lane, QueueName, Store};
use tokio::io::AsyncWriteExt;

/// A gateway in this process, with a web channel of one visitor.
struct Place {
    gateway: Gateway,
    http: reqwest::Client,
    key: String,
    visitor: String,
    _folder: tempfile::TempDir,
}

impl Place {
    async fn start(store: Option<&str>, overrides: Overrides) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut flags = vec![
            ("store.data_dir".to_owned(), format!("'{}'", folder.path().join("data").display())),
            ("listen.public".to_owned(), "'127.0.0.1:0'".to_owned()),
            ("delivery.drain_grace".to_owned(), "'0s'".to_owned()),
            ("channels.web.medium".to_owned(), "'web'".to_owned()),
        ];
        if let Some(url) = store {
            flags.push(("store.kind".to_owned(), "'redis'".to_owned()));
            flags.push(("store.url".to_owned(), format!("'{url}'")));
        }
        let sources = Sources { file: None, environment: BTreeMap::new(), flags };
        let (config, _) = load(&sources, MEDIA).unwrap_or_else(|problems| panic!("{problems:?}"));
        let gateway = boot::start(&config, overrides).await.unwrap_or_else(|why| panic!("{why}"));
        let key = std::fs::read_to_string(gateway.operator_key.as_ref().unwrap()).unwrap();
        let http = tidings::cli::http_client().unwrap();
        let page = http.get(format!("http://{}/chat/web", gateway.address)).send().await.unwrap();
        let html = page.text().await.unwrap();
        let at = html.find("vis_").expect("a visitor");
        let (visitor, key) = (html[at..at + 30].to_owned(), key.trim().to_owned());
        Self { gateway, http, key, visitor, _folder: folder }
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("http://{}{path}", self.gateway.address));
        let text = request.bearer_auth(&self.key).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Sends and waits for the outcome; gives status and body.
    async fn send(&self, text: &str) -> (u16, Value) {
        let body = json!({ "message": text, "channel": "web", "recipient": self.visitor });
        let request = self.http.post(format!("http://{}/api/notifications", self.gateway.address));
        let request = request.bearer_auth(&self.key).header("content-type", "application/json");
        let request = request.header("prefer", "wait=10").body(body.to_string());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or(Value::Null))
    }
}

/// The real time, moved.
struct Jumping(AtomicI64);

impl Clock for Jumping {
    fn now(&self) -> Millis {
        Millis(SystemClock.now().0 + self.0.load(Ordering::SeqCst))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_back_an_hour_stops_nothing_and_reorders_nothing() {
    let clock = Arc::new(Jumping(AtomicI64::new(0)));
    let place =
        Place::start(None, Overrides { clock: clock.clone(), ..Overrides::default() }).await;
    for n in 0..5 {
        assert_eq!(place.send(&format!("before {n}")).await.0, 200);
    }
    clock.0.store(-3_600_000, Ordering::SeqCst);
    for n in 0..5 {
        assert_eq!(place.send(&format!("after {n}")).await.0, 200, "{n}");
    }
    let inbox = place.get("/api/notifications?limit=10").await;
    let told = inbox["notifications"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect();
    let wanted = (0..5).rev().map(|n| format!("after {n}"));
    let wanted: Vec<_> = wanted.chain((0..5).rev().map(|n| format!("before {n}"))).collect();
    assert_eq!(told, wanted, "newest first, whatever the clock said");
    place.gateway.stop().await;
}

/// A disk that has room for so many bytes.
#[derive(Debug)]
struct Disk {
    file: FileBackend,
    room: Arc<AtomicU64>,
}

impl Disk {
    fn fits(&self, end: u64) -> io::Result<()> {
        let full = end > self.room.load(Ordering::SeqCst);
        if full { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.fits(len)?;
        self.file.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.fits(offset + data.len() as u64)?;
        self.file.write(offset, data)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_503_keeps_what_was_accepted_and_heals() {
    let folder = tempfile::tempdir().unwrap();
    let room = Arc::new(AtomicU64::new(u64::MAX));
    let shared = room.clone();
    let backend = move |path: &Path| {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(Disk { file, room: shared.clone() }) as Box<dyn StorageBackend>)
    };
    let options = Options {
        backend: Arc::new(backend),
        ..Options::new(folder.path(), Arc::new(SystemClock))
    };
    let store: Arc<dyn Store> = Arc::new(Embedded::open(options).unwrap());
    let place = Place::start(None, Overrides { store: Some(store), ..Overrides::default() }).await;
    let mut accepted = vec![place.send("first").await];
    room.store(4_000_000, Ordering::SeqCst);
    let refused = loop {
        let answer = place.send(&"x".repeat(60_000)).await;
        if !matches!(answer.0, 200 | 202) {
            break answer;
        }
        accepted.push(answer);
        assert!(accepted.len() < 500, "the disk is never full");
    };
    assert_eq!((refused.0, &refused.1["code"]), (503, &json!("store_unavailable")));
    room.store(u64::MAX, Ordering::SeqCst);
    let until = Instant::now() + Duration::from_secs(20);
    while place.send("again").await.0 != 200 {
        assert!(Instant::now() < until, "it heals without a restart");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (_, answer) in &accepted {
        let send = answer["send"]["id"].as_str().unwrap();
        loop {
            let record = place.get(&format!("/api/sends/{send}")).await;
            if record["status"] == "sent" {
                break;
            }
            assert!(Instant::now() < until, "{record}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    place.gateway.stop().await;
}

async fn garbage_in_the_queue(store: Option<&str>) {
    let place = Place::start(store, Overrides::default()).await;
    let (sent, first) = place.send("first").await;
    assert_eq!(sent, 200);
    let channel = contract::ChannelName::parse("web").unwrap();
    let lane = tidings::sends::record::lane(&channel, &place.visitor);
    let queue = QueueName::out(&channel);
    let items = [
        Bytes::from_static(b"\xff\xfe no id"),
        Bytes::from_static(b"snd_01j0000000000000000000000a"),
    ];
    for item in items {
        place
            .gateway
            .app
            .store
            .push(&queue, &Lane(lane.0.clone()), item, None, At::Store)
            .await
            .unwrap();
    }
    let (behind, record) = place.send("behind it").await;
    assert_eq!(behind, 200, "the lane goes on: {record} {first}");
    let poison = place.get("/api/queue/poison").await;
    assert_eq!(poison["poison"].as_array().unwrap().len(), 2, "{poison}");
    let inbox = place.get("/api/notifications?origin=platform").await;
    let told = inbox["notifications"].as_array().unwrap().iter();
    assert!(told.filter_map(|e| e["message"].as_str()).count() >= 1, "operators are told: {inbox}");
    place.gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_19_a_job_that_cannot_be_read_is_buried_on_the_embedded_store() {
    garbage_in_the_queue(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_19_a_job_that_cannot_be_read_is_buried_on_redis() {
    let redis = Server::redis("appendonly yes");
    garbage_in_the_queue(Some(&format!("redis://127.0.0.1:{}", redis.port))).await;
}

/// Hands everything on after a while, both ways.
async fn slow_way(to: u16, delay: Duration) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = tokio::net::TcpStream::connect(("127.0.0.1", to)).await else {
                return;
            };
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            tokio::spawn(slowly(from_client, to_server, delay));
            tokio::spawn(slowly(from_server, to_client, delay));
        }
    });
    port
}

async fn slowly(
    from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    delay: Duration,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        if from.readable().await.is_err() {
            return;
        }
        match from.try_read(&mut bytes) {
            Ok(0) => return,
            Ok(length) => {
                tokio::time::sleep(delay).await;
                if to.write_all(&bytes[..length]).await.is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_200_ms_away_delays_and_loses_nothing() {
    let redis = Server::redis("appendonly yes");
    let port = slow_way(redis.port, Duration::from_millis(100)).await;
    let place =
        Place::start(Some(&format!("redis://127.0.0.1:{port}")), Overrides::default()).await;
    for n in 0..5 {
        let (status, answer) = place.send(&format!("{n}")).await;
        assert_eq!((status, &answer["send"]["status"]), (200, &json!("sent")), "{answer}");
    }
    let sends = place.get("/api/sends").await;
    assert_eq!(sends["sends"].as_array().unwrap().len(), 5);
    place.gateway.stop().await;
}
