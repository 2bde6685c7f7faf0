//! Transcripts: a row with the newest id and how many frames there are, and a row for each frame.
//!
//! A transcript that lapsed is empty from then on: frames up to `floor` belong to its earlier life
//! and are never shown; they go with the frames that follow, a bounded number a push.
use super::super::chat::{Append, FrameId, FrameNoted};
use super::super::steps::{Signal, StoreResult};
use super::lapse;
use super::rows::{Fields, channel_prefix, joined, visitor_key};
use super::step::Step;
use super::tables::{Look, TableId};
use crate::clock::Millis;
use contract::{ChannelName, VisitorId};

/// Frames one push removes at most.
const TRIMMED: usize = 200;

/// A channel's visitor as a key.
pub(super) fn of(channel: &ChannelName, visitor: &VisitorId) -> Vec<u8> {
    joined(&[&channel_prefix(channel), &visitor_key(visitor)])
}

/// A frame's place as a key.
pub(super) fn place(id: FrameId) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&id.ms.to_be_bytes());
    key[8..].copy_from_slice(&id.n.to_be_bytes());
    key
}

/// The place a frame's key ends with.
pub(super) fn place_in(fields: &mut Fields<'_>) -> StoreResult<FrameId> {
    Ok(FrameId { ms: fields.number()?, n: fields.number()? })
}

/// A transcript's own row.
#[derive(Clone, Copy, Default)]
pub(super) struct TranscriptRow {
    /// Until when it is kept.
    pub(super) until: Millis,
    /// Newest frame.
    pub(super) newest: FrameId,
    /// Frames up to this one are of an earlier life.
    pub(super) floor: FrameId,
    /// Frames stored, those of an earlier life included.
    pub(super) count: u32,
}

impl TranscriptRow {
    /// Reads it.
    pub(super) fn read(look: &impl Look, key: &[u8]) -> StoreResult<Option<Self>> {
        let Some(row) = look.get(TableId::Transcript, key)? else { return Ok(None) };
        let mut fields = Fields(row.value());
        Ok(Some(Self {
            until: fields.time()?,
            newest: place_in(&mut fields)?,
            floor: place_in(&mut fields)?,
            count: u32::from_be_bytes(fields.take()?),
        }))
    }
}

/// Why a frame cannot be appended.
pub(super) fn hindrance(
    step: &Step<'_, '_>,
    append: &Append,
    now: Millis,
) -> StoreResult<Option<FrameNoted>> {
    let key = of(&append.channel, &append.visitor);
    let known = lapse::deadline(step, TableId::Visitor, &key)?.is_some_and(|until| until > now);
    if !known {
        return Ok(Some(FrameNoted::NoVisitor));
    }
    let newest = TranscriptRow::read(step, &key)?.unwrap_or_default().newest;
    Ok((append.id <= newest).then_some(FrameNoted::Behind(newest)))
}

/// Plans a frame that nothing hinders.
pub(super) fn append(step: &mut Step<'_, '_>, append: &Append, now: Millis) -> StoreResult<()> {
    let key = of(&append.channel, &append.visitor);
    let mut row = TranscriptRow::read(step, &key)?.unwrap_or_default();
    if row.until <= now {
        row.floor = row.newest;
    }
    row.count += 1;
    let over = (row.count.saturating_sub(append.keep) as usize).min(TRIMMED);
    let gone: Vec<Vec<u8>> = step
        .beginning(TableId::Frame, &key)?
        .take(over)
        .map(|row| Ok(row?.0.value().to_vec()))
        .collect::<StoreResult<_>>()?;
    row.count -= u32::try_from(gone.len()).unwrap_or(row.count);
    for frame in gone {
        step.remove(TableId::Frame, frame);
    }
    step.put(TableId::Frame, joined(&[&key, &place(append.id)]), &append.frame[..]);
    let rest = [&place(append.id)[..], &place(row.floor), &row.count.to_be_bytes()];
    lapse::put(step, TableId::Transcript, &key, now.plus(append.ttl), &joined(&rest))?;
    step.signal(Signal::Frame(append.channel.clone(), append.visitor.clone()));
    Ok(())
}

/// Plans that up to `limit` frames of a transcript go; gives how many.
pub(super) fn drop_frames(step: &mut Step<'_, '_>, key: &[u8], limit: usize) -> StoreResult<usize> {
    let gone: Vec<Vec<u8>> = step
        .beginning(TableId::Frame, key)?
        .take(limit)
        .map(|row| Ok(row?.0.value().to_vec()))
        .collect::<StoreResult<_>>()?;
    let count = gone.len();
    for frame in gone {
        step.remove(TableId::Frame, frame);
    }
    Ok(count)
}
