//! Exchanges against servers on loopback. Names and public addresses are invented: a resolver of
//! the test's answers them, and an address map leads them to a TLS server under a root of the
//! test's own.
mod media;
mod server;
mod vendor;
