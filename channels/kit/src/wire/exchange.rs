//! One HTTP exchange, and what became of it.
//!
//! The request's body notes when it is first asked for: that is the moment from which the medium
//! may have seen the request. Whatever fails earlier is a failed connection and safe to repeat.
use super::connect::{ConnectError, Connector};
use bytes::{Bytes, BytesMut};
use contract::{WireError, WireResponse, WireResult};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// Most bytes of a vendor's answer.
pub(super) const ANSWER_MAX: usize = 1 << 20;

pub(super) type HttpClient = Client<Connector, Watched>;

/// A request body that knows whether sending began.
pub(super) struct Watched {
    bytes: Option<Bytes>,
    begun: Arc<AtomicBool>,
}

impl Watched {
    pub(super) fn new(bytes: Bytes) -> Self {
        // An empty body is never asked for, so a request without one counts as begun.
        let begun = Arc::new(AtomicBool::new(bytes.is_empty()));
        Self { bytes: Some(bytes).filter(|b| !b.is_empty()), begun }
    }
    fn begun(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.begun)
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.begun.store(true, Ordering::Relaxed);
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }
    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Makes the exchange within `whole`.
pub(super) async fn exchange(
    client: &HttpClient,
    request: Request<Watched>,
    whole: Duration,
) -> WireResult {
    let begun = request.body().begun();
    let answered = tokio::time::timeout(whole, async {
        let response = client.request(request).await.map_err(|e| error_of(&e, &begun))?;
        read(response).await
    });
    match answered.await {
        Ok(result) => result,
        Err(_) if begun.load(Ordering::Relaxed) => Err(WireError::Timeout),
        Err(_) => Err(WireError::Connect),
    }
}

async fn read(response: Response<Incoming>) -> WireResult {
    let (head, mut body) = response.into_parts();
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| WireError::Unreadable)?;
        if let Some(chunk) = frame.data_ref() {
            if bytes.len() + chunk.len() > ANSWER_MAX {
                return Err(WireError::Unreadable);
            }
            bytes.extend_from_slice(chunk);
        }
    }
    let headers = head
        .headers
        .iter()
        .map(|(n, v)| (n.as_str().to_owned(), String::from_utf8_lossy(v.as_bytes()).into_owned()))
        .collect();
    Ok(WireResponse { status: head.status.as_u16(), headers, body: bytes.freeze() })
}

/// What a client error means for a request that had or had not begun.
fn error_of(error: &hyper_util::client::legacy::Error, begun: &AtomicBool) -> WireError {
    if let Some(ConnectError::Blocked(rule)) = connect_error(error) {
        return rule.into();
    }
    if error.is_connect() || !begun.load(Ordering::Relaxed) {
        return WireError::Connect;
    }
    match error.source().and_then(|source| source.downcast_ref::<hyper::Error>()) {
        Some(http) if http.is_parse() => WireError::Unreadable,
        Some(_) | None => WireError::Reset,
    }
}

/// The connector's own error inside a client error.
pub(super) fn connect_error(error: &hyper_util::client::legacy::Error) -> Option<ConnectError> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(found) = cause.downcast_ref::<ConnectError>() {
            return Some(*found);
        }
        source = cause.source();
    }
    None
}
