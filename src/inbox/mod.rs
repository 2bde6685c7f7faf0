//! The inbox: one immutable entry for every accepted notification.
//!
//! An entry is in the **shared ring** and, when it is addressed, in its audience's **slice**; both
//! point at one stored body. [`entry`] is the body's text form, [`reading`] lists and shows entries
//! with the send status as of now,
//! [`notices`] writes the platform's own.
pub mod entry;
pub mod notices;
pub mod reading;
