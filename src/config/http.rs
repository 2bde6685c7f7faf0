//! `[http]`: requests the gateway makes.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values, add};
use std::time::Duration;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "http",
    doc: "Requests to the media, and fetches of callers' files.",
    keys: &[
        KeySpec {
            name: "connect_timeout",
            kind: Kind::Duration { min: 100, max: 60_000 },
            default: "\"5s\"",
            doc: "To a connection.",
        },
        KeySpec {
            name: "timeout",
            kind: Kind::Duration { min: 500, max: 300_000 },
            default: "\"30s\"",
            doc: "A whole exchange.",
        },
        KeySpec {
            name: "upload_timeout",
            kind: Kind::Duration { min: 1000, max: 600_000 },
            default: "\"120s\"",
            doc: "A whole exchange that carries files.",
        },
        KeySpec {
            name: "allow_hosts",
            kind: Kind::Texts,
            default: "[]",
            doc: "Private \"host:port\" targets that a channel's base_url may have.",
        },
        KeySpec {
            name: "allow_ports",
            kind: Kind::Texts,
            default: "[]",
            doc: "Ports besides 443 and 80 that callers' files may be fetched from.",
        },
        KeySpec {
            name: "proxy",
            kind: Kind::Text,
            default: "\"\"",
            doc: "Proxy url for all requests; the environment's proxies are ignored.",
        },
    ],
};

/// Outbound HTTP.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// To a connection.
    pub connect_timeout: Duration,
    /// A whole exchange.
    pub timeout: Duration,
    /// An exchange that carries files.
    pub upload_timeout: Duration,
    /// Private targets admitted.
    pub allow_hosts: Vec<String>,
    /// Further ports admitted.
    pub allow_ports: Vec<u16>,
    /// Proxy.
    pub proxy: Option<String>,
}

impl HttpConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let ports = values.texts(&SECTION, "allow_ports", problems);
        let allow_ports = ports
            .iter()
            .enumerate()
            .filter_map(|(i, text)| {
                let port = text.parse::<u16>().ok().filter(|port| *port > 0);
                if port.is_none() {
                    add(problems, format!("http.allow_ports[{i}]"), "must be a port, 1 to 65535");
                }
                port
            })
            .collect();
        let proxy = values.text(&SECTION, "proxy", problems);
        if !proxy.is_empty() && url::Url::parse(&proxy).is_err() {
            add(problems, "http.proxy", "must be a url such as \"http://proxy.internal:3128\"");
        }
        Self {
            connect_timeout: values.duration(&SECTION, "connect_timeout", problems),
            timeout: values.duration(&SECTION, "timeout", problems),
            upload_timeout: values.duration(&SECTION, "upload_timeout", problems),
            allow_hosts: values.texts(&SECTION, "allow_hosts", problems),
            allow_ports,
            proxy: (!proxy.is_empty()).then_some(proxy),
        }
    }
}
