//! Sends: the delivery of one notification on one channel, as a record of parts.
//!
//! [`record`] is the stored form, [`ladder`] the one state machine (pure: record and event in,
//! record and what follows out), [`log`] the moves and attempts kept beside it, [`view`] what
//! callers see.
pub mod ladder;
pub mod log;
pub mod record;
pub mod view;

pub use record::{PartRecord, SendRecord};
