//! The detokeniser: tokens back into text that reads well, as Moses'
//! `detokenizer.perl` has it.
//!
//! Signs are glued to the word before them, the word behind them or both, by what
//! they are and by the language. The input is read at single spaces; where two follow
//! each other the script sees an empty word, and so do we.

use crate::characters::{
    Kinds, Symbol, first, first_kinds, is_blank, is_punctuation, last, last_kinds, map_characters,
    symbols,
};
use crate::escape::unescape;

/// Makes text of the tokens of one language.
#[derive(Clone, Debug)]
pub struct Detokenizer {
    language: Language,
    capitalize: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Czech,
    English,
    Finnish,
    French,
    Italian,
    Korean,
    Other,
}

/// Where a word goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Glue {
    /// To nothing: a space before it and behind it.
    None,
    /// To the word before it.
    Left,
    /// To the word behind it.
    Right,
}

/// Tells opening from closing quotation marks by counting, each kind for itself.
#[derive(Default)]
struct Quotations<'a> {
    counts: Vec<(&'a [u8], u32)>,
}

impl Detokenizer {
    /// A detokeniser with the rules of `language`, named by two letters as in Moses;
    /// cs, en, fi, fr, it and ko have some of their own.
    pub fn new(language: &str) -> Self {
        let language = match language {
            "cs" => Language::Czech,
            "en" => Language::English,
            "fi" => Language::Finnish,
            "fr" => Language::French,
            "it" => Language::Italian,
            "ko" => Language::Korean,
            _ => Language::Other,
        };
        Detokenizer { language, capitalize: false }
    }

    /// Writes the first letter of a line in upper case (`-u`).
    pub fn capitalize(self, capitalize: bool) -> Self {
        Detokenizer { capitalize, ..self }
    }

    /// Appends the text of the tokens in `line` to `out`. A line has no line end. Blank
    /// lines and lines of markup alone, from `<` to `>`, stay as they are.
    pub fn detokenize(&self, line: &[u8], out: &mut Vec<u8>) {
        let markup = line.len() > 2 && line.starts_with(b"<") && line.ends_with(b">");
        if markup || is_blank(line) {
            out.extend_from_slice(line);
            return;
        }
        let text = plain_text(line);
        let joined = self.join(&text);
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

    /// The words with spaces between those that are not glued together.
    fn join(&self, text: &[u8]) -> Vec<u8> {
        let mut words: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
        while words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
        let mut out = Vec::with_capacity(text.len());
        let mut quotations = Quotations::default();
        let mut space = true;
        let mut i = 0;
        while i < words.len() {
            let glue = self.glue(&words, i, &mut quotations);
            // Punctuation with two parts has a space before it in French.
            let french = self.language == Language::French
                && glue == Glue::Left
                && matches!(words[i], [b'?' | b'!' | b':' | b';' | b'\\' | b'%']);
            if french || space && glue != Glue::Left {
                out.push(b' ');
            }
            match self.language {
                Language::Finnish if glue == Glue::Left && is_case_ending(words[i]) => {
                    map_characters(words[i], char::to_lowercase, &mut out);
                }
                _ => out.extend_from_slice(words[i]),
            }
            space = glue != Glue::Right;
            if self.is_hyphenated(&words, i) && glue == Glue::Right {
                i += 1;
                out.extend_from_slice(words[i]);
            }
            i += 1;
        }
        out
    }

    fn glue<'a>(&self, words: &[&'a [u8]], i: usize, quotations: &mut Quotations<'a>) -> Glue {
        let word = words[i];
        let before = if i > 0 { words[i - 1] } else { b"" };
        if first(word).and_then(|symbol| symbol.character).is_some_and(is_east_asian) {
            let continues = last(before).and_then(|s| s.character).is_some_and(is_east_asian);
            return if continues && self.language != Language::Korean {
                Glue::Left
            } else {
                Glue::None
            };
        }
        if consists_of(word, |symbol| {
            symbol.kinds().is(Kinds::CURRENCY)
                || symbol.character.is_some_and(|c| "([{¿¡".contains(c))
        }) {
            return Glue::Right;
        }
        if !word.is_empty() && word.iter().all(|byte| b",.?!:;\\%}])".contains(byte)) {
            return Glue::Left;
        }
        let letter_at = |word: &[u8], at: usize| {
            word.get(at..).is_some_and(|rest| first_kinds(rest).is(Kinds::ALPHABETIC))
        };
        match self.language {
            Language::English
                if word.starts_with(b"'")
                    && letter_at(word, 1)
                    && last_kinds(before).is(Kinds::ALPHANUMERIC) =>
            {
                return Glue::Left;
            }
            Language::Czech if i > 1 && is_decimal(words[i - 2], before, word) => {
                return Glue::Left;
            }
            Language::French | Language::Italian
                if word.strip_suffix(b"'").is_some_and(|w| last_kinds(w).is(Kinds::ALPHABETIC))
                    && words.get(i + 1).is_some_and(|next| letter_at(next, 0)) =>
            {
                return Glue::Right;
            }
            _ => {}
        }
        if self.is_hyphenated(words, i) {
            return Glue::Right;
        }
        if consists_of(word, |symbol| symbol.character.is_some_and(|c| "'\"„“`".contains(c))) {
            let possessive =
                self.language == Language::English && word == b"'" && before.ends_with(b"s");
            return quotations.glue(word, self.language == Language::Czech, possessive);
        }
        // The script takes the last word for what is before the first.
        let before = if i > 0 { before } else { words.last().copied().unwrap_or_default() };
        if self.language == Language::Finnish && before.ends_with(b":") && is_case_ending(word) {
            return Glue::Left;
        }
        Glue::None
    }

    /// Whether a Czech word, a dash and what belongs behind it begin at `i`: `bude-li`,
    /// `e-mail`.
    fn is_hyphenated(&self, words: &[&[u8]], i: usize) -> bool {
        let &[word, dash, end, _, ..] = &words[i..] else { return false };
        self.language == Language::Czech
            && last_kinds(word).is(Kinds::ALPHABETIC)
            && matches!(dash, b"-" | b"\xe2\x80\x93")
            && (end.eq_ignore_ascii_case(b"li")
                || end.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"mail")))
    }
}

impl<'a> Quotations<'a> {
    /// Where the quotation mark `word` goes. In Czech the marks themselves say so for
    /// the most part. An apostrophe that ends a possessive is no mark.
    fn glue(&mut self, word: &'a [u8], czech: bool, possessive: bool) -> Glue {
        let is_double = consists_of(word, |s| s.character.is_some_and(|c| "„“”".contains(c)));
        let kind: &[u8] = if is_double { b"\"" } else { word };
        let place = self.counts.iter().position(|&(known, _)| known == kind);
        let place = place.unwrap_or_else(|| {
            self.counts.push((kind, 0));
            self.counts.len() - 1
        });
        let count = &mut self.counts[place].1;
        match (czech, word) {
            (true, b"\xe2\x80\x9e") => *count = 0,
            (true, b"\xe2\x80\x9c") => *count = 1,
            _ => {}
        }
        let opens = count.is_multiple_of(2);
        if opens && possessive {
            return Glue::Left;
        }
        *count += 1;
        if opens { Glue::Right } else { Glue::Left }
    }
}

/// A line between spaces without entities and without the marks of split hyphens.
fn plain_text(line: &[u8]) -> Vec<u8> {
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
    unescape(&joined, &mut text);
    text
}

/// Whether a word has characters and all of them are of a kind.
fn consists_of(word: &[u8], is: impl Fn(Symbol) -> bool) -> bool {
    !word.is_empty() && symbols(word).all(|(_, symbol)| is(symbol))
}

/// Whether three words are a number with a point or comma.
fn is_decimal(whole: &[u8], point: &[u8], fraction: &[u8]) -> bool {
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    is_number(whole) && matches!(point, b"." | b",") && is_number(fraction)
}

/// Whether a word is an ending of Finnish nouns, which follows a colon at abbreviations:
/// `EU:ssa`.
fn is_case_ending(word: &[u8]) -> bool {
    // A case, then an owner, then a particle, of which the latter two may lack.
    const CASES: &str = "N n A a Ä ä ssa Ssa ssä Ssä sta stä Sta Stä hun Hun hyn Hyn han Han hän \
        Hän hön Hön un Un yn Yn an An än Än ön Ön seen Seen lla Lla llä Llä lta Lta ltä Ltä lle \
        Lle ksi Ksi kse Kse tta Tta ine Ine";
    const OWNERS: [&str; 6] = ["", "ni", "si", "mme", "nne", "nsa"];
    const PARTICLES: [&str; 10] = ["", "ko", "kö", "han", "hän", "pa", "pä", "kaan", "kään", "kin"];
    let behind_case = |case: &str| word.strip_prefix(case.as_bytes());
    CASES.split_ascii_whitespace().filter_map(behind_case).any(|rest| {
        OWNERS
            .iter()
            .filter_map(|owner| rest.strip_prefix(owner.as_bytes()))
            .any(|rest| PARTICLES.iter().any(|particle| rest == particle.as_bytes()))
    })
}

/// Whether a character is of the scripts of East Asia that write no spaces, or of
/// Korean, by Unicode's blocks.
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

/// Makes the first letter of what follows `start` a capital one, if only punctuation
/// and white space stand before it.
fn capitalize_first_letter(text: &mut Vec<u8>, start: usize) {
    let passed = |symbol: crate::characters::Symbol| {
        symbol.kinds().is(Kinds::SPACE) || symbol.character.is_some_and(is_punctuation)
    };
    let Some((at, letter)) = symbols(&text[start..]).find(|&(_, symbol)| !passed(symbol)) else {
        return;
    };
    if letter.kinds().is(Kinds::ALPHABETIC) {
        let place = start + at..start + at + letter.length;
        let mut capital = Vec::new();
        map_characters(&text[place.clone()], char::to_uppercase, &mut capital);
        text.splice(place, capital);
    }
}
