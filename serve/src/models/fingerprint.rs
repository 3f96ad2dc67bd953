//! Fingerprint of a model's files, which tells whether they changed after it was opened.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The identities of files. Files of models are replaced by rename, so a changed file has another
/// inode number.
pub(crate) struct Fingerprint {
    files: Vec<(PathBuf, Option<Identity>)>,
    /// The files in those paths that are folders: the identity of a folder does not change when a
    /// file in it is written again.
    in_folders: BTreeSet<(PathBuf, Identity)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    device: u64,
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        Some(Identity {
            device: data.dev(),
            inode: data.ino(),
            length: data.len(),
            changed: (data.mtime(), data.mtime_nsec()),
        })
    }
}

/// Returns the files directly in those of `paths` that are folders.
fn files_in_folders<'p>(paths: impl Iterator<Item = &'p Path>) -> BTreeSet<(PathBuf, Identity)> {
    let entries = paths.filter_map(|path| path.read_dir().ok()).flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    files.filter_map(|file| Identity::of(&file).map(|identity| (file, identity))).collect()
}

impl Fingerprint {
    pub fn of(files: impl Iterator<Item = PathBuf>) -> Self {
        let mut paths: Vec<PathBuf> = files.collect();
        paths.sort();
        paths.dedup();
        let in_folders = files_in_folders(paths.iter().map(|path| &**path));
        let files = paths.into_iter().map(|file| {
            let identity = Identity::of(&file);
            (file, identity)
        });
        Fingerprint { files: files.collect(), in_folders }
    }

    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        let identities = self.files.iter().filter_map(|(_, identity)| identity.as_ref());
        identities.map(|file| file.length).sum()
    }

    /// Returns the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(file, _)| &**file)
    }

    /// Whether all files, and the files in folders, are unchanged.
    pub fn is_current(&self) -> bool {
        self.files.iter().all(|(file, identity)| Identity::of(file) == *identity)
            && self.in_folders == files_in_folders(self.paths())
    }

    /// Returns the files that were changed in place.
    pub fn changed_in_place(&self) -> Vec<&Path> {
        fn is_changed(file: &Path, before: Identity) -> bool {
            let now = Identity::of(file);
            now.is_some_and(|now| {
                (now.device, now.inode) == (before.device, before.inode)
                    && (now.length, now.changed) != (before.length, before.changed)
                    && file.is_file()
            })
        }
        let files = self.files.iter().filter_map(|(file, identity)| Some((file, (*identity)?)));
        files.filter(|(file, before)| is_changed(file, *before)).map(|(file, _)| &**file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_the_same_until_they_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["model", "new"].map(|name| folder.path().join(name));
        std::fs::write(&file, "one").unwrap();
        let before = Fingerprint::of([file.clone(), folder.path().join("absent")].into_iter());
        assert!(before.is_current());
        std::fs::write(&other, "two").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert!(!before.is_current() && before.changed_in_place().is_empty());
        let before = Fingerprint::of(std::iter::once(file.clone()));
        std::fs::write(&file, "three").unwrap();
        assert!(!before.is_current());
        assert_eq!(before.changed_in_place(), [file.as_path()]);
    }

    #[test]
    fn files_in_folders_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model");
        std::fs::write(&file, "one").unwrap();
        let identity = Identity::of(folder.path());
        let before = Fingerprint::of(std::iter::once(folder.path().to_owned()));
        assert!(before.is_current());
        std::fs::write(&file, "three").unwrap();
        assert_eq!(Identity::of(folder.path()), identity, "the folder itself has not changed");
        assert!(!before.is_current());
        let before = Fingerprint::of(std::iter::once(folder.path().to_owned()));
        std::fs::remove_file(&file).unwrap();
        assert!(!before.is_current());
    }
}
