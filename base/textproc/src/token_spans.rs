//! Positions of tokens in the text from which they were made, or that was made from them.
//!
//! Models work on tokens; tags of a page and highlights of a user interface have byte positions.
//! The steps in between (normalisation, escapes, truecasing, subwords) do not record positions. But
//! they keep the order and nearly all letters, so the letters of text and tokens can be matched.
//! Equal letters are matched one after another; after a difference, matching continues at the
//! nearest place where they are equal again.

use std::ops::Range;

use crate::characters::{CharClass, char_indices};
use crate::escape::unescape_special_chars;

/// The maximum number of letters skipped on one side to find equal ones again.
const MAX_SKIP: usize = 24;

/// The mark of white space in SentencePiece's pieces.
const PIECE_SPACE: char = '\u{2581}';

/// Returns the byte range in `text` of each token, in order: tokens of Moses' tokeniser, words that
/// byte pair encoding has split (`@@`), pieces of SentencePiece. Ranges do not overlap. A token
/// without matched letters gets the possibly empty range between its neighbours.
///
/// # Examples
/// ```
/// use miriam_textproc::locate_tokens;
///
/// let text = "It’s “red” & new.";
/// let tokens = ["it", "&apos;s", "&quot;", "re@@", "d", "&quot;", "&amp;", "▁new", "."];
/// let ranges = locate_tokens(text.as_bytes(), tokens.map(str::as_bytes));
/// let found: Vec<&str> = ranges.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(found, ["It", "’s", "“", "re", "d", "”", "&", "new", "."]);
/// ```
pub fn locate_tokens<'t>(
    text: &[u8],
    tokens: impl IntoIterator<Item = &'t [u8]>,
) -> Vec<Range<usize>> {
    let mut letters = Vec::new();
    let mut count = 0;
    for token in tokens {
        push_token_letters(token, count, &mut letters);
        count += 1;
    }
    let visible =
        char_indices(text).filter(|(_, symbol)| !symbol.class().intersects(CharClass::SPACE));
    let places: Vec<(char, Range<usize>)> = visible
        .map(|(at, symbol)| (fold(symbol.character, text[at]), at..at + symbol.byte_len))
        .collect();
    let mut found: Vec<Option<Range<usize>>> = vec![None; count];
    let (mut i, mut j) = (0, 0);
    while i < letters.len() && j < places.len() {
        if letters[i].0 == places[j].0 {
            let range = &places[j].1;
            let own = found[letters[i].1].get_or_insert(range.clone());
            own.end = range.end;
            (i, j) = (i + 1, j + 1);
        } else {
            let (skipped, passed) = next_match(&letters[i..], &places[j..]);
            (i, j) = (i + skipped, j + passed);
        }
    }
    fill_gaps(found, text.len())
}

/// Appends the letters of token number `number`.
fn push_token_letters(token: &[u8], number: usize, letters: &mut Vec<(char, usize)>) {
    let token = match token.strip_suffix(b"@@") {
        Some(part) if !part.is_empty() => part,
        _ => token,
    };
    let mut plain = Vec::with_capacity(token.len());
    unescape_special_chars(token, &mut plain);
    for (at, symbol) in char_indices(&plain) {
        let is_mark = symbol.character == Some(PIECE_SPACE);
        if !is_mark && !symbol.class().intersects(CharClass::SPACE) {
            letters.push((fold(symbol.character, plain[at]), number));
        }
    }
}

/// Returns a character in the form used for comparison: lower case, plain quotes.
fn fold(character: Option<char>, byte: u8) -> char {
    match character {
        // An invalid byte becomes a character for private use.
        None => char::from_u32(0xf700 + u32::from(byte)).unwrap_or('\u{1}'),
        Some('‘' | '’' | '‚' | '‛' | '´' | '`') => '\'',
        Some('“' | '”' | '„' | '‟' | '«' | '»') => '"',
        Some('‐' | '‑' | '–' | '—') => '-',
        Some(c) => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Returns the numbers of letters to skip on the two sides so that the next letters are equal, and
/// not only by chance. The sum of the numbers is as small as possible. If no equal letters are
/// near, both numbers are 1.
fn next_match(letters: &[(char, usize)], places: &[(char, Range<usize>)]) -> (usize, usize) {
    for sum in 1..=2 * MAX_SKIP {
        // Similar numbers come first, because a character may have been replaced by another.
        let mut ways: Vec<usize> = (sum.saturating_sub(MAX_SKIP)..=sum.min(MAX_SKIP)).collect();
        ways.sort_by_key(|&skipped| skipped.abs_diff(sum - skipped));
        for skipped in ways {
            let passed = sum - skipped;
            if let (Some(letter), Some(place)) = (letters.get(skipped), places.get(passed))
                && letter.0 == place.0
                && is_more_than_chance(&letters[skipped..], &places[passed..])
            {
                return (skipped, passed);
            }
        }
    }
    (1, 1)
}

/// Whether the second letters on both sides are equal, too, or both sides have no second letter.
fn is_more_than_chance(letters: &[(char, usize)], places: &[(char, Range<usize>)]) -> bool {
    match (letters.get(1), places.get(1)) {
        (Some(letter), Some(place)) => letter.0 == place.0,
        (None, None) => true,
        _ => false,
    }
}

fn fill_gaps(found: Vec<Option<Range<usize>>>, length: usize) -> Vec<Range<usize>> {
    let mut next_start = length;
    let mut starts = vec![length; found.len()];
    for (number, range) in found.iter().enumerate().rev() {
        starts[number] = next_start;
        next_start = range.as_ref().map_or(next_start, |range| range.start);
    }
    let mut end = 0;
    let ranges = found.into_iter().zip(starts).map(|(range, next)| {
        let range = range.unwrap_or(end..next);
        end = range.end;
        range
    });
    ranges.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detokenizer, Tokenizer};
    use proptest::prelude::*;

    fn located<'t>(text: &'t str, tokens: &str) -> Vec<&'t str> {
        let ranges = locate_tokens(text.as_bytes(), tokens.split(' ').map(str::as_bytes));
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn tokens_of_all_kinds_are_located() {
        assert_eq!(
            located("Don’t (stop)!", "don &apos;t ( stop ) !"),
            ["Don", "’t", "(", "stop", ")", "!"]
        );
        assert_eq!(located("new York", "▁new ▁Y or k"), ["new", "Y", "or", "k"]);
        assert_eq!(located("Wait… what", "wait ... what"), ["Wait", "… ", "what"]);
        assert_eq!(located("ﬁne day", "fine day"), ["ne", "day"]);
        assert_eq!(located("a b", "a <unk> b"), ["a", " ", "b"]);
        assert_eq!(located("", "a b"), ["", ""]);
    }

    proptest! {
        /// Ranges are in order, and tokens cut from a text are found at their places.
        #[test]
        fn ranges_are_in_order(text in "[a-dA-D .,!'&é你]{0,40}", tokens in proptest::collection::vec("[a-d.▁@]{0,4}", 0..12)) {
            let check = |ranges: &[Range<usize>]| {
                let mut end = 0;
                ranges.iter().all(|range| {
                    let holds = end <= range.start && range.start <= range.end;
                    end = range.end;
                    holds
                }) && end <= text.len()
            };
            let ranges = locate_tokens(text.as_bytes(), tokens.iter().map(String::as_bytes));
            prop_assert_eq!(ranges.len(), tokens.len());
            prop_assert!(check(&ranges));
            let mut cut = Vec::new();
            Tokenizer::new("en").tokenize(text.as_bytes(), &mut cut);
            let tokens: Vec<&[u8]> = cut.split(|&byte| byte == b' ').filter(|token| !token.is_empty()).collect();
            let ranges = locate_tokens(text.as_bytes(), tokens.iter().copied());
            let letters = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(' ', "");
            let found: Vec<String> = ranges.iter().map(|range| letters(&text.as_bytes()[range.clone()])).collect();
            let mut joined = Vec::new();
            Detokenizer::new("en").detokenize(&cut, &mut joined);
            prop_assert_eq!(found.concat(), letters(text.as_bytes()));
            prop_assert!(check(&ranges) && ranges.iter().all(|range| !range.is_empty()));
        }
    }
}
