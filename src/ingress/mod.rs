//! Ingress: what platforms send us, after their doors took it.
//!
//! [`hook`] works the queue `hook`: events that could not be handled while the platform waited.
pub mod hook;
