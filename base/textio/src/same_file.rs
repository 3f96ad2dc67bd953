//! Whether two paths name one file, so that nothing is read and written at once.

use std::path::{Path, PathBuf};

/// Whether both paths name one regular file, which need not exist yet. False for `-` and for
/// devices: several streams may share those.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    if one.as_os_str() == "-" || other.as_os_str() == "-" {
        return false;
    }
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        (Err(_), Err(_)) => {
            let folder = |path: &Path| path.parent().map(canonical_folder);
            one.file_name() == other.file_name() && folder(one) == folder(other)
        }
        _ => false,
    }
}

/// `folder` as an absolute path without links, or as it is where it does not exist.
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
            // First neither exists, then one.
            std::fs::write(path("a"), "").unwrap();
        }
        assert!(!is_same_file(Path::new("-"), Path::new("-")));
        assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
