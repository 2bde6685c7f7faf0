//! `multipart/form-data`, read from whole bytes.
//!
//! Parts are slices of the body, so an upload is never copied. Names and file names are read as
//! browsers write them: in quotes, with the quote and line ends percent-encoded.
use bytes::Bytes;

/// More parts than this are no request of a vendor's.
const MAX_PARTS: usize = 1000;

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Field name.
    pub name: String,
    /// Name of the file; a part without one is text.
    pub filename: Option<String>,
    /// Its own content type, when it says one.
    pub content_type: Option<String>,
    /// Its bytes.
    pub bytes: Bytes,
}

impl Part {
    /// The text of a part that is no file.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.filename.is_none().then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

/// The boundary a content type names.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    parameter(content_type, "boundary").filter(|text| !text.is_empty() && text.len() <= 200)
}

/// The parts of a body; `None` when it is not whole.
pub(crate) fn parts(body: &Bytes, boundary: &str) -> Option<Vec<Part>> {
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    let mut next = match body.strip_prefix(&delimiter[2..]) {
        Some(rest) => behind(body, body.len() - rest.len()),
        None => None,
    };
    if next.is_none() {
        next = Some(delimited(body, &delimiter, 0)?.1);
    }
    let mut found = Vec::new();
    while let Some(After::Part(head)) = next {
        let blank = if body[head..].starts_with(b"\r\n") {
            head
        } else {
            find(body, b"\r\n\r\n", head)? + 2
        };
        let (end, after) = delimited(body, &delimiter, blank + 2)?;
        let content = body.slice(blank + 2..end);
        found.push(part(std::str::from_utf8(&body[head..blank]).ok()?, content)?);
        if found.len() > MAX_PARTS {
            return None;
        }
        next = Some(after);
    }
    Some(found)
}

/// What follows a delimiter.
enum After {
    /// A part, whose head begins there.
    Part(usize),
    /// Nothing of interest.
    End,
}

/// Reads on behind a delimiter's letters; `None` when they were content after all.
fn behind(body: &[u8], at: usize) -> Option<After> {
    let rest = &body[at..];
    if rest.starts_with(b"--") {
        return Some(After::End);
    }
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    rest[blanks..].starts_with(b"\r\n").then_some(After::Part(at + blanks + 2))
}

/// Where the next delimiter begins, and what follows it.
fn delimited(body: &[u8], delimiter: &[u8], from: usize) -> Option<(usize, After)> {
    let mut at = from;
    loop {
        let start = find(body, delimiter, at)?;
        if let Some(after) = behind(body, start + delimiter.len()) {
            return Some((start, after));
        }
        at = start + 1;
    }
}

fn find(body: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let mut at = from;
    loop {
        at += body.get(at..)?.iter().position(|byte| byte == first)?;
        if body[at + 1..].starts_with(rest) {
            return Some(at);
        }
        at += 1;
    }
}

fn part(head: &str, bytes: Bytes) -> Option<Part> {
    let header = |name: &str| {
        head.split("\r\n").find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.trim().eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    let disposition = header("content-disposition")?;
    Some(Part {
        name: parameter(disposition, "name").map(decoded)?,
        filename: parameter(disposition, "filename").map(decoded),
        content_type: header("content-type").map(str::to_owned),
        bytes,
    })
}

/// A parameter of a header's value: `key=token` or `key="text"`, a backslash before a quote or a
/// backslash taken away.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value;
    while let Some(semicolon) = rest.find(';') {
        rest = rest[semicolon + 1..].trim_start();
        let (key, after) = rest.split_once('=')?;
        let (text, left) = match after.strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        if key.trim().eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = left;
    }
    None
}

fn quoted(inside: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, &inside[at + 1..])),
            '\\' if matches!(chars.peek(), Some((_, '"' | '\\'))) => {
                text.extend(chars.next().map(|(_, escaped)| escaped));
            }
            other => text.push(other),
        }
    }
    None
}

fn decoded(name: String) -> String {
    if !name.contains('%') {
        return name;
    }
    name.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(body: &str) -> Option<Vec<Part>> {
        parts(&Bytes::copy_from_slice(body.as_bytes()), "b")
    }

    #[test]
    fn parts_are_read_in_order_with_their_names() {
        let body = "preamble\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b\r\n\
            content-disposition: form-data; filename=\"x%22\\\"y\\z.png\"; name=f0\r\nContent-Type: image/png\r\n\r\n\r\n--bb\r\n--b\r\n\
            Content-Disposition: form-data; name=\"\"\r\n\r\n\r\n--b--\r\nend";
        let found = read(body).unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].text().as_deref(), Some("1"));
        assert_eq!(found[1].filename.as_deref(), Some("x\"\"y\\z.png"));
        assert_eq!(found[1].content_type.as_deref(), Some("image/png"));
        assert_eq!(found[1].bytes.as_ref(), b"\r\n--bb", "a longer boundary is content");
        assert_eq!((found[1].name.as_str(), found[2].bytes.len()), ("f0", 0));
    }

    #[test]
    fn a_body_that_is_not_whole_is_none() {
        let whole = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--";
        assert_eq!(read(whole).unwrap().len(), 1);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_none(), "{end}");
        }
        assert!(read("--b\r\nX: y\r\n\r\n1\r\n--b--").is_none());
    }

    #[test]
    fn the_boundary_is_a_parameter() {
        assert_eq!(boundary("multipart/form-data; boundary=x-y").as_deref(), Some("x-y"));
        assert_eq!(
            boundary("multipart/form-data; a=\"b;c\"; Boundary=\"x y\"").as_deref(),
            Some("x y")
        );
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary("multipart/form-data; boundary="), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parts(&Bytes::from(body), "b");
        }

        #[test]
        fn any_content_comes_back(content in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut body = b"--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n".to_vec();
            prop_assume!(!content.windows(5).any(|w| w == b"\r\n--b"));
            body.extend_from_slice(&content);
            body.extend_from_slice(b"\r\n--b--\r\n");
            let found = parts(&Bytes::from(body), "b").unwrap();
            prop_assert_eq!(found[0].bytes.as_ref(), content.as_slice());
        }
    }
}
