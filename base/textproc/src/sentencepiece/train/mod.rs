//! Training of SentencePiece models: a vocabulary of pieces from the counts of a text's words.
//!
//! Pieces never cross word boundaries (`split_by_whitespace` of `spm_train`), so only the distinct
//! words of a text and their counts matter. The length of the corpus and the order of its lines
//! have no influence on time or result. Sums of expectations are integers, so models are the same
//! bytes for any number of threads.
//!
//! Rules and defaults are those of `spm_train`; ids are Marian's: `</s>` 0, `<unk>` 1. BPE pieces
//! and scores are those of `spm_train`, too. Unigram pieces differ, because the seeds here include
//! words that are always followed by a space.

mod alphabet;
mod bpe;
mod expectation;
mod model_writer;
mod piece_rules;
mod pruning;
mod seed;
mod unigram;

use std::collections::BTreeSet;

use rayon::prelude::*;

use self::alphabet::{Alphabet, BOUNDARY};
use super::normalizer::{Normalizer, SPACE_SYMBOL};
use super::trie::DoubleArrayTrie;
use super::{ModelType, byte_piece};
use crate::WordCounts;

/// The character map `nmt_nfkc`: NFKC, with white space of all kinds as a space and without control
/// characters. It is made by `tests/charsmap.rs`.
pub static NMT_NFKC_CHARSMAP: &[u8] = include_bytes!("../../../charsmaps/nmt_nfkc.charsmap");

/// The normalisation of text before segmentation. Runs of spaces always become one space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// By [`NMT_NFKC_CHARSMAP`].
    NmtNfkc,
    /// Characters stay unchanged.
    Identity,
}

/// Options of training.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// The segmentation algorithm.
    pub model_type: ModelType,
    /// The number of pieces, with `</s>`, `<unk>`, user-defined symbols and byte pieces.
    pub vocab_size: usize,
    /// Whether it is an error if the text has fewer pieces than `vocab_size`; otherwise the model
    /// has fewer.
    pub hard_vocab_limit: bool,
    /// The share of the text's characters that must be in pieces, from 0 to 1: the most frequent
    /// characters become pieces until they make up this share. Other characters are unknown.
    pub character_coverage: f64,
    /// The normalisation of text.
    pub normalization: Normalization,
    /// Whether unknown characters are segmented into pieces of one byte.
    pub byte_fallback: bool,
    /// Pieces that are never divided, such as tags. They are left out when pieces are learned, as
    /// `</s>`, `<unk>` and byte pieces are, and come before all learned pieces.
    pub user_defined_symbols: Vec<String>,
}

impl Default for TrainOptions {
    /// Returns the options of a unigram model of 8,000 pieces, with the defaults of `spm_train`.
    fn default() -> Self {
        TrainOptions {
            model_type: ModelType::Unigram,
            vocab_size: 8000,
            hard_vocab_limit: true,
            character_coverage: 0.9995,
            normalization: Normalization::NmtNfkc,
            byte_fallback: false,
            user_defined_symbols: Vec::new(),
        }
    }
}

impl TrainOptions {
    /// Checks that user-defined symbols can be pieces of the model, each once.
    ///
    /// # Errors
    /// If a symbol cannot be a piece; the error names the first such symbol.
    pub fn check_symbols(&self) -> Result<(), TrainError> {
        let symbols = &self.user_defined_symbols;
        for (number, symbol) in symbols.iter().enumerate() {
            let is_byte = || (0..=255).any(|byte| *symbol == byte_piece(byte));
            let problems = [
                (symbol.is_empty(), "has no characters"),
                (symbol.contains(char::is_whitespace), "has white space, which divides words"),
                (matches!(&symbol[..], "</s>" | "<unk>"), "is a piece of every model"),
                (self.byte_fallback && is_byte(), "is the piece of a byte"),
                (symbols[..number].contains(symbol), "is given twice"),
            ];
            if let Some((_, reason)) = problems.into_iter().find(|(is_so, _)| *is_so) {
                return Err(TrainError::UserDefinedSymbol { symbol: symbol.clone(), reason });
            }
        }
        Ok(())
    }
}

/// Errors of training.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// A user-defined symbol cannot be a piece, or is one already.
    #[error("the user-defined symbol {symbol} {reason}")]
    UserDefinedSymbol {
        /// The symbol.
        symbol: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The normalised text is empty.
    #[error("the text has no words")]
    NoText,
    /// The vocabulary is too small for the characters of the text and the special pieces.
    #[error("{asked} pieces are too few for the characters of the text; use {least} or more")]
    TooFewPieces {
        /// The number of pieces asked for.
        asked: usize,
        /// The smallest possible number.
        least: usize,
    },
    /// The vocabulary is larger than the number of different pieces.
    #[error("{asked} pieces are more than the text has; use {most} or fewer")]
    TooManyPieces {
        /// The number of pieces asked for.
        asked: usize,
        /// The largest possible number.
        most: usize,
    },
    /// The threads to train on cannot be started.
    #[error("cannot start threads: {reason}; use fewer threads")]
    Threads {
        /// The reason of the operating system.
        reason: String,
    },
    /// The caller cancelled the training.
    #[error("cancelled")]
    Cancelled,
}

/// A trainer of SentencePiece models.
///
/// # Examples
/// ```
/// use miriam_textproc::sentencepiece::{Encoding, PieceTrainer, TrainOptions};
/// use miriam_textproc::{SentencePiece, WordCounts};
///
/// let mut counts = WordCounts::default();
/// for line in ["der Hund bellt", "die Hunde bellen", "ein Hund", "das Hündchen bellt"] {
///     counts.add_line(line.as_bytes());
/// }
/// let options = TrainOptions { vocab_size: 24, ..TrainOptions::default() };
/// let model = PieceTrainer::new(options).train(&counts, 1, |_, _| true)?;
/// let model = SentencePiece::from_bytes(&model, "learned")?;
/// assert_eq!((model.len(), model.piece_id(b"</s>"), model.unknown_id()), (24, Some(0), 1));
/// let mut encoding = Encoding::new();
/// model.encode(b"Hunde bellen", &mut encoding);
/// assert!(!encoding.ids().contains(&1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PieceTrainer {
    options: TrainOptions,
    normalizer: Normalizer,
    /// The pieces that the model has without learning.
    special_pieces: DoubleArrayTrie,
}

/// A piece of text with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPiece {
    pub text: Box<[u8]>,
    pub score: f64,
}

impl PieceTrainer {
    /// Returns a trainer with these options.
    pub fn new(options: TrainOptions) -> Self {
        let mut normalizer = Normalizer::default();
        if options.normalization == Normalization::NmtNfkc {
            normalizer.set_charsmap(NMT_NFKC_CHARSMAP).expect("the map is part of the program");
        }
        normalizer.set_user_defined(options.user_defined_symbols.iter().map(String::as_bytes));
        let bytes: Vec<String> = (0..=255).map(byte_piece).collect();
        let bytes = if options.byte_fallback { &bytes[..] } else { &[] };
        let special = options.user_defined_symbols.iter().chain(bytes).map(String::as_bytes);
        // Symbols are checked later: here, some may be empty or given twice.
        let special = special.filter(|piece| !piece.is_empty());
        let special: BTreeSet<&[u8]> = special.chain([&b"</s>"[..], b"<unk>"]).collect();
        let special_pieces = DoubleArrayTrie::new(special.into_iter().map(|piece| (0, piece)));
        PieceTrainer { options, normalizer, special_pieces }
    }

    /// Learns a model from the words of a text ([`WordCounts::add_line`] splits them), on `threads`
    /// threads. `progress` is called from time to time with the finished and the total work, and
    /// returns whether to continue.
    ///
    /// The threads are new and end with the training, because the threads of rayon's global pool do
    /// not exist in a forked child process.
    ///
    /// The returned bytes are a model file. They depend only on the counts and the options, not on
    /// `threads`.
    ///
    /// # Errors
    /// If a user-defined symbol cannot be a piece; if the text is empty, or has too many characters
    /// or too few pieces for the size; if the threads cannot be started, or `progress` returns
    /// false.
    pub fn train(
        &self,
        counts: &WordCounts,
        threads: usize,
        progress: impl FnMut(u64, u64) -> bool + Send,
    ) -> Result<Vec<u8>, TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
        let pool = pool.map_err(|error| TrainError::Threads { reason: error.to_string() })?;
        pool.install(|| self.train_in_pool(counts, progress))
    }

    /// Does the work of `train` on the threads of the current pool.
    fn train_in_pool(
        &self,
        counts: &WordCounts,
        mut progress: impl FnMut(u64, u64) -> bool,
    ) -> Result<Vec<u8>, TrainError> {
        self.options.check_symbols()?;
        let words = self.normalize(counts);
        if words.iter().all(|(word, _)| word == BOUNDARY) {
            return Err(TrainError::NoText);
        }
        let alphabet = Alphabet::new(&words, self.options.character_coverage);
        let fragments = alphabet.split_words(&words);
        let num_special = model_writer::num_special_pieces(&self.options);
        let asked = self.options.vocab_size;
        let least = num_special + alphabet.len();
        let num_pieces = match asked.checked_sub(num_special) {
            Some(num_pieces) if num_pieces >= alphabet.len() => num_pieces,
            _ => return Err(TrainError::TooFewPieces { asked, least }),
        };
        let pieces = match self.options.model_type {
            ModelType::Unigram => unigram::learn(&alphabet, &fragments, num_pieces, &mut progress),
            ModelType::Bpe => bpe::learn(&alphabet, &fragments, num_pieces, &mut progress),
        };
        let pieces = pieces.ok_or(TrainError::Cancelled)?;
        let vocab_size = num_special + pieces.len();
        if vocab_size < asked && self.options.hard_vocab_limit {
            return Err(TrainError::TooManyPieces { asked, most: vocab_size });
        }
        Ok(model_writer::write(&TrainOptions { vocab_size, ..self.options.clone() }, &pieces))
    }

    /// Returns the normalised words, divided at special pieces. A word begins with U+2581; its
    /// parts after a special piece do not. Each special piece leaves a [`BOUNDARY`].
    fn normalize(&self, counts: &WordCounts) -> WordCounts {
        let words: Vec<(&[u8], u64)> = counts.iter().collect();
        let parts = words.par_chunks(words.len().div_ceil(rayon::current_num_threads()).max(1));
        fn merge(mut a: WordCounts, b: WordCounts) -> WordCounts {
            a.merge(b);
            a
        }
        parts
            .map(|part| {
                let mut normalized = WordCounts::default();
                for &(word, count) in part {
                    self.add_normalized(word, count, &mut normalized);
                }
                normalized
            })
            .reduce(WordCounts::default, merge)
    }

    /// Adds the words of the normalised `text`, divided at special pieces.
    #[doc(hidden)]
    pub fn add_normalized(&self, text: &[u8], count: u64, normalized: &mut WordCounts) {
        let mut normal = Vec::new();
        self.normalizer.normalize(text, false, &mut normal);
        let mut start = 0;
        while start < normal.len() {
            let begin = start + SPACE_SYMBOL.len();
            let next = memchr::memmem::find(&normal[begin.min(normal.len())..], SPACE_SYMBOL);
            let end = next.map_or(normal.len(), |offset| begin + offset);
            self.add_without_special(&normal[start..end], count, normalized);
            start = end;
        }
    }

    /// Adds the parts of a normalised word between special pieces, and a boundary for each piece.
    fn add_without_special(&self, word: &[u8], count: u64, normalized: &mut WordCounts) {
        let (mut start, mut at) = (0, 0);
        while at < word.len() {
            let Some(length) = self.special_pieces.longest_prefix(&word[at..]) else {
                at += 1;
                continue;
            };
            if start < at {
                normalized.add(&word[start..at], count);
            }
            normalized.add(BOUNDARY, count);
            at += length;
            start = at;
        }
        if start < word.len() {
            normalized.add(&word[start..], count);
        }
    }
}
