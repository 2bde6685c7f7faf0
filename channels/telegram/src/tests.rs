//! The account, its addresses and its probe.
