//! Text processing before and after translation:
//!
//! - a tokeniser, detokeniser, truecaser and punctuation normaliser with the same results as Moses'
//!   scripts;
//! - a [splitter of sentences](SentenceSplitter), and [documents](Document) (running text and pages
//!   of HTML or XML) that are joined from translated sentences;
//! - a [detector of languages](LanguageDetector), and [tags](LanguageTag) that name languages;
//! - [`SentencePiece`] models, applied and [trained](sentencepiece::PieceTrainer), and
//!   [BPE codes](BpeCodes), applied and [learned](learn_bpe) from [counts of words](WordCounts);
//! - [CCNet's normalisation](normalize_ccnet).
//!
//! Tools that rewrite a line take its bytes without the line end, and append to a vector. They
//! accept any bytes: one that is not valid UTF-8 counts as a character. Callers handle files and
//! threads; this crate reads only the lists and models that its tools need, and only the training
//! of SentencePiece models uses several threads.
//!
//! # Examples
//! ```
//! use miriam_textproc::{Detokenizer, Tokenizer};
//!
//! let (mut tokens, mut text) = (Vec::new(), Vec::new());
//! Tokenizer::new("en").tokenize(b"Mr. Smith's dog (the big one) barks.", &mut tokens);
//! assert_eq!(tokens, b"Mr. Smith &apos;s dog ( the big one ) barks .");
//! Detokenizer::new("en").detokenize(&tokens, &mut text);
//! assert_eq!(text, b"Mr. Smith's dog (the big one) barks.");
//! ```

#![forbid(unsafe_code)]

mod bpe;
mod ccnet_normalizer;
mod characters;
mod detokenizer;
mod document;
mod error;
mod escape;
mod html;
mod interruption;
mod language_detection;
mod language_tag;
mod length_limit;
mod links;
mod nonbreaking_prefixes;
mod open_quotes;
mod punctuation_normalizer;
mod reference_marks;
mod segment;
mod sentence_breaks;
mod sentence_splitter;
pub mod sentencepiece;
mod steps;
mod text_file;
mod text_processor;
mod token_spans;
mod tokenization_sample;
mod tokenizer;
mod tokenizer_rules;
mod translatable;
mod truecaser;
mod unicode_punctuation;
mod word_counts;

pub use bpe::{BpeCodes, BpeLearnOptions, BpeScratch, LearnedBpe, add_bpe_line, learn_bpe};
pub use ccnet_normalizer::normalize_ccnet;
pub use detokenizer::Detokenizer;
pub use document::{Document, DocumentCutter, DocumentFormat, Split};
pub use error::{Error, Result};
pub use escape::{escape_line, unescape_special_chars};
pub use html::MarkupRules;
pub use interruption::Interrupted;
pub use language_detection::{DetectedLanguage, LanguageDetector};
pub use language_tag::LanguageTag;
pub use links::{Link, LinkedText, Links, TokenLinks, WeightedLink};
pub use nonbreaking_prefixes::NonbreakingPrefixes;
pub use punctuation_normalizer::PunctuationNormalizer;
pub use segment::{AlignedTranslation, Segment, SegmentWriter};
pub use sentence_splitter::SentenceSplitter;
pub use sentencepiece::SentencePiece;
pub use text_processor::{TextProcessor, TextProcessorConfig};
pub use token_spans::locate_tokens;
pub use tokenization_sample::TokenizationSample;
pub use tokenizer::{ProtectedPatterns, Tokenizer};
pub use translatable::needs_translation;
pub use truecaser::{TruecaseModel, TruecaseTrainer, detruecase};
pub use unicode_punctuation::{
    prepare_for_opus_mt, remove_non_printing_chars, replace_unicode_punctuation,
};
pub use word_counts::WordCounts;
