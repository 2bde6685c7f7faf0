//! Recording an inbound message: one step of the store, repeated while something moved under it (a
//! thread was made meanwhile, a frame came first).
use super::inbound::{InboundMessage, InboundState, ReplyTo, Sender};
use crate::clock::{Clock, Millis};
use crate::ids::Ids;
use crate::store::{Append, At, Claim, FrameId, InboundStep, Recorded, Store, StoreResult};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use contract::inbound::InboundKind;
use contract::{ChannelName, InboundId, Medium, ThreadId, VisitorId};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// What a person did, before it has an id and a thread.
#[derive(Clone, Debug)]
pub struct Said {
    /// On which channel.
    pub channel: ChannelName,
    /// Its medium.
    pub medium: Medium,
    /// What it is.
    pub kind: InboundKind,
    /// The platform's time; ours when absent.
    pub at: Option<Millis>,
    /// Who.
    pub sender: Sender,
    /// What was said.
    pub text: String,
    /// Facts beside it.
    pub params: Vec<(String, String)>,
    /// What it answers.
    pub reply_to: Option<ReplyTo>,
    /// What makes it act once: the claim key, how long it is kept, what was said under it.
    pub claim: Option<(String, Duration, String)>,
    /// The visitor's own frame.
    pub echo: Option<Echo>,
}

/// A frame that shows a visitor what they said.
#[derive(Clone, Debug)]
pub struct Echo {
    /// Whose transcript.
    pub visitor: VisitorId,
    /// The stored frame.
    pub frame: Bytes,
    /// Frames kept.
    pub keep: u32,
    /// Lifetime of the transcript.
    pub ttl: Duration,
}

/// What recording came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Recorded under this id, now or before.
    Recorded(InboundId),
    /// The claim is held by a message that said something else.
    Conflict,
    /// The visitor is gone.
    NoVisitor,
}

/// Records inbound messages.
pub struct Recorder {
    /// The store.
    store: Arc<dyn Store>,
    /// Mints ids.
    ids: Arc<Ids>,
    /// Time.
    clock: Arc<dyn Clock>,
    /// How long messages and threads are kept.
    keep: Duration,
}

#[derive(Serialize)]
struct ThreadValue<'a> {
    channel: &'a ChannelName,
    address: &'a str,
    last_at: Millis,
}

/// A short hash: base64url of the first 16 bytes of SHA-256.
fn short_hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(text.as_bytes())[..16])
}

impl Recorder {
    /// A recorder that keeps what it records this long.
    #[must_use]
    pub fn new(
        store: &Arc<dyn Store>,
        ids: &Arc<Ids>,
        clock: &Arc<dyn Clock>,
        keep: Duration,
    ) -> Self {
        Self { store: store.clone(), ids: ids.clone(), clock: clock.clone(), keep }
    }

    /// Records what was said.
    ///
    /// # Errors
    /// The store's.
    pub async fn record(&self, said: &Said) -> StoreResult<Outcome> {
        let address = short_hash(&said.sender.address);
        let found = self.store.thread_of(&said.channel, &address, At::Store).await?;
        let mut thread = found.unwrap_or_else(|| self.ids.thread());
        let (id, mut newest) = (self.ids.inbound(), FrameId::START);
        loop {
            let step = self.step(said, &id, &address, &thread, newest);
            match self.store.record_inbound(step, At::Store).await? {
                Recorded::Done => return Ok(Outcome::Recorded(id)),
                Recorded::Seen { id, same: true } => return Ok(Outcome::Recorded(id)),
                Recorded::Seen { same: false, .. } => return Ok(Outcome::Conflict),
                Recorded::NoVisitor => return Ok(Outcome::NoVisitor),
                Recorded::Thread(other) => thread = other,
                Recorded::Behind(other) => newest = other,
            }
        }
    }

    fn step(
        &self,
        said: &Said,
        id: &InboundId,
        address: &str,
        thread: &ThreadId,
        newest: FrameId,
    ) -> InboundStep {
        let now = self.clock.now();
        let message = InboundMessage {
            id: id.clone(),
            channel: said.channel.clone(),
            medium: said.medium.clone(),
            thread: thread.clone(),
            kind: said.kind,
            at: said.at.unwrap_or(now),
            received_at: now,
            sender: said.sender.clone(),
            text: said.text.clone(),
            params: said.params.clone(),
            reply_to: said.reply_to.clone(),
            state: InboundState::Recorded,
        };
        let value =
            ThreadValue { channel: &said.channel, address: &said.sender.address, last_at: now };
        InboundStep {
            id: id.clone(),
            channel: said.channel.clone(),
            received_at: now,
            value: message.encode(),
            address: address.to_owned(),
            thread: thread.clone(),
            thread_value: rmp_serde::to_vec_named(&value).unwrap_or_default().into(),
            keep: self.keep,
            claim: said.claim.as_ref().map(|(key, keep, fingerprint)| Claim {
                hash: short_hash(key),
                keep: *keep,
                fingerprint: fingerprint.clone(),
            }),
            frame: said.echo.as_ref().map(|echo| Append {
                channel: said.channel.clone(),
                visitor: echo.visitor.clone(),
                id: FrameId::after(newest, now),
                frame: echo.frame.clone(),
                keep: echo.keep,
                ttl: echo.ttl,
            }),
        }
    }
}
