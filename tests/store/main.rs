//! The contract every store keeps, run on each of them with given times.
//!
//! `case` makes stores and what goes into them; [`contract!`] runs one list of cases on every
//! store. `lanes`, `inbox`, `opening`, `records`, `media` state the contract; `walks` compares
//! random walks on each store with the model; `embedded` and `crash` hold what only a store on
//! disk has.
mod case;
mod crash;
mod embedded;
mod inbox;
mod lanes;
mod media;
mod opening;
mod records;
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
    };
}
pub(crate) use contract;
