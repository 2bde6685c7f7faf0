//! What only a store on a server has: bad servers, lost answers, forgotten scripts, one slot.
use crate::case::{
    Case, LEASE, addressed, at, body, commit, kept, lane, note, out, record, seconds, sent, snd,
    time, tokens,
};
use crate::media::{media, row};
use crate::server::Server;
use crate::servers::{Watched, cluster, cluster_options, prefix, shared};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidings::store::redis::{Options, Redis};
use tidings::store::{
    At, Committed, Held, MediaStored, Noted, OpenStep, Opened, ProviderRef, QueueDepth, Scope,
    Signal, Store, StoreError,
};

fn to(port: u16) -> Options {
    Options::single("127.0.0.1", port, &prefix())
}

async fn open(options: Options) -> Case {
    Case::of(Redis::open(options).await.unwrap())
}

async fn refusal(options: Options) -> String {
    let Err(refused) = Redis::open(options).await else { panic!("the start was not refused") };
    refused.to_string()
}

#[tokio::test]
async fn d_46_a_server_that_will_not_do_is_refused_by_name() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let started = Instant::now();
    let absent = refusal(to(free)).await;
    assert!(absent.contains(&format!("127.0.0.1:{free} cannot be reached")), "{absent}");
    assert!(started.elapsed() < Duration::from_secs(3));

    let locked = Server::redis("requirepass right");
    let with =
        |password: &str| Options { password: Some(password.into_secret()), ..to(locked.port) };
    for options in [with("hunter2"), to(locked.port)] {
        let refused = refusal(options).await;
        let expected =
            format!("store.url: Redis at 127.0.0.1:{} refuses user and password", locked.port);
        assert_eq!(refused, expected);
    }
    open(with("right")).await.open(note(1), at(0)).await;

    let evicting = Server::redis("maxmemory-policy allkeys-lru");
    let refused = refusal(to(evicting.port)).await;
    assert!(refused.contains("maxmemory-policy allkeys-lru; needed: noeviction"), "{refused}");

    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = refusal(to(mute.local_addr().unwrap().port())).await;
    assert!(
        refused.contains("cannot be reached") || refused.contains("does not answer"),
        "{refused}"
    );
}

trait IntoSecret {
    fn into_secret(self) -> contract::Secret;
}
impl IntoSecret for &str {
    fn into_secret(self) -> contract::Secret {
        contract::Secret::new(self)
    }
}

/// The rights the operations page names are enough; one less is told at the start.
#[tokio::test]
async fn d_62_a_user_with_the_documented_rights_is_enough() {
    let server = Server::redis("");
    let rights = "+@read +@write +@stream +@scripting +@pubsub +ping +info +time";
    let user = |name: &str, rights: &str, prefix: &str| {
        let keys = [format!("~{{{prefix}}}:*"), format!("&{{{prefix}}}:*")];
        let mut call = vec!["ACL", "SETUSER", name, "on", ">pw", "resetchannels"];
        call.extend(keys.iter().map(String::as_str));
        call.extend(rights.split(' '));
        assert!(server.cli(&call).contains("OK"));
    };
    let options = |name: &str| Options {
        user: Some(name.into()),
        password: Some("pw".into_secret()),
        ..to(server.port)
    };
    let enough = options("enough");
    user("enough", rights, &enough.prefix);
    full_walk(&open(enough).await).await;
    let less = options("less");
    user("less", &rights.replace(" +info", ""), &less.prefix);
    let refused = refusal(less).await;
    assert!(refused.contains("denies this user a right") && refused.contains("info"), "{refused}");
    let elsewhere = options("elsewhere");
    user("elsewhere", rights, "another");
    let refused = refusal(elsewhere).await;
    assert!(refused.contains("denies this user a right"), "{refused}");
}

/// Every step of every trait that writes.
async fn full_walk(case: &Case) {
    let store = &case.store;
    let idempotency = Some(("key".to_owned(), kept(1, "state")));
    let audience = Some("ana".to_owned());
    case.open(OpenStep { idempotency, audience, ..sent(1, "r") }, at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    case.open(addressed(3, "ana"), at(0)).await;
    store.keep("key", kept(1, "done"), at(0)).await.unwrap();
    let hold = case.take(&out(), at(0)).await;
    store.extend(vec![hold.clone()], LEASE, at(0)).await.unwrap();
    store.begin(commit(1, 1, "x"), &hold, None, at(0)).await.unwrap();
    let provider = Some(ProviderRef { hash: "h".into(), part: 0 });
    let full = tidings::store::Commit {
        log: Some("log".into()),
        exchange: Some("exchange".into()),
        dead: tidings::store::Dead::Since(time(0)),
        active: tidings::store::Active::Final(tidings::store::Keep {
            until: time(900_000),
            exchanges: time(600_000),
        }),
        ..commit(1, 2, "x w")
    };
    store.note_part(full, provider, Some(&hold), at(0)).await.unwrap();
    let hold = case.take(&out(), at(0)).await;
    store.defer(commit(2, 1, "x"), &hold, time(9), at(0)).await.unwrap();
    let hold = case.take(&out(), at(9)).await;
    store.defer_lane(&hold, time(10), at(9)).await.unwrap();
    let hold = case.take(&out(), at(10)).await;
    store.bury(&hold, "reason", at(10)).await.unwrap();
    store.push(&out(), &lane("later"), "item".into(), Some(time(99)), at(10)).await.unwrap();
    let bytes = vec![7; 600 * 1024];
    let stored = store.media_put(row(1, bytes.len(), 100), bytes.into(), 1 << 30, at(0)).await;
    assert_eq!(stored, Ok(MediaStored::Stored));
    store.media_keep(&[media(1)], time(200), at(0)).await.unwrap();
    let trace = tidings::store::TraceRef { trace: "0".repeat(32), keep: seconds(60) };
    store.note_trace(&trace, "msg_1", at(0)).await.unwrap();
    let counts = [("sent".to_owned(), 2)].into();
    store.add_hour(&crate::case::channel(), "2026113000", &counts, Some(1)).await.unwrap();
    store.announce("poison", "telegram", seconds(60), at(0)).await.unwrap();
    store.beat("node", "says", seconds(60), at(0)).await.unwrap();
    let (telegram, early) = (crate::case::channel(), seconds(60));
    for hash in ["a", "b"] {
        store.shelve(&telegram, hash, "early".into(), early, None, at(0)).await.unwrap();
    }
    store.clear_shelf(&telegram, "a").await.unwrap();
    store.lapse_shelves(9, at(60_000)).await.unwrap();
    store.shelve(&telegram, "c", "early".into(), early, None, at(60_000)).await.unwrap();
}

/// Everything a walk writes lies in one slot of a Cluster, under the prefix.
#[tokio::test]
async fn d_62_all_keys_of_a_full_walk_hash_to_one_slot() {
    let options = cluster_options();
    let prefix = options.prefix.clone();
    full_walk(&open(options).await).await;
    let (mut slots, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for node in cluster() {
        for key in node.cli(&["KEYS", &format!("*{prefix}}}*")]).lines().filter(|k| !k.is_empty()) {
            let rest = key.strip_prefix(&format!("{{{prefix}}}:")).unwrap();
            kinds.insert(rest.split(':').next().unwrap().to_owned());
            slots.insert(node.cli(&["CLUSTER", "KEYSLOT", key]));
        }
    }
    assert_eq!(slots.len(), 1, "{slots:?}");
    let expected = [
        "active",
        "dead",
        "exc",
        "hour",
        "idem",
        "idem_exp",
        "idx",
        "inbox",
        "log",
        "med",
        "med_bytes",
        "med_exp",
        "nodes",
        "ntc",
        "ntf",
        "orphans",
        "own",
        "pid",
        "q",
        "rcp",
        "shelf",
        "shelf_exp",
        "snd",
        "snd_exp",
        "trc",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// A way to a server that loses answers: the next ones so many times, with the connection.
struct Lossy {
    port: u16,
    lose: Arc<AtomicU32>,
}

impl Lossy {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lose: Arc<AtomicU32> = Arc::default();
        let losing = lose.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", server)))
                else {
                    return;
                };
                let (from, into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || pass(from, into, None));
                let losing = losing.clone();
                std::thread::spawn(move || pass(server, client, Some(losing)));
            }
        });
        Self { port, lose }
    }

    fn lose(&self, answers: u32) {
        self.lose.store(answers, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut into: TcpStream, lose: Option<Arc<AtomicU32>>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let lost = lose.as_ref().is_some_and(|lose| {
            lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok()
        });
        if lost || into.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), into.shutdown(Shutdown::Both));
}

/// Each step's answer is lost once: the step is repeated, and happens once. The signals' connection
/// is quiet meanwhile: nobody publishes but the steps, whose answers come first or with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_63_a_step_repeated_after_a_lost_answer_happens_once() {
    let lossy = Lossy::to(shared().port);
    let case = open(to(lossy.port)).await;
    let store = &case.store;
    lossy.lose(1);
    case.open(OpenStep { idempotency: Some(("k".into(), kept(1, "s"))), ..sent(1, "r") }, at(0))
        .await;
    lossy.lose(1);
    assert_eq!(store.push(&out(), &lane("r"), "two".into(), None, at(0)).await, Ok(2));
    assert_eq!(store.depth(&out(), at(0)).await.unwrap().items, 2);
    lossy.lose(1);
    let claimed = case.claim(&out(), 3, at(0)).await;
    assert_eq!(claimed.leases.len(), 1);
    let lease = &claimed.leases[0];
    assert_eq!((lease.reaps, lease.body.clone()), (0, Some(body(1))));
    let hold = &lease.hold;
    lossy.lose(1);
    assert_eq!(store.begin(commit(1, 1, "a"), hold, None, at(1)).await, Ok(Committed::Done));
    lossy.lose(1);
    let deferred = store.defer(commit(1, 2, "b"), hold, time(5), at(1)).await;
    assert_eq!(deferred, Ok(Committed::Done));
    let hold = case.take(&out(), at(5)).await;
    lossy.lose(1);
    let provider = Some(ProviderRef { hash: "h".into(), part: 0 });
    let noted = store.note_part(commit(1, 3, "c"), provider, Some(&hold), at(6)).await;
    assert_eq!(noted, Ok(Noted::Done { shelved: vec![] }));
    let lease = case.claim(&out(), 1, at(6)).await.leases.remove(0);
    assert_eq!(lease.item, "two", "the head went once");
    lossy.lose(1);
    assert_eq!(store.commit(commit(1, 4, "d"), at(6)).await, Ok(Committed::Done));
    lossy.lose(1);
    let stale = store.commit(commit(1, 4, "e"), at(6)).await;
    assert_eq!(stale, Ok(Committed::Conflict(record(5, "d"))), "another's write is no repeat");
    lossy.lose(1);
    let stored = store.media_put(row(1, 3, 900), vec![1; 3].into(), 100, at(0)).await;
    assert_eq!(stored, Ok(MediaStored::Stored));
    assert_eq!(store.media_bytes().await, Ok(3));
}

/// A claim that never got its answer took lanes under tokens nobody works with: the next claim has
/// them at once, not when a lease has run out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_without_an_answer_holds_no_lane_back() {
    let lossy = Lossy::to(shared().port);
    let case = open(to(lossy.port)).await;
    for name in ["a", "b"] {
        case.store.push(&out(), &lane(name), name.into(), None, at(0)).await.unwrap();
    }
    lossy.lose(1000);
    let lost = case.store.claim(&out(), tokens(2), LEASE, None, at(0)).await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    lossy.lose(0);
    assert_eq!(case.store.depth(&out(), at(0)).await.unwrap().leased, 2);
    let claimed = case.claim(&out(), 2, at(1)).await;
    let counts: Vec<_> = claimed.leases.iter().map(|l| (l.reaps, l.reaped)).collect();
    assert_eq!(counts, [(0, false), (0, false)]);
    for lease in claimed.leases {
        assert_eq!(case.store.ack(&lease.hold, at(2)).await, Ok(Held::Done));
    }
    assert_eq!(case.store.depth(&out(), at(2)).await, Ok(QueueDepth::default()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_63_a_server_that_forgot_its_scripts_is_given_them_again() {
    let server = Server::redis("");
    let case = open(to(server.port)).await;
    server.cli(&["SCRIPT", "FLUSH"]);
    full_walk(&case).await;
}

/// Stopped for some seconds: refused in time, nothing half-done, at work again by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_63_a_stopped_server_is_told_and_healed_from() {
    let server = Server::redis("");
    let case = open(to(server.port)).await;
    case.open(sent(1, "r"), at(0)).await;
    server.signal("-STOP");
    let started = Instant::now();
    let refused = case.store.open(sent(2, "r"), at(0)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    assert!(case.store.ping().await.is_err());
    server.signal("-CONT");
    case.store.ping().await.unwrap();
    // What was refused is there whole or not at all; the repeat makes it whole.
    case.open(sent(2, "r"), at(0)).await;
    assert_eq!(case.store.list(&Scope::Shared, None, 9, at(0)).await.unwrap().len(), 2);
    assert_eq!(case.store.depth(&out(), at(0)).await.unwrap().items, 2);
    let mut signals = case.store.signals();
    let heard = async {
        loop {
            let name = lane(&format!("{:?}", Instant::now()));
            case.store.push(&out(), &name, "x".into(), None, At::Store).await.unwrap();
            let next = tokio::time::timeout(Duration::from_millis(100), signals.recv()).await;
            if next == Ok(Ok(Signal::Queue(out()))) {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.expect("signals come again");
}

/// Flushed while leases are held: every step works on as on an empty store. [D-15]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_15_a_flushed_server_works_at_once() {
    let server = Server::redis("");
    let case = open(to(server.port)).await;
    case.open(sent(1, "r"), at(0)).await;
    case.open(sent(2, "r"), at(0)).await;
    let hold = case.take(&out(), at(0)).await;
    assert!(server.cli(&["FLUSHALL"]).contains("OK"));
    let store = &case.store;
    assert_eq!(store.begin(commit(1, 1, "x"), &hold, None, at(1)).await, Ok(Committed::Lost));
    assert_eq!(store.note_part(commit(1, 1, "x"), None, Some(&hold), at(1)).await, Ok(Noted::Gone));
    assert_eq!(store.ack(&hold, at(1)).await, Ok(Held::Lost));
    assert_eq!(store.depth(&out(), at(1)).await, Ok(QueueDepth::default()));
    full_walk(&case).await;
}

/// Two nodes: what one does the other hears, and a lane is one's only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_17_nodes_hear_each_other_and_share_lanes() {
    let options = to(shared().port);
    let (one, two) = (open(options.clone()).await, open(options).await);
    let mut signals = two.store.signals();
    one.open(sent(1, "r"), At::Store).await;
    let heard = tokio::time::timeout(Duration::from_secs(5), signals.recv()).await;
    assert_eq!(heard, Ok(Ok(Signal::Queue(out()))));
    let hold = two.take(&out(), At::Store).await;
    assert_eq!(one.claim(&out(), 1, At::Store).await.leases, []);
    assert_eq!(two.store.finish(commit(1, 1, "x"), &hold, At::Store).await, Ok(Committed::Done));
}

/// A failover under load: what was acknowledged before the replica had it may be lost, and is the
/// server's promise; here it had all, and nothing is lost or doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_under_load_is_healed_from() {
    let watched = tokio::task::spawn_blocking(Watched::start).await.unwrap();
    let store: Arc<dyn Store> = Arc::new(Redis::open(watched.options()).await.unwrap());
    let before: Vec<u128> = (1..=50).collect();
    for number in &before {
        let opened = store.open(sent(*number, "r"), At::Store).await;
        assert_eq!(opened, Ok(Opened::Opened));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            let mut opened = Vec::new();
            for number in 1_000..u128::MAX {
                if store.open(sent(number, "s"), At::Store).await == Ok(Opened::Opened) {
                    opened.push(number);
                } else if opened.len() > 5 {
                    break;
                }
            }
            // Refused while there was no master; the very same store goes on.
            loop {
                let opened = store.open(sent(999, "t"), At::Store).await;
                if opened == Ok(Opened::Opened) {
                    return;
                }
            }
        })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    let watched = tokio::task::spawn_blocking(move || {
        watched.fail_over();
        watched
    })
    .await
    .unwrap();
    tokio::time::timeout(Duration::from_secs(20), writer).await.unwrap().unwrap();
    let list = store.list(&Scope::Shared, None, 1_000_000, At::Store).await.unwrap();
    let ids: BTreeSet<_> = list.iter().map(|(_, id)| id.clone()).collect();
    assert_eq!(ids.len(), list.len(), "nothing twice");
    for number in before {
        assert!(store.record(&snd(number)).await.unwrap().is_some(), "{number}");
    }
    assert_eq!(watched.sentinels.len(), 3);
}

fn pem(kind: &str, der: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}

/// A certificate authority nobody else knows, and a server with a certificate of it.
fn over_tls(folder: &std::path::Path) -> (Server, u16, Vec<u8>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = authority.self_signed(&key).unwrap();
    let issuer = rcgen::Issuer::from_params(&authority, &key);
    let own = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let params = rcgen::CertificateParams::new(names).unwrap();
    let certificate = params.signed_by(&own, &issuer).unwrap();
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let ca = pem("CERTIFICATE", root.der());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!(
        "tls-port {port}\ntls-auth-clients no\ntls-cert-file {}\ntls-key-file {}\n\
         tls-ca-cert-file {}",
        file("cert.pem", pem("CERTIFICATE", certificate.der())),
        file("key.pem", pem("PRIVATE KEY", &own.serialize_der())),
        file("ca.pem", ca.clone()),
    );
    (Server::redis(&settings), port, ca.into_bytes())
}

/// A private authority is given by its file; without it the server is not believed.
#[tokio::test]
async fn rediss_trusts_the_authority_it_is_given_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (server, port, ca) = over_tls(folder.path());
    let trusting = Options { tls: true, ca: Some(ca), ..to(port) };
    let case = open(trusting.clone()).await;
    let mut signals = case.store.signals();
    case.open(sent(1, "r"), at(0)).await;
    assert_eq!(case.claim(&out(), 1, at(0)).await.leases.len(), 1);
    let heard = tokio::time::timeout(Duration::from_secs(5), signals.recv()).await;
    assert_eq!(heard.unwrap().unwrap(), Signal::Queue(out()), "the listener uses TLS too");
    let distrusting = Options { tls: true, ca: None, ..to(port) };
    assert!(refusal(distrusting).await.contains("cannot be reached"));
    let plain = refusal(Options { ..to(port) }).await;
    assert!(plain.contains("cannot be reached") || plain.contains("does not answer"), "{plain}");
    drop(server);
}

/// Work that goes on while everything is wiped: new sends go through within two seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_15_a_flush_under_load_heals_within_two_seconds() {
    let server = Server::redis("");
    let case = open(to(server.port)).await;
    let (stop, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let load: Vec<_> = (0..8u128)
        .map(|worker| {
            let (store, stop, done) = (case.store.clone(), stop.clone(), done.clone());
            tokio::spawn(async move {
                let mut number = 1_000_000 * (worker + 1);
                while stop.load(Ordering::SeqCst) == 0 {
                    number += 1;
                    // Each step may meet a store that has just forgotten what came before.
                    let recipient = format!("r{}", number % 50);
                    store.open(sent(number, &recipient), At::Store).await.unwrap();
                    let claimed = store.claim(&out(), tokens(4), LEASE, None, At::Store).await;
                    for lease in claimed.unwrap().leases {
                        if store.ack(&lease.hold, At::Store).await.unwrap() == Held::Done {
                            done.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            })
        })
        .collect();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert!(server.cli(&["FLUSHALL"]).contains("OK"));
        let (flushed, before) = (Instant::now(), done.load(Ordering::SeqCst));
        while done.load(Ordering::SeqCst) < before + 50 {
            assert!(flushed.elapsed() < Duration::from_secs(2), "no work since the flush");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    stop.store(1, Ordering::SeqCst);
    for worker in load {
        worker.await.unwrap();
    }
    let case_depth = case.store.depth(&out(), At::Store).await.unwrap();
    let lanes = case_depth.ready + case_depth.delayed + case_depth.leased;
    assert!(lanes <= 50, "{case_depth:?}");
}

/// What a server may have lost is told to it, or to the next, before anything else is asked.
#[tokio::test]
async fn d_77_a_server_that_lost_its_last_second_is_told_what_went_out() {
    let mut server = Server::redis("");
    let case = open(to(server.port)).await;
    for number in 1..=4 {
        case.open(sent(number, &format!("r{number}")), At::Store).await;
    }
    assert_eq!(server.cli(&["SAVE"]).trim(), "OK");
    // The first is under way, the second done, the third has a part to go, the fourth waits.
    let leases = case.claim(&out(), 3, At::Store).await.leases;
    let holds: Vec<_> = leases.into_iter().map(|lease| lease.hold).collect();
    for (number, hold) in (1..).zip(&holds) {
        let begun = case.store.begin(commit(number, 1, "sending"), hold, None, At::Store).await;
        assert_eq!(begun, Ok(Committed::Done));
    }
    let done = Ok(Noted::Done { shelved: Vec::new() });
    let provider = |hash: &str, part| Some(ProviderRef { hash: hash.to_owned(), part });
    let second = commit(2, 2, "sent");
    let noted = case.store.note_part(second, provider("two", 0), Some(&holds[1]), At::Store).await;
    assert_eq!(noted, done);
    let third = commit(3, 2, "queued");
    assert_eq!(case.store.note_part(third, provider("three", 4), None, At::Store).await, done);

    server.back_to_saved();
    let claimed = case.claim(&out(), 9, At::Store).await.leases;
    assert_eq!(
        claimed.iter().map(|lease| &lease.item[..]).collect::<Vec<_>>(),
        [snd(4).as_str().as_bytes()]
    );
    for (number, value) in
        [(1, record(2, "sending")), (2, record(3, "sent")), (3, record(3, "queued"))]
    {
        assert_eq!(case.store.record(&snd(number)).await, Ok(Some(value)));
    }
    let telegram = crate::case::channel();
    assert_eq!(case.store.by_provider(&telegram, "two").await, Ok(Some((snd(2), 0))));
    assert_eq!(case.store.by_provider(&telegram, "three").await, Ok(Some((snd(3), 4))));
    let still = case.store.extend(holds.clone(), LEASE, At::Store).await.unwrap();
    assert_eq!(still, [holds[0].clone(), holds[2].clone()], "their workers go on");
    let first = commit(1, 2, "sent");
    let noted = case.store.note_part(first, provider("one", 0), Some(&holds[0]), At::Store).await;
    assert_eq!(noted, done);
    let depth = case.store.depth(&out(), At::Store).await.unwrap();
    assert_eq!((depth.items, depth.leased, depth.delayed), (2, 2, 0));
}
