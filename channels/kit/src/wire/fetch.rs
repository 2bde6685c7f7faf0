//! Fetching a caller's media: https only, every hop judged anew, every byte counted.
use super::account::AGENT;
use super::connect::ConnectError;
use super::exchange::{HttpClient, Watched, connect_error};
use super::guard::Rule;
use crate::fault::blocked;
use bytes::{Bytes, BytesMut};
use contract::target::Scheme;
use contract::{FaultKind, Fetched, SendFault, WebUrl};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, USER_AGENT,
};
use hyper::{Request, Response};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use url::Url;

/// Most redirects followed.
const REDIRECTS_MAX: usize = 3;
/// From this age of a fetch on, a slower body than [`PACE_MIN`] is given up.
const PACE_AFTER: Duration = Duration::from_secs(10);
/// Bytes a second.
const PACE_MIN: u64 = 1024;
/// The type of a file whose server names none.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Fetches a file of at most `max_bytes` within `whole`.
pub(super) async fn fetch(
    client: &HttpClient,
    url: &WebUrl,
    max_bytes: u64,
    whole: Duration,
) -> Result<Fetched, SendFault> {
    let walk = async {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = get(client, &url).await?;
            if !response.status().is_redirection() {
                return read(response, max_bytes).await;
            }
            url = redirected(&url, response.headers())?;
        }
        Err(unfetchable("the file's server redirects more than 3 times"))
    };
    timeout(whole, walk).await.unwrap_or_else(|_| Err(transient("the file did not come in time")))
}

async fn get(client: &HttpClient, url: &WebUrl) -> Result<Response<Incoming>, SendFault> {
    // The fragment is the reader's, not the server's.
    let target = url.on_the_wire();
    let target = target.split('#').next().unwrap_or_default();
    let request = Request::get(target)
        .header(USER_AGENT, AGENT)
        .header("accept", "*/*")
        .body(Watched::new(Bytes::new()))
        .map_err(|_| unfetchable("the file's address cannot be written as a request"))?;
    client.request(request).await.map_err(|error| match connect_error(&error) {
        Some(ConnectError::Blocked(rule)) => refused(rule),
        Some(ConnectError::Failed) | None => transient("the file's server could not be reached"),
    })
}

/// The next hop of a redirect; it obeys every rule the first address obeyed.
fn redirected(from: &WebUrl, headers: &HeaderMap) -> Result<WebUrl, SendFault> {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let next = location.and_then(|to| Url::parse(&from.on_the_wire()).ok()?.join(to).ok());
    let next = next.ok_or_else(|| unfetchable("the file's server redirects to nowhere"))?;
    if next.scheme() != "https" {
        return Err(refused(Rule::Scheme));
    }
    WebUrl::parse(next.as_str(), Scheme::Https)
        .ok_or_else(|| unfetchable("the file's server redirects to no valid address"))
}

async fn read(response: Response<Incoming>, max_bytes: u64) -> Result<Fetched, SendFault> {
    let status = response.status();
    if status.is_server_error() {
        return Err(transient("the file's server failed"));
    }
    if !status.is_success() {
        return Err(unfetchable("the file's server does not give the file"));
    }
    let header = |name: HeaderName| response.headers().get(name).and_then(|v| v.to_str().ok());
    if header(CONTENT_ENCODING).is_some_and(|e| !e.eq_ignore_ascii_case("identity")) {
        return Err(media_refused("the file comes compressed, which was not asked for"));
    }
    let declared = header(CONTENT_LENGTH).and_then(|n| n.parse::<u64>().ok());
    if declared.is_some_and(|n| n > max_bytes) {
        return Err(too_big());
    }
    let content_type = bare_type(header(CONTENT_TYPE));
    let bytes = read_body(response.into_body(), max_bytes).await?;
    if bytes.is_empty() {
        return Err(unfetchable("the file is empty"));
    }
    Ok(Fetched { bytes, content_type, note: None })
}

async fn read_body(mut body: Incoming, max_bytes: u64) -> Result<Bytes, SendFault> {
    let begun = Instant::now();
    let mut bytes = BytesMut::new();
    loop {
        // Woken at least each second, so that a stalled body is noticed.
        match timeout(Duration::from_secs(1), body.frame()).await {
            Ok(None) => return Ok(bytes.freeze()),
            Ok(Some(Err(_))) => return Err(transient("the file came only in part")),
            Ok(Some(Ok(frame))) => {
                if let Some(chunk) = frame.data_ref() {
                    if (bytes.len() + chunk.len()) as u64 > max_bytes {
                        return Err(too_big());
                    }
                    bytes.extend_from_slice(chunk);
                }
            }
            Err(_) => {}
        }
        if is_too_slow(begun.elapsed(), bytes.len() as u64) {
            return Err(transient("the file comes too slowly"));
        }
    }
}

fn is_too_slow(age: Duration, bytes: u64) -> bool {
    age > PACE_AFTER && bytes < PACE_MIN * age.as_secs()
}

/// A content type without its parameters, in lower case.
fn bare_type(header: Option<&str>) -> String {
    let bare = header.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if bare.is_empty() { UNKNOWN_TYPE.to_owned() } else { bare.to_ascii_lowercase() }
}

/// For a caller's file no setting admits an address; only further ports can be listed.
fn refused(rule: Rule) -> SendFault {
    match rule {
        Rule::Port => blocked(rule.name(), rule.key()),
        _ => blocked(
            rule.name(),
            "docs: a caller's file must be public; http.allow_hosts is for base_url alone",
        ),
    }
}

fn transient(detail: &'static str) -> SendFault {
    SendFault::new(FaultKind::Transient, "transient", detail)
}

fn unfetchable(detail: &'static str) -> SendFault {
    SendFault::new(FaultKind::Permanent, "media_unfetchable", detail)
}

fn media_refused(detail: &'static str) -> SendFault {
    SendFault::new(FaultKind::Permanent, "media_refused", detail)
}

/// A file that stands in obeys the bound too.
pub(super) fn within(fetched: Fetched, max_bytes: u64) -> Result<Fetched, SendFault> {
    if fetched.bytes.len() as u64 > max_bytes { Err(too_big()) } else { Ok(fetched) }
}

fn too_big() -> SendFault {
    media_refused("the file is larger than the medium takes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_71_a_body_may_be_slow_for_ten_seconds_only() {
        for (seconds, bytes, slow) in
            [(0, 0, false), (10, 0, false), (11, 11 * 1024 - 1, true), (11, 11 * 1024, false)]
        {
            assert_eq!(is_too_slow(Duration::from_secs(seconds), bytes), slow, "{seconds} {bytes}");
        }
    }

    #[test]
    fn a_type_loses_its_parameters() {
        for (given, bare) in [
            (Some("Image/PNG; charset=x"), "image/png"),
            (Some(" text/plain "), "text/plain"),
            (Some(";"), UNKNOWN_TYPE),
            (None, UNKNOWN_TYPE),
        ] {
            assert_eq!(bare_type(given), bare);
        }
    }
}
