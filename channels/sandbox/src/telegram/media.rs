//! Files in a call: an upload, an address, or the id of a file that was here before.
//!
//! An upload is the part itself or what `attach://<part>` names. An address behind the public origin
//! is read from the gateway and judged by its bytes. Any other address is never opened: it is taken
//! for what its ending says, the way the vendor would find it, and one without a telling ending is
//! believed, but for documents, which the vendor takes by url in three types only.
use super::answers::{Refused, ShownFile};
use super::limits::{
    DOWNLOAD_BYTES, FILE_UPLOAD_BYTES, FILE_URL_BYTES, PHOTO_UPLOAD_BYTES, PHOTO_URL_BYTES,
    URL_DOCUMENTS,
};
use super::photo;
use super::request::Arguments;
use crate::entry::Seen;
use crate::files::digest;
use crate::gateway::Fetch;
use crate::received::Part;
use crate::room::Outside;
use crate::stand_in::ending;
use bytes::Bytes;
use serde_json::{Value, json};
use url::Url;

/// What a file is sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `photo`
    Photo,
    /// `animation`
    Animation,
    /// `video`
    Video,
    /// `audio`
    Audio,
    /// `document`
    Document,
}

impl Kind {
    /// The argument that holds the file, and the field of the message that shows it.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Animation => "animation",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Document => "document",
        }
    }

    /// True when a file of that type can be sent as this by url.
    fn takes(self, content_type: &str) -> bool {
        match self {
            Self::Photo => content_type.starts_with("image/"),
            Self::Animation => content_type == "image/gif" || content_type.starts_with("video/"),
            Self::Video => content_type.starts_with("video/"),
            Self::Audio => content_type.starts_with("audio/"),
            Self::Document => {
                matches!(content_type, "application/pdf" | "application/zip" | "image/gif")
            }
        }
    }
}

/// Endings that tell a type.
const TYPES: [(&str, &str); 14] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("mp4", "video/mp4"),
    ("mp3", "audio/mpeg"),
    ("m4a", "audio/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("html", "text/html"),
    ("txt", "text/plain"),
];

/// Starts every id that this room gives to a file.
const ID: &str = "sandbox-";

/// A file that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// As the message shows it.
    pub shown: ShownFile,
    /// Own media that was read for it.
    pub seen: Option<Seen>,
}

fn wrong_identifier() -> Refused {
    Refused::bad("wrong file identifier/HTTP URL specified")
}

fn wrong_type() -> Refused {
    Refused::bad("wrong type of the web page content")
}

fn unreachable() -> Refused {
    Refused::bad("failed to get HTTP URL content")
}

/// The file of a call.
///
/// # Errors
/// None is there, it is too large, or it is not what it is sent as.
pub async fn file(
    arguments: &Arguments<'_>,
    kind: Kind,
    outside: Outside<'_>,
) -> Result<Taken, Refused> {
    let missing = || Refused::bad(format!("there is no {} in the request", kind.field()));
    if let Some(part) = arguments.file(kind.field()) {
        return upload(part, kind);
    }
    let text = arguments.text(kind.field()).ok_or_else(missing)?;
    if let Some(name) = text.strip_prefix("attach://") {
        return upload(arguments.file(name).ok_or_else(missing)?, kind);
    }
    if let Some(digest) = text.strip_prefix(ID) {
        let bytes = outside.files.get(digest).ok_or_else(wrong_identifier)?;
        return Ok(known(&bytes, text));
    }
    let url = Url::parse(text).map_err(|_| wrong_identifier())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong_identifier());
    }
    match outside.gateway.own(&url) {
        Some(own) => {
            let most = if kind == Kind::Photo { PHOTO_URL_BYTES } else { FILE_URL_BYTES };
            match own.fetch(most).await {
                Fetch::File { bytes, content_type } => {
                    fetched(text, &bytes, content_type, kind, outside)
                }
                Fetch::TooLarge | Fetch::Failed => Err(unreachable()),
            }
        }
        None => pointed(text, kind),
    }
}

fn upload(part: &Part, kind: Kind) -> Result<Taken, Refused> {
    let size = part.bytes.len() as u64;
    if size == 0 {
        return Err(Refused::bad("file must be non-empty"));
    }
    if kind == Kind::Photo && size > PHOTO_UPLOAD_BYTES {
        return Err(Refused::bad("file is too big for a photo"));
    }
    if size > FILE_UPLOAD_BYTES {
        return Err(Refused::too_large());
    }
    let pixels = match kind {
        Kind::Photo => Some(photo::photo(&part.bytes)?),
        _ => photo::size(&part.bytes),
    };
    let shown = ShownFile {
        id: format!("{ID}{}", digest(&part.bytes)),
        name: part.filename.clone(),
        content_type: part.content_type.clone(),
        bytes: Some(size),
        size: pixels,
    };
    Ok(Taken { shown, seen: None })
}

fn known(bytes: &Bytes, id: &str) -> Taken {
    let shown = ShownFile {
        id: id.to_owned(),
        name: None,
        content_type: infer::get(bytes).map(|kind| kind.mime_type().to_owned()),
        bytes: Some(bytes.len() as u64),
        size: photo::size(bytes),
    };
    Taken { shown, seen: None }
}

fn fetched(
    url: &str,
    bytes: &Bytes,
    content_type: String,
    kind: Kind,
    outside: Outside<'_>,
) -> Result<Taken, Refused> {
    // The type that came along counts; bytes of no type are looked at.
    let told = match content_type.as_str() {
        "" | "application/octet-stream" => infer::get(bytes).map_or("", |kind| kind.mime_type()),
        told => told,
    };
    if bytes.is_empty() || !kind.takes(told) {
        return Err(wrong_type());
    }
    let pixels = match kind {
        Kind::Photo => Some(photo::photo(bytes)?),
        _ => photo::size(bytes),
    };
    let sha256 = outside.files.put(bytes).map_err(|problem| {
        tracing::error!(%problem, "own media cannot be stored");
        unreachable()
    })?;
    let shown = ShownFile {
        id: format!("{ID}{sha256}"),
        name: None,
        content_type: Some(content_type.clone()),
        bytes: Some(bytes.len() as u64),
        size: pixels,
    };
    Ok(Taken { shown, seen: Some(Seen { url: url.to_owned(), sha256, content_type }) })
}

/// An address that nobody opens.
fn pointed(url: &str, kind: Kind) -> Result<Taken, Refused> {
    let ending = ending(url);
    let told = TYPES.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind);
    let taken = match kind {
        Kind::Document => URL_DOCUMENTS.contains(&ending.as_str()),
        _ => told.is_none_or(|told| kind.takes(told)),
    };
    if !taken {
        return Err(wrong_type());
    }
    let shown = ShownFile {
        id: format!("{ID}{}", digest(url.as_bytes())),
        name: None,
        content_type: told.map(str::to_owned),
        bytes: None,
        size: None,
    };
    Ok(Taken { shown, seen: None })
}

/// What `getFile` answers.
///
/// # Errors
/// There is no such file, or it is too large to be handed out.
pub fn get_file(arguments: &Arguments<'_>, outside: Outside<'_>) -> Result<Value, Refused> {
    let id = arguments.text("file_id").ok_or_else(|| Refused::bad("file_id not specified"))?;
    let bytes = id.strip_prefix(ID).and_then(|digest| outside.files.get(digest));
    let bytes = bytes
        .ok_or_else(|| Refused::bad("wrong file_id or the file is temporarily unavailable"))?;
    if bytes.len() > DOWNLOAD_BYTES {
        return Err(Refused::bad("file is too big"));
    }
    Ok(json!({
        "file_id": id,
        "file_unique_id": id.get(..16).unwrap_or(id),
        "file_size": bytes.len(),
        "file_path": format!("files/{}", &id[ID.len()..]),
    }))
}

/// The bytes behind a `file_path`.
#[must_use]
pub fn download(path: &str, outside: Outside<'_>) -> Option<Bytes> {
    let bytes = outside.files.get(path.strip_prefix("files/")?)?;
    (bytes.len() <= DOWNLOAD_BYTES).then_some(bytes)
}
