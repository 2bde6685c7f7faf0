//! Refusals: why a request is not taken, as data. Details name bounds and fields, never values.
use serde::{Deserialize, Serialize};

/// An address in the medium's canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// Wraps what an adapter's grammar accepted.
    #[must_use]
    pub fn new(canonical: impl Into<String>) -> Self {
        Self(canonical.into())
    }
    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// What a preview shows when there is no recipient yet.
    #[must_use]
    pub fn literal() -> Self {
        Self("<recipient>".to_owned())
    }
}

/// One problem with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Path with the caller's positions and our names.
    pub field: String,
    /// Stable code.
    pub code: &'static str,
    /// What the rule is and what to do; never the value.
    pub detail: String,
}

impl Problem {
    /// A problem at a path.
    #[must_use]
    pub fn new(field: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { field: field.into(), code, detail: detail.into() }
    }
}

/// The statuses a refusal of a channel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStatus {
    /// 400.
    BadRequest,
    /// 403.
    Forbidden,
    /// 501.
    NotImplemented,
}

/// A refusal by an adapter: every problem of that stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Status.
    pub status: RefusalStatus,
    /// The first one's code is the refusal's.
    pub problems: Vec<Problem>,
}

impl Refusal {
    /// 400 with one problem.
    #[must_use]
    pub fn bad_request(
        field: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status: RefusalStatus::BadRequest,
            problems: vec![Problem::new(field, code, detail)],
        }
    }
    /// 403 with one problem.
    #[must_use]
    pub fn forbidden(
        field: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self { status: RefusalStatus::Forbidden, problems: vec![Problem::new(field, code, detail)] }
    }
    /// The refusal's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.problems.first().map_or("not_renderable", |p| p.code)
    }
}
