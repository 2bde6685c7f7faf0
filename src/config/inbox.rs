//! `[inbox]` and `[media]`: what is kept for reading.
use super::spec::{DAY, HOUR, KeySpec, Kind, Section};
use super::values::{Problems, Values};
use std::time::Duration;

/// Keys of `[inbox]`.
pub const INBOX_SECTION: Section = Section {
    name: "inbox",
    doc: "The inbox ring.",
    keys: &[
        KeySpec {
            name: "ring",
            kind: Kind::Integer { min: 1, max: 100_000 },
            default: "1000",
            doc: "Entries the shared ring and each audience's slice hold.",
        },
        KeySpec {
            name: "audience_ttl",
            kind: Kind::Duration { min: HOUR, max: 400 * DAY },
            default: "\"30d\"",
            doc: "How long a slice lives after its last entry.",
        },
        KeySpec {
            name: "cache",
            kind: Kind::Integer { min: 0, max: 10_000 },
            default: "1000",
            doc: "Newest entries kept in memory (8 MB at most); 0 is none.",
        },
    ],
};

/// Keys of `[media]`.
pub const MEDIA_SECTION: Section = Section {
    name: "media",
    doc: "Media stored and served by the gateway.",
    keys: &[
        KeySpec {
            name: "retention",
            kind: Kind::Duration { min: 8 * DAY, max: 400 * DAY },
            default: "\"30d\"",
            doc: "How long bytes are kept after their last use.",
        },
        KeySpec {
            name: "total_max",
            kind: Kind::Size { min: 16 << 20, max: 1 << 40 },
            default: "\"2GiB\"",
            doc: "Most bytes held in all.",
        },
    ],
};

/// The inbox.
#[derive(Clone, Copy, Debug)]
pub struct InboxConfig {
    /// Entries a list holds.
    pub ring: u32,
    /// Lifetime of a slice.
    pub audience_ttl: Duration,
    /// Entries kept in memory.
    pub cache: u32,
}

/// Stored media.
#[derive(Clone, Copy, Debug)]
pub struct MediaConfig {
    /// Kept after the last use.
    pub retention: Duration,
    /// Most bytes in all.
    pub total_max: u64,
}

impl InboxConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        Self {
            ring: values.count(&INBOX_SECTION, "ring", problems),
            audience_ttl: values.duration(&INBOX_SECTION, "audience_ttl", problems),
            cache: values.count(&INBOX_SECTION, "cache", problems),
        }
    }
}

impl MediaConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        Self {
            retention: values.duration(&MEDIA_SECTION, "retention", problems),
            total_max: values.size(&MEDIA_SECTION, "total_max", problems),
        }
    }
}
