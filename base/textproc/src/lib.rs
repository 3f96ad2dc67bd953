//! Text as people write it, and text as translation models know it: tokeniser,
//! detokeniser, truecaser and punctuation normaliser, line for line what Moses'
//! scripts give; and [`SentencePiece`].
//!
//! All of them take a line of bytes without its end and append to a vector; none
//! fails on any text, and a byte that is part of no character is a sign of its own.
//! They know nothing of files and threads beyond the lists and models that they read.

#![forbid(unsafe_code)]

mod bpe;
mod characters;
mod detokenizer;
mod error;
mod escape;
mod nonbreaking_prefixes;
mod punctuation_normalizer;
pub mod sentencepiece;
mod text_processor;
mod tokenizer;
mod tokenizer_rules;
mod truecaser;

pub use bpe::{BpeCodes, BpeScratch};
pub use detokenizer::Detokenizer;
pub use error::{Error, Result};
pub use escape::{escape_special_chars, unescape_special_chars};
pub use nonbreaking_prefixes::NonbreakingPrefixes;
pub use punctuation_normalizer::PunctuationNormalizer;
pub use sentencepiece::SentencePiece;
pub use text_processor::{TextProcessor, TextProcessorConfig};
pub use tokenizer::{ProtectedPatterns, Tokenizer};
pub use truecaser::{TruecaseModel, TruecaseTrainer, detruecase};
