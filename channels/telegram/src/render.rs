//! Content → parts. Pure and total: every field is in a part, a degrade, or the refusal.
//!
//! A [`Sheet`] collects parts in their order (header, files, pin, overflow text, body part) and
//! fills in what depends on a part's place: the address, silence after the first, the message
//! answered. [`body`] composes the text with its formatting and keyboard, [`keyboard`] decides on
//! buttons, [`media`] on how a file travels.
mod body;
mod keyboard;
mod media;

use crate::config::{Account, Chat, ChatId};
use crate::limits;
use crate::wire::{Arguments, Call, Keyboard, LinkPreview, ReplyParameters, request};
use body::{Body, Piece};
use contract::{
    Alternate, Capability, ChoiceSurface, Content, Degrades, Facts, How, Location, MediaItem,
    MediaKind, Need, Part, PartKind, Payload, Problem, Refusal, RefusalStatus, RenderCtx, Rendered,
    Surface,
};
use media::{Carriage, FilePlan, Upload};

/// Renders content for an account.
pub fn render(
    account: &Account,
    ctx: &RenderCtx<'_>,
    content: &Content,
) -> Result<Rendered, Refusal> {
    let choice = match &content.surface {
        Surface::None => None,
        Surface::Choice(choice) => Some(choice),
        Surface::Form(_) => return Err(declined("schema", "form")),
        Surface::Template(_) => return Err(declined("template", "template")),
    };
    let mut sheet = Sheet::new(account, ctx);
    let bubble = choice.and_then(|choice| bubble(content, choice, ctx));
    let body = match bubble {
        Some(body) => body,
        None => Body::compose(content, choice, ctx, None),
    };
    sheet.problems.extend(body.problems.iter().cloned());
    sheet.degrades = body.degrades.clone();
    sheet.header(choice, &body);
    sheet.files(content, choice.is_some(), &body);
    if let Some(location) = &content.location {
        sheet.pin(location);
    }
    sheet.body(choice, &body);
    sheet.finish()
}

/// The body of a bubble: the header's caption, then the text, when both fit under the file.
fn bubble(content: &Content, choice: &ChoiceSurface, ctx: &RenderCtx<'_>) -> Option<Body> {
    let header = choice.header.as_ref()?;
    let caption = header.caption.as_ref().map(|caption| kit::text::lines(caption.as_str()));
    let mut body = Body::compose(content, Some(choice), ctx, caption.as_deref());
    body.under_header = limits::CAPTION.admits(body.text());
    body.under_header.then_some(body)
}

fn declined(field: &str, capability: &str) -> Refusal {
    let detail = format!("telegram does not take {capability}");
    Refusal {
        status: RefusalStatus::NotImplemented,
        problems: vec![Problem::new(field, "unsupported_capability", detail)],
    }
}

/// The parts so far.
struct Sheet<'a> {
    account: &'a Account,
    ctx: &'a RenderCtx<'a>,
    chat: Chat,
    parts: Vec<Part>,
    degrades: Degrades,
    problems: Vec<Problem>,
    /// Set once the body went out as a file's caption.
    body_sent: bool,
}

impl<'a> Sheet<'a> {
    fn new(account: &'a Account, ctx: &'a RenderCtx<'a>) -> Self {
        Self {
            account,
            ctx,
            chat: Chat::of(ctx.address),
            parts: Vec::new(),
            degrades: Degrades::default(),
            problems: Vec::new(),
            body_sent: false,
        }
    }

    /// A header that does not go into one bubble with the body: a message before everything.
    fn header(&mut self, choice: Option<&ChoiceSurface>, body: &Body) {
        let header = choice.and_then(|choice| choice.header.as_ref());
        let Some(header) = header.filter(|_| !body.under_header) else { return };
        let why = "text and caption together are over 1024 UTF-16 units";
        self.degrades.note(Capability::Header, How::SeparateMessage, "header", why);
        self.file(header, "header");
    }

    /// The files in their order. A lone file without a caption takes the whole text as its own.
    fn files(&mut self, content: &Content, has_choice: bool, body: &Body) {
        let files: Vec<(usize, &MediaItem)> = content
            .media
            .iter()
            .enumerate()
            .filter(|(_, item)| item.kind != MediaKind::Link)
            .collect();
        if let [(index, item)] = files[..] {
            let alone = !has_choice && content.location.is_none() && item.caption.is_none();
            if alone && !body.text().is_empty() && limits::CAPTION.admits(body.text()) {
                let path = format!("media[{index}]");
                self.file_with_body(media::part_kind(item), item, &path, body);
                return;
            }
        }
        for (index, item) in files {
            self.file(item, &format!("media[{index}]"));
        }
    }

    fn file_with_body(&mut self, kind: PartKind, item: &MediaItem, path: &str, body: &Body) {
        let piece = body.whole();
        let arguments = Arguments {
            caption: Some(piece.text),
            caption_entities: piece.entities,
            reply_markup: body.keyboard(),
            ..Arguments::default()
        };
        self.push_file(kind, item, path, arguments);
        self.body_sent = true;
    }

    /// A file with its own caption, which goes before it as text when it is too long.
    fn file(&mut self, item: &MediaItem, path: &str) {
        let mut arguments = Arguments::default();
        if let Some(caption) = &item.caption {
            let caption = kit::text::lines(caption.as_str()).into_owned();
            if limits::CAPTION.admits(&caption) {
                arguments.caption = Some(caption);
            } else {
                let path = format!("{path}.caption");
                let why = "over 1024 UTF-16 units; sent as a text before the file";
                let capability = Capability::of_media(item.kind);
                self.degrades.note(capability, How::CaptionText, path, why);
                self.text(PartKind::Text, Piece::plain(caption), None);
            }
        }
        self.push_file(media::part_kind(item), item, path, arguments);
    }

    fn push_file(&mut self, kind: PartKind, item: &MediaItem, path: &str, arguments: Arguments) {
        let plan = FilePlan::of(item, self.account);
        if plan.as_document {
            let why = "the file's extension is not one the medium plays; sent as a document";
            self.degrades.note(Capability::of_media(item.kind), How::AsDocument, path, why);
        }
        let arguments = self.addressed(plan.arguments(arguments));
        let (needs, request, uploads) = match &plan.carriage {
            Carriage::Url(url) => {
                (Vec::new(), self.by_url(plan.call, arguments.clone(), url), None)
            }
            Carriage::Upload(upload) => {
                let request = self.by_upload(plan.call, arguments.clone(), upload);
                (vec![upload.need.clone()], request, Some(1))
            }
        };
        let alternate = plan.alternate.as_ref().map(|upload| {
            let request = self.by_upload(plan.call, arguments, upload);
            Box::new(Alternate { needs: vec![upload.need.clone()], request })
        });
        let facts = Facts { uploads, ..Facts::default() };
        let payload = Payload::Request(request);
        self.parts.push(Part { kind, needs, payload, alternate, requests: 1, facts });
    }

    fn by_url(&self, call: Call, mut arguments: Arguments, url: &str) -> contract::WireRequest {
        arguments.file = crate::wire::File::of(call, url.to_owned());
        request(self.account, call, &arguments, None)
    }

    fn by_upload(
        &self,
        call: Call,
        mut arguments: Arguments,
        upload: &Upload,
    ) -> contract::WireRequest {
        arguments.file = crate::wire::File::of(call, crate::wire::File::attached());
        request(self.account, call, &arguments, Some(&upload.filename))
    }

    fn pin(&mut self, location: &Location) {
        let mut arguments = Arguments {
            latitude: Some(location.latitude),
            longitude: Some(location.longitude),
            ..Arguments::default()
        };
        let call = match (&location.name, &location.address) {
            (Some(name), Some(address)) => {
                arguments.title = Some(name.as_str().to_owned());
                arguments.address = Some(address.as_str().to_owned());
                Call::Venue
            }
            _ => Call::Location,
        };
        self.push(PartKind::Location, call, arguments, Vec::new());
    }

    /// The body part, always last: the header's bubble, or the text in pieces of which the last one
    /// carries the keyboard.
    fn body(&mut self, choice: Option<&ChoiceSurface>, body: &Body) {
        if self.body_sent {
            return;
        }
        let header = choice.and_then(|choice| choice.header.as_ref());
        if let Some(header) = header.filter(|_| body.under_header) {
            self.file_with_body(PartKind::Choice, header, "header", body);
            return;
        }
        let pieces = body.pieces();
        let (count, most) = (pieces.len(), self.account.text_parts as usize);
        if count > most {
            let detail = format!("{count} parts needed, at most {most}");
            self.problems.push(Problem::new("message", "too_long_for_channel", detail));
            return;
        }
        if count > 1 {
            let why = "over 4096 UTF-16 units; sent as several messages";
            self.degrades.note(Capability::Text, How::Split, "message", why);
        }
        let keyboard = body.keyboard();
        for (index, piece) in pieces.into_iter().enumerate() {
            let keyboard = keyboard.clone().filter(|_| index + 1 == count);
            let kind = if keyboard.is_some() { PartKind::Choice } else { PartKind::Text };
            self.text(kind, piece, keyboard);
        }
    }

    fn text(&mut self, kind: PartKind, piece: Piece, keyboard: Option<Keyboard>) {
        let arguments = Arguments {
            text: Some(piece.text),
            entities: piece.entities,
            link_preview_options: Some(LinkPreview { is_disabled: !self.account.link_previews }),
            reply_markup: keyboard,
            ..Arguments::default()
        };
        self.push(kind, Call::Message, arguments, Vec::new());
    }

    fn push(&mut self, kind: PartKind, call: Call, arguments: Arguments, needs: Vec<Need>) {
        let arguments = self.addressed(arguments);
        let request = request(self.account, call, &arguments, None);
        self.parts.push(Part {
            kind,
            needs,
            payload: Payload::Request(request),
            alternate: None,
            requests: 1,
            facts: Facts::default(),
        });
    }

    /// Fills in what depends on the address and on the part's place.
    fn addressed(&self, mut arguments: Arguments) -> Arguments {
        let first = self.parts.is_empty();
        arguments.chat_id = Some(self.chat.id.clone());
        arguments.message_thread_id = self.chat.topic;
        arguments.disable_notification = (!first).then_some(true);
        arguments.reply_parameters = self.answered().filter(|_| first);
        arguments
    }

    /// The message a reply answers, in a group: there it would be unclear whom it answers.
    fn answered(&self) -> Option<ReplyParameters> {
        let (chat, message) = self.ctx.reply_to?.split_once(':')?;
        let same = ChatId::Number(chat.parse().ok()?) == self.chat.id;
        let message_id = message.parse().ok().filter(|_| same && self.chat.is_group())?;
        Some(ReplyParameters { message_id, allow_sending_without_reply: true })
    }

    fn finish(mut self) -> Result<Rendered, Refusal> {
        let (count, most) = (self.parts.len(), limits::PARTS);
        if count > most {
            let detail = format!("{count} parts needed, at most {most}");
            self.problems.push(Problem::new("media", "too_long_for_channel", detail));
        }
        if self.problems.is_empty() {
            return Ok(Rendered { parts: self.parts, degrades: self.degrades.into_list() });
        }
        Err(Refusal { status: RefusalStatus::BadRequest, problems: self.problems })
    }
}
