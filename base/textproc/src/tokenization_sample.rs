//! Sample of a text, which shows whether the text is tokenised.
//!
//! Punctuation is separate in tokenised text, but usually attached to a word in other text: 12 % of
//! the words of image captions end in punctuation, and less than 1 in 1,000 after tokenisation. A
//! full stop counts only at the end of a line, because abbreviations keep theirs when text is
//! tokenised. Words of scripts without spaces do not count, because a tokeniser does not change
//! them.

use crate::characters::{CharClass, is_unspaced, last_char};

/// The minimum share of words with attached punctuation in untokenised text.
const MIN_SHARE: f64 = 0.03;
/// The minimum number of words with attached punctuation for a result.
const MIN_ATTACHED: u64 = 10;
/// The number of words after which the sample is large enough.
const MAX_WORDS: u64 = 50_000;

/// The number of words of a text, and the number of words that end in punctuation attached to a
/// letter.
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
            if let Some(is_attached) = ends_in_attached_mark(word, words.peek().is_none()) {
                self.words += 1;
                self.attached += u64::from(is_attached);
            }
        }
    }

    /// Whether more lines hardly change the result.
    pub fn is_large(&self) -> bool {
        self.words >= MAX_WORDS
    }

    /// Returns the share of words that end in punctuation attached to a letter, if it is too large
    /// for tokenised text.
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
        // The semicolon of an entity, which tokenisers write, is not punctuation.
        ';' if ends_in_entity(stem) => false,
        ',' | ';' | ':' | '!' | '?' | '…' | '،' | '؛' | '؟' | '۔' | '।' | '॥' | '։' | '።' => {
            true
        }
        _ => false,
    };
    Some(is_mark && is_letter)
}

/// Whether the text before a semicolon ends in an entity, as in `&quot;`.
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
