//! Configuration of a phrase-based system from a command line.

use std::path::Path;

use miriam_decoder::{Configuration, Error};

use crate::model_kind::{ModelKind, explain_wrong_kind};

/// Reads the configuration of `tokens`. If they name a model of another kind, the error says so.
pub fn read_configuration(tokens: &[String]) -> anyhow::Result<Configuration> {
    read_configuration_or(tokens, &[])
}

/// Works like [`read_configuration`], with `defaults` for options that neither tokens nor the ini
/// have.
pub fn read_configuration_or(
    tokens: &[String],
    defaults: &[(&str, &str)],
) -> anyhow::Result<Configuration> {
    Configuration::from_command_line_or(tokens, defaults).map_err(|error| match find_ini(tokens) {
        Some(ini) if !matches!(error, Error::Usage { .. }) => {
            explain_wrong_kind(error, ini, ModelKind::PhraseSystem)
        }
        _ => error.into(),
    })
}

/// Returns the ini that the tokens name.
fn find_ini(tokens: &[String]) -> Option<&Path> {
    let at = tokens.iter().position(|token| {
        token.starts_with('-') && matches!(token.trim_start_matches('-'), "f" | "config")
    })?;
    tokens.get(at + 1).map(Path::new)
}
