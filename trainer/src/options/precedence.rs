//! Precedence of options: the command line over configuration files over a preset.

use std::path::{Path, PathBuf};

use super::presets::{NO_PRESET, preset};
use super::raw::RawOptions;
use crate::error::Result;

impl RawOptions {
    /// Adds options that are not set here from configuration files, later ones first, then from the
    /// preset `task`; this is Marian's order. Without files and a task the preset is chosen by the
    /// size of the corpus, unless the options say which model to train. The task `none` means no
    /// preset.
    ///
    /// # Errors
    /// If a file cannot be read or is not a configuration, or the preset is unknown.
    pub fn or_else_from_files(self, configs: &[PathBuf], task: Option<&str>) -> Result<Self> {
        let is_relative = self.get_flag("relative-paths")?;
        let mut options = self;
        for path in configs.iter().rev() {
            let name = path.display().to_string();
            let yaml = std::fs::read(path)
                .map_err(|error| miriam_textio::Error::io(&name, "read", error))?;
            let mut file = Self::from_yaml(&yaml, &name)?;
            file.resolve_paths(path.parent().unwrap_or(Path::new("")), is_relative)?;
            options = options.or_else_from(file);
        }
        match task {
            Some(NO_PRESET) => Ok(options),
            Some(task) => options.or_else_from_preset(task),
            None if configs.is_empty() => options.or_else_from_size(),
            None => Ok(options),
        }
    }

    /// Adds options that are not set here from the preset `name`: of those of a model that
    /// translates, a language model takes what concerns its decoder.
    pub(super) fn or_else_from_preset(self, name: &str) -> Result<Self> {
        let preset = preset(name)?;
        let is_language_model = self.is_language_model();
        Ok(self.or_else_from(if is_language_model { preset.without_source() } else { preset }))
    }
}
