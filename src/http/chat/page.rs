//! `GET /chat/{channel}`: the page; it gives the browser a visitor. And the files it is made of.
use super::{link, origin, visitor};
use crate::http::pages::assets::{self, escaped};
use crate::http::router::Call;
use crate::http::{client_address, reply};
use crate::problem::Refused;
use actix_web::{HttpRequest, HttpResponse};
use contract::ShowAddress;

/// No inline script or style; pictures and films only over https or from here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; img-src 'self' data: https:; media-src 'self' https:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page, or a page that says why not.
///
/// # Errors
/// None: a browser is shown every refusal.
pub async fn page(call: Call) -> Result<HttpResponse, Refused> {
    Ok(open(&call).await.unwrap_or_else(|refused| assets::refusal(&refused)))
}

async fn open(call: &Call) -> Result<HttpResponse, Refused> {
    let own = origin::of(call)?;
    let chat = visitor::chat(call)?;
    if !is_navigation(&call.request) {
        let detail = "The chat is a page of its own; open it in a tab.";
        return Err(Refused::new("forbidden", detail));
    }
    link::params(call.request.query_string())?;
    // A HEAD asks what a GET would answer, and is no visit.
    let visit = if call.request.method() == actix_web::http::Method::HEAD {
        None
    } else {
        let given = visitor::token(&call.request, &own);
        Some(visitor::visit(call, &chat, given).await?)
    };
    let name = &chat.channel.name;
    let own_file = |file: Option<&contract::PageFile>| {
        file.map(|file| format!("/chat/_/{name}.{}", file.name)).unwrap_or_default()
    };
    let address = visit.as_ref().map(|(visitor, _)| visitor.as_str());
    let address = address.filter(|_| shows_address(call, &own, chat.page.show_address));
    let template = assets::file("chat", "index.html").ok_or_else(Refused::not_found)?;
    let values = [
        ("{{title}}", chat.page.title.as_str()),
        ("{{channel}}", name.as_str()),
        ("{{theme}}", &own_file(chat.page.stylesheet.as_ref())),
        ("{{avatar}}", &own_file(chat.page.avatar.as_ref())),
        ("{{address}}", address.unwrap_or_default()),
        ("{{map_link}}", chat.page.map_link.as_str()),
    ];
    let html = filled(&String::from_utf8_lossy(&template), &values);
    let mut response = assets::page(200, POLICY, html);
    if let Some((_, token)) = &visit {
        let cookie = visitor::cookie(token, &own, &chat.page);
        reply::set(&mut response, "set-cookie", &cookie);
    }
    Ok(response)
}

/// The template with its placeholders filled, in one pass: a value is never read as a placeholder.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut html = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        html.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                html.push_str(&escaped(value));
                rest = &rest[name.len()..];
            }
            None => {
                html.push_str("{{");
                rest = &rest[2..];
            }
        }
    }
    html + rest
}

/// False for a request that a foreign page made on its own: an image, a frame, a fetch.
fn is_navigation(request: &HttpRequest) -> bool {
    let is =
        |name: &str, wanted: &str| request.headers().get(name).is_none_or(|value| value == wanted);
    is("sec-fetch-dest", "document") && is("sec-fetch-mode", "navigate")
}

fn shows_address(call: &Call, own: &origin::PageOrigin, show: ShowAddress) -> bool {
    match show {
        ShowAddress::Always => true,
        ShowAddress::Never => false,
        // Behind a proxy on this machine everyone comes from it: the name decides too.
        ShowAddress::Loopback => {
            own.loopback
                && client_address::of(&call.request, &call.app.settings.trusted_proxies)
                    .is_some_and(|address| address.to_canonical().is_loopback())
        }
    }
}

/// `GET /chat/_/{file}`: a built file, or a channel's own: `<channel>.<name>`.
///
/// # Errors
/// 403 `forbidden_host`; 404.
pub async fn file(call: Call) -> Result<HttpResponse, Refused> {
    origin::of(&call)?;
    let name = call.parameter();
    if let Some((content_type, bytes)) = assets::content_type(name).zip(assets::file("chat", name))
    {
        return Ok(assets::immutable(content_type, bytes));
    }
    let (channel, file) = name.split_once('.').ok_or_else(Refused::not_found)?;
    let channel = call.app.channels.get(channel).ok_or_else(Refused::not_found)?;
    let page = channel.adapter.page().ok_or_else(Refused::not_found)?;
    let own = [&page.stylesheet, &page.avatar].into_iter().flatten();
    let found = own.into_iter().find(|own| own.name == file).ok_or_else(Refused::not_found)?;
    Ok(assets::immutable(found.content_type, found.bytes.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wb_20_a_value_never_ends_its_place_in_the_page() {
        let values = [("{{title}}", "</title><script>\"{{channel}}"), ("{{channel}}", "web")];
        let html = filled("<title>{{title}}</title>{{channel}}{{other}}", &values);
        assert_eq!(
            html,
            "<title>&lt;/title&gt;&lt;script&gt;&quot;{{channel}}</title>web{{other}}"
        );
    }
}
