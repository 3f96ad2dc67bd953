//! Tercom's normalisation and tokenisation.

use std::borrow::Cow;

use super::Ter;
use crate::python_text::lowercase_if;
use crate::tokenize::mteval13a::{
    is_splitting_punctuation, split_number_punctuation, unescape_entities,
};
use crate::tokenize::spacing::space_around;

/// Normalises a line according to `options`; words are separated by spaces.
pub(crate) fn tokenize<'a>(line: &'a str, options: &Ter) -> Cow<'a, str> {
    let mut line = lowercase_if(line, !options.case_sensitive);
    if options.normalized {
        line = Cow::Owned(normalize(&line));
        if options.asian_support {
            line = Cow::Owned(split_asian(&line));
        }
    }
    if options.no_punctuation {
        fn asian(c: char, options: &Ter) -> bool {
            options.asian_support && is_asian_punctuation(c)
        }
        let left_out = |c| ".,?:;!\"()".contains(c) || asian(c, options);
        line = Cow::Owned(line.chars().filter(|&c| !left_out(c)).collect());
    }
    line
}

/// Applies mteval's rules for western languages, with Tercom's rule for possessives between them.
fn normalize(line: &str) -> String {
    let line = space_around(&format!(" {} ", unescape_entities(line)), is_splitting_punctuation);
    split_number_punctuation(&line.replace("'s ", " 's "))
}

/// Splits ideographs and Asian punctuation into separate words. Kana stay together, because
/// Tercom's rule for them requires a line of only kana, and a normalised line begins with a space.
fn split_asian(line: &str) -> String {
    let line = space_around(line, is_ideograph);
    space_around(&line, is_asian_punctuation)
}

/// Whether a character is an ideograph. The last range is sacreBLEU's, although its comment says
/// U+3200 to U+32FF.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{2e80}'..='\u{2eff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{3200}'..='\u{4dbf}'
    )
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}'
        | '\u{3008}'..='\u{3011}'
        | '\u{3014}'..='\u{301f}'
        | '\u{ff61}'..='\u{ff65}'
        | '\u{30fb}'
        | '\u{ff0e}' | '\u{ff0c}' | '\u{ff1f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff01}' | '\u{ff02}'
        | '\u{ff08}' | '\u{ff09}'
    )
}
