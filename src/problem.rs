//! Refusals as every door sees them: one table maps a code to its status and title.
//!
//! A check gives a [`Refused`]; a door encodes it (`application/problem+json`, a tool error, a line
//! on standard error). Details name bounds, fields and registered names, never a caller's value.
use contract::{Problem, Refusal};
use serde_json::{Map, Value, json};

/// Most problems listed in one refusal; `errors_total` has the count.
pub const ERRORS_SHOWN: usize = 50;

/// A code, its HTTP status, its title.
pub const CODES: &[(&str, u16, &str)] = &[
    ("audience_not_allowed", 403, "The audience is not this key's own"),
    ("backlog_full", 503, "Too much is waiting already"),
    ("bad_cursor", 400, "The cursor is not one this list gave"),
    ("bad_data_uri", 400, "The data: URI cannot be taken"),
    ("bad_format", 400, "The text does not have the required form"),
    ("bad_idempotency_key", 400, "The idempotency key cannot be used"),
    ("bad_recipient", 400, "The recipient is not an address of this medium"),
    ("bad_text", 400, "The text holds characters that are refused"),
    ("bad_url", 400, "The url cannot be taken"),
    ("blank", 400, "The text is blank"),
    ("conflict", 400, "Two fields exclude each other"),
    ("content_required", 400, "The notification is empty"),
    ("delivery_refused", 502, "The message was not accepted"),
    ("delivery_unavailable", 503, "The medium did not take the message yet"),
    ("duplicate", 400, "A value that must be unique occurs twice"),
    ("empty", 400, "The list is empty"),
    ("forbidden", 403, "This key may not do that"),
    ("forbidden_host", 403, "This host name is not served"),
    ("forbidden_origin", 403, "Requests from this origin are not taken"),
    ("form_unsupported", 400, "The channel cannot draw this form"),
    ("https_required", 403, "The chat needs https here"),
    ("idempotency_conflict", 409, "The idempotency key was used with another body"),
    ("idempotency_in_progress", 409, "A call with this idempotency key is still running"),
    ("internal", 500, "An error of the gateway itself"),
    ("malformed_json", 400, "The body is not well-formed JSON"),
    ("media_full", 503, "There is no room for more media"),
    ("media_kind_mismatch", 400, "The stored media are of another kind"),
    ("media_unknown", 400, "The media reference is unknown or has expired"),
    ("method_not_allowed", 405, "The path does not take this method"),
    ("not_acceptable", 406, "The answer is JSON and the request does not accept it"),
    ("not_allowed_here", 400, "The value is not allowed at this place"),
    ("not_cancellable", 409, "The send cannot be cancelled"),
    ("not_found", 404, "There is no such thing"),
    ("not_one_of", 400, "The value is none of those allowed"),
    ("not_renderable", 400, "The channel cannot carry this value"),
    ("not_retryable", 409, "The send cannot be tried again"),
    ("out_of_range", 400, "The value is outside its range"),
    ("outcome_unknown", 502, "The medium never answered"),
    ("prompt_required", 400, "A choice or form needs a message"),
    ("public_url_required", 400, "Media served here need a public address"),
    ("rate_limited", 429, "Too many requests"),
    ("recipient_not_allowed", 403, "The recipient is not allowed on this channel"),
    ("recipient_opted_out", 403, "The recipient opted out"),
    ("recipient_required", 400, "The channel needs a recipient"),
    ("required", 400, "A required field is missing"),
    ("requires", 400, "A field needs another one"),
    ("sender_identity_not_allowed", 400, "The sender's identity cannot be chosen"),
    ("store_unavailable", 503, "The store cannot be reached"),
    ("too_large", 413, "The request is too large"),
    ("too_long", 400, "The text is too long"),
    ("too_long_for_channel", 400, "The content is too long for the channel"),
    ("too_many", 400, "The list is too long"),
    ("too_many_streams", 429, "Too many streams are open"),
    ("unauthenticated", 401, "A valid key is needed"),
    ("unknown_channel", 404, "The channel is not registered"),
    ("unknown_field", 400, "The request holds a key that is not known"),
    ("unknown_reply", 404, "There is no such choice"),
    ("unsupported_capability", 501, "The channel cannot render this"),
    ("unsupported_media_type", 415, "The content type is not taken"),
    ("visitor_session_missing", 401, "The visitor is not known"),
    ("wrong_type", 400, "The value is of another type"),
];

/// Codes that nothing can provoke yet, with what they wait for.
pub const NOT_YET: &[(&str, &str)] = &[
    ("form_unsupported", "forms are declined by every channel"),
    ("idempotency_in_progress", "every call with a key ends in one recording step"),
    ("not_renderable", "no value of the media that exist is refused for its form"),
    ("public_url_required", "every medium that exists carries stored bytes itself"),
];

/// The status of a code; 500 for one that is not in the table, which a test rules out.
#[must_use]
pub fn status_of(code: &str) -> u16 {
    CODES.iter().find(|(c, _, _)| *c == code).map_or(500, |(_, status, _)| *status)
}

/// A refusal, ready to be encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Stable code: a row of [`CODES`].
    pub code: &'static str,
    /// One sentence: what is wrong and what to do.
    pub detail: String,
    /// Every problem found at the stage that refused.
    pub errors: Vec<Problem>,
    /// Members of its own, such as `registered`.
    pub extra: Vec<(&'static str, Value)>,
    /// Seconds for `Retry-After`.
    pub retry_after: Option<u64>,
    /// A status other than the code's own.
    at_status: Option<u16>,
}

impl Refused {
    /// A refusal without a list of fields.
    #[must_use]
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            extra: Vec::new(),
            retry_after: None,
            at_status: None,
        }
    }

    /// A refusal over the problems of one stage; the first one's code is its own. `None` without
    /// any.
    #[must_use]
    pub fn from_problems(problems: Vec<Problem>) -> Option<Self> {
        let first = problems.first()?;
        let detail = if problems.len() == 1 {
            sentence(first)
        } else {
            format!("{} problems; the first: {}", problems.len(), sentence(first))
        };
        Some(Self { errors: problems.clone(), ..Self::new(first.code, detail) })
    }

    /// With a member of its own.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.extra.push((name, value));
        self
    }

    /// With seconds to wait.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// With another status than the code's: the same bound, reached by somebody else.
    #[must_use]
    pub fn at_status(mut self, status: u16) -> Self {
        self.at_status = Some(status);
        self
    }

    /// The uniform 404: unknown, malformed, evicted and somebody else's look the same.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new("not_found", "There is nothing here that this key may see.")
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.at_status.unwrap_or_else(|| status_of(self.code))
    }

    /// The code's title.
    #[must_use]
    pub fn title(&self) -> &'static str {
        CODES.iter().find(|(c, _, _)| *c == self.code).map_or("Refused", |(_, _, t)| *t)
    }

    /// The problem document.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert("type".into(), json!(format!("urn:tidings:problem:{}", self.code)));
        document.insert("title".into(), json!(self.title()));
        document.insert("status".into(), json!(self.status()));
        document.insert("detail".into(), json!(self.detail));
        document.insert("code".into(), json!(self.code));
        if !self.errors.is_empty() {
            let shown = &self.errors[..self.errors.len().min(ERRORS_SHOWN)];
            document.insert("errors".into(), json!(shown));
            document.insert("errors_total".into(), json!(self.errors.len()));
        }
        for (name, value) in &self.extra {
            document.insert((*name).into(), value.clone());
        }
        Value::Object(document)
    }
}

fn sentence(problem: &Problem) -> String {
    if problem.field.is_empty() {
        problem.detail.clone()
    } else {
        format!("{}: {}", problem.field, problem.detail)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::from_problems(refusal.problems).unwrap_or_else(|| {
            Self::new("not_renderable", "The channel refused the content without saying why.")
        })
    }
}

impl From<crate::store::StoreError> for Refused {
    fn from(error: crate::store::StoreError) -> Self {
        tracing::error!(error = %error, "the store did not answer");
        Self::new("store_unavailable", "The store cannot be reached. Try again: with an Idempotency-Key nothing is done twice.")
            .retry_after(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_unique_and_never_422() {
        for pair in CODES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
        }
        assert!(CODES.iter().all(|(_, status, _)| *status != 422));
    }

    #[test]
    fn nt_22_the_first_fifty_problems_are_shown_with_their_count() {
        let problems: Vec<_> =
            (0..70).map(|i| Problem::new(format!("media[{i}]"), "bad_url", "no")).collect();
        let document = Refused::from_problems(problems).unwrap().document();
        assert_eq!(document["errors"].as_array().unwrap().len(), ERRORS_SHOWN);
        assert_eq!(document["errors_total"], 70);
        assert_eq!(document["code"], "bad_url");
        assert_eq!(document["status"], 400);
    }
}
