//! Every spelling a secret can travel in, and the replacing of them.
//!
//! For each secret: as it is, percent-encoded (both cases of the hex digits, form style too), JSON-
//! escaped, and in base64 of both alphabets, also at the three offsets at which it can lie inside a
//! longer encoded text. Longest spellings are replaced first, so that none leaves a rest behind.
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use contract::Secrets;
use std::fmt;
use std::fmt::Write;

/// Shortest base64 core that is looked for: a shorter one would hit ordinary text.
const CORE_MIN: usize = 6;

/// Replaces the secrets of one account in any text.
#[derive(Clone)]
pub struct Redactor(Vec<(String, String)>);

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} spellings)", self.0.len())
    }
}

impl Redactor {
    /// A redactor for these secrets; empty values are passed over.
    #[must_use]
    pub fn new(secrets: &Secrets) -> Self {
        let mut needles: Vec<(String, String)> = Vec::new();
        for (name, secret) in secrets.iter().filter(|(_, secret)| !secret.expose().is_empty()) {
            let label = format!("[secret:{name}]");
            for spelling in spellings(secret.expose()) {
                if !needles.iter().any(|(known, _)| *known == spelling) {
                    needles.push((spelling, label.clone()));
                }
            }
        }
        needles.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
        Self(needles)
    }

    /// The text without any secret in it.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (spelling, label) in &self.0 {
            if text.contains(spelling.as_str()) {
                text = text.replace(spelling.as_str(), label);
            }
        }
        text
    }
}

fn spellings(secret: &str) -> Vec<String> {
    let upper = percent(secret, false, true);
    let mut all = vec![
        secret.to_owned(),
        percent(secret, false, false),
        percent(secret, true, true),
        upper,
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        json(secret, false),
        json(secret, true),
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ];
    all.extend(cores(secret));
    all.sort();
    all.dedup();
    all
}

/// Percent-encoded: every byte but the unreserved ones, or every byte with `all`.
fn percent(secret: &str, all: bool, upper: bool) -> String {
    let mut out = String::with_capacity(secret.len() * 3);
    for byte in secret.bytes() {
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        let _ = match (plain && !all, upper) {
            (true, _) => write!(out, "{}", char::from(byte)),
            (false, true) => write!(out, "%{byte:02X}"),
            (false, false) => write!(out, "%{byte:02x}"),
        };
    }
    out
}

/// As the inside of a JSON string; `ascii` escapes what is outside ASCII and the slash too.
fn json(secret: &str, ascii: bool) -> String {
    let quoted = serde_json::Value::String(secret.to_owned()).to_string();
    let inside = &quoted[1..quoted.len() - 1];
    if !ascii {
        return inside.to_owned();
    }
    let mut out = String::new();
    for c in inside.chars() {
        if c == '/' {
            out.push_str("\\/");
        } else if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// The characters that base64 of a longer text surely holds when the secret lies inside it, for
/// each of the three offsets.
fn cores(secret: &str) -> Vec<String> {
    let mut cores = Vec::new();
    for offset in 0..3usize {
        let padded = [&[0u8; 2][..offset], secret.as_bytes()].concat();
        // Bits of neighbours reach into the first and the last characters.
        let from = [0, 2, 3][offset];
        let to = padded.len() * 8 / 6;
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            if to >= from + CORE_MIN {
                cores.push(text[from..to].to_owned());
            }
        }
    }
    cores
}
