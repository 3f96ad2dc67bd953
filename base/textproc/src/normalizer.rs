//! The punctuation normaliser: one sign for what people type in many ways, as Moses'
//! `normalize-punctuation.perl` has it.
//!
//! Unlike the other scripts this one works on bytes, and its substitutions build on
//! each other: their order is what it does. So they stand here in that order, plain
//! replacements as pairs, and a substitution is tried only where a line has the byte
//! that it cannot do without.

use memchr::{memchr, memmem};

/// Makes punctuation uniform.
#[derive(Clone, Debug)]
pub struct Normalizer {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Replaces one piece of text by another.
    Replace(&'static [u8], &'static [u8]),
    /// Makes one space of several.
    SingleSpaces,
    /// Drops the space before a percent sign behind a digit.
    PercentSigns,
    /// Drops the space between a closing bracket and punctuation.
    BehindBrackets,
    /// Makes an apostrophe of a quotation mark between letters.
    Apostrophes(&'static [u8]),
    /// Moves commas and full stops into the quotation before them (English).
    IntoQuotations,
    /// Moves full stops out of the quotation that they end (most languages).
    OutOfQuotations,
    /// Puts this sign for a no-break space between digits.
    BetweenDigits(u8),
}

/// The no-break space.
const NO_BREAK: &[u8] = b"\xc2\xa0";

/// Until quotation marks, in pairs: what to replace by what.
const BEFORE_LETTERS: [(&str, &str); 10] = [
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

const BEHIND_LETTERS: [(&str, &str); 21] = [
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

impl Normalizer {
    /// A normaliser with the rules of `language`, named by two letters as in Moses.
    pub fn new(language: &str) -> Self {
        let pair = |&(from, to): &(&'static str, &'static str)| match from {
            "  " => Step::SingleSpaces,
            _ => Step::Replace(from.as_bytes(), to.as_bytes()),
        };
        let mut steps = vec![
            Step::Replace(b"\r", b""),
            Step::Replace(b"(", b" ("),
            Step::Replace(b")", b") "),
            Step::SingleSpaces,
            Step::BehindBrackets,
            Step::Replace(b"( ", b"("),
            Step::Replace(b" )", b")"),
            Step::PercentSigns,
        ];
        steps.extend(BEFORE_LETTERS.iter().map(pair));
        steps.extend([
            Step::Replace("´".as_bytes(), b"'"),
            Step::Apostrophes("‘".as_bytes()),
            Step::Apostrophes("’".as_bytes()),
        ]);
        steps.extend(BEHIND_LETTERS.iter().map(pair));
        match language {
            "en" => steps.push(Step::IntoQuotations),
            // Czech writes both.
            "cs" | "cz" => {}
            _ => steps.extend([Step::Replace(b",\"", b"\","), Step::OutOfQuotations]),
        }
        let point = if matches!(language, "de" | "es" | "cz" | "cs" | "fr") { b',' } else { b'.' };
        steps.push(Step::BetweenDigits(point));
        Normalizer { steps }
    }

    /// Appends `line` with its punctuation made uniform to `out`. A line has no line
    /// end.
    pub fn normalize(&self, line: &[u8], out: &mut Vec<u8>) {
        let mut present = [false; 256];
        for &byte in line {
            present[usize::from(byte)] = true;
        }
        let mut text = line.to_vec();
        for step in &self.steps {
            if !present[usize::from(step.needed())] {
                continue;
            }
            let mut changed = Vec::new();
            if step.apply(&text, &mut changed) {
                for &byte in step.brings() {
                    present[usize::from(byte)] = true;
                }
                text = changed;
            }
        }
        out.extend_from_slice(&text);
    }
}

impl Step {
    /// A byte without which the step changes nothing: the rarest it looks for.
    fn needed(&self) -> u8 {
        match self {
            Step::Replace(from, _) => *from.iter().rev().find(|&&b| b != b' ').unwrap_or(&b' '),
            Step::SingleSpaces => b' ',
            Step::PercentSigns => b'%',
            Step::BehindBrackets => b')',
            Step::Apostrophes(_) => 0xe2,
            Step::IntoQuotations | Step::OutOfQuotations => b'"',
            Step::BetweenDigits(_) => 0xc2,
        }
    }

    /// The bytes that a text may have behind the step and not before.
    fn brings(&self) -> &[u8] {
        match self {
            Step::Replace(_, to) => to,
            Step::Apostrophes(_) => b"'",
            Step::BetweenDigits(point) => std::slice::from_ref(point),
            _ => b"",
        }
    }

    /// Appends what the step makes of `text`, and whether that is another text; if
    /// not, `out` is of no use.
    fn apply(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        match *self {
            Step::Replace(from, to) => {
                replace(text, from, out, |_, _| Some(0), |out| out.extend_from_slice(to))
            }
            Step::SingleSpaces => single_spaces(text, out),
            Step::PercentSigns => replace(
                text,
                b" %",
                out,
                |left, _| ends_in(left, |b| b.is_ascii_digit()).then_some(0),
                |out| out.push(b'%'),
            ),
            Step::BehindBrackets => replace(
                text,
                b") ",
                out,
                |_, right| begins_with(right, |b| b".!:?;,".contains(&b)).then_some(1),
                |out| out.push(b')'),
            ),
            Step::Apostrophes(quotation) => {
                let letter = |b: u8| b.is_ascii_alphabetic();
                replace(
                    text,
                    quotation,
                    out,
                    |left, right| {
                        (ends_in(left, letter) && begins_with(right, letter)).then_some(1)
                    },
                    |out| out.push(b'\''),
                )
            }
            Step::BetweenDigits(point) => {
                let digit = |b: u8| b.is_ascii_digit();
                replace(
                    text,
                    NO_BREAK,
                    out,
                    |left, right| (ends_in(left, digit) && begins_with(right, digit)).then_some(1),
                    |out| out.push(point),
                )
            }
            Step::IntoQuotations => into_quotations(text, out),
            Step::OutOfQuotations => out_of_quotations(text, out),
        }
    }
}

fn ends_in(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    text.last().is_some_and(|&byte| is(byte))
}

fn begins_with(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    text.first().is_some_and(|&byte| is(byte))
}

/// Appends `text` with what `put` appends in place of each `from` whose surroundings
/// `fits` accepts, saying how many bytes behind it the match takes in: these are not
/// before the next one. Whether there was any.
fn replace(
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
        let Some(behind) = fits(&text[free..at], &text[end..]) else {
            next = at + 1;
            continue;
        };
        out.extend_from_slice(&text[copied..at]);
        put(out);
        (copied, free, next) = (end, end + behind, end + behind);
    }
    out.extend_from_slice(&text[copied..]);
    copied > 0
}

fn single_spaces(text: &[u8], out: &mut Vec<u8>) -> bool {
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

fn into_quotations(text: &[u8], out: &mut Vec<u8>) -> bool {
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

/// Dots before a quotation mark go behind it, unless markup follows at once. The match
/// takes in the white space that follows and the byte behind that.
fn out_of_quotations(text: &[u8], out: &mut Vec<u8>) -> bool {
    let is_space = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0x0b;
    let (mut copied, mut free, mut next) = (0, 0, 0);
    while let Some(at) = memchr(b'"', &text[next..]).map(|found| next + found) {
        next = at + 1;
        let dots = text[free..at].iter().rev().take_while(|&&byte| byte == b'.').count();
        let spaces = text[next..].iter().take_while(is_space).count();
        // Behind the last byte of a line is its end, which is no markup.
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
