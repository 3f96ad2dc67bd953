//! The options of the neural models of a combined system.

use std::path::PathBuf;

use miriam_trainer::options::{DumpScope, NO_PRESET, RawOptions};

use crate::{Error, Result};

/// Options of the trainer that the training of a combined system sets, besides files.
const OWN_OPTIONS: [&str; 2] = ["dim-vocabs", "tsv"];

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
        let own = OWN_OPTIONS.into_iter().find(|name| given.is_given(name));
        if let Some(name) = given.find_input_file().or(own) {
            return Err(Error::invalid_options(format!(
                "--neural-config: the texts, files and sizes of this training run are its own; remove \
                 {name}"
            )));
        }
        let kind = given.get_string("type");
        if kind.starts_with("lm") {
            return Err(Error::invalid_options(format!(
                "--neural-config: type: {kind} is a language model, which does not translate"
            )));
        }
        // What is wrong is found now, and not after the training of the phrase-based system.
        let task = self.task.as_deref().unwrap_or(NO_PRESET);
        given.or_else_from_files(&[], Some(task))?.training_config([2, 2])?;
        Ok(())
    }

    /// Returns the options that the configurations set.
    fn options_of_configs(&self) -> Result<RawOptions> {
        Ok(RawOptions::default().or_else_from_files(&self.configs, Some(NO_PRESET))?)
    }

    /// Returns the text of the options that a model depends on: of all, or only of those with
    /// which a stopped training run can resume.
    pub(crate) fn key(&self, only_unchangeable: bool) -> Result<String> {
        let options = self.options_of_configs()?;
        let options = if only_unchangeable { options.unchangeable() } else { options };
        let task = self.task.as_deref().unwrap_or("by size");
        Ok(format!("{task}\n{}", options.dump(DumpScope::Minimal)))
    }
}
