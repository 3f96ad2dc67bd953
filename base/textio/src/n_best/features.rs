//! Named features of n-best lists, and their order in a list.
//!
//! In `LM0= -2 TM0= -1 -3`, the feature `LM0` has one value and `TM0` has two. Joshua and cdec
//! write `LM=-2 TM=-1`. All entries of a list must have the features of its first entry in the same
//! order, because each weight belongs to a position.

use crate::fields::split_words;

/// Whether a word is the name of a feature: it does not begin with a digit, and ends in `=`, or in
/// `:` as in old lists.
pub(super) fn is_name(word: &[u8]) -> bool {
    matches!(word, [first, .., b'=' | b':'] if !first.is_ascii_digit())
}

/// Splits `NAME=VALUE`, as Joshua and cdec write a feature, at the last `=`: a name may contain
/// `=`, a value does not. Returns `None` for other words.
pub fn split_name_and_value(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(b'=', word)?;
    let (name, value) = (&word[..at], &word[at + 1..]);
    let is_feature = !value.is_empty() && matches!(name, [first, ..] if !first.is_ascii_digit());
    is_feature.then_some((name, value))
}

/// Returns each value in a field of features: the name of its feature, without `=`, and its text. A
/// value without a feature has an empty name.
pub fn split_features(field: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut name: &[u8] = b"";
    split_words(field).filter_map(move |word| {
        if is_name(word) {
            name = &word[..word.len() - 1];
            return None;
        }
        Some(split_name_and_value(word).unwrap_or((name, word)))
    })
}

/// The features of a list, each with its number of values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureScheme {
    features: Vec<(Vec<u8>, usize)>,
    num_values: usize,
}

impl FeatureScheme {
    /// Returns the scheme of the features in a field.
    pub fn new(field: &[u8]) -> Self {
        let mut scheme = FeatureScheme::default();
        for (name, _) in split_features(field) {
            scheme.num_values += 1;
            match scheme.features.last_mut() {
                Some((last, count)) if last == name => *count += 1,
                _ => scheme.features.push((name.to_vec(), 1)),
            }
        }
        scheme
    }

    /// Returns the features with their numbers of values.
    pub fn features(&self) -> impl Iterator<Item = (&[u8], usize)> {
        self.features.iter().map(|(name, count)| (&name[..], *count))
    }

    /// Returns the number of values of an entry.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Appends the values in a field to `values`.
    ///
    /// # Errors
    /// If the features differ from those of the scheme, or a value is not a finite number.
    pub fn parse_values(&self, field: &[u8], values: &mut Vec<f32>) -> Result<(), String> {
        let mut expected =
            self.features.iter().flat_map(|(name, count)| std::iter::repeat_n(&name[..], *count));
        for (name, text) in split_features(field) {
            let wanted = expected.next();
            if wanted != Some(name) {
                return Err(format!(
                    "expected {}, found {}: every entry must have the features of the first one",
                    wanted.map_or("the end of the features".into(), describe_value),
                    describe_value(name)
                ));
            }
            let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f32>().ok());
            let Some(value) = value.filter(|value| value.is_finite()) else {
                return Err(format!(
                    "{}: {} is not a finite number",
                    describe_value(name),
                    quoted(text)
                ));
            };
            values.push(value);
        }
        match expected.next() {
            None => Ok(()),
            Some(name) => Err(format!(
                "{} is missing: every entry must have the features of the first one",
                describe_value(name)
            )),
        }
    }
}

/// Describes a value of the feature `name` for messages.
fn describe_value(name: &[u8]) -> String {
    match name {
        b"" => "a value without the name of a feature".into(),
        name => format!("a value of feature {}", quoted(name)),
    }
}

fn quoted(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_belong_to_names() {
        let scheme = FeatureScheme::new(b"LM0= -2  TM0= -1 3e0");
        let features: Vec<_> = scheme.features().collect();
        assert_eq!(features, [(&b"LM0"[..], 1), (b"TM0", 2)]);
        let mut values = Vec::new();
        scheme.parse_values(b"LM0= 1 TM0= 2 -3.5", &mut values).unwrap();
        assert_eq!(values, [1.0, 2.0, -3.5]);
        for (field, reason) in [
            ("LM0= 1 TM0= 2", "a value of feature \"TM0\" is missing"),
            ("LM0= 1 TM0= 2 3 4", "expected the end of the features"),
            ("LM0= 1 2 TM0= 3", "expected a value of feature \"TM0\", found a value of"),
            ("LM0= x TM0= 2 3", "\"x\" is not a finite number"),
            ("LM0= nan TM0= 2 3", "\"nan\" is not a finite number"),
            ("1 2 3", "found a value without the name of a feature"),
        ] {
            let error = scheme.parse_values(field.as_bytes(), &mut Vec::new()).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn unnamed_values_and_old_names_are_features() {
        assert_eq!(FeatureScheme::new(b"-1 -2").features().collect::<Vec<_>>(), [(&b""[..], 2)]);
        let old = FeatureScheme::new(b"d: 0 lm: -1");
        assert_eq!(old.features().collect::<Vec<_>>(), [(&b"d"[..], 1), (b"lm", 1)]);
        assert_eq!(FeatureScheme::new(b"").num_values(), 0);
    }

    #[test]
    fn names_and_values_may_be_one_word() {
        let scheme = FeatureScheme::new(b"lm_0=-3.03 tm_pt_0=1e-3 A=B=2");
        let features: Vec<_> = scheme.features().collect();
        assert_eq!(features, [(&b"lm_0"[..], 1), (b"tm_pt_0", 1), (b"A=B", 1)]);
        let mut values = Vec::new();
        scheme.parse_values(b"lm_0=-2 tm_pt_0=.5 A=B=-1", &mut values).unwrap();
        assert_eq!(values, [-2.0, 0.5, -1.0]);
    }
}
