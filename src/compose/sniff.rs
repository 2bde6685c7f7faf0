//! The type of media, read from the bytes: the closed list this gateway takes and serves.
//!
//! Magic bytes by the `infer` crate; zip containers are told apart by their entries; text is valid
//! UTF-8 without NUL that does not begin with `<` (SVG and HTML are never served from our origin).

/// The types taken, beside the zip family and text.
const BY_MAGIC: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "video/mp4",
    "video/3gpp",
    "video/webm",
    "video/quicktime",
    "audio/mpeg",
    "audio/mp4",
    "audio/aac",
    "audio/ogg",
    "audio/amr",
    "audio/wav",
    "application/pdf",
];

/// What `infer` calls differently.
const ALSO_KNOWN_AS: &[(&str, &str)] = &[
    ("audio/x-wav", "audio/wav"),
    ("audio/m4a", "audio/mp4"),
    ("audio/x-m4a", "audio/mp4"),
    ("video/x-m4v", "video/mp4"),
    ("video/3gpp2", "video/3gpp"),
    ("application/ogg", "audio/ogg"),
];

const ZIP: &str = "application/zip";

/// OOXML types by the folder that only they hold.
const OOXML: &[(&[u8], &str)] = &[
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

/// ODF types as their first entry, stored uncompressed, spells them.
const ODF: &[&str] = &[
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.presentation",
];

/// The type of these bytes when it is one we take. `declared` only tells csv from plain text.
#[must_use]
pub fn sniff(bytes: &[u8], declared: Option<&str>) -> Option<&'static str> {
    if bytes.is_empty() {
        return None;
    }
    // A whole AMR header is six bytes, shorter than what the crate looks at.
    if bytes.starts_with(b"#!AMR") {
        return Some("audio/amr");
    }
    if let Some(kind) = infer::get(bytes) {
        let found = kind.mime_type();
        let name = ALSO_KNOWN_AS.iter().find(|(k, _)| *k == found).map_or(found, |(_, n)| n);
        if let Some(known) = BY_MAGIC.iter().find(|k| **k == name) {
            return Some(known);
        }
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(zip_family(bytes));
    }
    text(bytes, declared)
}

/// Reads entry names from the local headers of a zip file; never unpacks anything.
fn zip_family(bytes: &[u8]) -> &'static str {
    if let Some(found) = ODF.iter().find(|name| spells_mimetype(bytes, name.as_bytes())) {
        return found;
    }
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| find(rest, b"PK\x03\x04")) {
        at += found;
        let name = bytes.get(at + 30..).unwrap_or_default();
        if let Some((_, kind)) = OOXML.iter().find(|(folder, _)| name.starts_with(folder)) {
            return kind;
        }
        at += 4;
    }
    ZIP
}

/// An ODF file's first entry is `mimetype`, stored, its content the type.
fn spells_mimetype(bytes: &[u8], kind: &[u8]) -> bool {
    let head = bytes.get(30..).unwrap_or_default();
    let content = head.strip_prefix(b"mimetype".as_slice()).unwrap_or_default();
    // The type is a prefix of its templates' types: what follows it must be the next header.
    content.strip_prefix(kind).is_some_and(|rest| rest.starts_with(b"PK"))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn text(bytes: &[u8], declared: Option<&str>) -> Option<&'static str> {
    let text = std::str::from_utf8(bytes).ok().filter(|t| !t.contains('\0'))?;
    let first = text.trim_start_matches('\u{FEFF}').trim_start().chars().next()?;
    if first == '<' {
        return None;
    }
    let csv = declared
        .is_some_and(|d| d.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("text/csv"));
    Some(if csv { "text/csv" } else { "text/plain" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, content) in entries {
            bytes.extend(b"PK\x03\x04");
            bytes.extend([0; 22]);
            bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            bytes.extend(content.as_bytes());
        }
        bytes.extend(b"PK\x01\x02");
        bytes
    }

    #[test]
    fn nt_61_types_come_from_the_bytes_alone() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        assert_eq!(sniff(png, Some("text/html")), Some("image/png"));
        assert_eq!(sniff(b"%PDF-1.7\n", None), Some("application/pdf"));
        assert_eq!(sniff(b"RIFF\0\0\0\0WAVEfmt ", None), Some("audio/wav"));
        assert_eq!(sniff(b"OggS\0\x02", None), Some("audio/ogg"));
        assert_eq!(sniff(b"#!AMR\n", None), Some("audio/amr"));
        assert_eq!(sniff(b"a,b\n1,2", Some("text/csv; charset=utf-8")), Some("text/csv"));
        assert_eq!(sniff("plain ä".as_bytes(), None), Some("text/plain"));
        let docx = zip(&[("[Content_Types].xml", "x"), ("word/document.xml", "y")]);
        assert_eq!(sniff(&docx, None), Some(OOXML[0].1));
        assert_eq!(sniff(&zip(&[("mimetype", ODF[0])]), None), Some(ODF[0]));
        assert_eq!(sniff(&zip(&[("a.txt", "x")]), None), Some(ZIP));
    }

    #[test]
    fn nt_61_svg_html_and_unknown_bytes_are_refused() {
        for bad in [
            b"<svg xmlns='x'/>".as_slice(),
            b"\xEF\xBB\xBF \n<html>",
            b"",
            b"\0\x01\x02\x03",
            b"\x7fELF\x02\x01\x01\0\0\0",
            b"a\0b",
            b"<?xml version='1.0'?><svg/>",
            b"BM\0\0\0\0",
        ] {
            assert_eq!(sniff(bad, Some("image/png")), None, "{bad:?}");
        }
    }
}
