//! Lanes.
use super::super::pace::{Account, SLEPT};
use super::super::steps::{
    At, Claimed, Held, Hold, Lane, Lease, Poison, Queue, QueueDepth, QueueName, Signal,
    StoreResult, Token, Whereabouts,
};
use super::{Model, State};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::{ChannelName, SendId};
use std::collections::VecDeque;
use std::time::Duration;

/// A lane that holds items.
pub(super) struct LaneModel {
    pub(super) items: VecDeque<Bytes>,
    reaps: u8,
    place: Place,
}

/// Where it stands.
#[derive(Clone)]
enum Place {
    Ready { since: Millis, turn: u64 },
    Delayed { due: Millis },
    Leased { token: Token, deadline: Millis },
}

/// Signal that a queue has a lane that is ready, or will be within a second.
type Woken = Option<Signal>;

fn is_soon(place: &Place, now: Millis) -> bool {
    match place {
        Place::Ready { .. } => true,
        Place::Delayed { due } => *due <= now.plus(SLEPT),
        Place::Leased { .. } => false,
    }
}

impl State {
    fn place(&mut self, due: Option<Millis>, now: Millis) -> Place {
        match due {
            Some(due) if due > now => Place::Delayed { due },
            _ => self.ready(now),
        }
    }

    fn ready(&mut self, since: Millis) -> Place {
        self.turn += 1;
        Place::Ready { since, turn: self.turn }
    }

    /// Appends; gives the depth.
    pub(super) fn push_item(
        &mut self,
        queue: &QueueName,
        lane: &str,
        item: Bytes,
        due: Option<Millis>,
        now: Millis,
    ) -> (u64, Woken) {
        let known = self.queues.entry(queue.clone()).or_default().contains_key(lane);
        let mut woken = None;
        if !known {
            let place = self.place(due, now);
            woken = is_soon(&place, now).then(|| Signal::Queue(queue.clone()));
            let lane_model = LaneModel { items: VecDeque::new(), reaps: 0, place };
            self.queues.entry(queue.clone()).or_default().insert(lane.to_owned(), lane_model);
        }
        let lanes = self.queues.entry(queue.clone()).or_default();
        let Some(model) = lanes.get_mut(lane) else { return (0, None) };
        model.items.push_back(item);
        (model.items.len() as u64, woken)
    }

    /// The lane, if this hold has it.
    pub(super) fn held(&mut self, hold: &Hold) -> Option<&mut LaneModel> {
        let lane = self.queues.get_mut(&hold.queue)?.get_mut(&hold.lane.0)?;
        let token = match &lane.place {
            Place::Leased { token, .. } => token,
            Place::Ready { .. } | Place::Delayed { .. } => return None,
        };
        (*token == hold.token).then_some(lane)
    }

    /// Removes a held lane's head; what is left becomes ready, or waits for its recipient's pace.
    pub(super) fn drop_head(&mut self, hold: &Hold, now: Millis) -> Woken {
        let channel = hold.queue.channel();
        let due = channel.and_then(|channel| self.next_of(channel, Some(&hold.lane.0)));
        let place = self.place(due, now);
        let woken = is_soon(&place, now);
        let lane = self.held(hold)?;
        lane.items.pop_front();
        lane.reaps = 0;
        lane.place = place;
        if lane.items.is_empty() {
            self.queues.get_mut(&hold.queue)?.remove(&hold.lane.0);
            return None;
        }
        woken.then(|| Signal::Queue(hold.queue.clone()))
    }

    /// Gives a held lane back until then.
    pub(super) fn give_back(&mut self, hold: &Hold, until: Millis, now: Millis) -> Woken {
        let place = self.place(Some(until), now);
        let woken = is_soon(&place, now);
        let lane = self.held(hold)?;
        lane.reaps = 0;
        lane.place = place;
        woken.then(|| Signal::Queue(hold.queue.clone()))
    }

    /// Whether this item is its lane's head and somebody works on it.
    pub(super) fn is_worked(&self, queue: &QueueName, lane: &str, item: &[u8]) -> bool {
        let lane = self.queues.get(queue).and_then(|lanes| lanes.get(lane));
        lane.is_some_and(|lane| {
            matches!(lane.place, Place::Leased { .. })
                && lane.items.front().is_some_and(|head| head == item)
        })
    }

    /// Takes an item out of its lane; a next head that was held back by it is so no more.
    pub(super) fn take_out(
        &mut self,
        queue: &QueueName,
        name: &str,
        item: &[u8],
        now: Millis,
    ) -> Woken {
        let due = queue.channel().and_then(|channel| self.next_of(channel, Some(name)));
        let place = self.place(due, now);
        let lanes = self.queues.get_mut(queue)?;
        let lane = lanes.get_mut(name)?;
        let at = lane.items.iter().position(|known| known == item)?;
        lane.items.remove(at);
        if lane.items.is_empty() {
            lanes.remove(name);
            return None;
        }
        if at > 0 || !matches!(lane.place, Place::Delayed { .. }) {
            return None;
        }
        lane.reaps = 0;
        lane.place = place.clone();
        is_soon(&place, now).then(|| Signal::Queue(queue.clone()))
    }

    /// Names of lanes whose place gives a key, in the order of the keys.
    fn lanes_by<K: Ord>(
        &self,
        queue: &QueueName,
        key: impl Fn(&Place) -> Option<K>,
    ) -> Vec<String> {
        let mut found: Vec<(K, String)> = self
            .queues
            .get(queue)
            .into_iter()
            .flatten()
            .filter_map(|(name, lane)| Some((key(&lane.place)?, name.clone())))
            .collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// The soonest due time or lease deadline.
    fn next_due(&self, queue: &QueueName) -> Option<Millis> {
        let lanes = self.queues.get(queue).into_iter().flat_map(|lanes| lanes.values());
        lanes
            .filter_map(|lane| match &lane.place {
                Place::Ready { .. } => None,
                Place::Delayed { due } => Some(*due),
                Place::Leased { deadline, .. } => Some(*deadline),
            })
            .min()
    }

    fn claim(
        &mut self,
        queue: &QueueName,
        tokens: Vec<Token>,
        now: Millis,
        deadline: Millis,
    ) -> Claimed {
        let due = |place: &Place| match place {
            Place::Delayed { due } if *due <= now => Some(*due),
            _ => None,
        };
        for name in self.lanes_by(queue, due).into_iter().take(64) {
            self.turn += 1;
            let turn = self.turn;
            let lane = self.queues.get_mut(queue).and_then(|lanes| lanes.get_mut(&name));
            if let Some(lane) = lane
                && let Some(since) = due(&lane.place)
            {
                lane.place = Place::Ready { since, turn };
            }
        }
        let ran_out = self.lanes_by(queue, |place| match place {
            Place::Leased { deadline, .. } if *deadline <= now => Some(*deadline),
            _ => None,
        });
        let ready = self.lanes_by(queue, |place| match place {
            Place::Ready { turn, .. } => Some(*turn),
            _ => None,
        });
        let candidates = ran_out.into_iter().map(|name| (name, true));
        let candidates = candidates.chain(ready.into_iter().map(|name| (name, false)));
        let mut leases = Vec::new();
        for (token, (name, reaped)) in tokens.into_iter().take(32).zip(candidates) {
            let lane = self.queues.get_mut(queue).and_then(|lanes| lanes.get_mut(&name));
            let Some(lane) = lane else { continue };
            lane.reaps = lane.reaps.saturating_add(u8::from(reaped));
            lane.place = Place::Leased { token: token.clone(), deadline };
            let reaps = lane.reaps;
            let item = lane.items.front().cloned().unwrap_or_default();
            let hold = Hold { queue: queue.clone(), lane: Lane(name), token };
            let send = std::str::from_utf8(&item).ok().and_then(SendId::parse);
            let send = send.and_then(|id| self.sends.get(&id));
            let body = send.and_then(|send| self.bodies.get(&send.notification));
            let (record, body) =
                (send.map(|send| send.record.clone()), body.map(|body| body.body.clone()));
            let channel = queue.channel().and_then(ChannelName::parse);
            let opted_out = channel.is_some_and(|channel| self.blocks(&channel, &hold.lane));
            leases.push(Lease { hold, item, record, body, reaps, reaped, opted_out });
        }
        Claimed { leases, next_due: self.next_due(queue), ..Claimed::default() }
    }
}

#[async_trait]
impl Queue for Model {
    async fn push(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: Bytes,
        due: Option<Millis>,
        at: At,
    ) -> StoreResult<u64> {
        let now = self.now(at);
        let (depth, woken) = self.state().push_item(queue, &lane.0, item, due, now);
        self.signal(woken);
        Ok(depth)
    }

    async fn claim(
        &self,
        queue: &QueueName,
        tokens: Vec<Token>,
        lease: Duration,
        account: Option<&Account>,
        at: At,
    ) -> StoreResult<Claimed> {
        let now = self.now(at);
        let mut state = self.state();
        let mut tokens = tokens;
        if let Some(Account { channel, rate }) = account {
            if let Some(parked) = state.parked.get(channel) {
                let wait_until = Some(parked.until);
                return Ok(Claimed { wait_until, parked: true, ..Claimed::default() });
            }
            let room = rate.room(state.idle_at(channel.as_str(), None), now, tokens.len());
            if room == 0 && !tokens.is_empty() {
                let wait_until = state.next_of(channel.as_str(), None);
                return Ok(Claimed { wait_until, ..Claimed::default() });
            }
            tokens.truncate(room);
        }
        Ok(state.claim(queue, tokens, now, now.plus(lease)))
    }

    async fn extend(&self, holds: Vec<Hold>, lease: Duration, at: At) -> StoreResult<Vec<Hold>> {
        let deadline = self.now(at).plus(lease);
        let mut state = self.state();
        let mut still = Vec::new();
        for hold in holds {
            if let Some(lane) = state.held(&hold) {
                lane.place = Place::Leased { token: hold.token.clone(), deadline };
                still.push(hold);
            }
        }
        Ok(still)
    }

    async fn ack(&self, hold: &Hold, at: At) -> StoreResult<Held> {
        let now = self.now(at);
        let mut state = self.state();
        if state.held(hold).is_none() {
            return Ok(Held::Lost);
        }
        let woken = state.drop_head(hold, now);
        drop(state);
        self.signal(woken);
        Ok(Held::Done)
    }

    async fn defer_lane(&self, hold: &Hold, until: Millis, at: At) -> StoreResult<Held> {
        let now = self.now(at);
        let mut state = self.state();
        if state.held(hold).is_none() {
            return Ok(Held::Lost);
        }
        let woken = state.give_back(hold, until, now);
        drop(state);
        self.signal(woken);
        Ok(Held::Done)
    }

    async fn bury(&self, hold: &Hold, reason: &str, at: At) -> StoreResult<Held> {
        let now = self.now(at);
        let mut state = self.state();
        let Some(lane) = state.held(hold) else { return Ok(Held::Lost) };
        let item = lane.items.front().cloned().unwrap_or_default();
        state.poison.insert(
            0,
            Poison {
                at: now,
                queue: hold.queue.clone(),
                lane: hold.lane.clone(),
                size: item.len() as u64,
                item: String::from_utf8(item.to_vec()).unwrap_or_default(),
                reason: reason.to_owned(),
            },
        );
        state.poison.truncate(1_000);
        let woken = state.drop_head(hold, now);
        drop(state);
        self.signal(woken);
        Ok(Held::Done)
    }

    async fn whereabouts(
        &self,
        queue: &QueueName,
        lane: &Lane,
        item: &[u8],
    ) -> StoreResult<Option<Whereabouts>> {
        let state = self.state();
        let lane = state.queues.get(queue).and_then(|lanes| lanes.get(&lane.0));
        Ok(lane.and_then(|lane| {
            let place = lane.items.iter().position(|known| known == item)?;
            Some(Whereabouts {
                ahead: place as u64,
                head: lane.items.front().cloned().unwrap_or_default(),
                is_worked: matches!(lane.place, Place::Leased { .. }),
                due: match lane.place {
                    Place::Delayed { due } => Some(due),
                    Place::Ready { .. } | Place::Leased { .. } => None,
                },
            })
        }))
    }

    async fn depth(&self, queue: &QueueName, at: At) -> StoreResult<QueueDepth> {
        let now = self.now(at);
        let state = self.state();
        let mut depth = QueueDepth::default();
        let mut first: Option<(u64, Millis)> = None;
        let mut come: Option<Millis> = None;
        for lane in state.queues.get(queue).into_iter().flat_map(|lanes| lanes.values()) {
            depth.items += lane.items.len() as u64;
            match &lane.place {
                Place::Ready { since, turn } => {
                    depth.ready += 1;
                    first = Some(first.map_or((*turn, *since), |f| f.min((*turn, *since))));
                }
                Place::Delayed { due } if *due <= now => {
                    depth.ready += 1;
                    come = Some(come.map_or(*due, |c| c.min(*due)));
                }
                Place::Delayed { .. } => depth.delayed += 1,
                Place::Leased { .. } => depth.leased += 1,
            }
        }
        depth.oldest_ready = first.map(|(_, since)| since).into_iter().chain(come).min();
        Ok(depth)
    }

    async fn poison(&self, limit: usize) -> StoreResult<Vec<Poison>> {
        Ok(self.state().poison.iter().take(limit).cloned().collect())
    }
}
