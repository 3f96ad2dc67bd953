//! Configuration of a phrase-based system from a command line.

use std::path::Path;

use miriam_decoder::{Configuration, Error};

use crate::model_kind::{ModelKind, explain_wrong_kind};

/// Reads the configuration that `tokens`, the options of a command line, describe. If they name a
/// model of another kind in the place of a moses.ini, the error says so.
pub fn read_configuration(tokens: &[String]) -> anyhow::Result<Configuration> {
    explain(Configuration::from_command_line(tokens), find_ini(tokens))
}

/// Works like [`read_configuration`], for the ini or the folder `ini`, whose name may have any
/// bytes. `defaults` are for options that neither `options` nor the ini have.
pub fn read_configuration_from_ini(
    ini: &Path,
    options: &[String],
    defaults: &[(&str, &str)],
) -> anyhow::Result<Configuration> {
    explain(Configuration::from_ini_and_options_or(ini, options, defaults), Some(ini))
}

fn explain(
    configuration: Result<Configuration, Error>,
    ini: Option<&Path>,
) -> anyhow::Result<Configuration> {
    configuration.map_err(|error| match ini {
        // A usage error is about the command line, whatever the file is.
        Some(ini) if !matches!(error, Error::Usage { .. }) => {
            explain_wrong_kind(error, ini, ModelKind::PhraseSystem)
        }
        _ => error.into(),
    })
}

/// Returns the file that `tokens` name as the ini: `-f FILE` or `-f=FILE`, or the same with
/// `config`, and with one dash or two.
fn find_ini(tokens: &[String]) -> Option<&Path> {
    tokens.iter().enumerate().find_map(|(index, token)| {
        let option = token.strip_prefix('-')?;
        let option = option.strip_prefix('-').unwrap_or(option);
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, tokens.get(index + 1).map(String::as_str)),
        };
        value.filter(|_| matches!(name, "f" | "config")).map(Path::new)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ini_is_found_in_every_form_of_the_option() {
        for form in ["-f a.ini", "-f=a.ini", "--config a.ini", "-config a.ini", "--config=a.ini"] {
            let tokens: Vec<String> =
                format!("-v 0 {form} -s 5").split(' ').map(str::to_owned).collect();
            assert_eq!(find_ini(&tokens), Some(Path::new("a.ini")), "{form}");
        }
        for other in ["-v=f", "f a.ini", "-feature a.ini", "-f"] {
            let tokens: Vec<String> = other.split(' ').map(str::to_owned).collect();
            assert_eq!(find_ini(&tokens), None, "{other}");
        }
    }
}
