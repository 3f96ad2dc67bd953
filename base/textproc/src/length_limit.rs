//! Cutting text that is longer than a model can take.
//!
//! What is cut loses its context on both sides of the cut, so ends of sentences come first. In a
//! sentence that is too long by itself the cut is near the middle, at the end of a clause if there
//! is one, then at white space, then between any two characters: halves of similar length
//! leave no part with a word or two, which models translate worst.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::SentenceSplitter;
use crate::characters::{CharClass, char_indices};
use crate::sentence_splitter::{is_unspaced, trim_end, trim_start};

/// How good a place to cut is, the best one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutRank {
    Character,
    Space,
    Clause,
}

impl SentenceSplitter {
    /// The byte ranges of the sentences of a paragraph, as [`SentenceSplitter::split`] gives them;
    /// those of which `length` is more than `limit` are cut further. What lies between the
    /// parts is white space. A single character is never cut, whatever its length.
    ///
    /// # Examples
    /// ```
    /// use miriam_textproc::SentenceSplitter;
    ///
    /// let text = b"I came. I saw, as always, that nobody was there.";
    /// let words = |part: &[u8]| part.split(|&byte| byte == b' ').count();
    /// let parts = SentenceSplitter::new("en").split_within(text, 6, words);
    /// let parts: Vec<&[u8]> = parts.into_iter().map(|range| &text[range]).collect();
    /// assert_eq!(parts, [&b"I came."[..], b"I saw, as always,", b"that nobody was there."]);
    /// ```
    pub fn split_within(
        &self,
        text: &[u8],
        limit: usize,
        mut length: impl FnMut(&[u8]) -> usize,
    ) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        for sentence in self.split(text) {
            cut(text, sentence, limit, &mut length, &mut parts);
        }
        parts
    }
}

/// Cuts a part of `text` in two until no part is longer than `limit`.
fn cut(
    text: &[u8],
    part: Range<usize>,
    limit: usize,
    length: &mut dyn FnMut(&[u8]) -> usize,
    parts: &mut Vec<Range<usize>>,
) {
    let mut waiting = vec![part];
    while let Some(part) = waiting.pop() {
        let bytes = &text[part.clone()];
        let place = if length(bytes) > limit { find_cut(bytes) } else { None };
        let Some(at) = place else {
            parts.push(part);
            continue;
        };
        let left = trim_end(&bytes[..at]).len();
        let right = bytes.len() - trim_start(&bytes[at..]).len();
        waiting.push(part.start + right..part.end);
        waiting.push(part.start..part.start + left);
    }
}

/// The best place to cut a text without white space at its ends, before a character that is no
/// space: of the best rank in the middle half, or else anywhere, the one nearest to the middle.
fn find_cut(text: &[u8]) -> Option<usize> {
    let middle = text.len() / 2;
    let mut best: Option<((bool, CutRank), usize)> = None;
    // The character before, and the last one that is no space.
    let (mut before, mut visible) = (None, None);
    for (at, symbol) in char_indices(text) {
        let here = symbol.character.unwrap_or('\u{1}');
        if let (Some(before), Some(visible)) = (before, visible)
            && let Some(rank) = rank_cut(visible, is_space(before), here)
        {
            // A space in the middle is better than a clause of two words, but a clause that
            // ends anywhere is better than a cut inside a word.
            let is_central = at.abs_diff(middle) <= text.len() / 4;
            let key = (is_central && rank > CutRank::Character, rank);
            let is_better = best.is_none_or(|(other, place)| {
                key > other || key == other && at.abs_diff(middle) < place.abs_diff(middle)
            });
            if is_better {
                best = Some((key, at));
            }
        }
        before = Some(here);
        if !is_space(here) {
            visible = Some(here);
        }
    }
    best.map(|(_, at)| at)
}

/// How good a cut between two characters is, with or without white space between them; none
/// where it would leave a part empty or take a mark off its letter.
fn rank_cut(before: char, is_spaced: bool, after: char) -> Option<CutRank> {
    if is_space(after) || is_combining(after) {
        return None;
    }
    let is_boundary = is_spaced || is_unspaced(after);
    match (is_boundary && ends_clause(before), is_spaced) {
        (true, _) => Some(CutRank::Clause),
        (false, true) => Some(CutRank::Space),
        (false, false) => Some(CutRank::Character),
    }
}

fn is_space(character: char) -> bool {
    CharClass::from_char(character).intersects(CharClass::SPACE)
}

fn is_combining(character: char) -> bool {
    matches!(
        get_general_category(character),
        GeneralCategory::NonspacingMark
            | GeneralCategory::SpacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::Format
    )
}

/// Marks after which a clause ends.
fn ends_clause(character: char) -> bool {
    matches!(
        character,
        ',' | ';' | ':' | '–' | '—' | '،' | '؛' | '、' | '，' | '；' | '：' | ')' | '）' | '」'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str, limit: usize) -> Vec<&str> {
        let splitter = SentenceSplitter::new("en");
        let parts = splitter.split_within(text.as_bytes(), limit, |part| {
            String::from_utf8_lossy(part).chars().count()
        });
        parts.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_within_the_limit_are_whole() {
        let text = "I came, I saw. I won!";
        assert_eq!(split(text, 14), ["I came, I saw.", "I won!"]);
        assert_eq!(split(text, 1000), split(text, 14));
    }

    #[test]
    fn long_sentences_are_cut_at_clauses_then_spaces_then_characters() {
        assert_eq!(
            split("one two, three four five, six seven eight", 30),
            ["one two, three four five,", "six seven eight"]
        );
        // The only comma is not in the middle half.
        assert_eq!(split("a, bcd efg hij klm nop", 12), ["a, bcd efg", "hij klm nop"]);
        assert_eq!(split("abcdefgh", 4), ["abcd", "efgh"]);
        assert_eq!(split("ab, cdefghijklmnopqrstuvw", 23), ["ab,", "cdefghijklmnopqrstuvw"]);
        assert_eq!(split("他说，我们明天去北京", 8), ["他说，", "我们明天去北京"]);
    }

    #[test]
    fn marks_stay_with_their_letters() {
        let text = "e\u{301}".repeat(4);
        assert_eq!(split(&text, 2), ["e\u{301}"; 4]);
        assert_eq!(split("e\u{301}\u{302}", 1), ["e\u{301}\u{302}"]);
    }

    proptest! {
        /// For any bytes and limit, parts are in order, only white space is between them, and
        /// none is longer than the limit unless it is one character with its marks.
        #[test]
        fn nothing_but_white_space_is_between_parts(
            text in proptest::collection::vec(
                prop_oneof![
                    Just(b". ".to_vec()), Just(b", ".to_vec()), Just(b" ".to_vec()),
                    Just("，".into()), Just("\u{301}".into()), Just(b"aa".to_vec()),
                    Just(b"A".to_vec()), any::<Vec<u8>>(),
                ],
                0..40,
            ),
            limit in 0usize..20,
        ) {
            let text = text.concat();
            let mut rest = 0;
            for part in SentenceSplitter::new("en").split_within(&text, limit, <[u8]>::len) {
                prop_assert!(rest <= part.start && part.start < part.end);
                prop_assert!(crate::characters::is_blank(&text[rest..part.start]));
                let own = char_indices(&text[part.clone()]);
                let is_alone = |c: char| !is_combining(c) && !is_space(c);
                let letters = own.filter(|(_, symbol)| symbol.character.is_none_or(is_alone));
                prop_assert!(part.len() <= limit || letters.count() <= 1);
                rest = part.end;
            }
            prop_assert!(crate::characters::is_blank(&text[rest..]));
        }
    }
}
