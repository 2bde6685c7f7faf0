//! Media: the bytes in pieces of 512 KiB, written before the row that makes them visible.
//!
//! Pieces of an upload that never got its row lapse after an hour by themselves.
use super::super::steps::{At, MEDIA_PIECE, MediaRow, MediaShelf, MediaStored, StoreResult};
use super::Redis;
use super::keys::Fixed;
use super::link::Call;
use super::reply::{bytes, count, list, number, odd, take, text};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::MediaId;

/// How long a piece waits for its row, ms.
const ORPHAN: u64 = 3_600_000;

impl Redis {
    async fn ask(
        &self,
        what: &str,
        row: &MediaRow,
        size: usize,
        total_max: u64,
        at: At,
    ) -> StoreResult<String> {
        let keys = &self.link.keys;
        let own =
            [keys.media(&row.id), keys.fixed(Fixed::MediaExpiries), keys.fixed(Fixed::MediaBytes)];
        let call = Call::new(Step::MediaPut, own)
            .arg(what)
            .arg(row.id.as_str())
            .number(size)
            .number(total_max)
            .arg(&row.content_type)
            .arg(&row.sha256)
            .number(row.created.0)
            .number(row.expires.0)
            .arg(&row.by);
        text(self.link.run(call, at).await?)
    }
}

#[async_trait]
impl MediaShelf for Redis {
    async fn media_put(
        &self,
        row: MediaRow,
        bytes: Bytes,
        total_max: u64,
        at: At,
    ) -> StoreResult<MediaStored> {
        let answer = |word: &str| match word {
            "there" | "stored" => Ok(MediaStored::Stored),
            "full" => Ok(MediaStored::Full),
            _ => Err(odd("an answer about media")),
        };
        let asked = self.ask("ask", &row, bytes.len(), total_max, at).await?;
        if asked != "room" {
            return answer(&asked);
        }
        let piece = usize::try_from(MEDIA_PIECE).unwrap_or(usize::MAX);
        for (place, part) in bytes.chunks(piece).enumerate() {
            let mut command = redis::cmd("SET");
            command.arg(self.link.keys.piece(&row.id, place)).arg(part).arg("PX").arg(ORPHAN);
            self.link.command(&command).await?;
        }
        answer(&self.ask("store", &row, bytes.len(), total_max, at).await?)
    }

    async fn media_row(&self, id: &MediaId, at: At) -> StoreResult<Option<MediaRow>> {
        let call = Call::new(Step::MediaRow, [self.link.keys.media(id)]);
        let answer = list(self.link.run(call, at).await?)?;
        if answer.is_empty() {
            return Ok(None);
        }
        let mut fields = answer.into_iter();
        Ok(Some(MediaRow {
            id: id.clone(),
            content_type: text(take(&mut fields)?)?,
            size: count(take(&mut fields)?)?,
            sha256: text(take(&mut fields)?)?,
            created: Millis(number(take(&mut fields)?)?),
            expires: Millis(number(take(&mut fields)?)?),
            by: text(take(&mut fields)?)?,
        }))
    }

    async fn media_read(&self, id: &MediaId, offset: u64, at: At) -> StoreResult<Option<Bytes>> {
        let call = Call::new(Step::MediaRead, [self.link.keys.media(id)]).number(offset);
        bytes(self.link.run(call, at).await?)
    }

    async fn media_keep(&self, ids: &[MediaId], until: Millis, at: At) -> StoreResult<()> {
        let keys = &self.link.keys;
        let mut call =
            Call::new(Step::MediaKeep, [keys.fixed(Fixed::MediaExpiries)]).number(until.0);
        for id in ids {
            call = call.keys([keys.media(id)]).arg(id.as_str());
        }
        self.link.run(call, at).await.map(|_| ())
    }

    async fn media_bytes(&self) -> StoreResult<u64> {
        let mut command = redis::cmd("GET");
        command.arg(self.link.keys.fixed(Fixed::MediaBytes));
        count(self.link.command(&command).await?)
    }
}
