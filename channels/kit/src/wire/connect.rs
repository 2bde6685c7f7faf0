//! Making a connection: target → judged addresses → TCP (or a proxy's tunnel) → TLS.
//!
//! [`Connector`] is what the HTTP client calls for a new connection. The policy is decided from the
//! uri alone ([`Connector::admit`]); addresses are judged after the one look-up.
use super::guard::{self, Admit, Rule};
use super::network::{Proxy, Shared};
use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// Longest answer of a proxy to `CONNECT`.
const PROXY_HEAD_MAX: usize = 8192;

/// Scheme, host and port of a url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub https: bool,
    /// Lower case, no brackets.
    pub host: String,
    pub port: u16,
}

impl Origin {
    pub(super) fn of(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let https = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
        Some(Self { https, host, port: url.port_or_known_default()? })
    }

    fn of_uri(uri: &Uri) -> Option<Self> {
        Self::of(&uri.to_string())
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    fn host_and_port(&self) -> String {
        host_and_port(&self.host, self.port)
    }
}

fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Whose word a target is.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// The operator's: these origins of an account.
    Account(Arc<[Origin]>),
    /// A caller's.
    Caller,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the network rules refuse the target: {}", .0.name())]
    Blocked(Rule),
    #[error("the connection could not be made")]
    Failed,
}

impl From<Rule> for ConnectError {
    fn from(rule: Rule) -> Self {
        Self::Blocked(rule)
    }
}

impl From<io::Error> for ConnectError {
    fn from(_: io::Error) -> Self {
        // The text of an I/O error may name an address.
        Self::Failed
    }
}

/// Makes guarded connections for one kind of target.
#[derive(Clone)]
pub(super) struct Connector {
    pub shared: Arc<Shared>,
    pub reach: Reach,
}

impl Connector {
    /// The policy of a target, from its uri alone.
    fn admit(&self, origin: &Origin) -> Result<Admit, Rule> {
        match &self.reach {
            Reach::Caller if !origin.https => Err(Rule::Scheme),
            Reach::Caller => {
                guard::judge_port(origin.port, &self.shared.allow_ports)?;
                Ok(Admit::Public)
            }
            Reach::Account(origins) if !origins.contains(origin) => Err(Rule::ForeignHost),
            Reach::Account(_) if self.shared.allow_hosts.contains(&origin.host_and_port()) => {
                Ok(Admit::Any)
            }
            Reach::Account(_) if origin.is_loopback() => Ok(Admit::Loopback),
            Reach::Account(_) if !origin.https => Err(Rule::Scheme),
            Reach::Account(_) => Ok(Admit::Public),
        }
    }

    async fn connect(self, uri: Uri) -> Result<Line, ConnectError> {
        let origin = Origin::of_uri(&uri).ok_or(ConnectError::Failed)?;
        let admit = self.admit(&origin)?;
        let made = tokio::time::timeout(self.shared.timeouts.connect, async {
            let tcp = self.tunnel_or_direct(&origin, admit).await?;
            if !origin.https {
                return Ok(Line(Box::new(tcp)));
            }
            // A certificate never holds the dot that ends an absolute name.
            let name = origin.host.trim_end_matches('.').to_owned();
            let name = ServerName::try_from(name).map_err(|_| ConnectError::Failed)?;
            let tls = TlsConnector::from(self.shared.tls.clone());
            Ok(Line(Box::new(tls.connect(name, tcp).await?)))
        });
        made.await.unwrap_or(Err(ConnectError::Failed))
    }

    async fn tunnel_or_direct(&self, to: &Origin, admit: Admit) -> Result<TcpStream, ConnectError> {
        match (&self.shared.proxy, &self.reach) {
            (Some(proxy), Reach::Account(_)) if admit == Admit::Public => {
                // The operator named both the host and the proxy: the proxy resolves.
                self.tunnel(proxy, &to.host_and_port()).await
            }
            (Some(proxy), Reach::Caller) => {
                let judged = self.judged(to, admit).await?;
                let first = judged.first().ok_or(ConnectError::Failed)?;
                self.tunnel(proxy, &first.to_string()).await
            }
            _ => self.dial(&self.judged(to, admit).await?).await,
        }
    }

    /// The one look-up, with every address judged: one bad address refuses the name.
    async fn judged(&self, to: &Origin, admit: Admit) -> Result<Vec<SocketAddr>, ConnectError> {
        let ips = match to.host.parse::<IpAddr>() {
            Ok(ip) => vec![ip],
            Err(_) => self.shared.resolver.resolve(&to.host).await?,
        };
        let addresses: Vec<SocketAddr> =
            ips.into_iter().map(|ip| SocketAddr::new(ip, to.port)).collect();
        for address in &addresses {
            guard::judge(*address, admit, &self.shared.listeners)?;
        }
        Ok(addresses)
    }

    /// Connects to the first address that answers; each has its share of the time.
    async fn dial(&self, addresses: &[SocketAddr]) -> Result<TcpStream, ConnectError> {
        let share = share(self.shared.timeouts.connect, addresses.len());
        let mut outcome = ConnectError::Failed;
        for address in addresses {
            let Some(mapped) = self.mapped(*address) else {
                outcome = Rule::Narrowed.into();
                continue;
            };
            if let Ok(Ok(tcp)) = tokio::time::timeout(share, TcpStream::connect(mapped)).await {
                tcp.set_nodelay(true)?;
                return Ok(tcp);
            }
            outcome = ConnectError::Failed;
        }
        Err(outcome)
    }

    fn mapped(&self, address: SocketAddr) -> Option<SocketAddr> {
        self.shared.map.as_ref().map_or(Some(address), |map| map(address))
    }

    async fn tunnel(&self, proxy: &Proxy, target: &str) -> Result<TcpStream, ConnectError> {
        let ips = match proxy.host.parse::<IpAddr>() {
            Ok(ip) => vec![ip],
            Err(_) => self.shared.resolver.resolve(&proxy.host).await?,
        };
        let addresses: Vec<_> = ips.into_iter().map(|ip| SocketAddr::new(ip, proxy.port)).collect();
        let mut tcp = self.dial(&addresses).await?;
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n");
        if let Some(value) = &proxy.authorization {
            head.push_str("proxy-authorization: ");
            head.push_str(value.expose());
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        tcp.write_all(head.as_bytes()).await?;
        read_proxy_answer(&mut tcp).await?;
        Ok(tcp)
    }
}

/// Reads a proxy's answer head byte by byte, so that nothing behind it is taken.
async fn read_proxy_answer(tcp: &mut TcpStream) -> Result<(), ConnectError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= PROXY_HEAD_MAX {
            return Err(ConnectError::Failed);
        }
        head.push(tcp.read_u8().await?);
    }
    let status = head.split(|b| *b == b' ').nth(1);
    if status.is_some_and(|s| s.len() == 3 && s.starts_with(b"2")) {
        Ok(())
    } else {
        Err(ConnectError::Failed)
    }
}

fn share(whole: Duration, among: usize) -> Duration {
    whole / u32::try_from(among.max(1)).unwrap_or(u32::MAX)
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Line>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(uri).await.map(TokioIo::new) })
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// One connection, plain or TLS.
pub(super) struct Line(Box<dyn Stream>);

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
