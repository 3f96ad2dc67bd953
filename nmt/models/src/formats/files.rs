//! The files of a model, on disk or in a zip archive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miriam_storage::{Bytes, LoadMethod};
use serde::Deserialize;

use crate::checkpoint::Checkpoint;
use crate::{Result, compressed, json};

/// The files of a model. Those of an archive or of memory are found by their paths, which begin
/// with the path of the archive or folder; all others are on disk.
#[derive(Default)]
pub struct Files {
    /// The contents of the files that are not on disk.
    in_memory: BTreeMap<PathBuf, Bytes>,
}

impl Files {
    /// Opens the files of the zip archive at `path` whose names `is_wanted` accepts.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn in_archive(path: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Self> {
        let bytes = Bytes::open(path, LoadMethod::Lazy)?;
        compressed::reject_git_lfs_pointer(&bytes, path)?;
        let entries = Checkpoint::read_archive(&bytes, path, is_wanted)?;
        let entries = entries.into_iter().map(|(name, content)| (path.join(name), content));
        Ok(Files { in_memory: entries.collect() })
    }

    /// Creates the files of a folder from memory, as if they were in `folder`.
    pub fn in_memory(folder: &Path, files: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        let files = files.into_iter().map(|(name, content)| (folder.join(name), content));
        Files { in_memory: files.collect() }
    }

    /// Returns the paths of the files that are not on disk.
    pub fn in_memory_paths(&self) -> impl Iterator<Item = &Path> {
        self.in_memory.keys().map(PathBuf::as_path)
    }

    pub fn is_file(&self, path: &Path) -> bool {
        self.in_memory.contains_key(path) || path.is_file()
    }

    /// Returns `path`, or the path of its compressed form if only that exists. Compressed forms are
    /// looked for on disk only.
    pub fn find(&self, path: PathBuf) -> PathBuf {
        if self.in_memory.contains_key(&path) { path } else { compressed::find(path) }
    }

    /// Opens the content of a file. If it is on disk, it may be compressed.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn open(&self, path: &Path) -> Result<Bytes> {
        match self.in_memory.get(path) {
            Some(content) => Ok(content.clone()),
            None => compressed::open(path),
        }
    }

    /// Reads the JSON file at `path`.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and if it is not JSON or does not have the structure of `T`.
    pub fn read_json<T: for<'a> Deserialize<'a>>(&self, path: &Path) -> Result<T> {
        json::parse(&self.open(path)?, path)
    }
}

/// Whether the name of a file has this extension, in upper or lower case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Returns the names of the files and folders in `folder`, sorted.
///
/// # Errors
/// If the folder cannot be listed.
pub fn file_names(folder: &Path) -> Result<Vec<String>> {
    let names = std::fs::read_dir(folder).and_then(|entries| {
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect::<std::io::Result<Vec<String>>>()
    });
    let mut names = names.map_err(|e| miriam_storage::Error::io(folder, "list", e))?;
    names.sort_unstable();
    Ok(names)
}
