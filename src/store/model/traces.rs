//! Traces.
use super::super::steps::{At, StoreResult};
use super::super::traces::{TRACE_MAX, TraceRef, Traces};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;

impl State {
    pub(super) fn note_trace(&mut self, trace: &TraceRef, id: &str, now: Millis) {
        let (until, ids) = self.traces.entry(trace.trace.clone()).or_default();
        if *until <= now {
            ids.clear();
        }
        *until = now.plus(trace.keep);
        if ids.len() < TRACE_MAX && !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
}

#[async_trait]
impl Traces for Model {
    async fn note_trace(&self, trace: &TraceRef, id: &str, at: At) -> StoreResult<()> {
        let now = self.now(at);
        self.state().note_trace(trace, id, now);
        Ok(())
    }

    async fn trace(&self, trace: &str, at: At) -> StoreResult<Vec<String>> {
        let now = self.now(at);
        let state = self.state();
        let found = state.traces.get(trace).filter(|(until, _)| *until > now);
        Ok(found.map(|(_, ids)| ids.clone()).unwrap_or_default())
    }
}
