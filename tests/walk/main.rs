//! End-to-end walks over real HTTP: a gateway in this process, the imitated vendors beside it.
mod chat;
mod delivery;
mod fuzz;
mod idempotency;
mod inbox;
mod limits;
mod media;
mod notices;
mod operations;
mod operator;
mod opting;
mod owned;
mod pacing;
mod receipts;
mod refusals;
mod traces;
mod world;
