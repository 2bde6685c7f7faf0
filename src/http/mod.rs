//! The HTTP door: one table of routes, one order of checks, answers as JSON or problem documents.
//!
//! [`server`] hands every request to [`router::serve`], which finds the route in [`routes::ROUTES`]
//! and makes the transport's checks (header block, path, method, key, rate, scope, `Accept`) in
//! that order; the handlers under [`api`] do the rest. `/openapi.json` is made from the same table.
pub mod api;
pub mod body;
pub mod chat;
pub mod client_address;
pub mod idempotency;
pub mod openapi;
pub mod pages;
pub mod query;
pub mod rates;
pub mod reply;
pub mod router;
pub mod routes;
pub mod server;
