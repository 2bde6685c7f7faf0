//! Callers' media: the guard at every hop, and the bounds of a file.
use super::server::{Names, PUBLIC, Reply, Server, network, reply, tls};
use crate::wire::{Network, NetworkBuilder, StandIn};
use bytes::Bytes;
use contract::target::Scheme;
use contract::{FaultKind, Fetched, Resource, SendFault, WebUrl, Wire};
use rustls::RootCertStore;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const HOSTS: &[&str] = &["pub.test", "other.test", "rebind.test", "mixed.test"];

async fn secure(routes: &[(&str, Reply)]) -> (Server, RootCertStore) {
    let (acceptor, roots) = tls(HOSTS);
    (Server::start(routes, Some(acceptor)).await, roots)
}

async fn fetch(network: &Network, url: &str, max: u64) -> Result<Fetched, SendFault> {
    let url = WebUrl::parse(url, Scheme::Https).unwrap();
    network.account::<[&str; 0]>([]).fetch(&url, max).await
}

fn code(result: &Result<Fetched, SendFault>) -> &str {
    result.as_ref().map_or_else(|fault| &*fault.code, |_| "ok")
}

fn built(builder: NetworkBuilder, roots: &RootCertStore) -> Network {
    builder.roots(roots.clone()).build().unwrap()
}

#[tokio::test]
async fn i_65_a_name_is_looked_up_once_and_the_judged_address_is_connected_to() {
    let (server, roots) = secure(&[("/a", reply(200, &["content-type: image/png"], b"abc"))]).await;
    let names = Arc::new(
        Names::default()
            .with("rebind.test", &[&[PUBLIC], &["127.0.0.1"]])
            .with("mixed.test", &[&[PUBLIC, "127.0.0.1"]]),
    );
    let network = built(network(server.address, names.clone()), &roots);
    let fetched = fetch(&network, "https://rebind.test/a", 10).await.unwrap();
    assert_eq!((&fetched.bytes[..], &*fetched.content_type), (&b"abc"[..], "image/png"));
    assert_eq!(names.calls.load(Ordering::Relaxed), 1);
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
    // The name now answers loopback: the second fetch is judged anew, and refused.
    let again = fetch(&network, "https://rebind.test/a", 10).await;
    assert_eq!(code(&again), "blocked_address");
    // One bad address among good ones refuses the name.
    assert_eq!(code(&fetch(&network, "https://mixed.test/a", 10).await), "blocked_address");
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn i_66_i_67_addresses_and_ports_of_a_callers_url_are_judged() {
    let (server, roots) = secure(&[("/a", reply(200, &[], b"abc"))]).await;
    let names = Arc::new(Names::default().with("inner.test", &[&["::ffff:10.1.2.3"]]));
    let open = network(server.address, names.clone()).allow_ports([8443]);
    let network = built(network(server.address, names), &roots);
    for (url, key) in [
        ("https://127.0.0.1/a", "http.allow_hosts"),
        ("https://[::1]/a", "http.allow_hosts"),
        ("https://169.254.169.254/a", "http.allow_hosts"),
        ("https://[64:ff9b::a00:1]/a", "http.allow_hosts"),
        ("https://inner.test/a", "http.allow_hosts"),
        ("https://pub.test:8443/a", "http.allow_ports"),
    ] {
        let fault = fetch(&network, url, 10).await.unwrap_err();
        assert_eq!((fault.kind, &*fault.code), (FaultKind::Permanent, "blocked_address"), "{url}");
        assert!(fault.detail.contains(key), "{}", fault.detail);
        for address in ["127.0.0.1", "::1", "169.254", "10.1.2.3", "inner.test"] {
            assert!(!fault.detail.contains(address), "[I-72] {}", fault.detail);
        }
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 0);
    let open = built(open, &roots);
    assert_eq!(code(&fetch(&open, "https://pub.test:8443/a", 10).await), "ok");
}

#[tokio::test]
async fn i_69_each_redirect_is_judged_anew() {
    let to = |location: &str| reply(302, &[&format!("location: {location}")], b"");
    let (server, roots) = secure(&[
        ("/file", reply(200, &["content-type: image/png"], b"abc")),
        ("/1", to("https://other.test/2")),
        ("/2", to("3")),
        ("/3", to("/file")),
        ("/0", to("/1")),
        ("/loop", to("/loop")),
        ("/http", to("http://pub.test/file")),
        ("/redis", to("http://127.0.0.1:6379/")),
        ("/passwd", to("file:///etc/passwd")),
        ("/inward", to("https://127.0.0.1/file")),
        ("/private", to("https://inner.test/file")),
        ("/port", to("https://pub.test:22/file")),
        ("/user", to("https://me@pub.test/file")),
        ("/nowhere", reply(302, &[], b"")),
    ])
    .await;
    let names = Arc::new(Names::default().with("inner.test", &[&["192.168.1.1"]]));
    let network = built(network(server.address, names), &roots);
    for (path, found) in [
        ("1", "ok"),
        ("0", "media_unfetchable"),
        ("loop", "media_unfetchable"),
        ("http", "blocked_address"),
        ("redis", "blocked_address"),
        ("passwd", "blocked_address"),
        ("inward", "blocked_address"),
        ("private", "blocked_address"),
        ("port", "blocked_address"),
        ("user", "media_unfetchable"),
        ("nowhere", "media_unfetchable"),
    ] {
        let result = fetch(&network, &format!("https://pub.test/{path}"), 10).await;
        assert_eq!(code(&result), found, "{path}");
    }
    let carried = server.heads().concat().to_ascii_lowercase();
    assert!(!carried.contains("authorization") && !carried.contains("cookie"));
}

#[tokio::test]
async fn i_71_a_file_has_bounds() {
    let chunked = |body: &[u8]| {
        let size = format!("{:x}\r\n", body.len());
        [size.as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
    };
    let streamed = &["transfer-encoding: chunked"];
    let (server, roots) = secure(&[
        ("/exact", reply(200, &["content-type: Image/JPEG; q=1"], b"0123456789")),
        ("/declared", reply(200, &[], b"0123456789a")),
        ("/streamed", reply(200, streamed, &chunked(b"0123456789a"))),
        ("/fits", reply(200, streamed, &chunked(b"0123456789"))),
        ("/gzip", reply(200, &["content-encoding: gzip"], b"abc")),
        ("/empty", reply(200, &[], b"")),
        ("/half", reply(200, &["content-length: 9"], b"abc")),
        ("/gone", reply(410, &[], b"")),
        ("/failing", reply(503, &[], b"")),
        ("/late", Reply::Late(Duration::from_secs(20))),
        ("/garbage", Reply::Raw(b"hello\r\n\r\n".to_vec())),
    ])
    .await;
    let network = built(network(server.address, Arc::default()), &roots);
    for (path, found) in [
        ("exact#part", "ok"),
        ("fits", "ok"),
        ("//pub.test./fits", "ok"),
        ("declared", "media_refused"),
        ("streamed", "media_refused"),
        ("gzip", "media_refused"),
        ("empty", "media_unfetchable"),
        ("gone", "media_unfetchable"),
        ("missing", "media_unfetchable"),
        ("half", "transient"),
        ("failing", "transient"),
        ("late", "transient"),
        ("garbage", "transient"),
    ] {
        let url = match path.strip_prefix("//") {
            Some(elsewhere) => format!("https://{elsewhere}"),
            None => format!("https://pub.test/{path}"),
        };
        let result = fetch(&network, &url, 10).await;
        assert_eq!(code(&result), found, "{path}");
        if path == "exact#part" {
            assert_eq!(result.unwrap().content_type, "image/jpeg");
        }
    }
    assert_eq!(code(&fetch(&network, "https://unknown.invalid/a", 10).await), "transient");
    assert_eq!(code(&fetch(&network, "https://wrong-name.test/a", 10).await), "transient");
}

#[tokio::test]
async fn a_stand_in_answers_and_nothing_is_contacted() {
    struct Files;
    impl StandIn for Files {
        fn fetch(&self, url: &WebUrl) -> Option<Fetched> {
            let content_type = "image/png".to_owned();
            let bytes = Bytes::from_static(b"stand-in");
            let note = Some("sandbox: stand-in");
            url.path().ends_with(".png").then_some(Fetched { bytes, content_type, note })
        }
    }
    let names = Arc::new(Names::default());
    let network = Network::builder()
        .resolver(names.clone())
        .map(Arc::new(|address| address.ip().is_loopback().then_some(address)))
        .stand_in(Arc::new(Files))
        .build()
        .unwrap();
    let fetched = fetch(&network, "https://pub.test/a.png", 100).await.unwrap();
    assert_eq!(fetched.note, Some("sandbox: stand-in"));
    assert_eq!(names.calls.load(Ordering::Relaxed), 0);
    assert_eq!(code(&fetch(&network, "https://pub.test/a.png", 3).await), "media_refused");
    assert_eq!(code(&fetch(&network, "https://pub.test/a.jpg", 100).await), "blocked_address");
}

/// A proxy that notes what it is asked for and leads it all to one place.
async fn proxy(to: std::net::SocketAddr) -> (String, Arc<std::sync::Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = heads.clone();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let noted = noted.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(near.read_u8().await.unwrap());
                }
                noted.lock().unwrap().push(String::from_utf8(head).unwrap());
                near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
                let mut far = tokio::net::TcpStream::connect(to).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (format!("http://us%65r:p%40ss@{address}"), heads)
}

#[tokio::test]
async fn a_proxy_is_given_judged_addresses_for_callers_and_names_for_vendors() {
    let file = reply(200, &[], b"abc");
    let (server, roots) = secure(&[("/a", file), ("/send", Reply::Echo)]).await;
    let (url, heads) = proxy(server.address).await;
    let names = Arc::new(Names::default().with("inner.test", &[&["10.0.0.1"]]));
    let network = built(network(server.address, names).proxy(&url), &roots);
    assert_eq!(code(&fetch(&network, "https://pub.test/a", 10).await), "ok");
    assert_eq!(code(&fetch(&network, "https://inner.test/a", 10).await), "blocked_address");
    let wire = network.account(["https://other.test"]);
    let request = contract::WireRequest {
        method: contract::Method::Post,
        url: contract::Sealed::plain("https://other.test/send"),
        headers: Vec::new(),
        body: contract::Body::Json("{}".to_owned()),
    };
    let none: &[Resource] = &[];
    assert!(wire.send(&request, &contract::Secrets::none(), none).await.is_ok());
    let heads = heads.lock().unwrap().clone();
    assert_eq!(heads.len(), 2);
    assert!(heads[0].starts_with(&format!("CONNECT {PUBLIC}:443 HTTP/1.1\r\n")), "{}", heads[0]);
    assert!(heads[1].starts_with("CONNECT other.test:443 HTTP/1.1\r\n"), "{}", heads[1]);
    // user:p@ss
    assert!(heads[0].contains("proxy-authorization: Basic dXNlcjpwQHNz\r\n"), "{}", heads[0]);
}
