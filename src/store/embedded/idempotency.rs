//! Kept answers: a row under the key's hash, and its deadline in an index for the sweep.
use super::super::steps::{At, Idempotency, Kept, StoreResult};
use super::Embedded;
use super::rows::{Fields, joined, time};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;

/// A kept answer as it is stored.
pub(super) struct KeptRow<'a> {
    /// Until when.
    pub(super) deadline: Millis,
    /// SHA-256 of the request.
    pub(super) fingerprint: [u8; 32],
    /// Opaque.
    pub(super) state: &'a [u8],
}

impl<'a> KeptRow<'a> {
    /// Reads it.
    pub(super) fn decode(row: &'a [u8]) -> StoreResult<Self> {
        let mut fields = Fields(row);
        Ok(Self { deadline: fields.time()?, fingerprint: fields.take()?, state: fields.rest() })
    }
}

/// Plans a kept answer until then.
pub(super) fn put_kept(step: &mut Step<'_, '_>, hash: &str, kept: &Kept, deadline: Millis) {
    let hash = hash.as_bytes();
    step.put(
        TableId::Idempotency,
        hash,
        joined(&[&time(deadline), &kept.fingerprint, &kept.state]),
    );
    step.put(TableId::IdempotencyExpiry, joined(&[&time(deadline), hash]), []);
}

/// Plans that a kept answer goes.
pub(super) fn drop_kept(step: &mut Step<'_, '_>, hash: &[u8], deadline: Millis) {
    step.remove(TableId::Idempotency, hash);
    step.remove(TableId::IdempotencyExpiry, joined(&[&time(deadline), hash]));
}

#[async_trait]
impl Idempotency for Embedded {
    async fn kept(&self, hash: &str, at: At) -> StoreResult<Option<Kept>> {
        let look = self.look()?;
        let Some(row) = look.get(TableId::Idempotency, hash.as_bytes())? else { return Ok(None) };
        let row = KeptRow::decode(row.value())?;
        if row.deadline <= self.now(at) {
            return Ok(None);
        }
        let state = Bytes::copy_from_slice(row.state);
        Ok(Some(Kept { fingerprint: row.fingerprint, state }))
    }

    async fn keep(&self, hash: &str, kept: Kept, at: At) -> StoreResult<()> {
        let hash = hash.to_owned();
        self.write(move |step| {
            let now = step.now(at);
            let deadline = match step.get(TableId::Idempotency, hash.as_bytes())? {
                None => return Ok(()),
                Some(row) => {
                    let row = KeptRow::decode(row.value())?;
                    if row.deadline <= now || row.fingerprint != kept.fingerprint {
                        return Ok(());
                    }
                    row.deadline
                }
            };
            put_kept(step, &hash, &kept, deadline);
            Ok(())
        })
        .await
    }
}
