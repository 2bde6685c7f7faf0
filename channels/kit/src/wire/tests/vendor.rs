//! The account's own vendor: what is reached, and how each failure is named.
use super::server::{Names, Reply, Server, network, reply, tls};
use crate::wire::{AccountWire, Network, Timeouts};
use bytes::Bytes;
use contract::{
    Body, FileRef, Method, MultipartField, MultipartValue, Resource, Sealed, Secret, Secrets, Wire,
    WireError, WireRequest, WireResult,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn post(url: String) -> WireRequest {
    WireRequest {
        method: Method::Post,
        url: Sealed::plain(url).secret("token"),
        headers: vec![("authorization", Sealed::plain("Bearer ").secret("token"))],
        body: Body::Json("{\"a\":1}".to_owned()),
    }
}

async fn send(wire: &AccountWire, request: &WireRequest) -> WireResult {
    wire.send(request, &Secrets::none().with("token", Secret::new("s3cret")), &[]).await
}

async fn plain(routes: &[(&str, Reply)]) -> (Server, AccountWire, String) {
    let server = Server::start(routes, None).await;
    let base = format!("http://{}", server.address);
    let network = network(server.address, Arc::default()).build().unwrap();
    (server, network.account([&base]), base)
}

fn blocked(key: &str) -> impl Fn(WireResult) -> bool {
    move |result| matches!(result, Err(WireError::Blocked { key: found, .. }) if found == key)
}

#[tokio::test]
async fn secrets_are_filled_in_and_connections_are_kept() {
    let (server, wire, base) = plain(&[("/s3cret", Reply::Echo)]).await;
    for _ in 0..3 {
        let response = send(&wire, &post(format!("{base}/"))).await.unwrap();
        assert_eq!((response.status, &response.body[..]), (200, &b"{\"a\":1}"[..]));
        assert_eq!(response.header("content-length"), Some("7"));
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
    let head = server.heads()[0].to_ascii_lowercase();
    for line in [
        "post /s3cret http/1.1",
        "authorization: bearer s3cret",
        "content-type: application/json",
        "content-length: 7",
        "user-agent: tidings/",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
}

#[tokio::test]
async fn every_failure_after_the_request_has_its_name() {
    let long = vec![b'x'; (1 << 20) + 1];
    let (_server, wire, base) = plain(&[
        ("/moved/s3cret", reply(302, &["location: /elsewhere"], b"")),
        ("/long/s3cret", reply(200, &[], &long)),
        ("/full/s3cret", reply(200, &[], &long[1..])),
        ("/half/s3cret", reply(200, &["content-length: 9"], b"abc")),
        ("/closed/s3cret", Reply::Close),
        ("/garbage/s3cret", Reply::Raw(b"hello there\r\n\r\n".to_vec())),
        ("/late/s3cret", Reply::Late(Duration::from_secs(20))),
    ])
    .await;
    let at = async |path: &str| send(&wire, &post(format!("{base}/{path}/"))).await;
    assert_eq!(at("moved").await.unwrap().status, 302, "a redirect is an answer, never followed");
    assert_eq!(at("full").await.unwrap().body.len(), 1 << 20);
    for (path, error) in [
        ("long", WireError::Unreadable),
        ("half", WireError::Unreadable),
        ("closed", WireError::Reset),
        ("garbage", WireError::Unreadable),
        ("late", WireError::Timeout),
    ] {
        assert_eq!(at(path).await, Err(error), "{path}");
    }
}

#[tokio::test]
async fn what_fails_before_the_request_is_a_failed_connection() {
    let server = Server::start(&[], None).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let to = |origin: String| {
        let network = network(server.address, Arc::default()).build().unwrap();
        (network.account([&origin]), post(format!("{origin}/")))
    };
    for origin in [
        format!("http://{free}"),
        "https://no-such-name.invalid".to_owned(),
        // The server speaks no TLS.
        "https://vendor.test".to_owned(),
    ] {
        let (wire, request) = to(origin.clone());
        assert_eq!(send(&wire, &request).await, Err(WireError::Connect), "{origin}");
    }
    let (wire, mut request) = to(format!("http://{}", server.address));
    let value = MultipartValue::File { file: FileRef(0), filename: "a".to_owned() };
    request.body = Body::Multipart(vec![MultipartField { name: "f0".to_owned(), value }]);
    assert_eq!(send(&wire, &request).await, Err(WireError::Connect), "a file nobody provided");
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn a_server_that_never_shakes_hands_is_a_failed_connection() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let timeouts = Timeouts {
        connect: Duration::from_secs(9),
        whole: Duration::from_millis(300),
        upload: Duration::from_secs(9),
    };
    let network =
        network(silent.local_addr().unwrap(), Arc::default()).timeouts(timeouts).build().unwrap();
    let wire = network.account(["https://vendor.test"]);
    let result = send(&wire, &post("https://vendor.test/".to_owned())).await;
    assert_eq!(result, Err(WireError::Connect), "no byte of the request was written");
}

#[tokio::test]
async fn uploads_have_their_own_time_and_carry_the_bytes() {
    let server = Server::start(&[("/s3cret", Reply::Late(Duration::from_millis(700)))], None).await;
    let base = format!("http://{}", server.address);
    let timeouts = Timeouts {
        connect: Duration::from_millis(200),
        whole: Duration::from_millis(300),
        upload: Duration::from_secs(9),
    };
    let network = network(server.address, Arc::default()).timeouts(timeouts).build().unwrap();
    let wire = network.account([&base]);
    let mut request = post(format!("{base}/"));
    assert_eq!(send(&wire, &request).await, Err(WireError::Timeout));
    let value = MultipartValue::File { file: FileRef(0), filename: "a.png".to_owned() };
    request.body = Body::Multipart(vec![MultipartField { name: "f0".to_owned(), value }]);
    let bytes = Bytes::from_static(b"\x89PNG");
    let resource = Resource::Bytes { bytes, content_type: "image/png".to_owned() };
    let secrets = Secrets::none().with("token", Secret::new("s3cret"));
    let response = wire.send(&request, &secrets, &[resource]).await.unwrap();
    assert_eq!(response.status, 200);
    assert!(server.heads()[1].contains("multipart/form-data; boundary=tidings-"));
}

#[tokio::test]
async fn i_68_i_70_only_the_accounts_own_origins_are_reached() {
    let server = Server::start(&[("/s3cret", Reply::Echo)], None).await;
    let (acceptor, roots) = tls(&["vendor.test"]);
    let secure = Server::start(&[("/s3cret", Reply::Echo)], Some(acceptor)).await;
    let names = || {
        Arc::new(
            Names::default()
                .with("inner.test", &[&["10.0.0.9"]])
                .with("localhost", &[&["127.0.0.1"]]),
        )
    };
    let build = |names| network(secure.address, names).roots(roots.clone());
    let network = build(names()).build().unwrap();
    let loopback = format!("http://{}", server.address);
    let local_name = format!("http://localhost:{}", server.address.port());
    let wire =
        network.account([&*loopback, &local_name, "https://vendor.test", "https://inner.test"]);
    let ok = async |origin: &str| send(&wire, &post(format!("{origin}/"))).await;
    for origin in [&*loopback, &local_name, "https://vendor.test"] {
        assert_eq!(ok(origin).await.map(|response| response.status), Ok(200), "{origin}");
    }
    assert!(blocked("base_url")(ok("https://evil.test").await), "no origin of the account");
    assert!(blocked("base_url")(ok("http://vendor.test").await), "another scheme");
    assert!(blocked("base_url")(ok("https://vendor.test:444").await), "another port");
    assert!(blocked("http.allow_hosts")(ok("https://inner.test").await), "a private address");

    let plain = network.account(["http://vendor.test"]);
    let result = send(&plain, &post("http://vendor.test/".to_owned())).await;
    assert!(blocked("http.allow_hosts")(result), "http is for loopback and listed hosts");

    let names = Arc::new(Names::default().with("inner.test", &[&["10.0.0.9"]]));
    let to = server.address;
    let listed = Network::builder()
        .resolver(names)
        .map(Arc::new(move |_| Some(to)))
        .allow_hosts(["Inner.test:8080".to_owned()])
        .build()
        .unwrap();
    let wire = listed.account(["http://inner.test:8080"]);
    let result = send(&wire, &post("http://inner.test:8080/".to_owned())).await;
    assert_eq!(result.map(|response| response.status), Ok(200), "the operator listed it");
}

#[tokio::test]
async fn i_66_nobody_is_sent_to_the_gateways_own_listener() {
    let server = Server::start(&[], None).await;
    let own = format!("{}:443", super::server::PUBLIC).parse().unwrap();
    let network = network(server.address, Arc::default()).listeners([own]).build().unwrap();
    let wire = network.account(["https://vendor.test"]);
    let result = send(&wire, &post("https://vendor.test/".to_owned())).await;
    assert!(blocked("listen")(result));
}

#[tokio::test]
async fn a_narrowed_network_reaches_loopback_alone() {
    let (server, _, base) = plain(&[("/s3cret", Reply::Echo)]).await;
    let network = Network::builder()
        .resolver(Arc::new(Names::default()))
        .map(Arc::new(|address| address.ip().is_loopback().then_some(address)))
        .build()
        .unwrap();
    let wire = network.account([&*base, "https://vendor.test", "https://8.8.8.8"]);
    assert!(send(&wire, &post(format!("{base}/"))).await.is_ok());
    for outside in ["https://vendor.test/", "https://8.8.8.8/"] {
        let result = send(&wire, &post(outside.to_owned())).await;
        assert!(matches!(result, Err(WireError::Blocked { .. })), "{outside}");
    }
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

#[test]
fn debug_shows_no_credentials() {
    let network = Network::builder().proxy("http://user:pa55word@proxy.test:3128").build().unwrap();
    let shown = format!("{network:?} {:?}", network.account(["https://vendor.test"]));
    assert!(!shown.contains("pa55word") && !shown.contains("user"), "{shown}");
    for bad in ["proxy.test:3128", "https://proxy.test", "socks5://proxy.test", "http://"] {
        assert!(Network::builder().proxy(bad).build().is_err(), "{bad}");
    }
    assert!(Network::builder().proxy("").build().is_ok());
}
