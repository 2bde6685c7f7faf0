//! Conversations: what people say, placed in threads.
//!
//! A door reads what a person did into an [`inbound::InboundMessage`]: one normal form whatever the
//! medium. [`record`] places it in the thread of its address and commits message, thread, claim and
//! (for the web chat) the visitor's own frame in one step. [`taps`] turns the id of a tapped option
//! into what it says, from the send it belongs to. [`view`] is the form the API shows.
pub mod inbound;
pub mod record;
pub mod taps;
pub mod view;
