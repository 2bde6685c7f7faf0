//! Requests as data, and the one door to the network.
//!
//! A request is built by an adapter, shown by preview, compared by golden tests, logged by the
//! attempt log and sent by the client: the same bytes. Secrets stand in it as references
//! ([`Sealed`]); only the client that sends it resolves them.
use crate::fault::SendFault;
use crate::secret::Secrets;
use crate::target::WebUrl;
use async_trait::async_trait;
use bytes::Bytes;
use std::fmt;

/// Text in which secrets are references. Caller text is never read as one: references exist only
/// as pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Plain(String),
    Secret(&'static str),
}

impl Sealed {
    /// Text without secrets.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self(vec![Piece::Plain(text.into())])
    }
    /// Appends text.
    #[must_use]
    pub fn then(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece::Plain(text.into()));
        self
    }
    /// Appends a reference to a secret of the account.
    #[must_use]
    pub fn secret(mut self, name: &'static str) -> Self {
        self.0.push(Piece::Secret(name));
        self
    }
    /// With every secret filled in; an unknown name gives an empty piece, which the vendor refuses.
    #[must_use]
    pub fn expose(&self, secrets: &Secrets) -> String {
        self.write(|name| secrets.get(name).map_or(String::new(), |s| s.expose().to_owned()))
    }
    /// With `***` for every secret: what preview and logs show.
    #[must_use]
    pub fn masked(&self) -> String {
        self.write(|_| "***".to_owned())
    }
    /// With `{{name}}` for every secret: what golden files hold.
    #[must_use]
    pub fn named(&self) -> String {
        self.write(|name| format!("{{{{{name}}}}}"))
    }
    fn write(&self, secret: impl Fn(&'static str) -> String) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) => text.clone(),
                Piece::Secret(name) => secret(name),
            })
            .collect()
    }
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

/// HTTP methods media use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Writes.
    Post,
}

impl Method {
    /// `GET` or `POST`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// One HTTP request.
#[derive(Clone, Debug, PartialEq)]
pub struct WireRequest {
    /// Method.
    pub method: Method,
    /// Absolute url.
    pub url: Sealed,
    /// Lower-case names; content type and length follow from the body.
    pub headers: Vec<(&'static str, Sealed)>,
    /// Body.
    pub body: Body,
}

/// A request body.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// None.
    Empty,
    /// JSON text, key order as built.
    Json(String),
    /// `application/x-www-form-urlencoded`, repeats kept.
    Form(Vec<FormField>),
    /// `multipart/form-data`.
    Multipart(Vec<MultipartField>),
}

/// One pair of a form body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// One field of a multipart body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipartField {
    /// Field name.
    pub name: String,
    /// Text or file.
    pub value: MultipartValue,
}

/// What a multipart field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultipartValue {
    /// Text.
    Text(String),
    /// Bytes a need provides.
    File {
        /// Which need.
        file: FileRef,
        /// Name the person sees.
        filename: String,
    },
}

/// The bytes of need number `0`, counted in the list that goes with the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRef(pub usize);

/// What a need came to, in the same order as the needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Resource {
    /// Bytes with their type.
    Bytes {
        /// The bytes.
        bytes: Bytes,
        /// Their MIME type.
        content_type: String,
    },
    /// An id the vendor gave to an upload or a Flow.
    VendorId(String),
}

/// Bytes fetched from a caller's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes.
    pub bytes: Bytes,
    /// MIME type, parameters cut off.
    pub content_type: String,
    /// Said in the attempt log when the bytes are not what stands at the address.
    pub note: Option<&'static str>,
}

/// A response; its body holds at most 1 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireResponse {
    /// HTTP status.
    pub status: u16,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    /// Body bytes.
    pub body: Bytes,
}

impl WireResponse {
    /// The first header of that lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// Name, connection or TLS failed, or the connection closed before a request byte was written.
    Connect,
    /// No answer in time after a request byte was written.
    Timeout,
    /// The connection broke after a request byte was written.
    Reset,
    /// The answer could not be read whole: too long, or cut.
    Unreadable,
    /// The network guard refused the target; `rule` and `key` go into the fault's detail.
    Blocked {
        /// Which rule.
        rule: &'static str,
        /// The configuration key that governs it.
        key: &'static str,
    },
}

/// What an exchange came to.
pub type WireResult = Result<WireResponse, WireError>;

/// The only door to the network an adapter is given.
#[async_trait]
pub trait Wire: Send + Sync {
    /// Makes one exchange with the account's medium. `resources` fill the request's [`FileRef`]s.
    async fn send(
        &self,
        request: &WireRequest,
        secrets: &Secrets,
        resources: &[Resource],
    ) -> WireResult;

    /// Fetches a caller's media under the network rules: https only, public addresses only.
    ///
    /// # Errors
    /// `blocked_address`, `media_refused`, `media_unfetchable`, or a transient fault.
    async fn fetch(&self, url: &WebUrl, max_bytes: u64) -> Result<Fetched, SendFault>;
}
