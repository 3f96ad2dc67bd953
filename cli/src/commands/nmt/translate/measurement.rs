//! Translation as `bench scaling` measures it: the same translator, on texts of the study.

use std::path::Path;

use miriam_nmt::translate::SourceText;
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};

use super::super::line_errors::LineErrors;
use super::{Arguments, CpuThreads};
use crate::common::CommonOptions;

impl Arguments {
    /// Whether options name texts or outputs. A measurement has its own text and output.
    pub fn names_texts(&self) -> bool {
        let text = &self.text;
        let is_standard = |path: &Path| path.as_os_str() == "-";
        text.given.is_some()
            || text.errors.is_some()
            || text.force_decode
            || !is_standard(&text.output)
            || !text.input.iter().all(|path| is_standard(path))
    }

    /// Whether Marian's option sets the number of threads in place of --threads, which a
    /// measurement gives.
    pub fn overrides_threads(&self) -> bool {
        matches!(self.batches.cpu_threads, Some(CpuThreads(Some(_))))
    }

    /// Loads the models, and returns the function that translates a text and discards the output.
    ///
    /// # Errors
    /// The errors of [`Arguments::load`].
    pub fn load_for_measurement(
        self,
        common: &CommonOptions,
    ) -> anyhow::Result<impl FnMut(Input) -> anyhow::Result<()>> {
        let loaded = self.load(common)?;
        Ok(move |text: Input| {
            let mut line_errors = LineErrors::new(text.name().to_owned(), None)?;
            let source = SourceText { lines: Lines::in_background(text), prefixes: None };
            let output = Output::create(Path::new("/dev/null"))?;
            let stop = CancellationToken::new();
            loaded.translate(source, false, output, &stop, &NoProgress, &mut |error| {
                line_errors.report(error)
            })?;
            line_errors.finish(true)?;
            // Later measurements shall use the same kernels.
            loaded.tuner_cache.save();
            Ok(())
        })
    }
}
