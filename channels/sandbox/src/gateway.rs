//! The gateway's own media, fetched the way a vendor would.
//!
//! An address behind the public origin (the invented `https://tidings.test`, or the configured one)
//! is mapped to the gateway's loopback address and read there, as a proxy that ends TLS would hand
//! it on. No other address is ever opened.
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Empty};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
use url::{Origin, Url};

/// The origin the gateway believes to be reached at.
pub const PUBLIC_ORIGIN: &str = "https://tidings.test";

/// How long the gateway may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a fetch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// The file.
    File {
        /// Its bytes.
        bytes: Bytes,
        /// Its type, parameters cut off; empty when none was given.
        content_type: String,
    },
    /// It is larger than asked for.
    TooLarge,
    /// No usable answer.
    Failed,
}

/// Why an address cannot be the gateway's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the gateway's address must be http://<loopback address>:<port>")]
pub struct NotAGateway;

/// Where own media come from.
pub struct Gateway {
    address: RwLock<SocketAddr>,
    origins: Vec<Origin>,
}

impl Gateway {
    /// The gateway at a loopback `http` address, reached in public at `public_url` too.
    ///
    /// # Errors
    /// The address is no loopback `http` address.
    pub fn new(address: &str, public_url: Option<&str>) -> Result<Self, NotAGateway> {
        let public = [Some(PUBLIC_ORIGIN), public_url];
        let origins = public.into_iter().flatten().filter_map(|url| Url::parse(url).ok());
        Ok(Self {
            address: RwLock::new(loopback(address)?),
            origins: origins.map(|url| url.origin()).collect(),
        })
    }

    /// Moves to another address.
    ///
    /// # Errors
    /// It is no loopback `http` address.
    pub fn lead_to(&self, address: &str) -> Result<(), NotAGateway> {
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = loopback(address)?;
        Ok(())
    }

    /// The same address as this machine reaches it; `None` when it is not the gateway's.
    #[must_use]
    pub fn own(&self, url: &Url) -> Option<Own> {
        self.origins.contains(&url.origin()).then(|| Own {
            address: *self.address.read().unwrap_or_else(PoisonError::into_inner),
            host: url.host_str().unwrap_or_default().to_owned(),
            target: url[url::Position::BeforePath..url::Position::AfterQuery].to_owned(),
        })
    }
}

fn loopback(address: &str) -> Result<SocketAddr, NotAGateway> {
    let url = Url::parse(address).map_err(|_| NotAGateway)?;
    let ip = match url.host() {
        Some(url::Host::Ipv4(ip)) => ip.into(),
        Some(url::Host::Ipv6(ip)) => ip.into(),
        Some(url::Host::Domain("localhost")) => std::net::Ipv4Addr::LOCALHOST.into(),
        _ => return Err(NotAGateway),
    };
    let address = SocketAddr::new(ip, url.port_or_known_default().unwrap_or(80));
    (url.scheme() == "http" && address.ip().is_loopback()).then_some(address).ok_or(NotAGateway)
}

/// An address of the gateway's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    address: SocketAddr,
    host: String,
    target: String,
}

impl Own {
    /// Reads it, at most `most` bytes.
    pub async fn fetch(&self, most: usize) -> Fetch {
        match tokio::time::timeout(PATIENCE, self.exchange(most)).await {
            Ok(Some(fetch)) => fetch,
            Ok(None) | Err(_) => Fetch::Failed,
        }
    }

    async fn exchange(&self, most: usize) -> Option<Fetch> {
        let stream = tokio::net::TcpStream::connect(self.address).await.ok()?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.ok()?;
        let running = tokio::spawn(connection);
        let fetched = self.read(&mut sender, most).await;
        running.abort();
        fetched
    }

    async fn read(
        &self,
        sender: &mut hyper::client::conn::http1::SendRequest<Empty<Bytes>>,
        most: usize,
    ) -> Option<Fetch> {
        let request = hyper::Request::get(&self.target).header(HOST, &self.host);
        let answer = sender.send_request(request.body(Empty::new()).ok()?).await.ok()?;
        if answer.status() != hyper::StatusCode::OK {
            return None;
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        let content_type = kind.to_ascii_lowercase();
        let mut body = answer.into_body();
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            if let Ok(chunk) = frame.ok()?.into_data() {
                bytes.extend_from_slice(&chunk);
            }
            if bytes.len() > most {
                return Some(Fetch::TooLarge);
            }
        }
        Some(Fetch::File { bytes: bytes.freeze(), content_type })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sb_12_only_the_public_origin_is_the_gateways() {
        let gateway =
            Gateway::new("http://127.0.0.1:4321/", Some("https://gw.example.test:8443")).unwrap();
        let own = |url: &str| gateway.own(&Url::parse(url).unwrap()).map(|own| own.target);
        assert_eq!(own("https://tidings.test/a/b?c=d#e").as_deref(), Some("/a/b?c=d"));
        assert_eq!(own("https://TIDINGS.test:443").as_deref(), Some("/"));
        assert_eq!(own("https://gw.example.test:8443/x").as_deref(), Some("/x"));
        for other in [
            "http://tidings.test/a",
            "https://tidings.test:1/a",
            "https://a.tidings.test/",
            "https://gw.example.test/",
            "https://tidings.test.evil.test/",
            "http://127.0.0.1:4321/a",
        ] {
            assert_eq!(own(other), None, "{other}");
        }
    }

    #[test]
    fn the_gateway_is_on_loopback() {
        assert!(
            Gateway::new("http://localhost:1", None).is_ok()
                && Gateway::new("http://[::1]:1", None).is_ok()
        );
        for bad in [
            "",
            "127.0.0.1:1",
            "https://127.0.0.1:1",
            "http://10.0.0.1:1",
            "http://gw.example.test",
            "http://0.0.0.0:1",
        ] {
            assert_eq!(Gateway::new(bad, None).err(), Some(NotAGateway), "{bad}");
        }
    }
}
