//! White space and lower case as in Python's strings, on which sacreBLEU's scores depend.

use std::borrow::Cow;

/// Whether Python's `split` splits at `c`: Unicode's white space and the four separators of
/// ASCII.
#[inline]
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Splits `text` into words, like Python's `split`.
pub(crate) fn split_whitespace(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Removes trailing white space, like Python's `rstrip`.
pub fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Converts `text` to lower case if `lowercase` is set. Python and Rust both follow Unicode,
/// including the final sigma.
pub(crate) fn lowercase_if(text: &str, lowercase: bool) -> Cow<'_, str> {
    if lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_separators_split_words() {
        assert_eq!(
            split_whitespace(" a\x1cb\u{a0}c\u{3000}\td\u{85} ").collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
        assert_eq!(split_whitespace("a\u{200b}b").count(), 1, "no space to Python either");
        assert_eq!(rstrip("a \x1f\r"), "a");
        assert_eq!(lowercase_if("ΟΔΟΣ", true), "οδος");
    }
}
