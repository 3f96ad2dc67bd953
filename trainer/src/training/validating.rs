//! Validation during a training run: its log lines, best values, and the check for stalls.

use std::io::Write;
use std::path::PathBuf;

use miriam_textio::date;

use super::checkpoint::TrainingState;
use super::config::StoppingRule;
use super::curves::TRAINING_SAMPLE;
use super::metric::MetricState;
use super::run::Run;
use super::validation::{Candidate, Validator};
use crate::data::ParallelCorpus;
use crate::error::Result;
use crate::progress::Progress;

impl Run<'_, '_> {
    /// Validates the model. With `is_last`, this is the final validation, outside of the usual
    /// intervals.
    pub(super) fn validate(&mut self, is_last: bool) -> Result<()> {
        let training = self.training;
        if !training.validates() {
            return Ok(());
        }
        self.trainer.gather();
        self.check_numbers()?;
        let (config, options) = (training.config, &training.config.validation);
        let validator = Validator {
            options,
            set: training.validation,
            files: training.files,
            decoder: training.decoder,
            threads: config.workers,
        };
        let candidate = Candidate {
            architecture: &config.architecture,
            layout: self.trainer.model().layout(),
            values: self.trainer.smoothed_values(),
        };
        let translations = self.translations_path();
        let found = validator.validate(candidate, &translations)?;
        let sample = self.training_sample.as_ref();
        let sample_loss =
            sample.map(|sample| validator.training_cross_entropy(candidate, sample)).transpose()?;
        let Progress { updates, .. } = self.state.progress;
        let epoch = config.limits.epoch.format(&self.state.progress);
        if let Some(value) = sample_loss {
            let (name, pairs) = ("ce-mean-words", sample.map_or(0, ParallelCorpus::len));
            self.curves.add(&self.state.progress, TRAINING_SAMPLE, value);
            (self.log)(&format!(
                "[train] Ep. {epoch} : Up. {updates} : {name} : {value:.6} : {pairs} pairs"
            ));
        }
        let metrics = options.metrics.iter().zip(&options.epsilons).zip(found);
        for (number, ((&metric, &epsilon), value)) in metrics.enumerate() {
            let name = metric.name();
            let line = format!("[valid] Ep. {epoch} : Up. {updates} : {name}");
            let Some(value) = value else {
                self.log_validation(&format!("{line} : in {}", translations.display()))?;
                continue;
            };
            let states = &mut self.state.metrics;
            let index = match states.iter().position(|(known, _)| known == name) {
                Some(index) => index,
                None => {
                    states.push((name.into(), MetricState::new(metric)));
                    states.len() - 1
                }
            };
            let state = &mut states[index].1;
            let is_first = state.best().is_infinite();
            let is_best = state.record(metric, value, epsilon);
            self.curves.add(&self.state.progress, name, value);
            let remark = match state.stalled {
                0 => "new best".into(),
                times => {
                    let rejected =
                        if value.is_finite() { "" } else { "not finite, so never the best; " };
                    format!("{rejected}stalled {times} times (last best: {:.6})", state.best())
                }
            };
            self.log_validation(&format!("{line} : {value:.6} : {remark}"))?;
            if is_last {
                self.state.is_last_best |= is_best && number == options.deciding_translation();
            }
            // Scripts for Marian expect the best models of every run, even of a short run. In a
            // training's folder, decoder.yml would name such a model as if a recorded validation
            // had found it.
            let is_only = is_first && training.decoder.folder.is_none();
            if is_best && options.keeps_best && (!is_last || is_only) {
                self.save_best(name)?;
            }
        }
        Ok(())
    }

    /// Returns the path of the file for translations, with the fields of its name filled in.
    fn translations_path(&self) -> PathBuf {
        let TrainingState { progress, epoch_batches, .. } = &self.state;
        let output = &self.training.config.validation.translation_output;
        let Some(template) = output.as_ref().and_then(|path| path.to_str()) else {
            return output
                .clone()
                .unwrap_or_else(|| self.training.files.model.with_file_name("valid.translation"));
        };
        let fields = [
            ("{E}", progress.epoch),
            ("{U}", progress.updates),
            ("{B}", *epoch_batches),
            ("{T}", progress.labels),
        ];
        fields
            .into_iter()
            .fold(template.to_owned(), |text: String, (field, number): (&str, u64)| {
                text.replace(field, &number.to_string())
            })
            .into()
    }

    /// Writes a line about validation to the log and, with the time, to the validation log.
    fn log_validation(&mut self, line: &str) -> Result<()> {
        (self.log)(line);
        let Some(path) = &self.training.config.validation.log else { return Ok(()) };
        let file = std::fs::File::options().append(true).create(true).open(path);
        let written = file.and_then(|mut file| writeln!(file, "[{}] {line}", date::now()));
        written.map_err(|e| miriam_storage::Error::io(path, "write", e).into())
    }

    /// Returns the number of consecutive stalls that decides whether training stops.
    pub(super) fn stalls(&self) -> u64 {
        let options = &self.training.config.validation;
        let stalls = options.metrics.iter().filter_map(|metric| {
            let states = &self.state.metrics;
            states.iter().find(|(name, _)| name == metric.name()).map(|(_, s)| s.stalled)
        });
        let deciding = match options.stopping_rule {
            StoppingRule::First => { stalls }.next(),
            StoppingRule::All => stalls.min(),
            StoppingRule::Any => stalls.max(),
        };
        deciding.unwrap_or(0)
    }

    /// Whether validation has not improved for too long.
    pub(super) fn is_stalled(&self) -> bool {
        let allowed = self.training.config.validation.early_stopping;
        allowed > 0 && self.stalls() >= allowed
    }
}
