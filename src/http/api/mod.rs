//! The handlers, one file per noun.
pub mod channels;
pub mod inbound;
pub mod media;
pub mod notifications;
pub mod operate;
pub mod operations;
pub mod opt_outs;
pub mod overview;
pub mod preview;
pub mod receipts;
pub mod sends;
pub mod traces;
mod waiting;
