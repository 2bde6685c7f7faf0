//! The page's settings: the keys, their bounds, and what each must look like. No secrets.
use bytes::Bytes;
use contract::{
    AccountConfig, ChatPage, Key, KeyDefault, KeyKind, KeyProblem, PageFile, ShowAddress,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

const TITLE: &str = "Chat";
const TITLE_MAX: usize = 80;
const AVATAR_MAX: u64 = 256 * 1024;
const MAP_LINK: &str = "https://www.openstreetmap.org/?mlat={lat}&mlon={lon}#map=16/{lat}/{lon}";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The medium's own keys.
pub const KEYS: &[Key] = &[
    key(
        "title",
        KeyKind::Text,
        KeyDefault::Text(TITLE),
        "Page title and heading, up to 80 characters.",
    ),
    key(
        "theme",
        KeyKind::Table(&["accent", "background"]),
        KeyDefault::Empty,
        "Colours as #rrggbb; empty: the page's own, dark and light.",
    ),
    key(
        "avatar",
        KeyKind::File { max: AVATAR_MAX },
        KeyDefault::None,
        "A picture file (png, jpeg, gif, webp, up to 256 KiB); empty: the title's first letter.",
    ),
    key(
        "visitor_ttl",
        KeyKind::Duration,
        KeyDefault::Text("30d"),
        "How long a visitor is known after the last use, 1h to 400d.",
    ),
    key(
        "pending_ttl",
        KeyKind::Duration,
        KeyDefault::Text("10m"),
        "How long a visitor is known who never came back, 1m to 1d.",
    ),
    key(
        "transcript_max",
        KeyKind::Integer,
        KeyDefault::Integer(1000),
        "Frames kept for one visitor, the newest, 100 to 10000.",
    ),
    key(
        "transcript_ttl",
        KeyKind::Duration,
        KeyDefault::Text("30d"),
        "How long a transcript is kept after its last frame, 1h up to media.retention.",
    ),
    key(
        "keepalive",
        KeyKind::Duration,
        KeyDefault::Text("15s"),
        "Between two signs of life on an idle stream, 5s to 30s.",
    ),
    key(
        "streams_per_visitor",
        KeyKind::Integer,
        KeyDefault::Integer(4),
        "Open streams of one visitor, 1 to 64.",
    ),
    key(
        "streams_per_node",
        KeyKind::Integer,
        KeyDefault::Integer(500),
        "Open streams of the channel on one node, 1 to 100000.",
    ),
    key(
        "body_max",
        KeyKind::Integer,
        KeyDefault::Integer(65_536),
        "Most bytes of a posted body, 1024 to 1048576.",
    ),
    key(
        "show_address",
        KeyKind::Text,
        KeyDefault::Text("loopback"),
        "Who is shown the visitor's own address: loopback, always, never.",
    ),
    key(
        "map_link",
        KeyKind::Text,
        KeyDefault::Text(MAP_LINK),
        "Where a location leads: an https address with {lat} and {lon}.",
    ),
];

const fn key(name: &'static str, kind: KeyKind, default: KeyDefault, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// Problems so far.
struct Reading<'a> {
    config: &'a AccountConfig,
    problems: Vec<KeyProblem>,
}

impl Reading<'_> {
    fn problem(&mut self, key: &'static str, detail: impl Into<String>) {
        self.problems.push(KeyProblem { key, detail: detail.into() });
    }

    fn duration(
        &mut self,
        key: &'static str,
        default: Duration,
        range: RangeInclusive<Duration>,
        words: &str,
    ) -> Duration {
        let found = self.config.duration(key).unwrap_or(default);
        if !range.contains(&found) {
            self.problem(key, format!("must be from {words}"));
        }
        found
    }

    fn count(&mut self, key: &'static str, default: i64, range: RangeInclusive<i64>) -> u32 {
        let found = self.config.integer(key).unwrap_or(default);
        if !range.contains(&found) {
            self.problem(key, format!("must be {} to {}", range.start(), range.end()));
        }
        u32::try_from(found).unwrap_or_default()
    }

    fn text(&self, key: &str, default: &str) -> String {
        self.config.text(key).unwrap_or(default).to_owned()
    }
}

/// Reads the settings, or reports every problem at once.
pub fn page(config: &AccountConfig) -> Result<ChatPage, Vec<KeyProblem>> {
    let mut reading = Reading { config, problems: Vec::new() };
    let title = reading.text("title", TITLE);
    if contract::text::is_blank(&title) || title.chars().count() > TITLE_MAX {
        reading.problem("title", format!("must be 1 to {TITLE_MAX} characters"));
    }
    let map_link = reading.text("map_link", MAP_LINK);
    let filled = map_link.replace("{lat}", "1.5").replace("{lon}", "-2.5");
    if contract::WebUrl::parse(&filled, contract::target::Scheme::Https).is_none()
        || !map_link.contains("{lat}")
        || !map_link.contains("{lon}")
    {
        reading.problem("map_link", "must be an https url with {lat} and {lon}");
    }
    let show_address = match reading.text("show_address", "loopback").as_str() {
        "loopback" => ShowAddress::Loopback,
        "always" => ShowAddress::Always,
        "never" => ShowAddress::Never,
        _ => {
            reading.problem("show_address", "must be one of: loopback, always, never");
            ShowAddress::Never
        }
    };
    let page = ChatPage {
        title,
        stylesheet: stylesheet(&mut reading),
        avatar: avatar(&mut reading),
        visitor_ttl: reading.duration("visitor_ttl", 30 * DAY, HOUR..=400 * DAY, "1h to 400d"),
        pending_ttl: reading.duration("pending_ttl", 10 * MINUTE, MINUTE..=DAY, "1m to 1d"),
        transcript_max: reading.count("transcript_max", 1000, 100..=10_000),
        transcript_ttl: reading.duration(
            "transcript_ttl",
            30 * DAY,
            HOUR..=400 * DAY,
            "1h to 400d",
        ),
        keepalive: reading.duration(
            "keepalive",
            Duration::from_secs(15),
            Duration::from_secs(5)..=Duration::from_secs(30),
            "5s to 30s",
        ),
        streams_per_visitor: reading.count("streams_per_visitor", 4, 1..=64),
        streams_per_node: reading.count("streams_per_node", 500, 1..=100_000),
        body_max: reading.count("body_max", 65_536, 1024..=1_048_576),
        show_address,
        map_link,
    };
    if reading.problems.is_empty() { Ok(page) } else { Err(reading.problems) }
}

/// The channel's colours as a stylesheet; the text on each is black or white, whichever contrasts
/// more.
fn stylesheet(reading: &mut Reading<'_>) -> Option<PageFile> {
    let mut css = String::new();
    for member in ["accent", "background"] {
        let Some(given) = reading.config.member("theme", member) else { continue };
        let Some(colour) = colour(given) else {
            reading.problem("theme", format!("{member} must be #rrggbb or empty"));
            continue;
        };
        let [r, g, b] = colour;
        let text = if luminance(colour) > CROSSOVER { "#000000" } else { "#ffffff" };
        // The name is ours and the digits are parsed: nothing of the given text is repeated.
        let _ = write!(css, "--{member}:#{r:02x}{g:02x}{b:02x};--on-{member}:{text};");
    }
    let sheet = Bytes::from(format!(":root:root{{{css}}}\n"));
    (!css.is_empty()).then(|| file("theme", "css", "text/css; charset=utf-8", sheet))
}

/// The luminance at which black and white contrast alike (WCAG: (L+.05)/.05 = 1.05/(L+.05)).
const CROSSOVER: f64 = 0.179_128_784;

fn colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6 && d.is_ascii())?;
    let at = |i: usize| {
        let pair = &digits[i..i + 2];
        let hex = pair.bytes().all(|b| b.is_ascii_hexdigit());
        hex.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
    };
    Some([at(0)?, at(2)?, at(4)?])
}

/// Relative luminance as WCAG 2 defines it.
fn luminance([r, g, b]: [u8; 3]) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// A file under a name that changes with its bytes.
fn file(what: &str, ending: &str, content_type: &'static str, bytes: Bytes) -> PageFile {
    let hash = Sha256::digest(&bytes);
    let mut name = format!("{what}-");
    for byte in &hash[..6] {
        let _ = write!(name, "{byte:02x}");
    }
    PageFile { name: format!("{name}.{ending}"), content_type, bytes }
}

fn avatar(reading: &mut Reading<'_>) -> Option<PageFile> {
    let bytes = reading.config.file("avatar")?.clone();
    let (ending, content_type) = match &bytes[..] {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => ("png", "image/png"),
        [0xFF, 0xD8, 0xFF, ..] => ("jpg", "image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => ("gif", "image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => ("webp", "image/webp"),
        _ => {
            reading.problem("avatar", "must be a png, jpeg, gif or webp picture");
            return None;
        }
    };
    Some(file("avatar", ending, content_type, bytes))
}
