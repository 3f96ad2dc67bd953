//! Paths of files that are named after another file.

use std::path::{Path, PathBuf};

/// Returns `path` with `suffix` after its name. A name that is not UTF-8 keeps its bytes.
///
/// ```
/// use std::path::Path;
///
/// use miriam_storage::paths::with_suffix;
///
/// assert_eq!(with_suffix(Path::new("a/model.npz"), ".yml"), Path::new("a/model.npz.yml"));
/// ```
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
