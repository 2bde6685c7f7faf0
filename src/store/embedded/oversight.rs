//! Notices and nodes: a row each.
use super::super::oversight::{Beat, Condition, HOURS_FOR, HourCounts, Oversight};
use super::super::steps::{At, StoreResult};
use super::Embedded;
use super::lapse;
use super::rows::{Fields, channel_prefix, corrupt, joined, time};
use super::tables::{Look, TableId};
use async_trait::async_trait;
use contract::ChannelName;
use std::time::Duration;

#[async_trait]
impl Oversight for Embedded {
    async fn announce(
        &self,
        kind: &str,
        scope: &str,
        every: Duration,
        at: At,
    ) -> StoreResult<Option<u64>> {
        let key = joined(&[kind.as_bytes(), &[0], scope.as_bytes()]);
        self.write(move |step| {
            let now = step.now(at);
            let (next, untold) = match step.get(TableId::Notice, &key)? {
                None => (now, 0),
                Some(row) => {
                    let mut fields = Fields(row.value());
                    (fields.time()?, fields.number()?)
                }
            };
            if now < next {
                let row = joined(&[&time(next), &(untold + 1).to_be_bytes()]);
                step.put(TableId::Notice, key, row);
                return Ok(None);
            }
            let row = joined(&[&time(now.plus(every)), &0u64.to_be_bytes()]);
            step.put(TableId::Notice, key, row);
            // What was counted is told for another such time, then forgotten.
            let fresh = now < next.plus(every);
            Ok(Some(if fresh { untold + 1 } else { 1 }))
        })
        .await
    }

    async fn beat(&self, node: &str, says: &str, keep: Duration, at: At) -> StoreResult<Vec<Beat>> {
        let own = Beat { node: node.to_owned(), says: says.to_owned(), seen: self.now(at) };
        self.sweep_step(move |step| {
            let now = step.now(at);
            let mut beats = Vec::new();
            for row in step.beginning(TableId::Node, &[])? {
                let (key, value) = row?;
                let mut fields = Fields(value.value());
                let node = String::from_utf8(key.value().to_vec());
                let seen = fields.time()?;
                let says = String::from_utf8(fields.rest().to_vec());
                let (Ok(node), Ok(says)) = (node, says) else {
                    return Err(corrupt("a node's row is no text"));
                };
                beats.push(Beat { node, says, seen });
            }
            let (alive, gone): (Vec<_>, Vec<_>) = beats
                .into_iter()
                .filter(|beat| beat.node != own.node)
                .partition(|beat| now < beat.seen.plus(keep));
            for beat in gone {
                step.remove(TableId::Node, beat.node.into_bytes());
            }
            let own = Beat { seen: now, ..own };
            let row = joined(&[&time(now), own.says.as_bytes()]);
            step.put(TableId::Node, own.node.clone().into_bytes(), row);
            let mut beats = alive;
            beats.push(own);
            beats.sort_by(|a, b| a.node.cmp(&b.node));
            Ok(beats)
        })
        .await
    }

    async fn add_hour(
        &self,
        channel: &ChannelName,
        hour: &str,
        counts: &HourCounts,
        backlog: Option<u64>,
    ) -> StoreResult<()> {
        let (key, counts) = (hour_key(channel, hour), counts.clone());
        self.sweep_step(move |step| {
            let mut held = hour_row(step, &key)?;
            for (name, count) in counts {
                *held.entry(name).or_default() += count;
            }
            if let Some(backlog) = backlog {
                held.insert("backlog".to_owned(), backlog);
            }
            let row = rmp_serde::to_vec(&held).map_err(|error| corrupt(&error.to_string()))?;
            let until = step.now(At::Store).plus(HOURS_FOR);
            lapse::put(step, TableId::Hour, &key, until, &row)
        })
        .await
    }

    async fn hours(&self, channel: &ChannelName, hours: &[String]) -> StoreResult<Vec<HourCounts>> {
        let look = self.look()?;
        hours.iter().map(|hour| hour_row(&look, &hour_key(channel, hour))).collect()
    }

    async fn dead_letters(&self, channel: &ChannelName) -> StoreResult<u64> {
        let look = self.look()?;
        let mut count = 0;
        for row in look.beginning(TableId::Dead, &channel_prefix(channel))? {
            row?;
            count += 1;
        }
        Ok(count)
    }

    async fn condition(&self) -> StoreResult<Condition> {
        // Every answer was given after a flush.
        Ok(Condition { durable: true, memory: None })
    }
}

fn hour_key(channel: &ChannelName, hour: &str) -> Vec<u8> {
    joined(&[&channel_prefix(channel), hour.as_bytes()])
}

fn hour_row(look: &impl Look, key: &[u8]) -> StoreResult<HourCounts> {
    let Some(row) = look.get(TableId::Hour, key)? else { return Ok(HourCounts::new()) };
    let mut fields = Fields(row.value());
    fields.time()?;
    rmp_serde::from_slice(fields.rest()).map_err(|error| corrupt(&error.to_string()))
}
