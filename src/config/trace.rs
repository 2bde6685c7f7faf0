//! `[trace]`: spans for a collector.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values, add};
use url::Url;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "trace",
    doc: "Spans for a collector, over OTLP (HTTP, protobuf).",
    keys: &[
        KeySpec {
            name: "otlp_endpoint",
            kind: Kind::Text,
            default: "\"\"",
            doc: "Where spans are posted, as http://127.0.0.1:4318/v1/traces. Empty: nowhere.",
        },
        KeySpec {
            name: "service_name",
            kind: Kind::Text,
            default: "\"tidings\"",
            doc: "The spans' service.name.",
        },
    ],
};

/// The exporter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceConfig {
    /// Where to.
    pub otlp_endpoint: Option<String>,
    /// Under which name.
    pub service_name: String,
}

impl TraceConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let endpoint = values.text(&SECTION, "otlp_endpoint", problems);
        let sound = Url::parse(&endpoint)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !endpoint.is_empty() && !sound {
            add(problems, "trace.otlp_endpoint", "must be http://… or https://… with a host");
        }
        Self {
            otlp_endpoint: Some(endpoint).filter(|_| sound),
            service_name: values.text(&SECTION, "service_name", problems),
        }
    }
}
