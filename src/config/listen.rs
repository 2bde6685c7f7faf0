//! `[listen]`: where the gateway is reached.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values, add};
use std::net::{IpAddr, SocketAddr};

/// The section's keys.
pub const SECTION: Section = Section {
    name: "listen",
    doc: "Addresses. Beyond loopback only with a configured key.",
    keys: &[
        KeySpec {
            name: "public",
            kind: Kind::Text,
            default: "\"127.0.0.1:8080\"",
            doc: "Serves everything, unless `internal` is set. Port 0 takes any free port.",
        },
        KeySpec {
            name: "internal",
            kind: Kind::Text,
            default: "\"\"",
            doc: "When set: the API, docs and metrics are served here and no longer on `public`.",
        },
        KeySpec {
            name: "public_url",
            kind: Kind::Text,
            default: "\"\"",
            doc: "How media and people reach `public`, such as \"https://notify.example.com\".",
        },
        KeySpec {
            name: "trusted_proxies",
            kind: Kind::Texts,
            default: "[]",
            doc: "Networks (CIDR) whose X-Forwarded-For is believed.",
        },
    ],
};

/// The addresses.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Serves everything, or what is public.
    pub public: SocketAddr,
    /// Serves the rest.
    pub internal: Option<SocketAddr>,
    /// Origin without a trailing slash.
    pub public_url: Option<String>,
    /// Proxies that are believed.
    pub trusted_proxies: Vec<Network>,
}

/// A network in CIDR form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Reads `10.0.0.0/8`, `2001:db8::/32`, or one address.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address.parse().ok()?, Some(prefix.parse().ok()?)),
            None => (text.parse().ok()?, None),
        };
        let widest = if matches!(address, IpAddr::V4(_)) { 32 } else { 128 };
        let prefix = prefix.unwrap_or(widest);
        (prefix <= widest).then_some(Self { address, prefix })
    }

    /// True when the address lies inside.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        let bits = |a: IpAddr| match a {
            IpAddr::V4(a) => (u128::from(u32::from(a)) << 96, 32),
            IpAddr::V6(a) => (u128::from(a), 128),
        };
        let ((ours, our_width), (theirs, width)) =
            (bits(self.address), bits(address.to_canonical()));
        let mask = if self.prefix == 0 { 0 } else { u128::MAX << (128 - u32::from(self.prefix)) };
        our_width == width && ours & mask == theirs & mask
    }
}

impl Listen {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let public = values.text(&SECTION, "public", problems);
        let internal = values.text(&SECTION, "internal", problems);
        let public_url = values.text(&SECTION, "public_url", problems);
        let proxies = values.texts(&SECTION, "trusted_proxies", problems);
        let loopback = SocketAddr::from(([127, 0, 0, 1], 8080));
        Self {
            public: address(&public, "listen.public", problems).unwrap_or(loopback),
            internal: if internal.is_empty() {
                None
            } else {
                address(&internal, "listen.internal", problems)
            },
            public_url: origin(&public_url, problems),
            trusted_proxies: proxies
                .iter()
                .enumerate()
                .filter_map(|(i, text)| {
                    let network = Network::parse(text);
                    if network.is_none() {
                        let path = format!("listen.trusted_proxies[{i}]");
                        add(problems, path, "must be a network such as \"10.0.0.0/8\"");
                    }
                    network
                })
                .collect(),
        }
    }
}

fn address(text: &str, path: &str, problems: &mut Problems) -> Option<SocketAddr> {
    let parsed = text.parse().ok();
    if parsed.is_none() {
        add(problems, path, "must be an address and a port, such as \"127.0.0.1:8080\"");
    }
    parsed
}

fn origin(text: &str, problems: &mut Problems) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let trimmed = text.trim_end_matches('/');
    let fine = url::Url::parse(trimmed).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.path() == "/"
            && url.query().is_none()
            && url.username().is_empty()
            && url.fragment().is_none()
    });
    if !fine {
        add(
            problems,
            "listen.public_url",
            "must be an origin such as \"https://notify.example.com\"",
        );
    }
    fine.then(|| trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses() {
        let ten = Network::parse("10.0.0.0/8").unwrap();
        assert!(ten.holds("10.200.1.1".parse().unwrap()));
        assert!(ten.holds("::ffff:10.1.1.1".parse().unwrap()));
        assert!(!ten.holds("11.0.0.1".parse().unwrap()));
        assert!(!ten.holds("a00::1".parse().unwrap()));
        assert!(Network::parse("10.0.0.0/33").is_none());
    }
}
