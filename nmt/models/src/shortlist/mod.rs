//! Shortlists: the few target tokens that the translation of a source sentence may use, so
//! that the output layer computes the logits of these tokens only (`neural.md` 1.4).
//!
//! The candidates of a sentence depend on that sentence alone. Marian takes the union over a
//! batch, so its scores depend on the other sentences of the batch; ours do not.

mod binary;
mod text;
mod vocabulary_map;

use std::path::Path;

use miriam_textio::{Input, Lines};

use crate::vocabulary::Vocabulary;
use crate::yaml::Value;
use crate::{Error, Result, compressed};

pub use vocabulary_map::VocabularyMap;

/// The number of candidates is padded to a multiple of this, as in Marian.
const CANDIDATE_MULTIPLE: usize = 8;

/// Pruning of a text shortlist (`--shortlist path first best threshold`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortlistOptions {
    /// The number of most frequent tokens that every sentence gets. They have the smallest ids.
    pub first: usize,
    /// The number of most probable translations kept for each source token.
    pub best: usize,
    /// Translations that are not more probable than this are dropped.
    pub threshold: f32,
}

impl Default for ShortlistOptions {
    fn default() -> Self {
        ShortlistOptions { first: 100, best: 100, threshold: 0.0 }
    }
}

impl ShortlistOptions {
    /// Parses the options after the file of a shortlist: up to three numbers, or a flag. Marian
    /// takes the flag for binary shortlists; the flag decides whether their checksums are checked.
    ///
    /// # Errors
    /// If a word is not a number, or more than three follow the file.
    pub fn parse(words: &[String]) -> std::result::Result<Self, String> {
        let default = ShortlistOptions::default();
        if words.len() > 3 {
            return Err(format!("{:?}: at most three numbers follow the file", words[3]));
        }
        fn is_flag(word: &str) -> bool {
            Value::Scalar(word.into()).as_bool().is_some()
        }
        let word = |at: usize| words.get(at).filter(|word| !is_flag(word));
        fn wrong(word: &str) -> String {
            format!("{word:?} is not a number")
        }
        fn count(word: Option<&String>, default: usize) -> std::result::Result<usize, String> {
            word.map_or(Ok(default), |word| word.parse().map_err(|_| wrong(word)))
        }
        let threshold = word(2).map_or(Ok(default.threshold), |word| {
            let number = word.parse().ok().filter(|number: &f32| number.is_finite());
            number.ok_or_else(|| wrong(word))
        });
        Ok(ShortlistOptions {
            first: count(word(0), default.first)?,
            best: count(word(1), default.best)?,
            threshold: threshold?,
        })
    }
}

/// The line that is used if a pair of tokens occurs several times.
#[derive(Clone, Copy)]
enum RepeatedPairs {
    /// The last line, as when Marian decodes with a text shortlist.
    LastLine,
    /// The most probable line, as when Marian converts a shortlist.
    MostProbable,
}

/// A lexical shortlist: the translations of every source token.
///
/// ```
/// use std::io::Cursor;
/// use std::path::Path;
/// use miriam_nmt_models::Vocabulary;
/// use miriam_nmt_models::shortlist::{Shortlist, ShortlistOptions};
/// use miriam_textio::{Input, Lines};
///
/// # fn main() -> Result<(), miriam_nmt_models::Error> {
/// let vocabulary = Vocabulary::open(Path::new("../testdata/tiny.vocab.yml"))?;
/// let lines = "w9 w2 0.5\nw8 w2 0.3\nw7 w2 0.1\n";
/// let lines = Lines::new(Input::from_reader(Cursor::new(lines), "lex.s2t", None)?);
/// let options = ShortlistOptions { first: 2, best: 2, threshold: 0.0 };
/// let list = Shortlist::from_lines(lines, options, &vocabulary, &vocabulary)?;
/// assert_eq!(list.translations_of(2), [8, 9]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Shortlist {
    first: usize,
    /// Offsets into `translations`, `[source tokens + 1]`.
    offsets: Vec<u64>,
    /// Target ids, ascending within a source token.
    translations: Vec<u32>,
    /// Size of the target vocabulary.
    target_vocab_size: usize,
    /// Whether both sides share their vocabulary, so that the tokens of a sentence are candidates.
    is_shared: bool,
}

impl Shortlist {
    /// Reads the file at `path`, text or binary, plain or compressed; its first bytes tell which.
    /// `options` apply to text; a binary file is pruned already.
    ///
    /// # Errors
    /// If the file cannot be read, is malformed, or belongs to other vocabularies.
    pub fn open(
        path: &Path,
        options: ShortlistOptions,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        let bytes = compressed::open(path)?;
        if binary::is_binary(&bytes) {
            return Self::from_bytes(&bytes, path, source, target);
        }
        let name = path.display().to_string();
        let lines = Lines::new(Input::from_reader(compressed::reader(bytes), &name, None)?);
        Self::from_lines(lines, options, source, target)
    }

    /// Reads a text shortlist, one `target source probability` per line.
    ///
    /// # Errors
    /// If a line cannot be read, or is not two words and a probability.
    pub fn from_lines(
        lines: Lines,
        options: ShortlistOptions,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        text::read(lines, options, RepeatedPairs::LastLine, source, target)
    }

    /// Works as [`Shortlist::from_lines`], for [`Shortlist::to_binary`]. If a pair occurs several
    /// times, as pairs of unknown words do, the most probable line is used, as in Marian's
    /// converter.
    ///
    /// # Errors
    /// Those of [`Shortlist::from_lines`].
    pub fn from_lines_for_binary(
        lines: Lines,
        options: ShortlistOptions,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        text::read(lines, options, RepeatedPairs::MostProbable, source, target)
    }

    /// Returns the binary file of the shortlist, which `options` have pruned.
    pub fn to_binary(&self, options: ShortlistOptions) -> Vec<u8> {
        binary::write(self, options)
    }

    /// Reads a binary shortlist from memory; `path` names it in messages.
    ///
    /// # Errors
    /// If it is damaged or belongs to other vocabularies.
    pub fn from_bytes(
        bytes: &[u8],
        path: &Path,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        binary::read(bytes, path, source, target)
    }

    /// Prunes, sorts and concatenates the translations of each source token.
    fn new(
        options: ShortlistOptions,
        mut lists: Vec<Vec<(f32, u32)>>,
        repeated: RepeatedPairs,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Self {
        let mut offsets = vec![0];
        let mut translations: Vec<u32> = Vec::new();
        for list in &mut lists {
            // All unknown words are one token, so a pair may occur several times. After sorting,
            // its first entry is kept.
            match repeated {
                RepeatedPairs::LastLine => {
                    list.reverse();
                    list.sort_by_key(|(_, id)| *id);
                }
                RepeatedPairs::MostProbable => {
                    list.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
                }
            }
            list.dedup_by_key(|(_, id)| *id);
            // Of equally probable translations, the ones with greater ids are kept, as in Marian.
            list.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            list.truncate(options.best);
            let begin = translations.len();
            translations.extend(list.iter().map(|(_, id)| id));
            translations[begin..].sort_unstable();
            offsets.push(translations.len() as u64);
        }
        Shortlist {
            first: options.first.min(target.len()),
            offsets,
            translations,
            target_vocab_size: target.len(),
            is_shared: source.is_shared_with(target),
        }
    }

    /// Returns the shortlist of a model file, if its parts fit together.
    pub(crate) fn from_parts(
        first: usize,
        offsets: &[u64],
        translations: &[u32],
        [source, target]: [&Vocabulary; 2],
        is_shared: bool,
    ) -> Option<Self> {
        let fits = offsets.len() == source.len() + 1
            && offsets.is_sorted()
            && offsets.first() == Some(&0)
            && offsets.last() == Some(&(translations.len() as u64))
            && translations.iter().all(|&id| (id as usize) < target.len());
        fits.then(|| Shortlist {
            first: first.min(target.len()),
            offsets: offsets.to_vec(),
            translations: translations.to_vec(),
            target_vocab_size: target.len(),
            is_shared,
        })
    }

    /// Whether both sides share their vocabulary.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns offsets `[source tokens + 1]` and the concatenated translations.
    pub(crate) fn as_parts(&self) -> (&[u64], &[u32]) {
        (&self.offsets, &self.translations)
    }

    /// Writes the candidates of a sentence, ascending and distinct, to `candidates`: the frequent
    /// tokens, the translations of the sentence's tokens and, if both sides share a vocabulary, the
    /// sentence's tokens themselves. The smallest other ids pad the list to a multiple of 8.
    pub fn candidates(&self, sentence: &[u32], candidates: &mut Vec<u32>) {
        candidates.clear();
        candidates.extend(0..self.first as u32);
        for &word in sentence {
            candidates.extend_from_slice(self.translations_of(word));
            if self.is_shared && (word as usize) < self.target_vocab_size {
                candidates.push(word);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        pad_candidates(candidates, self.first as u32, self.target_vocab_size);
    }

    /// Returns the translations of a source token, ascending; empty for an id out of range.
    pub fn translations_of(&self, word: u32) -> &[u32] {
        let word = word as usize;
        match (self.offsets.get(word), self.offsets.get(word + 1)) {
            (Some(&start), Some(&end)) => &self.translations[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Returns the number of most frequent tokens that every sentence gets.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the number of translations of all source tokens together.
    pub fn len(&self) -> usize {
        self.translations.len()
    }

    /// Whether no token has a translation.
    pub fn is_empty(&self) -> bool {
        self.translations.is_empty()
    }
}

/// Pads `candidates` to a multiple of [`CANDIDATE_MULTIPLE`] with the smallest missing ids from
/// `from` on, as far as the vocabulary has any.
fn pad_candidates(candidates: &mut Vec<u32>, from: u32, vocab_size: usize) {
    let wanted = candidates.len().next_multiple_of(CANDIDATE_MULTIPLE).min(vocab_size);
    let before = candidates.len();
    let mut id = from;
    while candidates.len() < wanted && (id as usize) < vocab_size {
        if candidates[..before].binary_search(&id).is_err() {
            candidates.push(id);
        }
        id += 1;
    }
    candidates.sort_unstable();
}

/// Returns the error of a shortlist made for another vocabulary.
fn vocabulary_mismatch(path: &Path, reason: String) -> Error {
    Error::mismatch(path, "shortlist", reason)
}

#[cfg(test)]
mod tests;
