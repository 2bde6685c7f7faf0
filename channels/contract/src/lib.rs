//! The words and traits that every medium shares.
//!
//! Pure vocabulary: no I/O, no clock, no async runtime, no HTTP client, no store. A medium is a
//! crate that implements [`Adapter`] over these types; the gateway is a program that calls it.
//!
//! - what a person is to get: [`content`], its text classes in [`text`], its urls in [`target`];
//! - what a medium can do with it: [`capability`], [`limits`], [`descriptor`];
//! - what goes over the wire: [`part`], [`wire`], and what came back: [`fault`], [`outcome`];
//! - what the medium tells us later: [`door`], [`inbound`], [`receipt`];
//! - what an operator configures: [`account`], [`secret`], [`words`], and for a medium whose page
//!   this gateway serves itself, [`page`].
pub mod account;
pub mod adapter;
pub mod capability;
pub mod content;
pub mod descriptor;
pub mod door;
pub mod fault;
pub mod ids;
pub mod inbound;
pub mod limits;
pub mod outcome;
pub mod page;
pub mod part;
pub mod receipt;
pub mod refusal;
pub mod secret;
pub mod target;
pub mod text;
pub mod wire;
pub mod words;

pub use account::{AccountConfig, Key, KeyDefault, KeyKind, KeyProblem, KeyValue, Registration};
pub use adapter::{Adapter, Health, HealthState, Pace, RenderCtx, Rendered};
pub use capability::{Capability, Degrade, Degrades, How, Matrix, Support};
pub use content::{
    Choice, ChoiceList, ChoiceOption, ChoiceSurface, Content, FormRequest, LinkOption, Location,
    MediaItem, MediaKind, MediaSource, OptionSection, ReplyOption, Surface, Template,
    TemplateButton,
};
pub use descriptor::{Descriptor, DoorSpec, RecipientPolicy, Recipients};
pub use fault::{FaultClass, FaultKind, GoneScope, MisconfiguredScope, SendFault, ThrottleScope};
pub use ids::{
    ChannelName, InboundId, MediaId, Medium, NotificationId, SendId, ThreadId, VisitorId,
};
pub use limits::{Limit, LimitName, Limits, Unit};
pub use outcome::Outcome;
pub use page::{ChatPage, PageFile, ShowAddress};
pub use part::{Alternate, Facts, Frame, Need, Part, PartKind, Payload};
pub use receipt::{PartStatus, Rank, ReceiptName, ReceiptReading};
pub use refusal::{Address, Problem, Refusal, RefusalStatus};
pub use secret::{Secret, Secrets};
pub use target::WebUrl;
pub use text::{Filename, Line, Text, TextProblem, Token};
pub use wire::{
    Body, Fetched, FileRef, FormField, Method, MultipartField, MultipartValue, Resource, Sealed,
    Wire, WireError, WireRequest, WireResponse, WireResult,
};
pub use words::{Word, Words};
