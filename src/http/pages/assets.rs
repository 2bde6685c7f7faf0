//! Files built from `web/` and embedded in the binary. Scripts and styles carry a hash of their
//! content in their name, so a browser may keep them for ever.
use crate::http::reply;
use crate::problem::Refused;
use actix_web::HttpResponse;
use actix_web::http::header;
use bytes::Bytes;
use rust_embed::RustEmbed;
use std::borrow::Cow;

/// Everything under `web/dist`.
#[derive(RustEmbed)]
#[folder = "web/dist/"]
struct Built;

/// The file of a page, by its exact name.
#[must_use]
pub fn file(page: &str, name: &str) -> Option<Bytes> {
    // Names are flat: a separator in one is nobody's.
    if name.contains(['/', '\\']) {
        return None;
    }
    Some(match Built::get(&format!("{page}/{name}"))?.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    })
}

/// The content type that goes with a name's ending; none for what is not served.
#[must_use]
pub fn content_type(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        _ => None,
    }
}

/// An answer that may be kept for ever.
#[must_use]
pub fn immutable(content_type: &str, bytes: Bytes) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, content_type))
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(bytes)
}

/// A page with the headers every page has.
#[must_use]
pub fn page(status: u16, policy: &str, html: String) -> HttpResponse {
    let mut response = reply::html(status, html);
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("content-security-policy", policy),
    ] {
        reply::set(&mut response, name, value);
    }
    response
}

/// A page that says what is wrong. Only our own words are in it.
#[must_use]
pub fn refusal(refused: &Refused) -> HttpResponse {
    let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let html = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\n\
         <h1>{0}</h1>\n<p>{1}</p>\n<p><code>{2}</code></p>\n",
        escaped(refused.title()),
        escaped(&refused.detail),
        refused.code
    );
    let mut response = page(refused.status(), policy, html);
    if let Some(seconds) = refused.retry_after {
        reply::set(&mut response, "retry-after", &seconds.to_string());
    }
    response
}

/// Text as HTML, safe between tags and inside double quotes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_pages_refer_to_is_embedded_and_nothing_else_is_named() {
        for (page, base) in [("chat", "/chat/_/"), ("docs", "/docs/")] {
            let index = String::from_utf8(file(page, "index.html").unwrap().to_vec()).unwrap();
            let mut found = 0;
            for (at, _) in index.match_indices(base) {
                let name: String =
                    index[at + base.len()..].chars().take_while(|c| *c != '"').collect();
                assert!(file(page, &name).is_some() && content_type(&name).is_some(), "{name}");
                found += 1;
            }
            assert_eq!(found, 2, "a script and a style");
            assert!(!index.contains("http://") && !index.contains("https://"));
        }
        for name in ["", "..", "../docs/index.html", "chat/index.html", "nothing.js"] {
            assert!(file("chat", name).is_none(), "{name}");
        }
        assert_eq!(content_type("index.html"), None);
        assert_eq!(escaped("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
    }
}
