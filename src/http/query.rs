//! Query strings: known parameters alone, each at most once, with their own problems.
use crate::problem::Refused;
use contract::Problem;

/// The parameters of one request.
pub struct Query {
    pairs: Vec<(String, String)>,
}

/// Lists give at most this many.
const LIMIT_MAX: usize = 200;
/// And this many without being asked.
const LIMIT_DEFAULT: usize = 50;

impl Query {
    /// Reads a raw query; every name must be known.
    ///
    /// # Errors
    /// 400 `unknown_field`, `duplicate`.
    pub fn read(raw: &str, known: &[&'static str]) -> Result<Self, Refused> {
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(raw.as_bytes())
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        for (i, (name, _)) in pairs.iter().enumerate() {
            let Some(known_name) = known.iter().find(|k| *k == name) else {
                let detail = format!("known parameters: {}", known.join(", "));
                return Err(problem("query", "unknown_field", detail));
            };
            if pairs[..i].iter().any(|(other, _)| other == name) {
                return Err(problem(known_name, "duplicate", "give this parameter once"));
            }
        }
        Ok(Self { pairs })
    }

    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// `limit`: 1–200, 50 when absent.
    ///
    /// # Errors
    /// 400 `out_of_range`.
    pub fn limit(&self) -> Result<usize, Refused> {
        let Some(text) = self.get("limit") else { return Ok(LIMIT_DEFAULT) };
        let limit = text.parse().ok().filter(|n| (1..=LIMIT_MAX).contains(n));
        limit.ok_or_else(|| problem("limit", "out_of_range", format!("from 1 to {LIMIT_MAX}")))
    }
}

/// A path segment decoded; `None` when its escapes are none or give no text.
#[must_use]
pub fn path_text(segment: &str) -> Option<String> {
    let (bytes, mut at, mut text) = (segment.as_bytes(), 0, Vec::with_capacity(segment.len()));
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
            text.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            text.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(text).ok()
}

/// A 400 about one parameter.
#[must_use]
pub fn problem(field: &str, code: &'static str, detail: impl Into<String>) -> Refused {
    Refused::from_problems(vec![Problem::new(field, code, detail)])
        .unwrap_or_else(|| Refused::new(code, "a parameter"))
}

/// The 400 for a cursor this list did not give.
#[must_use]
pub fn bad_cursor() -> Refused {
    problem("before", "bad_cursor", "use the value of `next` as it was given")
}
