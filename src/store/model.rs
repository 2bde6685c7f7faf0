//! The in-memory model: the reference every store is compared with.
