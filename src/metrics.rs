//! Counters, gauges and histograms, served at `/metrics`. Labels are bounded: configured names,
//! closed words, templates of paths; never a recipient, an id, a url or a caller.
use metrics::{Key, Label, Metadata, Recorder, Unit};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// The registry of one process.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

/// Every metric with its help, in one place.
const DESCRIBED: &[(&str, &str)] = &[
    ("tidings_notifications_total", "Calls by outcome (recorded, queued, refused) and code."),
    ("tidings_sends_total", "Sends that became final, by status."),
    ("tidings_attempts_total", "Attempts by fault class, none for accepted."),
    ("tidings_degrades_total", "Approximations made, by capability."),
    ("tidings_lease_reaped_total", "Leases taken over after they ran out."),
    ("tidings_poison_total", "Items no worker could take."),
    ("tidings_ladder_refused_total", "Moves the ladder refused."),
    ("tidings_throttled_total", "Vendors' requests to wait, by scope."),
    ("tidings_render_defects_total", "Faults only a defect of rendering can cause."),
    ("tidings_store_errors_total", "Store steps that failed."),
    (
        "tidings_platform_notify_failures_total",
        "Entries for the operators that could not be written.",
    ),
    ("tidings_receipts_total", "Receipts by what they said, did, and where they were settled."),
    ("tidings_receipts_shelved", "Receipts that came before their send was known."),
    ("tidings_receipts_unmatched_total", "Receipts no send was found for."),
    ("tidings_media_refused_total", "Media refused, by reason."),
    ("tidings_http_requests_total", "Requests by route and status."),
];

/// Bounds of the latency histograms, seconds.
const BUCKETS: &[f64] =
    &[0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

const META: Metadata<'static> = Metadata::new("tidings", metrics::Level::INFO, None);

impl Default for Metrics {
    fn default() -> Self {
        // A non-empty list of bounds is the only thing the builder checks.
        let builder = PrometheusBuilder::new().set_buckets(BUCKETS).unwrap_or_default();
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        for (name, help) in DESCRIBED {
            recorder.describe_counter((*name).into(), Some(Unit::Count), (*help).into());
        }
        let metrics = Self { recorder, handle };
        metrics.gauge("tidings_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        metrics
    }
}

fn key(name: &'static str, labels: &[(&'static str, &str)]) -> Key {
    let labels: Vec<Label> =
        labels.iter().map(|(name, value)| Label::new(*name, (*value).to_owned())).collect();
    Key::from_parts(name, labels)
}

impl Metrics {
    /// Adds one.
    pub fn count(&self, name: &'static str, labels: &[(&'static str, &str)]) {
        self.add(name, labels, 1);
    }
    /// Adds so many; 0 shows the counter from the start.
    pub fn add(&self, name: &'static str, labels: &[(&'static str, &str)], more: u64) {
        self.recorder.register_counter(&key(name, labels), &META).increment(more);
    }
    /// Observes seconds.
    pub fn seconds(&self, name: &'static str, labels: &[(&'static str, &str)], seconds: f64) {
        self.recorder.register_histogram(&key(name, labels), &META).record(seconds);
    }
    /// Sets a gauge.
    pub fn gauge(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        self.recorder.register_gauge(&key(name, labels), &META).set(value);
    }
    /// The exposition text.
    #[must_use]
    pub fn render(&self) -> String {
        self.handle.run_upkeep();
        self.handle.render()
    }
}
