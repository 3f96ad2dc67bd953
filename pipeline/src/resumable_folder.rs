//! The folder of a stage whose unfinished work the next run continues. It also handles a folder
//! that has the work of other options or texts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::Manifest;
use crate::{Error, Result};

/// The key of work that is being removed.
const EMPTYING: &str = "emptying";

/// The folder of a stage whose unfinished work the next run continues. If the next run has other
/// options or texts, the folder is emptied, or it is kept until its replacement is finished.
pub(crate) struct ResumableFolder {
    /// The folder, relative to the model's folder. No other stage writes to it.
    pub path: PathBuf,
    /// The folder for new work while `path` has the work of other options or texts; `None` empties
    /// `path` instead. If the replacement exists, the stage works in it. The replacement takes the
    /// place of `path` when the stage is done.
    pub replacement: Option<PathBuf>,
    /// The text of the options that the unfinished work depends on.
    pub key: String,
    /// The names of the stages that the unfinished work depends on; they come before this stage.
    pub dependencies: &'static [&'static str],
}

impl ResumableFolder {
    /// Prepares the folder for work of the stage called `name` with `key`. The stage resumes work
    /// that began with the same key, in the folder or in its replacement.
    ///
    /// # Errors
    /// If there is work that no stage of this folder began, or if a folder or the manifest cannot
    /// be changed.
    pub fn prepare(
        &self,
        folder: &Path,
        name: &str,
        key: &str,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let path = folder.join(&self.path);
        let Some(replacement) = &self.replacement else {
            if has_other_work(&path, manifest.find_started(name), key)? {
                tracing::warn!(
                    "{}: made from other texts or options; it is replaced",
                    path.display()
                );
                empty(folder, &path, name, manifest)?;
            }
            manifest.replace_started(name, key);
            return Ok(());
        };
        let (new, new_name) = (folder.join(replacement), replacement.to_string_lossy());
        if path.exists() {
            // A run was killed before it removed what it had replaced.
            remove_if_exists(&replaced_folder(&new))?;
        }
        if has_other_work(&new, manifest.find_started(&new_name), key)? {
            tracing::warn!("{}: made from other texts or options; it is removed", new.display());
            empty(folder, &new, &new_name, manifest)?;
        }
        if new.exists() {
            return Ok(());
        }
        if !has_other_work(&path, manifest.find_started(name), key)? {
            manifest.replace_started(name, key);
            return Ok(());
        }
        tracing::warn!(
            "{}: made from other texts or options; it is replaced when the work for these is done",
            path.display()
        );
        manifest.replace_started(&new_name, key);
        manifest.save(folder)?;
        fs::create_dir_all(&new).map_err(|e| Error::io(&new, "create", e))
    }

    /// Puts the replacement, if there is one, in the place of the folder, as finished work with
    /// `key`.
    ///
    /// # Errors
    /// If a folder cannot be moved or removed, or the manifest cannot be written.
    pub fn use_replacement(
        &self,
        folder: &Path,
        name: &str,
        key: &str,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let path = folder.join(&self.path);
        let new = self.replacement.iter().map(|new| folder.join(new)).find(|new| new.exists());
        let Some(new) = new else { return Ok(()) };
        let old = replaced_folder(&new);
        remove_if_exists(&old)?;
        if path.exists() {
            fs::rename(&path, &old).map_err(|e| Error::io(&path, "move", e))?;
        }
        // The key is saved while nothing is at `path`, so it never describes other work. If the run
        // is killed here, the next run finds the work in the replacement or already at `path`.
        manifest.replace_started(name, key);
        manifest.save(folder)?;
        fs::rename(&new, &path).map_err(|e| Error::io(&new, "move", e))?;
        remove_if_exists(&old)
    }
}

/// Returns the path to which the folder that `replacement` replaces is moved until it is removed.
fn replaced_folder(replacement: &Path) -> PathBuf {
    replacement.with_extension("old")
}

/// Whether the folder at `path` has work that began with another key than `key`. `started` is the
/// key with which it began.
///
/// # Errors
/// If it has work that no stage began.
fn has_other_work(path: &Path, started: Option<&str>, key: &str) -> Result<bool> {
    if started == Some(key) || !path.exists() {
        return Ok(false);
    }
    if started.is_none() {
        return Err(Error::invalid_options(format!(
            "{}: not written by this training run; move it away, or give another -o",
            path.display()
        )));
    }
    Ok(true)
}

fn remove_if_exists(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, "remove", e)),
        _ => Ok(()),
    }
}

/// Removes the folder at `path`, whose work the manifest has under `name`. If the run is killed in
/// between, the next run removes the rest.
fn empty(folder: &Path, path: &Path, name: &str, manifest: &mut Manifest) -> Result<()> {
    manifest.replace_started(name, EMPTYING);
    manifest.save(folder)?;
    fs::remove_dir_all(path).map_err(|e| Error::io(path, "remove", e))
}
