//! The four classes of caller text, and how lengths are counted.
//!
//! Each class is a type whose only way in is a check, so nothing later re-checks it. Lengths are
//! Unicode scalar values. Nothing is trimmed, folded or normalised.
use serde::{Deserialize, Serialize};
use unicode_general_category::{GeneralCategory, get_general_category};

/// Why a text was not taken. One answer a field: the first of this order that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextProblem {
    /// Nothing but white space, control and format characters.
    Blank,
    /// Longer than `max` characters.
    TooLong {
        /// The bound that was passed.
        max: usize,
    },
    /// A character that the class refuses.
    BadText,
}

/// True when no character is outside `White_Space`, Cc and Cf: a zero-width-only text is blank.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_control(c) || is_format(c))
}

/// General category Cc.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
}

/// General category Cf: zero-width, bidi and other invisible format characters.
#[must_use]
pub fn is_format(c: char) -> bool {
    !c.is_ascii() && get_general_category(c) == GeneralCategory::Format
}

/// The bidi controls that can make a label read as another one.
#[must_use]
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn refused_in_text(c: char) -> bool {
    (c < '\u{20}' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{7F}'..='\u{9F}')
}

fn refused_in_line(c: char) -> bool {
    refused_in_text(c) || matches!(c, '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn refused_in_filename(c: char) -> bool {
    refused_in_line(c) || is_format(c) || matches!(c, '/' | '\\')
}

fn refused_in_token(c: char) -> bool {
    c.is_whitespace() || is_control(c) || is_format(c)
}

fn check(
    text: &str,
    max: usize,
    blank: bool,
    refused: fn(char) -> bool,
) -> Result<(), TextProblem> {
    if !blank && is_blank(text) {
        return Err(TextProblem::Blank);
    }
    // Scalars never outnumber bytes, so most texts need no count.
    if text.len() > max && text.chars().count() > max {
        return Err(TextProblem::TooLong { max });
    }
    if text.chars().any(refused) {
        return Err(TextProblem::BadText);
    }
    Ok(())
}

macro_rules! text_class {
    ($(#[$doc:meta])* $name:ident, $refused:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes a non-blank text of at most `max` characters.
            ///
            /// # Errors
            /// The first problem found.
            pub fn parse(text: impl Into<String>, max: usize) -> Result<Self, TextProblem> {
                let text = text.into();
                check(&text, max, false, $refused)?;
                Ok(Self(text))
            }
            /// As [`Self::parse`], and blank is allowed.
            ///
            /// # Errors
            /// The first problem found.
            pub fn parse_or_blank(text: impl Into<String>, max: usize) -> Result<Self, TextProblem> {
                let text = text.into();
                check(&text, max, true, $refused)?;
                Ok(Self(text))
            }
            /// The text as the caller wrote it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
            /// True when nothing in it can be seen.
            #[must_use]
            pub fn is_blank(&self) -> bool {
                is_blank(&self.0)
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_class!(
    /// Message, caption, footer, description: lines and tabs allowed, other controls refused.
    Text, refused_in_text
);
text_class!(
    /// Labels, titles, addresses, metadata: one line.
    Line, refused_in_line
);
text_class!(
    /// A file's name: one line without format characters and slashes.
    Filename, refused_in_filename
);
text_class!(
    /// Option ids, template names: no white space, control or format character.
    Token, refused_in_token
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nt_3_zero_width_only_is_blank() {
        assert_eq!(Text::parse("\u{200B}\u{FEFF} \n", 10), Err(TextProblem::Blank));
        assert!(Text::parse_or_blank("\u{200B}", 10).is_ok());
    }

    #[test]
    fn nt_2_lengths_are_scalars_and_nothing_is_trimmed() {
        let four_byte = "😀".repeat(10);
        assert!(Text::parse(four_byte.clone(), 10).is_ok());
        assert_eq!(Text::parse(four_byte, 9), Err(TextProblem::TooLong { max: 9 }));
        assert_eq!(Line::parse(" a ", 5).map(|l| l.as_str().to_owned()), Ok(" a ".to_owned()));
    }

    #[test]
    fn each_class_refuses_what_it_names() {
        let refused = |f: fn(String, usize) -> bool, list: &[char]| {
            for c in list {
                assert!(f(format!("a{c}b"), 9), "U+{:04X}", u32::from(*c));
            }
        };
        refused(|s, m| Text::parse(s, m).is_err(), &['\0', '\u{7F}', '\u{9F}', '\u{1B}']);
        refused(|s, m| Line::parse(s, m).is_err(), &['\t', '\n', '\r', '\u{85}', '\u{2028}']);
        refused(|s, m| Filename::parse(s, m).is_err(), &['/', '\\', '\u{202E}', '\u{200B}']);
        refused(|s, m| Token::parse(s, m).is_err(), &[' ', '\u{A0}', '\u{200D}', '\n']);
        assert!(Text::parse("a\tb\r\nc\u{202E}", 9).is_ok());
        assert!(Line::parse("a\u{202E}b", 9).is_ok());
    }
}
