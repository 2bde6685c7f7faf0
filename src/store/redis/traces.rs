//! Traces: one value of lines, the deadline first.
use super::super::steps::{At, StoreResult};
use super::super::traces::{TRACE_MAX, TraceRef, Traces};
use super::Redis;
use super::link::Call;
use super::reply::{list, text};
use super::scripts::Step;
use async_trait::async_trait;

#[async_trait]
impl Traces for Redis {
    async fn note_trace(&self, trace: &TraceRef, id: &str, at: At) -> StoreResult<()> {
        let call = Call::new(Step::NoteTrace, [self.link.keys.trace(&trace.trace)])
            .arg(id)
            .number(trace.keep.as_millis())
            .number(TRACE_MAX);
        self.link.run(call, at).await.map(|_| ())
    }

    async fn trace(&self, trace: &str, at: At) -> StoreResult<Vec<String>> {
        let call = Call::new(Step::Trace, [self.link.keys.trace(trace)]);
        list(self.link.run(call, at).await?)?.into_iter().map(text).collect()
    }
}
