//! Models as features of n-best lists, for all commands that add features: files, names, signals,
//! and the continuation of runs that were stopped.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use miriam_combine::lists::{Feature, FeatureModel, FeatureName};
use miriam_combine::rescore::{ListCoverage, RescoreInput, add_features};
use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{CancellationToken, Lines, ResumableOutput};

use crate::common::{CommonOptions, exit_with_usage_error, is_broken_pipe, open_text};
use crate::signals::{SignalHandler, describe_partial_files};

/// The files of a command, and what its scores depend on.
pub struct RescoringFiles<'a> {
    /// The n-best list.
    pub list: &'a Path,
    /// The text that the list translates, if a model reads it.
    pub source: Option<&'a Path>,
    /// Whether the list has every sentence of the text.
    pub coverage: ListCoverage,
    /// The file to write.
    pub output: &'a Path,
    /// The files of models.
    pub model_files: Vec<PathBuf>,
    /// The options that scores depend on.
    pub options: String,
}

impl RescoringFiles<'_> {
    /// Writes the list with additional features. A run that was stopped is continued if files,
    /// options and names are the same.
    pub fn add(
        &self,
        features: &[Feature<'_>],
        threads: usize,
        common: &CommonOptions,
    ) -> anyhow::Result<()> {
        let stop = CancellationToken::new();
        let interrupts = SignalHandler::install(&stop)?;
        let open = |path: &Path| -> anyhow::Result<Lines> {
            Ok(Lines::in_background(open_text(path)?).until_cancelled(&stop))
        };
        let list = NBestReader::from_lines(open(self.list)?, NBestForm::Any);
        let list = match self.coverage {
            ListCoverage::EverySentence => list,
            ListCoverage::SomeSentences => list.with_gaps(),
        };
        let source = self.source.map(open).transpose()?;
        let texts = RescoreInput { list, source, coverage: self.coverage };
        let output = ResumableOutput::open(self.output, self.job(features).as_deref())?;
        if output.units() > 0 {
            tracing::info!("continuing after {} sentences", output.units());
        }
        let progress = common.progress();
        let outcome = add_features(texts, features, threads, output, &stop, &progress);
        let outcome = outcome.map_err(anyhow::Error::from);
        if outcome.as_ref().err().is_none_or(is_broken_pipe) {
            interrupts.reraise_signal_with_message(&format!(
                "the first sentences are scored{}; the same command continues after them",
                describe_partial_files([self.output])
            ));
        }
        tracing::info!("{} translations scored", outcome?.entries);
        Ok(())
    }

    /// Describes all that the output depends on; `None` if a text can be read only once.
    fn job(&self, features: &[Feature<'_>]) -> Option<String> {
        let mut job = format!("{}\n{}\n", env!("CARGO_PKG_VERSION"), self.options);
        for feature in features {
            let _ = writeln!(job, "{:?}", feature.name);
        }
        let texts = [Some(self.list), self.source];
        for path in texts.into_iter().flatten().chain(self.model_files.iter().map(|f| &**f)) {
            let found = path.metadata().ok().filter(|found| found.is_file() || found.is_dir())?;
            let changed = found.modified().ok()?;
            let _ = writeln!(job, "{} {} {changed:?}", path.display(), found.len());
        }
        Some(job)
    }
}

/// Returns features with the given names, or with numbered names if none are given. `stems` has the
/// beginning of the name of each model.
pub fn name_features<'m>(
    names: Vec<String>,
    stems: &[&str],
    models: impl IntoIterator<Item = &'m dyn FeatureModel>,
) -> Vec<Feature<'m>> {
    let count = stems.len();
    let names: Vec<FeatureName> = match names.len() {
        0 => stems.iter().map(|&stem| FeatureName::Numbered(stem.to_owned())).collect(),
        found if found == count => names.into_iter().map(FeatureName::Given).collect(),
        found => exit_with_usage_error(format!(
            "--features: expected a name for each model, {count} in all, found {found}"
        )),
    };
    names.into_iter().zip(models).map(|(name, model)| Feature { name, model }).collect()
}
