//! Stages that learn the vocabulary and train the models.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_nmt::{LearnOptions, learn_vocabulary};
use miriam_textio::{CancellationToken, Output, Progress};
use miriam_textproc::sentencepiece::TrainOptions as PieceOptions;
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;

use super::{AUGMENTED_FOLDER, BACK_TRANSLATION_TAG, NEURAL_FOLDER, REVERSE_FOLDER};
use crate::manifest::{StageStatistics, stage_statistics};
use crate::resumable_folder::ResumableFolder;
use crate::stage::Stage;
use crate::training_stages::TrainingRun;
use crate::{Error, NeuralOptions, Result};

/// The name of the vocabulary in the folders of models.
const VOCABULARY_FILE: &str = "vocab.spm";
/// The name of the model file in the folders of models.
const MODEL_FILE: &str = "model.npz";
/// The file that names the files of a model for decoding.
const DECODER_FILE: &str = "decoder.yml";

/// A model of a combined system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From source to target.
    Forward,
    /// From target to source.
    Reverse,
    /// From source to target: the forward model, trained further with back-translated text.
    Augmented,
}

impl Direction {
    /// Returns the folder of the model, which is the name of its stage too.
    pub fn folder(self) -> &'static str {
        match self {
            Direction::Forward => NEURAL_FOLDER,
            Direction::Reverse => REVERSE_FOLDER,
            Direction::Augmented => AUGMENTED_FOLDER,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Direction::Forward => "training the neural model",
            Direction::Reverse => "training the reverse neural model",
            Direction::Augmented => "training the neural model with back-translated text",
        }
    }

    fn dependencies(self) -> &'static [&'static str] {
        match self {
            Direction::Forward | Direction::Reverse => &["corpus", "dev", "vocabulary"],
            Direction::Augmented => &["augmented-text", "dev", "vocabulary", NEURAL_FOLDER],
        }
    }

    /// Returns the name of the training text.
    fn text(self) -> &'static str {
        match self {
            Direction::Forward | Direction::Reverse => "corpus",
            Direction::Augmented => "augmented",
        }
    }
}

impl TrainingRun<'_> {
    /// Returns the stage that learns the vocabulary of both sides.
    pub(super) fn vocabulary_stage<'s>(&'s self, neural: &'s NeuralOptions) -> Stage<'s> {
        let requested_size = neural.vocab_size;
        Stage::new("vocabulary", "learning the vocabulary")
            .after(&["corpus"])
            .key(requested_size.map_or("by size".into(), |size| size.to_string()))
            .writes([Self::work_file(VOCABULARY_FILE)])
            .kept(false)
            .run(move |progress| {
                let texts = self.parallel_files("corpus");
                let pairs = miriam_trainer::options::count_lines(&texts[0])?.unwrap_or(u64::MAX);
                let options = LearnOptions::SentencePiece(PieceOptions {
                    vocab_size: neural.vocabulary_size(pairs),
                    // A short text may give fewer pieces than the default size of the vocabulary.
                    hard_vocab_limit: requested_size.is_some(),
                    user_defined_symbols: vec![BACK_TRANSLATION_TAG.into()],
                    ..PieceOptions::default()
                });
                let learned = learn_vocabulary(&texts, &options, self.options.threads, progress)?;
                Output::write_file(
                    &self.full_path(Self::work_file(VOCABULARY_FILE)),
                    &learned.bytes,
                )?;
                Ok(stage_statistics([("pieces", learned.len.into())]))
            })
    }

    /// Returns the stage that trains a model.
    pub(super) fn model_stage<'s>(
        &'s self,
        neural: &'s NeuralOptions,
        direction: Direction,
    ) -> Result<Stage<'s>> {
        let folder = Path::new(direction.folder());
        Ok(Stage::new(direction.folder(), direction.title())
            .after(direction.dependencies())
            .key(neural.key(false)?)
            .writes([VOCABULARY_FILE, MODEL_FILE, DECODER_FILE].map(|name| folder.join(name)))
            .resumes_in(ResumableFolder {
                path: folder.to_owned(),
                replacement: Some(Self::work_file(direction.folder())),
                key: neural.key(true)?,
                dependencies: direction.dependencies(),
            })
            .run(move |progress| self.train_model(neural, direction, progress)))
    }

    fn train_model(
        &self,
        neural: &NeuralOptions,
        direction: Direction,
        progress: &dyn Progress,
    ) -> Result<StageStatistics> {
        // A model of other texts or options stays until this one is complete.
        let replacement = self.full_path(Self::work_file(direction.folder()));
        let folder =
            if replacement.is_dir() { replacement } else { self.full_path(direction.folder()) };
        let vocabulary = folder.join(VOCABULARY_FILE);
        if !vocabulary.exists() {
            let learned = self.full_path(Self::work_file(VOCABULARY_FILE));
            let bytes = fs::read(&learned).map_err(|e| Error::io(&learned, "read", e))?;
            Output::write_file(&vocabulary, &bytes)?;
        }
        let request = TrainingRequest {
            options: self.training_options(neural, direction)?,
            folder: Some(folder),
            vocab_size: None,
            plot: None,
            dry_run: false,
        };
        let summary = request.run(
            &CancellationToken::new(),
            progress,
            &mut |line| tracing::info!("{line}"),
            &mut |warning| tracing::warn!("{warning}"),
        )?;
        match summary {
            Summary::Trained { outcome: Outcome::Cancelled, .. } => Err(Error::Cancelled),
            _ => Ok(StageStatistics::new()),
        }
    }

    /// Returns Marian's options of a training run: the user's options, and the files.
    fn training_options(&self, neural: &NeuralOptions, direction: Direction) -> Result<RawOptions> {
        let files = |name: &str| -> Vec<String> {
            let text = |path: PathBuf| path.display().to_string();
            let mut files = self.parallel_files(name).map(text);
            if direction == Direction::Reverse {
                files.reverse();
            }
            files.to_vec()
        };
        let mut options = RawOptions::default();
        options.set("train-sets", files(direction.text()))?;
        options.set("valid-sets", files("dev"))?;
        if direction == Direction::Augmented {
            let model = self.full_path(Path::new(NEURAL_FOLDER).join(MODEL_FILE));
            options.set("pretrained-model", vec![model.display().to_string()])?;
        }
        let mut options = options.or_else_from_files(&neural.configs, neural.task.as_deref())?;
        if !options.has_workers() {
            options.set("workers", vec![self.options.threads.to_string()])?;
        }
        Ok(options)
    }
}
