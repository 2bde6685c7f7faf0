//! The web chat's doors: the page, its stream, what the visitor says.
//!
//! | file | holds |
//! |---|---|
//! | [`origin`] | which host a request is for, and the page's own origin |
//! | [`visitor`] | the cookie and the visitor it stands for |
//! | [`link`] | the page's query, which becomes `params` of what is said |
//! | [`page`] | the page with its files |
//! | [`stream`] | the transcript as server-sent events |
//! | [`messages`] | what the visitor types and taps |
//!
//! Every door looks at the host first, before a cookie is read.
pub mod link;
pub mod messages;
pub mod origin;
pub mod page;
pub mod stream;
pub mod visitor;
