//! `[limits]`: how fast callers may call, per process.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values};

const RATE: Kind = Kind::Integer { min: 0, max: 1_000_000 };

/// The section's keys.
pub const SECTION: Section = Section {
    name: "limits",
    doc: "Token buckets, per process. 0 is unlimited.",
    keys: &[
        KeySpec {
            name: "address_rate",
            kind: RATE,
            default: "50",
            doc: "Requests a second from one address without a valid key.",
        },
        KeySpec { name: "address_burst", kind: RATE, default: "200", doc: "Burst of those." },
        KeySpec {
            name: "key_rate",
            kind: RATE,
            default: "0",
            doc: "Requests a second of each key.",
        },
        KeySpec { name: "key_burst", kind: RATE, default: "0", doc: "Burst of those." },
    ],
};

/// A bucket; none when the rate is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// A second.
    pub rate: u32,
    /// At once.
    pub burst: u32,
}

/// Rates.
#[derive(Clone, Copy, Debug)]
pub struct LimitsConfig {
    /// Of an address without a valid key.
    pub address: Option<Bucket>,
    /// Of a key.
    pub key: Option<Bucket>,
}

impl LimitsConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let mut bucket = |rate: &str, burst: &str| {
            let rate = values.count(&SECTION, rate, problems);
            let burst = values.count(&SECTION, burst, problems).max(1);
            (rate > 0).then_some(Bucket { rate, burst })
        };
        Self {
            address: bucket("address_rate", "address_burst"),
            key: bucket("key_rate", "key_burst"),
        }
    }
}
