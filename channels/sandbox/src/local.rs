//! Who may use the page and the control routes: a browser or a tool on this machine.
//!
//! The `Host` must be a loopback name or address, so that a foreign name led to 127.0.0.1 reaches
//! nothing; a write that carries an `Origin` must carry this one.
use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True for `localhost`, a name below it, and a loopback address.
pub(crate) fn is_loopback_host(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    if let Some(inner) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<Ipv6Addr>().is_ok_and(|ip| IpAddr::V6(ip).is_loopback());
    }
    name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

/// The host of `host[:port]`; `None` when the port is no number.
fn without_port(authority: &str) -> Option<&str> {
    let at = authority.rfind(']').unwrap_or(0);
    match authority[at..].rfind(':') {
        None => Some(authority),
        Some(colon) => {
            let (host, port) = authority.split_at(at + colon);
            port[1..].parse::<u16>().ok().map(|_| host)
        }
    }
}

fn only<'a>(headers: &'a HeaderMap, name: &actix_web::http::header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// The authority a request names, when it is one of this machine's.
pub(crate) fn local_authority(headers: &HeaderMap) -> Option<&str> {
    only(headers, &HOST).filter(|authority| without_port(authority).is_some_and(is_loopback_host))
}

/// False when the request was made by a page of another origin.
pub(crate) fn own_origin(headers: &HeaderMap, authority: &str) -> bool {
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    only(headers, &ORIGIN)
        .and_then(|origin| origin.strip_prefix("http://"))
        .is_some_and(|named| named.eq_ignore_ascii_case(authority))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn headers(host: &[&str], origin: Option<&str>) -> HeaderMap {
        let mut map = HeaderMap::new();
        for value in host {
            map.append(HOST, HeaderValue::from_str(value).unwrap());
        }
        if let Some(value) = origin {
            map.append(ORIGIN, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    #[test]
    fn sb_17_only_loopback_names_and_addresses_pass() {
        for good in [
            "localhost",
            "LOCALHOST:1",
            "a.localhost:80",
            "127.0.0.1:8090",
            "127.9.9.9",
            "[::1]:8090",
            "[::1]",
        ] {
            assert!(local_authority(&headers(&[good], None)).is_some(), "{good}");
        }
        for bad in [
            "",
            "evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "0.0.0.0",
            "10.0.0.1:80",
            "[::2]:1",
            "[::1",
            "::1",
            "127.1",
            "localhost:x",
            "notlocalhost",
            "localhost:99999",
        ] {
            assert!(local_authority(&headers(&[bad], None)).is_none(), "{bad}");
        }
        assert!(local_authority(&headers(&[], None)).is_none());
        assert!(local_authority(&headers(&["localhost", "localhost"], None)).is_none());
    }

    #[test]
    fn sb_17_an_origin_is_this_one_or_foreign() {
        let judge = |origin| own_origin(&headers(&["127.0.0.1:1"], origin), "127.0.0.1:1");
        assert!(judge(None) && judge(Some("http://127.0.0.1:1")));
        for foreign in [
            "null",
            "http://127.0.0.1:2",
            "https://127.0.0.1:1",
            "http://evil.test",
            "http://127.0.0.1:1.evil.test",
        ] {
            assert!(!judge(Some(foreign)), "{foreign}");
        }
    }
}
