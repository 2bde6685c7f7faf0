//! Faults on purpose, on both stores. After each: nothing accepted is lost, no part known to be
//! accepted goes out again, order per recipient holds, and the record tells the truth.
//!
//! `child` starts a gateway with a fail point (`tests/crash_child.rs`) and starts it again;
//! `crash` ends it at each point of a send's life; `failover` lets Redis lose its last second;
//! `medium` lets the vendor misbehave; `place` spoils what a gateway stands on: its clock, its disk,
//! its queue, the way to its store.
mod child;
mod crash;
mod failover;
mod medium;
mod place;
#[path = "../store/server.rs"]
#[expect(dead_code, reason = "others stop and pause what is only started here")]
mod server;

/// Runs these cases, `async fn(Kind)`, on both stores.
macro_rules! on_both_stores {
    ($($name:ident),* $(,)?) => {
        mod on_embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::child::Kind::Embedded).await; })*
        }
        mod on_redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::child::Kind::Redis).await; })*
        }
    };
}
pub(crate) use on_both_stores;
