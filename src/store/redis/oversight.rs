//! Notices and nodes, and what the server says about itself.
use super::super::oversight::{Beat, Condition, HOURS_FOR, HourCounts, Oversight};
use super::super::records::SendIndex;
use super::super::steps::{At, StoreResult};
use super::Redis;
use super::keys::Fixed;
use super::link::Call;
use super::reply::{count, list, number, odd, scored, text};
use super::scripts::Step;
use super::start::field;
use crate::clock::Millis;
use async_trait::async_trait;
use contract::ChannelName;
use std::time::Duration;

#[async_trait]
impl Oversight for Redis {
    async fn announce(
        &self,
        kind: &str,
        scope: &str,
        every: Duration,
        at: At,
    ) -> StoreResult<Option<u64>> {
        let call = Call::new(Step::Announce, [self.link.keys.notice(kind, scope)])
            .number(every.as_millis());
        let count = number(self.link.run(call, at).await?)?;
        Ok(u64::try_from(count).ok().filter(|count| *count > 0))
    }

    async fn beat(&self, node: &str, says: &str, keep: Duration, at: At) -> StoreResult<Vec<Beat>> {
        let call = Call::new(Step::Beat, [self.link.keys.fixed(Fixed::Nodes)])
            .arg(node)
            .arg(says)
            .number(keep.as_millis());
        let rows = scored(self.link.run(call, at).await?)?;
        let mut beats = Vec::with_capacity(rows.len());
        for (member, seen) in rows {
            let (node, says) = member.split_once('\n').ok_or_else(|| odd("a node's line"))?;
            beats.push(Beat { node: node.into(), says: says.into(), seen: Millis(seen) });
        }
        beats.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(beats)
    }

    async fn add_hour(
        &self,
        channel: &ChannelName,
        hour: &str,
        counts: &HourCounts,
        backlog: Option<u64>,
    ) -> StoreResult<()> {
        let mut call = Call::new(Step::AddHour, [self.link.keys.hour(channel, hour)])
            .number(HOURS_FOR.as_millis())
            .arg(backlog.map(|backlog| backlog.to_string()).unwrap_or_default());
        for (name, count) in counts {
            call = call.arg(name).number(count);
        }
        self.link.run(call, At::Store).await.map(|_| ())
    }

    async fn hours(&self, channel: &ChannelName, hours: &[String]) -> StoreResult<Vec<HourCounts>> {
        let mut commands = redis::pipe();
        for hour in hours {
            commands.cmd("HGETALL").arg(self.link.keys.hour(channel, hour));
        }
        let mut found = Vec::with_capacity(hours.len());
        for row in list(self.link.commands(&commands).await?)? {
            let mut fields = list(row)?.into_iter();
            let mut counts = HourCounts::new();
            while let (Some(name), Some(held)) = (fields.next(), fields.next()) {
                counts.insert(text(name)?, count(held)?);
            }
            found.push(counts);
        }
        Ok(found)
    }

    async fn dead_letters(&self, channel: &ChannelName) -> StoreResult<u64> {
        let mut command = redis::cmd("ZCARD");
        command.arg(self.link.keys.index(&SendIndex::Dead(channel.clone())));
        count(self.link.command(&command).await?)
    }

    async fn condition(&self) -> StoreResult<Condition> {
        let call = Call::new(Step::Condition, [self.link.keys.fixed(Fixed::Probe)]);
        Ok(read(&text(self.link.run(call, At::Store).await?)?))
    }
}

/// Durable is a server with an append-only file; without `maxmemory` there is no bound.
fn read(info: &str) -> Condition {
    let number = |name| field(info, name).and_then(|value| value.parse::<f64>().ok());
    let bound = number("maxmemory").filter(|bound| *bound > 0.0);
    Condition {
        durable: field(info, "aof_enabled") == Some("1"),
        memory: bound.and_then(|bound| Some(number("used_memory")? / bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_61_the_condition_is_read_off_info() {
        let cases = [
            ("used_memory:80\r\nmaxmemory:100\r\naof_enabled:1\r\n", true, Some(0.8)),
            ("used_memory:80\r\nmaxmemory:0\r\naof_enabled:0\r\n", false, None),
            ("", false, None),
        ];
        for (info, durable, memory) in cases {
            assert_eq!(read(info), Condition { durable, memory }, "{info:?}");
        }
    }
}
