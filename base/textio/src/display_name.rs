//! Names of files in messages and in commands.

use std::path::Path;

/// Returns the name of the input `path` in messages: the path, or `standard input` for `-`.
pub fn display_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

/// Returns `path` as an argument of a shell command that a user may copy. It is in single quotes
/// if the shell would not read it literally.
pub fn quote_for_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_path() {
        let quoted = quote_for_shell(Path::new("a/b-c_1.npz"));
        assert_eq!(quoted, "a/b-c_1.npz");
        for name in ["my model/moses.ini", "it's", "$HOME", "a*b", "übung", "x;y", ""] {
            let script = format!("printf %s {}", quote_for_shell(Path::new(name)));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), name);
        }
    }
}
