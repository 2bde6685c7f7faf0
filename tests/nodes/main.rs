//! Several `tidings serve` processes on one Redis, and one imitated medium. [D-45] [D-63]
//!
//! `fleet` starts the processes and speaks to them; `burst` kills one in the middle, `chat` with a
//! visitor looking on; `outage`
//! stops and flushes the server under load.
mod burst;
mod chat;
mod fleet;
mod outage;
mod pace;
#[path = "../store/server.rs"]
#[allow(dead_code, reason = "shared with suites that use more of it")]
mod server;
