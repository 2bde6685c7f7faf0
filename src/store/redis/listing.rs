//! Indexes of ids by time, newest first, page after page.
use super::super::steps::StoreResult;
use super::Redis;
use super::reply::{odd, scored};
use crate::clock::Millis;

/// Ids asked for at once beyond what is wanted, when many share one time.
const PAGE: usize = 100;

impl Redis {
    /// Up to `limit` members before a place.
    pub(super) async fn newest_first<T: Ord>(
        &self,
        key: &str,
        before: Option<(Millis, T)>,
        limit: usize,
        parse: impl Fn(&str) -> Option<T>,
    ) -> StoreResult<Vec<(Millis, T)>> {
        let (mut found, mut offset) = (Vec::new(), 0);
        while found.len() < limit {
            let from = before.as_ref().map_or("+inf".to_owned(), |(at, _)| at.0.to_string());
            let mut command = redis::cmd("ZREVRANGEBYSCORE");
            let page = limit - found.len() + if before.is_some() { PAGE } else { 0 };
            command.arg(key).arg(from).arg("-inf").arg("WITHSCORES");
            command.arg("LIMIT").arg(offset).arg(page);
            let rows = scored(self.link.command(&command).await?)?;
            let whole = rows.len() == page;
            offset += rows.len();
            for (member, score) in rows {
                let id = parse(&member).ok_or_else(|| odd("an index holds no id"))?;
                let made = (Millis(score), id);
                // Of those that share the time the ids behind the place are skipped.
                if before.as_ref().is_none_or(|before| made < *before) && found.len() < limit {
                    found.push(made);
                }
            }
            if !whole {
                break;
            }
        }
        Ok(found)
    }
}
