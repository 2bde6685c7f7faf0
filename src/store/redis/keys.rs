//! Names of keys. Every one begins with the tag, so that all of them live in one slot of a Cluster.
use super::super::chat::TokenHash;
use super::super::records::SendIndex;
use super::super::steps::{Hold, Lane, QueueName};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::{ChannelName, InboundId, MediaId, NotificationId, SendId, ThreadId, VisitorId};
use sha2::{Digest, Sha256};

/// The keys of one deployment.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// Those under this prefix.
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// What keys begin with. One constant whatever the lane: the one place to change when a
    /// deployment is ever split over slots.
    pub(super) fn tag(&self, _lane: Option<&Lane>) -> String {
        format!("{{{}}}:", self.prefix)
    }

    fn key(&self, rest: &str) -> String {
        format!("{}{rest}", self.tag(None))
    }

    /// A fixed key.
    pub(super) fn fixed(&self, name: Fixed) -> String {
        self.key(match name {
            Fixed::Sequence => "inbox:seq",
            Fixed::Ring => "inbox:all",
            Fixed::SliceExpiries => "inbox:aud_exp",
            Fixed::Active => "active",
            Fixed::KeptExpiries => "idem_exp",
            Fixed::SendExpiries => "snd_exp",
            Fixed::MediaExpiries => "med_exp",
            Fixed::MediaBytes => "med_bytes",
            Fixed::Poison => "q:bad",
            Fixed::Probe => "probe",
            Fixed::Nodes => "nodes",
            Fixed::ShelfExpiries => "shelf_exp",
            Fixed::Orphans => "orphans",
            Fixed::Wake => "wake",
            Fixed::Events => "evt",
        })
    }

    /// A notification's body.
    pub(super) fn notification(&self, id: &NotificationId) -> String {
        self.key(&format!("ntf:{id}"))
    }

    /// A slice, by its audience's hash.
    pub(super) fn slice(&self, audience: &str) -> String {
        self.key(&format!("inbox:aud:{audience}"))
    }

    /// A kept answer.
    pub(super) fn kept(&self, hash: &str) -> String {
        self.key(&format!("idem:{hash}"))
    }

    /// A send's record.
    pub(super) fn send(&self, id: &SendId) -> String {
        self.key(&format!("snd:{id}"))
    }

    /// A send's log.
    pub(super) fn log(&self, id: &SendId) -> String {
        self.key(&format!("log:{id}"))
    }

    /// A send's exchanges.
    pub(super) fn exchanges(&self, id: &SendId) -> String {
        self.key(&format!("exc:{id}"))
    }

    /// A provider's message id.
    pub(super) fn provider(&self, channel: &ChannelName, hash: &str) -> String {
        self.key(&format!("pid:{channel}:{hash}"))
    }

    /// Receipts under a provider's message id that is not known yet.
    pub(super) fn shelf(&self, channel: &ChannelName, hash: &str) -> String {
        self.key(&format!("shelf:{channel}:{hash}"))
    }

    /// An index of sends.
    pub(super) fn index(&self, index: &SendIndex) -> String {
        match index {
            SendIndex::Channel(channel) => self.key(&format!("idx:{channel}")),
            SendIndex::Recipient(channel, lane) => self.key(&format!("rcp:{channel}:{}", lane.0)),
            SendIndex::Owner(identity) => self.key(&format!("own:{}", hashed(identity))),
            SendIndex::Dead(channel) => self.key(&format!("dead:{channel}")),
        }
    }

    /// A pacing lane: the account's, or a recipient's.
    pub(super) fn pace(&self, channel: &ChannelName, lane: Option<&Lane>) -> String {
        match lane {
            None => self.key(&format!("gcra:{channel}:a")),
            Some(lane) => format!("{}gcra:{channel}:r:{}", self.tag(Some(lane)), lane.0),
        }
    }

    /// A recipient's opt-out.
    pub(super) fn opt_out(&self, channel: &ChannelName, lane: &Lane) -> String {
        format!("{}opt:{channel}:{}", self.tag(Some(lane)), lane.0)
    }

    /// The opt-outs of a channel by time.
    pub(super) fn opt_index(&self, channel: &ChannelName) -> String {
        self.key(&format!("opt_idx:{channel}"))
    }

    /// The parking of a channel.
    pub(super) fn parking(&self, channel: &str) -> String {
        self.key(&format!("pause:{channel}"))
    }

    /// A queue's six keys in the order scripts take them: lane, ready, due, lease, own, items.
    pub(super) fn queue(&self, queue: &QueueName, lane: &Lane) -> [String; 6] {
        let of = |rest: &str| format!("{}q:{}:{rest}", self.tag(Some(lane)), queue.as_str());
        let name = of(&format!("lane:{}", lane.0));
        [name, of("rdy"), of("due"), of("lease"), of("own"), of("items")]
    }

    /// The keys of a hold's queue.
    pub(super) fn held(&self, hold: &Hold) -> [String; 6] {
        self.queue(&hold.queue, &hold.lane)
    }

    /// A trace.
    pub(super) fn trace(&self, trace: &str) -> String {
        self.key(&format!("trc:{trace}"))
    }

    /// An hour's counts.
    pub(super) fn hour(&self, channel: &ChannelName, hour: &str) -> String {
        self.key(&format!("hour:{channel}:{hour}"))
    }

    /// The limiter of a notice.
    pub(super) fn notice(&self, kind: &str, scope: &str) -> String {
        self.key(&format!("ntc:{kind}:{scope}"))
    }

    /// The row of media.
    pub(super) fn media(&self, id: &MediaId) -> String {
        self.key(&format!("med:{}", id.as_str()))
    }

    /// A visitor's token.
    pub(super) fn token(&self, token: &TokenHash) -> String {
        self.key(&format!("web:tok:{}", token.0))
    }

    /// A visitor.
    pub(super) fn visitor(&self, channel: &ChannelName, visitor: &VisitorId) -> String {
        self.key(&format!("web:vis:{channel}:{visitor}"))
    }

    /// A visitor's transcript.
    pub(super) fn transcript(&self, channel: &ChannelName, visitor: &VisitorId) -> String {
        self.key(&format!("web:tr:{channel}:{visitor}"))
    }

    /// A claim.
    pub(super) fn claim(&self, channel: &ChannelName, hash: &str) -> String {
        self.key(&format!("seen:{channel}:{hash}"))
    }

    /// An inbound message.
    pub(super) fn inbound(&self, id: &InboundId) -> String {
        self.key(&format!("msg:{id}"))
    }

    /// A channel's inbound messages.
    pub(super) fn inbound_of(&self, channel: &ChannelName) -> String {
        self.key(&format!("inb:{channel}"))
    }

    /// A thread's messages.
    pub(super) fn inbound_in(&self, thread: &ThreadId) -> String {
        self.key(&format!("thrm:{thread}"))
    }

    /// A thread.
    pub(super) fn thread(&self, id: &ThreadId) -> String {
        self.key(&format!("thr:{id}"))
    }

    /// The thread of an address, by its hash.
    pub(super) fn thread_key(&self, channel: &ChannelName, address: &str) -> String {
        self.key(&format!("thrkey:{channel}:{address}"))
    }

    /// A channel's threads.
    pub(super) fn threads(&self, channel: &ChannelName) -> String {
        self.key(&format!("thrs:{channel}"))
    }

    /// One piece of media.
    pub(super) fn piece(&self, id: &MediaId, number: usize) -> String {
        format!("{}:{number}", self.media(id))
    }
}

/// Keys without a variable part.
#[derive(Clone, Copy)]
pub(super) enum Fixed {
    Sequence,
    Ring,
    SliceExpiries,
    Active,
    KeptExpiries,
    SendExpiries,
    MediaExpiries,
    MediaBytes,
    Poison,
    Probe,
    Nodes,
    ShelfExpiries,
    Orphans,
    Wake,
    Events,
}

/// An identity as keys carry it: 43 characters, so that no key shows who somebody is.
pub(super) fn hashed(identity: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(identity.as_bytes()))
}
