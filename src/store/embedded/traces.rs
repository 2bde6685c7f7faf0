//! Traces: a row of lines under the trace's id, its deadline in front.
use super::super::steps::{At, StoreResult};
use super::super::traces::{TRACE_MAX, TraceRef, Traces};
use super::Embedded;
use super::lapse;
use super::rows::{Fields, corrupt};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;

/// The ids of a trace that is kept still.
fn read(look: &impl Look, trace: &str, now: Millis) -> StoreResult<Vec<String>> {
    let Some(row) = look.get(TableId::Trace, trace.as_bytes())? else { return Ok(Vec::new()) };
    let mut fields = Fields(row.value());
    if fields.time()? <= now {
        return Ok(Vec::new());
    }
    let text = std::str::from_utf8(fields.rest()).map_err(|_| corrupt("a trace is no text"))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Plans one more id of a trace.
pub(super) fn note(
    step: &mut Step<'_, '_>,
    trace: &TraceRef,
    ids: &[&str],
    now: Millis,
) -> StoreResult<()> {
    let mut known = read(step, &trace.trace, now)?;
    for id in ids {
        if known.len() < TRACE_MAX && !known.iter().any(|known| known == id) {
            known.push((*id).to_owned());
        }
    }
    let until = now.plus(trace.keep);
    lapse::put(step, TableId::Trace, trace.trace.as_bytes(), until, known.join("\n").as_bytes())
}

#[async_trait]
impl Traces for Embedded {
    async fn note_trace(&self, trace: &TraceRef, id: &str, at: At) -> StoreResult<()> {
        let (trace, id) = (trace.clone(), id.to_owned());
        self.write(move |step| {
            let now = step.now(at);
            note(step, &trace, &[&id], now)
        })
        .await
    }

    async fn trace(&self, trace: &str, at: At) -> StoreResult<Vec<String>> {
        read(&self.look()?, trace, self.now(at))
    }
}
