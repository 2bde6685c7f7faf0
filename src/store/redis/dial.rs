//! Reaching the server: one address, a master that Sentinels name, or a Cluster.
use contract::Secret;
use redis::aio::{ConnectionLike, MultiplexedConnection, PubSub};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind,
    IntoConnectionInfo, Pipeline, ProtocolVersion, RedisConnectionInfo, RedisError, RedisFuture,
    RedisResult, TlsCertificates, TlsMode, Value,
};
use std::time::Duration;
use tokio::sync::Mutex;

/// How long a connection may take to stand, and a command to be answered.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// How the servers stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One server.
    Single,
    /// Sentinels at the addresses name the master of this name.
    Sentinel(String),
    /// A Cluster; the addresses are some of its nodes.
    Cluster,
}

/// Where Redis is and how to get in.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the servers stand together.
    pub mode: Mode,
    /// Hosts and ports, at least one.
    pub nodes: Vec<(String, u16)>,
    /// Over TLS.
    pub tls: bool,
    /// Root certificates in PEM that are trusted instead of the system's.
    pub ca: Option<Vec<u8>>,
    /// User, if not the default one.
    pub user: Option<String>,
    /// Password.
    pub password: Option<Secret>,
    /// Database number; 0 on a Cluster.
    pub database: i64,
    /// Key prefix; keys begin with `{prefix}:`.
    pub prefix: String,
}

impl Options {
    /// One server without user and password.
    #[must_use]
    pub fn single(host: &str, port: u16, prefix: &str) -> Self {
        Self {
            mode: Mode::Single,
            nodes: vec![(host.to_owned(), port)],
            tls: false,
            ca: None,
            user: None,
            password: None,
            database: 0,
            prefix: prefix.to_owned(),
        }
    }

    /// The addresses as people read them; never a password.
    #[must_use]
    pub fn shown(&self) -> String {
        let nodes: Vec<String> =
            self.nodes.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        nodes.join(", ")
    }

    fn address(&self, (host, port): &(String, u16)) -> ConnectionAddr {
        if self.tls {
            ConnectionAddr::TcpTls {
                host: host.clone(),
                port: *port,
                insecure: false,
                tls_params: None,
            }
        } else {
            ConnectionAddr::Tcp(host.clone(), *port)
        }
    }

    fn certificates(&self) -> Option<TlsCertificates> {
        let root = self.ca.clone()?;
        Some(TlsCertificates { client_tls: None, root_cert: Some(root) })
    }

    /// A client of one server.
    fn client(&self, way: ConnectionInfo) -> RedisResult<Client> {
        match self.certificates().filter(|_| self.tls) {
            Some(certificates) => Client::build_with_tls(way, certificates),
            None => Client::open(way),
        }
    }

    fn login(&self) -> RedisConnectionInfo {
        let mut login = RedisConnectionInfo::default()
            .set_db(self.database)
            .set_protocol(ProtocolVersion::RESP2)
            .set_skip_set_lib_name();
        if let Some(user) = &self.user {
            login = login.set_username(user);
        }
        if let Some(password) = &self.password {
            login = login.set_password(password.expose());
        }
        login
    }
}

/// A connection that many callers share.
#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(one) => one.req_packed_command(cmd),
            Self::Cluster(cluster) => cluster.req_packed_command(cmd),
        }
    }
    fn req_packed_commands<'a>(
        &'a mut self,
        cmd: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(one) => one.req_packed_commands(cmd, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(cmd, offset, count),
        }
    }
    fn get_db(&self) -> i64 {
        match self {
            Self::One(one) => one.get_db(),
            Self::Cluster(cluster) => cluster.get_db(),
        }
    }
}

/// Makes connections.
pub(super) struct Dial {
    options: Options,
    kind: Kind,
}

enum Kind {
    Single(Box<Client>),
    // Boxed: they are much larger than a client.
    Sentinel(Box<Mutex<SentinelClient>>),
    Cluster(Box<ClusterClient>),
}

impl Dial {
    pub(super) fn new(options: Options) -> RedisResult<Self> {
        let addresses: Vec<ConnectionAddr> =
            options.nodes.iter().map(|node| options.address(node)).collect();
        let kind = match &options.mode {
            Mode::Single => {
                let first = addresses.into_iter().next().ok_or_else(no_address)?;
                let login = options.login();
                let way = first.into_connection_info()?.set_redis_settings(login);
                Kind::Single(Box::new(options.client(way)?))
            }
            Mode::Sentinel(master) => {
                Kind::Sentinel(Box::new(Mutex::new(sentinels(&options, addresses, master)?)))
            }
            Mode::Cluster => {
                // User, password and TLS are taken from the addresses and must be the same in all.
                let nodes = addresses
                    .into_iter()
                    .map(|node| {
                        Ok(node.into_connection_info()?.set_redis_settings(options.login()))
                    })
                    .collect::<RedisResult<Vec<_>>>()?;
                let mut builder = ClusterClient::builder(nodes)
                    .connection_timeout(PATIENCE)
                    .response_timeout(PATIENCE)
                    .retries(1);
                if let Some(certificates) = options.certificates() {
                    builder = builder.certs(certificates);
                }
                Kind::Cluster(Box::new(builder.build()?))
            }
        };
        Ok(Self { options, kind })
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> RedisResult<Connection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        match &self.kind {
            Kind::Single(client) => {
                let one = client.get_multiplexed_async_connection_with_config(&config).await?;
                Ok(Connection::One(one))
            }
            Kind::Sentinel(sentinels) => {
                let client = sentinels.lock().await.async_get_client().await?;
                let one = client.get_multiplexed_async_connection_with_config(&config).await?;
                Ok(Connection::One(one))
            }
            Kind::Cluster(client) => Ok(Connection::Cluster(client.get_async_connection().await?)),
        }
    }

    /// A new connection to listen on. In a Cluster any node passes on what is published.
    pub(super) async fn listen(&self) -> RedisResult<PubSub> {
        match &self.kind {
            Kind::Single(client) => patient(client.get_async_pubsub()).await,
            Kind::Sentinel(sentinels) => {
                let client = sentinels.lock().await.async_get_client().await?;
                patient(client.get_async_pubsub()).await
            }
            Kind::Cluster(_) => {
                let mut last = no_address();
                for node in &self.options.nodes {
                    let way = self.options.address(node).into_connection_info()?;
                    let way = way.set_redis_settings(self.options.login());
                    let client = self.options.client(way)?;
                    match patient(client.get_async_pubsub()).await {
                        Ok(listening) => return Ok(listening),
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }
}

/// Gives up when the server does not answer.
async fn patient<T>(work: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = |_| RedisError::from((ErrorKind::Io, "no answer in time"));
    tokio::time::timeout(PATIENCE, work).await.map_err(late)?
}

fn no_address() -> RedisError {
    RedisError::from((ErrorKind::InvalidClientConfig, "no address is given"))
}

fn sentinels(
    options: &Options,
    addresses: Vec<ConnectionAddr>,
    master: &str,
) -> RedisResult<SentinelClient> {
    let mut builder = SentinelClientBuilder::new(addresses, master, SentinelServerType::Master)?
        .set_client_to_redis_db(options.database)
        .set_client_to_redis_protocol(ProtocolVersion::RESP2);
    if let Some(user) = &options.user {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = &options.password {
        builder = builder.set_client_to_redis_password(password.expose());
    }
    if options.tls {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_sentinel_tls_mode(TlsMode::Secure);
        if let Some(certificates) = options.certificates() {
            builder = builder
                .set_client_to_redis_certificates(certificates.clone())
                .set_client_to_sentinel_certificates(certificates);
        }
    }
    builder.build()
}
