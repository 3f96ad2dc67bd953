//! Fingerprint of a model's files, which tells whether they changed after it was opened.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The identities of files. Files of models are replaced by rename, so a changed file has another
/// number.
pub(super) struct Fingerprint(Vec<(PathBuf, Option<Identity>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Fingerprint {
    pub fn of(files: impl Iterator<Item = PathBuf>) -> Self {
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        files.dedup();
        Fingerprint(
            files
                .into_iter()
                .map(|file| {
                    let identity = Identity::of(&file);
                    (file, identity)
                })
                .collect(),
        )
    }

    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.iter().filter_map(|(_, identity)| identity.as_ref()).map(|file| file.length).sum()
    }

    /// Returns the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(file, _)| &**file)
    }

    /// Whether all files are unchanged.
    pub fn is_current(&self) -> bool {
        self.0.iter().all(|(file, identity)| Identity::of(file) == *identity)
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
        let files = self.0.iter().filter_map(|(file, identity)| Some((file, (*identity)?)));
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
}
