//! The contract every store keeps, run on each of them with given times.
//!
//! `case` makes stores and what goes into them; [`contract!`] runs one list of cases on every
//! store. `lanes`, `inbox`, `opening`, `records`, `receipts`, `retention`, `gates`, `standing`, `media`,
//! `chat`, `oversight`, `traces` state the contract; `walks` compares random walks (drawn by `ops`)
//! on each store with the model;
//! `embedded` and `crash` hold what only a store on disk has. `redis` holds what only a store on a
//! server has; `server` and `servers` start those.
mod case;
mod chat;
mod crash;
mod embedded;
mod gates;
mod inbox;
mod lanes;
mod media;
mod opening;
mod ops;
mod oversight;
mod receipts;
mod records;
mod redis;
mod retention;
mod server;
mod servers;
mod standing;
mod traces;
mod walks;

/// Runs these cases, `async fn(Case)`, on every store.
macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        mod on_model {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::case::model()).await; })*
        }
        mod on_embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::case::embedded()).await; })*
        }
        mod on_redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::servers::redis().await).await; })*
        }
        mod on_redis_after_a_failover {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::servers::sentinel().await).await; })*
        }
        mod on_a_redis_cluster {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name(crate::servers::on_cluster().await).await; })*
        }
    };
}
pub(crate) use contract;
