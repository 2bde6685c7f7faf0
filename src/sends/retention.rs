//! How long what belongs to a send is kept once it is final. Pure.
use super::SendRecord;
use crate::config::delivery::Retention;
use crate::store::{Active, Keep};

impl Retention {
    /// What a write of this record does to its lifetime: a send that is not final has none.
    #[must_use]
    pub fn of(&self, record: &SendRecord) -> Active {
        if !record.is_final() {
            return Active::Until(record.expires_at);
        }
        let exchanges = if record.is_dead_letter() { self.keep_failed } else { self.keep_ok };
        Active::Final(Keep {
            until: record.updated_at.plus(self.record),
            exchanges: record.updated_at.plus(exchanges.min(self.record)),
        })
    }
}
