//! Nonbreaking prefixes: words that keep the full stop after them, such as abbreviations,
//! initials and ordinals.
//!
//! The lists in `prefixes/` are for the languages that the tests compare with Moses, and
//! their words are Moses' (each file says so). Their format is ours: words between white
//! space under the headings `anywhere:` and `before a number:`, comment lines begin with
//! `#`. A user's own list, of any language, has Moses' format, a word a line.

use std::fs;
use std::path::Path;

use hashbrown::HashMap;

use crate::characters::{is_blank, last_char};
use crate::{Error, Result};

/// Where a word keeps the full stop after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrefixScope {
    /// Everywhere.
    Anywhere,
    /// Only before a number.
    BeforeNumber,
}

/// The words of a language that keep the full stop after them.
#[derive(Clone, Debug, Default)]
pub struct NonbreakingPrefixes {
    words: HashMap<Box<[u8]>, PrefixScope>,
}

const NUMERIC_ONLY_MARK: &[u8] = b"#NUMERIC_ONLY#";

const BUILT_IN_LISTS: [(&str, &str); 5] = [
    ("cs", include_str!("../prefixes/cs.txt")),
    ("de", include_str!("../prefixes/de.txt")),
    ("en", include_str!("../prefixes/en.txt")),
    ("es", include_str!("../prefixes/es.txt")),
    ("fr", include_str!("../prefixes/fr.txt")),
];

impl NonbreakingPrefixes {
    /// The built-in list of `language`, named by two letters as in Moses; `None` if there
    /// is none.
    pub fn for_language(language: &str) -> Option<Self> {
        let (_, list) = BUILT_IN_LISTS.iter().find(|(name, _)| *name == language)?;
        Some(Self::parse_built_in(list))
    }

    /// The languages that have a built-in list.
    pub fn built_in_languages() -> impl Iterator<Item = &'static str> {
        BUILT_IN_LISTS.iter().map(|&(name, _)| name)
    }

    /// A warning if there is no built-in list of `language`.
    pub fn find_unknown_language(language: &str) -> Option<String> {
        if Self::for_language(language).is_some() {
            return None;
        }
        let known: Vec<&str> = Self::built_in_languages().collect();
        let known = known.join(", ");
        Some(format!(
            "no abbreviations of {language:?} are known, only of {known}; English's are taken"
        ))
    }

    fn parse_built_in(list: &str) -> Self {
        let mut words = HashMap::new();
        let mut scope = PrefixScope::Anywhere;
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            match line {
                "anywhere:" => scope = PrefixScope::Anywhere,
                "before a number:" => scope = PrefixScope::BeforeNumber,
                _ => words.extend(
                    line.split_ascii_whitespace().map(|word| (word.as_bytes().into(), scope)),
                ),
            }
        }
        NonbreakingPrefixes { words }
    }

    /// Reads a list in Moses' format: a word a line, `#NUMERIC_ONLY#` after those that
    /// count only before numbers, comments on lines that begin with `#`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Content`] if it lists no
    /// word.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = fs::read(path).map_err(Error::cannot_read(&file))?;
        let prefixes = Self::parse_moses(&text);
        if prefixes.words.is_empty() {
            let reason = "it lists no words; give one a line".into();
            return Err(Error::Content { file, reason });
        }
        Ok(prefixes)
    }

    /// Parses the text of a list in Moses' format, as [`NonbreakingPrefixes::read`].
    pub fn parse_moses(text: &[u8]) -> Self {
        let mut words = HashMap::new();
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let numeric =
                memchr::memmem::rfind(line, NUMERIC_ONLY_MARK).map(|at| &line[..at]).filter(
                    |before| !before.is_empty() && is_blank(&before[last_char_start(before)..]),
                );
            match numeric {
                // One space belongs to the mark. If more spaces remain, the word matches
                // nothing, as in Moses.
                Some(before) => words
                    .insert(before[..last_char_start(before)].into(), PrefixScope::BeforeNumber),
                None => words.insert(line.into(), PrefixScope::Anywhere),
            };
        }
        NonbreakingPrefixes { words }
    }

    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<PrefixScope> {
        self.words.get(word).copied()
    }
}

/// The byte offset of the last character of a text.
fn last_char_start(text: &[u8]) -> usize {
    text.len() - last_char(text).map_or(0, |symbol| symbol.byte_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_know_what_moses_knows() {
        let english = NonbreakingPrefixes::for_language("en").unwrap();
        assert_eq!(english.get(b"Mr"), Some(PrefixScope::Anywhere));
        assert_eq!(english.get(b"i.e"), Some(PrefixScope::Anywhere));
        assert_eq!(english.get(b"No"), Some(PrefixScope::BeforeNumber));
        assert_eq!(english.get(b"house"), None);
        assert_eq!(english.get(b""), None);
        assert_eq!(
            NonbreakingPrefixes::for_language("cs").unwrap().get("tř".as_bytes()),
            Some(PrefixScope::Anywhere)
        );
        assert!(NonbreakingPrefixes::for_language("xx").is_none());
        for language in NonbreakingPrefixes::built_in_languages() {
            let prefixes = NonbreakingPrefixes::for_language(language).unwrap();
            assert!(prefixes.words.len() > 30, "{language}");
            for word in prefixes.words.keys() {
                assert!(!word.is_empty() && !word.ends_with(b":"), "{language}");
            }
        }
    }

    #[test]
    fn users_lists_are_read_as_moses_reads_them() {
        let list = NonbreakingPrefixes::parse_moses(
            b"# a list\nMr\nNo #NUMERIC_ONLY#\r\nfig\t#NUMERIC_ONLY#\n\n\xff\n#NUMERIC_ONLY#",
        );
        assert_eq!(list.get(b"Mr"), Some(PrefixScope::Anywhere));
        assert_eq!(list.get(b"No"), Some(PrefixScope::BeforeNumber));
        assert_eq!(list.get(b"fig"), Some(PrefixScope::BeforeNumber));
        assert_eq!(list.get(b"\xff"), Some(PrefixScope::Anywhere));
        assert_eq!(list.get(b"# a list"), None);
        assert_eq!(list.words.len(), 4);
    }
}
