//! The socket below a connection, so that a script can cut it where a vendor's network would.
//!
//! A second handle to the socket is kept with the connection from its first moment; shutting it
//! down ends both directions at once, whatever the HTTP layer was about to do.
use actix_web::HttpRequest;
use actix_web::dev::Extensions;
use std::any::Any;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;

struct Socket(TcpStream);

/// Keeps a handle to the connection's socket.
pub(crate) fn remember(connection: &dyn Any, kept: &mut Extensions) {
    if let Some(stream) = connection.downcast_ref::<tokio::net::TcpStream>()
        && let Ok(handle) = stream.as_fd().try_clone_to_owned()
    {
        kept.insert(Socket(TcpStream::from(handle)));
    }
}

/// What can end one connection.
pub(crate) struct Knife(Option<TcpStream>);

impl Knife {
    pub fn of(request: &HttpRequest) -> Self {
        Self(request.conn_data::<Socket>().and_then(|socket| socket.0.try_clone().ok()))
    }
    /// Ends the connection in both directions; one that is gone already stays gone.
    pub fn cut(&self) {
        if let Some(socket) = &self.0 {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
