//! The trait every medium implements, bound to one account.
//!
//! Pure but for [`Adapter::prepare`] and [`Adapter::probe`], which meet the network through
//! [`Wire`] alone. Nothing here reads a clock or a store.
use crate::capability::Degrade;
use crate::content::Content;
use crate::descriptor::Descriptor;
use crate::door::Door;
use crate::fault::{FaultKind, SendFault};
use crate::ids::SendId;
use crate::outcome::Outcome;
use crate::page::ChatPage;
use crate::part::{Need, Part};
use crate::refusal::{Address, Refusal};
use crate::secret::Secrets;
use crate::wire::{Resource, Wire, WireResult};
use async_trait::async_trait;

/// What a rendering depends on besides the content.
#[derive(Clone, Debug)]
pub struct RenderCtx<'a> {
    /// The send; absent before it exists, then the literal `<send>` stands in.
    pub send: Option<&'a SendId>,
    /// The form's token; absent before it exists, then `<flow_token>` stands in.
    pub form_token: Option<&'a str>,
    /// Where it goes.
    pub address: &'a Address,
    /// Provider message id of the message this one answers.
    pub reply_to: Option<&'a str>,
}

/// Characters behind `snd_`.
pub const SEND_TAIL: usize = 26;

impl RenderCtx<'_> {
    /// The 26 characters that minted option ids carry, or the literal `<send>`. A limit is
    /// measured as if [`SEND_TAIL`] characters stood there.
    #[must_use]
    pub fn send_tail(&self) -> &str {
        self.send.map_or("<send>", SendId::tail)
    }
    /// The id an option carries on the wire: it names the send on any node and needs no table.
    #[must_use]
    pub fn minted_option_id(&self, index: usize) -> String {
        format!("o:{}:{index}", self.send_tail())
    }
}

/// A rendering: parts in the order they go out, and what was approximated.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// In order.
    pub parts: Vec<Part>,
    /// One entry per capability and how.
    pub degrades: Vec<Degrade>,
}

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// State.
    pub state: HealthState,
    /// A value-free sentence.
    pub detail: String,
    /// How the medium names the account, such as `@bot`.
    pub identity_hint: Option<String>,
    /// The credentials themselves were refused.
    pub refused: bool,
}

/// An account's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthState {
    /// The probe succeeded.
    Ok,
    /// It did not.
    Failing,
    /// Never probed, or no answer in time.
    Unknown,
}

impl HealthState {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failing => "failing",
            Self::Unknown => "unknown",
        }
    }
}

/// How fast a medium wants requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Requests a second in the long run; 0: as many as there are.
    pub per_second: f64,
    /// Requests an idle lane lets through at once.
    pub burst: f64,
}

impl Pace {
    /// As many as there are.
    pub const NONE: Self = Self { per_second: 0.0, burst: 0.0 };
}

/// One medium, bound to one account.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// What the account can do.
    fn descriptor(&self) -> &Descriptor;

    /// The secrets that the account's requests refer to.
    fn secrets(&self) -> &Secrets;

    /// Response and request headers worth keeping in an attempt log, beside the common ones.
    fn kept_headers(&self) -> &'static [&'static str] {
        &[]
    }

    /// The pace of the whole account unless the operator sets another.
    fn account_pace(&self) -> Pace {
        Pace::NONE
    }

    /// The pace towards one recipient unless the operator sets another.
    fn recipient_pace(&self, _address: &Address) -> Pace {
        Pace::NONE
    }

    /// Reads the recipient a caller gave, or the default, and applies the account's policy. With
    /// `reply` the list is not consulted: it answers someone who wrote.
    ///
    /// # Errors
    /// 400 `recipient_required`, `bad_recipient`; 403 `recipient_not_allowed`.
    fn recipient(&self, given: Option<&str>, reply: bool) -> Result<Address, Refusal>;

    /// Renders content into parts: total and deterministic. Every field of the content is in some
    /// part, in a degrade, or in the refusal.
    ///
    /// # Errors
    /// 400 for a value that the medium cannot carry.
    fn render(&self, ctx: &RenderCtx<'_>, content: &Content) -> Result<Rendered, Refusal>;

    /// Fulfils a need that only this medium knows how to: an upload, a published form. Own and
    /// fetched bytes are the engine's.
    ///
    /// # Errors
    /// The fault of the preparation, read like a part's.
    async fn prepare(&self, _need: &Need, _wire: &dyn Wire) -> Result<Resource, SendFault> {
        Err(SendFault::new(
            FaultKind::Internal,
            "internal",
            "this medium prepares nothing of that kind",
        ))
    }

    /// Reads what an exchange came to; never panics on any bytes.
    fn interpret(&self, part: &Part, result: &WireResult) -> Outcome;

    /// The verification and reading of this medium's webhooks; `None` when the account has no
    /// door (no secret is configured, or the medium has none).
    fn door(&self) -> Option<&dyn Door> {
        None
    }

    /// The page people use, when the medium is this gateway's own.
    fn page(&self) -> Option<&ChatPage> {
        None
    }

    /// Asks the medium who the account is. Side-effect free at the vendor.
    async fn probe(&self, wire: &dyn Wire) -> Health;
}
