//! Traces: which notifications, sends and inbound messages belong together. References only; what
//! happened is read from what they refer to.
use super::steps::{At, StoreResult};
use async_trait::async_trait;
use std::time::Duration;

/// References one trace holds at most; later ones are not noted.
pub const TRACE_MAX: usize = 1000;

/// What a notification adds to its trace when it is recorded: its own id and its send's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRef {
    /// W3C trace id: 32 hex digits.
    pub trace: String,
    /// How long the trace is kept from now.
    pub keep: Duration,
}

/// Steps of traces.
#[async_trait]
pub trait Traces {
    /// Adds an id to a trace and keeps the trace for so long from now; a repeat adds nothing.
    async fn note_trace(&self, trace: &TraceRef, id: &str, at: At) -> StoreResult<()>;

    /// The ids of a trace in the order they were added; none of one whose time has passed.
    async fn trace(&self, trace: &str, at: At) -> StoreResult<Vec<String>>;
}
