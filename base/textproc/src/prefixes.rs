//! Words that keep the full stop behind them: abbreviations, initials, ordinals.
//!
//! Which they are is a fact about a language. The lists in `prefixes/`, of the
//! languages that the tests compare with Moses, have a form of ours: words between
//! white space under the headings `anywhere:` and `before a number:`, comments behind
//! `#`. A user's own list, of any language, comes in Moses' form, a word a line.

use std::fs;
use std::path::Path;

use hashbrown::HashMap;

use crate::characters::{is_blank, last};
use crate::{Error, Result};

/// Where a word keeps the full stop behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Wherever it stands.
    Anywhere,
    /// Where a number follows.
    BeforeNumber,
}

/// A language's words that keep the full stop behind them.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    words: HashMap<Box<[u8]>, Where>,
}

const NUMERIC: &[u8] = b"#NUMERIC_ONLY#";

const LISTS: [(&str, &str); 5] = [
    ("cs", include_str!("../prefixes/cs.txt")),
    ("de", include_str!("../prefixes/de.txt")),
    ("en", include_str!("../prefixes/en.txt")),
    ("es", include_str!("../prefixes/es.txt")),
    ("fr", include_str!("../prefixes/fr.txt")),
];

impl Prefixes {
    /// The list that is built in for a language, named as in Moses.
    pub fn of_language(language: &str) -> Option<Self> {
        let (_, list) = LISTS.iter().find(|(name, _)| *name == language)?;
        Some(Self::from_list(list))
    }

    /// The languages with a list of their own.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        LISTS.iter().map(|&(name, _)| name)
    }

    fn from_list(list: &str) -> Self {
        let mut words = HashMap::new();
        let mut place = Where::Anywhere;
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            match line {
                "anywhere:" => place = Where::Anywhere,
                "before a number:" => place = Where::BeforeNumber,
                _ => words.extend(
                    line.split_ascii_whitespace().map(|word| (word.as_bytes().into(), place)),
                ),
            }
        }
        Prefixes { words }
    }

    /// Reads a list in Moses' form: a word a line, `#NUMERIC_ONLY#` behind those that
    /// count before numbers only, comments on lines that begin with `#`.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = fs::read(path).map_err(|source| Error::Io {
            file: file.clone(),
            action: "read",
            source,
        })?;
        let prefixes = Self::from_moses(&text);
        if prefixes.words.is_empty() {
            let reason = "it lists no words; give one a line".into();
            return Err(Error::Content { file, reason });
        }
        Ok(prefixes)
    }

    /// As [`Prefixes::read`], from text.
    pub fn from_moses(text: &[u8]) -> Self {
        let mut words = HashMap::new();
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let numeric = memchr::memmem::rfind(line, NUMERIC)
                .map(|at| &line[..at])
                .filter(|before| !before.is_empty() && is_blank(&before[last_start(before)..]));
            match numeric {
                // One space belongs to the mark. What is left may end in more, and
                // then the word is never met, as in Moses.
                Some(before) => {
                    words.insert(before[..last_start(before)].into(), Where::BeforeNumber)
                }
                None => words.insert(line.into(), Where::Anywhere),
            };
        }
        Prefixes { words }
    }

    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<Where> {
        self.words.get(word).copied()
    }
}

/// Where the last character of a text begins.
fn last_start(text: &[u8]) -> usize {
    text.len() - last(text).map_or(0, |symbol| symbol.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_know_what_moses_knows() {
        let english = Prefixes::of_language("en").unwrap();
        assert_eq!(english.get(b"Mr"), Some(Where::Anywhere));
        assert_eq!(english.get(b"i.e"), Some(Where::Anywhere));
        assert_eq!(english.get(b"No"), Some(Where::BeforeNumber));
        assert_eq!(english.get(b"house"), None);
        assert_eq!(english.get(b""), None);
        assert_eq!(
            Prefixes::of_language("cs").unwrap().get("tř".as_bytes()),
            Some(Where::Anywhere)
        );
        assert!(Prefixes::of_language("xx").is_none());
        for language in Prefixes::languages() {
            let prefixes = Prefixes::of_language(language).unwrap();
            assert!(prefixes.words.len() > 30, "{language}");
            for word in prefixes.words.keys() {
                assert!(!word.is_empty() && !word.ends_with(b":"), "{language}");
            }
        }
    }

    #[test]
    fn users_lists_are_read_as_moses_reads_them() {
        let list = Prefixes::from_moses(
            b"# a list\nMr\nNo #NUMERIC_ONLY#\r\nfig\t#NUMERIC_ONLY#\n\n\xff\n#NUMERIC_ONLY#",
        );
        assert_eq!(list.get(b"Mr"), Some(Where::Anywhere));
        assert_eq!(list.get(b"No"), Some(Where::BeforeNumber));
        assert_eq!(list.get(b"fig"), Some(Where::BeforeNumber));
        assert_eq!(list.get(b"\xff"), Some(Where::Anywhere));
        assert_eq!(list.get(b"# a list"), None);
        assert_eq!(list.words.len(), 4);
    }
}
