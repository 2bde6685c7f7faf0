//! Examples and properties of the splitter.
use super::*;
use contract::Unit;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

fn kept(text: &str, range: Range<usize>, limit: Limit, last: Limit) -> Vec<&str> {
    split_keeping(text, std::slice::from_ref(&range), limit, last)
}

fn cut16(text: &str, max: u64) -> Vec<&str> {
    split(text, Limit::utf16(max), Limit::utf16(max))
}

#[test]
fn n_28_the_cut_prefers_paragraph_then_line_then_word_in_the_second_half() {
    for (text, max, pieces) in [
        ("", 5, vec![]),
        (" \n\u{200B}", 5, vec![]),
        ("abcde", 5, vec!["abcde"]),
        ("abcdef", 5, vec!["abcde", "f"]),
        ("aaa\n\nbb cd\nee", 10, vec!["aaa\n\nbb", "cd\nee"]),
        ("aaaaa\n\nb c\ndd", 10, vec!["aaaaa", "b c\ndd"]),
        ("aaaaa\nb cdefgh", 10, vec!["aaaaa", "b cdefgh"]),
        ("aaaaa b cdefgh", 10, vec!["aaaaa b", "cdefgh"]),
        ("a b\nccccccccc", 10, vec!["a b\ncccccc", "ccc"]),
        ("aaa   bbb", 6, vec!["aaa  ", "bbb"]),
    ] {
        assert_eq!(cut16(text, max), pieces, "{text:?}");
    }
}

#[test]
fn n_28_graphemes_stay_whole_unless_one_is_over_the_limit() {
    let family = "👨‍👩‍👧‍👦";
    let text = format!("ab{family}");
    assert_eq!(cut16(&text, 11), vec!["ab", family]);
    assert_eq!(cut16(family, 5), vec!["👨‍👩", "\u{200D}👧‍", "👦"]);
    assert_eq!(cut16("😀😀", 1), vec!["😀", "😀"]);
    // The space that carries a combining mark is no white space to cut at.
    assert_eq!(cut16("aaa \u{301}bb", 6), vec!["aaa \u{301}b", "b"]);
}

#[test]
fn n_28_the_last_piece_has_its_own_bound() {
    let cut = |text| split(text, Limit::chars(10), Limit::chars(4));
    assert_eq!(cut("aaaa"), vec!["aaaa"]);
    assert_eq!(cut("aaaaa"), vec!["a", "aaaa"]);
    assert_eq!(cut("aaa bb cc"), vec!["aaa bb", "cc"]);
    assert_eq!(cut("aaaaaaaaaaaaaaa"), vec!["aaaaaaaaaa", "a", "aaaa"]);
    assert_eq!(cut("aaaaaa    "), vec!["aa", "aaaa"]);
}

#[test]
fn kept_ranges_are_cut_around_and_their_line_break_dropped() {
    let text = "aaaaa\n\ntitle one\nrow";
    let limit = Limit::chars(10);
    assert_eq!(kept(text, 7..16, limit, limit), vec!["aaaaa", "title one", "row"]);
    assert_eq!(kept(text, 0..text.len(), limit, limit), vec!["aaaaa\n\ntit", "le one\nrow"]);
    let four = "one two three four";
    let (wide, narrow) = (Limit::chars(30), Limit::chars(12));
    assert_eq!(kept(four, 4..13, wide, narrow), vec!["one two three", " four"]);
}

#[test]
fn line_ends_become_line_feeds_and_nothing_else_changes() {
    assert_eq!(lines("a\r\nb\rc\n\r"), "a\nb\nc\n\n");
    assert!(matches!(lines(" a\n "), Cow::Borrowed(" a\n ")));
}

#[test]
fn coordinates_are_rounded_and_short() {
    for (degrees, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (-0.000_000_001, "0"),
        (48.858_370_4, "48.8583704"),
        (48.858_370_46, "48.8583705"),
        (-180.0, "-180"),
        (90.5, "90.5"),
        (100.0, "100"),
    ] {
        assert_eq!(coordinate(degrees), text);
    }
}

fn texts() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a",
        "b",
        " ",
        "\n",
        "\n\n",
        "\t",
        "\u{A0}",
        "ж",
        "😀",
        "👨‍👩‍👧",
        "e\u{301}",
        "\u{301}",
        "🇩🇪",
        "🇫",
        "\r\n",
        "\u{200B}",
        "क्षि",
        "word",
    ]);
    prop::collection::vec(bits, 0..60).prop_map(|bits| bits.concat())
}

fn offset(text: &str, piece: &str) -> usize {
    piece.as_ptr() as usize - text.as_ptr() as usize
}

proptest! {
    #[test]
    fn n_28_pieces_join_back_and_stay_inside_their_limits(
        text in texts(),
        max in 1u64..30,
        less in 0u64..30,
        unit in prop::sample::select(vec![Unit::Chars, Unit::Utf16, Unit::Bytes]),
    ) {
        let limit = Limit { max: max + less, unit };
        let last = Limit { max, unit };
        let pieces = split(&text, limit, last);
        let mut end = 0;
        for (i, piece) in pieces.iter().enumerate() {
            let start = offset(&text, piece);
            prop_assert!(start >= end, "pieces stand in order");
            prop_assert!(is_blank(&text[end..start]), "only white space is dropped");
            prop_assert!(!is_blank(piece));
            let bound = if i + 1 == pieces.len() { last } else { limit };
            let lone = piece.chars().count() == 1;
            prop_assert!(bound.admits(piece) || lone, "{piece:?} over {bound:?}");
            end = start + piece.len();
        }
        prop_assert!(is_blank(&text[end..]));
    }

    #[test]
    fn n_28_no_grapheme_is_cut_when_all_fit(text in texts(), max in 12u64..40) {
        let widest = text.graphemes(true).map(|g| Unit::Utf16.measure(g)).max().unwrap_or(0);
        prop_assume!(widest as u64 <= max);
        let limit = Limit::utf16(max);
        let edges: Vec<usize> =
            text.grapheme_indices(true).map(|(i, _)| i).chain([text.len()]).collect();
        for piece in split(&text, limit, limit) {
            let start = offset(&text, piece);
            prop_assert!(edges.contains(&start) && edges.contains(&(start + piece.len())));
        }
    }

    #[test]
    fn kept_ranges_stay_whole_when_they_fit(
        lead in "[a-z \n]{0,40}", title in "[a-z ]{1,20}", tail in "[a-z \n]{0,40}", max in 21u64..40,
    ) {
        let text = format!("{lead}\n{title}\n{tail}");
        let range = lead.len() + 1..lead.len() + 1 + title.len();
        let limit = Limit::chars(max);
        let pieces = kept(&text, range.clone(), limit, limit);
        let whole = pieces.iter().any(|p| {
            let start = offset(&text, p);
            start <= range.start && range.end <= start + p.len()
        });
        prop_assert!(whole || is_blank(&title), "{pieces:?}");
    }
}
