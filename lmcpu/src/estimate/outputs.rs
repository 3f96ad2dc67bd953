//! Where a model is written, and in which formats.

use miriam_textio::{Output, Progress};

use super::arpa_printer::{self, ModelPrinter};
use super::intermediate::IntermediateFiles;
use super::records::{Payload, SortedRecords};
use super::spill_store::Workspace;
use super::tables::ModelTables;
use super::word_order::WordOrder;
use super::{EstimateOptions, MemoryPlan};
use crate::Result;

/// The files that a model is written to.
pub(super) struct ModelOutputs<'o> {
    pub arpa: Option<&'o mut Output>,
    pub intermediate: Option<&'o mut IntermediateFiles>,
}

impl ModelOutputs<'_> {
    /// Writes `model`: from the tables as they are if the order of words and the values allow
    /// it, else from sorted records.
    ///
    /// # Errors
    ///
    /// If writing or a temporary file fails, two words have the same hash, or `progress`
    /// cancels the work.
    pub fn write(
        mut self,
        model: &ModelTables<'_>,
        options: &EstimateOptions,
        plan: MemoryPlan,
        work: Workspace<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        if let Some(arpa) = &mut self.arpa {
            if let Some(name) = &options.verbose_header {
                arpa_printer::print_verbose_header(name, model.tokens, arpa)?;
            }
            arpa_printer::print_header(model.counts, arpa)?;
        }
        if options.renumber || options.collapse_values || self.intermediate.is_some() {
            self.write_records(model, options, work, progress)?;
        } else if let Some(arpa) = &mut self.arpa {
            let buffer_bytes = plan.output_buffer_bytes();
            ModelPrinter { model, buffer_bytes }.print(work.resources.threads, arpa, progress)?;
        }
        self.arpa.map_or(Ok(()), arpa_printer::print_end)
    }

    fn write_records(
        &mut self,
        model: &ModelTables<'_>,
        options: &EstimateOptions,
        work: Workspace<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let words = match options.renumber {
            true => WordOrder::by_hash(model.vocabulary, model.text)?,
            false => WordOrder::of_appearance(model.vocabulary),
        };
        let payload = match options.collapse_values {
            true => Payload::Collapsed,
            false => Payload::ProbabilityBackoff,
        };
        let records = SortedRecords::new(model, &words, payload, work, progress)?;
        let names = (model.vocabulary, &words);
        if let Some(files) = &mut self.intermediate {
            files.write(&records, names, payload, model.counts, progress)?;
        }
        if let Some(arpa) = &mut self.arpa {
            arpa_printer::print_records(&records, names, model.order, arpa, progress)?;
        }
        Ok(())
    }
}
