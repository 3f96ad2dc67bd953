//! References that are given by the common first part of their names, as Moses' scripts take them.

use std::path::{Path, PathBuf};

use miriam_storage::paths::with_suffix;

/// Returns the first part of the names of numbered references: `STEM.ref` if `STEM.ref0` exists,
/// but neither `STEM` nor `STEM0`; otherwise `STEM`.
pub fn find_stem(stem: &Path) -> PathBuf {
    if !stem.exists() && !with_suffix(stem, "0").exists() && with_suffix(stem, ".ref0").exists() {
        return with_suffix(stem, ".ref");
    }
    stem.to_owned()
}

/// Returns the files `STEM0`, `STEM1` and so on, as far as they exist.
pub fn find_numbered(stem: &Path) -> Vec<PathBuf> {
    let numbered = (0..).map(|number| with_suffix(stem, &format!("{number}")));
    numbered.take_while(|path| path.exists()).collect()
}

/// Returns the references that mert-moses.pl reads for each name: a file, or the numbered files if
/// there is no file of this name. Names without files are unchanged.
pub fn expand(names: &[PathBuf]) -> Vec<PathBuf> {
    let mut references = Vec::new();
    for name in names {
        match find_numbered(&find_stem(name)) {
            numbered if !numbered.is_empty() && !name.exists() => references.extend(numbered),
            _ => references.push(name.clone()),
        }
    }
    references
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_numbered_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let expanded = |name: &str| expand(&[path(name)]);
        for name in ["one", "one0", "two0", "two1", "two3", "three.ref0"] {
            std::fs::write(path(name), "").unwrap();
        }
        assert_eq!(expanded("one"), [path("one")], "a file of this name comes first");
        assert_eq!(expanded("two"), [path("two0"), path("two1")]);
        assert_eq!(expanded("three"), [path("three.ref0")]);
        assert_eq!(expanded("four"), [path("four")]);
    }
}
