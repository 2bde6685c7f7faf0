//! The media this binary speaks, one line each, and the channels a configuration registered.
use crate::clock::Millis;
use crate::config::channels::{ChannelConfig, ChannelDelivery};
use crate::config::delivery::{DeliveryConfig, OnAmbiguous};
use crate::store::QueueName;
use contract::{Adapter, ChannelName, Health, HealthState, Medium, Registration, Wire};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Every medium.
pub const MEDIA: &[&Registration] = &[&telegram::REGISTRATION];

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
    health: Mutex<(Health, Option<Millis>)>,
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
            health: Mutex::new((unknown(), None)),
        }
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

/// The registered channels by name.
#[derive(Default)]
pub struct Channels(BTreeMap<String, Arc<Channel>>);

impl Channels {
    /// The channels of a configuration.
    #[must_use]
    pub fn new(channels: Vec<Channel>) -> Self {
        Self(channels.into_iter().map(|c| (c.name.as_str().to_owned(), Arc::new(c))).collect())
    }
    /// The channel of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Channel>> {
        self.0.get(name)
    }
    /// Every channel, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Channel>> {
        self.0.values()
    }
    /// Registered names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
