//! What adapters are tested with.
//!
//! - [`cases`]: the runner of case files (`cases/render`, `cases/faults`), with golden outcomes;
//! - [`corpus`]: sixty contents that hold every shape;
//! - [`generic`]: the cases every adapter gets from its registration and one sample account;
//! - [`wire`]: a scripted network that fails a test on an unused or unexpected exchange;
//! - [`held`]: which test ids of a medium nobody holds;
//! - [`toy`]: a sixth medium, to prove that all this needs to know none;
//! - [`account`], [`content`], [`golden`]: from JSON to the contract's types, and back.
//!
//! Everything here panics to fail a test; nothing here runs outside tests.
#![allow(clippy::missing_panics_doc)] // a panic is how a check here reports
pub mod account;
pub mod cases;
pub mod content;
pub mod corpus;
pub mod generic;
pub mod golden;
pub mod held;
pub mod toy;
pub mod wire;
