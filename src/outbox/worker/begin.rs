//! What stands around a request: pacing and the record's `sending` before it, and after a fault what
//! it means for others.
use super::{Flow, Work, log_store};
use crate::clock::Millis;
use crate::outbox::janitor::final_commit;
use crate::outbox::pace::Queueing;
use crate::sends::ladder::{self, Step};
use crate::sends::record::AttemptSummary;
use crate::store::{At, Committed};
use contract::{FaultKind, MisconfiguredScope, SendFault, ThrottleScope};

impl Work<'_> {
    /// The part is `sending` in the store before a byte is written, once pacing lets it go.
    pub(super) async fn begin(&mut self, index: usize, cost: u32) -> Flow {
        let mut queueing = Queueing::default();
        loop {
            let mut record = self.record.clone();
            let now = self.outbox.now();
            if now > record.expires_at || self.held.is_lost() {
                return Flow::Again;
            }
            if ladder::begin(&mut record, index, now) == Step::Refused {
                self.outbox.metrics.count("tidings_ladder_refused_total", &[("event", "begin")]);
                return Flow::Stop;
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
            let commit = final_commit(self.outbox, &mut record, self.rev);
            let hold = &self.held.hold;
            let pacing = Some(self.channel.pacing(&self.address(), cost));
            match self.outbox.store.begin(commit, hold, pacing, At::Store).await {
                Ok(Committed::Done) => {
                    self.record = record;
                    self.rev += 1;
                    return Flow::Again;
                }
                Ok(Committed::Wait(wait)) => {
                    if !queueing.wait(self.outbox, self.channel, hold, wait).await {
                        return Flow::Stop;
                    }
                }
                Ok(Committed::Conflict(value)) => return self.reload(&value),
                Ok(Committed::Gone | Committed::Lost) => return Flow::Stop,
                Err(error) => {
                    tracing::warn!(send.id = %self.record.id, error = %error, "a send could not begin");
                    return Flow::Stop;
                }
            }
        }
    }

    /// What a fault means for others, before it is decided what it means for this send: a vendor's
    /// wait holds back the account or the recipient on every node, an account that cannot send is
    /// parked. Gives until when it is.
    pub(super) async fn hold_back(&self, fault: &SendFault, now: Millis) -> Option<Millis> {
        let (outbox, channel) = (self.outbox, self.channel);
        match fault.kind {
            FaultKind::Misconfigured { scope: MisconfiguredScope::Account } => {
                outbox.park(channel, fault).await
            }
            FaultKind::Throttled { scope } => {
                let pacing = channel.pacing(&self.address(), 1);
                let (lane, rate, word) = match scope {
                    ThrottleScope::Account => (None, pacing.account, "account"),
                    ThrottleScope::Recipient => {
                        (Some(&self.held.hold.lane), pacing.recipient, "recipient")
                    }
                };
                let labels = [("channel", channel.name.as_str()), ("scope", word)];
                outbox.metrics.count("tidings_throttled_total", &labels);
                let until = now.plus(ladder::throttle_floor(&self.record, fault));
                log_store(outbox.store.penalise(&channel.name, lane, until, rate, At::Store).await);
                None
            }
            _ => None,
        }
    }
}
