//! Sample of a text that tells whether its words are tokens.
//!
//! In tokenised text punctuation stands alone, in text as people write it most marks are attached
//! to a word: 12 % of the words of image captions end in one, and less than 1 in 1,000 once they
//! are tokens. A full stop counts only at the end of a line, for tokens keep those of
//! abbreviations, and words of scripts without spaces do not count at all, because a tokeniser does
//! not change them.

use crate::characters::is_unspaced;
use crate::characters::{CharClass, last_char};

/// The smallest share of words with punctuation attached in text that is not tokenised.
const MIN_SHARE: f64 = 0.03;
/// Fewer words with punctuation attached say nothing.
const MIN_ATTACHED: u64 = 10;
/// Words after which the sample is large enough.
const MAX_WORDS: u64 = 50_000;

/// The counts of words of a text, and of those that end in punctuation attached to a letter.
///
/// # Examples
/// ```
/// use miriam_textproc::TokenizationSample;
///
/// let mut sample = TokenizationSample::default();
/// (0..10).for_each(|_| sample.add_line("Ein Hund, der bellt.".as_bytes()));
/// assert!(sample.untokenized_share().is_some_and(|share| share == 0.5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenizationSample {
    words: u64,
    attached: u64,
}

impl TokenizationSample {
    /// Adds a line.
    pub fn add_line(&mut self, line: &[u8]) {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            match ends_in_attached_mark(word, words.peek().is_none()) {
                Some(is_attached) => {
                    self.words += 1;
                    self.attached += u64::from(is_attached);
                }
                None => continue,
            }
        }
    }

    /// Whether more lines hardly change the result.
    pub fn is_large(&self) -> bool {
        self.words >= MAX_WORDS
    }

    /// Returns the share of words that end in punctuation attached to a letter, if it is so large
    /// that the text is hardly tokenised.
    pub fn untokenized_share(&self) -> Option<f64> {
        let share = self.attached as f64 / self.words as f64;
        (self.attached >= MIN_ATTACHED && share >= MIN_SHARE).then_some(share)
    }
}

/// Whether a word ends in punctuation attached to a letter; `None` if its script puts no spaces
/// between words.
fn ends_in_attached_mark(word: &[u8], is_last: bool) -> Option<bool> {
    let Some(last) = last_char(word) else { return Some(false) };
    let Some(mark) = last.character else { return Some(false) };
    let stem = &word[..word.len() - last.byte_len];
    let letter = last_char(stem).and_then(|symbol| symbol.character);
    if is_unspaced(mark) || letter.is_some_and(is_unspaced) {
        return None;
    }
    let is_letter =
        letter.is_some_and(|c| CharClass::from_char(c).intersects(CharClass::ALPHABETIC));
    let is_mark = match mark {
        // Initials, and abbreviations with several full stops, are tokens.
        '.' => {
            is_last && !stem.contains(&b'.') && letter.is_some_and(|c| stem.len() > c.len_utf8())
        }
        // The end of an entity, which tokenisers write.
        ';' if ends_in_entity(stem) => false,
        ',' | ';' | ':' | '!' | '?' | '…' | '،' | '؛' | '؟' | '۔' | '।' | '॥' | '։' | '።' => {
            true
        }
        _ => false,
    };
    Some(is_mark && is_letter)
}

/// Whether what comes before a semicolon is the rest of an entity, as in `&quot;`.
fn ends_in_entity(stem: &[u8]) -> bool {
    let name = stem.iter().rposition(|&byte| byte == b'&').map(|at| &stem[at + 1..]);
    name.is_some_and(|name| name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(line: &str) -> Option<f64> {
        let mut sample = TokenizationSample::default();
        (0..100).for_each(|_| sample.add_line(line.as_bytes()));
        sample.untokenized_share()
    }

    #[test]
    fn attached_punctuation_counts() {
        for (line, expected) in [
            ("Ein Hund, der bellt.", 0.5),
            ("Was? Ja!", 1.0),
            ("वह घर जाता है।", 0.25),
            ("هل تتكلم العربية؟", 1.0 / 3.0),
        ] {
            assert_eq!(share(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn tokens_do_not_look_untokenised() {
        for line in [
            "Ein Hund , der bellt .",
            "Mr. Smith &apos;s U.S. dog ( etc. ) barks &quot; No. 5 &quot; .",
            "made by J.",
            "made in the U.S.",
            "at 5:30 , 1,000 , 3. and 7 .",
            "hör@@ t , die @-@ se",
            "a title without marks",
            // A tokeniser does not change these.
            "我们走。",
            "他说：\u{201c}好。\u{201d}",
            "ฉันรักคุณ",
            "",
        ] {
            assert_eq!(share(line), None, "{line}");
        }
    }

    #[test]
    fn few_words_say_nothing() {
        let mut sample = TokenizationSample::default();
        sample.add_line("Ein Hund, der bellt.".as_bytes());
        assert_eq!(sample.untokenized_share(), None);
        assert!(!sample.is_large());
    }
}
