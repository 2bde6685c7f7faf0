//! Where every lane stands: ready, delayed or leased. The part of the queues that lives in memory.
//!
//! A lane is known while it holds items. Beside its state it has one entry in exactly one of three
//! ordered sets of its queue: `ready` by ticket (first come, first taken), `due` by time, `leases`
//! by deadline. [`Lanes::set`] is the only way to change a lane, so the three cannot disagree.
//! Leases exist only here: claims write nothing. A journal remembers what a batch changed about
//! them, so that a batch whose commit fails can be taken back ([`Lanes::reload`]).
use super::super::steps::{Hold, QueueDepth, QueueName, StoreResult, Token};
use super::rows::{Fields, LaneRow, corrupt};
use super::tables::{Look, TableId};
use crate::clock::Millis;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// Where a lane stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// May be claimed.
    Ready {
        /// Since then.
        since: Millis,
    },
    /// Waits.
    Delayed {
        /// Until then.
        due: Millis,
    },
    /// Is being worked.
    Leased {
        /// The claim's proof.
        token: Token,
        /// Until then.
        deadline: Millis,
    },
}

/// A lane that holds items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaneState {
    /// Number of the next item.
    pub(super) tail: u64,
    /// Items.
    pub(super) count: u32,
    /// Leases on this head that ran out.
    pub(super) reaps: u8,
    /// The head's record was begun under its lease.
    pub(super) begun: bool,
    /// It was begun when an earlier process died: the next claim takes over a lease.
    pub(super) orphaned: bool,
    /// Where it stands.
    pub(super) place: Place,
}

impl LaneState {
    /// The row that keeps it.
    pub(super) fn row(&self) -> LaneRow {
        let due = match self.place {
            Place::Delayed { due } => Some(due),
            Place::Ready { .. } | Place::Leased { .. } => None,
        };
        LaneRow { tail: self.tail, count: self.count, due, reaps: self.reaps, begun: self.begun }
    }
}

/// One queue's lanes.
#[derive(Default)]
pub(super) struct QueueLanes {
    lanes: HashMap<Arc<str>, (LaneState, u64)>,
    ready: BTreeMap<u64, Arc<str>>,
    due: BTreeSet<(Millis, Arc<str>)>,
    leases: BTreeSet<(Millis, Arc<str>)>,
    items: u64,
    ticket: u64,
}

impl QueueLanes {
    /// The lane's name and state.
    pub(super) fn lane(&self, lane: &str) -> Option<(&Arc<str>, &LaneState)> {
        self.lanes.get_key_value(lane).map(|(name, (state, _))| (name, state))
    }
    /// Items in all lanes.
    pub(super) fn items(&self) -> u64 {
        self.items
    }
    /// Ready lanes, first come first.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Arc<str>> {
        self.ready.values()
    }
    /// Delayed lanes with their times, soonest first.
    pub(super) fn due(&self) -> impl Iterator<Item = (Millis, &Arc<str>)> {
        self.due.iter().map(|(at, lane)| (*at, lane))
    }
    /// Leased lanes with their deadlines, soonest first.
    pub(super) fn leases(&self) -> impl Iterator<Item = (Millis, &Arc<str>)> {
        self.leases.iter().map(|(at, lane)| (*at, lane))
    }

    /// Counts: a delayed lane whose time has come may be claimed.
    pub(super) fn depth(&self, now: Millis) -> QueueDepth {
        let come = self.due().take_while(|(due, _)| *due <= now).count() as u64;
        let first = self.ready().next().and_then(|lane| match self.lanes.get(lane)?.0.place {
            Place::Ready { since } => Some(since),
            Place::Delayed { .. } | Place::Leased { .. } => None,
        });
        let due = self.due().next().map(|(due, _)| due).filter(|due| *due <= now);
        QueueDepth {
            items: self.items,
            ready: self.ready.len() as u64 + come,
            delayed: self.due.len() as u64 - come,
            leased: self.leases.len() as u64,
            oldest_ready: first.into_iter().chain(due).min(),
        }
    }

    /// Puts the lane into this state; none when it holds nothing any more.
    fn set(&mut self, lane: &Arc<str>, next: Option<LaneState>) {
        let before = self.lanes.remove_entry(lane);
        let name = before.as_ref().map_or(lane, |(name, _)| name).clone();
        let mut ticket = None;
        if let Some((_, (state, held))) = before {
            self.items -= u64::from(state.count);
            match state.place {
                Place::Ready { .. } => {
                    self.ready.remove(&held);
                    ticket = Some(held);
                }
                Place::Delayed { due } => _ = self.due.remove(&(due, name.clone())),
                Place::Leased { deadline, .. } => _ = self.leases.remove(&(deadline, name.clone())),
            }
        }
        let Some(state) = next else { return };
        self.items += u64::from(state.count);
        // A lane that stays ready keeps its turn.
        let ticket = ticket.unwrap_or(self.ticket);
        self.ticket += 1;
        match &state.place {
            Place::Ready { .. } => _ = self.ready.insert(ticket, name.clone()),
            Place::Delayed { due } => _ = self.due.insert((*due, name.clone())),
            Place::Leased { deadline, .. } => _ = self.leases.insert((*deadline, name.clone())),
        }
        self.lanes.insert(name, (state, ticket));
    }
}

/// A lease as the journal keeps it.
type Lease = (Token, Millis);

/// All queues.
#[derive(Default)]
pub(super) struct Lanes {
    names: HashMap<QueueName, u16>,
    queues: HashMap<u16, QueueLanes>,
    journal: HashMap<(u16, Arc<str>), Option<Lease>>,
}

impl Lanes {
    /// What the database says. A lane that is not delayed is ready, since `now`.
    pub(super) fn load(look: &impl Look, now: Millis) -> StoreResult<Self> {
        let mut lanes = Self::default();
        for row in look.range(TableId::Queue, Bound::Unbounded, Bound::Unbounded)? {
            let (name, id) = row?;
            let name = text(name.value())?;
            lanes
                .add_queue(&QueueName::parse(name), u16::from_be_bytes(Fields(id.value()).take()?));
        }
        for row in look.range(TableId::Lane, Bound::Unbounded, Bound::Unbounded)? {
            let (key, row) = row?;
            let mut key = Fields(key.value());
            let queue = u16::from_be_bytes(key.take()?);
            let row = LaneRow::decode(row.value())?;
            let state = LaneState {
                tail: row.tail,
                count: row.count,
                reaps: row.reaps,
                begun: row.begun,
                orphaned: row.begun,
                place: row.due.map_or(Place::Ready { since: now }, |due| Place::Delayed { due }),
            };
            lanes.set(queue, &Arc::from(text(key.rest())?), Some(state));
        }
        lanes.settled();
        Ok(lanes)
    }

    /// Takes back what the batch since [`Lanes::settled`] did: the database as it is, with the
    /// leases that stood before.
    pub(super) fn reload(&mut self, look: &impl Look, now: Millis) -> StoreResult<()> {
        let mut fresh = Self::load(look, now)?;
        let mut leases: HashMap<(u16, Arc<str>), Option<Lease>> = HashMap::new();
        for (id, queue) in &self.queues {
            for (_, lane) in queue.leases() {
                if let Some((state, _)) = queue.lanes.get(lane)
                    && let Place::Leased { token, deadline } = &state.place
                {
                    leases.insert((*id, lane.clone()), Some((token.clone(), *deadline)));
                }
            }
        }
        leases.extend(self.journal.drain());
        for ((queue, lane), lease) in leases {
            let Some((token, deadline)) = lease else { continue };
            let Some((_, state)) = fresh.queue(queue).and_then(|q| q.lane(&lane)) else { continue };
            let place = Place::Leased { token, deadline };
            let state = LaneState { orphaned: false, place, ..state.clone() };
            fresh.set(queue, &lane, Some(state));
        }
        fresh.settled();
        *self = fresh;
        Ok(())
    }

    /// What happened so far is in the database.
    pub(super) fn settled(&mut self) {
        self.journal.clear();
    }

    /// Gives a queue its number.
    pub(super) fn add_queue(&mut self, name: &QueueName, id: u16) {
        self.names.insert(name.clone(), id);
        self.queues.entry(id).or_default();
    }

    /// The number of a queue.
    pub(super) fn id(&self, name: &QueueName) -> Option<u16> {
        self.names.get(name).copied()
    }

    /// A number no queue has.
    pub(super) fn free_id(&self) -> StoreResult<u16> {
        let next = self.names.values().max().map_or(Some(0), |last| last.checked_add(1));
        next.ok_or_else(|| corrupt("there are too many queues"))
    }

    /// The queue of that number.
    pub(super) fn queue(&self, id: u16) -> Option<&QueueLanes> {
        self.queues.get(&id)
    }

    /// The queue of that name.
    pub(super) fn named(&self, name: &QueueName) -> Option<(u16, &QueueLanes)> {
        let id = self.id(name)?;
        Some((id, self.queues.get(&id)?))
    }

    /// The lane, if this hold has it.
    pub(super) fn held(&self, hold: &Hold) -> Option<(u16, Arc<str>, LaneState)> {
        let (id, queue) = self.named(&hold.queue)?;
        let (name, state) = queue.lane(&hold.lane.0)?;
        match &state.place {
            Place::Leased { token, .. } if *token == hold.token => {
                Some((id, name.clone(), state.clone()))
            }
            _ => None,
        }
    }

    /// Puts a lane into a state; none when it holds nothing any more.
    pub(super) fn set(&mut self, queue: u16, lane: &Arc<str>, next: Option<LaneState>) {
        let lanes = self.queues.entry(queue).or_default();
        let lease = |state: &LaneState| match &state.place {
            Place::Leased { token, deadline } => Some((token.clone(), *deadline)),
            Place::Ready { .. } | Place::Delayed { .. } => None,
        };
        let before = lanes.lanes.get(lane).and_then(|(state, _)| lease(state));
        if before.is_some() || next.as_ref().is_some_and(|state| lease(state).is_some()) {
            self.journal.entry((queue, lane.clone())).or_insert(before);
        }
        lanes.set(lane, next);
    }
}

fn text(bytes: &[u8]) -> StoreResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| corrupt("a stored name is not text"))
}
