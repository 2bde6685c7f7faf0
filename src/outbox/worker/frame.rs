//! A part that is a frame: its append, its acceptance and, with the last part, the lane's head are
//! one commit. Nothing is on the wire, so there is no moment at which the outcome is unknown.
use super::{AttemptSummary, Flow, RECORD_AGAIN, Work, close_attempt};
use crate::chat::frame;
use crate::outbox::Point;
use crate::outbox::janitor::final_commit;
use crate::sends::ladder::{self, Step};
use crate::sends::record::{SendRecord, provider_hash};
use crate::store::{Append, At, FrameId, FrameNoted, ProviderRef};
use contract::{ChatPage, FaultKind, Frame, GoneScope, Rank, SendFault, VisitorId};

impl Work<'_> {
    /// Appends a part's frame to the visitor's transcript.
    pub(super) async fn append(&mut self, index: usize, frame: &Frame) -> Flow {
        let visitor = VisitorId::parse(&self.record.recipient);
        let (Some(page), Some(visitor)) = (self.channel.adapter.page(), visitor) else {
            let detail = "a frame was rendered for a channel or recipient that takes none";
            let fault = SendFault::new(FaultKind::Internal, "internal", detail);
            return self.fault(index, fault, None, Vec::new()).await;
        };
        let page = page.clone();
        let (mut newest, mut pause) = (FrameId::START, RECORD_AGAIN.0);
        loop {
            // Written by whoever had the lane before: appended once, never again.
            if self.record.parts.get(index).is_none_or(|part| part.status.rank().is_some()) {
                return Flow::Again;
            }
            let id = FrameId::after(newest, self.outbox.now());
            let Some(record) = self.with_frame(index, id) else { return Flow::Stop };
            match self.noted(index, &record, self.placed(&page, &visitor, id, frame)).await {
                Ok(FrameNoted::Done) => return self.appended(record),
                Ok(FrameNoted::Behind(other)) => newest = other,
                Ok(FrameNoted::NoVisitor) => {
                    let kind = FaultKind::RecipientGone { hard: false, scope: GoneScope::All };
                    let detail = "the visitor's session has ended; a new visit has a new address";
                    let fault = SendFault::new(kind, "visitor_expired", detail);
                    self.count_attempt(index);
                    return self.fault(index, fault, None, Vec::new()).await;
                }
                Ok(FrameNoted::Conflict(value)) => {
                    if matches!(self.reload(&value), Flow::Stop) || self.record.is_final() {
                        return Flow::Again;
                    }
                }
                Ok(FrameNoted::Gone) => return Flow::Stop,
                Err(error) => {
                    tracing::warn!(send.id = %self.record.id, error = %error, "a frame is not appended yet");
                    if self.held.is_lost() {
                        return Flow::Stop;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RECORD_AGAIN.1);
                }
            }
        }
    }

    fn placed(&self, page: &ChatPage, visitor: &VisitorId, id: FrameId, frame: &Frame) -> Append {
        Append {
            channel: self.channel.name.clone(),
            visitor: visitor.clone(),
            id,
            frame: frame::outgoing(frame),
            keep: page.transcript_max,
            ttl: page.transcript_ttl,
        }
    }

    /// The record as it is once the frame stands at this place; none when the ladder refuses.
    fn with_frame(&self, index: usize, id: FrameId) -> Option<SendRecord> {
        let mut record = self.record.clone();
        let now = self.outbox.now();
        if ladder::begin(&mut record, index, now) == Step::Refused {
            self.outbox.metrics.count("tidings_ladder_refused_total", &[("event", "begin")]);
            return None;
        }
        record.attempts_made = record.attempts_made.saturating_add(1);
        record.attempts.push(AttemptSummary {
            number: record.attempts_made,
            part: u16::try_from(index).unwrap_or(u16::MAX),
            started: now,
            elapsed_ms: None,
            http_status: None,
            fault: None,
        });
        let number = record.attempts_made;
        close_attempt(&mut record, number, now, None, None);
        ladder::accepted(&mut record, index, &id.to_string(), None, Rank::Sent, now);
        Some(record)
    }

    async fn noted(
        &self,
        index: usize,
        record: &SendRecord,
        append: Append,
    ) -> crate::store::StoreResult<FrameNoted> {
        self.outbox.faults.at(Point::Begun);
        let hash = provider_hash(&append.id.to_string());
        let provider = ProviderRef { hash, part: u16::try_from(index).unwrap_or(u16::MAX) };
        let mut written = record.clone();
        let commit = final_commit(self.outbox, &mut written, self.rev);
        let last = record.is_final().then_some(&self.held.hold);
        self.outbox.store.note_frame(commit, provider, append, last, At::Store).await
    }

    fn appended(&mut self, record: SendRecord) -> Flow {
        self.outbox.faults.at(Point::Noted);
        let labels = [("channel", self.channel.name.as_str()), ("fault", "none")];
        self.outbox.metrics.count("tidings_attempts_total", &labels);
        self.rev += 1;
        self.accepted_in(&record, self.outbox.now());
        if record.is_final() {
            self.outbox.note_end(&record);
            return Flow::Stop;
        }
        self.record = record;
        Flow::Again
    }
}
