//! A page that this gateway serves itself: how one channel's chat looks and what it is bounded by.
use bytes::Bytes;
use std::time::Duration;

/// The settings of a chat page, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatPage {
    /// Page title and heading.
    pub title: String,
    /// A stylesheet with the channel's colours; absent: the page's own, dark and light.
    pub stylesheet: Option<PageFile>,
    /// A picture; absent: the title's first letter.
    pub avatar: Option<PageFile>,
    /// Lifetime of a visitor after the last use.
    pub visitor_ttl: Duration,
    /// Lifetime of one that never came back.
    pub pending_ttl: Duration,
    /// Frames kept for one visitor, the newest.
    pub transcript_max: u32,
    /// Lifetime of a transcript after its last frame.
    pub transcript_ttl: Duration,
    /// Between two comments on an idle stream.
    pub keepalive: Duration,
    /// Open streams of one visitor.
    pub streams_per_visitor: u32,
    /// Open streams of the channel on one node.
    pub streams_per_node: u32,
    /// Most bytes of a posted body.
    pub body_max: u32,
    /// Who is shown the visitor's own address.
    pub show_address: ShowAddress,
    /// A map's address with `{lat}` and `{lon}`; https.
    pub map_link: String,
}

/// A file of the channel's own, kept by browsers for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFile {
    /// A name that holds a hash of the bytes.
    pub name: String,
    /// What it is.
    pub content_type: &'static str,
    /// The bytes.
    pub bytes: Bytes,
}

/// When the page shows the visitor's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowAddress {
    /// To a browser on this machine: a newcomer can send to it.
    Loopback,
    /// To everyone.
    Always,
    /// To nobody.
    Never,
}
