//! How one file travels: which method, by url or by upload, and what else could be tried.
use crate::config::Account;
use crate::limits;
use crate::wire::{Arguments, Call};
use contract::{Filename, MediaItem, MediaKind, MediaSource, Need, PartKind, WebUrl};

/// Longest name of a file, in characters.
const NAME_MAX: usize = 255;

/// A decision about one file.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The method.
    pub call: Call,
    /// How its bytes get there.
    pub carriage: Carriage,
    /// What to try when the vendor cannot fetch the url.
    pub alternate: Option<Upload>,
    /// Sent as a document though it is sound.
    pub as_document: bool,
}

/// How a file's bytes get to the vendor.
#[derive(Clone, Debug)]
pub enum Carriage {
    /// It fetches them.
    Url(String),
    /// We bring them.
    Upload(Upload),
}

/// Bytes we bring.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Where we have them from.
    pub need: Need,
    /// What the person sees.
    pub filename: String,
}

impl FilePlan {
    /// Decides how a file travels.
    pub fn of(item: &MediaItem, account: &Account) -> Self {
        let extension = extension(&item.source);
        let call = call(item.kind, &extension);
        let as_document = item.kind == MediaKind::Audio && call == Call::Document;
        let upload = upload(item, call, account);
        let MediaSource::Remote(url) = &item.source else {
            return Self { call, carriage: Carriage::Upload(upload), alternate: None, as_document };
        };
        let by_url = Carriage::Url(url.on_the_wire());
        let (carriage, alternate) = match call {
            // By url the vendor takes these documents alone, under names of its own.
            Call::Document
                if item.filename.is_none()
                    && !as_document
                    && matches!(&*extension, "pdf" | "zip") =>
            {
                (by_url, None)
            }
            Call::Document => (Carriage::Upload(upload), None),
            _ => (by_url, Some(upload)),
        };
        Self { call, carriage, alternate, as_document }
    }

    /// Adds what the method itself asks for.
    pub fn arguments(&self, arguments: Arguments) -> Arguments {
        Arguments {
            supports_streaming: (self.call == Call::Video).then_some(true),
            disable_content_type_detection: (self.call == Call::Document).then_some(true),
            ..arguments
        }
    }
}

/// What a part with this file mainly is.
pub fn part_kind(item: &MediaItem) -> PartKind {
    match call(item.kind, &extension(&item.source)) {
        Call::Photo | Call::Animation => PartKind::Image,
        Call::Video => PartKind::Video,
        Call::Audio => PartKind::Audio,
        _ => PartKind::Document,
    }
}

fn call(kind: MediaKind, extension: &str) -> Call {
    match kind {
        MediaKind::Image if extension == "gif" => Call::Animation,
        MediaKind::Image => Call::Photo,
        MediaKind::Video => Call::Video,
        MediaKind::Audio if matches!(extension, "" | "mp3" | "m4a") => Call::Audio,
        MediaKind::Audio | MediaKind::Document | MediaKind::Link => Call::Document,
    }
}

fn upload(item: &MediaItem, call: Call, account: &Account) -> Upload {
    let max_bytes = if call == Call::Photo { limits::PHOTO_BYTES } else { account.file_bytes() };
    let need = match &item.source {
        MediaSource::Own { id, .. } => Need::OwnMedia { id: id.clone(), max_bytes },
        MediaSource::Remote(url) => Need::FetchMedia { url: url.clone(), max_bytes },
    };
    Upload { need, filename: filename(item) }
}

/// The caller's name, else the last segment of the path, else the kind's word. The reference to
/// stored bytes is a capability and never a name.
fn filename(item: &MediaItem) -> String {
    if let Some(name) = &item.filename {
        return name.as_str().to_owned();
    }
    let segment = match &item.source {
        MediaSource::Remote(url) => last_segment(url),
        MediaSource::Own { .. } => String::new(),
    };
    match Filename::parse(segment, NAME_MAX) {
        Ok(name) => name.as_str().to_owned(),
        Err(_) => item.kind.as_str().to_owned(),
    }
}

/// What stands behind the last dot of the path's last segment, in lower case.
fn extension(source: &MediaSource) -> String {
    let MediaSource::Remote(url) = source else { return String::new() };
    let segment = last_segment(url);
    segment.rsplit_once('.').map_or(String::new(), |(_, ext)| ext.to_ascii_lowercase())
}

fn last_segment(url: &WebUrl) -> String {
    let segment = url.path().rsplit('/').next().unwrap_or_default();
    // The pair's name decodes percent escapes; a plus is a plus in a path.
    let pair = segment.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map_or(String::new(), |(segment, _)| segment.into_owned())
}
