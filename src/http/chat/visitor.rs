//! The visitor's cookie, and the visitor it stands for.
use super::origin::PageOrigin;
use crate::http::client_address;
use crate::http::router::Call;
use crate::problem::Refused;
use crate::registry::Channel;
use crate::store::{At, TokenHash, Visit, Visited};
use actix_web::HttpRequest;
use actix_web::http::header;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::{ChatPage, VisitorId};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;

/// Characters of a token: 32 bytes in base64url.
const TOKEN: usize = 43;

/// A channel that has a page.
pub struct Chat {
    /// The channel.
    pub channel: Arc<Channel>,
    /// Its page.
    pub page: ChatPage,
}

/// The channel a request names, if it is a web chat.
///
/// # Errors
/// 404.
pub fn chat(call: &Call) -> Result<Chat, Refused> {
    let missing = || Refused::new("not_found", "There is no chat of this name.");
    let channel = call.app.channels.get(call.parameter()).ok_or_else(missing)?;
    let page = channel.adapter.page().cloned().ok_or_else(missing)?;
    Ok(Chat { channel, page })
}

fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-tidings_visitor" } else { "tidings_visitor" }
}

/// The token a browser brought: of the right form, and only one.
#[must_use]
pub fn token(request: &HttpRequest, own: &PageOrigin) -> Option<String> {
    let name = cookie_name(own.secure);
    let mut given = request
        .headers()
        .get_all(header::COOKIE)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value);
    let token = given.next().filter(|token| is_token(token))?;
    given.all(|other| other == token).then(|| token.to_owned())
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn hash(token: &str) -> TokenHash {
    TokenHash(crate::ids::hex(&Sha256::digest(token.as_bytes())))
}

/// The hash of the token a browser brought.
#[must_use]
pub fn token_hash(request: &HttpRequest, own: &PageOrigin) -> Option<TokenHash> {
    token(request, own).map(|token| hash(&token))
}

/// The cookie of a token, renewed with each visit.
#[must_use]
pub fn cookie(token: &str, own: &PageOrigin, page: &ChatPage) -> String {
    let name = cookie_name(own.secure);
    let secure = if own.secure { "; Secure" } else { "" };
    let age = page.visitor_ttl.as_secs();
    format!("{name}={token}{secure}; HttpOnly; SameSite=Lax; Path=/; Max-Age={age}")
}

/// Whose bucket a request spends.
#[must_use]
pub fn bucket(call: &Call) -> Option<IpAddr> {
    client_address::of(&call.request, &call.app.settings.trusted_proxies)
        .map(client_address::bucket)
}

/// Takes a browser in; gives its visitor and the token it has from now on.
///
/// # Errors
/// 429; 503 from the store.
pub async fn visit(
    call: &Call,
    chat: &Chat,
    given: Option<String>,
) -> Result<(VisitorId, String), Refused> {
    let app = &call.app;
    let now = app.clock.now();
    let until = now.plus(chat.page.visitor_ttl);
    if let Some(given) = &given {
        let channel = &chat.channel.name;
        if let Some(known) = app.store.visitor(channel, &hash(given), until, At::Store).await? {
            return Ok((known, given.clone()));
        }
    }
    // Whoever has no visitor here gets one, and that is what is rated.
    if let Some(address) = bucket(call) {
        app.rates.spend_visit(address).map_err(rated)?;
    }
    let fresh = URL_SAFE_NO_PAD.encode(app.ids.random_array::<32>());
    let visit = Visit {
        channel: chat.channel.name.clone(),
        given: given.as_deref().map(hash),
        fresh: hash(&fresh),
        visitor: app.ids.visitor(),
        until,
        pending_until: now.plus(chat.page.pending_ttl),
    };
    let Visited { visitor, fresh: is_fresh } = app.store.visit(visit, At::Store).await?;
    let token = if is_fresh { fresh } else { given.unwrap_or(fresh) };
    Ok((visitor, token))
}

/// The 429 of a chat door.
#[must_use]
pub fn rated(wait: u64) -> Refused {
    Refused::new("rate_limited", "Too many requests; wait and try again.").retry_after(wait)
}

/// The visitor of a request that must have one; its session is prolonged.
///
/// # Errors
/// 401 `visitor_session_missing`; 503 from the store.
pub async fn known(call: &Call, chat: &Chat, own: &PageOrigin) -> Result<VisitorId, Refused> {
    let missing =
        || Refused::new("visitor_session_missing", "Open the chat page first: it gives a visitor.");
    let token = token(&call.request, own).ok_or_else(missing)?;
    let until = call.app.clock.now().plus(chat.page.visitor_ttl);
    let channel = &chat.channel.name;
    let found = call.app.store.visitor(channel, &hash(&token), until, At::Store).await?;
    found.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_token_is_read_from_the_right_cookie_and_only_in_its_form() {
        let good = "A".repeat(TOKEN);
        let other = "B".repeat(TOKEN);
        let plain = PageOrigin { origin: "http://localhost".into(), secure: false, loopback: true };
        let secure = PageOrigin { origin: "https://x.test".into(), secure: true, loopback: false };
        let read = |cookie: &str, own: &PageOrigin| {
            let request = TestRequest::default().insert_header((header::COOKIE, cookie));
            token(&request.to_http_request(), own)
        };
        assert_eq!(read(&format!("a=b; tidings_visitor={good}"), &plain), Some(good.clone()));
        assert_eq!(read(&format!("tidings_visitor={good}"), &secure), None);
        assert_eq!(read(&format!("__Host-tidings_visitor={good}"), &secure), Some(good.clone()));
        let twice = format!("tidings_visitor={good}; tidings_visitor={other}");
        assert_eq!(read(&twice, &plain), None, "a planted second cookie decides nothing");
        for bad in ["", "short", &"A".repeat(44), &format!("{}!", "A".repeat(42))] {
            assert_eq!(read(&format!("tidings_visitor={bad}"), &plain), None, "{bad}");
        }
    }
}
