//! The media this binary speaks, one line each, and the channels a configuration registered.
use crate::clock::Millis;
use crate::config::channels::{ChannelConfig, ChannelDelivery};
use crate::config::delivery::{DeliveryConfig, OnAmbiguous};
use crate::config::pace::PaceConfig;
use crate::store::{Account, Pacing, QueueName, Rate};
use contract::{
    Adapter, Address, ChannelName, Health, HealthState, Medium, Pace, Registration, Wire,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Every medium.
pub const MEDIA: &[&Registration] = &[&telegram::REGISTRATION, &web::REGISTRATION];

/// How long a refusal by pacing or a parking explains what waits.
const HELD_BACK: Duration = Duration::from_secs(10);

/// One registered channel, ready to work.
pub struct Channel {
    /// Registered name.
    pub name: ChannelName,
    /// Its medium.
    pub medium: Medium,
    /// The adapter bound to its account.
    pub adapter: Arc<dyn Adapter>,
    /// Its door to the network.
    pub wire: Arc<dyn Wire>,
    /// Its queue.
    pub queue: QueueName,
    /// Sends in flight.
    pub max_in_flight: u32,
    /// After no answer.
    pub on_ambiguous: OnAmbiguous,
    /// Waits between tries.
    pub schedule: Vec<Duration>,
    /// Expiry of a send.
    pub expiry: Duration,
    /// What it was made of: another one after a reload is another channel of that name.
    pub fingerprint: [u8; 32],
    account_rate: Rate,
    pace: PaceConfig,
    line: tokio::sync::Mutex<()>,
    in_line: AtomicUsize,
    parked: AtomicBool,
    held_back_at: AtomicI64,
    health: Mutex<(Health, Option<Millis>)>,
}

/// A request that waits for its account's pace, first or behind others.
pub struct InLine<'a> {
    _turn: tokio::sync::MutexGuard<'a, ()>,
    _counted: Counted<'a>,
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn rate(pace: Pace) -> Rate {
    Rate::per_second(pace.per_second, pace.burst)
}

impl Channel {
    /// Makes a channel of its configuration.
    #[must_use]
    pub fn new(config: &ChannelConfig, delivery: &DeliveryConfig, wire: Arc<dyn Wire>) -> Self {
        let own: &ChannelDelivery = &config.delivery;
        Self {
            name: config.name.clone(),
            medium: config.medium.clone(),
            adapter: config.adapter.clone(),
            wire,
            queue: QueueName::out(&config.name),
            max_in_flight: own.max_in_flight.unwrap_or(delivery.max_in_flight),
            on_ambiguous: own.on_ambiguous.unwrap_or(delivery.on_ambiguous),
            schedule: own.schedule.clone().unwrap_or_else(|| delivery.schedule.clone()),
            expiry: own.expiry.unwrap_or(delivery.expiry),
            fingerprint: config.fingerprint,
            account_rate: rate(config.pace.account(config.adapter.account_pace())),
            pace: config.pace,
            line: tokio::sync::Mutex::new(()),
            in_line: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            held_back_at: AtomicI64::new(0),
            health: Mutex::new((unknown(), None)),
        }
    }

    /// Whose sends a claim takes.
    #[must_use]
    pub fn account(&self) -> Account {
        Account { channel: self.name.clone(), rate: self.account_rate }
    }

    /// What a request of this cost to this address is paced by.
    #[must_use]
    pub fn pacing(&self, address: &Address, cost: u32) -> Pacing {
        let recipient = rate(self.pace.recipient(self.adapter.recipient_pace(address)));
        Pacing { account: self.account_rate, recipient, cost }
    }

    /// Stands in the line of this process for the account's pace until it is first.
    pub async fn stand_in_line(&self) -> InLine<'_> {
        self.in_line.fetch_add(1, Ordering::SeqCst);
        let counted = Counted(&self.in_line);
        InLine { _turn: self.line.lock().await, _counted: counted }
    }

    /// How many stand there.
    #[must_use]
    pub fn in_line(&self) -> usize {
        self.in_line.load(Ordering::SeqCst)
    }

    /// Whether this node knows that the channel is parked.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.parked.load(Ordering::SeqCst)
    }

    /// Keeps whether it is.
    pub fn note_parked(&self, parked: bool) {
        self.parked.store(parked, Ordering::SeqCst);
    }

    /// Pacing or a parking kept the channel from claiming.
    pub fn note_held_back(&self, at: Millis) {
        self.held_back_at.store(at.0, Ordering::SeqCst);
    }

    /// Whether that was so within the last ten seconds: what waits then is a backlog, no fault.
    #[must_use]
    pub fn is_held_back(&self, now: Millis) -> bool {
        let at = Millis(self.held_back_at.load(Ordering::SeqCst));
        at.until(now) < HELD_BACK
    }

    /// What the last probe found, and when.
    #[must_use]
    pub fn health(&self) -> (Health, Option<Millis>) {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what a probe found.
    pub fn note_health(&self, health: Health, at: Millis) {
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = (health, Some(at));
    }
}

fn unknown() -> Health {
    Health {
        state: HealthState::Unknown,
        detail: "not probed yet".to_owned(),
        identity_hint: None,
        refused: false,
    }
}

/// Channels by name: one state of the registered set.
type Set = BTreeMap<String, Arc<Channel>>;

/// The registered channels. A reload replaces the whole set at once; whoever looked before keeps
/// the channel it found.
pub struct Channels(watch::Sender<Arc<Set>>);

/// What a reload did to the set, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Not there before.
    pub added: Vec<String>,
    /// Made anew.
    pub changed: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
}

impl Channels {
    /// The channels of a configuration.
    #[must_use]
    pub fn new(channels: Vec<Channel>) -> Self {
        let named = |c: Channel| (c.name.as_str().to_owned(), Arc::new(c));
        Self(watch::Sender::new(Arc::new(channels.into_iter().map(named).collect())))
    }

    fn now(&self) -> Arc<Set> {
        self.0.borrow().clone()
    }

    /// The channel of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Channel>> {
        self.0.borrow().get(name).cloned()
    }

    /// Every channel, by name.
    pub fn iter(&self) -> impl Iterator<Item = Arc<Channel>> + use<> {
        let channels: Vec<_> = self.now().values().cloned().collect();
        channels.into_iter()
    }

    /// Registered names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.now().keys().cloned().collect()
    }

    /// Told of every replacement from now on.
    #[must_use]
    pub fn watch(&self) -> Watched {
        Watched(self.0.subscribe())
    }

    /// Replaces the set by that of another configuration. A channel with an equal configuration
    /// stays as it is, health and all; `make` makes the others.
    pub fn adopt(
        &self,
        configs: &[ChannelConfig],
        make: impl Fn(&ChannelConfig) -> Channel,
    ) -> Changes {
        let before = self.now();
        let (mut next, mut changes) = (Set::new(), Changes::default());
        for config in configs {
            let name = config.name.as_str().to_owned();
            let known = before.get(&name);
            let channel = match known.filter(|c| c.fingerprint == config.fingerprint) {
                Some(same) => same.clone(),
                None => {
                    let list = match known {
                        Some(_) => &mut changes.changed,
                        None => &mut changes.added,
                    };
                    list.push(name.clone());
                    Arc::new(make(config))
                }
            };
            next.insert(name, channel);
        }
        let gone = before.keys().filter(|name| !next.contains_key(*name));
        changes.removed.extend(gone.cloned());
        self.0.send_replace(Arc::new(next));
        changes
    }
}

/// Waits for replacements of the set.
pub struct Watched(watch::Receiver<Arc<Set>>);

impl Watched {
    /// Ends with the next replacement; never once there are no channels to watch.
    pub async fn replaced(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
