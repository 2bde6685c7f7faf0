//! A tiny HTTP server whose answers are raw bytes, chosen by path, and the network that leads to it.
use crate::wire::{Network, NetworkBuilder, Resolve, Timeouts};
use async_trait::async_trait;
use rustls::RootCertStore;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The invented public address of every `.test` host that has no other.
pub const PUBLIC: &str = "93.184.216.34";

/// What the server does with one request.
#[derive(Clone)]
pub enum Reply {
    /// Writes these bytes and closes.
    Raw(Vec<u8>),
    /// Answers 200 with the request's body and keeps the connection.
    Echo,
    /// Reads the request and closes.
    Close,
    /// Waits, then answers 200.
    Late(Duration),
}

/// A reply with status, header lines and body, closing the connection.
pub fn reply(status: u16, headers: &[&str], body: &[u8]) -> Reply {
    let mut text = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if !headers.iter().any(|h| h.starts_with("content-length") || h.starts_with("transfer")) {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    Reply::Raw([text.as_bytes(), b"\r\n", body].concat())
}

/// A running server.
pub struct Server {
    pub address: SocketAddr,
    pub connections: Arc<AtomicUsize>,
    /// Heads of the requests it got.
    pub heads: Arc<Mutex<Vec<String>>>,
}

type Routes = Arc<HashMap<String, Reply>>;

impl Server {
    /// Serves plain HTTP, or TLS with an acceptor.
    pub async fn start(routes: &[(&str, Reply)], tls: Option<TlsAcceptor>) -> Self {
        let routes: Routes =
            Arc::new(routes.iter().map(|(p, r)| ((*p).to_owned(), r.clone())).collect());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            heads: Arc::default(),
        };
        let (connections, heads) = (server.connections.clone(), server.heads.clone());
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                let (routes, heads, tls) = (routes.clone(), heads.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, routes, heads).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, routes, heads).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    routes: Routes,
    heads: Arc<Mutex<Vec<String>>>,
) {
    while let Some((head, body)) = request(&mut stream).await {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        heads.lock().unwrap().push(head);
        let missing = reply(404, &[], b"");
        let bytes = match routes.get(&path).unwrap_or(&missing) {
            Reply::Close => return,
            Reply::Raw(bytes) => {
                let _ = stream.write_all(bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Reply::Late(wait) => {
                tokio::time::sleep(*wait).await;
                b"HTTP/1.1 200 X\r\ncontent-length: 2\r\n\r\n{}".to_vec()
            }
            Reply::Echo => {
                let head = format!("HTTP/1.1 200 X\r\ncontent-length: {}\r\n\r\n", body.len());
                [head.as_bytes(), &body].concat()
            }
        };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut (impl AsyncRead + Unpin)) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}

/// A TLS acceptor for these names, and the root that vouches for it.
pub fn tls(names: &[&str]) -> (TlsAcceptor, RootCertStore) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), roots)
}

/// A resolver that plays lists of answers per host and counts its calls; a host without a list has
/// the one public address.
#[derive(Default)]
pub struct Names {
    pub answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub calls: AtomicUsize,
}

impl Names {
    /// The n-th look-up of the host answers the n-th list; the last one stays.
    pub fn with(self, host: &str, answers: &[&[&str]]) -> Self {
        let parsed = answers.iter().map(|list| list.iter().map(|ip| ip.parse().unwrap()).collect());
        self.answers.lock().unwrap().insert(host.to_owned(), parsed.collect());
        self
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap();
        let Some(list) = answers.get_mut(host) else {
            return if host.trim_end_matches('.').ends_with(".test") {
                Ok(vec![PUBLIC.parse().unwrap()])
            } else {
                Err(std::io::ErrorKind::NotFound.into())
            };
        };
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

/// A network in which the one public address is this server.
pub fn network(server: SocketAddr, names: Arc<Names>) -> NetworkBuilder {
    let public: IpAddr = PUBLIC.parse().unwrap();
    Network::builder()
        .timeouts(Timeouts {
            connect: Duration::from_secs(2),
            whole: Duration::from_secs(3),
            upload: Duration::from_secs(6),
        })
        .resolver(names)
        .map(Arc::new(move |address| Some(if address.ip() == public { server } else { address })))
}
