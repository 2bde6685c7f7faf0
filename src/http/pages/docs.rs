//! `/docs`: the reader of `/openapi.json`, served from the binary, without another origin.
use super::assets;
use crate::http::router::Call;
use crate::problem::Refused;
use actix_web::HttpResponse;

/// The page runs its own script, reads its own origin, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// `GET /docs`.
///
/// # Errors
/// None while the page is in the binary.
pub async fn page(_call: Call) -> Result<HttpResponse, Refused> {
    let page = assets::file("docs", "index.html").ok_or_else(Refused::not_found)?;
    Ok(assets::page(200, POLICY, String::from_utf8_lossy(&page).into_owned()))
}

/// `GET /docs/{file}`.
///
/// # Errors
/// 404.
pub async fn file(call: Call) -> Result<HttpResponse, Refused> {
    let name = call.parameter();
    let found = assets::content_type(name).zip(assets::file("docs", name));
    let (content_type, bytes) = found.ok_or_else(Refused::not_found)?;
    Ok(assets::immutable(content_type, bytes))
}
