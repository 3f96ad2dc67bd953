//! Running text into sentences.
//!
//! Boundaries are those of Unicode (UAX #29), which know the ends of sentences in all
//! scripts; some of them are joined again, by the rules of Moses' `split-sentences.perl`:
//! a full stop after an abbreviation, an acronym or the number of a list ends nothing, nor
//! does any mark before lower case. Moses' script alone finds no ends in scripts without
//! capitals, Unicode's rules alone end sentences after `Mr.`.

use std::borrow::Cow;
use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

use crate::NonbreakingPrefixes;
use crate::characters::{
    CharClass, char_indices, first_char, first_class, last_char, split_whitespace,
};
use crate::nonbreaking_prefixes::PrefixScope;

/// Splits the paragraphs of a language into sentences.
///
/// # Examples
/// ```
/// use miriam_textproc::SentenceSplitter;
///
/// let text = "Mr. Smith came at 5 p.m. on Monday.  He left (early!) again.";
/// let sentences = SentenceSplitter::new("en").split(text.as_bytes());
/// let sentences: Vec<&str> = sentences.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(
///     sentences,
///     ["Mr. Smith came at 5 p.m. on Monday.", "He left (early!) again."]
/// );
/// ```
#[derive(Clone, Debug)]
pub struct SentenceSplitter {
    prefixes: NonbreakingPrefixes,
}

impl SentenceSplitter {
    /// A splitter with the abbreviations of `language`, named by two letters; with those of
    /// English where none are built in, as in Moses.
    pub fn new(language: &str) -> Self {
        let prefixes = NonbreakingPrefixes::for_language(language)
            .or_else(|| NonbreakingPrefixes::for_language("en"));
        Self::with_prefixes(prefixes.unwrap_or_default())
    }

    /// A splitter with abbreviations of one's own.
    pub fn with_prefixes(prefixes: NonbreakingPrefixes) -> Self {
        SentenceSplitter { prefixes }
    }

    /// The byte ranges of the sentences of a paragraph, in order. What lies between them, and
    /// before the first and after the last, is white space, so that a text can be put
    /// together again from its translated sentences. The characters that end paragraphs
    /// (line feeds among them) end sentences too.
    pub fn split(&self, text: &[u8]) -> Vec<Range<usize>> {
        let decoded = decode(text);
        let mut sentences = Vec::new();
        let mut start = 0;
        for (from, part) in decoded.split_sentence_bound_indices() {
            let mut end = from + part.len();
            if end <= start {
                continue;
            }
            let sentence = trim(&text[start..end]);
            if sentence.is_empty() {
                start = end;
                continue;
            }
            let is_end = end == text.len()
                || ends_paragraph(part)
                || self.ends_sentence(&text[start..end], &text[end..]);
            if is_end {
                end += spaced_closing_len(&text[end..]);
                let first = end - trim_start(&text[start..end]).len();
                sentences.push(first..start + trim_end(&text[start..end]).len());
                start = end;
            }
        }
        sentences
    }

    /// Whether a sentence ends between `before`, which ends as Unicode says, and `after`.
    fn ends_sentence(&self, before: &[u8], after: &[u8]) -> bool {
        let sentence = trim(before);
        let unclosed = trim_end_matching(sentence, is_closing);
        let mark = last_char(unclosed).and_then(|symbol| symbol.character);
        let next = next_letter(after);
        if !mark.is_some_and(is_western_mark) {
            return true;
        }
        let is_spaced = trim_end(before).len() < before.len();
        if !is_spaced {
            // "Yahoo!Inc" is a word, but scripts without spaces use these marks too.
            return next.is_some_and(is_unspaced);
        }
        if next.is_some_and(|c| CharClass::from_char(c).intersects(CharClass::LOWERCASE)) {
            return false;
        }
        // Only a full stop is ambiguous, and neither after quotes nor as an ellipsis.
        if unclosed.len() < sentence.len() || !unclosed.ends_with(b".") || unclosed.ends_with(b"..")
        {
            return true;
        }
        !self.keeps_full_stop(&unclosed[..unclosed.len() - 1], after)
    }

    /// Whether the full stop after `sentence` belongs to its last word.
    fn keeps_full_stop(&self, sentence: &[u8], after: &[u8]) -> bool {
        let word = trim_start_to_last_word(sentence);
        if is_acronym(word) || (word.len() == sentence.len() && is_list_item(word)) {
            return true;
        }
        let before = trim_end_matching(word, |c| !is_word_character(c));
        if before.len() < word.len() {
            return false;
        }
        let prefix = &word[trim_end_matching(word, is_word_character).len()..];
        match self.prefixes.get(prefix) {
            Some(PrefixScope::Anywhere) => true,
            Some(PrefixScope::BeforeNumber) => {
                trim_start(after).first().is_some_and(u8::is_ascii_digit)
            }
            None => false,
        }
    }
}

/// The text with bytes that are part of no character replaced by characters of one byte that
/// are in no class, so that offsets stay.
pub(crate) fn decode(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut decoded = String::with_capacity(text.len());
            for (_, symbol) in char_indices(text) {
                decoded.push(symbol.character.unwrap_or('\u{1}'));
            }
            Cow::Owned(decoded)
        }
    }
}

/// Whether a text ends with a character that ends paragraphs.
fn ends_paragraph(text: &str) -> bool {
    text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Marks that end sentences in scripts with spaces; those of other scripts end sentences
/// wherever they are.
fn is_western_mark(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '‥' | '‼' | '⁇' | '⁈' | '⁉')
}

/// Letters of scripts that put no space between sentences.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(
        character.script(),
        Script::Han | Script::Hiragana | Script::Katakana | Script::Thai | Script::Bopomofo
    )
}

/// Quotes and brackets after the mark that ends a sentence.
fn is_closing(character: char) -> bool {
    matches!(character, '\'' | '"')
        || matches!(
            get_general_category(character),
            GeneralCategory::ClosePunctuation
                | GeneralCategory::FinalPunctuation
                | GeneralCategory::InitialPunctuation
        )
}

/// The length of closing quotes and brackets between spaces: `« Où ? » Il part.`
fn spaced_closing_len(text: &[u8]) -> usize {
    let closes = |c: char| {
        matches!(c, '"' | '“')
            || matches!(
                get_general_category(c),
                GeneralCategory::ClosePunctuation | GeneralCategory::FinalPunctuation
            )
    };
    let end = char_indices(text).find(|(_, symbol)| !symbol.character.is_some_and(closes));
    let end = end.map_or(text.len(), |(at, _)| at);
    let is_followed_by_text =
        !text[end..].is_empty() && !first_class(&text[end..]).intersects(CharClass::SPACE);
    if is_followed_by_text { 0 } else { end }
}

/// Quotes, brackets and inverted marks before the first word of a sentence.
fn is_opening(character: char) -> bool {
    matches!(character, '¿' | '¡' | '„' | '‚')
        || is_closing(character)
        || get_general_category(character) == GeneralCategory::OpenPunctuation
}

/// The first character of the next sentence that is neither space nor an opening quote.
fn next_letter(text: &[u8]) -> Option<char> {
    char_indices(text)
        .map(|(_, symbol)| symbol.character.unwrap_or('\u{1}'))
        .find(|&c| !is_opening(c) && !CharClass::from_char(c).intersects(CharClass::SPACE))
}

/// The characters of words in Moses' rule of abbreviations.
fn is_word_character(character: char) -> bool {
    matches!(character, '.' | '-')
        || CharClass::from_char(character).intersects(CharClass::ALPHANUMERIC)
}

/// Whether a word without its last full stop ends as an acronym: a full stop, then capitals.
fn is_acronym(word: &[u8]) -> bool {
    let is_capital = |c: char| c == '-' || c.is_uppercase();
    let before = trim_end_matching(word, is_capital);
    before.len() < word.len() && before.ends_with(b".")
}

/// Whether a word without its full stop is the number of a list: `1`, `(iv)`, `b`.
fn is_list_item(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"(").unwrap_or(word);
    let number = number.strip_suffix(b")").unwrap_or(number);
    let is_letter = matches!(number, [letter] if letter.is_ascii_alphabetic());
    let is_roman = number.iter().all(|byte| b"ivx".contains(byte));
    is_letter || !number.is_empty() && (is_roman || number.iter().all(u8::is_ascii_digit))
}

/// The last word of a text.
fn trim_start_to_last_word(text: &[u8]) -> &[u8] {
    split_whitespace(text).last().unwrap_or_default()
}

/// `text` without the characters at its end that `matches` accepts.
fn trim_end_matching(text: &[u8], matches: impl Fn(char) -> bool) -> &[u8] {
    let mut rest = text;
    while let Some(symbol) = last_char(rest) {
        if !symbol.character.is_some_and(&matches) {
            break;
        }
        rest = &rest[..rest.len() - symbol.byte_len];
    }
    rest
}

pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    trim_end_matching(text, |c| CharClass::from_char(c).intersects(CharClass::SPACE))
}

pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while first_class(rest).intersects(CharClass::SPACE) {
        rest = &rest[first_char(rest).map_or(1, |symbol| symbol.byte_len)..];
    }
    rest
}

pub(crate) fn trim(text: &[u8]) -> &[u8] {
    trim_start(trim_end(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split<'t>(language: &str, text: &'t str) -> Vec<&'t str> {
        let ranges = SentenceSplitter::new(language).split(text.as_bytes());
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    /// The sentences are those of Moses' `split-sentences.perl -k -b -q -i -l LANGUAGE`.
    #[test]
    fn western_text_is_split_as_by_moses() {
        let cases: [(&str, &[&str]); 17] = [
            ("en", &["Dr. No met Mr. T. Smith.", "They talked."]),
            ("en", &["See No. 5 of the list.", "No.", "It is not there."]),
            ("en", &["He lives in the U.S. Army camp.", "Why?"]),
            ("en", &["“Stop!” she said.", "“Why?” he asked.", "“Because.”", "Then they left."]),
            ("en", &["Wait... what is it?", "Wait...", "What is it?"]),
            ("en", &["It costs 3.50 dollars.", "4.20 is too much."]),
            ("en", &["(It rained.)", "(Then it did not.)"]),
            ("en", &["He came (why?) at noon.", "\"Good,\" she said."]),
            ("en", &["1. The first thing is this.", "It is new."]),
            ("en", &["It ends at 5 p.m. and starts at 9 a.m. every day."]),
            ("en", &["One sentence without an end"]),
            ("de", &["Am 3. Oktober war z.B. Herr Dr. Maier da.", "Er ging um 5 Uhr."]),
            ("fr", &["M. Dupont est là.", "« Où ? » dit-il.", "Il part."]),
            ("fr", &["Il dit : \" Je veux mourir. \"", "« Où ? »", "Il part."]),
            ("es", &["El Sr. García vino.", "¿Por qué?", "¡No lo sé!"]),
            ("cs", &["Přišel např. Novák.", "Odešel brzy."]),
            ("en", &["Really?!", "Yes."]),
        ];
        for (language, sentences) in cases {
            assert_eq!(split(language, &sentences.join(" ")), sentences, "{language}");
        }
    }

    #[test]
    fn scripts_without_capitals_or_spaces_are_split() {
        let cases: [(&str, &str, &[&str]); 6] = [
            ("zh", "你好。你是谁？我是王。", &["你好。", "你是谁？", "我是王。"]),
            (
                "ja",
                "「行こう。」と彼は言った。雨だ!傘は?",
                &["「行こう。」", "と彼は言った。", "雨だ!", "傘は?"],
            ),
            ("hi", "यह एक घर है। वह बड़ा है।", &["यह एक घर है।", "वह बड़ा है।"]),
            ("ar", "أين أنت؟ أنا هنا. تعال!", &["أين أنت؟", "أنا هنا.", "تعال!"]),
            ("ko", "안녕하세요. 저는 학생입니다.", &["안녕하세요.", "저는 학생입니다."]),
            ("hy", "Բարև։ Ինչպե՞ս ես։", &["Բարև։", "Ինչպե՞ս ես։"]),
        ];
        for (language, text, sentences) in cases {
            assert_eq!(split(language, text), sentences, "{language}");
        }
    }

    #[test]
    fn white_space_is_left_between_sentences() {
        let text = "  One.\t Two is\u{a0}here. \u{3000}Three\nFour  ";
        let ranges = SentenceSplitter::new("en").split(text.as_bytes());
        let sentences: Vec<&str> = ranges.into_iter().map(|range| &text[range]).collect();
        assert_eq!(sentences, ["One.", "Two is\u{a0}here.", "Three", "Four"]);
    }

    #[test]
    fn words_with_marks_are_not_split() {
        assert_eq!(split("en", "Yahoo!Inc and foo.Bar are names.").len(), 1);
        assert_eq!(split("en", "He asked why? and left.").len(), 1);
    }

    #[test]
    fn abbreviations_may_be_ones_own() {
        let text = b"See appx. B now. End.";
        let own = NonbreakingPrefixes::parse_moses(b"appx\n");
        assert_eq!(SentenceSplitter::with_prefixes(own).split(text).len(), 2);
        assert_eq!(SentenceSplitter::new("en").split(text).len(), 3);
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_between_sentences(
            text in proptest::collection::vec(
                prop_oneof![
                    Just(b". ".to_vec()), Just(b"? ".to_vec()), Just(b"Mr.".to_vec()),
                    Just("。".into()), Just("”".into()), Just(b"A".to_vec()), Just(b"a".to_vec()),
                    Just(b"\n".to_vec()), Just(b"\xff".to_vec()), Just("\u{2029}".into()),
                    any::<Vec<u8>>(), any::<char>().prop_map(|c| c.to_string().into_bytes()),
                ],
                0..30,
            )
        ) {
            let text = text.concat();
            let mut rest = 0;
            let mut gaps = Vec::new();
            for sentence in SentenceSplitter::new("en").split(&text) {
                prop_assert!(rest <= sentence.start && sentence.start < sentence.end);
                prop_assert_eq!(trim(&text[sentence.clone()]), &text[sentence.clone()]);
                gaps.push(rest..sentence.start);
                rest = sentence.end;
            }
            gaps.push(rest..text.len());
            for gap in gaps {
                prop_assert!(crate::characters::is_blank(&text[gap]));
            }
        }
    }
}
