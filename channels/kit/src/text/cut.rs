//! Where to cut: pure choices on one window of a text.
//!
//! A cut is the byte range that is dropped: the white space cut at, or an empty range at a grapheme
//! boundary. [`in_window`] looks for the last good place of a window at the front,
//! [`before_tail`] for the first good place of a window at the back.
use contract::{Limit, Unit};
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// The cut that makes a first piece of at most `limit` out of `rest`, which is longer.
pub(super) fn in_window(
    text: &str,
    rest: Range<usize>,
    keep: &[Range<usize>],
    limit: Limit,
) -> Range<usize> {
    let end = rest.start + prefix(&text[rest.clone()], limit).max(first_char(&text[rest.clone()]));
    let half = rest.start + prefix(&text[rest.clone()], halved_up(limit));
    let window = &text[rest.start..end];
    let fits = |gap: &Range<usize>| gap.start >= half && is_whole(text, gap) && apart(gap, keep);
    let at = |(i, found): (usize, &str)| rest.start + i..rest.start + i + found.len();
    let gap = window.rmatch_indices("\n\n").map(at).find(fits);
    let gap = gap.or_else(|| window.rmatch_indices('\n').map(at).find(fits));
    let gap = gap.or_else(|| window.rmatch_indices(char::is_whitespace).map(at).find(fits));
    gap.unwrap_or_else(|| {
        let boundary = boundary_at_or_before(text, end, rest.start).unwrap_or(end);
        match keep.iter().find(|k| k.start < boundary && boundary < k.end) {
            Some(kept) if kept.start > rest.start => gap_before(text, kept.start, rest.start),
            _ => boundary..boundary,
        }
    })
}

/// The cut that leaves a last piece of at most `last` out of `rest`, which is longer.
pub(super) fn before_tail(
    text: &str,
    rest: Range<usize>,
    keep: &[Range<usize>],
    last: Limit,
) -> Range<usize> {
    let from = rest.end - suffix(&text[rest.clone()], last).max(last_char(&text[rest.clone()]));
    let half = rest.end - suffix(&text[rest.clone()], halved_up(last));
    let window = &text[from..rest.end];
    let fits = |gap: &Range<usize>| {
        gap.end <= half && gap.end < rest.end && is_whole(text, gap) && apart(gap, keep)
    };
    let at = |(i, found): (usize, &str)| from + i..from + i + found.len();
    let gap = window.match_indices("\n\n").map(at).find(fits);
    let gap = gap.or_else(|| window.match_indices('\n').map(at).find(fits));
    let gap = gap.or_else(|| window.match_indices(char::is_whitespace).map(at).find(fits));
    gap.unwrap_or_else(|| {
        let boundary = boundary_at_or_after(text, from, rest.end).unwrap_or(from);
        match keep.iter().find(|k| k.start < boundary && boundary < k.end) {
            Some(kept) if kept.end < rest.end => gap_after(text, kept.end, rest.end),
            _ => boundary..boundary,
        }
    })
}

/// Bytes of the longest prefix within the limit.
fn prefix(text: &str, limit: Limit) -> usize {
    let mut units = 0;
    for (i, c) in text.char_indices() {
        units += size(c, limit.unit);
        if units > limit.max {
            return i;
        }
    }
    text.len()
}

/// Bytes of the longest suffix within the limit.
fn suffix(text: &str, limit: Limit) -> usize {
    let mut units = 0;
    for (i, c) in text.char_indices().rev() {
        units += size(c, limit.unit);
        if units > limit.max {
            return text.len() - i - c.len_utf8();
        }
    }
    text.len()
}

fn size(c: char, unit: Unit) -> u64 {
    match unit {
        Unit::Chars => 1,
        Unit::Utf16 => c.len_utf16() as u64,
        Unit::Bytes => c.len_utf8() as u64,
        Unit::Items => 0,
    }
}

fn halved_up(limit: Limit) -> Limit {
    Limit { max: limit.max.div_ceil(2), unit: limit.unit }
}

// A single scalar over the limit still has to go somewhere: a cut always moves on.
fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn last_char(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// True when a gap of white space takes no part of a grapheme from its neighbours.
fn is_whole(text: &str, gap: &Range<usize>) -> bool {
    is_boundary(text, gap.start) && is_boundary(text, gap.end)
}

fn is_boundary(text: &str, at: usize) -> bool {
    // The whole text is one chunk, so the cursor never asks for more context.
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

fn apart(gap: &Range<usize>, keep: &[Range<usize>]) -> bool {
    keep.iter().all(|k| gap.end <= k.start || gap.start >= k.end)
}

fn boundary_at_or_before(text: &str, at: usize, floor: usize) -> Option<usize> {
    if is_boundary(text, at) {
        return Some(at);
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.prev_boundary(text, 0).ok().flatten().filter(|b| *b > floor)
}

fn boundary_at_or_after(text: &str, at: usize, ceiling: usize) -> Option<usize> {
    if is_boundary(text, at) {
        return Some(at);
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.next_boundary(text, 0).ok().flatten().filter(|b| *b < ceiling)
}

/// The line break before a range that stays whole, or an empty gap.
fn gap_before(text: &str, at: usize, floor: usize) -> Range<usize> {
    let before = &text[floor..at];
    let width = if before.ends_with("\n\n") { 2 } else { usize::from(before.ends_with('\n')) };
    at - width..at
}

/// The line break behind a range that stays whole, or an empty gap.
fn gap_after(text: &str, at: usize, ceiling: usize) -> Range<usize> {
    let behind = &text[at..ceiling];
    let width = if behind.starts_with("\n\n") { 2 } else { usize::from(behind.starts_with('\n')) };
    at..at + width
}
