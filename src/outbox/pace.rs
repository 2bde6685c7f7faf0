//! Waiting for a pacing lane. A wait up to a second is slept with the lane held, a longer one gives
//! the lane back; neither is an attempt.
//!
//! Requests of one process that wait for their account stand in one line: only its first asks the
//! store again, so a full account costs no more questions than requests. While somebody stands
//! there the dispatcher claims nothing more for the channel.
use super::Outbox;
use crate::registry::{Channel, InLine};
use crate::store::pace::SLEPT;
use crate::store::{At, Hold, Wait};
use contract::ThrottleScope;

/// One request's waits.
#[derive(Default)]
pub struct Queueing<'a> {
    line: Option<InLine<'a>>,
}

impl<'a> Queueing<'a> {
    /// Waits; false when the lane was given back instead.
    pub async fn wait(
        &mut self,
        outbox: &Outbox,
        channel: &'a Channel,
        hold: &Hold,
        wait: Wait,
    ) -> bool {
        let now = outbox.now();
        let pause = now.until(wait.until);
        let scope = match wait.scope {
            ThrottleScope::Account => "account",
            ThrottleScope::Recipient => "recipient",
        };
        let labels = [("channel", channel.name.as_str()), ("scope", scope)];
        outbox.metrics.seconds("tidings_paced_wait_seconds", &labels, pause.as_secs_f64());
        let until = if outbox.is_draining() { now } else { wait.until };
        if pause > SLEPT || outbox.is_draining() {
            self.line = None;
            if let Err(error) = outbox.store.defer_lane(hold, until, At::Store).await {
                tracing::warn!(error = %error, "a lane could not be given back; its lease will lapse");
            }
            return false;
        }
        if wait.scope == ThrottleScope::Account && self.line.is_none() {
            self.line = Some(channel.stand_in_line().await);
            return true;
        }
        tokio::time::sleep(pause).await;
        true
    }
}
