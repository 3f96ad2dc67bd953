//! Files with a temporary name, which are renamed when they are complete.
//!
//! If a run fails, is killed or the disk is full, the file with the final name stays unchanged. An
//! unfinished file is locked while its process is writing it. So a later run can distinguish files
//! of killed runs, which it may remove or overwrite, from files that another run is writing.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::file_lock::is_at;
use crate::paths::with_suffix;

/// The end of the names of unfinished files.
const SUFFIX: &str = ".partial";
/// The maximum number of symbolic links that are followed.
const MAX_LINKS: usize = 40;
/// The maximum number of attempts to create a file. Between its creation and its lock, another
/// process may mistake it for a stale file and remove it.
const MAX_ATTEMPTS: usize = 20;

/// The visible files that this process is writing, by their paths without links. They are listed
/// because a lock does not show whether this process or another one holds it.
static WRITTEN_HERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn written_here() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    WRITTEN_HERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An unfinished file, which [`commit`](PartialFile::commit) renames to its target.
#[derive(Debug)]
pub struct PartialFile {
    file: File,
    path: PathBuf,
    target: PathBuf,
    /// Whether the file stays under its partial name if it is dropped.
    is_kept: bool,
    is_committed: bool,
    /// Its path in [`WRITTEN_HERE`].
    registered: Option<PathBuf>,
}

impl PartialFile {
    /// Creates a file with a hidden name beside `target`. If it is dropped before it is complete,
    /// the hidden file is removed. Unfinished files of `target` from killed runs are removed too.
    ///
    /// # Errors
    /// If the file cannot be created. The error gives the reason, but not the hidden name.
    pub fn create_hidden(target: &Path) -> io::Result<Self> {
        let target = follow_links(target)?;
        let folder = folder_of(&target);
        let prefix = format!(".{}.", file_name(&target)?);
        remove_stale_files(folder, &prefix);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        for _ in 0..MAX_ATTEMPTS {
            let file = builder.tempfile_in(folder).map_err(|e| describe_failure(e, folder))?;
            let (file, path) = file.keep().map_err(|e| e.error)?;
            let is_locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if is_locked && is_at(&file, &path) {
                return Self::begin(file, path, target, false);
            }
        }
        Err(io::Error::other("other processes keep removing it"))
    }

    /// Creates a file named [`partial_path`] beside `target`, so that users can follow the output.
    /// If it is dropped before it is complete, it stays, unless it is empty; the next run
    /// overwrites it.
    ///
    /// # Errors
    /// If it cannot be created, or another process or another output of this one is writing it.
    pub fn create_visible(target: &Path) -> io::Result<Self> {
        Self::resume_visible(target, 0)
    }

    /// Works as [`create_visible`](PartialFile::create_visible), but keeps the first `length` bytes
    /// of an unfinished file, and writes after them.
    ///
    /// # Errors
    /// The errors of [`create_visible`](PartialFile::create_visible), and if the file is shorter
    /// than `length`.
    pub fn resume_visible(target: &Path, length: u64) -> io::Result<Self> {
        let target = follow_links(target)?;
        let name = format!("{}{SUFFIX}", file_name(&target)?);
        let (folder, path) = (folder_of(&target), partial_path(&target));
        for _ in 0..MAX_ATTEMPTS {
            if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
                return Err(io::Error::other(format!("{name} is in the way: it is not a file")));
            }
            let file = File::options().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(|e| describe_failure(e, folder))?;
            let canonical = fs::canonicalize(&path)?;
            if written_here().contains(&canonical) {
                return Err(io::Error::other(
                    "two outputs of this command have this name; give each its own",
                ));
            }
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other(format!(
                        "another process is writing {name}; let it end, or give another name"
                    )));
                }
                Err(TryLockError::Error(_)) => {}
                Ok(()) if is_at(&file, &path) => {}
                // The previous process has just renamed or removed it.
                Ok(()) => continue,
            }
            let found = file.metadata()?.len();
            if found < length {
                let reason = format!("{name} has {found} bytes, expected {length} at least");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
            }
            file.set_len(length)?;
            (&file).seek(SeekFrom::End(0))?;
            let mut partial = Self::begin(file, path, target, true)?;
            written_here().insert(canonical.clone());
            partial.registered = Some(canonical);
            return Ok(partial);
        }
        Err(io::Error::other(format!("other processes keep writing {name}")))
    }

    fn begin(file: File, path: PathBuf, target: PathBuf, is_kept: bool) -> io::Result<Self> {
        let (is_committed, registered) = (false, None);
        let partial = PartialFile { file, path, target, is_kept, is_committed, registered };
        if let Ok(replaced) = fs::metadata(&partial.target) {
            // Until the file is complete, its owner may write to it, because a later run resumes or
            // replaces it. If the permissions cannot be set, the file keeps those of a new file.
            let mut permissions = replaced.permissions();
            allow_owner_to_write(&mut permissions);
            let _ = partial.file.set_permissions(permissions);
        }
        Ok(partial)
    }

    /// Returns the file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns its temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file to disk and renames it to its target.
    ///
    /// # Errors
    /// If writing or renaming fails; the target then stays unchanged.
    pub fn commit(mut self) -> io::Result<()> {
        if let Ok(replaced) = fs::metadata(&self.target) {
            let _ = self.file.set_permissions(replaced.permissions());
        }
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        self.is_committed = true;
        // Syncing the folder makes the rename durable; where that is not supported (some network
        // file systems), the rename still holds.
        if let Ok(folder) = File::open(folder_of(&self.target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_committed
            && (!self.is_kept || self.file.metadata().is_ok_and(|found| found.len() == 0))
        {
            let _ = fs::remove_file(&self.path);
        }
        if let Some(path) = &self.registered {
            written_here().remove(path);
        }
    }
}

#[cfg(unix)]
fn allow_owner_to_write(permissions: &mut fs::Permissions) {
    use std::os::unix::fs::PermissionsExt;
    permissions.set_mode(permissions.mode() | 0o200);
}

#[cfg(not(unix))]
fn allow_owner_to_write(permissions: &mut fs::Permissions) {
    permissions.set_readonly(false);
}

/// Returns the path of the file of [`PartialFile::create_visible`].
pub fn partial_path(target: &Path) -> PathBuf {
    with_suffix(target, SUFFIX)
}

fn is_system_path(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

/// Whether `path` is a device, a pipe, an open file of the system (`/dev/stdout`) or a folder, also
/// through links, and so must not be replaced.
pub fn is_special(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if is_system_path(&path) {
            return true;
        }
        let Ok(link) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(link);
    }
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Removes unfinished hidden files of killed processes in `folder` whose names begin with `prefix`.
/// Files that another process is writing stay.
pub fn remove_stale_files(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_hidden = name.starts_with('.') && name.starts_with(prefix);
        if is_hidden && name.ends_with(SUFFIX) && entry.file_type().is_ok_and(|t| t.is_file()) {
            let path = entry.path();
            // Files that cannot be opened or removed stay; they do no harm. The lock is held until
            // the file is removed, so that a process that has just created it tries again.
            let Ok(file) = File::options().write(true).open(&path) else { continue };
            if file.try_lock().is_ok() && is_at(&file, &path) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Returns the path at the end of a chain of symbolic links; it may not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = folder_of(&path).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn file_name(path: &Path) -> io::Result<String> {
    let name = path.file_name().filter(|_| !path.is_dir());
    Ok(name
        .ok_or_else(|| io::Error::other("it is a folder; give the name of a file to write"))?
        .to_string_lossy()
        .into_owned())
}

/// Returns the reason of a failure without the path of the hidden file, which users do not know.
fn describe_failure(error: io::Error, folder: &Path) -> io::Error {
    let reason = error.to_string();
    let reason = reason.split(" at path ").next().unwrap_or_default();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let reason = format!("the folder {} does not exist", folder.display());
            io::Error::new(io::ErrorKind::NotFound, reason)
        }
        io::ErrorKind::PermissionDenied => {
            let reason = format!(
                "no file can be created in the folder {} ({reason}), where an output needs a \
                 temporary file until it is complete; choose another folder, or write to \
                 standard output and redirect that",
                folder.display()
            );
            io::Error::new(io::ErrorKind::PermissionDenied, reason)
        }
        kind => io::Error::new(kind, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> =
            entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[cfg(unix)]
    #[test]
    fn an_unfinished_file_is_writable_although_its_target_is_read_only() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("text");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o440)).unwrap();
        for _ in 0..2 {
            let partial = PartialFile::create_visible(&target).unwrap();
            partial.file().write_all(b"new").unwrap();
            drop(partial);
            assert_eq!(mode(&partial_path(&target)), 0o640);
        }
        let partial = PartialFile::create_visible(&target).unwrap();
        partial.commit().unwrap();
        assert_eq!(mode(&target), 0o440);
    }

    #[test]
    fn a_file_appears_when_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("text");
        type Create = fn(&Path) -> io::Result<PartialFile>;
        let (hidden, visible): (Create, Create) =
            (PartialFile::create_hidden, PartialFile::create_visible);
        for (create, left) in [(hidden, &[][..]), (visible, &["text.partial"])] {
            fs::write(&target, "old").unwrap();
            let partial = create(&target).unwrap();
            partial.file().write_all(b"new").unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"old");
            drop(partial);
            assert_eq!(names(folder.path()), [&["text"][..], left].concat());
            let partial = create(&target).unwrap();
            partial.file().write_all(b"n").unwrap();
            partial.commit().unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"n");
            assert_eq!(names(folder.path()), ["text"]);
            fs::remove_file(&target).unwrap();
            drop(create(&target).unwrap());
            assert_eq!(names(folder.path()), [""; 0], "nothing was written");
        }
    }

    #[test]
    fn files_of_killed_processes_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("text");
        for name in [".text.aB3dE6.partial", ".other.aB3dE6.partial", ".text.swp", "text.partial"] {
            fs::write(folder.path().join(name), "stale").unwrap();
        }
        let first = PartialFile::create_hidden(&target).unwrap();
        let second = PartialFile::create_hidden(&target).unwrap();
        assert!(first.path().exists() && second.path().exists(), "both are being written");
        let mut expected = vec![".other.aB3dE6.partial", ".text.swp", "text.partial"];
        let others = names(folder.path()).len() - 2;
        assert_eq!(others, expected.len());
        drop((first, second));
        assert_eq!(names(folder.path()), expected);
        remove_stale_files(folder.path(), ".");
        expected.remove(0);
        assert_eq!(names(folder.path()), expected);
        // A visible file is overwritten, but not while another process writes it.
        let visible = PartialFile::create_visible(&target).unwrap();
        let error = PartialFile::create_visible(&target).unwrap_err().to_string();
        assert!(error.contains("two outputs of this command have this name"), "{error}");
        // An unregistered lock looks like one of another process.
        written_here().remove(visible.registered.as_ref().unwrap());
        let error = PartialFile::create_visible(&target).unwrap_err().to_string();
        assert!(error.contains("another process is writing text.partial"), "{error}");
        visible.file().write_all(b"new").unwrap();
        visible.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn an_unfinished_file_is_continued() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("text");
        PartialFile::create_visible(&target).unwrap().file().write_all(b"one two").unwrap();
        let error = PartialFile::resume_visible(&target, 8).unwrap_err().to_string();
        assert!(error.contains("text.partial has 7 bytes, expected 8"), "{error}");
        let partial = PartialFile::resume_visible(&target, 4).unwrap();
        partial.file().write_all(b"three").unwrap();
        partial.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"one three");
    }

    #[test]
    fn errors_name_folders_and_no_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/text");
        let error = PartialFile::create_hidden(&missing).unwrap_err().to_string();
        assert!(error.ends_with("missing does not exist"), "{error}");
        fs::create_dir(folder.path().join("text.partial")).unwrap();
        let error = PartialFile::create_visible(&folder.path().join("text")).unwrap_err();
        assert!(error.to_string().contains("text.partial is in the way"), "{error}");
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = describe_failure(denied, folder.path()).to_string();
        assert!(error.contains("no file can be created in the folder /"), "{error}");
        assert!(error.contains("standard output and redirect"), "{error}");
        assert!(PartialFile::create_hidden(folder.path()).is_err());
        assert!(PartialFile::create_visible(Path::new("/")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "old").unwrap();
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("later", at("dangling")).unwrap();
        for name in ["link", "dangling"] {
            let partial = PartialFile::create_hidden(&at(name)).unwrap();
            partial.file().write_all(b"new").unwrap();
            partial.commit().unwrap();
            assert!(fs::symlink_metadata(at(name)).unwrap().is_symlink());
            assert_eq!(fs::read(at(name)).unwrap(), b"new");
        }
        let mode = fs::metadata(at("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        symlink("round", at("round")).unwrap();
        assert!(PartialFile::create_hidden(&at("round")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_open_files_are_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("log");
        std::os::unix::fs::symlink("/dev/stdout", &link).unwrap();
        for special in [Path::new("/dev/null"), Path::new("/dev/fd/1"), &link, folder.path()] {
            assert!(is_special(special), "{special:?}");
        }
        assert!(!is_special(&folder.path().join("new")));
        assert!(!is_special(Path::new("/dev/shm/new")));
    }
}
