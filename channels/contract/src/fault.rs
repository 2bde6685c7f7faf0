//! Why a part was not accepted: one closed set of classes, in code and on the wire.
use crate::capability::words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

words!(
    /// The closed set of fault classes.
    FaultClass {
        Transient = "transient", Throttled = "throttled", Ambiguous = "ambiguous",
        Permanent = "permanent", WindowClosed = "window_closed", RecipientGone = "recipient_gone",
        Misconfigured = "misconfigured", Internal = "internal",
    }
);

/// Whom a vendor asked to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleScope {
    /// The whole channel.
    Account,
    /// This person only.
    Recipient,
}

/// What a person told us to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoneScope {
    /// Everything.
    All,
    /// Marketing messages.
    Marketing,
}

/// What is misconfigured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MisconfiguredScope {
    /// The account: no send of this channel can go out.
    Account,
    /// This method or destination is not permitted to the account.
    Send,
}

/// A fault's class with what that class carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum FaultKind {
    /// Not processed; could work later.
    Transient,
    /// Asked to wait.
    Throttled {
        /// Who has to.
        scope: ThrottleScope,
    },
    /// The request was written and nothing settles its outcome.
    Ambiguous,
    /// Refused now and later.
    Permanent,
    /// Free-form messages are not allowed at the moment.
    WindowClosed,
    /// The person cannot or will not be reached.
    RecipientGone {
        /// True: they told us to stop. False: deactivated, removed, unreachable.
        hard: bool,
        /// What they stopped.
        scope: GoneScope,
    },
    /// Credentials or permissions.
    Misconfigured {
        /// Whose.
        scope: MisconfiguredScope,
    },
    /// Our defect.
    Internal,
}

impl FaultKind {
    /// The word on the wire.
    #[must_use]
    pub fn class(self) -> FaultClass {
        match self {
            Self::Transient => FaultClass::Transient,
            Self::Throttled { .. } => FaultClass::Throttled,
            Self::Ambiguous => FaultClass::Ambiguous,
            Self::Permanent => FaultClass::Permanent,
            Self::WindowClosed => FaultClass::WindowClosed,
            Self::RecipientGone { .. } => FaultClass::RecipientGone,
            Self::Misconfigured { .. } => FaultClass::Misconfigured,
            Self::Internal => FaultClass::Internal,
        }
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFault {
    /// Class and what it carries.
    pub kind: FaultKind,
    /// Stable code; the class's word when a table names none.
    pub code: Cow<'static, str>,
    /// Our sentence; no value of a caller, no secret, no address.
    pub detail: Cow<'static, str>,
    /// The vendor's code.
    pub provider_code: Option<String>,
    /// The vendor's wait: a floor under every class that carries one.
    pub wait: Option<Duration>,
    /// Only a defect of our rendering can cause it: counted, and the test suite fails on it.
    pub render_defect: bool,
}

impl SendFault {
    /// A fault of this kind, code and sentence.
    #[must_use]
    pub fn new(kind: FaultKind, code: &'static str, detail: &'static str) -> Self {
        Self {
            kind,
            code: Cow::Borrowed(code),
            detail: Cow::Borrowed(detail),
            provider_code: None,
            wait: None,
            render_defect: false,
        }
    }
    /// With the vendor's own code.
    #[must_use]
    pub fn provider(mut self, code: impl Into<String>) -> Self {
        self.provider_code = Some(code.into());
        self
    }
    /// With the vendor's wait.
    #[must_use]
    pub fn after(mut self, wait: Option<Duration>) -> Self {
        self.wait = wait;
        self
    }
}
