//! Stored frames and how they read on the stream.
//!
//! Stored: `<event> <dir>\n` and a JSON object without `id`, `dir` and `at`. On the stream: the same
//! object with those three in front, one line.
use crate::clock::Millis;
use crate::store::FrameId;
use bytes::Bytes;
use serde_json::json;
use std::fmt::Write;

/// The event of a message frame.
const MESSAGE: &str = "chat.message";

/// What the gateway said to the visitor.
#[must_use]
pub fn outgoing(frame: &contract::Frame) -> Bytes {
    Bytes::from(format!("{} out\n{}", frame.event, frame.json))
}

/// What the visitor said.
#[must_use]
pub fn incoming(text: &str, client_message_id: &str) -> Bytes {
    let object = json!({ "text": text, "client_message_id": client_message_id });
    Bytes::from(format!("{MESSAGE} in\n{object}"))
}

/// Adds a stored frame to a stream's text. One that does not read back becomes a message without
/// content, which the page shows as broken: a gap would look like nothing was said.
pub fn write_event(out: &mut String, id: FrameId, stored: &[u8]) {
    let (event, dir, object) = read(stored).unwrap_or((MESSAGE, "out", "{}"));
    let at = Millis(i64::try_from(id.ms).unwrap_or(i64::MAX)).rfc3339();
    let rest = object.get(1..).unwrap_or("}");
    let comma = if rest.starts_with('}') { "" } else { "," };
    let _ = write!(
        out,
        "id: {id}\nevent: {event}\ndata: {{\"id\":\"{id}\",\"dir\":\"{dir}\",\"at\":\"{at}\"{comma}"
    );
    for c in rest.chars() {
        match c {
            // A line of its own to some parsers, and never structure in JSON.
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            // Raw breaks cannot occur in compact JSON; a stored value is not trusted for it.
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out.push_str("\n\n");
}

fn read(stored: &[u8]) -> Option<(&str, &str, &str)> {
    let (head, object) = std::str::from_utf8(stored).ok()?.split_once('\n')?;
    let (event, dir) = head.split_once(' ')?;
    let known = matches!(event, "chat.message" | "chat.form") && matches!(dir, "in" | "out");
    (known && object.starts_with('{') && object.ends_with('}')).then_some((event, dir, object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const ID: FrameId = FrameId { ms: 1_790_000_000_000, n: 2 };

    fn event(stored: &[u8]) -> (String, Value) {
        let mut out = String::new();
        write_event(&mut out, ID, stored);
        let lines: Vec<_> = out.trim_end_matches('\n').split('\n').collect();
        assert_eq!(lines.len(), 3, "{out}");
        assert_eq!(lines[0], "id: 1790000000000-2");
        let data = lines[2].strip_prefix("data: ").unwrap();
        (lines[1].to_owned(), serde_json::from_str(data).unwrap())
    }

    #[test]
    fn wb_10_an_event_is_one_line_of_json_whatever_was_said() {
        for text in ["hi", "a\nb\r\nc", "\u{2028}\u{2029}", "\"}\\", "\u{0}", ""] {
            let stored = incoming(text, "c-12345678");
            let (name, data) = event(&stored);
            assert_eq!(name, "event: chat.message");
            assert_eq!(data["text"], text);
            assert_eq!(data["dir"], "in");
            assert_eq!(data["id"], "1790000000000-2");
            assert_eq!(data["at"], "2026-09-21T14:13:20.000Z");
            let mut out = String::new();
            write_event(&mut out, ID, &stored);
            assert!(!out.contains(['\u{2028}', '\u{2029}', '\r']));
        }
        let frame = contract::Frame { event: "chat.message", json: "{\"text\":\"x\"}".to_owned() };
        assert_eq!(event(&outgoing(&frame)).1["dir"], "out");
    }

    #[test]
    fn a_frame_that_does_not_read_back_is_shown_as_empty() {
        for bad in
            [&b""[..], b"chat.message out", b"x out\n{}", b"chat.message up\n{}", b"\xff\n{}"]
        {
            let (name, data) = event(bad);
            assert_eq!(
                (name.as_str(), data.as_object().unwrap().len()),
                ("event: chat.message", 3)
            );
        }
    }
}
