//! What this node lately wrote about parts, in case a server loses it.
//!
//! A Redis that ends may lose the last second it acknowledged, and so may a failover. A part begun or
//! accepted in that second would look as if it had never gone out, and be sent again. So the node
//! remembers the writes of [`Redis::begin`](super::Redis) and `note_part` for ten seconds, and when a
//! new connection finds another server (another `run_id`) the link writes them again before anything
//! else goes over it: a record older than a fact moves to it, any other stays.
//!
//! Frames of a web chat are not among them: a transcript is lost together with the record that says
//! what stands in it, so the frame is rightly appended again.
//!
//! The age of a fact is measured when the next one comes, never while there is no server: however
//! long a failover takes, what preceded it is still there. Writing again goes in runs and remembers how far
//! it came, so a step that gives up meanwhile does not make the next one begin anew.
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a fact is remembered while others follow.
const KEEP: Duration = Duration::from_secs(10);
/// Facts remembered at most.
const FACTS: usize = 20_000;
/// Their bytes at most.
const BYTES: usize = 32 * 1024 * 1024;
/// Facts written again in one round trip.
pub(super) const RUN: usize = 256;

/// Remembered writes, oldest first.
pub(super) struct Facts<C> {
    kept: VecDeque<(Instant, usize, C)>,
    bytes: usize,
    /// Number of the oldest one.
    first: u64,
    /// The server that has them all.
    server: Option<String>,
    /// The server they are being written to again, and the number of the next.
    under_way: Option<(String, u64)>,
}

impl<C> Default for Facts<C> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), bytes: 0, first: 0, server: None, under_way: None }
    }
}

impl<C: Clone> Facts<C> {
    /// Remembers a write of this size; forgets what is too old or too much.
    pub(super) fn note(&mut self, now: Instant, size: usize, write: C) {
        self.kept.push_back((now, size, write));
        self.bytes += size;
        while let Some((at, size, _)) = self.kept.front() {
            let old = now.saturating_duration_since(*at) > KEEP;
            if !old && self.kept.len() <= FACTS && self.bytes <= BYTES {
                break;
            }
            self.bytes -= size;
            self.first += 1;
            self.kept.pop_front();
        }
    }

    /// What is to be written to this server next, with the number to say to [`Facts::written`]
    /// afterwards; nothing when it has all of it.
    pub(super) fn owed(&mut self, server: &str) -> Option<(Vec<C>, u64)> {
        let known = self.server.get_or_insert_with(|| server.to_owned());
        if known == server && self.under_way.is_none() {
            return None;
        }
        let from = match &self.under_way {
            Some((to, next)) if to == server => (*next).max(self.first),
            _ => self.first,
        };
        let skip = usize::try_from(from - self.first).unwrap_or(usize::MAX);
        let run: Vec<C> =
            self.kept.iter().skip(skip).take(RUN).map(|(_, _, write)| write.clone()).collect();
        if run.is_empty() {
            (self.server, self.under_way) = (Some(server.to_owned()), None);
            return None;
        }
        self.under_way = Some((server.to_owned(), from));
        let next = from + run.len() as u64;
        Some((run, next))
    }

    /// Everything before this number is on the server that is under way.
    pub(super) fn written(&mut self, next: u64) {
        if let Some((_, reached)) = &mut self.under_way {
            *reached = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes all that is owed; gives it.
    fn settle(facts: &mut Facts<u32>, server: &str) -> Vec<u32> {
        let mut all = Vec::new();
        while let Some((run, next)) = facts.owed(server) {
            assert!(run.len() <= RUN);
            all.extend(run);
            facts.written(next);
        }
        all
    }

    fn with(numbers: std::ops::Range<u32>) -> Facts<u32> {
        let (mut facts, now) = (Facts::default(), Instant::now());
        assert!(settle(&mut facts, "a").is_empty(), "the first server owes nothing");
        for number in numbers {
            facts.note(now, 100, number);
        }
        facts
    }

    #[test]
    fn d_77_another_server_is_told_everything_once_and_in_order() {
        let mut facts = with(0..1000);
        assert!(settle(&mut facts, "a").is_empty(), "the same server has them");
        assert_eq!(settle(&mut facts, "b"), (0..1000).collect::<Vec<_>>());
        assert!(settle(&mut facts, "b").is_empty());
        facts.note(Instant::now(), 100, 1000);
        assert!(settle(&mut facts, "b").is_empty());
        assert_eq!(settle(&mut facts, "a").len(), 1001, "and the first one when it is back");
    }

    #[test]
    fn d_77_what_was_interrupted_goes_on_where_it_was() {
        let mut facts = with(0..1000);
        let (run, next) = facts.owed("b").unwrap();
        facts.written(next);
        assert_eq!(facts.owed("b").unwrap().0[0], 256, "asked for, its end unknown");
        let rest = settle(&mut facts, "b");
        assert_eq!([run, rest].concat(), (0..1000).collect::<Vec<_>>());

        let mut facts = with(0..1000);
        let (_, next) = facts.owed("b").unwrap();
        facts.written(next);
        assert_eq!(settle(&mut facts, "a").len(), 1000, "a server that was told a part, or back");
        let mut facts = with(0..1000);
        let (_, next) = facts.owed("b").unwrap();
        facts.written(next);
        assert_eq!(settle(&mut facts, "c").len(), 1000, "a third one is told from the beginning");
    }

    #[test]
    fn d_77_memory_is_bounded_by_age_count_and_size() {
        let start = Instant::now();
        let mut facts = Facts::default();
        settle(&mut facts, "a");
        facts.note(start, 1, 0);
        facts.note(start + KEEP, 1, 1);
        assert_eq!(facts.kept.len(), 2);
        facts.note(start + KEEP + Duration::from_millis(1), 1, 2);
        assert_eq!(settle(&mut facts, "b"), [1, 2]);

        for number in 0..30_000 {
            facts.note(start + KEEP, 1, number);
        }
        assert_eq!(facts.kept.len(), FACTS);
        facts.note(start + KEEP, BYTES - 10, 7);
        assert_eq!((facts.kept.len(), facts.bytes), (11, BYTES));
        facts.note(start + KEEP, BYTES + 1, 8);
        assert_eq!((facts.kept.len(), facts.bytes), (0, 0), "one too large is not kept");
        assert_eq!(settle(&mut facts, "c"), [0; 0]);
    }
}
