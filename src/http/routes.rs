//! Every route, once: the router, the `OpenAPI` document and the metrics read this table.
use super::api::{
    channels, inbound, media, notifications, operate, operations, opt_outs, overview, preview,
    receipts, sends, traces,
};
use super::chat::{messages, page, stream};
use super::pages::docs;
use super::router::Call;
use crate::auth::Scope;
use crate::problem::Refused;
use actix_web::HttpResponse;
use std::future::Future;
use std::pin::Pin;

/// What a handler gives back.
pub type Answer = Pin<Box<dyn Future<Output = Result<HttpResponse, Refused>>>>;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Open,
    /// A key with this scope.
    Key(Scope),
    /// A key with this scope; on the internal listener anyone.
    KeyOrInternal(Scope),
}

/// One route.
pub struct Route {
    /// Upper-case method.
    pub method: &'static str,
    /// Path template.
    pub template: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Served on the public listener even when there is an internal one.
    pub public: bool,
    /// Answers JSON, so `Accept` must admit it.
    pub json: bool,
    /// One line for the `OpenAPI` document.
    pub summary: &'static str,
    /// Statuses it answers with when nothing is wrong.
    pub answers: &'static [u16],
    /// Query parameters it knows.
    pub query: &'static [&'static str],
    /// Handler.
    pub handler: fn(Call) -> Answer,
}

macro_rules! handler {
    ($path:path) => {
        |call| Box::pin($path(call))
    };
}

const BASE: Route = Route {
    method: "GET",
    template: "",
    access: Access::Open,
    public: false,
    json: true,
    summary: "",
    answers: &[200],
    query: &[],
    handler: handler!(operations::healthz),
};

/// The table.
pub const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        template: "/api/notifications",
        access: Access::Key(Scope::Notify),
        summary: "Record a notification and, with a channel, deliver it.",
        answers: &[201, 202, 200],
        handler: handler!(notifications::post),
        ..BASE
    },
    Route {
        template: "/api/notifications",
        access: Access::Key(Scope::Inbox),
        summary: "The inbox, newest first.",
        query: notifications::LIST_QUERY,
        handler: handler!(notifications::list),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/notifications/preview",
        access: Access::Key(Scope::Notify),
        summary: "Dry run: verdict, degrades and exact requests per channel.",
        handler: handler!(preview::post),
        ..BASE
    },
    Route {
        template: "/api/notifications/{id}",
        access: Access::Key(Scope::Inbox),
        summary: "One inbox entry.",
        handler: handler!(notifications::show),
        ..BASE
    },
    Route {
        template: "/api/channels",
        access: Access::Key(Scope::Channels),
        summary: "The registered channels: capabilities, limits, health, queue.",
        handler: handler!(channels::list),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/channels/{name}/check",
        access: Access::Key(Scope::Admin),
        summary: "Probe a channel's account now.",
        handler: handler!(channels::check),
        ..BASE
    },
    Route {
        template: "/api/channels/{name}/opt-outs",
        access: Access::Key(Scope::Admin),
        summary: "Who wants nothing from a channel, newest first.",
        query: opt_outs::LIST_QUERY,
        handler: handler!(opt_outs::list),
        ..BASE
    },
    Route {
        method: "DELETE",
        template: "/api/channels/{name}/opt-outs/{recipient}",
        access: Access::Key(Scope::Admin),
        summary: "Clear a recipient's opt-out.",
        handler: handler!(opt_outs::clear),
        ..BASE
    },
    Route {
        template: "/api/sends",
        access: Access::Key(Scope::Sends),
        summary: "Sends, newest first.",
        query: sends::LIST_QUERY,
        handler: handler!(sends::list),
        ..BASE
    },
    Route {
        template: "/api/sends/{id}",
        access: Access::Key(Scope::Sends),
        summary: "One send record with parts, attempts and content.",
        handler: handler!(sends::show),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/sends/{id}/cancel",
        access: Access::Key(Scope::Sends),
        summary: "Cancel a send that waits.",
        handler: handler!(operate::cancel),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/sends/{id}/retry",
        access: Access::Key(Scope::Sends),
        summary: "Try a send again that failed, expired or is unknown.",
        answers: &[202],
        handler: handler!(operate::retry),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/sends/retry",
        access: Access::Key(Scope::Admin),
        summary: "Try dead letters again: of a channel, with a fault, since a time.",
        handler: handler!(operate::retry_many),
        ..BASE
    },
    Route {
        template: "/api/queue/poison",
        access: Access::Key(Scope::Sends),
        summary: "Items no worker could take.",
        query: &["queue", "limit", "before"],
        handler: handler!(operations::poison),
        ..BASE
    },
    Route {
        template: "/api/traces/{trace_id}",
        access: Access::Key(Scope::Sends),
        summary: "What happened in one trace, oldest first.",
        handler: handler!(traces::show),
        ..BASE
    },
    Route {
        template: "/api/overview",
        access: Access::Key(Scope::Sends),
        summary: "The last 25 hours by channel.",
        handler: handler!(overview::show),
        ..BASE
    },
    Route {
        template: "/api/receipts/unmatched",
        access: Access::Key(Scope::Sends),
        summary: "Receipts no send was found for.",
        query: &["channel", "limit", "before"],
        handler: handler!(receipts::unmatched),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/api/media",
        access: Access::Key(Scope::Notify),
        summary: "Store media: the raw bytes, or one multipart file.",
        answers: &[201],
        handler: handler!(media::post),
        ..BASE
    },
    Route {
        template: "/api/interactions/media/{id}",
        public: true,
        json: false,
        summary: "Stored media; the id is the capability.",
        answers: &[200, 206],
        handler: handler!(media::get),
        ..BASE
    },
    Route {
        method: "HEAD",
        template: "/api/interactions/media/{id}",
        public: true,
        json: false,
        summary: "Headers of stored media.",
        handler: handler!(media::get),
        ..BASE
    },
    Route {
        template: "/api/inbound",
        access: Access::Key(Scope::Conversations),
        summary: "What people said, newest first.",
        query: inbound::LIST_QUERY,
        handler: handler!(inbound::list),
        ..BASE
    },
    Route {
        template: "/api/inbound/{id}",
        access: Access::Key(Scope::Conversations),
        summary: "One inbound message.",
        handler: handler!(inbound::show),
        ..BASE
    },
    // Before the channel's own: `_` is no channel name.
    Route {
        template: "/chat/_/{file}",
        public: true,
        json: false,
        summary: "Scripts, styles and pictures of the chat page.",
        handler: handler!(page::file),
        ..BASE
    },
    Route {
        template: "/chat/{channel}",
        public: true,
        json: false,
        summary: "The chat page; it gives the browser a visitor.",
        handler: handler!(page::page),
        ..BASE
    },
    Route {
        template: "/chat/{channel}/stream",
        public: true,
        json: false,
        summary: "The visitor's transcript as server-sent events; resumes with Last-Event-ID.",
        query: &["last_event_id"],
        handler: handler!(stream::open),
        ..BASE
    },
    Route {
        method: "POST",
        template: "/chat/{channel}/messages",
        public: true,
        summary: "What the visitor types or taps.",
        answers: &[202],
        handler: handler!(messages::post),
        ..BASE
    },
    Route {
        template: "/docs",
        json: false,
        summary: "This reference as a page.",
        handler: handler!(docs::page),
        ..BASE
    },
    Route {
        template: "/docs/{file}",
        json: false,
        summary: "Scripts and styles of that page.",
        handler: handler!(docs::file),
        ..BASE
    },
    Route {
        template: "/healthz",
        public: true,
        json: false,
        summary: "The process is alive.",
        handler: handler!(operations::healthz),
        ..BASE
    },
    Route {
        template: "/readyz",
        json: false,
        summary: "The gateway can work; JSON says which check failed.",
        answers: &[200, 503],
        handler: handler!(operations::readyz),
        ..BASE
    },
    Route {
        template: "/metrics",
        access: Access::KeyOrInternal(Scope::Metrics),
        json: false,
        summary: "Prometheus metrics.",
        handler: handler!(operations::metrics),
        ..BASE
    },
    Route {
        template: "/openapi.json",
        json: false,
        summary: "This document.",
        handler: handler!(operations::openapi),
        ..BASE
    },
];

/// Matches a path against a template; gives the parameters.
#[must_use]
pub fn matches(template: &str, path: &str) -> Option<Vec<String>> {
    let mut parameters = Vec::new();
    let mut given = path.split('/');
    for part in template.split('/') {
        let value = given.next()?;
        if part.starts_with('{') {
            if value.is_empty() {
                return None;
            }
            parameters.push(value.to_owned());
        } else if part != value {
            return None;
        }
    }
    given.next().is_none().then_some(parameters)
}
