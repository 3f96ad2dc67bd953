//! Stages of back-translation (Sennrich et al. 2016). The reverse model translates text of the
//! target language, and the pairs of translation and text are added to the parallel text. A tag
//! before the source (Caswell et al. 2019) tells the model that people did not write this source.

use std::collections::BTreeMap;

use miriam_nmt::translate::OutputOptions;
use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{Input, Lines, Output, Progress, fields};

use super::REVERSE_FOLDER;
use super::decoding::open_model;
use crate::corpus::{self, LengthLimits};
use crate::list_parts::{ListParts, Teacher};
use crate::manifest::{StageStatistics, stage_statistics};
use crate::resumable_folder::ResumableFolder;
use crate::stage::Stage;
use crate::training_stages::{TrainingRun, hash_files};
use crate::{Error, NeuralOptions, Result};

/// The piece before a source sentence that a model has written.
pub(super) const BACK_TRANSLATION_TAG: &str = "<BT>";

/// The number of lines of a part of the translations; a killed run loses at most one part.
const PART_LINES: u64 = 1000;

/// The folder of translations, in the folder of intermediate files.
const LISTS_FOLDER: &str = "back-translations";
/// The prepared text, in the folder of intermediate files.
const TEXT_FILE: &str = "back-translated.target";

impl TrainingRun<'_> {
    /// Returns the stages from monolingual text to the training text with its translations.
    pub(super) fn back_translation_stages<'s>(
        &'s self,
        neural: &'s NeuralOptions,
        progress: &dyn Progress,
    ) -> Result<[Stage<'s>; 2]> {
        let texts = &neural.back_translate;
        let text_stage = Stage::new("monolingual-text", "checking the text to translate back")
            .after(match self.options.raw_languages {
                Some(_) => &["truecase-target"],
                None => &[],
            })
            .key(hash_files(texts, progress)?)
            .writes([Self::work_file(TEXT_FILE)])
            .kept(false)
            .run(move |progress| {
                let to = self.full_path(Self::work_file(TEXT_FILE));
                self.prepare_monolingual(texts, &to, progress)
            });
        let translation_stage = Stage::new("augmented-text", "translating text back")
            .after(&["corpus", "monolingual-text", REVERSE_FOLDER])
            .key(format!("{BACK_TRANSLATION_TAG} {PART_LINES}"))
            .writes(Self::parallel_file_names("augmented"))
            .kept(false)
            .resumes_in(ResumableFolder {
                path: Self::work_file(LISTS_FOLDER),
                replacement: None,
                key: PART_LINES.to_string(),
                dependencies: &["monolingual-text", REVERSE_FOLDER],
            })
            .run(move |progress| {
                let lists = self.translate_back(progress)?;
                self.write_augmented_text(lists, progress)
            });
        Ok([text_stage, translation_stage])
    }

    /// Translates the monolingual text by the reverse model, in parts.
    fn translate_back(&self, progress: &dyn Progress) -> Result<ListParts> {
        let text = self.full_path(Self::work_file(TEXT_FILE));
        let parts = ListParts {
            folder: self.full_path(Self::work_file(LISTS_FOLDER)),
            num_lines: corpus::count_lines(&text)?,
            part_lines: PART_LINES,
        };
        std::fs::create_dir_all(&parts.folder)
            .map_err(|e| Error::io(&parts.folder, "create", e))?;
        let output = OutputOptions { n_best: true, ..OutputOptions::default() };
        let translator = open_model(&self.full_path(REVERSE_FOLDER), output, self.options.threads)?;
        let teacher = Teacher {
            translator: &translator,
            // No description is needed: the folder is emptied when the model or the text changes.
            description: BTreeMap::new(),
            report: &|error| tracing::warn!("line {}: {}", error.line, error.reason),
        };
        parts.translate(&text, &teacher, progress)?;
        Ok(parts)
    }

    /// Writes the parallel text, repeated until it is at least half of the result. Then writes the
    /// back-translated pairs that are within the limits of the parallel text.
    fn write_augmented_text(
        &self,
        lists: ListParts,
        progress: &dyn Progress,
    ) -> Result<StageStatistics> {
        let limits =
            LengthLimits { max_words: self.options.max_words, max_ratio: self.options.max_ratio };
        let originals = self.parallel_files("corpus");
        let mut outputs = Vec::new();
        for path in self.parallel_files("augmented") {
            outputs.push(Output::create_atomic(&path)?);
        }
        let pairs = corpus::count_lines(&originals[0])?.max(1);
        let copies = lists.num_lines.div_ceil(pairs).max(1);
        for (original, output) in originals.iter().zip(&mut outputs) {
            for _ in 0..copies {
                corpus::copy_lines(original, output)?;
            }
        }
        let task = progress.task("writing pairs", Some(lists.num_lines));
        let mut targets = Lines::new(Input::open(&self.full_path(Self::work_file(TEXT_FILE)))?);
        let mut sources = NBestReader::new(lists.paths(), NBestForm::Plain);
        let (mut added, mut left_out) = (0u64, 0u64);
        while let Some(target) = targets.next()? {
            let entries = sources.next()?;
            let source = entries.as_ref().and_then(|entries| entries.first()).map(|e| e.text());
            task.advance(1);
            match source {
                Some(source) if limits.allow([source, target.bytes].map(corpus::count_words)) => {
                    outputs[0].write(BACK_TRANSLATION_TAG.as_bytes())?;
                    for word in fields::split_words(source) {
                        outputs[0].write(b" ")?;
                        outputs[0].write(word)?;
                    }
                    outputs[0].write(b"\n")?;
                    outputs[1].write(target.bytes)?;
                    outputs[1].write(b"\n")?;
                    added += 1;
                }
                _ => left_out += 1,
            }
        }
        for output in outputs {
            output.finish()?;
        }
        tracing::info!(
            "{added} back-translated pairs, {left_out} left out; {copies} times the {pairs} pairs \
             of the parallel text"
        );
        Ok(stage_statistics([("added", added.into()), ("copies", copies.into())]))
    }
}
