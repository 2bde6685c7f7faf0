//! Reading the inbox. The ring is read without a script; a slice needs one, because it may have
//! lapsed by the server's clock.
use super::super::steps::{At, Entry, Inbox, Scope, StoreResult};
use super::Redis;
use super::keys::{Fixed, hashed};
use super::link::Call;
use super::reply::{bytes, list, number, odd, scored, take};
use super::scripts::Step;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{NotificationId, SendId};

/// Longest header line that is read of a record, bytes.
const HEADER_MAX: usize = 80;

/// A stored body without the store's own ending: the audience's hash (43) if the last byte but one
/// is `a`, the send's id (30) if the last is `s`, and those two bytes.
pub(super) fn body_of(stored: &Bytes) -> StoreResult<Bytes> {
    let cut = || odd("a body has no ending");
    let flags = stored.len().checked_sub(2).ok_or_else(cut)?;
    let audience = if stored[flags] == b'a' { 43 } else { 0 };
    let send = if stored[flags + 1] == b's' { 30 } else { 0 };
    let end = flags.checked_sub(audience + send).ok_or_else(cut)?;
    Ok(stored.slice(..end))
}

#[async_trait]
impl Inbox for Redis {
    async fn list(
        &self,
        scope: &Scope,
        before: Option<u64>,
        limit: usize,
        at: At,
    ) -> StoreResult<Vec<(u64, NotificationId)>> {
        let keys = &self.link.keys;
        let below = before.map_or("+inf".to_owned(), |before| format!("({before}"));
        let answer = match scope {
            Scope::Shared => {
                let mut command = redis::cmd("ZREVRANGEBYSCORE");
                command.arg(keys.fixed(Fixed::Ring)).arg(below).arg("-inf").arg("WITHSCORES");
                command.arg("LIMIT").arg(0).arg(limit);
                self.link.command(&command).await?
            }
            Scope::Slice(audience) => {
                let audience = hashed(audience);
                let own = [keys.slice(&audience), keys.fixed(Fixed::SliceExpiries)];
                let call = Call::new(Step::Slice, own).arg(&audience).arg(below).number(limit);
                self.link.run(call, at).await?
            }
        };
        let mut found = Vec::new();
        for (member, sequence) in scored(answer)? {
            // In the ring an addressed entry carries its audience's hash.
            let id = member.split(':').next().and_then(NotificationId::parse);
            let sequence = u64::try_from(sequence).map_err(|_| odd("a sequence number"))?;
            found.push((sequence, id.ok_or_else(|| odd("a list holds no id"))?));
        }
        Ok(found)
    }

    async fn bodies(&self, ids: &[NotificationId]) -> StoreResult<Vec<Option<Bytes>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = redis::cmd("MGET");
        for id in ids {
            command.arg(self.link.keys.notification(id));
        }
        let stored = list(self.link.command(&command).await?)?;
        stored
            .into_iter()
            .map(|stored| bytes(stored)?.map(|stored| body_of(&stored)).transpose())
            .collect()
    }

    async fn entry(&self, id: &NotificationId, at: At) -> StoreResult<Option<Entry>> {
        let keys = &self.link.keys;
        let own =
            [keys.notification(id), keys.fixed(Fixed::Ring), keys.fixed(Fixed::SliceExpiries)];
        let call = Call::new(Step::Entry, own).arg(id.as_str());
        let answer = list(self.link.run(call, at).await?)?;
        if answer.is_empty() {
            return Ok(None);
        }
        let mut answer = answer.into_iter();
        let stored = bytes(take(&mut answer)?)?.ok_or_else(|| odd("a body expected"))?;
        Ok(Some(Entry {
            body: body_of(&stored)?,
            in_ring: number(take(&mut answer)?)? == 1,
            in_slice: number(take(&mut answer)?)? == 1,
        }))
    }

    async fn send_headers(&self, ids: &[SendId]) -> StoreResult<Vec<Option<String>>> {
        let mut commands = redis::pipe();
        for id in ids {
            commands.cmd("GETRANGE").arg(self.link.keys.send(id)).arg(0).arg(HEADER_MAX);
        }
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::with_capacity(ids.len());
        for start in list(self.link.commands(&commands).await?)? {
            let start = bytes(start)?.unwrap_or_default();
            let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let header = String::from_utf8_lossy(line).into_owned();
            found.push(Some(header).filter(|header| !header.is_empty()));
        }
        Ok(found)
    }
}
