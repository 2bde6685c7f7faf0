//! Tidings: a self-hosted gateway that delivers notifications on many channels.
//!
//! One call walks one way: door ([`http`]) → [`compose`] → one store step that records the inbox
//! entry, the send record and its job ([`sends`], [`store`]) → worker ([`outbox`]) → adapter
//! (crates under `channels/`, listed in [`registry`]) → the wire, or a visitor's transcript
//! ([`chat`]) → the part's outcome back into the send record. What people say comes in at a door and
//! is placed in its thread ([`conversation`]). Modules depend downward only; `tests/architecture.rs` holds the table.
pub mod app;
pub mod auth;
pub mod boot;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod compose;
pub mod config;
pub mod conversation;
pub mod http;
pub mod ids;
pub mod inbox;
pub mod ingress;
pub mod metrics;
pub mod notification;
pub mod outbox;
pub mod problem;
pub mod reference;
pub mod registry;
pub mod sends;
pub mod store;
pub mod trace;
