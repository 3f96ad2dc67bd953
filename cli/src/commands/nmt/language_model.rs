//! Options of a language model that takes part in the search of a neural model.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use miriam_nmt::engine::Autotuner;
use miriam_nmt::translate::Translator;
use miriam_storage::LoadMethod;

use super::value_parsers::finite;
use crate::commands::open_lm::open_model_as_kenlm;
use crate::common::CommonOptions;

#[derive(Args)]
#[command(next_help_heading = "Language model")]
pub struct LanguageModelArguments {
    /// Add the scores of a language model to those of the beam's candidates: any file that lm query
    /// reads, whose words are those of the output text, separated by spaces; or a neural one (nmt
    /// train --type lm-transformer) with the vocabulary of the translations. N-best lists have its
    /// log-probability as LM0. It cannot be combined with sampling
    #[arg(long, value_name = "FILE")]
    lm: Option<PathBuf>,
    /// The weight of the language model's log-probabilities [0.1]
    #[arg(long, value_name = "W", requires = "lm", allow_negative_numbers = true,
          value_parser = finite)]
    pub lm_weight: Option<f32>,
    /// The n-gram model is over pieces, as --no-spm-decode writes them, not over words; neural
    /// models always are over pieces
    #[arg(long, requires = "lm")]
    lm_pieces: bool,
}

impl LanguageModelArguments {
    /// Returns the file of the model, if one was named.
    pub fn file(&self) -> Option<&PathBuf> {
        self.lm.as_ref()
    }

    /// Opens the model, if one was named, for the searches of `translator`.
    pub fn apply(
        &self,
        translator: &mut Translator,
        tuner: &Arc<Autotuner>,
        common: &CommonOptions,
    ) -> anyhow::Result<()> {
        let Some(path) = &self.lm else { return Ok(()) };
        translator.open_language_model(path, self.lm_pieces, tuner, || {
            open_model_as_kenlm(path, LoadMethod::Lazy, common)
        })
    }
}
