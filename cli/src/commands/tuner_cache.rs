//! The cache of the GEMM tuner's choices in the user's cache folder, for each model of CPU.
//!
//! Translations do not depend on it, so failures are not errors.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use miriam_nmt::engine::{Autotuner, Cpu};

/// Options of the tuner's cache file.
#[derive(Args)]
#[command(next_help_heading = "Speed")]
pub struct AutotunerCacheOptions {
    /// The cache file of the fastest GEMM kernels on this CPU
    /// [products.json in $MIRIAM_CACHE, $XDG_CACHE_HOME/miriam or ~/.cache/miriam]
    #[arg(long, value_name = "FILE")]
    tuner_file: Option<PathBuf>,
    /// Ignore the cache: measure again, and store nothing
    #[arg(long, conflicts_with = "tuner_file")]
    no_tuner_file: bool,
}

/// The tuner with its file, if there is one.
pub struct AutotunerCache {
    /// The tuner that all networks share.
    pub tuner: Arc<Autotuner>,
    file: Option<PathBuf>,
    /// Whether an option named the file; then problems with it are warnings.
    is_explicit: bool,
}

impl AutotunerCacheOptions {
    /// Reads the stored choices.
    pub fn open(&self) -> AutotunerCache {
        let cpu = Cpu::detect();
        tracing::debug!("instructions: {}", Cpu::describe_detected());
        let named = self.tuner_file.is_some();
        let file = self
            .tuner_file
            .clone()
            .or_else(Autotuner::default_cache_path)
            .filter(|_| !self.no_tuner_file);
        let loaded = file.as_deref().map(|file| Autotuner::load(cpu, file)).transpose();
        let (tuner, file) = match loaded {
            Ok(tuner) => (tuner.unwrap_or_else(|| Autotuner::new(cpu)), file),
            Err(error) => {
                log_problem(named || file.is_some_and(|file| file.is_file()), &error.to_string());
                (Autotuner::new(cpu), None)
            }
        };
        AutotunerCache { tuner: Arc::new(tuner), file, is_explicit: named }
    }
}

impl AutotunerCache {
    /// Returns a description of the stored choices.
    pub fn describe(&self) -> String {
        let count = self.tuner.cached_count();
        match &self.file {
            Some(file) => format!("GEMM kernels chosen before: {count} ({})", file.display()),
            None => "GEMM kernels chosen before: none are cached".into(),
        }
    }

    /// Stores new choices if there is a file, and returns their number.
    pub fn save(&self) -> usize {
        let new = self.tuner.new_choices().len();
        if let Some(file) = self.file.as_deref().filter(|_| new > 0)
            && let Err(reason) = self.write(file)
        {
            log_problem(self.is_explicit, &reason);
        }
        new
    }

    fn write(&self, file: &Path) -> Result<(), String> {
        if let Some(folder) = file.parent().filter(|_| !self.is_explicit) {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("{}: cannot create it: {error}", folder.display()))?;
        }
        self.tuner.save(file).map_err(|error| error.to_string())
    }
}

/// Logs a problem with the cache file: as a warning if `is_news`, otherwise for debugging.
fn log_problem(is_news: bool, reason: &str) {
    if is_news { tracing::warn!("{reason}") } else { tracing::debug!("{reason}") }
}
