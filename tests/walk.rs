//! End-to-end walks over real HTTP: a gateway in this process, the imitated vendors beside it.
#[path = "walk/delivery.rs"]
mod delivery;
#[path = "walk/fuzz.rs"]
mod fuzz;
#[path = "walk/idempotency.rs"]
mod idempotency;
#[path = "walk/inbox.rs"]
mod inbox;
#[path = "walk/media.rs"]
mod media;
#[path = "walk/operations.rs"]
mod operations;
#[path = "walk/owned.rs"]
mod owned;
#[path = "walk/refusals.rs"]
mod refusals;
#[path = "walk/world.rs"]
mod world;
