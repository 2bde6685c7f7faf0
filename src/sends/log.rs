//! What is kept beside a record: moves and attempt summaries once the send is final, and the
//! exchanges with the medium, redacted.
use super::record::{AttemptSummary, Move};
use bytes::Bytes;
use kit::redact::Exchange;
use serde::{Deserialize, Serialize};

/// Moves and attempts taken over from a record by one write. A log is such chunks in a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogChunk {
    /// Moves.
    #[serde(rename = "m")]
    pub moves: Vec<Move>,
    /// Attempts.
    #[serde(rename = "a")]
    pub attempts: Vec<AttemptSummary>,
}

impl LogChunk {
    /// The chunk's bytes.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        rmp_serde::to_vec_named(self).unwrap_or_default().into()
    }

    /// Every chunk of a log as one; what cannot be read ends it.
    #[must_use]
    pub fn read_all(log: &[u8]) -> Self {
        let mut whole = Self::default();
        let mut rest = std::io::Cursor::new(log);
        while let Ok(chunk) = rmp_serde::from_read::<_, Self>(&mut rest) {
            whole.moves.extend(chunk.moves);
            whole.attempts.extend(chunk.attempts);
        }
        whole
    }
}

/// The exchanges of one attempt: with the medium, and with hosts media were fetched from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredExchange {
    /// The attempt they belong to.
    #[serde(rename = "n")]
    pub attempt: u16,
    /// What was said, redacted, in order.
    #[serde(rename = "x")]
    pub exchanges: Vec<Exchange>,
}

impl StoredExchange {
    /// lz4 over `MessagePack`.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let plain = rmp_serde::to_vec_named(self).unwrap_or_default();
        lz4_flex::compress_prepend_size(&plain).into()
    }
    /// Reads it back.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let plain = lz4_flex::decompress_size_prepended(bytes).ok()?;
        rmp_serde::from_slice(&plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Millis;

    #[test]
    fn d_79_chunks_written_one_after_another_read_as_one() {
        let attempt = |number| AttemptSummary {
            number,
            part: 0,
            started: Millis(7),
            elapsed_ms: Some(3),
            http_status: Some(200),
            fault: None,
        };
        let chunk = |n| LogChunk { moves: Vec::new(), attempts: vec![attempt(n)] };
        let mut log = chunk(1).encode().to_vec();
        log.extend_from_slice(&chunk(2).encode());
        assert_eq!(LogChunk::read_all(&log).attempts, vec![attempt(1), attempt(2)]);
        assert_eq!(LogChunk::read_all(b"\xc1"), LogChunk::default());
    }
}
