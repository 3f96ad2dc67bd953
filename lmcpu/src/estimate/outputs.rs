//! The outputs of an estimated model and their formats.
//!
//! An ARPA file in the trie's own order is printed directly from the trie. Another order of words,
//! or collapsed values, need sorted records. The intermediate files consist of such records.

use miriam_textio::{Output, Progress};

use super::EstimateOptions;
use super::arpa_printer::{self, ModelPrinter};
use super::intermediate::IntermediateFiles;
use super::memory::MemoryPlan;
use super::records::{Payload, SortedRecords};
use super::renumbering::Renumbering;
use super::spill_store::Workspace;
use super::tables::ModelTables;
use crate::Result;
use crate::dump::header;

/// The files that a model is written to.
pub(super) struct ModelOutputs<'o> {
    pub arpa: Option<&'o mut Output>,
    /// Only if words are renumbered.
    pub intermediate: Option<&'o mut IntermediateFiles>,
}

impl ModelOutputs<'_> {
    /// Writes `model`.
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
        let payload =
            if options.collapse_values { Payload::Collapsed } else { Payload::ProbabilityBackoff };
        let records = if options.needs_records() {
            let renumbering = if options.renumber {
                Renumbering::by_hash(model.vocabulary, model.text)?
            } else {
                Renumbering::identity(model.vocabulary)
            };
            Some(SortedRecords::new(model, renumbering, payload, work, progress)?)
        } else {
            None
        };
        if let Some(arpa) = &mut self.arpa {
            if let Some(name) = &options.verbose_header {
                arpa_printer::print_verbose_header(name, model.tokens, arpa)?;
            }
            arpa.write(header(model.counts).as_bytes())?;
        }
        if let Some(records) = records {
            if let Some(files) = &mut self.intermediate {
                files.write_head(&records.renumbering, payload, model.counts)?;
            }
            self.write_records(&records, progress)?;
        } else if let Some(arpa) = &mut self.arpa {
            let buffer_bytes = plan.output_buffer_bytes();
            ModelPrinter { model, buffer_bytes }.print(work.resources.threads, arpa, progress)?;
        }
        self.arpa.map_or(Ok(()), arpa_printer::print_end)
    }

    /// Writes the records to all files at once: they are sorted while they are read.
    fn write_records(
        &mut self,
        records: &SortedRecords<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        let order = records.order;
        let (as_text, as_bytes) = (self.arpa.is_some(), self.intermediate.is_some());
        let task = progress.task("writing", Some(order as u64));
        for length in 1..=order {
            if let Some(arpa) = &mut self.arpa {
                arpa_printer::print_section_head(length, arpa)?;
            }
            records.for_each_piece(
                length,
                |piece| {
                    let lines = as_text.then(|| {
                        arpa_printer::format_records(piece, length, order, &records.renumbering)
                    });
                    let bytes = piece.iter().flat_map(|number| number.to_le_bytes());
                    (lines, as_bytes.then(|| bytes.collect()))
                },
                |(lines, bytes): (Option<Vec<u8>>, Option<Vec<u8>>)| {
                    if let (Some(arpa), Some(lines)) = (&mut self.arpa, lines) {
                        arpa.write(&lines)?;
                    }
                    if let (Some(files), Some(bytes)) = (&mut self.intermediate, bytes) {
                        files.write_records(length, &bytes)?;
                    }
                    Ok(())
                },
                progress,
            )?;
            task.advance(1);
        }
        Ok(())
    }
}
