//! Cancelling a send and trying one again. Races with a worker are decided by the record's revision
//! and the lane: exactly one side wins.
use super::Outbox;
use super::janitor::final_commit;
use crate::sends::record::Actor;
use crate::sends::{SendRecord, operator};
use crate::store::{Active, At, Bounds, Commit, Committed, Dead, OptScope, Requeued, StoreResult};
use contract::SendId;

/// Tries against others that write the same record.
const TRIES: usize = 8;

/// Why nothing was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// There is no such send, or none the caller may see.
    Unknown,
    /// Its state does not allow it: one sentence.
    NotNow(&'static str),
    /// The recipient opted out.
    OptedOut,
    /// Too much waits already.
    BacklogFull {
        /// Items that wait.
        depth: u64,
    },
}

const BUSY: Undone = Undone::NotNow("The send is being worked right now; look again in a moment.");

impl Outbox {
    /// Cancels a send that waits; gives it as it is then.
    ///
    /// # Errors
    /// The store's.
    pub async fn cancel(
        &self,
        id: &SendId,
        sees: impl Fn(&SendRecord) -> bool,
    ) -> StoreResult<Result<SendRecord, Undone>> {
        for _ in 0..TRIES {
            let Some((rev, mut record)) = self.record(id).await?.filter(|(_, r)| sees(r)) else {
                return Ok(Err(Undone::Unknown));
            };
            if let Err(operator::NotNow(why)) = operator::cancel(&mut record, self.now()) {
                return Ok(Err(Undone::NotNow(why)));
            }
            let shown = record.clone();
            let (commit, lane) = (final_commit(self, &mut record, rev), record.lane());
            match self.store.cancel(commit, &lane, At::Store).await? {
                Committed::Done => {
                    self.note_end(&shown);
                    return Ok(Ok(shown));
                }
                Committed::Conflict(_) => {}
                Committed::Gone => return Ok(Err(Undone::Unknown)),
                Committed::Lost | Committed::Wait(_) => return Ok(Err(BUSY)),
            }
        }
        Ok(Err(BUSY))
    }

    /// Queues a send that ended badly again; gives it as it is then.
    ///
    /// # Errors
    /// The store's.
    pub async fn retry(
        &self,
        id: &SendId,
        sees: impl Fn(&SendRecord) -> bool,
    ) -> StoreResult<Result<SendRecord, Undone>> {
        for _ in 0..TRIES {
            let Some((rev, mut record)) = self.record(id).await?.filter(|(_, r)| sees(r)) else {
                return Ok(Err(Undone::Unknown));
            };
            let retried = operator::retry(&mut record, Actor::Operator, self.now());
            if let Err(operator::NotNow(why)) = retried {
                return Ok(Err(Undone::NotNow(why)));
            }
            let ids = std::slice::from_ref(&record.notification);
            if self.store.bodies(ids).await?.pop().flatten().is_none() {
                let why = "The content is no longer kept; send it anew.";
                return Ok(Err(Undone::NotNow(why)));
            }
            let lane = record.lane();
            let opted = self.store.opt_get(&record.channel, &lane).await?;
            if opted.is_some_and(|row| row.scope == OptScope::All) {
                return Ok(Err(Undone::OptedOut));
            }
            let commit = Commit {
                active: Active::Until(record.expires_at),
                dead: Dead::Remove,
                ..final_commit(self, &mut record, rev)
            };
            let bounds =
                Bounds { backlog_max: self.settings.backlog_max, lane_max: self.settings.lane_max };
            match self.store.requeue(commit, &lane, bounds, At::Store).await? {
                Requeued::Written(Committed::Done) => return Ok(Ok(record)),
                Requeued::Written(Committed::Gone) => return Ok(Err(Undone::Unknown)),
                Requeued::Written(_) => {}
                Requeued::BacklogFull { depth } => return Ok(Err(Undone::BacklogFull { depth })),
            }
        }
        Ok(Err(BUSY))
    }
}
