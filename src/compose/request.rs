//! The request of `notify_user`, decoded once into types that cannot be wrong.
//!
//! [`NotifyRequest::decode`] is check 10: shape and bounds of every field, all problems collected
//! in field order. What it returns has passed; later checks look at combinations and destinations.
use super::bounds;
use super::data_uri::{self, DataImage};
use super::json::Json;
use super::reader::{Node, Object, Problems};
use super::shapes;
use crate::clock::Millis;
use contract::{
    ChoiceOption, Line, Location, MediaId, MediaItem, OptionSection, Problem, Template, Text,
    WebUrl,
};

/// Keys of a request, in the order their problems are listed.
pub const FIELDS: &[&str] = &[
    "message",
    "channel",
    "recipient",
    "audience",
    "media",
    "location",
    "template",
    "options",
    "sections",
    "header",
    "footer",
    "schema",
    "data",
    "pages",
    "form_tag",
    "expires_at",
    "metadata",
];

/// Where a media item's bytes are, as the caller gave it.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenSource {
    /// Bytes inside the request.
    Data(DataImage),
    /// A reference to media stored here.
    Own(MediaId),
    /// Somewhere on the web.
    Remote(WebUrl),
}

/// A media item as given.
pub type GivenItem = MediaItem<GivenSource>;

/// A form as given: JSON whose rules are the form rules' (check 13).
#[derive(Clone, Debug, PartialEq)]
pub struct GivenForm {
    /// The schema object.
    pub schema: Option<Json>,
    /// `{values?, options?}`.
    pub data: Option<Json>,
    /// A list of pages.
    pub pages: Option<Json>,
    /// The correlation word.
    pub form_tag: Option<String>,
}

/// A decoded request.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifyRequest {
    /// Blank only where composition allows it.
    pub message: Text,
    /// A channel's name, or a word that names none.
    pub channel: Option<String>,
    /// ≤ 512 characters.
    pub recipient: Option<Line>,
    /// ≤ 512 characters.
    pub audience: Option<Line>,
    /// 1–50, or none.
    pub media: Vec<GivenItem>,
    /// A pin.
    pub location: Option<Location>,
    /// A vendor template.
    pub template: Option<Template<GivenSource>>,
    /// 1–10.
    pub options: Option<Vec<ChoiceOption>>,
    /// 1–10 with 1–10 rows in all.
    pub sections: Option<Vec<OptionSection>>,
    /// A file above a choice.
    pub header: Option<GivenItem>,
    /// A line below a choice.
    pub footer: Option<Text>,
    /// Form fields.
    pub form: GivenForm,
    /// When the send expires unless accepted.
    pub expires_at: Option<Millis>,
    /// ≤ 16 pairs, in the caller's order.
    pub metadata: Vec<(String, String)>,
}

/// What decoding needs to know of the gateway.
#[derive(Clone, Copy, Debug)]
pub struct DecodeCtx<'a> {
    /// Arrival.
    pub now: Millis,
    /// `listen.public_url` without a trailing slash.
    pub public_url: Option<&'a str>,
}

/// A decoder: the problems so far and what is counted over the whole request.
pub(super) struct Decoder<'a> {
    pub problems: Problems,
    pub ctx: DecodeCtx<'a>,
    pub url_chars: usize,
}

impl NotifyRequest {
    /// Decodes the entries of the body's object.
    ///
    /// # Errors
    /// Every problem found, in field order.
    pub fn decode(entries: Vec<(String, Json)>, ctx: DecodeCtx<'_>) -> Result<Self, Vec<Problem>> {
        let mut decoder = Decoder { problems: Problems::default(), ctx, url_chars: 0 };
        let request = decoder.request(entries);
        let problems = decoder.problems.into_list();
        match request {
            Some(request) if problems.is_empty() => Ok(request),
            _ => Err(problems),
        }
    }
}

impl Decoder<'_> {
    fn request(&mut self, entries: Vec<(String, Json)>) -> Option<NotifyRequest> {
        let mut root = Object::root(entries, FIELDS);
        let message = root
            .require("message", &mut self.problems)
            .and_then(|n| self.problems.text_or_blank(n, bounds::MESSAGE));
        let channel = root.take("channel").and_then(|n| self.problems.string(n)).map(|(_, s)| s);
        let recipient = self.line(&mut root, "recipient");
        let audience = self.line(&mut root, "audience");
        let media = root.take("media").and_then(|n| shapes::media_list(self, n));
        let location = root.take("location").and_then(|n| shapes::location(self, n));
        let template = root.take("template").and_then(|n| shapes::template(self, n));
        let (options, sections) = shapes::choices(self, &mut root);
        let header = root.take("header").and_then(|n| shapes::file_item(self, n));
        let footer = root.take("footer").and_then(|n| self.problems.text(n, bounds::LABEL));
        let form = self.form(&mut root);
        let expires_at = root.take("expires_at").and_then(|n| self.expires_at(n));
        let metadata = root.take("metadata").and_then(|n| self.metadata(n));
        if root.take("sender_identity").is_some() {
            self.problems.add(
                "sender_identity",
                "sender_identity_not_allowed",
                "only the reply of a route sets it; leave it out",
            );
        }
        root.finish(&mut self.problems);
        if self.url_chars > bounds::URLS_TOTAL {
            let detail = format!("all urls together: at most {} characters", bounds::URLS_TOTAL);
            self.problems.add("media", "too_long", detail);
        }
        Some(NotifyRequest {
            message: message?,
            channel,
            recipient,
            audience,
            media: media.unwrap_or_default(),
            location,
            template,
            options,
            sections,
            header,
            footer,
            form,
            expires_at,
            metadata: metadata.unwrap_or_default(),
        })
    }

    fn line(&mut self, root: &mut Object, key: &'static str) -> Option<Line> {
        root.take(key).and_then(|n| self.problems.line(n, bounds::ADDRESS))
    }

    fn form(&mut self, root: &mut Object) -> GivenForm {
        let schema = root.take("schema").and_then(|node| match node.json {
            Json::Object(_) => {
                if node.json.to_text().len() > bounds::SCHEMA_BYTES {
                    let detail = format!("at most {} bytes of compact JSON", bounds::SCHEMA_BYTES);
                    self.problems.add(node.path, "too_long", detail);
                    return None;
                }
                Some(node.json)
            }
            _ => self.problems.wrong_type(&node.path, "an object"),
        });
        let data = root.take("data").and_then(|node| shapes::form_data(self, node));
        let pages = root.take("pages").and_then(|node| shapes::form_pages(self, node));
        let form_tag = root.take("form_tag").and_then(|node| {
            let (path, text) = self.problems.string(node)?;
            let fine = (1..=bounds::FORM_TAG).contains(&text.len())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.~-".contains(&b));
            if !fine {
                self.problems.add(path, "bad_format", "must match ^[A-Za-z0-9_.~-]{1,64}$");
            }
            fine.then_some(text)
        });
        GivenForm { schema, data, pages, form_tag }
    }

    fn expires_at(&mut self, node: Node) -> Option<Millis> {
        let (path, text) = self.problems.string(node)?;
        let Some(at) = rfc3339(&text) else {
            self.problems.add(
                path,
                "bad_format",
                "RFC 3339 with Z or an offset, such as 2030-01-31T12:00:00Z",
            );
            return None;
        };
        let now = self.ctx.now.0;
        if at.0 <= now + 1000 || at.0 > now + bounds::EXPIRY_DAYS * 86_400_000 {
            self.problems.add(
                path,
                "out_of_range",
                "more than 1 second and at most 7 days from now",
            );
            return None;
        }
        Some(at)
    }

    /// Pairs are named by the object alone: their keys are the caller's words.
    fn metadata(&mut self, node: Node) -> Option<Vec<(String, String)>> {
        let Json::Object(entries) = node.json else {
            return self.problems.wrong_type(&node.path, "an object of strings");
        };
        if entries.len() > bounds::METADATA_PAIRS {
            let detail = format!("at most {} pairs", bounds::METADATA_PAIRS);
            self.problems.add(node.path, "too_many", detail);
            return None;
        }
        let mut pairs = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if value == Json::Null {
                continue;
            }
            if let Err(problem) = Line::parse(key.as_str(), bounds::METADATA_KEY) {
                self.problems.text_problem(node.path.clone(), problem, "a metadata key");
            }
            let Json::Text(value) = value else {
                self.problems.add(node.path.clone(), "wrong_type", "every value must be a string");
                continue;
            };
            match Line::parse_or_blank(value.as_str(), bounds::METADATA_VALUE) {
                Ok(_) => pairs.push((key, value)),
                Err(problem) => {
                    self.problems.text_problem(node.path.clone(), problem, "a metadata value");
                }
            }
        }
        Some(pairs)
    }

    /// A file item's url: its own reference, `data:` image, or https.
    pub(super) fn file_source(
        &mut self,
        path: &str,
        url: &str,
        image: bool,
    ) -> Option<GivenSource> {
        self.url_chars += url.chars().count();
        if data_uri::is_data_uri(url) {
            if !image {
                self.problems.add(path, "not_allowed_here", "a data: URI is for images only");
                return None;
            }
            return match data_uri::parse(url) {
                Ok(image) => Some(GivenSource::Data(image)),
                Err(needed) => {
                    self.problems.add(path, "bad_data_uri", format!("must be {needed}"));
                    None
                }
            };
        }
        if let Some(id) = self.own_reference(url) {
            return Some(GivenSource::Own(id));
        }
        let remote = WebUrl::parse(url, contract::target::Scheme::Https);
        if remote.is_none() {
            let detail = "an absolute https url of at most 8192 characters with a plain host, \
                          a reference to media stored here, or for images a data: URI";
            self.problems.add(path, "bad_url", detail);
        }
        remote.map(GivenSource::Remote)
    }

    fn own_reference(&self, url: &str) -> Option<MediaId> {
        let relative = match self.ctx.public_url {
            Some(origin) => url.strip_prefix(origin).unwrap_or(url),
            None => url,
        };
        MediaId::parse(relative.strip_prefix(contract::content::MEDIA_PATH)?)
    }
}

/// RFC 3339 with `Z` or `±hh:mm` and at most nine fraction digits, nothing more lenient.
fn rfc3339(text: &str) -> Option<Millis> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|s| s.iter().all(u8::is_ascii_digit))
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let head = [0..4, 5..7, 8..10, 11..13, 14..16, 17..19];
    if !marks.iter().all(|(i, c)| bytes.get(*i) == Some(c)) || !head.into_iter().all(digits) {
        return None;
    }
    let mut rest = bytes.get(19..)?;
    if rest.first() == Some(&b'.') {
        let count = rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=9).contains(&count) {
            return None;
        }
        rest = &rest[1 + count..];
    }
    let offset_fine = rest == b"Z"
        || (rest.len() == 6
            && matches!(rest[0], b'+' | b'-')
            && rest[3] == b':'
            && [1, 2, 4, 5].iter().all(|i| rest[*i].is_ascii_digit()));
    if !offset_fine {
        return None;
    }
    text.parse::<jiff::Timestamp>().ok().map(|t| Millis(t.as_millisecond()))
}
