//! A stage of a pipeline: what it reads and writes, and how it is run.
//!
//! Stages are built from [`Stage::new`], so that each names only what differs from a plain stage.

use std::path::PathBuf;

use miriam_textio::Progress;

use crate::Result;
use crate::manifest::StageStatistics;
use crate::resumable_folder::ResumableFolder;

/// The function of a stage.
pub(crate) type StageFn<'a> = dyn Fn(&dyn Progress) -> Result<StageStatistics> + 'a;

/// A step that makes files from files.
pub(crate) struct Stage<'a> {
    /// Its name in the manifest.
    pub name: &'static str,
    /// A description of what it does, for users.
    pub title: &'static str,
    /// The names of the stages whose files it reads; they come before it.
    pub dependencies: &'static [&'static str],
    /// The text of its options (`stage_keys`), and a hash of the user's files.
    pub key: String,
    /// The files it writes, relative to the folder.
    pub files: Vec<PathBuf>,
    /// Whether its files are part of the model and not temporary.
    pub is_kept: bool,
    /// The folder from which a stage that was stopped resumes, if it can.
    pub resumes_in: Option<ResumableFolder>,
    /// The function that runs it.
    pub run: Box<StageFn<'a>>,
}

impl<'a> Stage<'a> {
    /// Creates a stage that does nothing yet: without dependencies, options and files. Files that it
    /// gets are kept.
    pub fn new(name: &'static str, title: &'static str) -> Self {
        Stage {
            name,
            title,
            dependencies: &[],
            key: String::new(),
            files: Vec::new(),
            is_kept: true,
            resumes_in: None,
            run: Box::new(|_| Ok(StageStatistics::new())),
        }
    }

    /// Sets the stages whose files it reads, by name.
    pub fn after(self, dependencies: &'static [&'static str]) -> Self {
        Stage { dependencies, ..self }
    }

    /// Sets the text of its options and the hash of files of the user.
    pub fn key(self, key: impl Into<String>) -> Self {
        Stage { key: key.into(), ..self }
    }

    /// Sets the files that it writes, relative to the folder.
    pub fn writes(self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Stage { files: files.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets whether its files are part of the model and not temporary.
    pub fn kept(self, is_kept: bool) -> Self {
        Stage { is_kept, ..self }
    }

    /// Sets the folder from which it resumes after it was stopped.
    pub fn resumes_in(self, folder: ResumableFolder) -> Self {
        Stage { resumes_in: Some(folder), ..self }
    }

    /// Sets its function.
    pub fn run(self, run: impl Fn(&dyn Progress) -> Result<StageStatistics> + 'a) -> Self {
        Stage { run: Box::new(run), ..self }
    }
}
