//! The media plan: `data:` images get ids, own references must exist and suit their kind, and
//! everything becomes what an adapter renders. Nothing is written before the plan is committed.
use super::data_uri::DataImage;
use super::request::{GivenItem, GivenSource, NotifyRequest};
use crate::ids::Ids;
use crate::problem::Refused;
use crate::store::{At, MediaShelf};
use bytes::Bytes;
use contract::content::MEDIA_PATH;
use contract::{
    ChoiceList, ChoiceSurface, Content, FormRequest, MediaId, MediaItem, MediaKind, MediaSource,
    Problem, Surface, Template,
};

/// Where ids of new media come from.
#[derive(Clone, Copy)]
pub enum Mint<'a> {
    /// Real ones.
    Ids(&'a Ids),
    /// `<media:N>`: a preview stores nothing.
    Literals,
}

/// Bytes to be stored once every check has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Minted id.
    pub id: MediaId,
    /// Sniffed type.
    pub content_type: &'static str,
    /// The bytes.
    pub bytes: Bytes,
}

/// What the destination asks of own media.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// `listen.public_url`.
    pub public_url: Option<&'a str>,
    /// The channel's medium fetches media by url, so references must be absolute.
    pub fetched_by_url: bool,
}

/// A plan that passed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the adapter renders.
    pub content: Content,
    /// What is to be stored.
    pub uploads: Vec<Upload>,
    /// Stored media whose lifetime is to be renewed.
    pub used: Vec<MediaId>,
}

struct Planner<'a> {
    shelf: &'a dyn MediaShelf,
    mint: Mint<'a>,
    place: Place<'a>,
    uploads: Vec<Upload>,
    used: Vec<MediaId>,
}

/// Check 17.
///
/// # Errors
/// 400 `media_unknown`, `media_kind_mismatch`, `public_url_required`; 503 from the store.
pub async fn plan(
    request: &NotifyRequest,
    shelf: &dyn MediaShelf,
    mint: Mint<'_>,
    place: Place<'_>,
) -> Result<Plan, Refused> {
    let mut planner = Planner { shelf, mint, place, uploads: Vec::new(), used: Vec::new() };
    let mut media = Vec::with_capacity(request.media.len());
    for (i, item) in request.media.iter().enumerate() {
        media.push(planner.item(&format!("media[{i}]"), item).await?);
    }
    let header = match &request.header {
        Some(item) => Some(planner.item("header", item).await?),
        None => None,
    };
    let template = match &request.template {
        Some(template) => Some(planner.template(template).await?),
        None => None,
    };
    let list = match (&request.options, &request.sections) {
        (Some(options), _) => Some(ChoiceList::Options(options.clone())),
        (None, Some(sections)) => Some(ChoiceList::Sections(sections.clone())),
        (None, None) => None,
    };
    let surface = match (list, template, &request.form.schema) {
        (Some(list), _, _) => {
            Surface::Choice(ChoiceSurface { list, header, footer: request.footer.clone() })
        }
        (None, Some(template), _) => Surface::Template(template),
        (None, None, Some(schema)) => Surface::Form(FormRequest {
            schema: schema.to_text(),
            data: request.form.data.as_ref().map(super::json::Json::to_text),
            pages: request.form.pages.as_ref().map(super::json::Json::to_text),
            form_tag: request.form.form_tag.clone(),
        }),
        (None, None, None) => Surface::None,
    };
    let content = Content {
        message: request.message.clone(),
        media,
        location: request.location.clone(),
        surface,
    };
    Ok(Plan { content, uploads: planner.uploads, used: planner.used })
}

impl Planner<'_> {
    async fn template(&mut self, template: &Template<GivenSource>) -> Result<Template, Refused> {
        let header_media = match &template.header_media {
            Some(item) => Some(self.item("template.header_media", item).await?),
            None => None,
        };
        Ok(Template {
            name: template.name.clone(),
            language: template.language.clone(),
            header_media,
            body_parameters: template.body_parameters.clone(),
            buttons: template.buttons.clone(),
        })
    }

    async fn item(&mut self, path: &str, given: &GivenItem) -> Result<MediaItem, Refused> {
        let source = match &given.source {
            GivenSource::Remote(url) => MediaSource::Remote(url.clone()),
            GivenSource::Data(image) => {
                let id = self.upload(image);
                self.own(path, id)?
            }
            GivenSource::Own(id) => {
                self.check_stored(path, id, given.kind).await?;
                if !self.used.contains(id) {
                    self.used.push(id.clone());
                }
                self.own(path, id.clone())?
            }
        };
        Ok(MediaItem {
            kind: given.kind,
            source,
            caption: given.caption.clone(),
            filename: given.filename.clone(),
        })
    }

    /// Identical bytes within one request share one id.
    fn upload(&mut self, image: &DataImage) -> MediaId {
        if let Some(known) = self.uploads.iter().find(|u| u.bytes == image.bytes) {
            return known.id.clone();
        }
        let id = match self.mint {
            Mint::Ids(ids) => ids.media(),
            Mint::Literals => MediaId::literal(self.uploads.len()),
        };
        let upload =
            Upload { id: id.clone(), content_type: image.content_type, bytes: image.bytes.clone() };
        self.uploads.push(upload);
        id
    }

    fn own(&self, path: &str, id: MediaId) -> Result<MediaSource, Refused> {
        if self.place.fetched_by_url && self.place.public_url.is_none() {
            let detail = "media served here can be fetched by this medium only once \
                          listen.public_url is configured";
            return Err(refused(path, "public_url_required", detail));
        }
        let origin = self.place.public_url.unwrap_or_default();
        let url = format!("{origin}{MEDIA_PATH}{id}");
        Ok(MediaSource::Own { id, url })
    }

    async fn check_stored(&self, path: &str, id: &MediaId, kind: MediaKind) -> Result<(), Refused> {
        let Some(row) = self.shelf.media_row(id, At::Store).await? else {
            let detail = "names no media stored here, or they have expired; upload them again";
            return Err(refused(path, "media_unknown", detail));
        };
        let wanted = match kind {
            MediaKind::Image => "image/",
            MediaKind::Video => "video/",
            MediaKind::Audio => "audio/",
            MediaKind::Document | MediaKind::Link => "",
        };
        if !row.content_type.starts_with(wanted) {
            let detail = format!("the stored media are not of the kind {}", kind.as_str());
            return Err(refused(path, "media_kind_mismatch", detail));
        }
        Ok(())
    }
}

fn refused(path: &str, code: &'static str, detail: impl Into<String>) -> Refused {
    let problem = Problem::new(format!("{path}.url"), code, detail);
    Refused::from_problems(vec![problem]).unwrap_or_else(|| Refused::new(code, "media"))
}
