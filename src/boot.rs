//! Starting and stopping: in order, unwound on failure, stopped in reverse within added-up budgets.
//!
//! Configuration → store (its lock first) → keys → network → app → background tasks → listeners →
//! address file. A stop turns readiness red, lets the listeners serve `drain_grace`, and waits for
//! the workers' current parts.
pub mod reload;

use crate::app::{App, Environment};
use crate::auth::{KeyText, Keyring, Scope};
use crate::chat::watch as chat_watch;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::config::keys::KeyConfig;
use crate::config::store::{RedisConfig, RedisMode};
use crate::http::router::Face;
use crate::http::server::{self, Listener};
use crate::ids::{Ids, Random, SystemRandom};
use crate::ingress::hook;
use crate::outbox::{Faults, NoFaults, dispatch, janitor, leases, probes, waiting, watch};
use crate::store::embedded::{Embedded, Options};
use crate::store::redis::{self, Redis};
use crate::store::{Store, StoreError};
use crate::trace::spans;
use kit::wire::{Network, NetworkBuilder, Timeouts};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Why a start was refused.
#[derive(Debug, thiserror::Error)]
pub enum StartProblem {
    /// Another process holds the store: exit 75.
    #[error("store_locked: the store in {0} is in use by another process")]
    Locked(PathBuf),
    /// Anything else: exit 1.
    #[error("{0}")]
    Refused(String),
}

/// Changes to what the product uses: tests and the sandbox.
pub struct Overrides {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Fail points.
    pub faults: Arc<dyn Faults>,
    /// Changes the network before it is built.
    pub network: Box<dyn FnOnce(NetworkBuilder) -> NetworkBuilder + Send>,
    /// A store instead of the configured one.
    pub store: Option<Arc<dyn Store>>,
}

impl Default for Overrides {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            faults: Arc::new(NoFaults),
            network: Box::new(|builder| builder),
            store: None,
        }
    }
}

/// A running gateway.
pub struct Gateway {
    /// Its state.
    pub app: Arc<App>,
    /// Address of the public listener.
    pub address: SocketAddr,
    /// Address of the internal listener, if there is one.
    pub internal: Option<SocketAddr>,
    /// Where the operator's key lies, when the gateway made one.
    pub operator_key: Option<PathBuf>,
    listeners: Vec<Listener>,
    workers: JoinSet<()>,
    background: JoinSet<()>,
    address_file: PathBuf,
    drain: Duration,
    drain_grace: Duration,
}

/// Starts a gateway.
///
/// # Errors
/// Why it cannot start; nothing keeps running then.
pub async fn start(config: &Config, overrides: Overrides) -> Result<Gateway, StartProblem> {
    let data_dir = &config.store.data_dir;
    private_folder(data_dir)?;
    let Overrides { clock, random, faults, network, store } = overrides;
    let store = match store {
        Some(store) => store,
        None => open_store(config, clock.clone()).await?,
    };
    let public = bind("listen.public", config.listen.public)?;
    let internal = match config.listen.internal {
        Some(address) => Some(bind("listen.internal", address)?),
        None => None,
    };
    let (keys, operator_key) = keyring_of(config, &Ids::new(clock.clone(), random.clone()))?;
    let network = build_network(config, network, &public, internal.as_ref())?;
    let environment = Environment { clock, random, network, store, faults };
    let app = App::build(config, Keyring::new(keys), environment);
    let (workers, background) = run_background(&app);
    let grace = config.delivery.drain_grace.as_secs() + 1;
    let face = if internal.is_some() { Face::Public } else { Face::Whole { internal: false } };
    let listen = |face, socket| {
        server::start(app.clone(), face, socket, grace)
            .map_err(|error| refused(format!("the listener cannot start: {error}")))
    };
    let mut listeners = vec![listen(face, public)?];
    if let Some(socket) = internal {
        listeners.push(listen(Face::Whole { internal: true }, socket)?);
    }
    let address = listeners[0].address;
    let internal = listeners.get(1).map(|listener| listener.address);
    // The CLI talks to the API, which is on the internal listener when there is one.
    write_address(data_dir, internal.unwrap_or(address))?;
    Ok(Gateway {
        app,
        address,
        internal,
        operator_key,
        listeners,
        workers,
        background,
        address_file: data_dir.join("address"),
        drain: config.delivery.drain,
        drain_grace: config.delivery.drain_grace,
    })
}

fn refused(why: impl Into<String>) -> StartProblem {
    StartProblem::Refused(why.into())
}

fn bind(key: &str, address: SocketAddr) -> Result<TcpListener, StartProblem> {
    server::bind(address)
        .map_err(|error| refused(format!("{key}: {address} cannot be bound: {error}")))
}

async fn open_store(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn Store>, StartProblem> {
    if let Some(settings) = &config.store.redis {
        let store = Redis::open(reach(settings)).await;
        return Ok(Arc::new(store.map_err(|problem| refused(problem.to_string()))?));
    }
    let mut options = Options::new(config.store.data_dir.clone(), clock);
    options.cache_bytes = usize::try_from(config.store.cache).unwrap_or(usize::MAX);
    match Embedded::open(options) {
        Ok(store) => Ok(Arc::new(store)),
        Err(StoreError::Locked) => Err(StartProblem::Locked(config.store.data_dir.clone())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The way to Redis as it is configured.
fn reach(settings: &RedisConfig) -> redis::Options {
    redis::Options {
        mode: match &settings.mode {
            RedisMode::Single => redis::Mode::Single,
            RedisMode::Sentinel(master) => redis::Mode::Sentinel(master.clone()),
            RedisMode::Cluster => redis::Mode::Cluster,
        },
        nodes: settings.nodes.clone(),
        tls: settings.tls,
        ca: settings.ca.clone(),
        user: settings.user.clone(),
        password: settings.password.clone(),
        database: settings.database,
        prefix: settings.prefix.clone(),
    }
}

/// Refuses when another process holds the store in this folder; holds nothing itself.
///
/// # Errors
/// [`StartProblem::Locked`].
pub fn refuse_locked(data_dir: &Path) -> Result<(), StartProblem> {
    let Ok(file) = std::fs::File::open(data_dir.join("lock")) else { return Ok(()) };
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => Err(StartProblem::Locked(data_dir.to_owned())),
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

/// The configured keys, or the operator's own when there are none.
fn keyring_of(
    config: &Config,
    ids: &Ids,
) -> Result<(Vec<KeyConfig>, Option<PathBuf>), StartProblem> {
    if !config.keys.is_empty() {
        return Ok((config.keys.clone(), None));
    }
    let path = config.store.data_dir.join("operator.key");
    let text = operator_key(&path, ids)?;
    let key = KeyConfig {
        identity: "operator".to_owned(),
        hash: text.hash(),
        restricted: false,
        scopes: vec![Scope::Admin],
    };
    Ok((vec![key], Some(path)))
}

/// Reads the operator's key, or makes one readable by the owner alone.
///
/// # Errors
/// A file that cannot be read or written, or that holds no key.
pub fn operator_key(path: &Path, ids: &Ids) -> Result<KeyText, StartProblem> {
    if let Ok(text) = std::fs::read_to_string(path) {
        return KeyText::parse(text.trim())
            .ok_or_else(|| refused(format!("{} holds no key; remove it", path.display())));
    }
    let text = KeyText::mint(ids);
    write_private(path, &format!("{}\n", text.expose()))?;
    Ok(text)
}

/// Makes a folder that only its owner may enter; one that is there keeps its mode.
///
/// # Errors
/// The operating system's.
pub fn private_folder(path: &Path) -> Result<(), StartProblem> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| refused(format!("{} cannot be made: {error}", path.display())))
}

/// Writes a file that only its owner may read.
///
/// # Errors
/// The operating system's.
pub fn write_private(path: &Path, content: &str) -> Result<(), StartProblem> {
    let problem = |error| refused(format!("{} cannot be written: {error}", path.display()));
    let mut options = std::fs::OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(problem)?;
    file.write_all(content.as_bytes()).map_err(problem)
}

fn build_network(
    config: &Config,
    change: Box<dyn FnOnce(NetworkBuilder) -> NetworkBuilder + Send>,
    public: &TcpListener,
    internal: Option<&TcpListener>,
) -> Result<Network, StartProblem> {
    let http = &config.http;
    let listeners = [Some(public), internal].into_iter().flatten();
    let mut builder = Network::builder()
        .timeouts(Timeouts {
            connect: http.connect_timeout,
            whole: http.timeout,
            upload: http.upload_timeout,
        })
        .allow_hosts(http.allow_hosts.clone())
        .allow_ports(http.allow_ports.clone())
        .listeners(listeners.filter_map(|socket| socket.local_addr().ok()));
    if let Some(proxy) = &http.proxy {
        builder = builder.proxy(proxy);
    }
    change(builder).build().map_err(|error| refused(error.to_string()))
}

fn run_background(app: &Arc<App>) -> (JoinSet<()>, JoinSet<()>) {
    let outbox = &app.outbox;
    let workers = dispatch::start(outbox);
    let mut background = JoinSet::new();
    background.spawn(leases::extend_forever(outbox.clone()));
    background.spawn(waiting::hand_on(outbox.clone()));
    background.spawn(janitor::run(outbox.clone()));
    background.spawn(chat_watch::hand_on(app.store.clone(), app.streams.clone()));
    background.spawn(probes::run(outbox.clone()));
    background.spawn(watch::run(outbox.clone()));
    background.spawn(hook::run(app.hook.clone()));
    background.spawn(spans::run(app.outbox.spans.clone()));
    let rates = app.clone();
    background.spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(60)).await;
            rates.rates.forget_idle();
        }
    });
    (workers, background)
}

fn write_address(data_dir: &Path, address: SocketAddr) -> Result<(), StartProblem> {
    let path = data_dir.join("address");
    std::fs::write(&path, format!("http://{address}\n"))
        .map_err(|error| refused(format!("{} cannot be written: {error}", path.display())))
}

impl Gateway {
    /// Stops: readiness red at once, claims end, listeners serve on for `drain_grace`, workers
    /// finish their current part. What is still running after `drain` is left to its lease.
    pub async fn stop(mut self) {
        let deadline = tokio::time::Instant::now() + self.drain;
        self.app.outbox.drain();
        self.app.streams.wake_all();
        let workers = async { while self.workers.join_next().await.is_some() {} };
        let listeners = async {
            tokio::time::sleep(self.drain_grace).await;
            for listener in self.listeners {
                listener.stop().await;
            }
        };
        let both = futures_util::future::join(workers, listeners);
        if tokio::time::timeout_at(deadline, both).await.is_err() {
            tracing::warn!("work still under way at the end of the drain is left to its lease");
        }
        self.background.shutdown().await;
        self.app.outbox.spans.flush().await;
        // Whoever takes the port next must not be sent the operator's key.
        let _ = std::fs::remove_file(&self.address_file);
        // The store closes with its last user: threads of the listeners may be a moment behind.
        for _ in 0..200 {
            if Arc::strong_count(&self.app) == 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
