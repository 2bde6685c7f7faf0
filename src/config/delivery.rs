//! `[delivery]`: the delivery engine.
use super::spec::{DAY, HOUR, KeySpec, Kind, Section};
use super::values::{Problems, Values, add};
use std::time::Duration;

/// The section's keys.
pub const SECTION: Section = Section {
    name: "delivery",
    doc: "The delivery engine.",
    keys: &[
        KeySpec {
            name: "workers",
            kind: Kind::Integer { min: 1, max: 4096 },
            default: "1024",
            doc: "Sends worked at once in this process.",
        },
        KeySpec {
            name: "max_in_flight",
            kind: Kind::Integer { min: 1, max: 4096 },
            default: "256",
            doc: "Of those, on one channel. Also per channel.",
        },
        KeySpec {
            name: "lease",
            kind: Kind::Duration { min: 2000, max: HOUR },
            default: "\"60s\"",
            doc: "How long a worker holds a lane before others may take it over.",
        },
        KeySpec {
            name: "drain",
            kind: Kind::Duration { min: 1000, max: HOUR },
            default: "\"45s\"",
            doc: "Longest stop after SIGTERM.",
        },
        KeySpec {
            name: "drain_grace",
            kind: Kind::Duration { min: 0, max: 60_000 },
            default: "\"5s\"",
            doc: "How long the listeners still serve after SIGTERM.",
        },
        KeySpec {
            name: "ready_lane_age",
            kind: Kind::Duration { min: 5000, max: HOUR },
            default: "\"60s\"",
            doc: "/readyz turns red when a claimable lane waits longer.",
        },
        KeySpec {
            name: "schedule",
            kind: Kind::Durations,
            default: "[\"5s\", \"30s\", \"2m\", \"10m\", \"30m\", \"1h\", \"2h\", \"4h\"]",
            doc: "Waits between tries. Also per channel.",
        },
        KeySpec {
            name: "expiry",
            kind: Kind::Duration { min: 10_000, max: 7 * DAY },
            default: "\"24h\"",
            doc: "A send not accepted by then expires. Also per channel.",
        },
        KeySpec {
            name: "on_ambiguous",
            kind: Kind::Word(&["hold", "retry"]),
            default: "\"hold\"",
            doc: "After a request without an answer: \"hold\" as outcome_unknown, or \"retry\" once. \
                  Also per channel.",
        },
        KeySpec {
            name: "backlog_max",
            kind: Kind::Integer { min: 1, max: 100_000_000 },
            default: "1000000",
            doc: "Sends waiting on one channel before calls are refused.",
        },
        KeySpec {
            name: "lane_max",
            kind: Kind::Integer { min: 1, max: 10_000_000 },
            default: "10000",
            doc: "Sends waiting for one recipient before calls are refused.",
        },
        KeySpec {
            name: "retention",
            kind: Kind::Duration { min: 3 * DAY, max: 400 * DAY },
            default: "\"30d\"",
            doc: "How long a send's record and log are kept after its last move.",
        },
        KeySpec {
            name: "keep_ok",
            kind: Kind::Duration { min: 0, max: 400 * DAY },
            default: "\"72h\"",
            doc: "How long the exchanges of an accepted send are kept; at most delivery.retention.",
        },
        KeySpec {
            name: "keep_failed",
            kind: Kind::Duration { min: 0, max: 400 * DAY },
            default: "\"30d\"",
            doc: "The same of a send that failed, expired or has no known outcome.",
        },
        KeySpec {
            name: "attempt_bodies",
            kind: Kind::Word(&["full", "none"]),
            default: "\"full\"",
            doc: "Whether attempts keep request and response bodies (redacted, 20 kB each).",
        },
    ],
};

/// What follows a request that got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnAmbiguous {
    /// The send becomes `outcome_unknown`.
    Hold,
    /// One more try of that part.
    Retry,
}

impl OnAmbiguous {
    /// Reads the configured word.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        if word == "retry" { Self::Retry } else { Self::Hold }
    }
}

/// The configured lifetimes, each after the send's last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Record, log, indexes, content.
    pub record: Duration,
    /// Exchanges of a send that was accepted.
    pub keep_ok: Duration,
    /// Exchanges of one that was not.
    pub keep_failed: Duration,
}

/// The delivery engine.
#[derive(Clone, Debug)]
pub struct DeliveryConfig {
    /// Sends worked at once.
    pub workers: u32,
    /// Of those, on one channel.
    pub max_in_flight: u32,
    /// Lease.
    pub lease: Duration,
    /// Longest stop.
    pub drain: Duration,
    /// Listeners serve this long while stopping.
    pub drain_grace: Duration,
    /// Readiness bound.
    pub ready_lane_age: Duration,
    /// Waits between tries.
    pub schedule: Vec<Duration>,
    /// Expiry of a send.
    pub expiry: Duration,
    /// After no answer.
    pub on_ambiguous: OnAmbiguous,
    /// Items a queue may hold.
    pub backlog_max: u64,
    /// Items a lane may hold.
    pub lane_max: u64,
    /// How long what final sends leave is kept.
    pub retention: Retention,
    /// Attempts keep bodies.
    pub attempt_bodies: bool,
}

impl DeliveryConfig {
    pub(super) fn read(values: &Values, problems: &mut Problems) -> Self {
        let schedule = values.durations(&SECTION, "schedule", problems);
        check_schedule("delivery.schedule", &schedule, problems);
        let on_ambiguous = values.text(&SECTION, "on_ambiguous", problems);
        Self {
            workers: values.count(&SECTION, "workers", problems),
            max_in_flight: values.count(&SECTION, "max_in_flight", problems),
            lease: values.duration(&SECTION, "lease", problems),
            drain: values.duration(&SECTION, "drain", problems),
            drain_grace: values.duration(&SECTION, "drain_grace", problems),
            ready_lane_age: values.duration(&SECTION, "ready_lane_age", problems),
            schedule,
            expiry: values.duration(&SECTION, "expiry", problems),
            on_ambiguous: OnAmbiguous::parse(&on_ambiguous),
            backlog_max: u64::from(values.count(&SECTION, "backlog_max", problems)),
            lane_max: u64::from(values.count(&SECTION, "lane_max", problems)),
            retention: retention(values, problems),
            attempt_bodies: values.text(&SECTION, "attempt_bodies", problems) == "full",
        }
    }
}

fn retention(values: &Values, problems: &mut Problems) -> Retention {
    let record = values.duration(&SECTION, "retention", problems);
    let mut of = |key: &'static str| {
        let keep = values.duration(&SECTION, key, problems);
        if keep > record {
            let path = format!("delivery.{key}");
            add(problems, path, "must be at most delivery.retention: exchanges go with their send");
        }
        keep
    };
    Retention { record, keep_ok: of("keep_ok"), keep_failed: of("keep_failed") }
}

/// At most 20 steps, ascending, each at most a day.
pub fn check_schedule(path: &str, steps: &[Duration], problems: &mut Problems) {
    let ascending = steps.windows(2).all(|pair| pair[0] <= pair[1]);
    let short = steps.iter().all(|step| *step <= Duration::from_millis(DAY));
    if steps.len() > 20 || !ascending || !short {
        add(problems, path, "must hold at most 20 ascending steps of at most 24h each");
    }
}
