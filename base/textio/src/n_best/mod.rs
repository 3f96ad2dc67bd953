//! n-best lists: the fields of their lines, and a reader that returns a sentence at a time.
//!
//! Programs agree on `number ||| text ||| features ||| total` and differ in the rest: Moses writes
//! alignments after the total, Marian before the features, and old lists have features without
//! names. All commands find the fields here, so that they accept the same lists.

mod features;
mod reader;

use std::ops::Range;

use crate::fields::{find_separator, split_words, trim};

pub use features::{FeatureScheme, split_features, split_name_and_value};
pub use reader::{NBestEntry, NBestReader};

/// The form of a list, which depends on the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NBestForm {
    /// Our own lists without alignments: number, text, features, total. Any further `|||` belong
    /// to the text.
    Plain,
    /// Lists of any program. Alignments and word scores may come before the features, other fields
    /// after the total.
    Any,
}

/// The places of the fields of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct NBestFields {
    /// The number of the sentence, from 0.
    pub sentence: u64,
    /// The translation, without blanks around it.
    pub text: Range<usize>,
    /// The features, without blanks around them; `None` if the line ends after the translation.
    pub features: Option<Range<usize>>,
    /// The total, a finite number; `None` without one.
    pub total: Option<f64>,
    /// The number of the field of features, from 1; the total is in the next field.
    pub features_field: usize,
}

/// The expected form of an entry, for messages.
const EXPECTED: &str = "expected an entry of an n-best list, `number ||| translation ||| ...`";

impl NBestFields {
    /// Finds the fields of a line.
    ///
    /// # Errors
    /// The number of the invalid field, from 1, and the reason.
    pub fn parse(line: &[u8], form: NBestForm) -> Result<Self, (usize, String)> {
        let fields = field_ranges(line);
        if fields.len() < 2 {
            return Err((2, EXPECTED.to_owned()));
        }
        let sentence = std::str::from_utf8(&line[fields[0].clone()])
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| {
                (1, format!("{EXPECTED}: sentences are numbered from 0, in the first field"))
            })?;
        let features = find_features(line, &fields, form);
        let mut end = features.unwrap_or(fields.len());
        if form == NBestForm::Any {
            if end > 2 && line[fields[end - 1].clone()].starts_with(b"WordScores=") {
                end -= 1;
            }
            if end > 2 && split_words(&line[fields[end - 1].clone()]).all(is_alignment) {
                end -= 1;
            }
        }
        let text = trimmed(line, fields[1].start..fields[end - 1].end);
        let total = features.and_then(|field| fields.get(field + 1));
        Ok(NBestFields {
            sentence,
            text,
            features: features.map(|field| fields[field].clone()),
            total: total.and_then(|total| parse_number(&line[total.clone()])),
            features_field: features.unwrap_or(fields.len()) + 1,
        })
    }

    /// Appends `line`, whose fields are `self`, to `out`. Adds `features` after the features of the
    /// line. Replaces the total of the line by `total` if both exist.
    pub fn push_changed(
        &self,
        line: &[u8],
        features: &[u8],
        total: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) {
        let end = self.features.as_ref().map_or(self.text.end, |range| range.end);
        out.extend_from_slice(&line[..end]);
        if self.features.is_none() {
            // Between two separators there is a space for each, as Moses writes them.
            let separator: &[u8] = if self.text.is_empty() { b"  |||" } else { b" |||" };
            out.extend_from_slice(separator);
        }
        if !features.is_empty() {
            out.push(b' ');
            out.extend_from_slice(features);
        }
        let rest = line[end..].strip_suffix(b"\r").unwrap_or(&line[end..]);
        let after = find_separator(rest).unwrap_or(rest.len());
        let (rest, total) = match (total, self.total) {
            (Some(new), Some(_)) if after < rest.len() => {
                let old = &rest[after + 3..];
                (&old[find_separator(old).unwrap_or(old.len())..], Some(new))
            }
            _ => (&rest[after..], None),
        };
        if let Some(total) = total {
            out.extend_from_slice(b" ||| ");
            out.extend_from_slice(total);
        }
        if !rest.is_empty() {
            out.push(b' ');
            out.extend_from_slice(rest);
        }
    }
}

/// Returns the ranges of all fields, trimmed.
fn field_ranges(line: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while let Some(at) = find_separator(&line[start..]) {
        ranges.push(trimmed(line, start..start + at));
        start += at + 3;
    }
    ranges.push(trimmed(line, start..line.len()));
    ranges
}

fn trimmed(line: &[u8], range: Range<usize>) -> Range<usize> {
    let field = &line[range.clone()];
    let kept = trim(field);
    let skipped = field.iter().position(|byte| kept.first() == Some(byte));
    let start = range.start + skipped.filter(|_| !kept.is_empty()).unwrap_or(0);
    start..start + kept.len()
}

/// Returns the index of the field of features, at least 2; `None` if the line has none.
fn find_features(line: &[u8], fields: &[Range<usize>], form: NBestForm) -> Option<usize> {
    let field = |index: usize| &line[fields[index].clone()];
    let count = fields.len();
    // A total that is not finite is an error of its own, not a reason to look elsewhere.
    let before_total = |index: usize| {
        index + 1 == count || (index + 1 < count && parse_any_number(field(index + 1)).is_some())
    };
    if count == 2 {
        return None;
    }
    if form == NBestForm::Any {
        let named = (2..count).rev().find(|&i| has_names(field(i)) && before_total(i));
        let unnamed = || {
            (2..count - 1).rev().find(|&i| {
                split_words(field(i)).all(|word| parse_number(word).is_some()) && before_total(i)
            })
        };
        if let Some(index) = named.or_else(unnamed) {
            return Some(index);
        }
    }
    Some((count - 2).max(2))
}

/// Whether a field has the name of a feature: `LM0=`, or `lm:` in old lists.
fn has_names(field: &[u8]) -> bool {
    !field.starts_with(b"WordScores=")
        && split_words(field).any(|word| word.len() > 1 && features::is_name(word))
}

/// Parses a finite number.
fn parse_number(field: &[u8]) -> Option<f64> {
    parse_any_number(field).filter(|number| number.is_finite())
}

/// Parses a number, which may be infinite or NaN.
fn parse_any_number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Whether a word is a link, `3-2`, or the weights of a soft alignment, `0.25,0.75`.
fn is_alignment(word: &[u8]) -> bool {
    word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b',' | b'.' | b'e'))
        && (word.contains(&b'-') || word.contains(&b','))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The translation, the features and the total.
    type Parts = (String, Option<String>, Option<f64>);

    fn parts(line: &str) -> Result<Parts, (usize, String)> {
        let fields = NBestFields::parse(line.as_bytes(), NBestForm::Any)?;
        let features = fields.features.map(|range| line[range].to_owned());
        Ok((line[fields.text].to_owned(), features, fields.total))
    }

    #[test]
    fn fields_of_all_programs_are_found() {
        for (line, text, features, total) in [
            ("0 ||| a b ||| LM0= -1 -2 ||| -3 ||| 0-0 1=1", "a b", "LM0= -1 -2", Some(-3.0)),
            ("0 ||| a b ||| d: -1 lm: -2 ||| -3", "a b", "d: -1 lm: -2", Some(-3.0)),
            ("0 ||| a b ||| -1 -2 ||| -3 ||| 0-0", "a b", "-1 -2", Some(-3.0)),
            ("0 ||| a b ||| 0-0 ||| WordScores= -1 ||| F0= -1 ||| -1", "a b", "F0= -1", Some(-1.0)),
            ("0 |||  ||| 1 ||| F0= 0 ||| 0", "||| 1", "F0= 0", Some(0.0)),
            ("0 ||| a ||| F0= -1", "a", "F0= -1", None),
            ("0 ||| a |||  ||| 2", "a", "", Some(2.0)),
            ("7|||a||| x= 1|||1", "a", "x= 1", Some(1.0)),
            ("0 ||| a ||| LM0= -1 ||| -inf ||| 0-0", "a", "LM0= -1", None),
            ("0 ||| a ||| b 1 ||| F0= -1 ||| -1", "a ||| b 1", "F0= -1", Some(-1.0)),
        ] {
            let expected = (text.to_owned(), Some(features.to_owned()), total);
            assert_eq!(parts(line), Ok(expected), "{line}");
        }
        assert_eq!(parts("3 ||| a b"), Ok(("a b".into(), None, None)));
    }

    #[test]
    fn invalid_fields_are_named() {
        for (line, field) in
            [("", 2), ("a b", 2), ("x ||| a", 1), ("-1 ||| a ||| b", 1), ("|||", 1)]
        {
            assert_eq!(parts(line).unwrap_err().0, field, "{line}");
        }
    }

    #[test]
    fn features_are_added_before_the_total() {
        let changed = |line: &str, total: Option<&str>| {
            let fields = NBestFields::parse(line.as_bytes(), NBestForm::Any).unwrap();
            let mut out = Vec::new();
            fields.push_changed(line.as_bytes(), b"N= 1", total.map(str::as_bytes), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            changed("3 ||| a b ||| WordScores= -1 ||| F0= -2  ||| -2", None),
            "3 ||| a b ||| WordScores= -1 ||| F0= -2 N= 1 ||| -2"
        );
        assert_eq!(
            changed("3 ||| a b ||| LM0= -2 ||| -2 ||| 0-0", Some("-1.5")),
            "3 ||| a b ||| LM0= -2 N= 1 ||| -1.5 ||| 0-0"
        );
        assert_eq!(changed("0 |||  ||| lm: -1", Some("3")), "0 |||  ||| lm: -1 N= 1");
        assert_eq!(changed("0 ||| a\r", None), "0 ||| a ||| N= 1");
        assert_eq!(changed("0 ||| ", None), "0 |||  ||| N= 1");
        assert_eq!(changed("0 ||| a |||  ||| -2", Some("3")), "0 ||| a ||| N= 1 ||| 3");
    }

    proptest! {
        /// Any bytes give fields in order, or an error; a line that is written again keeps its
        /// fields.
        #[test]
        fn lines_keep_their_fields(line in "[01]? ?(\\|\\|\\|[ a=1:.-]{0,6}){0,6}\r?") {
            let bytes = line.as_bytes();
            for form in [NBestForm::Plain, NBestForm::Any] {
                let Ok(fields) = NBestFields::parse(bytes, form) else { continue };
                let features = fields.features.clone().unwrap_or(fields.text.end..fields.text.end);
                prop_assert!(fields.text.end <= features.start && features.end <= bytes.len());
                let mut out = Vec::new();
                fields.push_changed(bytes, b"", None, &mut out);
                let again = NBestFields::parse(&out, form).unwrap();
                prop_assert_eq!(again.total, fields.total);
                prop_assert_eq!(&out[again.text], &bytes[fields.text]);
                prop_assert_eq!(&out[again.features.unwrap()], &bytes[features]);
            }
        }
    }
}
