//! Pixels of a picture, from its first bytes.
//!
//! Only what the vendor's photo check needs: is it a picture at all, and how large. The picture is
//! not decoded.
use super::answers::Refused;
use super::limits::{PHOTO_RATIO, PHOTO_SIDES};

/// Pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Across.
    pub width: u32,
    /// Down.
    pub height: u32,
}

/// Judges bytes that are to be a photo.
///
/// # Errors
/// `IMAGE_PROCESS_FAILED` when they are no picture, `PHOTO_INVALID_DIMENSIONS` when it is too large
/// or too narrow.
pub fn photo(bytes: &[u8]) -> Result<Size, Refused> {
    let size = size(bytes).ok_or_else(|| Refused::bad("IMAGE_PROCESS_FAILED"))?;
    let (width, height) = (u64::from(size.width), u64::from(size.height));
    let (long, short) = (width.max(height), width.min(height));
    if short == 0 || width + height > PHOTO_SIDES || long > short * PHOTO_RATIO {
        return Err(Refused::bad("PHOTO_INVALID_DIMENSIONS"));
    }
    Ok(size)
}

/// The pixels of a PNG, JPEG, GIF or WebP; `None` for anything else.
#[must_use]
pub fn size(bytes: &[u8]) -> Option<Size> {
    match infer::get(bytes)?.mime_type() {
        "image/png" => {
            (bytes.get(12..16)? == b"IHDR").then_some(())?;
            Some(Size { width: wide(bytes, 16)?, height: wide(bytes, 20)? })
        }
        "image/gif" => Some(Size { width: little(bytes, 6, 2)?, height: little(bytes, 8, 2)? }),
        "image/jpeg" => jpeg(bytes),
        "image/webp" => webp(bytes),
        _ => None,
    }
}

fn wide(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let part = bytes.get(at..at + length)?;
    Some(part.iter().rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte)))
}

fn big(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

/// Walks the segments to the frame header.
fn jpeg(bytes: &[u8]) -> Option<Size> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            0xFF => at += 1,
            0x01 | 0xD0..=0xD7 => at += 2,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some(Size { height: big(bytes, at + 5)?, width: big(bytes, at + 7)? });
            }
            0xD8..=0xDA => return None,
            _ => at += 2 + usize::try_from(big(bytes, at + 2)?).ok()?,
        }
    }
}

/// The three kinds of first chunk.
fn webp(bytes: &[u8]) -> Option<Size> {
    match bytes.get(12..16)? {
        b"VP8 " => Some(Size {
            width: little(bytes, 26, 2)? & 0x3FFF,
            height: little(bytes, 28, 2)? & 0x3FFF,
        }),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(Size { width: (bits & 0x3FFF) + 1, height: ((bits >> 14) & 0x3FFF) + 1 })
        }
        b"VP8X" => {
            Some(Size { width: little(bytes, 24, 3)? + 1, height: little(bytes, 27, 3)? + 1 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stand_in::stand_in;
    use proptest::prelude::*;

    #[test]
    fn sb_8_every_picture_format_tells_its_pixels() {
        for path in ["/a.png", "/a.jpg", "/a.gif", "/a.webp"] {
            assert_eq!(
                size(&stand_in(path).bytes),
                Some(Size { width: 480, height: 300 }),
                "{path}"
            );
        }
        for path in ["/a.mp4", "/a.pdf", "/a"] {
            assert_eq!(
                photo(&stand_in(path).bytes).unwrap_err().description,
                "Bad Request: IMAGE_PROCESS_FAILED"
            );
        }
    }

    /// A GIF's head is enough for a size.
    fn gif(width: u16, height: u16) -> Vec<u8> {
        [b"GIF89a".as_slice(), &width.to_le_bytes(), &height.to_le_bytes(), &[0; 8]].concat()
    }

    #[test]
    fn sb_35_sides_and_ratio_at_and_over() {
        for (width, height, taken) in [
            (5000, 5000, true),
            (5001, 5000, false),
            (9000, 1000, true),
            (9001, 1000, false),
            (2000, 100, true),
            (2001, 100, false),
            (100, 2000, true),
            (100, 2001, false),
            (0, 0, false),
        ] {
            assert_eq!(photo(&gif(width, height)).is_ok(), taken, "{width}x{height}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(cut in 0_usize..8000, flip in 0_usize..8000, to in any::<u8>(), at in 0_usize..4) {
            let mut bytes = stand_in(["/a.png", "/a.jpg", "/a.gif", "/a.webp"][at]).bytes.to_vec();
            if let Some(byte) = bytes.get_mut(flip) {
                *byte = to;
            }
            bytes.truncate(cut);
            let _ = photo(&bytes);
        }
    }
}
