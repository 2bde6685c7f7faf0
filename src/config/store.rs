//! `[store]`: where everything is kept.
use super::spec::{KeySpec, Kind, Section};
use super::values::{Problems, Values};
use std::path::PathBuf;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "store",
    doc: "The store.",
    keys: &[
        KeySpec {
            name: "kind",
            kind: Kind::Word(&["embedded"]),
            default: "\"embedded\"",
            doc: "\"embedded\": durable on disk in `data_dir`, one process, nothing to install.",
        },
        KeySpec {
            name: "data_dir",
            kind: Kind::Text,
            default: "\"tidings-data\"",
            doc: "Folder of the store, the operator's key and the address file.",
        },
        KeySpec {
            name: "cache",
            kind: Kind::Size { min: 1 << 20, max: 4 << 30 },
            default: "\"16MiB\"",
            doc: "Page cache of the embedded store.",
        },
    ],
};

/// The store's settings.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Folder.
    pub data_dir: PathBuf,
    /// Page cache, bytes.
    pub cache: u64,
}

impl StoreConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        values.text(&SECTION, "kind", problems);
        Self {
            data_dir: PathBuf::from(values.text(&SECTION, "data_dir", problems)),
            cache: values.size(&SECTION, "cache", problems),
        }
    }
}
