//! Configuration: built-in < file < environment < flags.
//!
//! Each concern has a file with its struct and its keys declared as data ([`spec::KeySpec`]); the
//! shipped `config.toml`, the list of environment variables and `config show` are made from those
//! declarations. [`load`] merges the layers into [`values::Values`], [`Config::read`] turns them
//! into typed structs, [`check`] compares budgets with each other; every problem found on the way
//! is reported at once with its path.
pub mod channels;
pub mod check;
pub mod default;
pub mod delivery;
pub mod http;
pub mod inbox;
pub mod ingress;
pub mod keys;
pub mod limits;
pub mod listen;
pub mod load;
pub mod pace;
pub mod reload;
pub mod spec;
pub mod store;
pub mod trace;
pub mod units;
pub mod values;

use contract::Registration;
use sha2::{Digest, Sha256};
use spec::Section;
use values::{ConfigProblem, Values};

/// Every section with fixed keys, in the order of the shipped file.
pub const SECTIONS: &[Section] = &[
    listen::SECTION,
    store::SECTION,
    inbox::INBOX_SECTION,
    inbox::MEDIA_SECTION,
    http::SECTION,
    limits::SECTION,
    ingress::SECTION,
    delivery::SECTION,
    trace::SECTION,
];

/// The whole configuration, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Addresses.
    pub listen: listen::Listen,
    /// The store.
    pub store: store::StoreConfig,
    /// The inbox.
    pub inbox: inbox::InboxConfig,
    /// Stored media.
    pub media: inbox::MediaConfig,
    /// Outbound HTTP.
    pub http: http::HttpConfig,
    /// Rates.
    pub limits: limits::LimitsConfig,
    /// What people say.
    pub ingress: ingress::IngressConfig,
    /// The delivery engine.
    pub delivery: delivery::DeliveryConfig,
    /// The exporter of spans.
    pub trace: trace::TraceConfig,
    /// Keys.
    pub keys: Vec<keys::KeyConfig>,
    /// Channels.
    pub channels: Vec<channels::ChannelConfig>,
    /// What nodes of one deployment compare: a hash of the values that should be the same on all.
    pub digest: String,
}

impl Config {
    /// Reads the merged layers.
    ///
    /// # Errors
    /// Every problem, in the order of the file.
    pub fn read(values: &Values, media: &[&Registration]) -> Result<Self, Vec<ConfigProblem>> {
        let mut problems = values.unknown_keys(SECTIONS);
        let listen = listen::Listen::read(values, &mut problems);
        let public_url = listen.public_url.clone();
        let config = Self {
            listen,
            store: store::StoreConfig::read(values, &mut problems),
            inbox: inbox::InboxConfig::read(values, &mut problems),
            media: inbox::MediaConfig::read(values, &mut problems),
            http: http::HttpConfig::read(values, &mut problems),
            limits: limits::LimitsConfig::read(values, &mut problems),
            ingress: ingress::IngressConfig::read(values, &mut problems),
            delivery: delivery::DeliveryConfig::read(values, &mut problems),
            trace: trace::TraceConfig::read(values, &mut problems),
            keys: keys::read(values, &mut problems),
            channels: channels::read(values, public_url.as_deref(), media, &mut problems),
            digest: digest(values, media),
        };
        check::budgets(&config, &mut problems);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }
}

/// Sections and keys in which nodes of one deployment may differ.
const OF_ONE_NODE: &[&str] = &["listen.", "store.data_dir", "store.cache"];

/// Sixteen hex digits over the effective values; secrets are masked before, so it tells none.
fn digest(values: &Values, media: &[&Registration]) -> String {
    let mut hasher = Sha256::new();
    for (path, value, _) in load::show(values, media) {
        if !OF_ONE_NODE.iter().any(|own| path.starts_with(own)) {
            hasher.update(format!("{path} = {value}\n"));
        }
    }
    crate::ids::hex(&hasher.finalize()[..8])
}
