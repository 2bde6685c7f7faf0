//! From a request's bytes to a notification that is ready to be recorded.
//!
//! The checks stand in one order, once: [`judge`] holds 10–18 as a list, the doors hold what comes
//! before (transport, key) and after (recording). Checks write nothing.
//!
//! | file | holds |
//! |---|---|
//! | [`json`] | strict parsing (8) |
//! | [`request`], `shapes`, `reader`, [`bounds`] | shape and bounds (10) |
//! | [`rules`] | composition (12) |
//! | [`gate`] | capabilities (15) |
//! | [`media`], [`data_uri`], [`sniff`] | the media plan (17) |
//! | [`preview`] | the same judgement for every channel, nothing recorded |
//! | [`schema`] | the request as a published JSON schema |
pub mod bounds;
pub mod data_uri;
pub mod gate;
pub mod json;
pub mod judge;
pub mod media;
pub mod preview;
mod reader;
pub mod request;
pub mod rules;
pub mod schema;
mod shapes;
pub mod sniff;
#[cfg(test)]
mod tests;

pub use judge::{Composer, Destination, Judged};
pub use request::{DecodeCtx, NotifyRequest};
