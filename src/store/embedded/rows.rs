//! Keys and rows: how every value of the database is spelt in bytes.
//!
//! Keys are binary and big-endian, so that the order of bytes is the order wanted: times are signed
//! milliseconds with the sign bit turned, ids the 16 bytes they spell, names end with a zero byte
//! where something follows. Rows have fixed fields first and one open field last.
use super::super::records::SendIndex;
use super::super::steps::{Lane, QueueName, StoreError, StoreResult};
use crate::clock::Millis;
use bytes::Bytes;
use contract::ids::decode26;
use contract::{ChannelName, InboundId, NotificationId, SendId, ThreadId, VisitorId};
use sha2::{Digest, Sha256};

/// The bit that tells negative times from others.
const SIGN: u64 = 1 << 63;
/// The time that stands for none.
const NEVER: i64 = i64::MIN;
/// Bytes in front of a send's record.
const SEND_PREFIX: usize = 48;

/// A value that does not read back.
pub(super) fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

/// A time as eight bytes that sort like it.
pub(super) fn time(at: Millis) -> [u8; 8] {
    (at.0.cast_unsigned() ^ SIGN).to_be_bytes()
}

/// A notification's id as a key.
pub(super) fn notification_key(id: &NotificationId) -> [u8; 16] {
    decode26(id.tail()).unwrap_or(0).to_be_bytes()
}

/// A send's id as a key.
pub(super) fn send_key(id: &SendId) -> [u8; 16] {
    decode26(id.tail()).unwrap_or(0).to_be_bytes()
}

/// An inbound message's id as a key.
pub(super) fn inbound_key(id: &InboundId) -> [u8; 16] {
    decode26(id.tail()).unwrap_or(0).to_be_bytes()
}

/// A thread's id as a key.
pub(super) fn thread_key(id: &ThreadId) -> [u8; 16] {
    decode26(id.tail()).unwrap_or(0).to_be_bytes()
}

/// A visitor's id as a key.
pub(super) fn visitor_key(id: &VisitorId) -> [u8; 16] {
    decode26(id.tail()).unwrap_or(0).to_be_bytes()
}

/// The id of that key.
pub(super) fn send_id(key: [u8; 16]) -> SendId {
    SendId::from_bits(u128::from_be_bytes(key))
}

/// The id of that key.
pub(super) fn notification_id(key: [u8; 16]) -> NotificationId {
    NotificationId::from_bits(u128::from_be_bytes(key))
}

/// The first 16 bytes of an identity's SHA-256: no identity stands in a key.
pub(super) fn identity(name: &str) -> [u8; 16] {
    let mut short = [0u8; 16];
    short.copy_from_slice(&Sha256::digest(name.as_bytes())[..16]);
    short
}

/// These pieces one behind the other.
pub(super) fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// The lane's row: queue number, then its name.
pub(super) fn lane_key(queue: u16, lane: &str) -> Vec<u8> {
    joined(&[&queue.to_be_bytes(), lane.as_bytes()])
}

/// What the keys of a lane's items begin with; the length keeps one name from beginning another.
pub(super) fn item_prefix(queue: u16, lane: &str) -> Vec<u8> {
    let length = u16::try_from(lane.len()).unwrap_or(u16::MAX);
    joined(&[&queue.to_be_bytes(), &length.to_be_bytes(), lane.as_bytes()])
}

/// What the keys of an index of sends begin with; behind it stand time and id.
pub(super) fn index_prefix(index: &SendIndex) -> Vec<u8> {
    match index {
        SendIndex::Channel(channel) | SendIndex::Dead(channel) => channel_prefix(channel),
        SendIndex::Recipient(channel, lane) => recipient_prefix(channel, lane),
        SendIndex::Owner(owner) => identity(owner).to_vec(),
    }
}

/// A channel's name and the byte that ends it.
pub(super) fn channel_prefix(channel: &ChannelName) -> Vec<u8> {
    joined(&[channel.as_str().as_bytes(), &[0]])
}

/// A channel and a lane, each with the byte that ends it.
pub(super) fn recipient_prefix(channel: &ChannelName, lane: &Lane) -> Vec<u8> {
    joined(&[channel.as_str().as_bytes(), &[0], lane.0.as_bytes(), &[0]])
}

/// Fields read one after another.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `N` bytes.
    pub(super) fn take<const N: usize>(&mut self) -> StoreResult<[u8; N]> {
        let (head, rest) =
            self.0.split_first_chunk::<N>().ok_or_else(|| corrupt("a row is too short"))?;
        self.0 = rest;
        Ok(*head)
    }
    /// The next time.
    pub(super) fn time(&mut self) -> StoreResult<Millis> {
        Ok(Millis((u64::from_be_bytes(self.take()?) ^ SIGN).cast_signed()))
    }
    /// The next time, unless it stands for none.
    pub(super) fn maybe_time(&mut self) -> StoreResult<Option<Millis>> {
        Ok(Some(self.time()?).filter(|at| at.0 != NEVER))
    }
    /// The next number.
    pub(super) fn number(&mut self) -> StoreResult<u64> {
        Ok(u64::from_be_bytes(self.take()?))
    }
    /// All that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// A time or none, as eight bytes.
fn maybe(at: Option<Millis>) -> [u8; 8] {
    time(at.unwrap_or(Millis(NEVER)))
}

/// A stored lane: where it goes on, how much it holds, what waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneRow {
    /// Number of the next item.
    pub(super) tail: u64,
    /// Items.
    pub(super) count: u32,
    /// Until when it is delayed.
    pub(super) due: Option<Millis>,
    /// Leases on this head that ran out.
    pub(super) reaps: u8,
    /// The head's record was begun under the hold that had it last.
    pub(super) begun: bool,
}

impl LaneRow {
    /// Spells it.
    pub(super) fn encode(self) -> Vec<u8> {
        joined(&[
            &self.tail.to_be_bytes(),
            &self.count.to_be_bytes(),
            &maybe(self.due),
            &[self.reaps, u8::from(self.begun)],
        ])
    }
    /// Reads it.
    pub(super) fn decode(row: &[u8]) -> StoreResult<Self> {
        let mut fields = Fields(row);
        Ok(Self {
            tail: fields.number()?,
            count: u32::from_be_bytes(fields.take()?),
            due: fields.maybe_time()?,
            reaps: fields.take::<1>()?[0],
            begun: fields.take::<1>()?[0] != 0,
        })
    }
}

/// What stands in front of a send's record: whose it is and where indexes list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SendRow {
    /// Its notification.
    pub(super) notification: [u8; 16],
    /// When it was made.
    pub(super) created: Millis,
    /// Listed as not final, until this expiry.
    pub(super) active: Option<Millis>,
    /// Listed as a dead letter, since then.
    pub(super) dead: Option<Millis>,
    /// Kept until then.
    pub(super) retain: Option<Millis>,
}

impl SendRow {
    /// Spells it with the record behind it.
    pub(super) fn encode(self, record: &[u8]) -> Vec<u8> {
        joined(&[
            &self.notification,
            &time(self.created),
            &maybe(self.active),
            &maybe(self.dead),
            &maybe(self.retain),
            record,
        ])
    }
    /// Reads it and gives the record behind it.
    pub(super) fn decode(row: &[u8]) -> StoreResult<(Self, &[u8])> {
        let mut fields = Fields(row);
        let head = Self {
            notification: fields.take()?,
            created: fields.time()?,
            active: fields.maybe_time()?,
            dead: fields.maybe_time()?,
            retain: fields.maybe_time()?,
        };
        Ok((head, fields.rest()))
    }
    /// The record alone.
    pub(super) fn record(row: &[u8]) -> StoreResult<Bytes> {
        row.get(SEND_PREFIX..)
            .map(Bytes::copy_from_slice)
            .ok_or_else(|| corrupt("a send's row is too short"))
    }
    /// The header line of the record.
    pub(super) fn header(row: &[u8]) -> StoreResult<&str> {
        row.get(SEND_PREFIX..).and_then(header).ok_or_else(|| corrupt("a send has no header"))
    }
}

/// The header line of a record.
pub(super) fn header(record: &[u8]) -> Option<&str> {
    let end = record.iter().position(|byte| *byte == b'\n')?;
    std::str::from_utf8(&record[..end]).ok()
}

/// The revision a record's header carries.
pub(super) fn revision(record: &[u8]) -> StoreResult<u64> {
    header(record)
        .and_then(|line| line.split(' ').next()?.parse().ok())
        .ok_or_else(|| corrupt("a send's header has no revision"))
}

/// Whether somebody waits for this record.
pub(super) fn watched(record: &[u8]) -> bool {
    header(record).is_some_and(|line| line.ends_with(" w"))
}

/// Where an entry of the inbox stands, in front of its id (lists) or its body (bodies).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// A send holds the body, whatever the lists do.
    pub(super) send: bool,
    /// The audience whose slice got it.
    pub(super) audience: Option<[u8; 16]>,
}

impl Standing {
    /// Spells it: flags, then the audience if there is one.
    pub(super) fn encode(self) -> Vec<u8> {
        let flags = u8::from(self.send) | (u8::from(self.audience.is_some()) << 1);
        joined(&[&[flags], self.audience.as_ref().map_or(&[], |audience| &audience[..])])
    }
    /// Reads it off the front of these fields.
    pub(super) fn decode(fields: &mut Fields<'_>) -> StoreResult<Self> {
        let flags = fields.take::<1>()?[0];
        let audience = if flags & 2 == 0 { None } else { Some(fields.take()?) };
        Ok(Self { send: flags & 1 != 0, audience })
    }
}

/// A slice's own row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SliceRow {
    /// When it lapses.
    pub(super) expires: Millis,
    /// Entries before this number belong to an earlier life and are gone.
    pub(super) floor: u64,
    /// Entries stored, those of an earlier life included.
    pub(super) count: u32,
}

impl SliceRow {
    /// Spells it.
    pub(super) fn encode(self) -> Vec<u8> {
        joined(&[&time(self.expires), &self.floor.to_be_bytes(), &self.count.to_be_bytes()])
    }
    /// Reads it.
    pub(super) fn decode(row: &[u8]) -> StoreResult<Self> {
        let mut fields = Fields(row);
        Ok(Self {
            expires: fields.time()?,
            floor: fields.number()?,
            count: u32::from_be_bytes(fields.take()?),
        })
    }
}

/// The name under which a queue's number is kept.
pub(super) fn queue_key(queue: &QueueName) -> &[u8] {
    queue.as_str().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_as_bytes_as_they_sort_as_numbers() {
        let times = [i64::MIN, -5, -1, 0, 1, 1_790_000_000_000, i64::MAX];
        for pair in times.windows(2) {
            assert!(time(Millis(pair[0])) < time(Millis(pair[1])), "{pair:?}");
            assert_eq!(Fields(&time(Millis(pair[1]))).time(), Ok(Millis(pair[1])));
        }
    }

    #[test]
    fn rows_read_back_as_they_were_written_and_short_ones_are_refused() {
        let lane = LaneRow { tail: 9, count: 3, due: Some(Millis(-4)), reaps: 2, begun: true };
        assert_eq!(LaneRow::decode(&lane.encode()), Ok(lane));
        let send = SendRow {
            notification: [7; 16],
            created: Millis(1),
            active: None,
            dead: Some(Millis(2)),
            retain: None,
        };
        let row = send.encode(b"3 queued w\nrest");
        assert_eq!(SendRow::decode(&row), Ok((send, &b"3 queued w\nrest"[..])));
        assert_eq!(SendRow::header(&row), Ok("3 queued w"));
        assert_eq!(revision(b"3 queued w\nrest"), Ok(3));
        assert!(watched(b"3 queued w\n") && !watched(b"3 queued\n w\n"));
        let slice = SliceRow { expires: Millis(5), floor: 6, count: 7 };
        assert_eq!(SliceRow::decode(&slice.encode()), Ok(slice));
        for length in 0..row.len().min(48) {
            assert!(SendRow::decode(&row[..length]).is_err());
        }
        assert!(LaneRow::decode(&lane.encode()[..20]).is_err());
        assert!(revision(b"no header").is_err());
    }
}
