//! The only door to the network.
//!
//! One [`Network`] per process holds what every exchange shares: the TLS configuration, the
//! resolver, the bounds, the operator's exceptions. [`Network::account`] gives an [`AccountWire`],
//! which reaches the account's own vendor (pooled connections, no redirect followed) and fetches
//! callers' media (a fresh connection each, at most three redirects).
//!
//! Every connection is made by [`connect`]: the name is resolved once, every address is judged by
//! [`guard`], and the connection goes to a judged address. There is no second look-up.
mod account;
mod connect;
mod encode;
mod exchange;
mod fetch;
pub mod guard;
mod network;

pub use account::AccountWire;
pub use network::{
    AddressMap, Network, NetworkBuilder, NetworkProblem, Resolve, StandIn, SystemResolver, Timeouts,
};

#[cfg(test)]
mod tests;
