//! Criteria of the filter: all n-grams pass, or n-grams of the words of a vocabulary, or n-grams of
//! the words or phrases of a sentence.

use std::io::{BufRead, BufReader};

use miriam_textio::{Input, Vocabulary};

use super::passes::Passes;
use super::phrases::{PhraseIndex, is_tag};
use super::{FilterFormat, FilterMode, FilterOptions};
use crate::arpa::is_space;
use crate::{MAX_ORDER, Result};

/// The condition under which an n-gram passes.
pub(super) enum Criterion {
    All,
    Words(Vocabulary),
    /// The words, with the sentences that each is in.
    Sentences {
        words: Vocabulary,
        sentences: Vec<Vec<u32>>,
        count: u32,
    },
    Phrases(PhraseIndex),
}

impl Criterion {
    /// Reads the vocabulary as `options` say.
    pub fn read(vocabulary: Input, options: &FilterOptions) -> Result<Self> {
        if options.mode == FilterMode::Copy {
            return Ok(Criterion::All);
        }
        let name = vocabulary.name().to_owned();
        // The vocabulary of a model may be on one line.
        let mut reader = BufReader::with_capacity(1 << 18, vocabulary.without_default_line_limit());
        let mut line = Vec::new();
        let mut next_line = || {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let read = read.map_err(|e| miriam_textio::Error::io(&name, "read", e))?;
            Ok::<_, crate::Error>((read > 0).then(|| line.clone()))
        };
        if options.phrases {
            // Lines of counts may have n-grams of any length.
            let mut index = PhraseIndex::new(match options.format {
                FilterFormat::Arpa => MAX_ORDER,
                FilterFormat::Raw => usize::MAX,
            });
            while let Some(line) = next_line()? {
                index.add_line(&line);
            }
            return Ok(Criterion::Phrases(index));
        }
        let (mut words, mut sentences, mut count) = (Vocabulary::new(), Vec::new(), 0);
        while let Some(line) = next_line()? {
            let mut is_blank = true;
            for word in line.split(|&byte| is_space(byte)).filter(|word| !word.is_empty()) {
                is_blank = false;
                let id = words.intern(word).index();
                if options.mode == FilterMode::Single {
                    continue;
                }
                if id == sentences.len() {
                    sentences.push(Vec::new());
                }
                if sentences[id].last() != Some(&count) {
                    sentences[id].push(count);
                }
            }
            // Blank lines are not sentences.
            count += u32::from(!is_blank);
        }
        Ok(match options.mode {
            FilterMode::Single => Criterion::Words(words),
            _ => Criterion::Sentences { words, sentences, count },
        })
    }

    /// Returns the number of sentences; 1 if the criterion does not depend on sentences.
    pub fn num_sentences(&self) -> u32 {
        match self {
            Criterion::All | Criterion::Words(_) => 1,
            Criterion::Sentences { count, .. } => *count,
            Criterion::Phrases(index) => index.num_sentences(),
        }
    }

    /// Returns a checker of n-grams; each thread has its own.
    pub fn checker(&self, options: &FilterOptions) -> Checker<'_> {
        let wants_all = options.mode == FilterMode::Multiple;
        Checker { criterion: self, wants_all, sets: Vec::new() }
    }
}

/// A checker of n-grams by a criterion.
pub(super) struct Checker<'c> {
    criterion: &'c Criterion,
    /// Whether all sentences in which an n-gram passes are wanted; otherwise one is enough.
    wants_all: bool,
    sets: Vec<&'c [u32]>,
}

impl Checker<'_> {
    /// Finds the sentences in which the n-gram of `words` passes. Tags such as `<s>` always pass,
    /// except with phrases ([`PhraseIndex::check`]).
    pub fn check(&mut self, words: &[&[u8]]) -> Passes {
        let mut required = words.iter().filter(|word| !is_tag(word));
        match self.criterion {
            Criterion::All => Passes::Everywhere,
            Criterion::Words(vocabulary) => {
                if required.all(|word| vocabulary.find(word).is_some()) {
                    Passes::Everywhere
                } else {
                    Passes::Nowhere
                }
            }
            Criterion::Sentences { words, sentences, .. } => {
                self.sets.clear();
                for word in required {
                    let Some(id) = words.find(word) else { return Passes::Nowhere };
                    self.sets.push(&sentences[id.index()]);
                }
                if self.sets.is_empty() {
                    return Passes::Everywhere;
                }
                // The rarest word has the fewest sentences to look up.
                self.sets.sort_by_key(|set| set.len());
                let (rarest, others) = (self.sets[0], &self.sets[1..]);
                let limit = if self.wants_all { usize::MAX } else { 1 };
                let common = rarest.iter().copied().filter(|sentence| {
                    others.iter().all(|set| set.binary_search(sentence).is_ok())
                });
                Passes::in_some(common.take(limit).collect())
            }
            Criterion::Phrases(index) => index.check(words),
        }
    }
}
