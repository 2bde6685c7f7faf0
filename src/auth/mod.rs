//! Who calls: keys, callers, scopes, and the rule of whom a caller may address.
//!
//! A key's text is `tk_` and 43 base64url characters; only the SHA-256 of that text is stored, and
//! compared in constant time. A **restricted** key sees and addresses its own identity alone.
pub mod audience;
pub mod keyring;

pub use audience::clamp;
pub use keyring::{Caller, KeyText, Keyring, Scope};
