//! The page's files, from inside the binary.
//!
//! The page loads nothing but itself: the policy below leaves it no other source, and the files are
//! served as they stand in `page/`, without a build.
use actix_web::HttpResponse;

/// What the page may load and do.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-ancestors 'none'";

/// Path, type, text.
const FILES: [(&str, &str, &str); 4] = [
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("../page/page.js")),
    ("/drawers.js", "text/javascript; charset=utf-8", include_str!("../page/drawers.js")),
    ("/page.css", "text/css; charset=utf-8", include_str!("../page/page.css")),
];

/// A file of the page; `None` when the path names none.
pub(crate) fn file(path: &str) -> Option<HttpResponse> {
    if path == "/favicon.ico" {
        return Some(HttpResponse::NoContent().finish());
    }
    let (_, kind, text) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(
        HttpResponse::Ok()
            .insert_header(("content-type", *kind))
            .insert_header(("content-security-policy", POLICY))
            .insert_header(("x-content-type-options", "nosniff"))
            .insert_header(("referrer-policy", "no-referrer"))
            .insert_header(("cache-control", "no-cache"))
            .body(*text),
    )
}
