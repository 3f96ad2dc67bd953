//! The options of the neural models of a combined system.

use std::path::PathBuf;

use miriam_trainer::options::{DumpScope, NO_PRESET, RawOptions, preset};

use crate::{Error, Result};

/// Options of the trainer that the training of a combined system sets.
const OWN_OPTIONS: [&str; 6] =
    ["train-sets", "valid-sets", "vocabs", "model", "pretrained-model", "dim-vocabs"];

/// The options of the neural models of a combined system.
#[derive(Clone, Debug, Default)]
pub struct NeuralOptions {
    /// The preset of the trainer; without it, and without configurations, the one for the size of
    /// the text.
    pub task: Option<String>,
    /// Configurations of the trainer in Marian's form; later ones override earlier ones.
    pub configs: Vec<PathBuf>,
    /// The number of pieces of the vocabulary; without it, by the size of the text.
    pub vocab_size: Option<usize>,
    /// Texts of the target language whose translations by the reverse model are additional
    /// training text.
    pub back_translate: Vec<PathBuf>,
}

impl NeuralOptions {
    /// Checks that the options can be used, and do not set what training sets itself.
    pub(crate) fn check(&self) -> Result<()> {
        let given = self.options_of_configs()?;
        if let Some(name) = OWN_OPTIONS.iter().find(|name| given.is_given(name)) {
            return Err(Error::invalid_options(format!(
                "--neural-config: {name} is set by this training; remove it from the file"
            )));
        }
        if let Some(task) = self.task.as_deref().filter(|task| *task != NO_PRESET) {
            preset(task)?;
        }
        Ok(())
    }

    /// Returns the options that the configurations set.
    fn options_of_configs(&self) -> Result<RawOptions> {
        Ok(RawOptions::default().or_else_from_files(&self.configs, Some(NO_PRESET))?)
    }

    /// Returns the text of the options that a model depends on: of all, or only of those with
    /// which a stopped training can resume.
    pub(crate) fn key(&self, only_unchangeable: bool) -> Result<String> {
        let options = self.options_of_configs()?;
        let options = if only_unchangeable { options.unchangeable() } else { options };
        let task = self.task.as_deref().unwrap_or("by size");
        Ok(format!("{task}\n{}", options.dump(DumpScope::Minimal)))
    }
}
