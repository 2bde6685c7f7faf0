//! Exchanges against servers on loopback.
