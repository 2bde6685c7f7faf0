//! What all exchanges of a process share, and how it is put together.
use super::account::AccountWire;
use super::connect::Origin;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::{Fetched, Secret, WebUrl};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Turns a host name into addresses. Called once a connection.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// The addresses of a name.
    ///
    /// # Errors
    /// When the name has none or nobody answers.
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Where a judged address is really connected to; `None` refuses it. Tests lead invented public
/// addresses to a server of theirs; a sandbox admits loopback alone.
pub type AddressMap = Arc<dyn Fn(SocketAddr) -> Option<SocketAddr> + Send + Sync>;

/// Answers media fetches inside the process.
pub trait StandIn: Send + Sync {
    /// The file that stands in for what is at the address; `None`: fetch it.
    fn fetch(&self, url: &WebUrl) -> Option<Fetched>;
}

/// Bounds of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Name, connection and TLS together.
    pub connect: Duration,
    /// A whole exchange, or a whole fetch with its redirects.
    pub whole: Duration,
    /// A whole exchange that carries files.
    pub upload: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(30),
            upload: Duration::from_secs(120),
        }
    }
}

/// Why a network cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum NetworkProblem {
    /// `http.proxy` is no `http://[user:password@]host[:port]`.
    #[error("http.proxy must look like http://host:port")]
    Proxy,
    /// The TLS library refuses the configuration.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// An HTTP proxy that every public connection goes through.
pub(super) struct Proxy {
    pub host: String,
    pub port: u16,
    /// Value of `proxy-authorization`.
    pub authorization: Option<Secret>,
}

/// What all connections of a process share.
pub(super) struct Shared {
    pub tls: Arc<ClientConfig>,
    pub timeouts: Timeouts,
    pub allow_hosts: Vec<String>,
    pub allow_ports: Vec<u16>,
    pub proxy: Option<Proxy>,
    pub listeners: Vec<SocketAddr>,
    pub resolver: Arc<dyn Resolve>,
    pub map: Option<AddressMap>,
    pub stand_in: Option<Arc<dyn StandIn>>,
}

/// The network of a process; cheap to clone.
#[derive(Clone)]
pub struct Network(pub(super) Arc<Shared>);

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("timeouts", &self.0.timeouts)
            .field("allow_hosts", &self.0.allow_hosts)
            .field("allow_ports", &self.0.allow_ports)
            .field("proxy", &self.0.proxy.is_some())
            .finish_non_exhaustive()
    }
}

impl Network {
    /// A builder with the shipped bounds, the public root certificates and the system's resolver.
    #[must_use]
    pub fn builder() -> NetworkBuilder {
        NetworkBuilder::default()
    }

    /// The wire of one account. `origins` are the urls whose scheme, host and port it may reach
    /// with its credentials (`base_url` and its like); paths are ignored, and what is no url admits
    /// nothing.
    #[must_use]
    pub fn account<I>(&self, origins: I) -> AccountWire
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let origins = origins.into_iter().filter_map(|url| Origin::of(url.as_ref())).collect();
        AccountWire::new(self.clone(), origins)
    }
}

/// Puts a [`Network`] together.
#[derive(Default)]
pub struct NetworkBuilder {
    timeouts: Timeouts,
    allow_hosts: Vec<String>,
    allow_ports: Vec<u16>,
    proxy: Option<String>,
    listeners: Vec<SocketAddr>,
    resolver: Option<Arc<dyn Resolve>>,
    map: Option<AddressMap>,
    stand_in: Option<Arc<dyn StandIn>>,
    roots: Option<RootCertStore>,
}

impl fmt::Debug for NetworkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkBuilder").field("timeouts", &self.timeouts).finish_non_exhaustive()
    }
}

impl NetworkBuilder {
    /// `http.connect_timeout`, `http.timeout`, `http.upload_timeout`.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }
    /// `http.allow_hosts`: `host:port` entries that vendors' urls may name though they are private.
    #[must_use]
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.allow_hosts = hosts.into_iter().map(|h| h.to_ascii_lowercase()).collect();
        self
    }
    /// `http.allow_ports`: ports of callers' urls beside 443 and 80.
    #[must_use]
    pub fn allow_ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.allow_ports = ports.into_iter().collect();
        self
    }
    /// `http.proxy`; empty: none.
    #[must_use]
    pub fn proxy(mut self, url: &str) -> Self {
        self.proxy = (!url.is_empty()).then(|| url.to_owned());
        self
    }
    /// The gateway's own public listeners, which nobody may be sent to.
    #[must_use]
    pub fn listeners(mut self, listeners: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.listeners = listeners.into_iter().collect();
        self
    }
    /// Another resolver than the system's.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }
    /// Where judged addresses are really connected to.
    #[must_use]
    pub fn map(mut self, map: AddressMap) -> Self {
        self.map = Some(map);
        self
    }
    /// What answers media fetches instead of the network.
    #[must_use]
    pub fn stand_in(mut self, stand_in: Arc<dyn StandIn>) -> Self {
        self.stand_in = Some(stand_in);
        self
    }
    /// Other root certificates than the public ones.
    #[must_use]
    pub fn roots(mut self, roots: RootCertStore) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Builds the network.
    ///
    /// # Errors
    /// When the proxy is no url, or TLS cannot be set up.
    pub fn build(self) -> Result<Network, NetworkProblem> {
        let roots = self
            .roots
            .unwrap_or_else(|| RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Network(Arc::new(Shared {
            tls: Arc::new(tls),
            timeouts: self.timeouts,
            allow_hosts: self.allow_hosts,
            allow_ports: self.allow_ports,
            proxy: self.proxy.as_deref().map(proxy).transpose()?,
            listeners: self.listeners,
            resolver: self.resolver.unwrap_or_else(|| Arc::new(SystemResolver)),
            map: self.map,
            stand_in: self.stand_in,
        })))
    }
}

fn proxy(text: &str) -> Result<Proxy, NetworkProblem> {
    let url = Url::parse(text).map_err(|_| NetworkProblem::Proxy)?;
    let host = url.host_str().filter(|_| url.scheme() == "http").ok_or(NetworkProblem::Proxy)?;
    let decoded = |text: &str| {
        // The url keeps user and password percent-encoded; one pair's name decodes both.
        let pair = format!("{}=", text.replace('+', "%2B"));
        url::form_urlencoded::parse(pair.as_bytes()).next().map_or(String::new(), |(n, _)| n.into())
    };
    let authorization = (!url.username().is_empty()).then(|| {
        let user = decoded(url.username());
        let password = decoded(url.password().unwrap_or_default());
        Secret::new(format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
    });
    let host = host.trim_matches(['[', ']']).to_owned();
    Ok(Proxy { host, port: url.port_or_known_default().unwrap_or(80), authorization })
}
