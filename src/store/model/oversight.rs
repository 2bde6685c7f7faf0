//! Notices and nodes.
use super::super::oversight::{Beat, Condition, Oversight};
use super::super::steps::{At, StoreResult};
use super::Model;
use async_trait::async_trait;
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

    async fn condition(&self) -> StoreResult<Condition> {
        Ok(Condition { durable: true, memory: None })
    }
}
