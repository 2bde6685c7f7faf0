//! `[ingress]`: what people say.
use super::spec::{DAY, KeySpec, Kind, Section};
use super::values::{Problems, Values};
use std::time::Duration;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "ingress",
    doc: "What people say: messages and threads.",
    keys: &[KeySpec {
        name: "retention",
        kind: Kind::Duration { min: 3 * DAY, max: 400 * DAY },
        default: "\"30d\"",
        doc: "How long an inbound message is kept, and a thread after its last message.",
    }],
};

/// Inbound settings.
#[derive(Clone, Copy, Debug)]
pub struct IngressConfig {
    /// Lifetime of a message.
    pub retention: Duration,
}

impl IngressConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        Self { retention: values.duration(&SECTION, "retention", problems) }
    }
}
