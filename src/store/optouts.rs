//! Opt-outs: who wants nothing, or no marketing, from an account, and who cannot be reached.
//!
//! One row for each channel and recipient, named by the recipient's lane, so that no address stands
//! in a key. The strongest statement stands: a weaker one never replaces it.
use super::steps::{At, Lane, StoreResult};
use crate::clock::Millis;
use async_trait::async_trait;
use bytes::Bytes;
use contract::ChannelName;

/// What holds for a recipient, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptScope {
    /// A mark alone: it blocks nothing.
    Unreachable,
    /// No marketing.
    Marketing,
    /// Nothing at all.
    All,
}

impl OptScope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Unreachable, Self::Marketing, Self::All];

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Marketing => "marketing",
            Self::All => "all",
        }
    }

    /// The letter a store keeps.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Unreachable => 'u',
            Self::Marketing => 'm',
            Self::All => 'a',
        }
    }

    /// The scope of a letter.
    pub(super) fn of_letter(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.letter() as u32 == u32::from(letter))
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptRow {
    /// What holds.
    pub scope: OptScope,
    /// Since when: the order of lists.
    pub since: Millis,
    /// What else is known of it: opaque.
    pub value: Bytes,
}

/// A change that goes along with the write of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OptChange {
    /// None.
    #[default]
    Keep,
    /// The recipient of this lane is gone.
    Set(Lane, OptRow),
    /// The recipient of this lane was reached: an `Unreachable` mark goes.
    Reached(Lane),
}

/// Opt-outs.
#[async_trait]
pub trait OptOuts {
    /// Sets a row unless one as strong stands; true when it was set.
    async fn opt_set(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        row: OptRow,
        at: At,
    ) -> StoreResult<bool>;

    /// Removes the row, if it is one of these scopes; gives it.
    async fn opt_clear(
        &self,
        channel: &ChannelName,
        lane: &Lane,
        scopes: &[OptScope],
        at: At,
    ) -> StoreResult<Option<OptRow>>;

    /// The row of a recipient.
    async fn opt_get(&self, channel: &ChannelName, lane: &Lane) -> StoreResult<Option<OptRow>>;

    /// Rows of a channel before a place, newest first.
    async fn opt_list(
        &self,
        channel: &ChannelName,
        before: Option<(Millis, Lane)>,
        limit: usize,
    ) -> StoreResult<Vec<(Lane, OptRow)>>;
}
