//! Imitations of the vendors' APIs on loopback, in one process, without an account anywhere.
//!
//! A [`room::Room`] imitates one vendor: it reads a request from its bytes, refuses what the vendor
//! refuses in the vendor's words, and keeps the state of the conversations. A new room is a folder
//! and a line in [`room`]. A room's limits are its own constants, each naming the vendor's document
//! it came from: a test holds them against the adapter's, so nothing here imports an adapter.
//!
//! Life of one request to a room (`exchange`): the head names the call; a script item may cut the
//! connection there; the body is read and recorded ([`received`]); the room judges it; then, in one
//! step under the log's lock, the message gets its id and the request its number and is appended to
//! disk ([`log`]); only then the answer leaves, late, cut or replaced when a script ([`script`])
//! says so.
//!
//! Beside the rooms, on the same listener: the page that draws what was received, its live feed
//! (`events`) and the control routes (`control`), open to loopback hosts and to this origin only.
//!
//! - [`server`]: the listener, [`Sandbox::start`] and [`Running`];
//! - [`mod@stand_in`]: small valid files for addresses that nobody opens;
//! - [`telegram`]: the Bot API's room.
#![warn(missing_docs)]
mod connection;
mod control;
mod entry;
mod events;
mod exchange;
mod files;
mod gateway;
mod local;
pub mod log;
mod mask;
mod multipart;
mod page;
mod problem;
pub mod received;
pub mod room;
pub mod script;
pub mod server;
pub mod stand_in;
pub mod telegram;

pub use entry::{Entry, Seen, ShownPart};
pub use files::Files;
pub use gateway::{Fetch, Gateway};
pub use mask::Masks;
pub use server::{Running, Sandbox, Settings, StartProblem};
pub use stand_in::stand_in;
