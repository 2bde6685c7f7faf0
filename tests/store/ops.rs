//! The steps of random walks, and how they are drawn.
use crate::case::time;
use proptest::collection::vec;
use proptest::prelude::*;
use tidings::store::{Active, Dead};

/// A number the walk takes modulo what there is to choose from.
pub type Pick = usize;

#[derive(Clone, Debug)]
pub enum Op {
    Open(Opening),
    Push { queue: Pick, lane: Pick, due: Option<i64> },
    Claim { queue: Pick, want: usize, lease: u64, paced: bool },
    Gate { channel: Pick, lane: Option<Pick>, how: GateStep },
    Extend { holds: Vec<Pick>, lease: u64 },
    Lane { hold: Pick, how: LaneStep },
    Write { send: Pick, stale: bool, hold: Pick, how: WriteStep, content: Content },
    Keep { key: Pick, fingerprint: u8 },
    Media { number: Pick, size: usize, life: i64 },
    KeepMedia { numbers: Vec<Pick>, life: i64 },
    Sweep(Pick),
}

#[derive(Clone, Debug)]
pub struct Opening {
    pub repeat: Option<Pick>,
    pub audience: Option<Pick>,
    pub key: Option<(Pick, u8)>,
    pub keep_for: u64,
    pub ring: u32,
    pub life: u64,
    pub send: Option<(Pick, Pick, u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub enum LaneStep {
    Ack,
    Defer(i64),
    Bury,
}

#[derive(Clone, Copy, Debug)]
pub enum GateStep {
    Penalise(i64),
    Park(u64),
    Probation,
    Unpark,
}

#[derive(Clone, Copy, Debug)]
pub enum WriteStep {
    Commit,
    Begin(Option<u32>),
    Note { provider: bool, last: bool },
    Finish,
    Defer(i64),
}

#[derive(Clone, Debug)]
pub struct Content {
    pub active: Active,
    pub dead: Dead,
    pub log: bool,
    pub exchange: bool,
}

pub fn opening() -> impl Strategy<Value = Opening> {
    let send = (0..2usize, 0..3usize, 1..9u64, 1..4u64);
    (
        prop::option::weighted(0.1, any::<Pick>()),
        prop::option::of(0..2usize),
        prop::option::weighted(0.4, (0..3usize, 0..2u8)),
        1..120u64,
        1..5u32,
        1..120u64,
        prop::option::weighted(0.7, send),
    )
        .prop_map(|(repeat, audience, key, keep_for, ring, life, send)| Opening {
            repeat,
            audience,
            key,
            keep_for,
            ring,
            life,
            send,
        })
}

pub fn op() -> impl Strategy<Value = Op> {
    let delay = -10_000..90_000i64;
    let lane_step = prop_oneof![
        2 => Just(LaneStep::Ack),
        1 => delay.clone().prop_map(LaneStep::Defer),
        1 => Just(LaneStep::Bury),
    ];
    let write_step = prop_oneof![
        Just(WriteStep::Commit),
        prop::option::of(1..4u32).prop_map(WriteStep::Begin),
        (any::<bool>(), any::<bool>())
            .prop_map(|(provider, last)| WriteStep::Note { provider, last }),
        Just(WriteStep::Finish),
        delay.clone().prop_map(WriteStep::Defer),
    ];
    let gate_step = prop_oneof![
        1 => delay.clone().prop_map(GateStep::Penalise),
        1 => (1..30u64).prop_map(GateStep::Park),
        1 => Just(GateStep::Probation),
        2 => Just(GateStep::Unpark),
    ];
    let active = prop_oneof![
        Just(Active::Keep),
        (0..90_000i64).prop_map(|at| Active::Until(time(at))),
        Just(Active::Remove),
    ];
    let dead = prop_oneof![
        Just(Dead::Keep),
        (0..90_000i64).prop_map(|at| Dead::Since(time(at))),
        Just(Dead::Remove),
    ];
    let content = (active, dead, any::<bool>(), any::<bool>())
        .prop_map(|(active, dead, log, exchange)| Content { active, dead, log, exchange });
    let pick = any::<Pick>;
    prop_oneof![
        4 => opening().prop_map(Op::Open),
        2 => (0..3usize, 0..3usize, prop::option::of(delay.clone()))
            .prop_map(|(queue, lane, due)| Op::Push { queue, lane, due }),
        4 => (0..3usize, 0..4usize, 0..60u64, any::<bool>())
            .prop_map(|(queue, want, lease, paced)| Op::Claim { queue, want, lease, paced }),
        1 => (0..2usize, prop::option::of(0..3usize), gate_step)
            .prop_map(|(channel, lane, how)| Op::Gate { channel, lane, how }),
        1 => (vec(pick(), 0..3), 0..60u64).prop_map(|(holds, lease)| Op::Extend { holds, lease }),
        3 => (pick(), lane_step).prop_map(|(hold, how)| Op::Lane { hold, how }),
        4 => (pick(), prop::bool::weighted(0.2), pick(), write_step, content).prop_map(
            |(send, stale, hold, how, content)| Op::Write { send, stale, hold, how, content }
        ),
        1 => (0..3usize, 0..2u8).prop_map(|(key, fingerprint)| Op::Keep { key, fingerprint }),
        1 => (0..8usize, 0..40usize, 1..60_000i64)
            .prop_map(|(number, size, life)| Op::Media { number, size, life }),
        1 => (vec(0..8usize, 0..3), 1..60_000i64)
            .prop_map(|(numbers, life)| Op::KeepMedia { numbers, life }),
        1 => (0..3usize).prop_map(Op::Sweep),
    ]
}

/// Steps, each with how much later it happens; a clock may go back.
pub fn walk() -> impl Strategy<Value = Vec<(i64, Op)>> {
    vec((prop_oneof![9 => 0..20_000i64, 1 => -5_000..0i64], op()), 1..80)
}
