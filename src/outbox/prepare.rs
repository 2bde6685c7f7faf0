//! Preparations: what a part needs before its request can be made. Own bytes come from the store,
//! a caller's file from the web under the network rules, everything else from the adapter.
use super::Outbox;
use crate::registry::Channel;
use crate::store::At;
use bytes::BytesMut;
use contract::{FaultKind, MediaId, Need, Resource, SendFault};
use kit::redact::{Exchange, fetch_exchange};
use std::time::Instant;

/// Fulfils the needs in order; the exchanges made on the way are handed to `log`.
///
/// # Errors
/// The fault of the first need that cannot be had.
pub async fn prepare(
    outbox: &Outbox,
    channel: &Channel,
    needs: &[Need],
    log: &mut Vec<Exchange>,
) -> Result<Vec<Resource>, SendFault> {
    let mut resources = Vec::with_capacity(needs.len());
    for need in needs {
        let resource = match need {
            Need::OwnMedia { id, max_bytes } => own_media(outbox, id, *max_bytes).await?,
            Need::FetchMedia { url, max_bytes } => {
                let started = Instant::now();
                let fetched = channel.wire.fetch(url, *max_bytes).await;
                let secrets = channel.adapter.secrets();
                log.push(fetch_exchange(url, &fetched, secrets, started.elapsed()));
                let fetched = fetched?;
                Resource::Bytes { bytes: fetched.bytes, content_type: fetched.content_type }
            }
            Need::VendorUpload { .. } | Need::EnsureFlow { .. } => {
                channel.adapter.prepare(need, &*channel.wire).await?
            }
        };
        resources.push(resource);
    }
    Ok(resources)
}

async fn own_media(outbox: &Outbox, id: &MediaId, max_bytes: u64) -> Result<Resource, SendFault> {
    let gone =
        || SendFault::new(FaultKind::Permanent, "media_expired", "the stored media are gone");
    let row = outbox.store.media_row(id, At::Store).await.map_err(|e| store_fault(&e))?;
    let row = row.ok_or_else(gone)?;
    if row.size > max_bytes {
        let detail = "the stored media are larger than the medium takes";
        return Err(SendFault::new(FaultKind::Permanent, "media_refused", detail));
    }
    let mut bytes = BytesMut::with_capacity(usize::try_from(row.size).unwrap_or_default());
    while (bytes.len() as u64) < row.size {
        let offset = bytes.len() as u64;
        let piece = outbox.store.media_read(id, offset, At::Store).await;
        let piece = piece.map_err(|e| store_fault(&e))?.ok_or_else(gone)?;
        if piece.is_empty() {
            return Err(gone());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Resource::Bytes { bytes: bytes.freeze(), content_type: row.content_type })
}

fn store_fault(error: &crate::store::StoreError) -> SendFault {
    tracing::warn!(error = %error, "stored media could not be read");
    SendFault::new(FaultKind::Transient, "store_unavailable", "the store could not be read")
}
