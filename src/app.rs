//! The one state value of a gateway, built once.
use crate::auth::Keyring;
use crate::chat::watch::Streams;
use crate::clock::Clock;
use crate::compose::Composer;
use crate::config::Config;
use crate::config::channels::ChannelConfig;
use crate::config::delivery::DeliveryConfig;
use crate::config::inbox::MediaConfig;
use crate::config::keys::KeyConfig;
use crate::config::listen::Network as TrustedNetwork;
use crate::conversation::record::Recorder;
use crate::http::rates::Rates;
use crate::ids::{Ids, Random};
use crate::inbox::notices::Notices;
use crate::inbox::reading::Inbox;
use crate::ingress::hook::Hook;
use crate::metrics::Metrics;
use crate::outbox::{Faults, Outbox, Parts, Settings as OutboxSettings};
use crate::registry::{Changes, Channel, Channels};
use crate::sends::settle::Settler;
use crate::store::Store;
use crate::trace::spans::Spans;
use kit::wire::Network;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

/// The gateway.
pub struct App {
    /// Keys.
    pub keyring: Keyring,
    /// Rates of callers.
    pub rates: Rates,
    /// Registered channels.
    pub channels: Arc<Channels>,
    /// The store.
    pub store: Arc<dyn Store>,
    /// Judges requests.
    pub composer: Composer,
    /// Reads the inbox.
    pub inbox: Inbox,
    /// Delivers.
    pub outbox: Arc<Outbox>,
    /// Works webhook events.
    pub hook: Arc<Hook>,
    /// Records what people say.
    pub recorder: Recorder,
    /// Open chat streams.
    pub streams: Arc<Streams>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids.
    pub ids: Arc<Ids>,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// What handlers need of the configuration.
    pub settings: Settings,
    network: Network,
    delivery: DeliveryConfig,
}

/// What handlers need of the configuration.
pub struct Settings {
    /// Proxies that are believed.
    pub trusted_proxies: Vec<TrustedNetwork>,
    /// Stored media.
    pub media: MediaConfig,
    /// Readiness bound.
    pub ready_lane_age: Duration,
}

/// What is injected: a test gives its own.
pub struct Environment {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// The network.
    pub network: Network,
    /// The store.
    pub store: Arc<dyn Store>,
    /// Fail points.
    pub faults: Arc<dyn Faults>,
}

impl App {
    /// Builds the gateway; nothing runs yet.
    #[must_use]
    pub fn build(config: &Config, keyring: Keyring, environment: Environment) -> Arc<Self> {
        let Environment { clock, random, network, store, faults } = environment;
        let ids = Arc::new(Ids::new(clock.clone(), random));
        let metrics = Arc::new(Metrics::default());
        let channels =
            config.channels.iter().map(|channel| opened(channel, &config.delivery, &network));
        let channels = Arc::new(Channels::new(channels.collect()));
        let notices = Arc::new(Notices::new(
            store.clone(),
            clock.clone(),
            ids.clone(),
            metrics.clone(),
            config.inbox.ring,
        ));
        let spans = Arc::new(spans(config, &metrics));
        let settler = Arc::new(Settler::new(
            store.clone(),
            clock.clone(),
            metrics.clone(),
            notices.clone(),
            config.delivery.retention,
            spans.clone(),
        ));
        let hook = Arc::new(Hook {
            store: store.clone(),
            clock: clock.clone(),
            settler: settler.clone(),
            notices: notices.clone(),
            metrics: metrics.clone(),
            node: node(&ids),
            looked_at: AtomicI64::new(clock.now().0),
        });
        let public_url = config.listen.public_url.clone();
        let outbox = Arc::new(Outbox::new(Parts {
            store: store.clone(),
            channels: channels.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            metrics: metrics.clone(),
            faults,
            notices,
            settler,
            spans,
            settings: outbox_settings(config, hook.node.clone(), public_url.clone()),
        }));
        Arc::new(Self {
            keyring,
            rates: Rates::new(&config.limits),
            composer: Composer {
                channels: channels.clone(),
                store: store.clone(),
                public_url,
                ids: ids.clone(),
            },
            inbox: Inbox::new(store.clone(), config.inbox.cache),
            recorder: Recorder::new(&store, &ids, &clock, config.ingress.retention),
            streams: Arc::default(),
            channels,
            store,
            outbox,
            hook,
            clock,
            ids,
            metrics,
            settings: Settings {
                trusted_proxies: config.listen.trusted_proxies.clone(),
                media: config.media,
                ready_lane_age: config.delivery.ready_lane_age,
            },
            network,
            delivery: config.delivery.clone(),
        })
    }

    /// Takes keys and channels of another configuration, each set at once: a request that runs
    /// finishes with what it began with.
    pub fn adopt(&self, channels: &[ChannelConfig], keys: Vec<KeyConfig>) -> Changes {
        self.keyring.adopt(keys);
        self.channels.adopt(channels, |channel| opened(channel, &self.delivery, &self.network))
    }
}

fn opened(channel: &ChannelConfig, delivery: &DeliveryConfig, network: &Network) -> Channel {
    let wire = Arc::new(network.account(channel.base_url.iter()));
    Channel::new(channel, delivery, wire)
}

/// This process among all nodes: its host's name and a random part, new at each start.
fn node(ids: &Ids) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String =
        host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{host}-{}", crate::ids::hex(&ids.random_array::<4>()))
}

fn outbox_settings(config: &Config, node: String, public_url: Option<String>) -> OutboxSettings {
    OutboxSettings {
        lease: config.delivery.lease,
        workers: config.delivery.workers,
        attempt_bodies: config.delivery.attempt_bodies,
        public_url,
        node,
        backlog_max: config.delivery.backlog_max,
        lane_max: config.delivery.lane_max,
        ring: config.inbox.ring,
        audience_ttl: config.inbox.audience_ttl,
        ready_lane_age: config.delivery.ready_lane_age,
        retention: config.delivery.retention,
        digest: config.digest.clone(),
    }
}

fn spans(config: &Config, metrics: &Arc<Metrics>) -> Spans {
    let endpoint = config.trace.otlp_endpoint.as_deref();
    Spans::new(endpoint, &config.trace.service_name, metrics.clone())
}
