//! The tables, and two views of them: a batch's ([`Tables`]) and a reader's ([`Snapshot`]).
//!
//! Every table maps bytes to bytes ([`super::rows`] spells them). A view opens a table when it is
//! first asked for and keeps it, so a batch opens each table at most once.
use super::super::steps::{StoreError, StoreResult};
use redb::{
    AccessGuard, Range, ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata,
    Table, TableDefinition, WriteTransaction,
};
use std::cell::OnceCell;
use std::ops::Bound;

/// What every table holds.
type Raw = &'static [u8];

macro_rules! tables {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        /// Which table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum TableId { $($(#[$doc])* $id,)* }
        /// Names in the file, in the order of [`TableId`].
        const NAMES: &[&str] = &[$($name),*];
        /// Every table.
        pub(super) const ALL: &[TableId] = &[$(TableId::$id),*];
    };
}

tables! {
    /// Counters: `med_bytes`, and `ping`, which a health check writes after a failed commit.
    Meta = "meta",
    /// Notification id → sequence number, standing, body.
    Body = "ntf",
    /// Sequence number → id, standing: the shared ring.
    Ring = "inbox.all",
    /// Audience, sequence number → id, standing: the slices.
    Slice = "inbox.aud",
    /// Audience → expiry, floor, count.
    Audience = "inbox.aud_row",
    /// Expiry, audience.
    AudienceExpiry = "inbox.aud_exp",
    /// Hash of an idempotency key → deadline, fingerprint, state.
    Idempotency = "idem",
    /// Deadline, hash.
    IdempotencyExpiry = "idem_exp",
    /// Send id → notification, creation, places in the indexes, record.
    Send = "snd",
    /// Send id → channel, lane, owners: what its retention has to clear.
    SendRefs = "snd_refs",
    /// Deadline, send id: what is kept until when.
    Retain = "snd_exp",
    /// Channel, creation, send id.
    ByChannel = "idx",
    /// Channel, time of failure, send id.
    Dead = "dead",
    /// Expiry, send id: sends that are not final.
    Active = "active",
    /// Channel, lane, creation, send id.
    ByRecipient = "rcp",
    /// Identity, creation, send id.
    ByOwner = "own",
    /// How many entries a bounded index has.
    Counts = "counts",
    /// Channel, hash of a provider's message id → send id, part.
    Provider = "pid",
    /// Send id, key in `pid`: what its retention has to clear.
    ProviderOf = "pid_of",
    /// Deadline, send id: exchanges that are kept until when.
    ExchangeExpiry = "exc_exp",
    /// Send id → that deadline.
    ExchangeUntil = "exc_until",
    /// Send id → log.
    Log = "log",
    /// Send id, number → exchange.
    Exchange = "exc",
    /// Queue name → number.
    Queue = "q",
    /// Queue number, lane → [`super::rows::LaneRow`].
    Lane = "q.lane",
    /// Queue number, lane, number → item.
    Item = "q.item",
    /// Channel → since, until, wait, reason: accounts that send nothing for now.
    Parking = "pause",
    /// Channel → when its pacing lane is idle again, when it lets the next request go.
    Penalty = "gcra",
    /// Channel, lane → letter of the scope, since, opaque: opt-outs.
    OptOut = "opt",
    /// Channel, since, lane: opt-outs in their order.
    OptPlace = "opt_idx",
    /// Number → poisoned item.
    Poison = "q.bad",
    /// Media id → row.
    Media = "med",
    /// Expiry, media id.
    MediaExpiry = "med_exp",
    /// Channel, hash of a provider's message id → deadline, receipts that came early.
    Shelf = "shelf",
    /// Deadline, key of the shelf.
    ShelfExpiry = "shelf_exp",
    /// Number → receipt no send was found for.
    Orphan = "orphans",
    /// Trace → deadline, ids.
    Trace = "trc",
    /// Channel, hour → deadline, counts.
    Hour = "hour",
    /// Kind, scope of a notice → when it may be told again, occurrences untold.
    Notice = "ntc",
    /// Node → when it was seen, what it says.
    Node = "nodes",
    /// Deadline, table, key: rows of the tables below that begin with their deadline.
    Lapse = "lapse",
    /// Hash of a visitor's token → deadline.
    Token = "web.tok",
    /// Hash of a visitor's token, channel → visitor.
    TokenVisitor = "web.tok_vis",
    /// Channel, visitor → deadline.
    Visitor = "web.vis",
    /// Channel, visitor → deadline, newest, floor, frames.
    Transcript = "web.tr",
    /// Channel, visitor, frame id → frame.
    Frame = "web.frame",
    /// Channel, hash of a claim → deadline, message, fingerprint.
    Claim = "seen",
    /// Message id → deadline, reception, thread, channel, message.
    Inbound = "msg",
    /// Channel, reception, message id.
    InboundOf = "inb",
    /// Thread, reception, message id.
    InboundIn = "thrm",
    /// Thread id → deadline, channel, hash of its address, thread.
    Thread = "thr",
    /// Channel, hash of an address → thread id.
    ThreadKey = "thrkey",
}

/// How many tables there are.
const COUNT: usize = NAMES.len();

impl TableId {
    fn definition(self) -> TableDefinition<'static, Raw, Raw> {
        TableDefinition::new(NAMES[self as usize])
    }
}

/// What a redb error comes to.
pub(super) fn failed(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Corrupted(what) => StoreError::Corrupt(what),
        other => StoreError::Unavailable(other.to_string()),
    }
}

/// One row: its key and value.
pub(super) type Row<'a> = (AccessGuard<'a, Raw>, AccessGuard<'a, Raw>);

/// Reading, the same inside a batch and outside.
pub(super) trait Look {
    /// The view's kind of open table.
    type Open: ReadableTable<Raw, Raw> + ReadableTableMetadata;
    /// The table, opened if need be.
    fn table(&self, table: TableId) -> StoreResult<&Self::Open>;

    /// One value.
    fn get(&self, table: TableId, key: &[u8]) -> StoreResult<Option<AccessGuard<'_, Raw>>> {
        self.table(table)?.get(key).map_err(failed)
    }
    /// Whether there is such a row.
    fn has(&self, table: TableId, key: &[u8]) -> StoreResult<bool> {
        Ok(self.get(table, key)?.is_some())
    }
    /// Rows in the order of their keys, both ends of the range walkable.
    fn range(&self, table: TableId, from: Bound<&[u8]>, to: Bound<&[u8]>) -> StoreResult<Rows<'_>> {
        Ok(Rows(self.table(table)?.range::<&[u8]>((from, to)).map_err(failed)?))
    }
    /// Rows whose keys begin with this.
    fn beginning(&self, table: TableId, prefix: &[u8]) -> StoreResult<Rows<'_>> {
        match after(prefix) {
            Some(end) => self.range(table, Bound::Included(prefix), Bound::Excluded(&end)),
            None => self.range(table, Bound::Included(prefix), Bound::Unbounded),
        }
    }
    /// How many rows the table has.
    fn len(&self, table: TableId) -> StoreResult<u64> {
        self.table(table)?.len().map_err(failed)
    }
}

/// The least key that begins with none of what `prefix` begins; none behind the last.
pub(super) fn after(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// Rows of a range.
pub(super) struct Rows<'a>(Range<'a, Raw, Raw>);

impl<'a> Iterator for Rows<'a> {
    type Item = StoreResult<Row<'a>>;
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|row| row.map_err(failed))
    }
}

impl DoubleEndedIterator for Rows<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|row| row.map_err(failed))
    }
}

/// A cell's content, made when it is first asked for.
fn opened<T>(cell: &OnceCell<T>, open: impl FnOnce() -> StoreResult<T>) -> StoreResult<&T> {
    if let Some(table) = cell.get() {
        return Ok(table);
    }
    let table = open()?;
    Ok(cell.get_or_init(|| table))
}

/// A batch's view.
pub(super) struct Tables<'t> {
    transaction: &'t WriteTransaction,
    open: [OnceCell<Table<'t, Raw, Raw>>; COUNT],
}

impl<'t> Tables<'t> {
    /// Of this transaction.
    pub(super) fn of(transaction: &'t WriteTransaction) -> Self {
        Self { transaction, open: [const { OnceCell::new() }; COUNT] }
    }
    fn writable(&mut self, table: TableId) -> StoreResult<&mut Table<'t, Raw, Raw>> {
        self.table(table)?;
        self.open[table as usize]
            .get_mut()
            .ok_or_else(|| StoreError::Unavailable("a table did not open".into()))
    }
    /// Writes a row.
    pub(super) fn put(&mut self, table: TableId, key: &[u8], value: &[u8]) -> StoreResult<()> {
        self.writable(table)?.insert(key, value).map_err(failed)?;
        Ok(())
    }
    /// Removes a row, if it is there.
    pub(super) fn remove(&mut self, table: TableId, key: &[u8]) -> StoreResult<()> {
        self.writable(table)?.remove(key).map_err(failed)?;
        Ok(())
    }
}

impl<'t> Look for Tables<'t> {
    type Open = Table<'t, Raw, Raw>;
    fn table(&self, table: TableId) -> StoreResult<&Self::Open> {
        opened(&self.open[table as usize], || {
            self.transaction.open_table(table.definition()).map_err(failed)
        })
    }
}

/// A reader's view: the database as it was when the view was taken.
pub(super) struct Snapshot {
    transaction: ReadTransaction,
    open: [OnceCell<ReadOnlyTable<Raw, Raw>>; COUNT],
}

impl Snapshot {
    /// Of this transaction.
    pub(super) fn of(transaction: ReadTransaction) -> Self {
        Self { transaction, open: [const { OnceCell::new() }; COUNT] }
    }
}

impl Look for Snapshot {
    type Open = ReadOnlyTable<Raw, Raw>;
    fn table(&self, table: TableId) -> StoreResult<&Self::Open> {
        opened(&self.open[table as usize], || {
            self.transaction.open_table(table.definition()).map_err(failed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_one() {
        assert_eq!(after(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after(&[1, 255]), Some(vec![2]));
        assert_eq!(after(&[255, 255]), None);
        assert_eq!(ALL.len(), COUNT);
    }
}
