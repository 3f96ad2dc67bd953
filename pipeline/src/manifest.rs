//! The manifest of a training folder, `train.json`: the stages that are done, with their inputs
//! and results. It is readable by people and programs. It is replaced atomically after every
//! stage, so a killed run loses at most the current stage.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use miriam_textio::Output;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The name of the manifest in the folder of the model.
pub(crate) const MANIFEST_FILE: &str = "train.json";

/// The version of the format; a manifest of another version is ignored.
const FORMAT_VERSION: u32 = 1;

/// The statistics of a stage, by name.
pub(crate) type StageStatistics = serde_json::Map<String, serde_json::Value>;

/// Returns statistics with these names and values.
pub(crate) fn stage_statistics<const N: usize>(
    facts: [(&str, serde_json::Value); N],
) -> StageStatistics {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// All stages that are done.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// The options of the last run, by name; absent from files of earlier versions.
    #[serde(default)]
    options: BTreeMap<String, String>,
    stages: Vec<CompletedStage>,
    /// The keys of stages that have begun work which a later run can use, by name; absent from
    /// files of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    started: BTreeMap<String, String>,
}

/// A stage that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CompletedStage {
    /// The name of the stage.
    pub stage: String,
    /// A hash of everything that its results depend on: options, texts, and earlier stages.
    pub key: String,
    /// The duration of the stage.
    pub seconds: f64,
    /// The files that it wrote, relative to the folder, and their lengths in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// Counts and scores of the stage, for the summary.
    pub facts: StageStatistics,
}

impl Manifest {
    /// Reads the manifest in `folder`. Returns an empty manifest if it is missing, damaged or of
    /// another version; then all stages run again.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(MANIFEST_FILE);
        let Ok(bytes) = fs::read(&path) else { return Manifest::default() };
        match serde_json::from_slice::<Manifest>(&bytes) {
            Ok(manifest) if manifest.version == FORMAT_VERSION => manifest,
            Ok(_) => Manifest::default(),
            Err(error) => {
                tracing::warn!("{}: {error}; all stages run again", path.display());
                Manifest::default()
            }
        }
    }

    /// Finds the stage called `name`, if it was done with the same `key` and its files are
    /// still in `folder` with the same lengths.
    pub fn find_up_to_date(&self, folder: &Path, name: &str, key: &str) -> Option<&CompletedStage> {
        self.find_completed(name, key).filter(|done| {
            done.files.iter().all(|(path, length)| {
                fs::metadata(folder.join(path)).is_ok_and(|found| found.len() == *length)
            })
        })
    }

    /// Finds the stage called `name`, if it was done with `key`, even if its files are gone.
    pub fn find_completed(&self, name: &str, key: &str) -> Option<&CompletedStage> {
        self.stages.iter().find(|done| done.stage == name && done.key == key)
    }

    /// Records the options of a run. Returns one line for each option that the previous run
    /// recorded with another value.
    pub fn replace_options(&mut self, options: BTreeMap<String, String>) -> Vec<String> {
        let before = std::mem::replace(&mut self.options, options);
        before
            .iter()
            .filter_map(|(name, before)| {
                let now = self.options.get(name)?;
                (before != now).then(|| format!("--{name} was {before}, now it is {now}"))
            })
            .collect()
    }

    /// Returns the key with which the stage called `name` began last.
    pub fn find_started(&self, name: &str) -> Option<&str> {
        self.started.get(name).map(String::as_str)
    }

    /// Records that the stage called `name` begins with `key`.
    pub fn replace_started(&mut self, name: &str, key: &str) {
        self.started.insert(name.to_owned(), key.to_owned());
    }

    /// Removes the stage called `name`, before it is run again.
    pub fn remove_stage(&mut self, name: &str) {
        self.stages.retain(|done| done.stage != name);
    }

    /// Removes the stages that wrote `file` or, if it is a folder, files in it. Returns whether
    /// there was such a stage.
    pub fn remove_stages_of(&mut self, file: &Path) -> bool {
        let before = self.stages.len();
        self.stages.retain(|done| done.files.iter().all(|(path, _)| !path.starts_with(file)));
        self.stages.len() < before
    }

    /// Records a stage.
    pub fn insert_stage(&mut self, done: CompletedStage) {
        self.remove_stage(&done.stage);
        self.stages.push(done);
    }

    /// Writes the manifest into `folder`.
    pub fn save(&mut self, folder: &Path) -> Result<()> {
        self.version = FORMAT_VERSION;
        let path = folder.join(MANIFEST_FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::io(&path, "write", std::io::Error::other(e)))?;
        text.push(b'\n');
        Ok(Output::write_file(&path, &text)?)
    }
}
