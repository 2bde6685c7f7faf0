//! `Prefer: wait=N`: answering once the medium has accepted or refused, or after N seconds.
use crate::clock::Millis;
use crate::outbox::Outbox;
use crate::outbox::waiting::Waiter;
use crate::problem::Refused;
use crate::sends::{SendRecord, view};
use actix_web::HttpRequest;
use contract::PartStatus;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longest wait, seconds.
const WAIT_MAX: u64 = 60;
/// A look without a signal.
const LOOK: Duration = Duration::from_secs(1);

/// The seconds a caller asked to wait: 1–60, more is 60; absent, 0 and unreadable are none.
#[must_use]
pub fn preference(request: &HttpRequest) -> Option<u64> {
    request
        .headers()
        .get_all("prefer")
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split([',', ';']))
        .find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"'))
        })
        .filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .map(|text| text.parse::<u64>().map_or(WAIT_MAX, |n| n.min(WAIT_MAX)))
        .filter(|seconds| *seconds > 0)
}

/// What is known when the wait ends.
pub struct Waited {
    send: SendRecord,
    verdict: Verdict,
}

enum Verdict {
    /// Every part is accepted.
    Accepted,
    /// It ended otherwise.
    Ended,
    /// The next try lies beyond the wait: whole seconds until then.
    Later(u64),
    /// Not decided yet.
    Open,
}

impl Waited {
    /// The state without waiting.
    #[must_use]
    pub fn now(send: SendRecord) -> Self {
        let verdict = match send.status() {
            status if status.rank().is_some() => Verdict::Accepted,
            _ => Verdict::Open,
        };
        Self { send, verdict }
    }

    /// Status, body and `Retry-After` of the answer.
    #[must_use]
    pub fn answer(&self) -> (u16, String, Option<u64>) {
        let send = &self.send;
        let ids = json!({
            "id": send.notification,
            "created_at": send.created_at.rfc3339(),
            "audience": send.audience,
            "trace_id": send.trace_id,
            "send": view::short(send),
        });
        let (code, retry_after) = match &self.verdict {
            Verdict::Accepted => return (200, ids.to_string(), None),
            Verdict::Open => return (202, ids.to_string(), None),
            Verdict::Ended if send.status() == PartStatus::OutcomeUnknown => {
                ("outcome_unknown", None)
            }
            Verdict::Ended => ("delivery_refused", None),
            Verdict::Later(seconds) => ("delivery_unavailable", Some(*seconds)),
        };
        let detail = match code {
            "outcome_unknown" => {
                "The request was written and no answer settled it; the person may have it or not."
            }
            "delivery_refused" => "The send ended without being accepted; `send.fault` says why.",
            _ => "The medium did not take the message yet; the gateway goes on trying.",
        };
        let mut refused = Refused::new(code, detail)
            .with("notification", json!(send.notification))
            .with("send", view::short(send));
        if let Some(seconds) = retry_after {
            refused = refused.with("retry_after", json!(seconds));
        }
        (refused.status(), refused.document().to_string(), retry_after)
    }
}

/// Waits for a send's outcome. A client that goes away changes nothing.
///
/// # Errors
/// 503 when the store cannot be read at the end; the send goes on.
pub async fn wait(
    outbox: &Outbox,
    send: &SendRecord,
    waiter: &Waiter<'_>,
    seconds: u64,
) -> Result<Waited, Refused> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let ends_at = outbox.now().plus(Duration::from_secs(seconds));
    let mut send = send.clone();
    loop {
        if let Some(verdict) = verdict(&send, outbox.now(), ends_at) {
            return Ok(Waited { send, verdict });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || outbox.is_draining() {
            return Ok(Waited { send, verdict: Verdict::Open });
        }
        let _ = tokio::time::timeout(left.min(LOOK), waiter.notify.notified()).await;
        if let Some((_, found)) = outbox.record(&send.id).await? {
            send = found;
        }
    }
}

fn verdict(send: &SendRecord, now: Millis, ends_at: Millis) -> Option<Verdict> {
    match send.status() {
        PartStatus::Queued => {
            let next = send.next_at.filter(|next| *next > ends_at)?;
            let seconds = now.until(next).as_millis().div_ceil(1000);
            Some(Verdict::Later(u64::try_from(seconds).unwrap_or(u64::MAX)))
        }
        PartStatus::Sending => None,
        status if status.rank().is_some() => Some(Verdict::Accepted),
        _ => Some(Verdict::Ended),
    }
}
