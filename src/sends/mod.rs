//! Sends: the delivery of one notification on one channel, as a record of parts.
//!
//! [`record`] is the stored form, [`ladder`] the one state machine (pure: record and event in,
//! record and what follows out), [`operator`] what a person may do to a send, [`optout`] what is
//! kept of who wants nothing, [`receipts`] what a receipt makes of a record, [`settle`] the ways
//! receipts come home, [`log`] the moves and attempts kept beside it, [`view`] what callers see,
//! [`explain`] that in words, [`endings`] where sends ended badly, [`retention`] how long what they
//! leave is kept, [`tally`] counts of each hour, [`spans`] what a collector gets.
pub mod endings;
pub mod explain;
pub mod ladder;
pub mod log;
pub mod operator;
pub mod optout;
pub mod receipts;
pub mod record;
pub mod retention;
pub mod settle;
pub mod spans;
pub mod tally;
pub mod view;

pub use record::{PartRecord, SendRecord};
