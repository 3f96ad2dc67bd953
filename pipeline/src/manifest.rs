//! What a training folder knows about itself: which stages are done, from what,
//! and with which results. `train.json` is that record, readable by people and
//! programs; it is replaced whole after every stage, so a kill loses at most the
//! stage under way.

use std::fs;
use std::path::{Path, PathBuf};

use miriam_textio::Output;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The file, in the folder of the model.
pub(crate) const MANIFEST_FILE: &str = "train.json";

/// Changes when old records mean nothing any more.
const FORMAT_VERSION: u32 = 1;

/// Numbers and words worth telling about a stage, by name.
pub(crate) type StageStatistics = serde_json::Map<String, serde_json::Value>;

/// All stages that are done.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    stages: Vec<CompletedStage>,
}

/// A stage that is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CompletedStage {
    /// Its name.
    pub stage: String,
    /// What decided its results: options, texts, and earlier stages.
    pub key: String,
    /// How long it took.
    pub seconds: f64,
    /// Its files, relative to the folder, and their lengths in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// What came out.
    pub facts: StageStatistics,
}

impl Manifest {
    /// The record in `folder`; an empty one where there is none, or none of this
    /// version, or one that cannot be understood, which costs time and nothing else.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(MANIFEST_FILE);
        let Ok(bytes) = fs::read(&path) else { return Manifest::default() };
        match serde_json::from_slice::<Manifest>(&bytes) {
            Ok(record) if record.version == FORMAT_VERSION => record,
            Ok(_) => Manifest::default(),
            Err(error) => {
                tracing::warn!("{}: {error}; every stage is done anew", path.display());
                Manifest::default()
            }
        }
    }

    /// The stage called `name`, if it was done from the same `key` and its files
    /// still lie in `folder` as they were.
    pub fn find_up_to_date(&self, folder: &Path, name: &str, key: &str) -> Option<&CompletedStage> {
        let done = self.stages.iter().find(|done| done.stage == name && done.key == key)?;
        let there = |(path, length): &(PathBuf, u64)| {
            fs::metadata(folder.join(path)).is_ok_and(|found| found.len() == *length)
        };
        done.files.iter().all(there).then_some(done)
    }

    /// The last results of the stage called `name` from `key`, whether or not its
    /// files are still there.
    pub fn find_completed(&self, name: &str, key: &str) -> Option<&CompletedStage> {
        self.stages.iter().find(|done| done.stage == name && done.key == key)
    }

    /// Forgets the stage called `name`, before it is done anew.
    pub fn remove_stage(&mut self, name: &str) {
        self.stages.retain(|done| done.stage != name);
    }

    /// Notes a stage.
    pub fn insert_stage(&mut self, done: CompletedStage) {
        self.remove_stage(&done.stage);
        self.stages.push(done);
    }

    /// Writes the record into `folder`.
    pub fn save(&mut self, folder: &Path) -> Result<()> {
        self.version = FORMAT_VERSION;
        let path = folder.join(MANIFEST_FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::io(&path, "write", std::io::Error::other(e)))?;
        text.push(b'\n');
        let mut output = Output::create_atomic(&path)?;
        output.write(&text)?;
        output.finish()?;
        Ok(())
    }
}
