//! Nonbreaking prefixes: words that keep the full stop after them, such as abbreviations,
//! initials and ordinals.
//!
//! Each list in `prefixes/` names its source. The lists of Czech, German, English, Spanish and
//! French are Moses' lists, because tests compare the tokens of these languages with Moses; the
//! others were collected for this project. The collected lists leave out everyday words, and words
//! for "and so on", which often end a sentence. All these files have a format of our own: words
//! between white space under the headings `anywhere:` and `before a number:`, and comment lines
//! that begin with `#`. A user's list, for any language, has Moses' format, one word per line.

use std::path::Path;

use hashbrown::HashMap;

use crate::characters::{is_blank, last_char};
use crate::{Error, Result, text_file};

/// The places where a word keeps the full stop after it.
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
    /// The length in bytes of the longest word with a full stop inside; 0 if there is none.
    longest_dotted: usize,
}

const NUMERIC_ONLY_MARK: &[u8] = b"#NUMERIC_ONLY#";

/// The lists, by the code of their language.
const BUILT_IN_LISTS: [(&str, &str); 46] = [
    ("as", include_str!("../prefixes/as.txt")),
    ("bg", include_str!("../prefixes/bg.txt")),
    ("bn", include_str!("../prefixes/bn.txt")),
    ("ca", include_str!("../prefixes/ca.txt")),
    ("cs", include_str!("../prefixes/cs.txt")),
    ("da", include_str!("../prefixes/da.txt")),
    ("de", include_str!("../prefixes/de.txt")),
    ("el", include_str!("../prefixes/el.txt")),
    ("en", include_str!("../prefixes/en.txt")),
    ("es", include_str!("../prefixes/es.txt")),
    ("et", include_str!("../prefixes/et.txt")),
    ("fi", include_str!("../prefixes/fi.txt")),
    ("fr", include_str!("../prefixes/fr.txt")),
    ("ga", include_str!("../prefixes/ga.txt")),
    ("gu", include_str!("../prefixes/gu.txt")),
    ("hi", include_str!("../prefixes/hi.txt")),
    ("hr", include_str!("../prefixes/hr.txt")),
    ("hu", include_str!("../prefixes/hu.txt")),
    ("is", include_str!("../prefixes/is.txt")),
    ("it", include_str!("../prefixes/it.txt")),
    ("kn", include_str!("../prefixes/kn.txt")),
    ("lt", include_str!("../prefixes/lt.txt")),
    ("lv", include_str!("../prefixes/lv.txt")),
    ("ml", include_str!("../prefixes/ml.txt")),
    ("mni", include_str!("../prefixes/mni.txt")),
    ("mr", include_str!("../prefixes/mr.txt")),
    ("nb", include_str!("../prefixes/no.txt")),
    ("nl", include_str!("../prefixes/nl.txt")),
    ("no", include_str!("../prefixes/no.txt")),
    ("or", include_str!("../prefixes/or.txt")),
    ("pa", include_str!("../prefixes/pa.txt")),
    ("pl", include_str!("../prefixes/pl.txt")),
    ("pt", include_str!("../prefixes/pt.txt")),
    ("ro", include_str!("../prefixes/ro.txt")),
    ("ru", include_str!("../prefixes/ru.txt")),
    ("sk", include_str!("../prefixes/sk.txt")),
    ("sl", include_str!("../prefixes/sl.txt")),
    ("sr", include_str!("../prefixes/sr.txt")),
    ("sv", include_str!("../prefixes/sv.txt")),
    ("ta", include_str!("../prefixes/ta.txt")),
    ("tdt", include_str!("../prefixes/tdt.txt")),
    ("te", include_str!("../prefixes/te.txt")),
    ("tr", include_str!("../prefixes/tr.txt")),
    ("uk", include_str!("../prefixes/uk.txt")),
    ("yue", include_str!("../prefixes/yue.txt")),
    ("zh", include_str!("../prefixes/zh.txt")),
];

impl NonbreakingPrefixes {
    /// Returns the built-in list of `language`, named by two or three letters as in Moses; `None`
    /// if there is no such list.
    pub fn for_language(language: &str) -> Option<Self> {
        let (_, list) = BUILT_IN_LISTS.iter().find(|(name, _)| *name == language)?;
        Some(Self::parse_built_in(list))
    }

    /// Returns the languages that have a built-in list.
    pub fn built_in_languages() -> impl Iterator<Item = &'static str> {
        BUILT_IN_LISTS.iter().map(|&(name, _)| name)
    }

    /// Returns a warning if there is no built-in list for `language`.
    pub fn unknown_language_warning(language: &str) -> Option<String> {
        if Self::built_in_languages().any(|name| name == language) {
            return None;
        }
        let known: Vec<&str> = Self::built_in_languages().collect();
        let known = known.join(", ");
        Some(format!(
            "no list of abbreviations for {language:?}, only for {known}; using the English list"
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
        Self::from_words(words)
    }

    /// Reads a list in Moses' format: one word per line, `#NUMERIC_ONLY#` after words that count
    /// only before numbers, comments on lines that begin with `#`. The word `0` is skipped, because
    /// it is false in Perl.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Content`] if it contains no words.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = text_file::read(path)?;
        let prefixes = Self::parse_moses(&text);
        if prefixes.words.is_empty() {
            let reason = "the list is empty; write one word per line".into();
            return Err(Error::Content { file, reason });
        }
        Ok(prefixes)
    }

    /// Parses the text of a list in Moses' format, see [`NonbreakingPrefixes::read`].
    pub fn parse_moses(text: &[u8]) -> Self {
        let mut words = HashMap::new();
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if matches!(line, b"" | b"0" | [b'#', ..]) {
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
        Self::from_words(words)
    }

    fn from_words(words: HashMap<Box<[u8]>, PrefixScope>) -> Self {
        let dotted = words.keys().filter(|word| word.contains(&b'.'));
        let longest_dotted = dotted.map(|word| word.len()).max().unwrap_or(0);
        NonbreakingPrefixes { words, longest_dotted }
    }

    /// Returns the length in bytes of the longest word with a full stop inside, such as `p.ej`; 0
    /// if there is none.
    pub(crate) fn longest_dotted(&self) -> usize {
        self.longest_dotted
    }

    #[inline]
    pub(crate) fn get(&self, word: &[u8]) -> Option<PrefixScope> {
        self.words.get(word).copied()
    }
}

/// Returns the byte offset of the last character of a text.
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
    }

    /// The languages of Moses' lists, by Moses' codes.
    const MOSES_LANGUAGES: [&str; 38] = [
        "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu",
        "is", "it", "kn", "lt", "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru",
        "sk", "sl", "sv", "ta", "tdt", "te", "yue", "zh",
    ];

    #[test]
    fn every_language_of_moses_has_a_list_that_names_its_source() {
        let languages: Vec<&str> = NonbreakingPrefixes::built_in_languages().collect();
        assert!(languages.is_sorted());
        for language in MOSES_LANGUAGES {
            assert!(languages.contains(&language), "{language}");
        }
        for (language, text) in BUILT_IN_LISTS {
            let comments: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
            let comments = comments.concat();
            assert!(comments.contains("Source: ") || comments.contains("Moses'"), "{language}");
            let prefixes = NonbreakingPrefixes::parse_built_in(text);
            assert!(prefixes.words.len() > 30, "{language}");
            for word in prefixes.words.keys() {
                let ends_well = !word.ends_with(b":") && !word.ends_with(b".");
                assert!(ends_well && !word.starts_with(b"#"), "{language}");
            }
        }
    }

    #[test]
    fn common_abbreviations_of_other_languages_are_known() {
        for (language, anywhere, before_number) in [
            ("ru", &["г", "ул", "им", "т.е", "А"][..], &["стр", "гл"][..]),
            ("uk", &["м", "вул", "ім", "Є"], &["стор"]),
            ("el", &["κ", "π.χ", "βλ", "Α"], &["σελ"]),
            ("pl", &["św", "ul", "dr", "prof", "tzn"], &["nr", "godz"]),
            ("hu", &["dr", "pl", "Kft", "i.sz"], &["old"]),
            ("it", &["Sig", "dott", "avv", "p.es"], &["pag", "art"]),
            ("ro", &["dl", "str", "prof"], &["nr", "art"]),
            ("hi", &["डॉ", "श्री"], &["नं"]),
            ("ta", &["திரு", "டாக்டர்"], &["எண்"]),
        ] {
            let list = NonbreakingPrefixes::for_language(language).unwrap();
            let scope = |word: &str| list.get(word.as_bytes());
            for word in anywhere {
                assert_eq!(scope(word), Some(PrefixScope::Anywhere), "{language}: {word}");
            }
            for word in before_number {
                assert_eq!(scope(word), Some(PrefixScope::BeforeNumber), "{language}: {word}");
            }
        }
        // Everyday words and words for "and so on" end sentences.
        for (language, word) in
            [("ru", "лет"), ("pl", "rok"), ("sl", "let"), ("sv", "sen"), ("ru", "т.д")]
        {
            let list = NonbreakingPrefixes::for_language(language).unwrap();
            assert_eq!(list.get(word.as_bytes()), None, "{language}: {word}");
        }
    }

    #[test]
    fn users_lists_are_read_as_moses_reads_them() {
        let list = NonbreakingPrefixes::parse_moses(
            b"# a list\nMr\nNo #NUMERIC_ONLY#\r\nfig\t#NUMERIC_ONLY#\n0\n\n\xff\n#NUMERIC_ONLY#",
        );
        assert_eq!(list.get(b"Mr"), Some(PrefixScope::Anywhere));
        assert_eq!(list.get(b"No"), Some(PrefixScope::BeforeNumber));
        assert_eq!(list.get(b"fig"), Some(PrefixScope::BeforeNumber));
        assert_eq!(list.get(b"\xff"), Some(PrefixScope::Anywhere));
        assert_eq!(list.get(b"# a list"), None);
        assert_eq!(list.get(b"0"), None);
        assert_eq!(list.words.len(), 4);
    }
}
