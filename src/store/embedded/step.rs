//! One step: it reads and decides over a view it cannot change, and leaves a [`Plan`].
//!
//! The writer carries the plan out after the step has returned `Ok`. So a step that refuses, fails
//! or panics has written nothing and moved no lane, wherever it stopped.
use super::super::pace::SLEPT;
use super::super::steps::{At, Hold, QueueName, Signal, StoreResult, Whereabouts};
use super::gates::{Paces, pace_key};
use super::lanes::{LaneState, Lanes, Place};
use super::rows::{corrupt, item_prefix, joined, lane_key, queue_key};
use super::tables::{Look, Snapshot, TableId, Tables};
use crate::clock::{Clock, Millis};
use bytes::Bytes;
use std::ops::Bound;
use std::sync::Arc;

/// What the writer keeps in memory beside the database.
#[derive(Default)]
pub(super) struct Memory {
    /// Where the lanes stand.
    pub(super) lanes: Lanes,
    /// Pacing lanes.
    pub(super) paces: Paces,
    /// Sequence number of the newest entry; a push evicts the oldest, so the newest is in the ring.
    pub(super) sequence: u64,
}

impl Memory {
    /// What the database says.
    pub(super) fn load(look: &Snapshot, now: Millis) -> StoreResult<Self> {
        let (lanes, paces) = (Lanes::load(look, now)?, Paces::load(look)?);
        Ok(Self { lanes, paces, sequence: last_sequence(look)? })
    }
    /// Takes back what the last batch did; leases that stood before it stand.
    pub(super) fn reload(&mut self, look: &Snapshot, now: Millis) -> StoreResult<()> {
        let sequence = last_sequence(look)?;
        self.lanes.reload(look, now)?;
        self.sequence = sequence;
        Ok(())
    }
}

fn last_sequence(look: &impl Look) -> StoreResult<u64> {
    match look.range(TableId::Ring, Bound::Unbounded, Bound::Unbounded)?.next_back() {
        None => Ok(0),
        Some(row) => row?
            .0
            .value()
            .try_into()
            .map(u64::from_be_bytes)
            .map_err(|_| corrupt("a sequence number is not one")),
    }
}

/// A change in memory.
enum Effect {
    Queue(QueueName, u16),
    Lane(u16, Arc<str>, Option<LaneState>),
    Sequence(u64),
    Pace(String, (i64, Millis), Millis),
}

/// What a step wants done.
#[derive(Default)]
pub(super) struct Plan {
    writes: Vec<(TableId, Vec<u8>, Option<Vec<u8>>)>,
    effects: Vec<Effect>,
    signals: Vec<Signal>,
}

impl Plan {
    /// Does it; true when the database was written. Signals go on the list, for after the commit.
    pub(super) fn carry_out(
        self,
        tables: &mut Tables<'_>,
        memory: &mut Memory,
        signals: &mut Vec<Signal>,
    ) -> StoreResult<bool> {
        let wrote = !self.writes.is_empty();
        for (table, key, value) in self.writes {
            match value {
                Some(value) => tables.put(table, &key, &value)?,
                None => tables.remove(table, &key)?,
            }
        }
        for effect in self.effects {
            match effect {
                Effect::Queue(name, id) => memory.lanes.add_queue(&name, id),
                Effect::Lane(queue, lane, state) => memory.lanes.set(queue, &lane, state),
                Effect::Sequence(number) => memory.sequence = number,
                Effect::Pace(key, busy, now) => memory.paces.set(key, busy, now),
            }
        }
        signals.extend(self.signals);
        Ok(wrote)
    }
}

/// Where an item stands in its lane.
pub(super) struct ItemPlace {
    key: Vec<u8>,
    queue: u16,
    lane: Arc<str>,
    state: LaneState,
    is_head: bool,
    /// It is the head, and somebody works on it.
    pub(super) is_worked: bool,
}

/// A step at work.
pub(super) struct Step<'s, 't> {
    tables: &'s Tables<'t>,
    memory: &'s Memory,
    clock: &'s dyn Clock,
    /// Whether the last batch failed: a health check then writes.
    pub(super) ailing: bool,
    plan: Plan,
}

impl<'t> Look for Step<'_, 't> {
    type Open = <Tables<'t> as Look>::Open;
    fn table(&self, table: TableId) -> StoreResult<&Self::Open> {
        self.tables.table(table)
    }
}

impl<'s, 't> Step<'s, 't> {
    /// A step over these.
    pub(super) fn over(
        tables: &'s Tables<'t>,
        memory: &'s Memory,
        clock: &'s dyn Clock,
        ailing: bool,
    ) -> Self {
        Self { tables, memory, clock, ailing, plan: Plan::default() }
    }
    /// What it wants done.
    pub(super) fn into_plan(self) -> Plan {
        self.plan
    }
    /// The time it goes by.
    pub(super) fn now(&self, at: At) -> Millis {
        match at {
            At::Store => self.clock.now(),
            At::Given(now) => now,
        }
    }
    /// The lanes as they are.
    pub(super) fn lanes(&self) -> &'s Lanes {
        &self.memory.lanes
    }
    /// The pacing lanes as they are.
    pub(super) fn paces(&self) -> &'s Paces {
        &self.memory.paces
    }
    /// Plans that a pacing lane moves on.
    pub(super) fn set_pace(&mut self, key: String, busy: (i64, Millis), now: Millis) {
        self.plan.effects.push(Effect::Pace(key, busy, now));
    }
    /// Plans a row.
    pub(super) fn put(
        &mut self,
        table: TableId,
        key: impl Into<Vec<u8>>,
        value: impl Into<Vec<u8>>,
    ) {
        self.plan.writes.push((table, key.into(), Some(value.into())));
    }
    /// Plans a removal.
    pub(super) fn remove(&mut self, table: TableId, key: impl Into<Vec<u8>>) {
        self.plan.writes.push((table, key.into(), None));
    }
    /// Plans a signal.
    pub(super) fn signal(&mut self, signal: Signal) {
        self.plan.signals.push(signal);
    }
    /// The newest entry's sequence number.
    pub(super) fn sequence(&self) -> u64 {
        self.memory.sequence
    }
    /// The next sequence number, used up if the step comes to pass.
    pub(super) fn next_sequence(&mut self) -> u64 {
        let next = self.memory.sequence + 1;
        self.plan.effects.push(Effect::Sequence(next));
        next
    }

    /// The number of a queue, given now if it has none.
    fn queue_id(&mut self, queue: &QueueName) -> StoreResult<u16> {
        if let Some(id) = self.lanes().id(queue) {
            return Ok(id);
        }
        let id = self.lanes().free_id()?;
        self.put(TableId::Queue, queue_key(queue), id.to_be_bytes());
        self.plan.effects.push(Effect::Queue(queue.clone(), id));
        Ok(id)
    }

    /// Plans a lane's state, in memory and on disk.
    pub(super) fn set_lane(&mut self, queue: u16, lane: &Arc<str>, state: Option<LaneState>) {
        let key = lane_key(queue, lane);
        match &state {
            Some(state) => self.put(TableId::Lane, key, state.row().encode()),
            None => self.remove(TableId::Lane, key),
        }
        self.place_lane(queue, lane, state);
    }

    /// Plans a lane's state in memory alone: for what a restart forgets.
    pub(super) fn place_lane(&mut self, queue: u16, lane: &Arc<str>, state: Option<LaneState>) {
        self.plan.effects.push(Effect::Lane(queue, lane.clone(), state));
    }

    /// Plans an item at the lane's end; gives the lane's depth.
    pub(super) fn push_item(
        &mut self,
        queue: &QueueName,
        lane: &str,
        item: &[u8],
        due: Option<Millis>,
        now: Millis,
    ) -> StoreResult<u64> {
        let id = self.queue_id(queue)?;
        let known = self.lanes().queue(id).and_then(|lanes| lanes.lane(lane));
        let (name, mut state) = match known {
            Some((name, state)) => (name.clone(), state.clone()),
            None => {
                let place = placed(due, now);
                if is_soon(&place, now) {
                    self.signal(Signal::Queue(queue.clone()));
                }
                let state =
                    LaneState { tail: 0, count: 0, reaps: 0, begun: false, orphaned: false, place };
                (Arc::from(lane), state)
            }
        };
        let key = joined(&[&item_prefix(id, lane), &state.tail.to_be_bytes()]);
        self.put(TableId::Item, key, item);
        state.tail += 1;
        state.count = state.count.saturating_add(1);
        let depth = u64::from(state.count);
        self.set_lane(id, &name, Some(state));
        Ok(depth)
    }

    /// The lane's head: its key and bytes.
    pub(super) fn head(&self, queue: u16, lane: &str) -> StoreResult<Option<(Vec<u8>, Vec<u8>)>> {
        match self.beginning(TableId::Item, &item_prefix(queue, lane))?.next() {
            None => Ok(None),
            Some(row) => {
                let (key, item) = row?;
                Ok(Some((key.value().to_vec(), item.value().to_vec())))
            }
        }
    }

    /// Where an item stands in a lane; none when it is not there.
    pub(super) fn place_of(
        &self,
        queue: &QueueName,
        lane: &str,
        item: &[u8],
    ) -> StoreResult<Option<ItemPlace>> {
        let Some((id, lanes)) = self.lanes().named(queue) else { return Ok(None) };
        let Some((name, state)) = lanes.lane(lane) else { return Ok(None) };
        for (number, row) in self.beginning(TableId::Item, &item_prefix(id, lane))?.enumerate() {
            let (key, found) = row?;
            if found.value() == item {
                let is_head = number == 0;
                return Ok(Some(ItemPlace {
                    key: key.value().to_vec(),
                    lane: name.clone(),
                    queue: id,
                    is_head,
                    is_worked: is_head && matches!(state.place, Place::Leased { .. }),
                    state: state.clone(),
                }));
            }
        }
        Ok(None)
    }

    /// Where an item stands, for people.
    pub(super) fn whereabouts(
        &self,
        queue: &QueueName,
        lane: &str,
        item: &[u8],
    ) -> StoreResult<Option<Whereabouts>> {
        let Some((id, lanes)) = self.lanes().named(queue) else { return Ok(None) };
        let Some((_, state)) = lanes.lane(lane) else { return Ok(None) };
        let mut head = Bytes::new();
        for (number, row) in self.beginning(TableId::Item, &item_prefix(id, lane))?.enumerate() {
            let (_, found) = row?;
            if number == 0 {
                head = Bytes::copy_from_slice(found.value());
            }
            if found.value() == item {
                let due = match state.place {
                    Place::Delayed { due } => Some(due),
                    Place::Ready { .. } | Place::Leased { .. } => None,
                };
                let is_worked = matches!(state.place, Place::Leased { .. });
                return Ok(Some(Whereabouts { ahead: number as u64, head, is_worked, due }));
            }
        }
        Ok(None)
    }

    /// Plans that an item goes from its lane; a next head that was held back by it does so no more.
    pub(super) fn take_out(&mut self, queue: &QueueName, item: ItemPlace, now: Millis) {
        let ItemPlace { key, lane, queue: id, is_head, state, .. } = item;
        self.remove(TableId::Item, key);
        let left = state.count.saturating_sub(1);
        if left == 0 {
            self.set_lane(id, &lane, None);
            return;
        }
        let mut next = LaneState { count: left, ..state };
        if is_head && matches!(next.place, Place::Delayed { .. }) {
            let channel = queue.channel();
            let due = channel.and_then(|c| self.paces().next(&pace_key(c, Some(&lane))));
            next = LaneState {
                reaps: 0,
                begun: false,
                orphaned: false,
                place: placed(due, now),
                ..next
            };
            if is_soon(&next.place, now) {
                self.signal(Signal::Queue(queue.clone()));
            }
        }
        self.set_lane(id, &lane, Some(next));
    }

    /// Plans that the head of this held lane goes; a next head makes the lane ready, or delayed as
    /// its recipient's pace says.
    pub(super) fn drop_head(
        &mut self,
        hold: &Hold,
        (queue, lane, state): (u16, Arc<str>, LaneState),
        now: Millis,
    ) -> StoreResult<()> {
        let head = self.head(queue, &lane)?;
        let left = if head.is_some() { state.count.saturating_sub(1) } else { 0 };
        if let Some((key, _)) = head {
            self.remove(TableId::Item, key);
        }
        // The next head of a channel waits for its recipient's pace.
        let channel = hold.queue.channel();
        let due = channel.and_then(|c| self.paces().next(&pace_key(c, Some(&lane))));
        let place = placed(due, now);
        let soon = is_soon(&place, now);
        let next = (left > 0).then_some(LaneState {
            count: left,
            reaps: 0,
            begun: false,
            orphaned: false,
            place,
            ..state
        });
        if next.is_some() && soon {
            self.signal(Signal::Queue(hold.queue.clone()));
        }
        self.set_lane(queue, &lane, next);
        Ok(())
    }

    /// Plans that this held lane is given back until then.
    pub(super) fn give_back(
        &mut self,
        hold: &Hold,
        (queue, lane, state): (u16, Arc<str>, LaneState),
        until: Millis,
        now: Millis,
    ) {
        let place = placed(Some(until), now);
        if is_soon(&place, now) {
            self.signal(Signal::Queue(hold.queue.clone()));
        }
        let next = LaneState { reaps: 0, begun: false, orphaned: false, place, ..state };
        self.set_lane(queue, &lane, Some(next));
    }
}

/// Where a lane goes that waits until `due`.
fn placed(due: Option<Millis>, now: Millis) -> Place {
    match due {
        Some(due) if due > now => Place::Delayed { due },
        _ => Place::Ready { since: now },
    }
}

/// Whether to announce a lane placed so: it may be claimed, or within a second; who looks then
/// knows when to look again.
fn is_soon(place: &Place, now: Millis) -> bool {
    match place {
        Place::Ready { .. } => true,
        Place::Delayed { due } => *due <= now.plus(SLEPT),
        Place::Leased { .. } => false,
    }
}
