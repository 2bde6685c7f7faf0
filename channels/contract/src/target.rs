//! Web addresses a caller names: checked on the raw text first, then against a WHATWG parser.
//!
//! The two must agree on the host, so that nothing the parser would repair (`\`, `0x7f.1`,
//! percent-encoded hosts, empty ports) ever passes.
use serde::{Deserialize, Serialize};
use url::Url;

/// Longest url a caller may give, in characters.
pub const URL_MAX: usize = 8192;

/// Which schemes a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Files: `https` alone.
    Https,
    /// Links: `http` or `https`.
    HttpOrHttps,
}

/// A url that passed the rules of this module, as the caller wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebUrl(String);

impl WebUrl {
    /// Takes an absolute url of at most [`URL_MAX`] characters; `None` when any rule is broken.
    #[must_use]
    pub fn parse(text: &str, scheme: Scheme) -> Option<Self> {
        let host = raw_host(text, scheme)?;
        let parsed = Url::parse(text).ok()?;
        let agreed = parsed.host_str()?.eq_ignore_ascii_case(host);
        let plain = parsed.username().is_empty() && parsed.password().is_none();
        (agreed && plain).then(|| Self(text.to_owned()))
    }

    /// As the caller wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With characters outside ASCII percent-encoded: what goes on the wire.
    #[must_use]
    pub fn on_the_wire(&self) -> String {
        if self.0.is_ascii() {
            return self.0.clone();
        }
        Url::parse(&self.0).map_or_else(|_| self.0.clone(), String::from)
    }

    /// The host in lower case, without port; brackets kept around an IPv6 literal.
    #[must_use]
    pub fn host(&self) -> String {
        raw_host(&self.0, Scheme::HttpOrHttps).unwrap_or_default().to_ascii_lowercase()
    }

    /// The path without query and fragment, percent-encoding as written.
    #[must_use]
    pub fn path(&self) -> &str {
        let after = self.0.find("://").map_or(self.0.as_str(), |i| &self.0[i + 3..]);
        let path = after.find('/').map_or("", |i| &after[i..]);
        path.split(['?', '#']).next().unwrap_or("")
    }
}

/// The host of a raw url when the text obeys every rule on its characters and authority.
fn raw_host(text: &str, scheme: Scheme) -> Option<&str> {
    if text.chars().count() > URL_MAX || text.chars().any(bad_anywhere) {
        return None;
    }
    let (head, rest) = text.split_once("://")?;
    let known = head.eq_ignore_ascii_case("https")
        || (scheme == Scheme::HttpOrHttps && head.eq_ignore_ascii_case("http"));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    if !known || authority.is_empty() || !authority.is_ascii() || authority.contains(['@', '%']) {
        return None;
    }
    let (host, port) = split_port(authority)?;
    (port_is_fine(port) && host_is_fine(host)).then_some(host)
}

fn bad_anywhere(c: char) -> bool {
    c == '\\' || c.is_whitespace() || c.is_control() || crate::text::is_format(c)
}

fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(inside) = authority.strip_prefix('[') {
        let end = inside.find(']')? + 2;
        let (host, rest) = authority.split_at(end);
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

fn port_is_fine(port: Option<&str>) -> bool {
    port.is_none_or(|p| {
        !p.is_empty()
            && p.len() <= 5
            && p.bytes().all(|b| b.is_ascii_digit())
            && p.parse::<u32>().is_ok_and(|n| (1..=65535).contains(&n))
    })
}

fn host_is_fine(host: &str) -> bool {
    if let Some(inside) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        return inside.parse::<std::net::Ipv6Addr>().is_ok();
    }
    if host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let labels_fine = name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        });
    let last = name.rsplit('.').next().unwrap_or("");
    // A numeric or hexadecimal last label would be read as an IPv4 address in disguise.
    labels_fine
        && last.bytes().any(|b| b.is_ascii_alphabetic())
        && !last.to_ascii_lowercase().starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nt_15_disguised_hosts_and_odd_authorities_are_refused() {
        for bad in [
            "https://a@b",
            "https://h%00",
            "https://999.999.999.999",
            "https://0x7f.1",
            "https://h:0",
            "https://h:65536",
            "https://h:",
            "https:\\\\h",
            "https://a..b",
            "https://-a.b",
            "https://ä.de",
            "https://h/a\nb",
            "https://h/\u{202E}b",
            "//evil.test",
            "javascript:alert(1)",
            " https://h",
            "https://good.test@evil.test",
            "https:/\\evil.test",
            "https://",
            "https:///path",
            "https://[::1",
            "https://1.2.3",
            "https://[fe80::1%25eth0]/",
            "https://127.1",
            "https://a_b.test",
            "http://h",
        ] {
            assert!(WebUrl::parse(bad, Scheme::Https).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn ordinary_urls_pass_as_written() {
        for good in [
            "https://h",
            "HTTPS://Example.TEST:8443/a?b=c#d",
            "https://1.2.3.4/x",
            "https://[2001:db8::1]:443/",
            "https://xn--bcher-kva.example./",
            "https://h/ä?ö=1",
        ] {
            let url = WebUrl::parse(good, Scheme::Https);
            assert_eq!(url.as_ref().map(WebUrl::as_str), Some(good));
        }
        assert!(WebUrl::parse("http://h/x", Scheme::HttpOrHttps).is_some());
        let encoded = WebUrl::parse("https://h/ä", Scheme::Https).map(|u| u.on_the_wire());
        assert_eq!(encoded.as_deref(), Some("https://h/%C3%A4"));
        let path = WebUrl::parse("https://h:1/a/b.pdf?x=/y", Scheme::Https);
        assert_eq!(path.as_ref().map(WebUrl::path), Some("/a/b.pdf"));
    }

    #[test]
    fn nt_15_length_is_bounded() {
        let long = format!("https://h/{}", "a".repeat(URL_MAX - 10));
        assert!(WebUrl::parse(&long, Scheme::Https).is_some());
        assert!(WebUrl::parse(&format!("{long}a"), Scheme::Https).is_none());
    }
}
