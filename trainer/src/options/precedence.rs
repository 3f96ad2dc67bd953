//! Precedence of options: the command line over configuration files over presets.

use std::path::{Path, PathBuf};

use super::presets::{check_task, preset, preset_names};
use super::raw::RawOptions;
use crate::error::{Error, Result};

impl RawOptions {
    /// Adds options that are not set yet: first from configuration files, where later files take
    /// precedence, then from presets. This is Marian's order. The argument `task` names the preset;
    /// if it is `None`, the option `task` does. The option `best-deep` adds the preset of that
    /// name. If neither files nor presets are given, the size of the corpus chooses a preset,
    /// unless the options say which model to train. The task `none` means no preset.
    ///
    /// # Errors
    /// If a file cannot be read or is not a configuration, a preset is unknown, or the training
    /// text cannot be read to choose a preset.
    pub fn or_else_from_files(self, configs: &[PathBuf], task: Option<&str>) -> Result<Self> {
        let is_relative = self.get_flag("relative-paths")?;
        let mut options = self;
        for path in configs.iter().rev() {
            let name = path.display().to_string();
            let yaml = std::fs::read(path)
                .map_err(|error| miriam_textio::Error::io(&name, "read", error))?;
            let mut file = Self::from_yaml(&yaml, &name)?;
            for task in file.get_strings("task") {
                check_task(&task)
                    .map_err(|reason| Error::config(format!("{name}: task: {reason}")))?;
            }
            file.resolve_paths(&folder_of(path)?, is_relative)?;
            options = options.or_else_from(file);
        }
        let mut tasks =
            task.map_or_else(|| options.get_strings("task"), |task| vec![task.to_owned()]);
        if options.get_flag("best-deep")? {
            tasks.push("best-deep".into());
        }
        options.remove("task");
        options.remove("best-deep");
        if tasks.is_empty() && configs.is_empty() {
            return options.or_else_from_size();
        }
        options.or_else_from_tasks(&tasks)
    }

    /// Adds options that are not set yet from presets. Of several presets, those that come first in
    /// the table of presets override the others, as in Marian.
    fn or_else_from_tasks(self, tasks: &[String]) -> Result<Self> {
        for task in tasks {
            check_task(task).map_err(|reason| Error::usage(format!("--task: {reason}")))?;
        }
        preset_names()
            .map(|(name, _)| name)
            .filter(|name| tasks.iter().any(|task| task == name))
            .try_fold(self, Self::or_else_from_preset)
    }

    /// Adds options that are not set yet from the preset `name`. A language model takes only the
    /// options that apply to a decoder.
    pub(super) fn or_else_from_preset(self, name: &str) -> Result<Self> {
        let preset = preset(name)?;
        let is_language_model = self.is_language_model();
        Ok(self.or_else_from(if is_language_model { preset.without_source() } else { preset }))
    }
}

/// Returns the folder of a file as an absolute path, so that saved options hold in every folder.
fn folder_of(path: &Path) -> Result<PathBuf> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    std::path::absolute(folder)
        .map_err(|error| miriam_storage::Error::io(folder, "find", error).into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::presets::NO_PRESET;
    use super::*;

    /// Merges options with a configuration that has this text.
    fn merge(given: RawOptions, yaml: &str, task: Option<&str>) -> Result<RawOptions> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.yml");
        fs::write(&path, yaml).unwrap();
        given.or_else_from_files(&[path], task)
    }

    #[test]
    fn the_task_of_a_configuration_is_below_its_options() {
        for yaml in
            ["task: transformer-big", "task: [transformer-big]", "task: [none, transformer-big]"]
        {
            let options = merge(RawOptions::default(), yaml, None).unwrap();
            assert_eq!(options.get_string("dim-emb"), "1024", "{yaml}");
            assert!(!options.is_given("task"), "{yaml}");
        }
        let yaml = "task: transformer-big\ndim-emb: 16\nlearn-rate: 0.5\n";
        let mut line = RawOptions::default();
        line.set("learn-rate", vec!["0.25".into()]).unwrap();
        let options = merge(line.clone(), yaml, None).unwrap();
        let values = ["dim-emb", "learn-rate", "lr-warmup"].map(|name| options.get_string(name));
        assert_eq!(values, ["16", "0.25", "8000"]);
        // The task of the command line replaces the task of the file.
        let options = merge(line.clone(), yaml, Some("transformer-base")).unwrap();
        assert_eq!(options.get_string("lr-warmup"), "16000");
        let options = merge(line.clone(), yaml, Some(NO_PRESET)).unwrap();
        assert!(!options.is_given("lr-warmup") && options.check_status().is_ok());
        // Marian writes an empty list where no task was given.
        assert!(!merge(line, "task: []\n", None).unwrap().is_given("dim-emb"));
    }

    #[test]
    fn unknown_tasks_are_reported_with_their_file() {
        for yaml in ["task: big\n", "task: [transformer-big, big]\n"] {
            let error = merge(RawOptions::default(), yaml, None).unwrap_err().to_string();
            assert!(error.contains("train.yml: task: unknown preset \"big\""), "{error}");
            assert!(error.contains("transformer-big"), "{error}");
        }
        let error = merge(RawOptions::default(), "dim-emb: 16\n", Some("big")).unwrap_err();
        assert!(error.to_string().contains("--task: unknown preset"), "{error}");
    }

    /// The values are those of `marian --best-deep --dump-config expand`.
    #[test]
    fn best_deep_is_a_preset() {
        for (yaml, task) in [("best-deep: yes\n", None), ("{}", Some("best-deep"))] {
            let options = merge(RawOptions::default(), yaml, task).unwrap();
            let values = ["type", "enc-type", "dec-cell-base-depth", "lr-decay-inv-sqrt"]
                .map(|name| options.get_string(name));
            assert_eq!(values, ["s2s", "alternating", "4", "16000"], "{yaml}");
            assert!(options.check_status().unwrap().is_empty(), "{yaml}");
        }
        // The option `best-deep` overrides the preset of the option `task`.
        let both = "best-deep: true\ntask: transformer-base\n";
        let both = merge(RawOptions::default(), both, None).unwrap();
        assert_eq!([both.get_string("type"), both.get_string("transformer-heads")], ["s2s", "8"]);
    }
}
