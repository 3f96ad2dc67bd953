//! The folder of a stage whose unfinished work the next run uses, with other work in it or beside
//! it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::Manifest;
use crate::{Error, Result};

/// The key of work that is being removed.
const EMPTYING: &str = "emptying";

/// The folder of a stage whose unfinished work is used by the next run. If the next run has other
/// options or texts it is emptied, or stays until it has a replacement.
pub(crate) struct ResumableFolder {
    /// The folder, relative to that of the model. No other stage writes to it.
    pub path: PathBuf,
    /// The folder in which work begins anew while `path` has that of other options or texts. It
    /// takes the place of `path` when the stage is done. The stage works in it if it is there.
    pub replacement: Option<PathBuf>,
    /// The text of the options that the unfinished work depends on.
    pub key: String,
    /// The names of the stages that it depends on; they come before this one.
    pub dependencies: &'static [&'static str],
}

impl ResumableFolder {
    /// Prepares the folder for work with `key` of the stage called `name`, which resumes what began
    /// with the same key, here or in the replacement.
    ///
    /// # Errors
    /// If there is work that no stage of this folder began.
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
        // While nothing is at `path` no work belongs to the wrong key: a run that is killed here
        // finds the replacement, or the same work in its place.
        manifest.replace_started(name, key);
        manifest.save(folder)?;
        fs::rename(&new, &path).map_err(|e| Error::io(&new, "move", e))?;
        remove_if_exists(&old)
    }
}

/// Returns the place of the folder that the one at `replacement` replaces, until it is removed.
fn replaced_folder(replacement: &Path) -> PathBuf {
    replacement.with_extension("old")
}

/// Whether the folder at `path` has work that began with another key than `key`; it began with
/// `started`.
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

/// Removes the folder at `path`, whose work the manifest has under `name`. A run that is killed in
/// between removes it again.
fn empty(folder: &Path, path: &Path, name: &str, manifest: &mut Manifest) -> Result<()> {
    manifest.replace_started(name, EMPTYING);
    manifest.save(folder)?;
    fs::remove_dir_all(path).map_err(|e| Error::io(path, "remove", e))
}
