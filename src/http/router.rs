//! From a raw request to a handler: checks 1–6 of the transport, in their order.
use super::routes::{Access, ROUTES, Route, matches};
use super::{client_address, reply};
use crate::app::App;
use crate::auth::Caller;
use crate::problem::Refused;
use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use std::sync::Arc;
use std::time::Instant;

/// Most bytes of the request line's target and all headers.
const HEADERS_MAX: usize = 32 * 1024;

/// Which listener a request came in on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Everything: there is one listener, or this is the internal one.
    Whole {
        /// It is the internal one.
        internal: bool,
    },
    /// What is public, beside an internal listener.
    Public,
}

/// A request that passed the transport's checks.
pub struct Call {
    /// The gateway.
    pub app: Arc<App>,
    /// The request.
    pub request: HttpRequest,
    /// Its body, unread.
    pub payload: Payload,
    /// Who calls, on a route that needs a key.
    pub caller: Option<Caller>,
    /// Path parameters in order.
    pub parameters: Vec<String>,
}

impl Call {
    /// The caller of a route that needs a key.
    ///
    /// # Errors
    /// 401 when the route is open, which its table entry rules out.
    pub fn caller(&self) -> Result<&Caller, Refused> {
        self.caller.as_ref().ok_or_else(unauthenticated)
    }
    /// The first path parameter.
    #[must_use]
    pub fn parameter(&self) -> &str {
        self.parameters.first().map_or("", String::as_str)
    }
}

/// Serves one request.
pub async fn serve(
    app: Arc<App>,
    face: Face,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let started = Instant::now();
    let metrics = app.metrics.clone();
    let (template, response) = match find(&request, face) {
        Ok((route, parameters)) => {
            let answer = handle(app, face, route, parameters, request, payload).await;
            (route.template, answer)
        }
        Err(missed) => {
            let mut response = reply::refused(&missed.refused);
            if let Some(allow) = missed.allow {
                reply::set(&mut response, "allow", &allow);
            }
            ("other", Ok(response))
        }
    };
    let response = response.unwrap_or_else(|refused| reply::refused(&refused));
    let status = response.status().as_u16().to_string();
    let labels = [("route", template), ("status", status.as_str())];
    metrics.count("tidings_http_requests_total", &labels);
    metrics.seconds(
        "tidings_http_seconds",
        &[("route", template)],
        started.elapsed().as_secs_f64(),
    );
    response
}

/// A request no route was found for.
struct Missed {
    refused: Refused,
    /// Methods the path takes.
    allow: Option<String>,
}

impl Missed {
    fn new(refused: Refused) -> Box<Self> {
        Box::new(Self { refused, allow: None })
    }
}

/// A route and its path parameters.
type Found = (&'static Route, Vec<String>);

/// Check 1: header block, path, method.
fn find(request: &HttpRequest, face: Face) -> Result<Found, Box<Missed>> {
    let target = request.uri().path_and_query().map_or(0, |p| p.as_str().len());
    let headers: usize =
        request.headers().iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
    if target + headers > HEADERS_MAX {
        let detail = format!("The request's headers may hold at most {HEADERS_MAX} bytes.");
        return Err(Missed::new(Refused::new("too_large", detail)));
    }
    let served = |route: &&Route| face != Face::Public || route.public;
    let mut at_path = Vec::new();
    for route in ROUTES.iter().filter(served) {
        if let Some(parameters) = matches(route.template, request.path()) {
            at_path.push((route, parameters));
        }
    }
    // A literal segment wins over a parameter: /api/notifications/preview is no id.
    let literal = at_path.iter().any(|(_, parameters)| parameters.is_empty());
    at_path.retain(|(_, parameters)| parameters.is_empty() == literal);
    if at_path.is_empty() {
        return Err(Missed::new(Refused::new("not_found", "There is no such path.")));
    }
    let methods: Vec<&str> = at_path.iter().map(|(route, _)| route.method).collect();
    let allow = methods.join(", ");
    // A HEAD is answered as the GET, without its body, where no route of its own takes it.
    let wanted = match request.method().as_str() {
        "HEAD" if !methods.contains(&"HEAD") => "GET",
        method => method,
    };
    match at_path.into_iter().find(|(route, _)| route.method == wanted) {
        Some(found) => Ok(found),
        None => {
            let detail = format!("This path takes {allow}.");
            let refused = Refused::new("method_not_allowed", detail);
            Err(Box::new(Missed { refused, allow: Some(allow) }))
        }
    }
}

/// Checks 2–6, then the handler.
async fn handle(
    app: Arc<App>,
    face: Face,
    route: &'static Route,
    parameters: Vec<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Refused> {
    let internal = face == Face::Whole { internal: true };
    let scope = match route.access {
        Access::Open => None,
        Access::KeyOrInternal(_) if internal => None,
        Access::Key(scope) | Access::KeyOrInternal(scope) => Some(scope),
    };
    let caller = match scope {
        None => None,
        Some(scope) => {
            let caller = authenticate(&app, &request)?;
            if !caller.may(scope) {
                let detail = format!("This call needs the scope {}.", scope.as_str());
                return Err(Refused::new("forbidden", detail));
            }
            Some(caller)
        }
    };
    if route.json && !accepts_json(&request) {
        let detail = "The answer is application/json; let Accept admit it.";
        return Err(Refused::new("not_acceptable", detail));
    }
    (route.handler)(Call { app, request, payload, caller, parameters }).await
}

/// Checks 2–4: the key is looked up; without a valid one the address's bucket is spent.
fn authenticate(app: &App, request: &HttpRequest) -> Result<Caller, Refused> {
    let mut given = request.headers().get_all(header::AUTHORIZATION);
    let bearer = given
        .next()
        .filter(|_| given.next().is_none())
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, text)| text.trim());
    let rated = |wait: u64| {
        Refused::new("rate_limited", "Too many requests; wait and try again.").retry_after(wait)
    };
    match bearer.and_then(|text| app.keyring.caller(text)) {
        Some(caller) => {
            app.rates.spend_key(caller.key).map_err(rated)?;
            Ok(caller)
        }
        None => {
            if let Some(address) = client_address::of(request, &app.settings.trusted_proxies) {
                app.rates.spend_address(client_address::bucket(address)).map_err(rated)?;
            }
            Err(unauthenticated())
        }
    }
}

fn unauthenticated() -> Refused {
    let detail = "Send a valid key: Authorization: Bearer tk_…";
    Refused::new("unauthenticated", detail)
}

/// True when `Accept` is absent or admits JSON or problem documents.
fn accepts_json(request: &HttpRequest) -> bool {
    let mut values = request.headers().get_all(header::ACCEPT).peekable();
    if values.peek().is_none() {
        return true;
    }
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or("").to_ascii_lowercase();
        let refused = parts.any(|p| {
            p.strip_prefix("q=").and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0)
        });
        let admits = ["*/*", "application/*", "application/json", "application/problem+json"];
        !refused && admits.contains(&kind.as_str())
    })
}
