//! What operators should hear of: looked for beside the work, every few seconds.
//!
//! A worker only notes that a send ended ([`Outbox::note_end`]); the loop here asks the store how
//! many ended badly, how old the oldest waiting lane is, how full and how durable the store is, and
//! which nodes live with which configuration. Every rule is a pure function; what it finds goes to
//! [`crate::inbox::notices`].
use super::Outbox;
use crate::clock::Millis;
use crate::inbox::notices::Notice;
use crate::sends::SendRecord;
use crate::sends::tally::{Counted, hour};
use crate::store::{At, Beat, QueueName, SendIndex, StoreResult};
use contract::{ChannelName, PartStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Between two looks; also how often a node says that it lives.
const EVERY: Duration = Duration::from_secs(5);
/// Looks between two questions after the store's condition and the lanes' age.
const SLOWLY: u32 = 6;
/// Looks between two additions to the hours: ten seconds.
const ADDING: u32 = 2;
/// A node not seen for so long is not running.
const ALIVE: Duration = Duration::from_secs(20);
/// How long a node is remembered.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
/// How long configurations may differ: a rolling update takes a while.
const DIFFERENT: Duration = Duration::from_secs(300);
/// So many dead letters …
const FAILING: usize = 10;
/// … in so long are told.
const FAILING_IN: Duration = Duration::from_secs(300);
/// Dead letters looked at.
const DEAD_SEEN: usize = 200;
/// Memory in use from which the store is filling.
const FILLING: f64 = 0.8;

impl Outbox {
    /// Counts a send that has just become final, and remembers a bad end.
    pub fn note_end(&self, record: &SendRecord) {
        if !record.is_final() {
            return;
        }
        let labels = [("channel", record.channel.as_str()), ("status", record.status().as_str())];
        self.metrics.count("tidings_sends_total", &labels);
        self.spans.push(|| crate::sends::spans::send(record));
        let (tally, now) = (&self.settler.tally, self.now());
        if record.is_dead_letter() {
            tally.note(&record.channel, Counted::Failed, now);
        } else if record.status() != PartStatus::Cancelled {
            tally.note(&record.channel, Counted::Accepted, now);
            if record.status() != PartStatus::Accepted {
                tally.note(&record.channel, Counted::Sent, now);
            }
        }
        if !record.is_dead_letter() {
            return;
        }
        let code = record.fault.as_ref().map_or("none", |fault| fault.code.as_str());
        tracing::warn!(
            send.id = %record.id, channel = %record.channel, status = %record.status(),
            fault = code, "a send ended without being accepted"
        );
        self.settler.endings.note(&record.channel);
        if record.status() == PartStatus::OutcomeUnknown {
            let (channel, send) = (record.channel.clone(), record.id.clone());
            self.notices.raise(Notice::OutcomeUnknown { channel, send });
        }
    }

    /// The configuration was read again.
    pub fn note_digest(&self, digest: &str) {
        digest.clone_into(&mut self.digest.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn digest(&self) -> String {
        self.digest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An item was put aside.
    pub fn note_poison(&self, channel: &ChannelName, item: &str, reason: &str) {
        self.metrics.count("tidings_poison_total", &[("queue", "out")]);
        self.notices.raise(Notice::Poison {
            channel: channel.clone(),
            queue: "out",
            item: item.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

/// Looks until the process ends.
pub async fn run(outbox: Arc<Outbox>) {
    let (mut fleet, mut round) = (Fleet::default(), 0u32);
    loop {
        let (adding, thoroughly) = (round.is_multiple_of(ADDING), round.is_multiple_of(SLOWLY));
        look(&outbox, &mut fleet, adding, thoroughly).await;
        round = round.wrapping_add(1);
        tokio::time::sleep(EVERY).await;
    }
}

async fn look(outbox: &Outbox, fleet: &mut Fleet, adding: bool, thoroughly: bool) {
    let mut found = Ok(());
    for channel in outbox.settler.endings.take() {
        found = found.and(sends_failing(outbox, &channel).await);
    }
    found = found.and(nodes(outbox, fleet).await);
    if adding {
        found = found.and(add_hours(outbox).await);
    }
    if thoroughly {
        found = found.and(condition(outbox).await);
        found = found.and(queues(outbox).await);
    }
    if let Err(error) = found {
        tracing::warn!(error = %error, "the gateway could not look after itself");
    }
}

/// Adds what was counted to the hours, and notes each channel's backlog.
async fn add_hours(outbox: &Outbox) -> StoreResult<()> {
    let mut counted = outbox.settler.tally.take();
    let now = hour(outbox.now());
    for channel in outbox.channels.iter() {
        let backlog = outbox.store.depth(&channel.queue, At::Store).await?.items;
        let counts = counted.remove(&(channel.name.clone(), now.clone())).unwrap_or_default();
        outbox.store.add_hour(&channel.name, &now, &counts, Some(backlog)).await?;
    }
    // What was counted before the hour turned, or on a channel that is gone.
    for ((channel, hour), counts) in counted {
        outbox.store.add_hour(&channel, &hour, &counts, None).await?;
    }
    Ok(())
}

/// How many of these times, newest first, lie in the last five minutes, when that is too many.
fn failing(times: &[Millis], now: Millis) -> Option<usize> {
    let count = times.iter().take_while(|at| now < at.plus(FAILING_IN)).count();
    (count >= FAILING).then_some(count)
}

async fn sends_failing(outbox: &Outbox, channel: &ChannelName) -> StoreResult<()> {
    let dead = outbox.store.sends(&SendIndex::Dead(channel.clone()), None, DEAD_SEEN).await?;
    let times: Vec<Millis> = dead.iter().map(|(at, _)| *at).collect();
    let Some(count) = failing(&times, outbox.now()) else { return Ok(()) };
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for (_, id) in dead.iter().take(FAILING) {
        if let Some((_, record)) = outbox.record(id).await? {
            *codes.entry(record.fault.map_or("none".into(), |fault| fault.code)).or_default() += 1;
        }
    }
    let fault = codes.into_iter().max_by_key(|(_, count)| *count);
    let fault = fault.map_or("none".to_owned(), |(code, _)| code);
    let channel = channel.clone();
    outbox.notices.raise(Notice::SendsFailing { channel, count: count as u64, fault });
    Ok(())
}

async fn condition(outbox: &Outbox) -> StoreResult<()> {
    let found = outbox.store.condition().await?;
    let durable = if found.durable { 1.0 } else { 0.0 };
    outbox.metrics.gauge("tidings_store_durable", &[], durable);
    outbox.metrics.gauge("tidings_store_memory_ratio", &[], found.memory.unwrap_or(0.0));
    if !found.durable {
        outbox.notices.raise(Notice::StoreNotDurable);
    }
    if let Some(memory) = found.memory.filter(|memory| *memory >= FILLING) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a percentage"
        )]
        outbox.notices.raise(Notice::StoreFilling { percent: (memory * 100.0) as u64 });
    }
    Ok(())
}

async fn queues(outbox: &Outbox) -> StoreResult<()> {
    for channel in outbox.channels.iter() {
        let depth = outbox.store.depth(&channel.queue, At::Store).await?;
        let age = depth.oldest_ready.map_or(Duration::ZERO, |at| at.until(outbox.now()));
        let held_back = channel.is_held_back(outbox.now());
        if age > outbox.settings.ready_lane_age && !held_back {
            let channel = channel.name.clone();
            outbox.notices.raise(Notice::QueueStuck { channel, seconds: age.as_secs() });
        }
    }
    Ok(())
}

/// What is known of the other nodes.
#[derive(Default)]
struct Fleet {
    /// Since when configurations differ.
    different: Option<Millis>,
}

/// What a look at the nodes found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Two nodes whose configurations have differed for too long.
    different: Option<[String; 2]>,
    /// Channels that a node had which is gone, and no living node has.
    orphaned: BTreeSet<ChannelName>,
}

/// A node's line: the digest of its configuration, then its channels.
fn says(digest: &str, channels: impl Iterator<Item = ChannelName>) -> String {
    let channels: Vec<String> = channels.map(|name| name.as_str().to_owned()).collect();
    format!("{digest} {}", channels.join(","))
}

impl Fleet {
    fn judge(&mut self, beats: &[Beat], now: Millis) -> Found {
        let (alive, gone): (Vec<&Beat>, Vec<&Beat>) =
            beats.iter().partition(|beat| now < beat.seen.plus(ALIVE));
        let channels = |beats: &[&Beat]| -> BTreeSet<ChannelName> {
            let lists = beats.iter().filter_map(|beat| beat.says.split_once(' '));
            lists.flat_map(|(_, list)| list.split(',')).filter_map(ChannelName::parse).collect()
        };
        let orphaned = channels(&gone).difference(&channels(&alive)).cloned().collect();
        let digest = |beat: &Beat| beat.says.split(' ').next().unwrap_or_default().to_owned();
        let first = alive.first().copied();
        let other = first.and_then(|first| alive.iter().find(|beat| digest(beat) != digest(first)));
        let (Some(first), Some(other)) = (first, other) else {
            self.different = None;
            return Found { different: None, orphaned };
        };
        let since = *self.different.get_or_insert(now);
        let different =
            (now >= since.plus(DIFFERENT)).then(|| [first.node.clone(), other.node.clone()]);
        Found { different, orphaned }
    }
}

async fn nodes(outbox: &Outbox, fleet: &mut Fleet) -> StoreResult<()> {
    let says = says(&outbox.digest(), outbox.channels.iter().map(|channel| channel.name.clone()));
    let node = &outbox.settings.node;
    let beats = outbox.store.beat(node, &says, REMEMBERED, At::Store).await?;
    // By the store's clock, as the times of the others are.
    let now = beats.iter().find(|beat| beat.node == *node).map_or(outbox.now(), |own| own.seen);
    let found = fleet.judge(&beats, now);
    if let Some(nodes) = found.different {
        outbox.notices.raise(Notice::ConfigDiffers { nodes });
    }
    for channel in found.orphaned {
        let waiting = outbox.store.depth(&QueueName::out(&channel), At::Store).await?.items;
        if waiting > 0 {
            outbox.notices.raise(Notice::ChannelUnknown { channel, waiting });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_70_ten_dead_letters_within_five_minutes_are_too_many() {
        let now = Millis(1_000_000);
        let at = |seconds_ago: i64| Millis(now.0 - seconds_ago * 1000);
        let nine: Vec<Millis> = (0..9).map(at).collect();
        assert_eq!(failing(&nine, now), None);
        let ten: Vec<Millis> = (0..10).map(|n| at(n * 33)).collect();
        assert_eq!(failing(&ten, now), Some(10));
        let slow: Vec<Millis> = (0..50).map(|n| at(n * 34)).collect();
        assert_eq!(failing(&slow, now), None);
    }

    fn beat(node: &str, says: &str, seconds: i64) -> Beat {
        Beat { node: node.into(), says: says.into(), seen: Millis(seconds * 1000) }
    }

    fn orphaned(names: &[&str]) -> BTreeSet<ChannelName> {
        names.iter().map(|name| ChannelName::parse(name).unwrap()).collect()
    }

    #[test]
    fn d_64_a_channel_of_a_node_that_is_gone_and_of_no_other_is_orphaned() {
        let at = |seconds: i64| Millis(seconds * 1000);
        let beats = |old| {
            [beat("a", "d1 telegram,web", old), beat("b", "d1 web", 100), beat("c", "d1 ", 100)]
        };
        let mut fleet = Fleet::default();
        assert_eq!(fleet.judge(&beats(100), at(101)).orphaned, orphaned(&[]));
        assert_eq!(fleet.judge(&beats(80), at(100)).orphaned, orphaned(&["telegram"]));
    }

    #[test]
    fn d_64_configurations_may_differ_for_five_minutes() {
        let mut fleet = Fleet::default();
        let mut at = |seconds, other: &str, seen| {
            let beats = [beat("a", "d1 web", seconds), beat("b", other, seen)];
            fleet.judge(&beats, Millis(seconds * 1000)).different
        };
        assert_eq!(at(0, "d2 web", 0), None);
        assert_eq!(at(299, "d2 web", 299), None);
        // A moment of agreement begins the wait anew.
        assert_eq!(at(300, "d1 web", 300), None);
        assert_eq!(at(305, "d2 web", 305), None);
        assert_eq!(at(604, "d2 web", 604), None);
        assert_eq!(at(605, "d2 web", 605), Some(["a".into(), "b".into()]));
        // A node that is gone differs from nobody.
        assert_eq!(at(900, "d2 web", 605), None);
    }
}
