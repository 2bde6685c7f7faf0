//! `data:` images: the one way bytes come inside a notification's own JSON.
use super::bounds::DATA_URI;
use super::sniff::sniff;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// The image types a `data:` URI may carry.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A decoded image whose bytes are what its label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataImage {
    /// Sniffed type.
    pub content_type: &'static str,
    /// The bytes.
    pub bytes: Bytes,
}

/// True when a url is a `data:` URI, in any case.
#[must_use]
pub fn is_data_uri(url: &str) -> bool {
    url.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("data:"))
}

/// Decodes `data:<mime>;base64,<payload>`.
///
/// # Errors
/// What is wrong, without any of the payload.
pub fn parse(url: &str) -> Result<DataImage, &'static str> {
    if url.len() > DATA_URI {
        return Err("a data: URI of at most 524288 characters; upload larger files to /api/media");
    }
    let (head, payload) = url.split_once(',').ok_or("data:<image type>;base64,<bytes>")?;
    let label = head
        .get(5..)
        .and_then(|rest| rest.rsplit_once(';'))
        .filter(|(_, encoding)| encoding.eq_ignore_ascii_case("base64"))
        .map(|(mime, _)| mime)
        .ok_or("data:<image type>;base64,<bytes>, without other parameters")?;
    let labelled = IMAGES
        .iter()
        .find(|mime| mime.eq_ignore_ascii_case(label))
        .ok_or("one of image/png, image/jpeg, image/gif, image/webp")?;
    let bytes = STANDARD.decode(payload).map_err(|_| "strict padded base64")?;
    match sniff(&bytes, None) {
        Some(found) if found == *labelled => {
            Ok(DataImage { content_type: labelled, bytes: bytes.into() })
        }
        _ => Err("bytes of the very type that the label names"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nt_13_only_images_whose_bytes_match_their_label_pass() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
        for good in [format!("data:image/png;base64,{png}"), format!("DATA:Image/PNG;BASE64,{png}")]
        {
            assert_eq!(parse(&good).map(|d| d.content_type), Ok("image/png"), "{good}");
        }
        let html = STANDARD.encode(b"<html>");
        for bad in [
            format!("data:image/jpeg;base64,{png}"),
            format!("data:image/svg+xml;base64,{}", STANDARD.encode("<svg/>")),
            format!("data:image/png;base64,{html}"),
            format!("data:image/png;charset=x;base64,{png}"),
            format!("data:image/png,{png}"),
            "data:image/png;base64,".to_owned(),
            format!("data:image/png;base64,{}", png.trim_end_matches('=')) + "=!",
            format!("data:image/png;base64,{}", "A".repeat(DATA_URI)),
        ] {
            assert!(parse(&bad).is_err(), "{}", &bad[..40.min(bad.len())]);
        }
    }
}
