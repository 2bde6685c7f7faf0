//! Traces: the ordered events of one run or send, keyed by W3C trace id.
//!
//! The store keeps references only; [`timeline`] derives the events from the logs of what they refer
//! to. One source, so nothing can drift apart. [`spans`] exports the same to a
//! collector, in the wire form of [`otlp`].
pub mod otlp;
pub mod spans;
pub mod timeline;
