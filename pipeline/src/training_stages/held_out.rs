//! Stages on held-out text: preparation of the text, perplexity, and tuning of the weights.

use std::fs;
use std::path::Path;

use miriam_decoder::Configuration;
use miriam_decoder::tuning::{self, TuneOptions};
use miriam_lmcpu::perplexity;
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Output};

use super::{INI_FILE, LM_FILE, PHRASE_INI_FILE, TrainingRun, UNTUNED_INI_FILE};
use crate::manifest::{StageStatistics, stage_statistics};
use crate::stage::Stage;
use crate::{Error, Tuning, corpus, stage_keys};

impl TrainingRun<'_> {
    pub(super) fn dev_stage<'s>(
        &'s self,
        source: &'s Path,
        target: &'s Path,
        hash: String,
    ) -> Stage<'s> {
        Stage::new("dev", "checking the text for tuning")
            .after(match self.options.raw_languages {
                Some(_) => &["truecase-source", "truecase-target"],
                None => &[],
            })
            .key(hash)
            .writes(Self::parallel_file_names("dev"))
            .kept(false)
            .run(move |progress| {
                let from = match &self.options.raw_languages {
                    Some(languages) => {
                        let prepared = self.parallel_files("dev.prepared");
                        self.prepare_parallel([source, target], &prepared, languages, progress)?;
                        prepared
                    }
                    None => [source.into(), target.into()],
                };
                corpus::clean_parallel(&from, &self.parallel_files("dev"), None, progress)
            })
    }

    pub(super) fn perplexity_stage(&self) -> Stage<'_> {
        let options = self.options;
        Stage::new("perplexity", "scoring the text for tuning").after(&["lm", "dev"]).run(
            move |progress| {
                let [_, target] = self.parallel_files("dev");
                let model = miriam_glm::open(&self.full_path(LM_FILE), LoadMethod::Lazy, progress)?;
                let input = Input::open(&target)?;
                let mut nowhere = Output::create(Path::new("/dev/null"))?;
                let perplexity_options = perplexity::PerplexityOptions {
                    sentence_markers: true,
                    threads: options.threads,
                    preparation: None,
                    per_line: false,
                    json: None,
                    filter: None,
                };
                let size = input.size();
                let (sums, _) = perplexity::perplexity(
                    &*model,
                    &mut std::iter::once(Ok(input)),
                    size,
                    &mut nowhere,
                    &perplexity_options,
                    progress,
                )?;
                Ok(stage_statistics([
                    ("perplexity", sums.including_oovs().into()),
                    ("tokens", sums.tokens.into()),
                    ("unknown", sums.oovs.into()),
                ]))
            },
        )
    }

    /// Returns the stage that tunes the weights, or keeps the initial ones if there is no dev text
    /// or no tuning is wanted.
    pub(super) fn tuning_stage(&self) -> Stage<'_> {
        let options = self.options;
        let tuning = options.dev.as_ref().and(options.tuning);
        let ini = if options.neural.is_some() { PHRASE_INI_FILE } else { INI_FILE };
        Stage::new(
            "weights",
            if tuning.is_some() { "tuning the weights" } else { "keeping the initial weights" },
        )
        .after(match tuning {
            Some(_) => &["table", "lm", "ini", "dev"],
            None => &["ini"],
        })
        .key(stage_keys::tuning(tuning, options.seed))
        .writes([ini])
        .run(move |progress| {
            let untuned = self.full_path(UNTUNED_INI_FILE);
            let output = self.full_path(ini);
            let Some(Tuning { method, iterations }) = tuning else {
                let ini = fs::read(&untuned).map_err(|e| Error::io(&untuned, "read", e))?;
                Output::write_file(&output, &ini)?;
                return Ok(StageStatistics::new());
            };
            let [source, target] = self.parallel_files("dev");
            let configuration = Configuration::from_ini(&untuned)?;
            let mut tune = TuneOptions::new(configuration, source, vec![target], output);
            tune.method = method;
            tune.seed = options.seed;
            tune.iterations = iterations.unwrap_or(tune.iterations);
            tune.threads = options.threads;
            let report = tuning::tune(&tune, progress)?;
            Ok(stage_statistics([
                ("iterations", report.iterations.len().into()),
                ("first_bleu", report.iterations[0].bleu.into()),
                ("best_bleu", report.best().bleu.into()),
            ]))
        })
    }
}
