//! Notices and nodes.
use super::super::oversight::{Beat, Condition, HourCounts, Oversight};
use super::super::records::SendIndex;
use super::super::steps::{At, StoreResult};
use super::Model;
use async_trait::async_trait;
use contract::ChannelName;
use std::time::Duration;

#[async_trait]
impl Oversight for Model {
    async fn announce(
        &self,
        kind: &str,
        scope: &str,
        every: Duration,
        at: At,
    ) -> StoreResult<Option<u64>> {
        let now = self.now(at);
        let mut state = self.state();
        let key = (kind.to_owned(), scope.to_owned());
        let (next, untold) = state.notices.get(&key).copied().unwrap_or((now, 0));
        if now < next {
            state.notices.insert(key, (next, untold + 1));
            return Ok(None);
        }
        state.notices.insert(key, (now.plus(every), 0));
        // What was counted is told for another such time, then forgotten.
        let fresh = now < next.plus(every);
        Ok(Some(if fresh { untold + 1 } else { 1 }))
    }

    async fn beat(&self, node: &str, says: &str, keep: Duration, at: At) -> StoreResult<Vec<Beat>> {
        let now = self.now(at);
        let mut state = self.state();
        state.nodes.insert(node.to_owned(), (now, says.to_owned()));
        state.nodes.retain(|_, (seen, _)| now < seen.plus(keep));
        let beat = |(node, (seen, says)): (&String, &(_, String))| Beat {
            node: node.clone(),
            says: says.clone(),
            seen: *seen,
        };
        Ok(state.nodes.iter().map(beat).collect())
    }

    async fn add_hour(
        &self,
        channel: &ChannelName,
        hour: &str,
        counts: &HourCounts,
        backlog: Option<u64>,
    ) -> StoreResult<()> {
        let mut state = self.state();
        let held = state.hours.entry((channel.clone(), hour.to_owned())).or_default();
        for (name, count) in counts {
            *held.entry(name.clone()).or_default() += count;
        }
        if let Some(backlog) = backlog {
            held.insert("backlog".to_owned(), backlog);
        }
        Ok(())
    }

    async fn hours(&self, channel: &ChannelName, hours: &[String]) -> StoreResult<Vec<HourCounts>> {
        let state = self.state();
        let of = |hour: &String| state.hours.get(&(channel.clone(), hour.clone())).cloned();
        Ok(hours.iter().map(|hour| of(hour).unwrap_or_default()).collect())
    }

    async fn dead_letters(&self, channel: &ChannelName) -> StoreResult<u64> {
        let state = self.state();
        let dead = state.indexes.get(&SendIndex::Dead(channel.clone()));
        Ok(dead.map_or(0, |dead| dead.len() as u64))
    }

    async fn condition(&self) -> StoreResult<Condition> {
        Ok(Condition { durable: true, memory: None })
    }
}
