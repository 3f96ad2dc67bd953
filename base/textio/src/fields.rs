//! Fields and words of Moses' text files.
//!
//! Fields are separated by `|||`, with or without spaces; spaces, tabs and line ends
//! around a field are trimmed; words are separated by spaces and tabs
//! (`docs/spec/phrase-decoding.md` 2.1).

/// Removes spaces, tabs, CR and LF around `bytes`.
pub fn trim(bytes: &[u8]) -> &[u8] {
    fn blank(b: &u8) -> bool {
        matches!(b, b' ' | b'\t' | b'\r' | b'\n')
    }
    let Some(start) = bytes.iter().position(|b| !blank(b)) else { return &[] };
    let end = bytes.iter().rposition(|b| !blank(b)).map_or(start, |i| i + 1);
    &bytes[start..end]
}

/// Returns the trimmed fields of a line with `|||` separators. Of four bars the first three are the
/// separator and the fourth begins the next field, as in Moses.
pub fn split_fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        match find_separator(line) {
            Some(at) => {
                rest = Some(&line[at + 3..]);
                Some(trim(&line[..at]))
            }
            None => {
                rest = None;
                Some(trim(line))
            }
        }
    })
}

/// Returns the parts of `text` between separators. A text without separators is one part.
pub fn split_on<'t>(text: &'t [u8], separator: &'static [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(at) = memchr::memmem::find(text, separator) else { return Some(text) };
        rest = Some(&text[at + separator.len()..]);
        Some(&text[..at])
    })
}

/// Returns the offset of the first `|||`.
#[inline]
pub fn find_separator(line: &[u8]) -> Option<usize> {
    // A vectorised search for one byte is faster here than a substring search, because bars are
    // rare and fields short.
    let mut start = 0;
    loop {
        let at = start + memchr::memchr(b'|', &line[start..])?;
        if line[at..].starts_with(b"|||") {
            return Some(at);
        }
        start = at + 1;
    }
}

/// Returns the words of a field, separated by spaces and tabs.
pub fn split_words(field: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    field.split(|&b| b == b' ' || b == b'\t').filter(|word| !word.is_empty())
}

/// Returns the words of a line of text for neural models, separated by spaces alone: tabs belong to
/// words, as in Marian and CTranslate2.
pub fn split_at_spaces(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|&b| b == b' ').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &[u8]) -> Vec<&[u8]> {
        split_fields(line).collect()
    }

    #[test]
    fn fields_are_cut_and_trimmed() {
        assert_eq!(split(b"a b ||| c ||| 0.5 1"), [&b"a b"[..], b"c", b"0.5 1"]);
        assert_eq!(split(b"a|||b||| |||"), [&b"a"[..], b"b", b"", b""]);
        assert_eq!(split(b""), [b""]);
        assert_eq!(split(b"a|b || c ||| d\r"), [&b"a|b || c"[..], b"d"]);
        assert_eq!(split(b"a||||b"), [&b"a"[..], b"|b"]);
    }

    #[test]
    fn texts_are_cut_at_any_separator() {
        let split = |text| split_on(text, b"||").collect::<Vec<&[u8]>>();
        assert_eq!(split(b"a||b c|||| d"), [&b"a"[..], b"b c", b"", b" d"]);
        assert_eq!(split(b"a|b"), [b"a|b"]);
        assert_eq!(split(b""), [b""]);
    }

    #[test]
    fn bars_are_found_leftmost_first() {
        assert_eq!(find_separator(b"a|b || c |||| d ||| e"), Some(9));
        assert_eq!(find_separator(b"a || b |"), None);
        assert_eq!(find_separator(b""), None);
    }

    #[test]
    fn words_are_cut_at_spaces_and_tabs() {
        assert_eq!(split_words(b" a \t b\xff ").collect::<Vec<_>>(), [&b"a"[..], b"b\xff"]);
        assert_eq!(split_words(b"").count(), 0);
    }
}
