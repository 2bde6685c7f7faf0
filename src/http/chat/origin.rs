//! Which host a request is for. A name that is not ours would let a foreign page, whose name was
//! bound to our address, read a transcript with the visitor's own cookie.
use crate::http::client_address;
use crate::http::router::Call;
use crate::problem::Refused;
use actix_web::HttpRequest;
use actix_web::http::header;
use std::net::IpAddr;
use url::Url;

/// The address of ours that a connection came in on.
#[derive(Clone, Copy, Debug)]
pub struct LocalAddress(pub IpAddr);

/// The origin of the page a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOrigin {
    /// As a browser spells it in `Origin`.
    pub origin: String,
    /// Served over https.
    pub secure: bool,
    /// Under a name of this machine alone.
    pub loopback: bool,
}

/// What is wrong with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Not one we answer to.
    Host,
    /// Ours, but cookies would travel in the clear.
    Plain,
}

/// Judges the host of a request.
///
/// # Errors
/// 403 `forbidden_host`, `https_required`.
pub fn of(call: &Call) -> Result<PageOrigin, Refused> {
    let request = &call.request;
    let public = call.app.composer.public_url.as_deref().and_then(|url| Url::parse(url).ok());
    let local = request.conn_data::<LocalAddress>().map(|address| address.0);
    let proxied = request.peer_addr().is_some_and(|peer| {
        let trusted = &call.app.settings.trusted_proxies;
        client_address::is_trusted(peer.ip(), trusted)
    });
    let https = proxied && single(request, "x-forwarded-proto") == Some("https");
    let host = single(request, header::HOST.as_str()).unwrap_or_default();
    judge(host, public.as_ref(), local, https).map_err(|wrong| match wrong {
        Wrong::Host => Refused::new(
            "forbidden_host",
            "This host name is not served; use listen.public_url, a loopback name, or the \
             address the gateway listens on.",
        ),
        Wrong::Plain => Refused::new(
            "https_required",
            "Beyond this machine the chat needs https: put a proxy with a certificate before it \
             and set listen.public_url.",
        ),
    })
}

/// The value of a header that occurs once.
fn single<'r>(request: &'r HttpRequest, name: &str) -> Option<&'r str> {
    let mut values = request.headers().get_all(name);
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok()).flatten()
}

fn judge(
    host: &str,
    public: Option<&Url>,
    local: Option<IpAddr>,
    https: bool,
) -> Result<PageOrigin, Wrong> {
    let plain = !host.is_empty() && !host.contains(['/', '@', '?', '#', '\\', ' ']);
    let named = |scheme: &str| {
        let url = Url::parse(&format!("{scheme}://{host}/")).ok().filter(|_| plain)?;
        url.has_host().then_some(url)
    };
    let public = public.filter(|public| {
        named(public.scheme()).is_some_and(|given| given.origin() == public.origin())
    });
    let url = match public {
        Some(public) => public.clone(),
        None => {
            let url = named(if https { "https" } else { "http" }).ok_or(Wrong::Host)?;
            let ours = is_loopback(&url) || local.is_some_and(|local| is_address(&url, local));
            if !ours {
                return Err(Wrong::Host);
            }
            url
        }
    };
    let secure = url.scheme() == "https";
    let loopback = is_loopback(&url);
    if !secure && !loopback {
        return Err(Wrong::Plain);
    }
    Ok(PageOrigin { origin: url.origin().ascii_serialization(), secure, loopback })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_address(url: &Url, local: IpAddr) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => local.to_canonical() == IpAddr::V4(address),
        Some(url::Host::Ipv6(address)) => local == IpAddr::V6(address),
        Some(url::Host::Domain(_)) | None => false,
    }
}

/// Requires that a writing request comes from the page itself.
///
/// # Errors
/// 403 `forbidden_origin`.
pub fn require_own(request: &HttpRequest, own: &PageOrigin) -> Result<(), Refused> {
    let given: Vec<_> = request.headers().get_all(header::ORIGIN).collect();
    let site = request.headers().get("sec-fetch-site");
    let fine = match given[..] {
        [] => site.is_none_or(|site| site == "same-origin"),
        [origin] => origin == own.origin.as_str(),
        _ => false,
    };
    if fine {
        return Ok(());
    }
    Err(Refused::new("forbidden_origin", "Only the chat page itself may call this."))
}

/// Requires that a read comes from the page itself, or from a person who typed the address: another
/// page on this host would carry the cookie along and use up the visitor's streams.
///
/// # Errors
/// 403 `forbidden_origin`.
pub fn require_own_read(request: &HttpRequest, own: &PageOrigin) -> Result<(), Refused> {
    let typed = request.headers().get("sec-fetch-site").is_some_and(|site| site == "none");
    if typed { Ok(()) } else { require_own(request, own) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_35_only_our_own_hosts_are_answered_and_plain_http_only_on_loopback() {
        let public = Url::parse("https://chat.example.test").unwrap();
        let plain = Url::parse("http://chat.example.test:8080").unwrap();
        let lan: IpAddr = "192.168.1.5".parse().unwrap();
        let judged = |host: &str, public: Option<&Url>, https| {
            judge(host, public, Some(lan), https).map(|o| (o.origin, o.secure))
        };
        let ok = |origin: &str, secure| Ok((origin.to_owned(), secure));
        assert_eq!(
            judged("chat.example.test", Some(&public), false),
            ok("https://chat.example.test", true)
        );
        assert_eq!(
            judged("chat.example.test:443", Some(&public), false),
            ok("https://chat.example.test", true)
        );
        assert_eq!(
            judged("localhost:8080", Some(&public), false),
            ok("http://localhost:8080", false)
        );
        assert_eq!(judged("127.0.0.1:9", None, false), ok("http://127.0.0.1:9", false));
        assert_eq!(judged("[::1]:9", None, true), ok("https://[::1]:9", true));
        assert_eq!(judged("192.168.1.5:9", None, true), ok("https://192.168.1.5:9", true));
        assert_eq!(judged("192.168.1.5:9", None, false), Err(Wrong::Plain));
        assert_eq!(judged("chat.example.test:8080", Some(&plain), false), Err(Wrong::Plain));
        for host in [
            "",
            "evil.test",
            "192.168.1.6",
            "chat.example.test:8443",
            "localhost.evil.test",
            "user@localhost",
            "localhost/",
            "chat.example.test.",
            "127.0.0.1.evil.test",
        ] {
            assert_eq!(judged(host, Some(&public), false), Err(Wrong::Host), "{host}");
        }
    }
}
