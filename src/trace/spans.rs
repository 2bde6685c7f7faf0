//! Spans for a collector: queued in memory, sent in batches over OTLP. Off without an endpoint.
//!
//! Nothing waits for the collector: the queue holds 2,048 spans, the oldest go first and are
//! counted, and a batch that cannot be handed over in three seconds is given up.
use super::otlp;
use crate::clock::Millis;
use crate::metrics::Metrics;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Spans that wait at most.
const QUEUE: usize = 2_048;
/// Spans of one request.
const BATCH: usize = 512;
/// Between two looks at the queue.
const EVERY: Duration = Duration::from_secs(1);
/// How long the collector may take, also at the end.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a span is to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something inside.
    Internal,
    /// A request that was served.
    Server,
    /// A request that was made.
    Client,
    /// Work handed over.
    Producer,
}

/// A finished span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Trace id, 32 hex digits.
    pub trace: String,
    /// Its id, 16 hex digits.
    pub id: String,
    /// Its parent's.
    pub parent: Option<String>,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// When it began.
    pub start: Millis,
    /// When it ended.
    pub end: Millis,
    /// Words, ids and numbers; never content, an address or a caller's value.
    pub attributes: Vec<(&'static str, String)>,
    /// An event at its beginning.
    pub event: Option<&'static str>,
    /// It ended badly.
    pub failed: bool,
}

/// Where spans go.
pub struct Spans {
    target: Option<Target>,
    queue: Mutex<VecDeque<Span>>,
    wake: Notify,
    metrics: Arc<Metrics>,
}

struct Target {
    endpoint: String,
    service: String,
    http: reqwest::Client,
}

impl Spans {
    /// Sends to this endpoint, or nowhere.
    #[must_use]
    pub fn new(endpoint: Option<&str>, service: &str, metrics: Arc<Metrics>) -> Self {
        let target = endpoint.and_then(|endpoint| {
            let http = client().inspect_err(|error| {
                tracing::error!(error, "spans cannot be exported");
            });
            Some(Target {
                endpoint: endpoint.to_owned(),
                service: service.to_owned(),
                http: http.ok()?,
            })
        });
        metrics.add("tidings_trace_dropped_total", &[], 0);
        Self { target, queue: Mutex::default(), wake: Notify::new(), metrics }
    }

    /// Queues a span; costs nothing when no collector is configured.
    pub fn push(&self, span: impl FnOnce() -> Span) {
        if self.target.is_none() {
            return;
        }
        let span = span();
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let full = queue.len() >= QUEUE;
        if full {
            queue.pop_front();
        }
        queue.push_back(span);
        let batch = queue.len() >= BATCH;
        drop(queue);
        if full {
            self.metrics.count("tidings_trace_dropped_total", &[]);
        }
        if batch {
            self.wake.notify_one();
        }
    }

    fn take(&self) -> Vec<Span> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let count = queue.len().min(BATCH);
        queue.drain(..count).collect()
    }

    /// Hands over what waits; true when all of it was taken.
    async fn send_all(&self) -> bool {
        let Some(target) = &self.target else { return true };
        loop {
            let batch = self.take();
            if batch.is_empty() {
                return true;
            }
            let request = target
                .http
                .post(&target.endpoint)
                .header("content-type", "application/x-protobuf")
                .body(otlp::request(&target.service, &batch));
            let taken = request.send().await.and_then(reqwest::Response::error_for_status);
            if let Err(error) = taken {
                let count = batch.len() as u64;
                self.metrics.add("tidings_trace_dropped_total", &[], count);
                let why = error.without_url();
                tracing::warn!(spans = count, error = %why, "the collector took no spans");
                return false;
            }
        }
    }

    /// Hands over what waits, within three seconds: the end of a process.
    pub async fn flush(&self) {
        if tokio::time::timeout(PATIENCE, self.send_all()).await.is_err() {
            tracing::warn!("spans were left when the process ended");
        }
    }
}

/// The way to the collector, under the same roots and provider as everything else.
fn client() -> Result<reqwest::Client, String> {
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .timeout(PATIENCE)
        .build()
        .map_err(|error| error.to_string())
}

/// Exports until the process ends.
pub async fn run(spans: Arc<Spans>) {
    if spans.target.is_none() {
        return;
    }
    loop {
        tokio::select! {
            () = spans.wake.notified() => {}
            () = tokio::time::sleep(EVERY) => {}
        }
        if !spans.send_all().await {
            tokio::time::sleep(EVERY).await;
        }
    }
}
