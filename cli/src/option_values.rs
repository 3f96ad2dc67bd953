//! The values of options: names from a list, and numbers.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns a parser for the names of `choices`, each with its help text, which may be empty, and
/// its value.
pub fn choices<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(&str, &str, T)> = choices.into_iter().collect();
    let values = choices.iter().map(|(name, help, _)| match *help {
        "" => PossibleValue::new(*name),
        help => PossibleValue::new(*name).help(help),
    });
    PossibleValuesParser::new(values).map(move |name| {
        let found = choices.iter().find(|(known, ..)| *known == name);
        found.expect("the parser knows the names").2.clone()
    })
}

/// Parses a number that is valid; `expected` describes those.
pub fn parse_number<T: FromStr + Copy>(
    text: &str,
    is_valid: impl Fn(T) -> bool,
    expected: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|&number| is_valid(number));
    number.ok_or_else(|| format!("expected {expected}"))
}
