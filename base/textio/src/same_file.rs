//! Comparison of paths: detects that input and output are the same file.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Whether both paths name the same regular file, also through hard or symbolic links; the file
/// need not exist yet. False for `-` and for devices, because several streams may share those.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    if one.as_os_str() == "-" || other.as_os_str() == "-" {
        return false;
    }
    match (one.metadata(), other.metadata()) {
        (Ok(first), Ok(second)) => {
            first.is_file() && second.is_file() && is_same_inode((one, &first), (other, &second))
        }
        (Err(_), Err(_)) => {
            fn folder(path: &Path) -> Option<PathBuf> {
                path.parent().map(canonical_folder)
            }
            one.file_name() == other.file_name() && folder(one) == folder(other)
        }
        _ => false,
    }
}

/// Whether two existing files are the same.
#[cfg(unix)]
fn is_same_inode((_, one): (&Path, &Metadata), (_, other): (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether two existing files are the same; hard links are not recognised.
#[cfg(not(unix))]
fn is_same_inode((one, _): (&Path, &Metadata), (other, _): (&Path, &Metadata)) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Returns `folder` as an absolute path without links, or unchanged if it does not exist.
fn canonical_folder(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let inner = folder.path().file_name().unwrap();
        let detour = folder.path().join("..").join(inner);
        for _ in 0..2 {
            assert!(is_same_file(&path("a"), &path("a")));
            assert!(is_same_file(&path("a"), &detour.join("a")));
            assert!(!is_same_file(&path("a"), &path("b")));
            // In the first round neither file exists, in the second one does.
            std::fs::write(path("a"), "").unwrap();
        }
        std::fs::write(path("b"), "").unwrap();
        assert!(!is_same_file(&path("a"), &path("b")));
        assert!(!is_same_file(Path::new("-"), Path::new("-")));
        assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
    }

    /// Writing to a link destroys what would be read.
    #[cfg(unix)]
    #[test]
    fn links_are_other_names_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("input"), "a\n").unwrap();
        std::fs::hard_link(path("input"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("hard"), path("soft")).unwrap();
        for link in ["hard", "soft"] {
            assert!(is_same_file(&path("input"), &path(link)), "{link}");
            let error = crate::Input::check_access(&path("input"), Some(&path(link))).unwrap_err();
            assert!(error.to_string().contains("it is also the output"), "{error}");
        }
    }
}
