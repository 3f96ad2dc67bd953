//! Parsers of numbers in options: values out of range are usage errors.

use std::ops::RangeInclusive;

use clap::builder::TypedValueParser;
use miriam_nmt::DecoderConfig;

use crate::option_values::parse_number;

/// The largest length that is accepted.
const MAX_LENGTH: usize = 1_000_000;

/// Parses an integer in a range.
fn integer_in(range: RangeInclusive<usize>) -> impl TypedValueParser<Value = usize> {
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
    }
}

/// Parses a beam size or a length of n-best lists.
pub fn beam_size() -> impl TypedValueParser<Value = usize> {
    integer_in(DecoderConfig::BEAM_SIZES)
}

/// Parses a number of sentences or batches.
pub fn batch_size() -> impl TypedValueParser<Value = usize> {
    integer_in(DecoderConfig::BATCH_SIZES)
}

/// Parses a number of tokens of a sentence, at least 1.
pub fn length() -> impl TypedValueParser<Value = usize> {
    integer_in(1..=MAX_LENGTH)
}

/// Parses a number of tokens, or 0.
pub fn length_or_zero() -> impl TypedValueParser<Value = usize> {
    integer_in(0..=MAX_LENGTH)
}

fn parse_float(text: &str, is_right: impl Fn(f32) -> bool, wanted: &str) -> Result<f32, String> {
    parse_number(text, |number: f32| number.is_finite() && is_right(number), wanted)
}

/// Parses a finite number.
pub fn finite(text: &str) -> Result<f32, String> {
    parse_float(text, |_| true, "a number")
}

/// Parses a number above 0.
pub fn positive(text: &str) -> Result<f32, String> {
    parse_float(text, |number| number > 0.0, "a number above 0")
}

/// Parses a number that is not below 0.
pub fn non_negative(text: &str) -> Result<f32, String> {
    parse_float(text, |number| number >= 0.0, "a number from 0 on")
}

/// Parses a probability mass above 0.
pub fn probability_mass(text: &str) -> Result<f32, String> {
    parse_float(text, |number| number > 0.0 && number <= 1.0, "a number above 0, at most 1")
}

/// Parses a probability below 1.
pub fn min_probability(text: &str) -> Result<f32, String> {
    parse_float(text, |number| (0.0..1.0).contains(&number), "a number from 0 on, below 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_bounds() {
        for wrong in ["nan", "inf", "-inf", "x", ""] {
            for parse in [finite, positive, non_negative, probability_mass, min_probability] {
                assert!(parse(wrong).is_err(), "{wrong}");
            }
        }
        assert_eq!((finite("-1"), non_negative("0")), (Ok(-1.0), Ok(0.0)));
        assert_eq!((probability_mass("1"), min_probability("0")), (Ok(1.0), Ok(0.0)));
        assert!(positive("0").is_err() && non_negative("-1").is_err());
        assert!(probability_mass("0").is_err() && probability_mass("1.5").is_err());
        assert!(min_probability("1").is_err());
    }
}
