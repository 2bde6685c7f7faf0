//! Small valid files for addresses that nobody opens.
//!
//! The file's type is read from the end of the address's path. Pictures, the clip, the document and
//! the letter say in themselves that they stand in for something; the rest is a line of text.
use bytes::Bytes;
use contract::Fetched;

/// What the attempt log shows beside the address.
pub const NOTE: &str = "sandbox: stand-in";

/// Ending, type, file.
const FILES: [(&str, &str, &[u8]); 9] = [
    ("png", "image/png", include_bytes!("../stand_in/stand-in.png")),
    ("jpg", "image/jpeg", include_bytes!("../stand_in/stand-in.jpg")),
    ("jpeg", "image/jpeg", include_bytes!("../stand_in/stand-in.jpg")),
    ("gif", "image/gif", include_bytes!("../stand_in/stand-in.gif")),
    ("webp", "image/webp", include_bytes!("../stand_in/stand-in.webp")),
    ("mp4", "video/mp4", include_bytes!("../stand_in/stand-in.mp4")),
    ("mp3", "audio/mpeg", include_bytes!("../stand_in/stand-in.mp3")),
    ("pdf", "application/pdf", include_bytes!("../stand_in/stand-in.pdf")),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        include_bytes!("../stand_in/stand-in.docx"),
    ),
];

const OTHER: &[u8] = b"Stand-in: nothing was fetched from the address.\n";

/// The file that stands in for what a path or an absolute url leads to. Total: an unknown ending
/// gives `application/octet-stream`.
#[must_use]
pub fn stand_in(path_or_url: &str) -> Fetched {
    let ending = ending(path_or_url);
    let found = FILES.iter().find(|(known, ..)| *known == ending);
    let (content_type, bytes) =
        found.map_or(("application/octet-stream", OTHER), |(_, kind, bytes)| (*kind, *bytes));
    Fetched {
        bytes: Bytes::from_static(bytes),
        content_type: content_type.to_owned(),
        note: Some(NOTE),
    }
}

/// The lower-case letters behind the last dot of the last path segment; empty when there are none.
#[must_use]
pub fn ending(path_or_url: &str) -> String {
    let parsed = url::Url::parse(path_or_url);
    let path = parsed.as_ref().map_or(path_or_url, |url| url.path());
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sb_6_every_type_is_what_it_says_and_says_that_it_stands_in() {
        for (ending, kind, _) in FILES {
            let made =
                stand_in(&format!("https://img.example.test/a.b/file.{ending}?x=.png#y.gif"));
            assert_eq!(made.content_type, kind);
            assert_eq!(made.note, Some(NOTE));
            let sniffed = infer::get(&made.bytes).map(|found| found.mime_type());
            assert_eq!(sniffed, Some(kind), "{ending}");
        }
        for plain in ["mp3", "mp4", "pdf"] {
            let bytes = stand_in(&format!("/x.{plain}")).bytes;
            assert!(bytes.windows(8).any(|part| part == b"Stand-in"), "{plain}");
        }
    }

    #[test]
    fn an_unknown_ending_gives_bytes_without_a_type() {
        for path in ["", "/", "https://h.test/", "/a.zip", "https://h.test/png", "/a.png/b", "x.PN"]
        {
            assert_eq!(stand_in(path).content_type, "application/octet-stream", "{path}");
        }
        assert_eq!(stand_in("HTTPS://H.test/A.PNG").content_type, "image/png");
    }
}
