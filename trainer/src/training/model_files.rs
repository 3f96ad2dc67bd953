//! Names of a training run's files, as in Marian.

use std::path::PathBuf;

use miriam_storage::paths::with_suffix;

/// The files of a training run, named after its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFiles {
    /// The model, `model.npz`.
    pub model: PathBuf,
}

impl ModelFiles {
    /// The suffix of the optimiser's file after the name of the model.
    pub const OPTIMIZER_SUFFIX: &str = ".optimizer.npz";

    fn beside(&self, suffix: &str) -> PathBuf {
        with_suffix(&self.model, suffix)
    }

    /// Returns the path of the optimiser's file.
    pub fn optimizer(&self) -> PathBuf {
        self.beside(Self::OPTIMIZER_SUFFIX)
    }

    /// Returns the path of Marian's progress file.
    pub fn progress(&self) -> PathBuf {
        self.beside(".progress.yml")
    }

    /// Returns the path of the training's options in Marian's form.
    pub fn options(&self) -> PathBuf {
        self.beside(".yml")
    }

    /// Returns the path of the configuration for decoding.
    pub fn decoder_config(&self) -> PathBuf {
        self.beside(".decoder.yml")
    }

    /// Returns the path of the trained parameters in old versions of Marian, which write the
    /// average of the parameters as the model.
    pub fn unsmoothed(&self) -> PathBuf {
        self.beside(".orig.npz")
    }

    /// Returns the files of the model that a script validates.
    pub fn validated(&self) -> ModelFiles {
        ModelFiles { model: self.beside(".dev.npz") }
    }

    /// Returns the path of a simulation's table of pushes.
    pub fn simulation(&self) -> PathBuf {
        self.beside(".simulation.csv")
    }

    /// Returns the path of the lock against other trainings of the model.
    pub fn lock(&self) -> PathBuf {
        let name = self.model.file_name().unwrap_or_default().to_string_lossy();
        self.model.with_file_name(format!(".{name}.lock"))
    }

    /// Returns the path of the best model by a metric.
    pub fn best_model(&self, metric: &str) -> PathBuf {
        self.beside(&format!(".best-{metric}.npz"))
    }

    /// Returns the path of the model after an update, if saved models do not replace each other.
    pub fn at_update(&self, updates: u64) -> PathBuf {
        self.model.with_extension(format!("iter{updates}.npz"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn files_have_marians_names() {
        let files = ModelFiles { model: "a/model.npz".into() };
        assert_eq!(files.optimizer(), Path::new("a/model.npz.optimizer.npz"));
        assert_eq!(files.decoder_config(), Path::new("a/model.npz.decoder.yml"));
        assert_eq!(files.best_model("bleu"), Path::new("a/model.npz.best-bleu.npz"));
        assert_eq!(files.at_update(200), Path::new("a/model.iter200.npz"));
    }
}
