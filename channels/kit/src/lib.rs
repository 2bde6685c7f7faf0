//! What adapters share, so that each is only its medium.
//!
//! - [`text`]: measuring, splitting and spelling text for the wire, pure;
//! - [`fault`]: the one mapping of a plain HTTP outcome to a fault, pure;
//! - [`view`]: the one JSON picture of a request, for preview and golden files, pure;
//! - [`redact`]: what an exchange looks like once nothing secret is left in it, pure;
//! - [`wire`]: the only door to the network, with its guard.
pub mod fault;
pub mod redact;
pub mod text;
pub mod view;
pub mod wire;
