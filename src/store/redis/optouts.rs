//! Opt-outs.
use super::super::optouts::{OptChange, OptOuts, OptRow, OptScope};
use super::super::steps::{At, Lane, StoreResult};
use super::Redis;
use super::link::Call;
use super::reply::{bytes, number, odd, scored, whole};
use super::scripts::Step;
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::ChannelName;

/// Rows asked for at once beyond what is wanted, when many share one time.
const PAGE: usize = 100;

/// What a write brings along, as the record's library takes it.
pub(super) fn spelt(channel: &ChannelName, change: &OptChange) -> Vec<u8> {
    match change {
        OptChange::Keep => Vec::new(),
        OptChange::Reached(lane) => format!("\n-{channel} {}", lane.0).into_bytes(),
        OptChange::Set(lane, row) => {
            let (letter, since) = (row.scope.letter(), row.since.0);
            let mut text = format!("\n+{letter}{since} {channel} {}\n", lane.0).into_bytes();
            text.extend_from_slice(&row.value);
            text
        }
    }
}

fn row(stored: &Bytes) -> StoreResult<OptRow> {
    let end = stored.iter().position(|byte| *byte == b'\n');
    let end = end.ok_or_else(|| odd("an opt-out is cut"))?;
    let scope = stored.first().and_then(|letter| OptScope::of_letter(*letter));
    let since = stored.get(1..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let since = since.ok_or_else(|| odd("an opt-out has no time"))?;
    Ok(OptRow {
        scope: scope.ok_or_else(|| odd("an opt-out has no scope"))?,
        since: Millis(whole(since)?),
        value: stored.slice(end + 1..),
    })
}

#[async_trait]
impl OptOuts for Redis {
    async fn opt_set(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        row: OptRow,
        at: At,
    ) -> StoreResult<bool> {
        let call = Call::new(Step::OptSet, [self.link.keys.opt_out(channel, lane)])
            .arg(channel.as_str())
            .arg(&lane.0)
            .arg(row.scope.letter().to_string())
            .number(row.since.0)
            .arg(&row.value);
        Ok(number(self.link.run(call, at).await?)? == 1)
    }

    async fn opt_clear(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        scopes: &[OptScope],
        at: At,
    ) -> StoreResult<Option<OptRow>> {
        let letters: String = scopes.iter().map(|scope| scope.letter()).collect();
        let call = Call::new(Step::OptClear, [self.link.keys.opt_out(channel, lane)])
            .arg(channel.as_str())
            .arg(&lane.0)
            .arg(letters);
        bytes(self.link.run(call, at).await?)?.map(|stored| row(&stored)).transpose()
    }

    async fn opt_get(&self, channel: &ChannelName, lane: &Lane) -> StoreResult<Option<OptRow>> {
        let mut command = redis::cmd("GET");
        command.arg(self.link.keys.opt_out(channel, lane));
        bytes(self.link.command(&command).await?)?.map(|stored| row(&stored)).transpose()
    }

    async fn opt_list(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, Lane)>,
        limit: usize,
    ) -> StoreResult<Vec<(Lane, OptRow)>> {
        let key = self.link.keys.opt_index(channel);
        let (mut found, mut offset) = (Vec::new(), 0);
        while found.len() < limit {
            let from = before.as_ref().map_or("+inf".to_owned(), |(at, _)| at.0.to_string());
            let page = limit - found.len() + if before.is_some() { PAGE } else { 0 };
            let mut command = redis::cmd("ZREVRANGEBYSCORE");
            command.arg(&key).arg(from).arg("-inf").arg("WITHSCORES");
            command.arg("LIMIT").arg(offset).arg(page);
            let rows = scored(self.link.command(&command).await?)?;
            let last = rows.len() < page;
            offset += rows.len();
            for (lane, since) in rows {
                let place = (Millis(since), Lane(lane));
                if before.as_ref().is_some_and(|before| place >= *before) || found.len() == limit {
                    continue;
                }
                // One that was cleared meanwhile is passed over.
                if let Some(row) = self.opt_get(channel, &place.1).await? {
                    found.push((place.1, row));
                }
            }
            if last {
                break;
            }
        }
        Ok(found)
    }
}
