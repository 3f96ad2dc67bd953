//! Sample of a text: its first words, by script.

use unicode_script::{Script, UnicodeScript};

use super::frequent_words::LanguageSet;
use crate::characters::{CharClass, char_indices, split_whitespace};
use crate::sentence_breaks::BreakClass;
use crate::translatable::is_address;

/// The maximum number of letters in the sample.
const MAX_LETTERS: usize = 5000;

/// A script, or scripts that are used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptGroup {
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Hebrew,
    /// Chinese characters and kana.
    EastAsian,
    /// A script that only one known language uses.
    Single(Script),
    /// A script that no known language uses.
    Unknown,
}

impl ScriptGroup {
    fn from_script(script: Script) -> Self {
        match script {
            Script::Latin => ScriptGroup::Latin,
            Script::Cyrillic => ScriptGroup::Cyrillic,
            Script::Arabic => ScriptGroup::Arabic,
            Script::Devanagari => ScriptGroup::Devanagari,
            Script::Hebrew => ScriptGroup::Hebrew,
            Script::Han | Script::Hiragana | Script::Katakana => ScriptGroup::EastAsian,
            script if single_language(script).is_some() => ScriptGroup::Single(script),
            _ => ScriptGroup::Unknown,
        }
    }

    /// Returns the known languages that use these scripts.
    fn languages(self) -> LanguageSet {
        match self {
            ScriptGroup::Cyrillic => {
                LanguageSet::from_codes(&["ru", "uk", "bg", "be", "sr", "mk", "kk", "ky"])
            }
            ScriptGroup::Arabic => LanguageSet::from_codes(&["ar", "fa", "ur"]),
            ScriptGroup::Devanagari => LanguageSet::from_codes(&["hi", "mr", "ne"]),
            ScriptGroup::Hebrew => LanguageSet::from_codes(&["he", "yi"]),
            ScriptGroup::EastAsian => LanguageSet::from_codes(&["zh", "ja"]),
            ScriptGroup::Single(script) => {
                let code = single_language(script).unwrap_or_default();
                LanguageSet::from_codes(&[code])
            }
            ScriptGroup::Latin => {
                let others = [
                    ScriptGroup::Cyrillic,
                    ScriptGroup::Arabic,
                    ScriptGroup::Devanagari,
                    ScriptGroup::Hebrew,
                    ScriptGroup::EastAsian,
                ];
                let single = LanguageSet::from_codes(&SINGLE_LANGUAGES.map(|(_, code)| code));
                let others =
                    others.into_iter().fold(single, |set, group| set.union(group.languages()));
                others.complement()
            }
            ScriptGroup::Unknown => LanguageSet::default(),
        }
    }

    /// Whether the script determines the language.
    pub(super) fn is_of_one_language(self) -> bool {
        matches!(self, ScriptGroup::Single(_))
    }

    /// Returns the weight of a letter. It is high for Chinese characters and kana, because a
    /// Chinese character is about a word. It is low for Latin letters, because texts of all scripts
    /// contain names in Latin letters.
    fn letter_weight(self, script: Script) -> usize {
        match (self, script) {
            (ScriptGroup::EastAsian, _) => 12,
            (_, Script::Hangul) => 8,
            (ScriptGroup::Latin, _) => 2,
            _ => 5,
        }
    }
}

const SINGLE_LANGUAGES: [(Script, &str); 19] = [
    (Script::Armenian, "hy"),
    (Script::Bengali, "bn"),
    (Script::Ethiopic, "am"),
    (Script::Georgian, "ka"),
    (Script::Greek, "el"),
    (Script::Gujarati, "gu"),
    (Script::Gurmukhi, "pa"),
    (Script::Hangul, "ko"),
    (Script::Kannada, "kn"),
    (Script::Khmer, "km"),
    (Script::Malayalam, "ml"),
    (Script::Myanmar, "my"),
    (Script::Oriya, "or"),
    (Script::Sinhala, "si"),
    (Script::Tamil, "ta"),
    (Script::Telugu, "te"),
    (Script::Thai, "th"),
    // Bopomofo and Yi are written by speakers of Chinese languages.
    (Script::Bopomofo, "zh"),
    (Script::Yi, "zh"),
];

fn single_language(script: Script) -> Option<&'static str> {
    SINGLE_LANGUAGES.iter().find(|(known, _)| *known == script).map(|(_, code)| *code)
}

/// The first words of a text, in lower case, without addresses.
#[derive(Default)]
pub(super) struct Sample {
    words: Vec<(ScriptGroup, String)>,
    /// The number of letters of each script.
    letters: Vec<(Script, usize)>,
}

impl Sample {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut sample = Sample::default();
        let mut count = 0;
        for part in split_whitespace(text).filter(|part| !is_address(part)) {
            for (_, symbol) in char_indices(part) {
                if count >= MAX_LETTERS {
                    return sample;
                }
                sample.add(symbol.character.unwrap_or('\u{1}'), &mut count);
            }
            sample.end_word();
        }
        sample
    }

    /// Adds a letter to the last word, or to a new one if it has another script. Characters that
    /// are neither letters nor combining marks end the word.
    fn add(&mut self, character: char, count: &mut usize) {
        let class = BreakClass::from_char(character);
        if class == BreakClass::Extension {
            if let Some((_, word)) = self.words.last_mut().filter(|(_, word)| !word.is_empty()) {
                word.push(character);
            }
            return;
        }
        if !CharClass::from_char(character).intersects(CharClass::ALPHABETIC) {
            return self.end_word();
        }
        *count += 1;
        let script = character.script();
        match self.letters.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += 1,
            None => self.letters.push((script, 1)),
        }
        let group = match script {
            // Characters such as the prolonged sound mark belong to any script.
            Script::Common | Script::Inherited => {
                self.words.last().map_or(ScriptGroup::Unknown, |(group, _)| *group)
            }
            script => ScriptGroup::from_script(script),
        };
        match self.words.last_mut() {
            Some((own, word)) if *own == group || word.is_empty() => {
                *own = group;
                word.extend(character.to_lowercase());
            }
            _ => self.words.push((group, character.to_lowercase().collect())),
        }
    }

    fn end_word(&mut self) {
        if self.words.last().is_some_and(|(_, word)| !word.is_empty()) {
            self.words.push((ScriptGroup::Unknown, String::new()));
        }
    }

    pub(super) fn has_letters(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Returns the number of letters of a group of scripts.
    pub(super) fn letters_of(&self, group: ScriptGroup) -> usize {
        let own =
            self.letters.iter().filter(|(script, _)| ScriptGroup::from_script(*script) == group);
        own.map(|(_, count)| count).sum()
    }

    /// Returns the numbers of kana and of Chinese characters.
    pub(super) fn kana_and_characters(&self) -> (usize, usize) {
        let kana = self.num_letters(&[Script::Hiragana, Script::Katakana]);
        (kana, self.num_letters(&[Script::Han]))
    }

    /// Returns the number of letters of any of `scripts`.
    fn num_letters(&self, scripts: &[Script]) -> usize {
        let own = self.letters.iter().filter(|(script, _)| scripts.contains(script));
        own.map(|(_, count)| count).sum()
    }

    /// Returns the words of a group.
    pub(super) fn words_of(&self, group: ScriptGroup) -> Vec<String> {
        let own = self.words.iter().filter(|(own, word)| *own == group && !word.is_empty());
        own.map(|(_, word)| word.clone()).collect()
    }

    /// Returns the words of all scripts.
    pub(super) fn all_words(&self) -> Vec<&str> {
        let words = self.words.iter().map(|(_, word)| &word[..]);
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Returns the group of scripts with the most weight in the text among those that `allowed`
    /// languages use, and these languages. Returns `None` if there is no such group, or if less
    /// than a fifth of the text, by weight, is in it.
    pub(super) fn main_group(&self, allowed: LanguageSet) -> Option<(ScriptGroup, LanguageSet)> {
        fn weight((script, count): &(Script, usize)) -> usize {
            count * ScriptGroup::from_script(*script).letter_weight(*script)
        }
        let total: usize = self.letters.iter().map(weight).sum();
        let groups = self.letters.iter().map(|(script, _)| ScriptGroup::from_script(*script));
        let with_candidates = groups.filter_map(|group| {
            let candidates = group.languages().intersection(allowed);
            let own = self.letters.iter().filter(|(s, _)| ScriptGroup::from_script(*s) == group);
            let weight: usize = own.map(weight).sum();
            (!candidates.is_empty()).then_some((weight, group, candidates))
        });
        let (weight, group, candidates) = with_candidates.max_by_key(|(weight, ..)| *weight)?;
        (weight * 5 >= total).then_some((group, candidates))
    }
}
