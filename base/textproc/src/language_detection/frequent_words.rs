//! Frequent words and distinctive letters of languages that share a script.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::CODES;

/// The list; its first lines describe the format.
const LIST: &str = include_str!("frequent_words.txt");

/// The weight of a word with a letter that few languages have; a frequent word counts 1.
const LETTER_WEIGHT: f64 = 0.6;

/// A set of languages, by their places in the list of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LanguageSet(u128);

impl LanguageSet {
    /// Returns the set of one language.
    pub(super) fn single(place: usize) -> Self {
        LanguageSet(1 << place)
    }

    /// Returns the languages with these codes.
    pub(super) fn from_codes(codes: &[&str]) -> Self {
        codes.iter().filter_map(|code| CODES.iter().position(|(_, known)| known == code)).collect()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        LanguageSet(self.0 & other.0)
    }

    pub(super) fn union(self, other: Self) -> Self {
        LanguageSet(self.0 | other.0)
    }

    /// Returns all languages outside the set.
    pub(super) fn complement(self) -> Self {
        LanguageSet(!self.0 & ((1 << CODES.len()) - 1))
    }

    fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the places of the languages, in order.
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        (0..CODES.len()).filter(move |&place| self.0 >> place & 1 == 1)
    }
}

impl FromIterator<usize> for LanguageSet {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        places.into_iter().fold(Self::default(), |set, place| set.union(Self::single(place)))
    }
}

/// The languages of each frequent word and of each letter.
pub(super) struct FrequentWords {
    words: HashMap<&'static str, LanguageSet>,
    letters: HashMap<char, LanguageSet>,
}

impl FrequentWords {
    /// Returns the list, which is parsed once.
    pub(super) fn get() -> &'static Self {
        static WORDS: LazyLock<FrequentWords> = LazyLock::new(|| FrequentWords::parse(LIST));
        &WORDS
    }

    fn parse(list: &'static str) -> Self {
        let mut parsed = FrequentWords { words: HashMap::new(), letters: HashMap::new() };
        let mut language = LanguageSet::default();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let words = match line.split_once(':') {
                Some((code, words)) => {
                    language = LanguageSet::from_codes(&[code]);
                    words
                }
                None => line,
            };
            for word in words.split_whitespace() {
                match word.strip_prefix('+') {
                    Some(letters) => letters.chars().for_each(|letter| {
                        let known = parsed.letters.entry(letter).or_default();
                        *known = known.union(language);
                    }),
                    None => {
                        let known = parsed.words.entry(word).or_default();
                        *known = known.union(language);
                    }
                }
            }
        }
        parsed
    }

    /// Returns the evidence of lowercase words for each language, by its place. The fewer
    /// `candidates` have a word or a letter, the more it counts.
    pub(super) fn weigh(&self, words: &[String], candidates: LanguageSet) -> Vec<f64> {
        let mut weights = vec![0.0; CODES.len()];
        let mut add = |languages: LanguageSet, weight: f64| {
            let languages = languages.intersection(candidates);
            for place in languages.places() {
                weights[place] += weight / f64::from(languages.len());
            }
        };
        for word in words {
            add(self.words.get(&word[..]).copied().unwrap_or_default(), 1.0);
            // Letters of the same languages count once in a word.
            let mut seen = Vec::new();
            for letter in word.chars().filter(|letter| !letter.is_ascii()) {
                if let Some(&languages) = self.letters.get(&letter)
                    && !seen.contains(&languages)
                {
                    add(languages, LETTER_WEIGHT);
                    seen.push(languages);
                }
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language_detection::sample::Sample;

    #[test]
    fn the_list_has_known_languages_and_words() {
        for line in LIST.lines().filter(|line| !line.starts_with('#')) {
            if let Some((code, _)) = line.split_once(':') {
                assert!(!LanguageSet::from_codes(&[code]).is_empty(), "{code}");
            }
        }
        // Each word of the list is a word by the rules of samples.
        for word in FrequentWords::get().words.keys() {
            assert_eq!(Sample::new(word.as_bytes()).all_words(), [*word]);
        }
        assert!(CODES.len() < 128);
    }
}
