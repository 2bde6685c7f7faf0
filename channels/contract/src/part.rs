//! A part: one provider request, or one frame of the web chat.
use crate::capability::words;
use crate::ids::MediaId;
use crate::target::WebUrl;
use crate::wire::WireRequest;
use serde::{Deserialize, Serialize};

words!(
    /// What a part mainly is.
    PartKind {
        Text = "text", Image = "image", Video = "video", Audio = "audio", Document = "document",
        Location = "location", Choice = "choice", Form = "form", Template = "template",
        Card = "card",
    }
);

/// One part of a send. Its index is its place in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it mainly is.
    pub kind: PartKind,
    /// What must be had before the request can be made, in order.
    pub needs: Vec<Need>,
    /// The request, or the frame.
    pub payload: Payload,
    /// Another way to send the same, tried once when the adapter says so.
    pub alternate: Option<Box<Alternate>>,
    /// What it costs a pacing lane.
    pub requests: u32,
    /// What is true of it and changes nothing in it.
    pub facts: Facts,
}

/// A part's other way, with needs of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternate {
    /// As [`Part::needs`].
    pub needs: Vec<Need>,
    /// The request.
    pub request: WireRequest,
}

/// What a part is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// An HTTP request.
    Request(WireRequest),
    /// A frame appended to a visitor's transcript: this gateway is the medium.
    Frame(Frame),
}

/// A frame of the web chat: its event name and its JSON, without `id`, `dir` and `at`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// `chat.message` or `chat.form`.
    pub event: &'static str,
    /// A JSON object as text.
    pub json: String,
}

/// Something to have before a request is made. The index in the list is what a
/// [`crate::wire::FileRef`] names.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// Bytes this gateway stores.
    OwnMedia {
        /// Which.
        id: MediaId,
        /// Most bytes the medium takes.
        max_bytes: u64,
    },
    /// Bytes at a caller's address, under the network rules.
    FetchMedia {
        /// Where.
        url: WebUrl,
        /// Most bytes the medium takes.
        max_bytes: u64,
    },
    /// An upload whose vendor media id goes into the part.
    VendorUpload {
        /// The upload.
        request: Box<WireRequest>,
        /// Needs of the upload itself.
        needs: Vec<Need>,
    },
    /// A published Flow.
    EnsureFlow {
        /// Hash of the definition.
        hash: String,
        /// The definition as JSON text.
        definition: String,
    },
}

/// True statements about a request. Only the members that apply are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// `gsm7` or `ucs2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Units in that encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u32>,
    /// SMS segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<u32>,
    /// Files whose bytes go along, when more than none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploads: Option<u32>,
}
