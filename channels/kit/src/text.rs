//! Text for the wire: line ends, coordinates, and the one splitter.
//!
//! A split works on byte ranges of one text, so every piece is a slice of it and nothing is copied.
//! Each step looks at a window of the limit's size and takes the best place to cut in it
//! ([`cut`]); the white space cut at is dropped and nothing else is, so that the pieces joined with
//! it give the text back. Ranges that must stay whole (labels, titles, footers) are never cut while
//! they fit.
mod cut;

use contract::Limit;
use contract::text::is_blank;
use std::borrow::Cow;
use std::ops::Range;

/// `CRLF` and lone `CR` become `LF`; nothing else changes.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// A coordinate as text: at most 7 decimals (about a centimetre), trailing zeros cut.
#[must_use]
pub fn coordinate(degrees: f64) -> String {
    let fixed = format!("{degrees:.7}");
    let short = fixed.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Splits a text into pieces of at most `limit`, the last of at most `last` (a smaller bound when
/// it carries a choice). Pieces of nothing visible are left out, so a blank text gives none.
#[must_use]
pub fn split(text: &str, limit: Limit, last: Limit) -> Vec<&str> {
    split_keeping(text, &[], limit, last)
}

/// As [`split`], and the byte ranges of `keep` (ascending, apart from each other) are cut only when
/// one of them alone is over the limit.
#[must_use]
pub fn split_keeping<'t>(
    text: &'t str,
    keep: &[Range<usize>],
    limit: Limit,
    last: Limit,
) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut rest = 0..text.len();
    while !takes(last, &text[rest.clone()]) {
        let cut = if takes(limit, &text[rest.clone()]) {
            cut::before_tail(text, rest.clone(), keep, last)
        } else {
            cut::in_window(text, rest.clone(), keep, limit)
        };
        pieces.push(rest.start..cut.start);
        rest.start = cut.end;
    }
    pieces.push(rest);
    drop_blank(text, &mut pieces);
    // A blank end that was left out may leave a last piece that is too long to be the last.
    while let Some(end) = pieces.last().cloned().filter(|p| !takes(last, &text[p.clone()])) {
        let cut = cut::before_tail(text, end.clone(), keep, last);
        pieces.pop();
        pieces.extend([end.start..cut.start, cut.end..end.end]);
        drop_blank(text, &mut pieces);
    }
    pieces.into_iter().map(|piece| &text[piece]).collect()
}

/// A lone scalar is taken whatever its size: it cannot be cut.
fn takes(limit: Limit, text: &str) -> bool {
    limit.admits(text) || text.chars().nth(1).is_none()
}

fn drop_blank(text: &str, pieces: &mut Vec<Range<usize>>) {
    pieces.retain(|piece| !is_blank(&text[piece.clone()]));
}

#[cfg(test)]
mod tests;
