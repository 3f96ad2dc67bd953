//! Names of files in messages.

use std::path::Path;

/// Returns the name of the input `path` in messages: the path, or `standard input` for `-`.
pub fn display_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}
