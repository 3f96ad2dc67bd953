//! The detokeniser: joins tokens into plain text, exactly as Moses' `detokenizer.perl` does.
//!
//! Punctuation is attached to the word before it or to the word after it, depending on the mark and
//! the language. The input is split at single spaces; between two spaces the script sees an empty
//! word, and so does this code.

use hashbrown::HashMap;

use crate::characters::{
    CharClass, DecodedChar, char_indices, first_char, first_class, is_blank, is_punctuation,
    last_char, last_class, map_chars,
};
use crate::escape::unescape_special_chars;

/// A detokeniser for one language.
///
/// # Examples
/// ```
/// use miriam_textproc::Detokenizer;
///
/// let mut text = Vec::new();
/// Detokenizer::new("fr").capitalize(true).detokenize(b"l&apos; eau est froide !", &mut text);
/// assert_eq!(text, b"L'eau est froide !");
/// ```
#[derive(Clone, Debug)]
pub struct Detokenizer {
    language: DetokenizerLanguage,
    capitalize: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetokenizerLanguage {
    Czech,
    English,
    Finnish,
    French,
    Italian,
    Korean,
    Other,
}

/// The neighbour that a word is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attachment {
    /// Neither neighbour.
    None,
    /// The word before it.
    Left,
    /// The word after it.
    Right,
}

/// A counter of quotation marks, which tells opening from closing ones.
#[derive(Default)]
struct QuoteCounter<'a> {
    counts: HashMap<&'a [u8], u32>,
}

impl Detokenizer {
    /// Returns a detokeniser with the rules of `language`, named by two letters as in Moses; cs,
    /// en, fi, fr, it and ko have special rules.
    pub fn new(language: &str) -> Self {
        let language = match language {
            "cs" => DetokenizerLanguage::Czech,
            "en" => DetokenizerLanguage::English,
            "fi" => DetokenizerLanguage::Finnish,
            "fr" => DetokenizerLanguage::French,
            "it" => DetokenizerLanguage::Italian,
            "ko" => DetokenizerLanguage::Korean,
            _ => DetokenizerLanguage::Other,
        };
        Detokenizer { language, capitalize: false }
    }

    /// Sets whether the first letter of a line is written in upper case (`-u`); off by default.
    pub fn capitalize(self, capitalize: bool) -> Self {
        Detokenizer { capitalize, ..self }
    }

    /// Detokenises `line`, which has no line end, and appends the text to `out`. Blank
    /// lines and lines from `<` to `>` (markup) stay unchanged.
    pub fn detokenize(&self, line: &[u8], out: &mut Vec<u8>) {
        let markup = line.len() > 2 && line.starts_with(b"<") && line.ends_with(b">");
        if markup || is_blank(line) {
            out.extend_from_slice(line);
            return;
        }
        let text = unescape_line(line);
        let joined = self.join_words(&text);
        let start = out.len();
        for &byte in &joined {
            if byte != b' ' || !matches!(out[start..].last(), None | Some(b' ')) {
                out.push(byte);
            }
        }
        if out.len() > start && out.ends_with(b" ") {
            out.pop();
        }
        if self.capitalize {
            capitalize_first_letter(out, start);
        }
    }

    /// Joins the words, with spaces between those that are not attached to each other.
    fn join_words(&self, text: &[u8]) -> Vec<u8> {
        let mut words: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
        while words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
        let mut out = Vec::with_capacity(text.len());
        let mut quotations = QuoteCounter::default();
        let mut space_follows = true;
        let mut i = 0;
        while i < words.len() {
            let attachment = self.attachment(&words, i, &mut quotations);
            // French writes a space before these marks.
            let has_french_space = self.language == DetokenizerLanguage::French
                && attachment == Attachment::Left
                && matches!(words[i], [b'?' | b'!' | b':' | b';' | b'\\' | b'%']);
            if has_french_space || space_follows && attachment != Attachment::Left {
                out.push(b' ');
            }
            match self.language {
                DetokenizerLanguage::Finnish
                    if attachment == Attachment::Left && is_finnish_case_ending(words[i]) =>
                {
                    map_chars(words[i], char::to_lowercase, &mut out);
                }
                _ => out.extend_from_slice(words[i]),
            }
            space_follows = attachment != Attachment::Right;
            if self.is_czech_hyphenation(&words, i) && attachment == Attachment::Right {
                i += 1;
                out.extend_from_slice(words[i]);
            }
            i += 1;
        }
        out
    }

    fn attachment<'a>(
        &self,
        words: &[&'a [u8]],
        i: usize,
        quotations: &mut QuoteCounter<'a>,
    ) -> Attachment {
        let word = words[i];
        let before = if i > 0 { words[i - 1] } else { b"" };
        if first_char(word).and_then(|symbol| symbol.character).is_some_and(is_east_asian) {
            let continues = last_char(before).and_then(|s| s.character).is_some_and(is_east_asian);
            return if continues && self.language != DetokenizerLanguage::Korean {
                Attachment::Left
            } else {
                Attachment::None
            };
        }
        if consists_of_chars(word, |symbol| {
            symbol.class().intersects(CharClass::CURRENCY)
                || symbol.character.is_some_and(|c| "([{¿¡".contains(c))
        }) {
            return Attachment::Right;
        }
        if !word.is_empty() && word.iter().all(|byte| b",.?!:;\\%}])".contains(byte)) {
            return Attachment::Left;
        }
        fn has_letter_at(word: &[u8], at: usize) -> bool {
            word.get(at..).is_some_and(|rest| first_class(rest).intersects(CharClass::ALPHABETIC))
        }
        match self.language {
            DetokenizerLanguage::English
                if word.starts_with(b"'")
                    && has_letter_at(word, 1)
                    && last_class(before).intersects(CharClass::ALPHANUMERIC) =>
            {
                return Attachment::Left;
            }
            DetokenizerLanguage::Czech if i > 1 && is_decimal(words[i - 2], before, word) => {
                return Attachment::Left;
            }
            DetokenizerLanguage::French | DetokenizerLanguage::Italian
                if word
                    .strip_suffix(b"'")
                    .is_some_and(|w| last_class(w).intersects(CharClass::ALPHABETIC))
                    && words.get(i + 1).is_some_and(|next| has_letter_at(next, 0)) =>
            {
                return Attachment::Right;
            }
            _ => {}
        }
        if self.is_czech_hyphenation(words, i) {
            return Attachment::Right;
        }
        if consists_of_chars(word, |symbol| symbol.character.is_some_and(|c| "'\"„“`".contains(c)))
        {
            let possessive = self.language == DetokenizerLanguage::English
                && word == b"'"
                && before.ends_with(b"s");
            return quotations.attachment(
                word,
                self.language == DetokenizerLanguage::Czech,
                possessive,
            );
        }
        // Before the first word, Moses' script sees the last one: in Perl, it has the index -1.
        let before = if i > 0 { before } else { words.last().copied().unwrap_or_default() };
        if self.language == DetokenizerLanguage::Finnish
            && before.ends_with(b":")
            && is_finnish_case_ending(word)
        {
            return Attachment::Left;
        }
        Attachment::None
    }

    /// Whether a Czech word with a dash begins at `i`, as the three words of `bude - li` or
    /// `e - mail`. As in Moses, another word must follow them.
    fn is_czech_hyphenation(&self, words: &[&[u8]], i: usize) -> bool {
        let &[word, dash, end, _, ..] = &words[i..] else { return false };
        self.language == DetokenizerLanguage::Czech
            && last_class(word).intersects(CharClass::ALPHABETIC)
            && matches!(dash, b"-" | b"\xe2\x80\x93")
            && (end.eq_ignore_ascii_case(b"li")
                || end.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"mail")))
    }
}

impl<'a> QuoteCounter<'a> {
    /// Returns the neighbour that the quotation mark `word` is attached to. In Czech, the mark
    /// itself mostly shows whether it is opening or closing. If no quotation is open, an apostrophe
    /// that ends a possessive is not a quotation mark.
    fn attachment(&mut self, word: &'a [u8], czech: bool, possessive: bool) -> Attachment {
        let is_double = consists_of_chars(word, |s| s.character.is_some_and(|c| "„“”".contains(c)));
        let kind: &[u8] = if is_double { b"\"" } else { word };
        let count = self.counts.entry(kind).or_insert(0);
        match (czech, word) {
            (true, b"\xe2\x80\x9e") => *count = 0,
            (true, b"\xe2\x80\x9c") => *count = 1,
            _ => {}
        }
        let opens = count.is_multiple_of(2);
        if opens && possessive {
            return Attachment::Left;
        }
        *count += 1;
        if opens { Attachment::Right } else { Attachment::Left }
    }
}

/// Returns the line, padded with a space on each side, with entities decoded and ` @-@ ` replaced
/// by `-`.
fn unescape_line(line: &[u8]) -> Vec<u8> {
    const HYPHEN: &[u8] = b" @-@ ";
    let padded = [b" ", line, b" "].concat();
    let mut joined = Vec::with_capacity(padded.len());
    let mut rest = &padded[..];
    while let Some(at) = memchr::memmem::find(rest, HYPHEN) {
        joined.extend_from_slice(&rest[..at]);
        joined.push(b'-');
        rest = &rest[at + HYPHEN.len()..];
    }
    joined.extend_from_slice(rest);
    let mut text = Vec::with_capacity(joined.len());
    unescape_special_chars(&joined, &mut text);
    text
}

/// Whether a word is not empty and `accepts` all its characters.
fn consists_of_chars(word: &[u8], accepts: impl Fn(DecodedChar) -> bool) -> bool {
    !word.is_empty() && char_indices(word).all(|(_, symbol)| accepts(symbol))
}

/// Whether three words are the parts of a decimal number with a point or comma.
fn is_decimal(integer: &[u8], point: &[u8], fraction: &[u8]) -> bool {
    fn is_number(word: &[u8]) -> bool {
        !word.is_empty() && word.iter().all(u8::is_ascii_digit)
    }
    is_number(integer) && matches!(point, b"." | b",") && is_number(fraction)
}

/// Whether a word is a Finnish case ending, which follows an abbreviation and a colon:
/// `EU:ssa`.
fn is_finnish_case_ending(word: &[u8]) -> bool {
    // A case ending, then optionally a possessive suffix, then optionally a particle.
    const CASES: &str = "N n A a Ä ä ssa Ssa ssä Ssä sta stä Sta Stä hun Hun hyn Hyn han Han hän \
        Hän hön Hön un Un yn Yn an An än Än ön Ön seen Seen lla Lla llä Llä lta Lta ltä Ltä lle \
        Lle ksi Ksi kse Kse tta Tta ine Ine";
    const POSSESSIVES: [&str; 6] = ["", "ni", "si", "mme", "nne", "nsa"];
    const PARTICLES: [&str; 10] = ["", "ko", "kö", "han", "hän", "pa", "pä", "kaan", "kään", "kin"];
    CASES.split_ascii_whitespace().filter_map(|case| word.strip_prefix(case.as_bytes())).any(
        |rest| {
            POSSESSIVES
                .iter()
                .filter_map(|owner| rest.strip_prefix(owner.as_bytes()))
                .any(|rest| PARTICLES.iter().any(|particle| rest == particle.as_bytes()))
        },
    )
}

/// Whether a character is in one of the blocks of Unicode that Moses counts as Chinese, Japanese or
/// Korean.
fn is_east_asian(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x11ff
        | 0x2e80..=0xa4cf
        | 0xa840..=0xa87f
        | 0xac00..=0xd7af
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff65..=0xffdc
        | 0x2_0000..=0x2_ffff)
}

/// Capitalises the first letter after `start`, if only punctuation and white space come
/// before it.
fn capitalize_first_letter(text: &mut Vec<u8>, start: usize) {
    fn is_skipped(symbol: DecodedChar) -> bool {
        symbol.class().intersects(CharClass::SPACE) || symbol.character.is_some_and(is_punctuation)
    }
    let Some((at, letter)) = char_indices(&text[start..]).find(|&(_, symbol)| !is_skipped(symbol))
    else {
        return;
    };
    if letter.class().intersects(CharClass::ALPHABETIC) {
        let range = start + at..start + at + letter.byte_len;
        let mut capital = Vec::new();
        map_chars(&text[range.clone()], char::to_uppercase, &mut capital);
        text.splice(range, capital);
    }
}
