//! Parser of the command line, by Moses' rules (`docs/spec/phrase-decoding.md` 1.2). An option
//! begins with one dash or two, and all tokens up to the next option are its values. A negative
//! number is a value. The values of an option replace those of the ini index by index.

use super::{Parameter, Parameters, supported_parameters};
use crate::{Error, Result};

/// Parses the tokens of a command line. Returns the options by their long names, with their values.
///
/// # Errors
/// If a token before the first option is not an option, or if an option is not supported or is
/// given twice with different values.
pub(super) fn parse(tokens: &[String]) -> Result<Parameters> {
    // For each option the long name, the token and the values.
    let mut options: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for token in tokens {
        if !is_option(token) {
            match options.last_mut() {
                Some((_, _, values)) => values.push(token.clone()),
                None => {
                    return Err(Error::usage(format!("{token:?} comes before the first option")));
                }
            }
            continue;
        }
        let option = token.strip_prefix("--").or(token.strip_prefix('-')).unwrap_or(token);
        // `--option=value` is accepted too, as in other programs.
        let (short_or_long, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let Some(name) = supported_parameters::long_name(short_or_long) else {
            let reason = supported_parameters::unsupported_message(token, short_or_long);
            return Err(Error::usage(reason));
        };
        options.push((name, token.as_str(), value.map(str::to_owned).into_iter().collect()));
    }
    let mut parameters = Parameters::default();
    for (name, token, values) in options {
        match parameters.get(name) {
            None => *parameters.values_mut(name) = values,
            // Scripts append options that a user gave them already.
            Some(earlier) if earlier == values.as_slice() => {}
            Some(_) => {
                return Err(Error::usage(format!("{token} is given twice, with different values")));
            }
        }
    }
    Ok(parameters)
}

/// Whether `token` begins with a dash, followed by a character other than a digit or a decimal
/// point. So `-` alone and negative numbers are values.
fn is_option(token: &str) -> bool {
    let mut letters = token.chars();
    letters.next() == Some('-') && letters.next().is_some_and(|c| !c.is_ascii_digit() && c != '.')
}

/// Overrides values of the ini by values of the command line, index by index. Further values of the
/// ini are kept, so an option without values keeps all of them. If the ini lacks its parameter, the
/// parameter is added without values.
pub(super) fn override_with(ini: &mut Parameters, command_line: Parameters) {
    for Parameter { name, values, .. } in command_line.list {
        ini.mark_overridden(&name, values.len());
        let slot = ini.values_mut(&name);
        for (i, value) in values.into_iter().enumerate() {
            match slot.get_mut(i) {
                Some(old) => *old = value,
                None => slot.push(value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn one_dash_or_two_short_or_long() {
        let parameters = parse(&tokens("-f a.ini --stack=100 -dl -1 -t -i -")).unwrap();
        assert_eq!(parameters.get("config").unwrap(), ["a.ini"]);
        assert_eq!(parameters.get("stack").unwrap(), ["100"]);
        assert_eq!(parameters.get("distortion-limit").unwrap(), ["-1"]);
        assert_eq!(parameters.get("report-segmentation").unwrap(), [""; 0]);
        assert_eq!(parameters.get("input-file").unwrap(), ["-"]);
    }

    #[test]
    fn complaints_name_the_option_and_what_is_supported() {
        let message = |text| parse(&tokens(text)).unwrap_err().to_string();
        let misspelt = message("-f a --stck 3");
        assert!(misspelt.ends_with("--stck is unknown; did you mean --stack?"), "{misspelt}");
        let valued = message("-f a --input-fil=input-fil.de");
        assert!(valued.ends_with("did you mean --input-file=input-fil.de?"), "{valued}");
        let unknown = message("-f a --wxyz 3");
        assert_eq!(unknown, "--wxyz is unknown; `miriam translate --help` lists all options");
        let end = message("-pop-limt 3");
        assert!(end.ends_with("did you mean -cube-pruning-pop-limit?"), "{end}");
        let short = message("-m model.npz");
        assert!(short.contains("-mark-unknown") && short.contains("--help"), "{short}");
        assert!(short.len() < 160, "{short}");
        assert!(message("a.ini").contains("a.ini"));
        assert!(message("-s 1 -stack 2").contains("twice"));
        assert!(message("-s 1 -s").contains("twice"));
    }

    /// Scripts append options that a user gave them already.
    #[test]
    fn an_option_may_be_repeated_with_the_same_values() {
        let parameters = parse(&tokens("-f a -s 1 -t -stack 1 -t -dl -1 -config a")).unwrap();
        assert_eq!(parameters.get("config").unwrap(), ["a"]);
        assert_eq!(parameters.get("stack").unwrap(), ["1"]);
        assert_eq!(parameters.get("report-segmentation").unwrap(), [""; 0]);
    }

    #[test]
    fn values_override_by_index() {
        let mut ini = Parameters::default();
        ini.values_mut("feature").extend(tokens("a b c"));
        override_with(&mut ini, parse(&tokens("-feature x -t")).unwrap());
        assert_eq!(ini.get("feature").unwrap(), ["x", "b", "c"]);
        assert!(ini.get("report-segmentation").is_some());
    }
}
