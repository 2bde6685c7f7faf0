//! The listeners.
use super::chat::origin::LocalAddress;
use super::router::{Face, serve};
use crate::app::App;
use actix_web::dev::ServerHandle;
use actix_web::{HttpRequest, HttpServer, web};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a client may take to send its headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);

/// A running listener.
pub struct Listener {
    /// The address really bound.
    pub address: SocketAddr,
    handle: ServerHandle,
    server: JoinHandle<std::io::Result<()>>,
}

impl Listener {
    /// Stops accepting, waits for running requests, and ends the worker threads.
    pub async fn stop(self) {
        self.handle.stop(true).await;
        if let Ok(Err(error)) = self.server.await {
            tracing::warn!(error = %error, "a listener did not end well");
        }
    }
}

/// Binds an address, so that a taken port is known before anything else starts.
///
/// # Errors
/// The operating system's.
pub fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = std::net::TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Serves the gateway on a bound socket. `grace_s` is how long a stop waits for running requests.
///
/// # Errors
/// The operating system's.
pub fn start(
    app: Arc<App>,
    face: Face,
    socket: TcpListener,
    grace_s: u64,
) -> std::io::Result<Listener> {
    let address = socket.local_addr()?;
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let server = HttpServer::new(move || {
        let app = app.clone();
        actix_web::App::new().default_service(web::to(
            move |request: HttpRequest, payload: web::Payload| {
                serve(app.clone(), face, request, payload.into_inner())
            },
        ))
    })
    // Which of our addresses a connection came in on: the chat's doors judge the host by it.
    .on_connect(|connection, of_connection| {
        let stream = connection.downcast_ref::<actix_web::rt::net::TcpStream>();
        if let Some(Ok(address)) = stream.map(actix_web::rt::net::TcpStream::local_addr) {
            of_connection.insert(LocalAddress(address.ip()));
        }
    })
    .workers(workers)
    .keep_alive(KEEP_ALIVE)
    .client_request_timeout(HEADERS_WITHIN)
    .shutdown_timeout(grace_s)
    .disable_signals()
    .listen(socket)?
    .run();
    let handle = server.handle();
    let server = tokio::spawn(server);
    Ok(Listener { address, handle, server })
}
