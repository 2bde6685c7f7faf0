//! The listener: loopback only, one service for everything, stopped by hand.
//!
//! The first path segment decides: a room's prefix goes to the room, all else to the page and the
//! control routes. Idle connections stay open, so a client's pooled connection is never closed in
//! the moment it is used again.
use crate::connection;
use crate::control;
use crate::exchange;
use crate::files::{Files, KEPT_BYTES};
use crate::gateway::{Gateway, NotAGateway};
use crate::log::{Bounds, Log};
use crate::mask::Masks;
use crate::problem::Problem;
use crate::room::{Room, rooms};
use crate::script::Script;
use actix_web::dev::ServerHandle;
use actix_web::http::KeepAlive;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The flag that names the listener's address on the command line.
pub const FLAG: &str = "--vendors";

/// Threads that serve. Two: an upload being stored does not hold up the page.
const WORKERS: usize = 2;

/// Seconds that running exchanges have at the end.
const PATIENCE: u64 = 2;

/// What a sandbox is started with.
#[derive(Clone)]
pub struct Settings {
    /// Where the vendors listen; loopback, port 0 takes any free one.
    pub listen: SocketAddr,
    /// The data directory; everything lies in `vendors/` below it.
    pub data_dir: PathBuf,
    /// The gateway's own address, `http://<loopback address>:<port>`.
    pub gateway: String,
    /// Another origin the gateway is reached at in public, beside `https://tidings.test`.
    pub public_url: Option<String>,
    /// The bot tokens that the Telegram room knows.
    pub telegram_tokens: Vec<String>,
    /// Links the page shows: label and url.
    pub links: Vec<(String, String)>,
}

/// Why a sandbox does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartProblem {
    /// The address is reachable from elsewhere.
    #[error("{FLAG}: {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// Another process listens there.
    #[error("{FLAG}: {0} is in use")]
    InUse(SocketAddr),
    /// The address cannot be taken for another reason.
    #[error("{FLAG}: {0} cannot be listened on: {1}")]
    Listen(SocketAddr, io::Error),
    /// The gateway's address is none of this machine's.
    #[error(transparent)]
    Gateway(#[from] NotAGateway),
    /// The data directory cannot be used.
    #[error("the data directory cannot be used: {0}")]
    Data(#[from] io::Error),
}

/// A room and its script.
pub(crate) struct Seat {
    pub room: Arc<dyn Room>,
    pub script: Script,
}

/// What every request is answered from.
pub(crate) struct Shared {
    pub seats: Vec<Seat>,
    pub log: Log,
    pub files: Files,
    pub gateway: Gateway,
    pub about: Value,
    pub stop: watch::Receiver<bool>,
    pub now: fn() -> Timestamp,
}

impl Shared {
    /// The seat of a medium.
    pub fn seat(&self, medium: &str) -> Result<&Seat, Problem> {
        let found = self.seats.iter().find(|seat| seat.room.medium() == medium);
        found.ok_or_else(Problem::not_found)
    }
    fn seat_at(&self, path: &str) -> Option<&Seat> {
        let first = path.split('/').nth(1)?;
        self.seats.iter().find(|seat| seat.room.prefix() == first)
    }
}

/// The imitated vendors.
pub struct Sandbox;

/// A sandbox that runs. Dropped without [`Running::stop`], it goes on until the process ends.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    handle: ServerHandle,
    server: JoinHandle<io::Result<()>>,
    stop: watch::Sender<bool>,
}

impl Sandbox {
    /// Reads the data directory back, takes the address and serves. Runs inside a Tokio runtime.
    ///
    /// # Errors
    /// The address is not loopback or taken, the gateway's is not loopback, or the data directory
    /// cannot be used.
    pub async fn start(settings: Settings) -> Result<Running, StartProblem> {
        let listen = settings.listen;
        if !listen.ip().is_loopback() {
            return Err(StartProblem::NotLoopback(listen));
        }
        let gateway = Gateway::new(&settings.gateway, settings.public_url.as_deref())?;
        let listener = TcpListener::bind(listen).map_err(|problem| match problem.kind() {
            io::ErrorKind::AddrInUse => StartProblem::InUse(listen),
            _ => StartProblem::Listen(listen, problem),
        })?;
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::new(open(&settings, gateway, stopped)?);
        let data = web::Data::from(Arc::clone(&shared));
        let server = HttpServer::new(move || {
            App::new().app_data(data.clone()).default_service(web::to(serve))
        })
        .workers(WORKERS)
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(Duration::ZERO)
        .disable_signals()
        .shutdown_timeout(PATIENCE)
        .on_connect(connection::remember)
        .listen(listener)
        .map_err(|problem| StartProblem::Listen(address, problem))?
        .run();
        let handle = server.handle();
        Ok(Running { address, shared, handle, server: tokio::spawn(server), stop })
    }
}

impl Running {
    /// The page's address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Tells where the gateway is, when its port was not known at the start.
    ///
    /// # Errors
    /// It is no `http` address of this machine's.
    pub fn lead_to(&self, gateway: &str) -> Result<(), StartProblem> {
        Ok(self.shared.gateway.lead_to(gateway)?)
    }

    /// Ends the feeds, lets running exchanges end for two seconds, and closes the listener.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.handle.stop(true).await;
        if let Ok(Err(problem)) = self.server.await {
            tracing::warn!(%problem, "the sandbox's listener ended badly");
        }
    }
}

/// Opens the data directory and lets the rooms take up what it holds.
fn open(settings: &Settings, gateway: Gateway, stop: watch::Receiver<bool>) -> io::Result<Shared> {
    let folder = settings.data_dir.join("vendors");
    let rooms = rooms(settings);
    let media: Vec<&'static str> = rooms.iter().map(|room| room.medium()).collect();
    let known = rooms.clone();
    let snapshot = move || {
        let of = known.iter().map(|room| (room.medium().to_owned(), room.snapshot()));
        Value::Object(of.collect::<Map<_, _>>())
    };
    let masks = Masks::new(settings.telegram_tokens.iter().map(String::as_str));
    let (log, found) = Log::open(&folder, Bounds::default(), masks, &media, Box::new(snapshot))?;
    for room in &rooms {
        if let Some(kept) = found.kept.as_ref().and_then(|kept| kept.get(room.medium())) {
            room.restore(kept);
        }
        for entry in found.entries.iter().filter(|entry| entry.medium == room.medium()) {
            room.replay(entry);
        }
    }
    let links = settings.links.iter().map(|(label, url)| json!({ "label": label, "url": url }));
    let about =
        json!({ "gateway": settings.gateway, "links": links.collect::<Value>(), "media": media });
    let seats = rooms.into_iter().map(|room| Seat { room, script: Script::default() });
    Ok(Shared {
        seats: seats.collect(),
        log,
        files: Files::open(&folder.join("files"), KEPT_BYTES)?,
        gateway,
        about,
        stop,
        now: wall_clock,
    })
}

/// The one place that reads the time: a vendor's clock is nobody's to set.
#[expect(clippy::disallowed_methods, reason = "the imitated vendors' own clock")]
fn wall_clock() -> Timestamp {
    Timestamp::now()
}

async fn serve(
    request: HttpRequest,
    payload: web::Payload,
    shared: web::Data<Shared>,
) -> HttpResponse {
    match shared.seat_at(request.uri().path()) {
        Some(seat) => exchange::exchange(&shared, seat, &request, payload).await,
        None => control::answer(shared.clone().into_inner(), &request, payload).await,
    }
}
