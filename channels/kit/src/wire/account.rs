//! One account's wire: its vendor's origins with credentials, callers' media without.
use super::connect::{Connector, Origin, Reach};
use super::encode::{Encoded, encode};
use super::exchange::{HttpClient, Watched, exchange};
use super::fetch;
use super::network::Network;
use async_trait::async_trait;
use contract::{
    Fetched, Method, Resource, Secrets, SendFault, WebUrl, Wire, WireError, WireRequest, WireResult,
};
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Vendors close idle connections after a minute or so; we do it first.
const IDLE: Duration = Duration::from_secs(45);
/// Idle connections kept per vendor host.
const IDLE_MAX: usize = 64;
/// How we introduce ourselves.
pub(super) const AGENT: &str = concat!("tidings/", env!("CARGO_PKG_VERSION"));

/// The wire of one account; cheap to clone, connections are shared.
#[derive(Clone)]
pub struct AccountWire {
    network: Network,
    origins: Arc<[Origin]>,
    vendor: HttpClient,
    media: HttpClient,
}

impl fmt::Debug for AccountWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountWire").field("origins", &self.origins).finish_non_exhaustive()
    }
}

impl AccountWire {
    pub(super) fn new(network: Network, origins: Vec<Origin>) -> Self {
        let origins: Arc<[Origin]> = origins.into();
        let client = |reach: Reach, idle: usize| {
            let connector = Connector { shared: Arc::clone(&network.0), reach };
            Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(idle)
                .build(connector)
        };
        let vendor = client(Reach::Account(Arc::clone(&origins)), IDLE_MAX);
        // No connection to a caller's host is ever used twice: each is judged anew.
        let media = client(Reach::Caller, 0);
        Self { network, origins, vendor, media }
    }
}

/// The request as the HTTP client takes it; `None` when it cannot be written at all.
fn http_request(
    request: &WireRequest,
    secrets: &Secrets,
    encoded: Encoded,
) -> Option<Request<Watched>> {
    let method = match request.method {
        Method::Get => hyper::Method::GET,
        Method::Post => hyper::Method::POST,
    };
    let mut builder = Request::builder()
        .method(method)
        .uri(request.url.expose(secrets))
        .header(USER_AGENT, AGENT);
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(&value.expose(secrets)).ok()?;
        value.set_sensitive(true);
        builder = builder.header(*name, value);
    }
    if let Some(kind) = encoded.content_type {
        builder = builder.header(CONTENT_TYPE, kind);
    }
    builder.body(Watched::new(encoded.bytes)).ok()
}

#[async_trait]
impl Wire for AccountWire {
    /// A request that cannot be written at all (a file that was not provided, a url that is none)
    /// is a failed connection: nothing reached the medium.
    async fn send(
        &self,
        request: &WireRequest,
        secrets: &Secrets,
        resources: &[Resource],
    ) -> WireResult {
        let encoded = encode(&request.body, resources).ok_or(WireError::Connect)?;
        let timeouts = self.network.0.timeouts;
        let whole = if encoded.has_files { timeouts.upload } else { timeouts.whole };
        let request = http_request(request, secrets, encoded).ok_or(WireError::Connect)?;
        exchange(&self.vendor, request, whole).await
    }

    async fn fetch(&self, url: &WebUrl, max_bytes: u64) -> Result<Fetched, SendFault> {
        if let Some(stand_in) = &self.network.0.stand_in
            && let Some(fetched) = stand_in.fetch(url)
        {
            return fetch::within(fetched, max_bytes);
        }
        fetch::fetch(&self.media, url, max_bytes, self.network.0.timeouts.whole).await
    }
}
