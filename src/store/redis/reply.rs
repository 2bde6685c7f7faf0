//! Reading what scripts give. What is not as it should be is a value that cannot be read.
use super::super::steps::{StoreError, StoreResult};
use bytes::Bytes;
use redis::Value;

/// A value of another shape than the script gives.
pub(super) fn odd(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

/// Bytes, or nothing.
pub(super) fn bytes(value: Value) -> StoreResult<Option<Bytes>> {
    match value {
        Value::Nil | Value::Boolean(false) => Ok(None),
        Value::BulkString(bytes) => Ok(Some(bytes.into())),
        Value::SimpleString(text) => Ok(Some(text.into())),
        Value::Int(number) => Ok(Some(number.to_string().into())),
        _ => Err(odd("bytes expected")),
    }
}

/// Text that must be there.
pub(super) fn text(value: Value) -> StoreResult<String> {
    let bytes = bytes(value)?.ok_or_else(|| odd("text expected"))?;
    String::from_utf8(bytes.to_vec()).map_err(|_| odd("text expected"))
}

/// A list, empty when there is nothing.
pub(super) fn list(value: Value) -> StoreResult<Vec<Value>> {
    match value {
        Value::Array(list) => Ok(list),
        Value::Nil => Ok(Vec::new()),
        _ => Err(odd("a list expected")),
    }
}

/// A whole number; absent counts as 0.
pub(super) fn number(value: Value) -> StoreResult<i64> {
    match value {
        Value::Int(number) => Ok(number),
        Value::Nil => Ok(0),
        other => whole(&text(other)?),
    }
}

/// A count.
pub(super) fn count(value: Value) -> StoreResult<u64> {
    u64::try_from(number(value)?).map_err(|_| odd("a count expected"))
}

/// A whole number, also as a score spells it.
pub(super) fn whole(text: &str) -> StoreResult<i64> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let score: f64 = text.parse().map_err(|_| odd("a number expected"))?;
    // Scores are whole milliseconds or sequence numbers far below 2^53.
    #[expect(clippy::cast_possible_truncation)]
    Ok(score as i64)
}

/// Members with their scores.
pub(super) fn scored(value: Value) -> StoreResult<Vec<(String, i64)>> {
    let mut items = list(value)?.into_iter();
    let mut found = Vec::new();
    while let (Some(member), Some(score)) = (items.next(), items.next()) {
        found.push((text(member)?, whole(&text(score)?)?));
    }
    Ok(found)
}

/// The next of a list.
pub(super) fn take(list: &mut impl Iterator<Item = Value>) -> StoreResult<Value> {
    list.next().ok_or_else(|| odd("an answer is too short"))
}

/// Values in one, each behind its length in four bytes.
pub(super) fn framed(all: &Bytes) -> StoreResult<Vec<Bytes>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < all.len() {
        let size = all.get(at..at + 4).and_then(|size| size.try_into().ok());
        let size = u32::from_be_bytes(size.ok_or_else(|| odd("a value is cut"))?) as usize;
        let end = at + 4 + size;
        if end > all.len() {
            return Err(odd("a value is cut"));
        }
        found.push(all.slice(at + 4..end));
        at = end;
    }
    Ok(found)
}
