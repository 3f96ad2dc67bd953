//! Generator of the character map `nmt_nfkc`, by which models for translation normalise text: NFKC
//! (Unicode Standard Annex 15), white space of all kinds as a space, no control characters.
//!
//! A map replaces the longest key at each position. For longest matches to give NFKC of whole
//! texts, keys include the sequences that NFKC composes, with each character in all its compatible
//! forms. A key is left out if shorter keys already normalise its text correctly.

use hashbrown::HashMap;
use unicode_normalization::UnicodeNormalization;

use crate::double_array;

/// Characters that become a space.
pub const SPACES: [char; 15] = [
    '\t', '\n', '\u{c}', '\r', '\u{61c}', '\u{1680}', '\u{200b}', '\u{200c}', '\u{200e}',
    '\u{200f}', '\u{2028}', '\u{2029}', '\u{2581}', '\u{feff}', '\u{fffd}',
];
/// Characters that are removed, with the other control characters of ASCII.
pub const REMOVED: [char; 4] = ['\u{b}', '\u{7f}', '\u{8f}', '\u{9f}'];
/// In Japanese text, the full-width tilde is a separate character.
pub const UNCHANGED: char = '\u{ff5e}';
/// The maximum number of forms of a sequence. Sequences with more forms come from words in squares
/// and Roman numerals, whose characters are normalised one by one anyway.
const MAX_FORMS: usize = 3_000;

/// Returns the map in the format of SentencePiece models: the size of the double array in bytes,
/// its units, and the replacements, each with a final zero byte.
pub fn nmt_nfkc_charsmap() -> Vec<u8> {
    double_array::compile(&nmt_nfkc_replacements())
}

/// Returns the keys with their replacements, in no particular order.
fn nmt_nfkc_replacements() -> Vec<(String, String)> {
    let mut map = SequenceMap::default();
    // Characters that decompose to one character, by that character.
    let mut forms: HashMap<char, Vec<char>> = HashMap::new();
    let mut sequences = Vec::new();
    let (mut composed, mut decomposed) = (String::new(), Vec::new());
    for character in '\u{1}'..=char::MAX {
        decomposed.clear();
        decomposed.extend(std::iter::once(character).nfkd());
        if decomposed == [character] {
            continue;
        }
        composed.clear();
        composed.extend(std::iter::once(character).nfkc());
        if character != UNCHANGED && !composed.chars().eq([character]) {
            map.insert(&[character], &composed);
        }
        match decomposed[..] {
            [single] => forms.entry(single).or_insert_with(|| vec![single]).push(character),
            // Other sequences are normalised character by character.
            _ if composed.chars().count() < decomposed.len() => {
                sequences.push((decomposed.clone(), composed.clone()));
            }
            _ => {}
        }
    }
    for character in SPACES {
        map.insert(&[character], " ");
    }
    for character in ('\u{1}'..='\u{8}').chain('\u{e}'..='\u{1f}').chain(REMOVED) {
        map.insert(&[character], "");
    }
    // Shorter keys come first: a longer one is needed only if they do not suffice.
    let expanded = expand_forms(&sequences, &forms);
    for length in 2..=expanded.iter().map(|(key, _)| key.len()).max().unwrap_or(0) {
        let long_enough = expanded.iter().filter(|(key, _)| key.len() == length);
        let needed: Vec<_> = long_enough
            .filter(|(key, sequence)| map.normalize(key, length - 1) != sequences[*sequence].1)
            .collect();
        for (key, sequence) in needed {
            map.insert(key, &sequences[*sequence].1);
        }
    }
    map.entries
        .into_iter()
        .map(|(key, replacement)| (key.into_iter().collect(), replacement))
        .collect()
}

/// Returns all spellings of each sequence with the forms of its characters. A sequence with more
/// than [`MAX_FORMS`] spellings is left out.
fn expand_forms(
    sequences: &[(Vec<char>, String)],
    forms: &HashMap<char, Vec<char>>,
) -> Vec<(Vec<char>, usize)> {
    let mut expanded = Vec::new();
    for (number, (decomposed, _)) in sequences.iter().enumerate() {
        let choices: Vec<&[char]> = decomposed
            .iter()
            .map(|character| {
                forms.get(character).map_or(std::slice::from_ref(character), |forms| &forms[..])
            })
            .collect();
        let num_forms = choices.iter().fold(1usize, |num, one| num.saturating_mul(one.len()));
        if num_forms > MAX_FORMS {
            continue;
        }
        for mut choice in 0..num_forms {
            let key = choices.iter().map(|one| {
                let character = one[choice % one.len()];
                choice /= one.len();
                character
            });
            expanded.push((key.collect(), number));
        }
    }
    expanded
}

/// Replacements of sequences of characters.
#[derive(Default)]
struct SequenceMap {
    entries: HashMap<Vec<char>, String>,
}

impl SequenceMap {
    fn insert(&mut self, key: &[char], replacement: &str) {
        self.entries.insert(key.to_vec(), replacement.to_owned());
    }

    /// Replaces the longest keys, of at most `longest` characters, in `text` from left to right.
    fn normalize(&self, text: &[char], longest: usize) -> String {
        let mut normal = String::new();
        let mut rest = text;
        while let [first, ..] = rest {
            let lengths = (1..=longest.min(rest.len())).rev();
            let mut found = lengths.filter_map(|length| {
                self.entries.get(&rest[..length]).map(|replacement| (length, replacement))
            });
            let length = match found.next() {
                Some((length, replacement)) => {
                    normal.push_str(replacement);
                    length
                }
                None => {
                    normal.push(*first);
                    1
                }
            };
            rest = &rest[length..];
        }
        normal
    }
}
