//! Sentence boundaries by Unicode's rules (UAX #29), found in one pass.
//!
//! `unicode-segmentation` has the same rules, but looks ahead again at each bracket and space after
//! a full stop, which is quadratic; here, each look ahead is remembered. Tests compare boundaries
//! and the classes of all characters with that crate's. Four rules are added: reference marks such
//! as `[1]` belong to the mark before them; a one-character ellipsis may end a sentence, like three
//! full stops; a number after a full stop and a space may begin a sentence although lower case
//! follows it, as in Moses; and in Greek a semicolon is a question mark.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};

use crate::characters::{CharClass, DecodedChar, char_indices, first_char, is_extension};
use crate::reference_marks::reference_marks_len;

/// The class of a character in the rules of sentences (the property Sentence_Break).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakClass {
    /// A full stop, which also ends abbreviations.
    FullStop,
    /// Any other mark that ends sentences.
    Mark,
    /// Brackets and quotation marks, opening ones among them.
    Bracket,
    Space,
    /// Line ends and separators of paragraphs.
    Separator,
    /// Commas and dashes.
    Continuation,
    Lowercase,
    Uppercase,
    /// A letter without case.
    Letter,
    Digit,
    /// Combining marks and invisible characters.
    Extension,
    Other,
}

/// Marks that end sentences, besides full stops: ranges of the property STerm.
const MARKS: &[(u32, u32)] = &[
    (0x21, 0x21),
    (0x3f, 0x3f),
    (0x589, 0x589),
    (0x61d, 0x61f),
    (0x6d4, 0x6d4),
    (0x700, 0x702),
    (0x7f9, 0x7f9),
    (0x837, 0x837),
    (0x839, 0x839),
    (0x83d, 0x83e),
    (0x964, 0x965),
    (0x104a, 0x104b),
    (0x1362, 0x1362),
    (0x1367, 0x1368),
    (0x166e, 0x166e),
    (0x1735, 0x1736),
    (0x17d4, 0x17d5),
    (0x1803, 0x1803),
    (0x1809, 0x1809),
    (0x1944, 0x1945),
    (0x1aa8, 0x1aab),
    (0x1b4e, 0x1b4f),
    (0x1b5a, 0x1b5b),
    (0x1b5e, 0x1b5f),
    (0x1b7d, 0x1b7f),
    (0x1c3b, 0x1c3c),
    (0x1c7e, 0x1c7f),
    (0x203c, 0x203d),
    (0x2047, 0x2049),
    (0x2cf9, 0x2cfb),
    (0x2e2e, 0x2e2e),
    (0x2e3c, 0x2e3c),
    (0x2e53, 0x2e54),
    (0x3002, 0x3002),
    (0xa4ff, 0xa4ff),
    (0xa60e, 0xa60f),
    (0xa6f3, 0xa6f3),
    (0xa6f7, 0xa6f7),
    (0xa876, 0xa877),
    (0xa8ce, 0xa8cf),
    (0xa92f, 0xa92f),
    (0xa9c8, 0xa9c9),
    (0xaa5d, 0xaa5f),
    (0xaaf0, 0xaaf1),
    (0xabeb, 0xabeb),
    (0xfe12, 0xfe12),
    (0xfe15, 0xfe16),
    (0xfe56, 0xfe57),
    (0xff01, 0xff01),
    (0xff1f, 0xff1f),
    (0xff61, 0xff61),
    (0x10a56, 0x10a57),
    (0x10f55, 0x10f59),
    (0x10f86, 0x10f89),
    (0x11047, 0x11048),
    (0x110be, 0x110c1),
    (0x11141, 0x11143),
    (0x111c5, 0x111c6),
    (0x111cd, 0x111cd),
    (0x111de, 0x111df),
    (0x11238, 0x11239),
    (0x1123b, 0x1123c),
    (0x112a9, 0x112a9),
    (0x113d4, 0x113d5),
    (0x1144b, 0x1144c),
    (0x115c2, 0x115c3),
    (0x115c9, 0x115d7),
    (0x11641, 0x11642),
    (0x1173c, 0x1173e),
    (0x11944, 0x11944),
    (0x11946, 0x11946),
    (0x11a42, 0x11a43),
    (0x11a9b, 0x11a9c),
    (0x11c41, 0x11c42),
    (0x11ef7, 0x11ef8),
    (0x11f43, 0x11f44),
    (0x16a6e, 0x16a6f),
    (0x16af5, 0x16af5),
    (0x16b37, 0x16b38),
    (0x16b44, 0x16b44),
    (0x16d6e, 0x16d6f),
    (0x16e98, 0x16e98),
    (0x1bc9f, 0x1bc9f),
    (0x1da88, 0x1da88),
];

impl BreakClass {
    /// Returns the class of a character.
    pub(crate) fn from_char(character: char) -> BreakClass {
        use GeneralCategory as Category;
        match character {
            'a'..='z' => return BreakClass::Lowercase,
            'A'..='Z' => return BreakClass::Uppercase,
            '0'..='9' => return BreakClass::Digit,
            ' ' | '\t' | '\x0b' | '\x0c' | '\u{a0}' => return BreakClass::Space,
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => return BreakClass::Separator,
            '.' | '\u{2024}' | '\u{fe52}' | '\u{ff0e}' => return BreakClass::FullStop,
            '!' | '?' => return BreakClass::Mark,
            ','
            | '-'
            | ':'
            | ';'
            | '\u{37e}'
            | '\u{55d}'
            | '\u{60c}'
            | '\u{60d}'
            | '\u{7f8}'
            | '\u{1802}'
            | '\u{1808}'
            | '\u{2013}'
            | '\u{2014}'
            | '\u{3001}'
            | '\u{fe10}'..='\u{fe11}'
            | '\u{fe13}'..='\u{fe14}'
            | '\u{fe31}'..='\u{fe32}'
            | '\u{fe50}'..='\u{fe51}'
            | '\u{fe54}'..='\u{fe55}'
            | '\u{fe58}'
            | '\u{fe63}'
            | '\u{ff0c}'..='\u{ff0d}'
            | '\u{ff1a}'..='\u{ff1b}'
            | '\u{ff64}' => {
                return BreakClass::Continuation;
            }
            '"'
            | '\''
            | '\u{275b}'..='\u{2760}'
            | '\u{2e00}'..='\u{2e01}'
            | '\u{2e06}'..='\u{2e08}'
            | '\u{2e0b}'
            | '\u{1f676}'..='\u{1f678}' => {
                return BreakClass::Bracket;
            }
            '\u{600}'..='\u{605}'
            | '\u{6dd}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{66b}'..='\u{66c}'
            | '\u{19da}' => return BreakClass::Digit,
            // Georgian has capitals for headings only.
            '\u{5f3}'
            | '\u{10d0}'..='\u{10fa}'
            | '\u{10fd}'..='\u{10ff}'
            | '\u{1c90}'..='\u{1cba}'
            | '\u{1cbd}'..='\u{1cbf}' => return BreakClass::Letter,
            '\u{ff9e}'..='\u{ff9f}' => return BreakClass::Extension,
            _ => {}
        }
        let code = u32::from(character);
        let after = MARKS.partition_point(|&(_, last)| last < code);
        if MARKS.get(after).is_some_and(|&(first, _)| first <= code) {
            return BreakClass::Mark;
        }
        let category = get_general_category(character);
        match category {
            _ if is_extension(category) => return BreakClass::Extension,
            Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation => return BreakClass::Bracket,
            _ => {}
        }
        let classes = CharClass::from_char(character);
        if classes.intersects(CharClass::SPACE) {
            BreakClass::Space
        } else if classes.intersects(CharClass::LOWERCASE) {
            BreakClass::Lowercase
        } else if character.is_uppercase() || category == Category::TitlecaseLetter {
            BreakClass::Uppercase
        } else if classes.intersects(CharClass::DIGIT) {
            BreakClass::Digit
        } else if classes.intersects(CharClass::ALPHABETIC) {
            BreakClass::Letter
        } else {
            BreakClass::Other
        }
    }
}

/// Returns the classes of the characters of `text` after the brackets and spaces at its beginning.
pub(crate) fn classes_after_brackets(text: &[u8]) -> impl Iterator<Item = BreakClass> {
    let classes = char_indices(text).map(|(_, symbol)| break_class(symbol));
    classes.skip_while(|class| {
        matches!(class, BreakClass::Bracket | BreakClass::Space | BreakClass::Extension)
    })
}

fn break_class(symbol: DecodedChar) -> BreakClass {
    symbol.character.map_or(BreakClass::Other, BreakClass::from_char)
}

/// Whether a character is a question mark of Greek: a semicolon, or its canonical equivalent.
pub(crate) fn is_greek_question_mark(character: char) -> bool {
    matches!(character, ';' | '\u{37e}')
}

/// Whether a character is an ellipsis, which Unicode's rules do not count among the marks.
pub(crate) fn is_ellipsis(character: char) -> bool {
    matches!(character, '\u{2025}' | '\u{2026}')
}

/// The progress since the last mark that may end a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Mark,
    Brackets,
    References,
    Spaces,
}

/// A mark that may end a sentence, with the progress after it.
#[derive(Clone, Copy)]
struct Ending {
    is_full_stop: bool,
    /// Whether a cased letter precedes the mark.
    follows_letter: bool,
    stage: Stage,
}

/// An iterator over the offsets of the sentence boundaries of a text, without its beginning. The
/// last boundary is the end of the text. An invalid byte has the class [`BreakClass::Other`].
pub(crate) struct SentenceBreaks<'t> {
    text: &'t [u8],
    /// Whether semicolons are question marks.
    is_greek: bool,
    at: usize,
    ending: Option<Ending>,
    /// The separator directly before the character at `at`, if there is one.
    separator: Option<char>,
    follows_letter: bool,
    /// The end of the last look ahead, and whether it found lower case.
    ahead: (usize, bool),
    /// The byte range of the last reference marks.
    references: Range<usize>,
    /// Whether the end was returned.
    is_over: bool,
}

impl<'t> SentenceBreaks<'t> {
    pub(crate) fn new(text: &'t [u8], is_greek: bool) -> Self {
        SentenceBreaks {
            text,
            is_greek,
            at: 0,
            ending: None,
            separator: None,
            follows_letter: false,
            ahead: (0, false),
            references: 0..0,
            is_over: false,
        }
    }

    /// Returns the byte range of the last reference marks.
    pub(crate) fn references(&self) -> Range<usize> {
        self.references.clone()
    }

    /// Whether a lowercase letter follows `at` before any other letter, mark or separator (SB8).
    fn is_lowercase_ahead(&mut self, at: usize) -> bool {
        if at >= self.ahead.0 {
            let mut next = at;
            let mut found = false;
            while let Some(symbol) = first_char(&self.text[next..]) {
                next += symbol.byte_len;
                match break_class(symbol) {
                    BreakClass::Lowercase => {
                        found = true;
                        break;
                    }
                    BreakClass::Uppercase
                    | BreakClass::Letter
                    | BreakClass::Separator
                    | BreakClass::Mark
                    | BreakClass::FullStop => break,
                    _ => {}
                }
            }
            self.ahead = (next, found);
        }
        self.ahead.1
    }

    /// Whether the first character at `at` that is neither bracket nor space is a digit.
    fn begins_with_number(&self, at: usize) -> bool {
        classes_after_brackets(&self.text[at..]).next() == Some(BreakClass::Digit)
    }

    /// Whether a sentence ends before a character of `class` at `at`, by SB6 to SB11 and the rule
    /// of numbers.
    fn breaks_before(&mut self, class: BreakClass, at: usize, ending: Ending) -> bool {
        let Ending { is_full_stop, follows_letter, stage } = ending;
        let is_after_full_stop = is_full_stop && stage == Stage::Mark;
        let continues = match class {
            BreakClass::Digit => is_after_full_stop,
            BreakClass::Uppercase => is_after_full_stop && follows_letter,
            BreakClass::Continuation
            | BreakClass::Mark
            | BreakClass::FullStop
            | BreakClass::Space
            | BreakClass::Separator => true,
            BreakClass::Bracket => matches!(stage, Stage::Mark | Stage::Brackets),
            _ => false,
        };
        if continues {
            return false;
        }
        !is_full_stop
            || stage == Stage::Spaces && self.begins_with_number(at)
            || !self.is_lowercase_ahead(at)
    }
}

impl Iterator for SentenceBreaks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some(symbol) = first_char(&self.text[self.at..]) {
            let at = self.at;
            self.at += symbol.byte_len;
            let class = match symbol.character {
                Some(character) if is_ellipsis(character) => BreakClass::Mark,
                Some(character) if self.is_greek && is_greek_question_mark(character) => {
                    BreakClass::Mark
                }
                Some(character) => BreakClass::from_char(character),
                None => BreakClass::Other,
            };
            let separator = self.separator.take();
            let is_line_end = separator == Some('\r') && symbol.character == Some('\n');
            let mut breaks = separator.is_some() && !is_line_end;
            let ending = self.ending.filter(|_| separator.is_none());
            if class == BreakClass::Extension && !breaks && at > 0 {
                continue;
            }
            if let Some(ending) = ending
                && matches!(ending.stage, Stage::Mark | Stage::Brackets)
                && let length @ 1.. = reference_marks_len(&self.text[at..])
            {
                self.at = at + length;
                self.references = at..self.at;
                self.follows_letter = false;
                self.ending = Some(Ending { stage: Stage::References, ..ending });
                continue;
            }
            if let Some(ending) = ending {
                breaks = self.breaks_before(class, at, ending);
            }
            let follows_letter = std::mem::replace(
                &mut self.follows_letter,
                matches!(class, BreakClass::Uppercase | BreakClass::Lowercase),
            );
            self.ending = match (class, ending) {
                (BreakClass::FullStop, _) => {
                    Some(Ending { is_full_stop: true, follows_letter, stage: Stage::Mark })
                }
                (BreakClass::Mark, _) => {
                    Some(Ending { is_full_stop: false, follows_letter, stage: Stage::Mark })
                }
                (BreakClass::Bracket, Some(ending))
                    if matches!(ending.stage, Stage::Mark | Stage::Brackets) =>
                {
                    Some(Ending { stage: Stage::Brackets, ..ending })
                }
                (BreakClass::Space, Some(ending)) => {
                    Some(Ending { stage: Stage::Spaces, ..ending })
                }
                _ => None,
            };
            if class == BreakClass::Separator {
                self.separator = symbol.character;
            }
            if breaks {
                return Some(at);
            }
        }
        let is_new = !std::mem::replace(&mut self.is_over, true);
        (is_new && !self.text.is_empty()).then_some(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn boundaries(text: &str) -> Vec<usize> {
        SentenceBreaks::new(text.as_bytes(), false).collect()
    }

    fn expected(text: &str) -> Vec<usize> {
        text.split_sentence_bound_indices().map(|(at, part)| at + part.len()).collect()
    }

    /// Returns the places where a number follows a full stop and a space, perhaps after brackets.
    fn numbers_after_full_stops(text: &str) -> Vec<usize> {
        let class = |c: char| BreakClass::from_char(c);
        let is_gap = |c: char| {
            matches!(class(c), BreakClass::Bracket | BreakClass::Space | BreakClass::Extension)
        };
        let places = text.char_indices().filter(|&(at, _)| {
            let after = text[at..].trim_start_matches(is_gap);
            let before = text[..at].trim_end_matches(is_gap);
            let gap = &text[before.len()..at];
            gap.chars().any(|c| class(c) == BreakClass::Space)
                && after.chars().next().map(class) == Some(BreakClass::Digit)
                && before.chars().next_back().map(class) == Some(BreakClass::FullStop)
        });
        places.map(|(at, _)| at).collect()
    }

    /// Returns our boundaries and Unicode's, without those before numbers where they may differ.
    fn comparable_boundaries(text: &str) -> [Vec<usize>; 2] {
        let numbers = numbers_after_full_stops(text);
        [boundaries(text), expected(text)]
            .map(|all| all.into_iter().filter(|at| !numbers.contains(at)).collect())
    }

    /// Compares each character between others that reveal its class.
    #[test]
    fn characters_have_the_classes_of_unicode() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            // The crates use different versions of Unicode.
            let is_unassigned = get_general_category(character) == GeneralCategory::Unassigned;
            if is_unassigned || is_ellipsis(character) {
                continue;
            }
            let c = character;
            for text in [
                format!("a{c} b"),
                format!("A{c} B. A?{c}(B. A? {c}B"),
                format!("1.{c}A. 1. {c}A. A.{c}A. 1. {c}a"),
                format!("{c}.B {c}"),
            ] {
                let [found, expected] = comparable_boundaries(&text);
                assert_eq!(found, expected, "{text:?} {:x}", u32::from(c));
            }
        }
    }

    proptest! {
        #[test]
        fn boundaries_are_those_of_unicode(
            text in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(vec![
                        ".", "?", "。", "!", "(", ")", "“", "\"", " ", "\u{a0}", "\n", "\r", "\u{2029}",
                        ",", "-", "a", "b", "A", "B", "я", "Я", "你", "1", "٣", "\u{301}", "\u{ad}", "$",
                        "\u{1}", "ა", "।",
                    ]).prop_map(str::to_owned),
                    any::<char>().prop_filter("the same in both", |c| {
                        let is_mark = reference_marks_len(c.to_string().as_bytes()) > 0;
                        let is_known = get_general_category(*c) != GeneralCategory::Unassigned;
                        is_known && !is_mark && !is_ellipsis(*c)
                    }).prop_map(String::from),
                ],
                0..30,
            )
        ) {
            let text = text.concat();
            let [found, expected] = comparable_boundaries(&text);
            prop_assert_eq!(found, expected);
        }
    }
}
