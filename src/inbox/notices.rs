//! Entries the platform writes: one sentence that says what happened, what it means, what to do.
//!
//! Whoever notices something builds a [`Notice`] and hands it to [`Notices::raise`], which never
//! delays, fails or repeats the caller's work. The store lets one entry an hour through for each
//! kind and scope, whatever the number of nodes; the next one says how often it happened since.
//! An entry has no audience, so every unrestricted reader of the inbox sees it, and carries names
//! and ids only: never content, an address or a secret.
use super::entry;
use crate::clock::Clock;
use crate::ids::Ids;
use crate::metrics::Metrics;
use crate::notification::{Notification, Origin};
use crate::store::{At, OpenStep, Opened, Store};
use contract::{ChannelName, Content, InboundId, SendId, Surface, Text};
use std::sync::Arc;
use std::time::Duration;

/// Between two entries of one kind and scope.
const EVERY: Duration = Duration::from_secs(3600);
/// How long writing one may take.
const BOUND: Duration = Duration::from_secs(2);
/// Entries of the counter that an entry could not be written.
const FAILURES: &str = "tidings_platform_notify_failures_total";
/// Longest sentence, characters.
const SENTENCE_MAX: usize = 4096;

macro_rules! kinds {
    ($($kind:ident = $word:literal,)*) => {
        /// What an entry is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!("`", $word, "`")] $kind,)*
        }
        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];
            /// The word in `metadata.kind` and in the counter's label.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $word),* }
            }
        }
    };
}

kinds! {
    ChannelParked = "channel_parked",
    ChannelRecovered = "channel_recovered",
    SendsFailing = "sends_failing",
    OutcomeUnknown = "outcome_unknown",
    Poison = "poison",
    ReceiptsUnmatched = "receipts_unmatched",
    QueueStuck = "queue_stuck",
    StoreFilling = "store_filling",
    StoreNotDurable = "store_not_durable",
    ConfigDiffers = "config_differs",
    ChannelUnknown = "channel_unknown",
    TemplateRefused = "template_refused",
    FlowRefused = "flow_refused",
    WebhookVerificationFailing = "webhook_verification_failing",
    WebhookTooLarge = "webhook_too_large",
    ClockSkew = "clock_skew",
    Spooling = "spooling",
    InboundHeld = "inbound_held",
    InboundDiscarded = "inbound_discarded",
    RouteOff = "route_off",
    ReplyRefused = "reply_refused",
    ThreadFlood = "thread_flood",
    ForeignAccount = "foreign_account",
}

/// Something operators should read of. Words are names, ids and codes, never what a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the words of the sentence")]
pub enum Notice {
    /// The medium refuses a channel's account.
    ChannelParked { channel: ChannelName, fault: String },
    /// It accepts it again.
    ChannelRecovered { channel: ChannelName },
    /// Ten sends ended badly in five minutes; `fault` is the most frequent code.
    SendsFailing { channel: ChannelName, count: u64, fault: String },
    /// A request got no answer.
    OutcomeUnknown { channel: ChannelName, send: SendId },
    /// An item was put aside; `item` is its id when it has one.
    Poison { channel: ChannelName, queue: &'static str, item: String, reason: String },
    /// Too many receipts of an hour belong to no send.
    ReceiptsUnmatched { channel: ChannelName, unmatched: u64, receipts: u64 },
    /// The oldest claimable lane of a channel waits too long.
    QueueStuck { channel: ChannelName, seconds: u64 },
    /// The store's memory is nearly used up.
    StoreFilling { percent: u64 },
    /// The store forgets what it acknowledged when it stops.
    StoreNotDurable,
    /// Two nodes run with different configurations.
    ConfigDiffers { nodes: [String; 2] },
    /// Sends wait on a channel that no running node has.
    ChannelUnknown { channel: ChannelName, waiting: u64 },
    /// The vendor does not take a template; `reason` is its code.
    TemplateRefused { channel: ChannelName, template: String, language: String, reason: String },
    /// The vendor does not take a Flow; `reason` is its code.
    FlowRefused { channel: ChannelName, flow: String, reason: String },
    /// Webhook requests whose signature does not hold.
    WebhookVerificationFailing { channel: ChannelName },
    /// A webhook body over the bound.
    WebhookTooLarge { channel: ChannelName, bound: u64 },
    /// The medium's clock and ours differ.
    ClockSkew { channel: ChannelName, seconds: u64 },
    /// Webhook bodies are kept on this node's disk, or no longer.
    Spooling { channel: ChannelName, over: bool },
    /// A person's message reached no route. `held` is the number held now.
    InboundHeld { channel: ChannelName, route: String, inbound: InboundId, code: String, held: u64 },
    /// A webhook event that cannot be read is kept. `held` is the number kept now.
    EventHeld { channel: ChannelName, inbound: InboundId, held: u64 },
    /// An operator gave up `count` held messages; `inbound` is the first.
    InboundDiscarded { channel: ChannelName, inbound: InboundId, count: u64, by: String },
    /// A route is turned off after too many failures.
    RouteOff { channel: ChannelName, code: String },
    /// What a route answered cannot be sent.
    ReplyRefused { channel: ChannelName, inbound: InboundId, code: String },
    /// One thread sends more than a route should get.
    ThreadFlood { channel: ChannelName, thread: String },
    /// Webhook events name an account this channel is not.
    ForeignAccount { channel: ChannelName },
}

/// What goes along with the sentence.
type Facts = Vec<(&'static str, String)>;

impl Notice {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::ChannelParked { .. } => Kind::ChannelParked,
            Self::ChannelRecovered { .. } => Kind::ChannelRecovered,
            Self::SendsFailing { .. } => Kind::SendsFailing,
            Self::OutcomeUnknown { .. } => Kind::OutcomeUnknown,
            Self::Poison { .. } => Kind::Poison,
            Self::ReceiptsUnmatched { .. } => Kind::ReceiptsUnmatched,
            Self::QueueStuck { .. } => Kind::QueueStuck,
            Self::StoreFilling { .. } => Kind::StoreFilling,
            Self::StoreNotDurable => Kind::StoreNotDurable,
            Self::ConfigDiffers { .. } => Kind::ConfigDiffers,
            Self::ChannelUnknown { .. } => Kind::ChannelUnknown,
            Self::TemplateRefused { .. } => Kind::TemplateRefused,
            Self::FlowRefused { .. } => Kind::FlowRefused,
            Self::WebhookVerificationFailing { .. } => Kind::WebhookVerificationFailing,
            Self::WebhookTooLarge { .. } => Kind::WebhookTooLarge,
            Self::ClockSkew { .. } => Kind::ClockSkew,
            Self::Spooling { .. } => Kind::Spooling,
            Self::InboundHeld { .. } | Self::EventHeld { .. } => Kind::InboundHeld,
            Self::InboundDiscarded { .. } => Kind::InboundDiscarded,
            Self::RouteOff { .. } => Kind::RouteOff,
            Self::ReplyRefused { .. } => Kind::ReplyRefused,
            Self::ThreadFlood { .. } => Kind::ThreadFlood,
            Self::ForeignAccount { .. } => Kind::ForeignAccount,
        }
    }

    /// The channel it is about.
    fn channel(&self) -> Option<&ChannelName> {
        match self {
            Self::StoreFilling { .. } | Self::StoreNotDurable | Self::ConfigDiffers { .. } => None,
            Self::ChannelParked { channel, .. }
            | Self::ChannelRecovered { channel }
            | Self::SendsFailing { channel, .. }
            | Self::OutcomeUnknown { channel, .. }
            | Self::Poison { channel, .. }
            | Self::ReceiptsUnmatched { channel, .. }
            | Self::QueueStuck { channel, .. }
            | Self::ChannelUnknown { channel, .. }
            | Self::TemplateRefused { channel, .. }
            | Self::FlowRefused { channel, .. }
            | Self::WebhookVerificationFailing { channel }
            | Self::WebhookTooLarge { channel, .. }
            | Self::ClockSkew { channel, .. }
            | Self::Spooling { channel, .. }
            | Self::InboundHeld { channel, .. }
            | Self::EventHeld { channel, .. }
            | Self::InboundDiscarded { channel, .. }
            | Self::RouteOff { channel, .. }
            | Self::ReplyRefused { channel, .. }
            | Self::ThreadFlood { channel, .. }
            | Self::ForeignAccount { channel } => Some(channel),
        }
    }

    /// What the limiter counts together; nothing where every one is told.
    #[must_use]
    pub fn scope(&self) -> Option<String> {
        let channel = self.channel().map(ChannelName::as_str).unwrap_or_default();
        match self {
            Self::InboundDiscarded { .. } => None,
            Self::TemplateRefused { template, language, .. } => {
                Some(format!("{channel}:{template}:{language}"))
            }
            Self::FlowRefused { flow, .. } => Some(format!("{channel}:{flow}")),
            Self::InboundHeld { route, .. } => Some(format!("{channel}:{route}")),
            // The end of an episode must not be counted as one more beginning.
            Self::Spooling { over: true, .. } => Some(format!("{channel}:over")),
            Self::ThreadFlood { thread, .. } => Some(format!("{channel}:{thread}")),
            _ => Some(channel.to_owned()),
        }
    }

    /// Whether each one is an event of its own, worth counting; the others are states that are
    /// noticed again and again.
    fn counts(&self) -> bool {
        !matches!(
            self.kind(),
            Kind::SendsFailing
                | Kind::QueueStuck
                | Kind::StoreFilling
                | Kind::StoreNotDurable
                | Kind::ConfigDiffers
                | Kind::ChannelUnknown
                | Kind::ReceiptsUnmatched
                | Kind::InboundHeld
                | Kind::InboundDiscarded
        )
    }

    /// The entry's sentence and its facts when it stands for so many occurrences.
    #[must_use]
    pub fn told(&self, occurrences: u64) -> (String, Vec<(String, String)>) {
        let (mut sentence, own) = self.sentence(occurrences > 1);
        let mut facts = vec![("kind".to_owned(), self.kind().as_str().to_owned())];
        if let Some(channel) = self.channel() {
            facts.push(("channel".to_owned(), channel.as_str().to_owned()));
        }
        facts.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if self.counts() && occurrences > 1 {
            sentence.push_str(&format!(" It happened {occurrences} times since the last entry."));
        }
        if self.counts() {
            facts.push(("count".to_owned(), occurrences.to_string()));
        }
        (sentence, facts)
    }

    fn sentence(&self, repeated: bool) -> (String, Facts) {
        let held_now = |held: &u64| match repeated {
            true => format!(" {held} are held now."),
            false => String::new(),
        };
        match self {
            Self::ChannelParked { channel, fault } => (
                format!(
                    "Channel {channel} is parked: its medium refuses the account ({fault}). Its \
                     sends wait and fail only by expiry; mend the account or its credentials, and \
                     the channel goes on by itself."
                ),
                vec![("fault", fault.clone())],
            ),
            Self::ChannelRecovered { channel } => {
                (format!("Channel {channel} works again; what waited goes out now."), Vec::new())
            }
            Self::SendsFailing { channel, count, fault } => (
                format!(
                    "{count} sends of channel {channel} ended within 5 minutes without being \
                     accepted, most often with {fault}. Look at one with `tidings sends show`, \
                     mend the cause, then retry them."
                ),
                vec![("count", count.to_string()), ("fault", fault.clone())],
            ),
            Self::OutcomeUnknown { channel, send } => (
                format!(
                    "Send {send} on channel {channel} got no answer: the person may have it or \
                     not. It is not repeated by itself; retry it if it did not arrive."
                ),
                vec![("send", send.as_str().to_owned())],
            ),
            Self::Poison { queue, item, reason, channel } => (
                format!(
                    "An item of the {queue} queue of channel {channel} could not be worked and was \
                     put aside ({reason}); its lane goes on. `GET /api/queue/poison` lists it."
                ),
                vec![
                    ("queue", (*queue).to_owned()),
                    ("item", item.clone()),
                    ("reason", reason.clone()),
                ],
            ),
            _ => self.more(held_now),
        }
    }

    fn more(&self, held_now: impl Fn(&u64) -> String) -> (String, Facts) {
        match self {
            Self::ReceiptsUnmatched { channel, unmatched, receipts } => (
                format!(
                    "{unmatched} of {receipts} receipts of channel {channel} in the last hour \
                     belong to no send of this gateway. Other software may share the account; \
                     `GET /api/receipts/unmatched` lists them."
                ),
                vec![("unmatched", unmatched.to_string()), ("receipts", receipts.to_string())],
            ),
            Self::QueueStuck { channel, seconds } => (
                format!(
                    "The oldest send of channel {channel} that could go out waits {seconds} s: \
                     too few workers, or they stand still. Look at /readyz and the log."
                ),
                vec![("seconds", seconds.to_string())],
            ),
            Self::StoreFilling { percent } => (
                format!(
                    "The store uses {percent} % of the memory it may use. When it is full, calls \
                     are refused with store_unavailable: raise maxmemory or lower \
                     delivery.retention."
                ),
                vec![("percent", percent.to_string())],
            ),
            Self::StoreNotDurable => (
                "Redis keeps no append-only file: what it acknowledged is lost when it stops. Set \
                 appendonly to yes."
                    .to_owned(),
                Vec::new(),
            ),
            Self::ConfigDiffers { nodes: [one, other] } => (
                format!(
                    "Nodes {one} and {other} have run with different configurations for more than \
                     5 minutes: give every node the same one."
                ),
                vec![("nodes", format!("{one},{other}"))],
            ),
            Self::ChannelUnknown { channel, waiting } => (
                format!(
                    "{waiting} sends wait on channel {channel}, which no running node has \
                     configured: they expire unless it is configured again."
                ),
                vec![("waiting", waiting.to_string())],
            ),
            Self::TemplateRefused { channel, template, language, reason } => (
                format!(
                    "The vendor does not take template {template} ({language}) of channel \
                     {channel}: {reason}. Sends with it fail until it is approved again."
                ),
                vec![
                    ("template", template.clone()),
                    ("language", language.clone()),
                    ("reason", reason.clone()),
                ],
            ),
            Self::FlowRefused { channel, flow, reason } => (
                format!(
                    "The vendor does not take the form {flow} of channel {channel}: {reason}. \
                     Sends with it fail until that is mended at the vendor."
                ),
                vec![("flow", flow.clone()), ("reason", reason.clone())],
            ),
            _ => self.of_inbound(held_now),
        }
    }

    fn of_inbound(&self, held_now: impl Fn(&u64) -> String) -> (String, Facts) {
        match self {
            Self::InboundHeld { channel, route, inbound, code, held } => (
                format!(
                    "Delivery of inbound message {inbound} to the route of channel {channel} \
                     failed; it is held until it is retried or discarded. Last error: {code}.{}",
                    held_now(held)
                ),
                held_facts(route, inbound, *held),
            ),
            Self::EventHeld { channel, inbound, held } => (
                format!(
                    "A webhook event of channel {channel} could not be read; it is kept as \
                     {inbound} until it is retried or discarded.{}",
                    held_now(held)
                ),
                held_facts("", inbound, *held),
            ),
            Self::InboundDiscarded { channel, inbound, count, by } => (
                format!(
                    "Inbound message {inbound} of channel {channel} was discarded; no route will \
                     ever receive it."
                ),
                vec![
                    ("inbound", inbound.as_str().to_owned()),
                    ("count", count.to_string()),
                    ("by", by.clone()),
                ],
            ),
            _ => self.of_doors(),
        }
    }

    fn of_doors(&self) -> (String, Facts) {
        match self {
            Self::WebhookTooLarge { channel, bound } => (
                format!(
                    "A webhook of channel {channel} was larger than {bound} bytes and was refused: \
                     raise body_max of the channel if its medium sends such bodies."
                ),
                vec![("bound", bound.to_string())],
            ),
            Self::ClockSkew { channel, seconds } => (
                format!(
                    "The clock of channel {channel}'s medium and ours differ by {seconds} s: set \
                     this machine's clock, or its webhooks will be refused as stale."
                ),
                vec![("seconds", seconds.to_string())],
            ),
            Self::Spooling { channel, over } => (
                if *over {
                    format!("What was kept of channel {channel} while the store was down is in.")
                } else {
                    format!(
                        "The store does not answer: webhooks of channel {channel} are kept on this \
                         node's disk and taken up when it does. Keep the node's disk."
                    )
                },
                vec![("over", over.to_string())],
            ),
            Self::RouteOff { channel, code } => (
                format!(
                    "The route of channel {channel} is off after too many failures (last error: \
                     {code}); what arrives is held. Mend the tool, then retry what is held."
                ),
                vec![("code", code.clone())],
            ),
            Self::ReplyRefused { channel, inbound, code } => (
                format!(
                    "What the route of channel {channel} answered to inbound message {inbound} \
                     cannot be sent: {code}. The person got no reply."
                ),
                vec![("inbound", inbound.as_str().to_owned()), ("code", code.clone())],
            ),
            Self::ThreadFlood { channel, thread } => (
                format!(
                    "Thread {thread} of channel {channel} sends more than 60 messages a minute: \
                     they are recorded, and its route gets one a second."
                ),
                vec![("thread", thread.clone())],
            ),
            Self::ForeignAccount { channel } => (
                format!(
                    "Webhooks at the door of channel {channel} name an account that is not its \
                     own: the account's webhook address may be set to the wrong channel."
                ),
                Vec::new(),
            ),
            // Every other kind is told above.
            _ => (
                format!(
                    "Webhooks of channel {} fail their signature check: compare the channel's \
                     signature secret with the one at the medium.",
                    self.channel().map(ChannelName::as_str).unwrap_or_default()
                ),
                Vec::new(),
            ),
        }
    }
}

fn held_facts(route: &str, inbound: &InboundId, held: u64) -> Facts {
    vec![
        ("route", route.to_owned()),
        ("inbound", inbound.as_str().to_owned()),
        ("held", held.to_string()),
    ]
}

/// Writes entries.
pub struct Notices {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<Ids>,
    metrics: Arc<Metrics>,
    ring: u32,
}

impl Notices {
    /// A writer into a ring of so many entries. Its failures are counted from 0 for every kind.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ids: Arc<Ids>,
        metrics: Arc<Metrics>,
        ring: u32,
    ) -> Self {
        for kind in Kind::ALL {
            metrics.add(FAILURES, &[("kind", kind.as_str())], 0);
        }
        Self { store, clock, ids, metrics, ring }
    }

    /// Tells it beside the caller's work, which goes on at once whatever becomes of it.
    pub fn raise(self: &Arc<Self>, notice: Notice) {
        let notices = self.clone();
        tokio::spawn(async move { notices.tell(notice).await });
    }

    /// Tells it if it may be told now: tried once, for two seconds at most.
    pub async fn tell(&self, notice: Notice) {
        let written = tokio::time::timeout(BOUND, self.written(&notice)).await;
        let why = match written {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(_) => "the store gave no answer in time".to_owned(),
        };
        let (sentence, _) = notice.told(1);
        let kind = notice.kind().as_str();
        tracing::error!(
            kind,
            scope = notice.scope().unwrap_or_default(),
            error = why,
            "an entry for the operators could not be written: {sentence}"
        );
        self.metrics.add(FAILURES, &[("kind", kind)], 1);
    }

    async fn written(&self, notice: &Notice) -> Result<(), String> {
        let occurrences = match notice.scope() {
            None => 1,
            Some(scope) => {
                let kind = notice.kind().as_str();
                let told = self.store.announce(kind, &scope, EVERY, At::Store).await;
                match told.map_err(|error| error.to_string())? {
                    Some(occurrences) => occurrences,
                    None => return Ok(()),
                }
            }
        };
        let (sentence, metadata) = notice.told(occurrences);
        let message = Text::parse(sentence, SENTENCE_MAX)
            .map_err(|_| "the sentence is no text".to_owned())?;
        let content =
            Content { message, media: Vec::new(), location: None, surface: Surface::None };
        let notification = Notification {
            id: self.ids.notification(),
            created_at: self.clock.now(),
            origin: Origin::Platform,
            caller: None,
            audience: None,
            channel: None,
            recipient: None,
            content,
            expires_at: None,
            metadata,
            trace_id: self.ids.trace(),
        };
        let step = OpenStep {
            notification: notification.id.clone(),
            body: entry::encode(&notification, None),
            audience: None,
            idempotency: None,
            keep_for: Duration::ZERO,
            trace: None,
            send: None,
            ring: self.ring,
            audience_ttl: Duration::ZERO,
        };
        match self.store.open(step, At::Store).await {
            Ok(Opened::Opened) => Ok(()),
            Ok(_) => Err("the store did not record it".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
#[path = "notices_tests.rs"]
mod tests;
