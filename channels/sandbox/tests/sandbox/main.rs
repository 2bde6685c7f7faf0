//! The sandbox from outside: real sockets on loopback, a tiny client, no other crate of ours.
mod client;
mod control;
mod media;
mod records;
mod script;
mod telegram;
