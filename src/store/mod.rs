//! The store: traits cut by atomic business step, never by key and value verbs.
//!
//! Each method of a trait is one step: all of it is in the store when it returns `Ok`, or nothing
//! is. What the store keeps is opaque to it: records, bodies and exchanges are bytes; it compares
//! revisions and keeps indexes, lanes and deadlines, and knows no status name.
//!
//! | trait | steps |
//! |---|---|
//! | [`Opening`] | record a notification with its inbox entry, send record and job |
//! | [`Queue`] | lanes: claim, extend, acknowledge, defer, bury |
//! | [`Records`] | send records: compare-and-swap writes joined with the lane they belong to |
//! | [`OptOuts`] | who wants nothing from an account |
//! | [`Gates`] | pacing lanes, parked accounts |
//! | [`Inbox`] | the shared ring, audience slices, bodies |
//! | [`Idempotency`] | kept answers |
//! | [`MediaShelf`] | media bytes and their lifetimes |
//! | [`Receipts`] | what receipts make of records, and those that came early |
//! | [`Traces`] | which notifications, sends and messages belong together |
//! | [`Oversight`] | which notices may be written, which nodes live, how the server is doing |
//! | [`Chat`] | visitors of the web chat and their transcripts |
//! | [`Conversations`] | inbound messages and threads |
//! | [`Upkeep`] | sweeps, wake signals, health |
//!
//! Three stores keep this contract: [`embedded`] (one process, a file), [`redis`] (any number of
//! processes), [`model`] (in memory, the reference of the tests).
//!
//! Every step that depends on time takes [`At`]: the product passes [`At::Store`] (the store's own
//! clock decides), the contract suite passes times of its own. Every step may be repeated after a
//! lost answer.
mod chat;
pub mod embedded;
pub mod model;
mod optouts;
mod oversight;
pub mod pace;
mod receipts;
mod records;
pub mod redis;
mod steps;
mod traces;

pub use chat::*;
pub use optouts::*;
pub use oversight::*;
pub use pace::{Account, Breath, Gates, Pacing, Parked, Rate, Wait};
pub use receipts::*;
pub use records::*;
pub use steps::*;
pub use traces::*;
