//! Visitors of the web chat and their transcripts.
use super::super::chat::{Append, Chat, FrameId, FrameNoted, TokenHash, Visit, Visited};
use super::super::records::{Commit, Committed, ProviderRef};
use super::super::steps::{At, Hold, StoreResult};
use super::Embedded;
use super::lapse;
use super::records::write;
use super::rows::{Fields, channel_prefix, corrupt, joined, visitor_key};
use super::step::Step;
use super::tables::{Look, TableId};
use super::transcript::{self, TranscriptRow, of, place, place_in};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, VisitorId};
use std::ops::Bound;

fn token_visitor(token: &TokenHash, channel: &ChannelName) -> Vec<u8> {
    joined(&[token.0.as_bytes(), &channel_prefix(channel)])
}

/// The visitor a token stands for on a channel, if it has not lapsed, with its deadline.
fn standing(
    look: &impl Look,
    token: &TokenHash,
    channel: &ChannelName,
    now: Millis,
) -> StoreResult<Option<(VisitorId, Millis)>> {
    let Some(row) = look.get(TableId::TokenVisitor, &token_visitor(token, channel))? else {
        return Ok(None);
    };
    let key = row.value().try_into().map_err(|_| corrupt("a visitor is none"))?;
    let visitor = VisitorId::from_bits(u128::from_be_bytes(key));
    let until = lapse::deadline(look, TableId::Visitor, &of(channel, &visitor))?;
    Ok(until.filter(|until| *until > now).map(|until| (visitor, until)))
}

/// Plans that a row which is only its deadline is kept until then, never for less than it is.
fn prolong(step: &mut Step<'_, '_>, table: TableId, key: &[u8], until: Millis) -> StoreResult<()> {
    let before = lapse::deadline(step, table, key)?.unwrap_or_default();
    if until > before { lapse::put(step, table, key, until, &[]) } else { Ok(()) }
}

#[async_trait]
impl Chat for Embedded {
    async fn visit(&self, visit: Visit, at: At) -> StoreResult<Visited> {
        self.write(move |step| {
            let now = step.now(at);
            let known = match visit.given {
                Some(given) => lapse::deadline(step, TableId::Token, given.0.as_bytes())?
                    .is_some_and(|until| until > now)
                    .then_some(given),
                None => None,
            };
            let fresh = known.is_none();
            let until = if fresh { visit.pending_until } else { visit.until };
            let token = known.unwrap_or(visit.fresh);
            let found = standing(step, &token, &visit.channel, now)?;
            let visitor = found.map_or(visit.visitor, |(visitor, _)| visitor);
            prolong(step, TableId::Token, token.0.as_bytes(), until)?;
            prolong(step, TableId::Visitor, &of(&visit.channel, &visitor), until)?;
            let key = token_visitor(&token, &visit.channel);
            step.put(TableId::TokenVisitor, key, visitor_key(&visitor));
            Ok(Visited { visitor, fresh })
        })
        .await
    }

    async fn visitor(
        &self,
        channel: &ChannelName,
        token: &TokenHash,
        until: Millis,
        at: At,
    ) -> StoreResult<Option<VisitorId>> {
        let (channel, token) = (channel.clone(), token.clone());
        self.write(move |step| {
            let now = step.now(at);
            let kept = lapse::deadline(step, TableId::Token, token.0.as_bytes())?;
            if kept.is_none_or(|kept| kept <= now) {
                return Ok(None);
            }
            let Some((visitor, _)) = standing(step, &token, &channel, now)? else {
                return Ok(None);
            };
            prolong(step, TableId::Token, token.0.as_bytes(), until)?;
            prolong(step, TableId::Visitor, &of(&channel, &visitor), until)?;
            Ok(Some(visitor))
        })
        .await
    }

    async fn visitor_known(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<bool> {
        let kept = lapse::deadline(&self.look()?, TableId::Visitor, &of(channel, visitor))?;
        Ok(kept.is_some_and(|until| until > self.now(at)))
    }

    async fn note_frame(
        &self,
        commit: Commit,
        provider: ProviderRef,
        append: Append,
        last: Option<&Hold>,
        at: At,
    ) -> StoreResult<FrameNoted> {
        let last = last.cloned();
        self.write(move |step| {
            let now = step.now(at);
            if let Some(hindrance) = transcript::hindrance(step, &append, now)? {
                return Ok(hindrance);
            }
            match write(step, &commit)? {
                Committed::Done => {}
                Committed::Conflict(value) => return Ok(FrameNoted::Conflict(value)),
                Committed::Gone | Committed::Lost | Committed::Wait(_) => {
                    return Ok(FrameNoted::Gone);
                }
            }
            transcript::append(step, &append, now)?;
            super::receipts::index(step, &commit, &provider, now)?;
            if let Some(hold) = last
                && let Some(held) = step.lanes().held(&hold)
            {
                step.drop_head(&hold, held, now)?;
            }
            Ok(FrameNoted::Done)
        })
        .await
    }

    async fn transcript_ends(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        at: At,
    ) -> StoreResult<Option<(FrameId, FrameId)>> {
        let look = self.look()?;
        let key = of(channel, visitor);
        let row = TranscriptRow::read(&look, &key)?.filter(|row| row.until > self.now(at));
        let Some(row) = row else { return Ok(None) };
        let floor = joined(&[&key, &place(row.floor)]);
        let newest = joined(&[&key, &place(row.newest)]);
        let mut kept =
            look.range(TableId::Frame, Bound::Excluded(&floor), Bound::Included(&newest))?;
        let Some(oldest) = kept.next() else { return Ok(None) };
        let oldest = place_in(&mut Fields(&oldest?.0.value()[key.len()..]))?;
        Ok(Some((oldest, row.newest)))
    }

    async fn transcript(
        &self,
        channel: &ChannelName,
        visitor: &VisitorId,
        after: FrameId,
        until: FrameId,
        limit: usize,
    ) -> StoreResult<Vec<(FrameId, Bytes)>> {
        let look = self.look()?;
        let key = of(channel, visitor);
        let Some(row) = TranscriptRow::read(&look, &key)? else { return Ok(Vec::new()) };
        let from = after.max(row.floor);
        if until <= from {
            return Ok(Vec::new());
        }
        let (from, to) = (joined(&[&key, &place(from)]), joined(&[&key, &place(until)]));
        let rows = look.range(TableId::Frame, Bound::Excluded(&from), Bound::Included(&to))?;
        rows.take(limit)
            .map(|frame| {
                let (place, value) = frame?;
                let id = place_in(&mut Fields(&place.value()[key.len()..]))?;
                Ok((id, Bytes::copy_from_slice(value.value())))
            })
            .collect()
    }
}
