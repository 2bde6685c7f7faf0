//! What a person did, as an adapter reads it: one shape for every medium.
use crate::capability::words;
use crate::content::MediaKind;

words!(
    /// What an inbound message is.
    InboundKind {
        Message = "message", Tap = "tap", Form = "form", Reaction = "reaction", Edit = "edit",
        OptOut = "opt_out", OptIn = "opt_in",
    }
);

/// One thing a person did. Times are milliseconds since the epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct InboundReading {
    /// What it is.
    pub kind: InboundKind,
    /// The address that names the thread.
    pub address: String,
    /// Other addresses the webhook names for the same person.
    pub aliases: Vec<String>,
    /// The person's name.
    pub name: Option<String>,
    /// Their language tag.
    pub locale: Option<String>,
    /// The platform's time.
    pub at: Option<i64>,
    /// The platform's id of this message.
    pub provider_message_id: Option<String>,
    /// What the person said; `""` for media without caption.
    pub text: String,
    /// Facts beside the text, bounded.
    pub params: Vec<(String, String)>,
    /// The message quoted, tapped or reacted to.
    pub quotes: Option<String>,
    /// The option id on the wire, for a tap.
    pub tapped: Option<String>,
    /// Items that share one message come with the same group id.
    pub group: Option<String>,
    /// Media, by reference.
    pub media: Vec<InboundMedia>,
    /// A pin.
    pub location: Option<crate::content::Location>,
    /// A submitted form: token, if the platform gave it, and the answers as JSON text.
    pub form: Option<InboundForm>,
    /// Fields that were broken and left out, with the reason.
    pub dropped: Vec<(&'static str, &'static str)>,
}

/// A media reference.
#[derive(Clone, Debug, PartialEq)]
pub struct InboundMedia {
    /// What it is.
    pub kind: MediaKind,
    /// The vendor's handle, or an address.
    pub handle: String,
    /// MIME type the vendor claims.
    pub content_type: Option<String>,
    /// Size the vendor claims.
    pub size: Option<u64>,
    /// Name.
    pub filename: Option<String>,
    /// Caption.
    pub caption: Option<String>,
}

/// A form submission.
#[derive(Clone, Debug, PartialEq)]
pub struct InboundForm {
    /// The token we gave with the form.
    pub token: Option<String>,
    /// A JSON object as text.
    pub answers: String,
}
