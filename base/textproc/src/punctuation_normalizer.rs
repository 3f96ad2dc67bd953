//! Punctuation normaliser: one character for all variants of a mark, exactly like Moses'
//! `normalize-punctuation.perl`.
//!
//! Unlike Moses' other scripts, this one works on bytes. Its substitutions build on each other, so
//! they are listed here in the order of the script. A substitution is tried only if the line
//! contains the byte that it requires.

use memchr::{memchr, memmem};

/// The rules of one language for normalising punctuation.
///
/// # Examples
/// ```
/// use miriam_textproc::PunctuationNormalizer;
///
/// let mut text = Vec::new();
/// PunctuationNormalizer::new("en").normalize("“Wait…” said the dog’s owner".as_bytes(), &mut text);
/// assert_eq!(text, b"\"Wait...\" said the dog's owner");
/// ```
#[derive(Clone, Debug)]
pub struct PunctuationNormalizer {
    substitutions: Vec<Substitution>,
}

#[derive(Clone, Debug)]
enum Substitution {
    /// Replaces one string by another.
    Replace(&'static [u8], &'static [u8]),
    /// Collapses several spaces into one.
    CollapseSpaces,
    /// Drops the space between a digit and a percent sign.
    PercentSpacing,
    /// Drops the space between a closing bracket and punctuation.
    BracketSpacing,
    /// Turns a quotation mark between letters into an apostrophe.
    Apostrophes(&'static [u8]),
    /// Moves commas and full stops into the quotation before them (English).
    PunctuationIntoQuotes,
    /// Moves full stops out of the quotation that they end (most languages).
    FullStopsOutOfQuotes,
    /// Replaces a no-break space between digits by this byte.
    DigitSeparator(u8),
}

/// The no-break space.
const NO_BREAK_SPACE: &[u8] = b"\xc2\xa0";

/// The replacements that precede the substitution of apostrophes, in order: pattern and
/// replacement.
const REPLACEMENTS_BEFORE_APOSTROPHES: [(&str, &str); 10] = [
    (" :", ":"),
    (" ;", ";"),
    ("`", "'"),
    ("''", " \" "),
    ("„", "\""),
    ("“", "\""),
    ("”", "\""),
    ("–", "-"),
    ("—", " - "),
    ("  ", " "),
];

const REPLACEMENTS_AFTER_APOSTROPHES: [(&str, &str); 21] = [
    ("‘", "'"),
    ("‚", "'"),
    ("’", "\""),
    ("''", "\""),
    ("…", "..."),
    ("\u{a0}«\u{a0}", " \""),
    ("«\u{a0}", "\""),
    ("«", "\""),
    ("\u{a0}»\u{a0}", "\" "),
    ("\u{a0}»", "\""),
    ("»", "\""),
    ("\u{a0}%", "%"),
    ("nº\u{a0}", "nº "),
    ("\u{a0}:", ":"),
    ("\u{a0}ºC", " ºC"),
    ("\u{a0}cm", " cm"),
    ("\u{a0}?", "?"),
    ("\u{a0}!", "!"),
    ("\u{a0};", ";"),
    (",\u{a0}", ", "),
    ("  ", " "),
];

impl PunctuationNormalizer {
    /// Returns a normaliser with the rules of `language`, named by two letters as in Moses.
    pub fn new(language: &str) -> Self {
        fn pair(&(from, to): &(&'static str, &'static str)) -> Substitution {
            match from {
                "  " => Substitution::CollapseSpaces,
                _ => Substitution::Replace(from.as_bytes(), to.as_bytes()),
            }
        }
        let mut substitutions = vec![
            Substitution::Replace(b"\r", b""),
            Substitution::Replace(b"(", b" ("),
            Substitution::Replace(b")", b") "),
            Substitution::CollapseSpaces,
            Substitution::BracketSpacing,
            Substitution::Replace(b"( ", b"("),
            Substitution::Replace(b" )", b")"),
            Substitution::PercentSpacing,
        ];
        substitutions.extend(REPLACEMENTS_BEFORE_APOSTROPHES.iter().map(pair));
        substitutions.extend([
            Substitution::Replace("´".as_bytes(), b"'"),
            Substitution::Apostrophes("‘".as_bytes()),
            Substitution::Apostrophes("’".as_bytes()),
        ]);
        substitutions.extend(REPLACEMENTS_AFTER_APOSTROPHES.iter().map(pair));
        match language {
            "en" => substitutions.push(Substitution::PunctuationIntoQuotes),
            // Czech keeps full stops where they are.
            "cs" | "cz" => {}
            _ => substitutions.extend([
                Substitution::Replace(b",\"", b"\","),
                Substitution::FullStopsOutOfQuotes,
            ]),
        }
        let point = if matches!(language, "de" | "es" | "cz" | "cs" | "fr") { b',' } else { b'.' };
        substitutions.push(Substitution::DigitSeparator(point));
        PunctuationNormalizer { substitutions }
    }

    /// Normalises `line`, which has no line end, and appends the result to `out`.
    pub fn normalize(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut present = [false; 256];
        for &byte in line {
            present[usize::from(byte)] = true;
        }
        let mut text = line.to_vec();
        for step in &self.substitutions {
            if !present[usize::from(step.required_byte())] {
                continue;
            }
            let mut changed = Vec::new();
            if step.apply(&text, &mut changed) {
                for &byte in step.introduced_bytes() {
                    present[usize::from(byte)] = true;
                }
                text = changed;
            }
        }
        out.extend_from_slice(&text);
    }
}

impl Substitution {
    /// Returns a byte that a line must contain for a change, if possible one that is rare in text.
    fn required_byte(&self) -> u8 {
        match self {
            Substitution::Replace(from, _) => {
                *from.iter().rev().find(|&&b| b != b' ').unwrap_or(&b' ')
            }
            Substitution::CollapseSpaces => b' ',
            Substitution::PercentSpacing => b'%',
            Substitution::BracketSpacing => b')',
            Substitution::Apostrophes(_) => 0xe2,
            Substitution::PunctuationIntoQuotes | Substitution::FullStopsOutOfQuotes => b'"',
            Substitution::DigitSeparator(_) => 0xc2,
        }
    }

    /// Returns the bytes that the substitution may introduce.
    fn introduced_bytes(&self) -> &[u8] {
        match self {
            Substitution::Replace(_, to) => to,
            Substitution::Apostrophes(_) => b"'",
            Substitution::DigitSeparator(point) => std::slice::from_ref(point),
            _ => b"",
        }
    }

    /// Appends the result of the substitution in `text` to `out` and returns whether it may differ
    /// from `text`; if not, `out` is unspecified.
    fn apply(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        match *self {
            Substitution::Replace(from, to) => {
                replace_in_context(text, from, out, |_, _| Some(0), |out| out.extend_from_slice(to))
            }
            Substitution::CollapseSpaces => collapse_spaces(text, out),
            Substitution::PercentSpacing => replace_in_context(
                text,
                b" %",
                out,
                |left, _| ends_with_byte(left, |b| b.is_ascii_digit()).then_some(0),
                |out| out.push(b'%'),
            ),
            Substitution::BracketSpacing => replace_in_context(
                text,
                b") ",
                out,
                |_, right| starts_with_byte(right, |b| b".!:?;,".contains(&b)).then_some(1),
                |out| out.push(b')'),
            ),
            Substitution::Apostrophes(quotation) => {
                fn letter(b: u8) -> bool {
                    b.is_ascii_alphabetic()
                }
                replace_in_context(
                    text,
                    quotation,
                    out,
                    |left, right| {
                        (ends_with_byte(left, letter) && starts_with_byte(right, letter))
                            .then_some(1)
                    },
                    |out| out.push(b'\''),
                )
            }
            Substitution::DigitSeparator(point) => {
                fn digit(b: u8) -> bool {
                    b.is_ascii_digit()
                }
                replace_in_context(
                    text,
                    NO_BREAK_SPACE,
                    out,
                    |left, right| {
                        (ends_with_byte(left, digit) && starts_with_byte(right, digit)).then_some(1)
                    },
                    |out| out.push(point),
                )
            }
            Substitution::PunctuationIntoQuotes => move_punctuation_into_quotes(text, out),
            Substitution::FullStopsOutOfQuotes => move_full_stops_out_of_quotes(text, out),
        }
    }
}

fn ends_with_byte(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    text.last().is_some_and(|&byte| is(byte))
}

fn starts_with_byte(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    text.first().is_some_and(|&byte| is(byte))
}

/// Appends `text`, in which `put` writes a replacement for each `from` in a context that `fits`
/// accepts; returns whether there was one. `fits` gets the bytes before and after `from`. It
/// returns how many of the bytes after it the match consumes; these are not context of the next
/// match.
fn replace_in_context(
    text: &[u8],
    from: &[u8],
    out: &mut Vec<u8>,
    fits: impl Fn(&[u8], &[u8]) -> Option<usize>,
    put: impl Fn(&mut Vec<u8>),
) -> bool {
    let (mut copied, mut free, mut next) = (0, 0, 0);
    while let Some(found) = memmem::find(&text[next..], from) {
        let at = next + found;
        let end = at + from.len();
        let Some(consumed) = fits(&text[free..at], &text[end..]) else {
            next = at + 1;
            continue;
        };
        out.extend_from_slice(&text[copied..at]);
        put(out);
        (copied, free, next) = (end, end + consumed, end + consumed);
    }
    out.extend_from_slice(&text[copied..]);
    copied > 0
}

fn collapse_spaces(text: &[u8], out: &mut Vec<u8>) -> bool {
    if memmem::find(text, b"  ").is_none() {
        return false;
    }
    for &byte in text {
        if byte != b' ' || out.last() != Some(&b' ') {
            out.push(byte);
        }
    }
    true
}

fn move_punctuation_into_quotes(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut rest = text;
    while let Some(at) = memchr(b'"', rest) {
        let signs = rest[at + 1..].iter().take_while(|b| b",.".contains(b)).count();
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&rest[at + 1..=at + signs]);
        out.push(b'"');
        rest = &rest[at + 1 + signs..];
    }
    out.extend_from_slice(rest);
    true
}

/// Moves the dots before a quotation mark to the place after it, unless markup follows directly.
/// The match consumes the white space that follows and the byte after that, unless that byte
/// begins markup.
fn move_full_stops_out_of_quotes(text: &[u8], out: &mut Vec<u8>) -> bool {
    let (mut copied, mut free, mut next) = (0, 0, 0);
    while let Some(at) = memchr(b'"', &text[next..]).map(|found| next + found) {
        next = at + 1;
        let dots = text[free..at].iter().rev().take_while(|&&byte| byte == b'.').count();
        let spaces = text[next..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b)
            .count();
        // The last byte of a line is followed by its end, which is not markup.
        let markup = text.get(next + spaces) == Some(&b'<');
        if dots == 0 || markup && spaces == 0 {
            continue;
        }
        out.extend_from_slice(&text[copied..at - dots]);
        out.push(b'"');
        out.extend_from_slice(&text[at - dots..at]);
        copied = next;
        free = (next + spaces + usize::from(!markup)).min(text.len());
        next = free;
    }
    out.extend_from_slice(&text[copied..]);
    copied > 0
}
