//! Receipts: a shelf is one value under its provider id, a list of all by deadline beside.
use super::super::receipts::{
    HANDED_OVER, Lapsed, ORPHANS_FOR, ORPHANS_MAX, Orphan, Receipts, SHELF_MAX, Shelved,
};
use super::super::records::{Commit, Noted, ProviderRef};
use super::super::steps::{At, Hold, Lane, StoreResult};
use super::Redis;
use super::keys::Fixed;
use super::link::Call;
use super::reply::{bytes, framed, list, number, odd, take, text, whole};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use redis::Value;
use std::collections::HashMap;
use std::time::Duration;

fn part(id: Value, part: Value) -> StoreResult<(SendId, u16)> {
    let id = SendId::parse(&text(id)?).ok_or_else(|| odd("a provider id leads nowhere"))?;
    let part = u16::try_from(number(part)?).map_err(|_| odd("a part's number"))?;
    Ok((id, part))
}

fn channel(name: &str) -> StoreResult<ChannelName> {
    ChannelName::parse(name).ok_or_else(|| odd("a shelf has no channel"))
}

#[async_trait]
impl Receipts for Redis {
    async fn settle(
        &self,
        commit: Commit,
        provider: Option<ProviderRef>,
        requeue: Option<&Lane>,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Noted> {
        self.noted(commit, provider, requeue, hook, at).await
    }

    async fn shelve(
        &self,
        channel: &ChannelName,
        hash: &str,
        receipt: Bytes,
        keep: Duration,
        hook: Option<&Hold>,
        at: At,
    ) -> StoreResult<Shelved> {
        let keys = &self.link.keys;
        let own = [
            keys.provider(channel, hash),
            keys.shelf(channel, hash),
            keys.fixed(Fixed::ShelfExpiries),
        ];
        let (queue, words) = self.hook(hook);
        let call = Call::new(Step::Shelve, own)
            .keys(queue)
            .arg(format!("{channel}:{hash}"))
            .arg(&receipt)
            .number(keep.as_millis())
            .number(SHELF_MAX)
            .arg(&words[0])
            .arg(&words[1])
            .arg(&words[2]);
        let mut answer = list(self.link.run(call, at).await?)?.into_iter();
        match text(take(&mut answer)?)?.as_str() {
            "kept" => Ok(Shelved::Kept),
            "full" => Ok(Shelved::Full),
            "found" => {
                let (id, number) = part(take(&mut answer)?, take(&mut answer)?)?;
                Ok(Shelved::Found(id, number))
            }
            _ => Err(odd("a shelving's answer")),
        }
    }

    async fn clear_shelf(&self, channel: &ChannelName, hash: &str) -> StoreResult<()> {
        let keys = &self.link.keys;
        let own = [keys.shelf(channel, hash), keys.fixed(Fixed::ShelfExpiries)];
        let call = Call::new(Step::ClearShelf, own).arg(format!("{channel}:{hash}"));
        self.link.run(call, At::Store).await.map(|_| ())
    }

    async fn lapse_shelves(&self, limit: usize, at: At) -> StoreResult<Vec<Lapsed>> {
        let keys = &self.link.keys;
        let own = [keys.fixed(Fixed::ShelfExpiries), keys.fixed(Fixed::Orphans)];
        let call = Call::new(Step::LapseShelves, own)
            .number(limit)
            .number(HANDED_OVER.as_millis())
            .number(ORPHANS_MAX)
            .number(ORPHANS_FOR.as_millis());
        let mut lapsed = Vec::new();
        for row in list(self.link.run(call, at).await?)? {
            let mut row = list(row)?.into_iter();
            let name = text(take(&mut row)?)?;
            let (name, hash) = name.split_once(':').ok_or_else(|| odd("a shelf's name"))?;
            let receipts = framed(&bytes(take(&mut row)?)?.unwrap_or_default())?;
            let found = match row.next() {
                Some(id) => Some(part(id, take(&mut row)?)?),
                None => None,
            };
            lapsed.push(Lapsed { channel: channel(name)?, hash: hash.into(), receipts, found });
        }
        Ok(lapsed)
    }

    async fn orphans(&self, before: Option<&str>, limit: usize) -> StoreResult<Vec<Orphan>> {
        let mut command = redis::cmd("XREVRANGE");
        let from = before.map_or("+".to_owned(), |before| format!("({before}"));
        command.arg(self.link.keys.fixed(Fixed::Orphans)).arg(from).arg("-");
        command.arg("COUNT").arg(limit);
        let rows = list(self.link.command(&command).await?)?;
        rows.into_iter().map(orphan).collect()
    }
}

/// A row of the stream: its id, then names and values in turn.
fn orphan(row: Value) -> StoreResult<Orphan> {
    let mut row = list(row)?.into_iter();
    let place = text(take(&mut row)?)?;
    let mut fields = list(take(&mut row)?)?.into_iter();
    let mut named = HashMap::new();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        named.insert(text(name)?, value);
    }
    let mut field = |name: &str| named.remove(name).ok_or_else(|| odd("an unmatched receipt"));
    Ok(Orphan {
        place,
        at: Millis(whole(&text(field("at")?)?)?),
        channel: channel(&text(field("channel")?)?)?,
        receipt: bytes(field("receipt")?)?.unwrap_or_default(),
    })
}
