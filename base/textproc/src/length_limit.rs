//! Cutting of text that is too long for a model.
//!
//! A cut removes context on both sides, so ends of sentences are preferred. A sentence that is too
//! long is cut near its middle: at the end of a clause, else at white space. If its middle half has
//! neither, it is cut outside the middle half in the same order. Only a sentence that has neither
//! at all is cut between any two characters. Halves of similar length avoid parts of one or two
//! words, which models translate worst.

use std::ops::Range;

use unicode_general_category::get_general_category;

use crate::SentenceSplitter;
use crate::characters::{char_indices, is_extension, is_unspaced};
use crate::interruption::{Checkpoint, Interrupted};
use crate::sentence_splitter::{trim_end, trim_start};

/// The rank of a place to cut, the best one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutRank {
    Character,
    Space,
    Clause,
}

/// The length of the first measured beginning of a long text, in bytes per unit of the limit. Few
/// texts of that length are within the limit.
const BYTES_PER_UNIT: usize = 4;

impl SentenceSplitter {
    /// Returns the byte ranges of the sentences of a paragraph, as [`SentenceSplitter::split`]
    /// does. Sentences whose `length` is more than `limit` are cut further. Only white space is
    /// between parts. A single character is never cut, even if it is too long.
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
        length: impl FnMut(&[u8]) -> usize,
    ) -> Vec<Range<usize>> {
        self.split_within_until(text, limit, length, &|| false).unwrap_or_default()
    }

    /// Works like [`SentenceSplitter::split_within`], for texts that may be long: `should_stop` is
    /// called from time to time. `length` measures each sentence and each part of a long one; for
    /// parts far over the limit, it measures only the beginning.
    ///
    /// # Errors
    /// [`Interrupted`](crate::Interrupted) if `should_stop` returns true.
    pub fn split_within_until(
        &self,
        text: &[u8],
        limit: usize,
        mut length: impl FnMut(&[u8]) -> usize,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<usize>>, Interrupted> {
        let mut checkpoint = Checkpoint::new(should_stop);
        let mut parts = Vec::new();
        for sentence in self.split_until(text, should_stop)? {
            checkpoint.pass(sentence.start)?;
            if length(&text[sentence.clone()]) > limit {
                let places = CutPlaces::find(&text[sentence.clone()]);
                cut(text, sentence, &places, limit, &mut length, (&mut checkpoint, &mut parts))?;
            } else {
                parts.push(sentence);
            }
        }
        Ok(parts)
    }
}

/// Cuts `sentence`, which is longer than `limit`, in two, and then its parts, until each part is
/// within the limit or has no place to cut.
fn cut(
    text: &[u8],
    sentence: Range<usize>,
    places: &CutPlaces,
    limit: usize,
    length: &mut dyn FnMut(&[u8]) -> usize,
    (checkpoint, parts): (&mut Checkpoint<'_>, &mut Vec<Range<usize>>),
) -> Result<(), Interrupted> {
    let offset = sentence.start;
    let mut waiting = vec![sentence.clone()];
    while let Some(part) = waiting.pop() {
        checkpoint.pass(part.start)?;
        // The caller has measured the whole sentence.
        let is_too_long = part == sentence || is_longer(&text[part.clone()], limit, &mut *length);
        let inside = part.start - offset..part.end - offset;
        let place = if is_too_long { places.best_in(inside) } else { None };
        let Some(at) = place else {
            parts.push(part);
            continue;
        };
        let at = offset + at;
        let left = trim_end(&text[part.start..at]).len();
        let right = trim_start(&text[at..part.end]).len();
        waiting.push(part.end - right..part.end);
        waiting.push(part.start..part.start + left);
    }
    Ok(())
}

/// Whether the length of a text is more than `limit`. In a long text, beginnings are measured, each
/// twice as long as the previous one, so that the work is proportional to the limit.
fn is_longer(text: &[u8], limit: usize, length: &mut dyn FnMut(&[u8]) -> usize) -> bool {
    let mut most = limit.saturating_mul(BYTES_PER_UNIT).max(1024);
    while most < text.len() {
        // A beginning that ends inside a character or token may count a few units too many.
        let beginning = trim_end(&text[..char_boundary(text, most)]);
        if length(beginning) > limit.saturating_add(limit / 8).saturating_add(8) {
            return true;
        }
        most = most.saturating_mul(2);
    }
    length(text) > limit
}

/// Returns the last boundary of a UTF-8 character up to `most`.
fn char_boundary(text: &[u8], most: usize) -> usize {
    fn continues(&at: &usize, text: &[u8]) -> bool {
        text[at] & 0xc0 == 0x80
    }
    let back = (most.saturating_sub(3)..=most).rev();
    back.filter(|at| *at < text.len()).find(|at| !continues(at, text)).unwrap_or(most)
}

/// The places where a sentence may be cut, in one sorted list per rank. Each is before a character
/// other than white space.
struct CutPlaces {
    clauses: Vec<usize>,
    spaces: Vec<usize>,
    characters: Vec<usize>,
}

impl CutPlaces {
    /// Finds the places in a text without white space at its ends.
    fn find(text: &[u8]) -> Self {
        let mut places =
            CutPlaces { clauses: Vec::new(), spaces: Vec::new(), characters: Vec::new() };
        // The previous character, and the last one other than white space.
        let (mut before, mut visible): (Option<char>, Option<char>) = (None, None);
        for (at, symbol) in char_indices(text) {
            let here = symbol.character.unwrap_or('\u{1}');
            if let (Some(before), Some(visible)) = (before, visible) {
                match rank_cut(visible, before.is_whitespace(), here) {
                    Some(CutRank::Clause) => places.clauses.push(at),
                    Some(CutRank::Space) => places.spaces.push(at),
                    Some(CutRank::Character) => places.characters.push(at),
                    None => {}
                }
            }
            before = Some(here);
            if !here.is_whitespace() {
                visible = Some(here);
            }
        }
        places
    }

    /// Returns the best place in a part: the end of a clause in the middle half, else white space
    /// there, else the end of a clause anywhere, else white space anywhere, else any place. Of
    /// several places, it is the one nearest to the middle.
    fn best_in(&self, part: Range<usize>) -> Option<usize> {
        let middle = part.start + part.len() / 2;
        let is_central = |place: &usize| place.abs_diff(middle) <= part.len() / 4;
        let clause = nearest(&self.clauses, &part, middle);
        let space = nearest(&self.spaces, &part, middle);
        // A space in the middle is better than a clause of two words, but any end of a clause is
        // better than a cut inside a word.
        clause
            .filter(is_central)
            .or(space.filter(is_central))
            .or(clause)
            .or(space)
            .or_else(|| nearest(&self.characters, &part, middle))
    }
}

/// Returns the place nearest to `middle` inside a part, excluding its beginning.
fn nearest(places: &[usize], part: &Range<usize>, middle: usize) -> Option<usize> {
    let after = places.partition_point(|&place| place < middle);
    let before = after.checked_sub(1).map(|number| places[number]);
    let before = before.filter(|&place| place > part.start);
    let after = places.get(after).copied().filter(|&place| place > part.start && place < part.end);
    match (before, after) {
        (Some(before), Some(after)) if after - middle < middle - before => Some(after),
        (before, after) => before.or(after),
    }
}

/// Returns the rank of a cut before `after`. `before` is the last visible character before the cut,
/// and `is_spaced` tells whether white space is between the two. Returns `None` before white space,
/// because a cut comes after white space, and between a letter and its combining mark.
fn rank_cut(before: char, is_spaced: bool, after: char) -> Option<CutRank> {
    if after.is_whitespace() || is_extension(get_general_category(after)) {
        return None;
    }
    // A comma ends a clause before white space, or before a letter of a script without spaces.
    let is_boundary = is_spaced || is_unspaced(after);
    match (is_boundary && ends_clause(before), is_spaced) {
        (true, _) => Some(CutRank::Clause),
        (false, true) => Some(CutRank::Space),
        (false, false) => Some(CutRank::Character),
    }
}

/// Whether a clause ends after a character.
fn ends_clause(character: char) -> bool {
    matches!(
        character,
        ',' | ';' | ':' | '–' | '—' | '،' | '؛' | '、' | '，' | '；' | '：' | ')' | '）' | '」'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;
    use proptest::prelude::*;

    #[test]
    fn cutting_a_long_sentence_stops_when_it_should() {
        let splitter = SentenceSplitter::new("en");
        let text = "ab,".repeat(100_000);
        let num_checks = std::cell::Cell::new(0);
        let should_stop = || {
            num_checks.set(num_checks.get() + 1);
            // The splitter makes fewer checks in one sentence, so the cutting has to stop.
            num_checks.get() > 4
        };
        let found = splitter.split_within_until(text.as_bytes(), 50, <[u8]>::len, &should_stop);
        assert!(found == Err(Interrupted));
    }

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

    /// A single sentence whose parts are cut again and again.
    #[test]
    fn twice_the_text_takes_twice_the_steps() {
        let units =
            ["a", "a ", "a, ", "e\u{301}", "你", "a\u{301}\u{301}\u{301}", "aaaaaaaaaaaa, ", " a"];
        for unit in units {
            let steps = |count: usize| {
                let text = unit.repeat(count);
                steps::taken_by(|| {
                    let splitter = SentenceSplitter::new("en");
                    let length = |part: &[u8]| {
                        steps::count(part.len());
                        part.len()
                    };
                    assert!(splitter.split_within(text.as_bytes(), 100, length).len() > 1);
                })
            };
            let (once, twice) = (steps(20_000), steps(40_000));
            assert!(twice <= once * 2 + once / 5, "{unit:?}: {once}, {twice}");
        }
    }

    /// Finds the place by a separate search of the part.
    fn find_cut_slowly(text: &[u8]) -> Option<usize> {
        let middle = text.len() / 2;
        let mut best: Option<((bool, CutRank), usize)> = None;
        let (mut before, mut visible): (Option<char>, Option<char>) = (None, None);
        for (at, symbol) in char_indices(text) {
            let here = symbol.character.unwrap_or('\u{1}');
            if let (Some(before), Some(visible)) = (before, visible)
                && let Some(rank) = rank_cut(visible, before.is_whitespace(), here)
            {
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
            if !here.is_whitespace() {
                visible = Some(here);
            }
        }
        best.map(|(_, at)| at)
    }

    proptest! {
        #[test]
        fn the_best_place_is_found(
            text in "[ab ,\u{301}你，]{1,30}", start in 0usize..10, length in 1usize..30,
        ) {
            let text = trim_start(trim_end(text.as_bytes()));
            let all = CutPlaces::find(text);
            // Parts begin and end with characters that are not white space.
            let boundary = |most: usize| {
                if most < text.len() { char_boundary(text, most) } else { text.len() }
            };
            let start = text.len() - trim_start(&text[boundary(start)..]).len();
            let part = trim_end(&text[start..boundary(start + length).max(start)]);
            let found = all.best_in(start..start + part.len()).map(|at| at - start);
            prop_assert_eq!(found, find_cut_slowly(part));
        }

        /// For any bytes and limit, parts are in order with only white space between them, and only
        /// a single character with its marks may be longer than the limit.
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
                let is_alone = |c: char| !is_extension(get_general_category(c)) && !c.is_whitespace();
                let letters = own.filter(|(_, symbol)| symbol.character.is_none_or(is_alone));
                prop_assert!(part.len() <= limit || letters.count() <= 1);
                rest = part.end;
            }
            prop_assert!(crate::characters::is_blank(&text[rest..]));
        }
    }
}
