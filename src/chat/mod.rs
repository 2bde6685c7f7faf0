//! The web chat's own side: what a stored frame is, and who waits for one.
//!
//! Life of a frame: a worker or a visitor's POST spells it ([`frame`]), the store appends it to the
//! transcript and says so, [`watch`] wakes the streams of that visitor on every node, and each reads
//! what is behind its own place. A transcript holds what a stream sends but for `id` and `at`, which
//! come from the frame's place.
pub mod frame;
pub mod watch;
