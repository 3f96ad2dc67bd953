//! Stages of the neural half of a combined system: models of both directions, trained on the
//! prepared text of the phrase system, so that they score its translations word for word.
//!
//! Each model is trained in its own folder inside the folder of the system, and the trainer resumes
//! there by itself. One vocabulary serves both directions; it includes the tag of back-translated
//! text.

mod back_translation;
mod combination;
mod decoding;
mod training;

use miriam_textio::Progress;

use self::back_translation::BACK_TRANSLATION_TAG;
use self::training::Direction;
use super::TrainingRun;
use crate::stage::Stage;
use crate::{NeuralOptions, Result};

/// The folder of the model from source to target.
pub const NEURAL_FOLDER: &str = "neural";
/// The folder of the model from target to source.
pub const REVERSE_FOLDER: &str = "neural-reverse";
/// The folder of the model that continues the training of [`NEURAL_FOLDER`] with back-translated
/// text.
pub const AUGMENTED_FOLDER: &str = "neural-augmented";

impl TrainingRun<'_> {
    /// Returns the stages that train the neural models and combine them with the phrase-based
    /// system.
    pub(super) fn neural_stages<'s>(
        &'s self,
        neural: &'s NeuralOptions,
        progress: &dyn Progress,
    ) -> Result<Vec<Stage<'s>>> {
        let mut stages = vec![
            self.vocabulary_stage(neural),
            self.model_stage(neural, Direction::Forward)?,
            self.model_stage(neural, Direction::Reverse)?,
        ];
        if !neural.back_translate.is_empty() {
            stages.extend(self.back_translation_stages(neural, progress)?);
            stages.push(self.model_stage(neural, Direction::Augmented)?);
        }
        stages.push(self.combination_stage(neural));
        Ok(stages)
    }
}
