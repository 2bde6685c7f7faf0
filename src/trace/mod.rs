//! Traces: the ordered events of one run or send, keyed by W3C trace id.
//!
//! The store keeps references only; [`timeline`] derives the events from the logs of what they refer
//! to. One source, so nothing can drift apart.
pub mod timeline;
