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
mod language;
mod normalizer;
mod prefixes;
mod preparation;
pub mod sentence_piece;
mod tokenizer;
mod truecaser;

pub use bpe::{BpeCodes, BpeWork};
pub use detokenizer::Detokenizer;
pub use error::{Error, Result};
pub use escape::{escape, unescape};
pub use normalizer::Normalizer;
pub use prefixes::Prefixes;
pub use preparation::{Preparation, PreparationSettings};
pub use sentence_piece::SentencePiece;
pub use tokenizer::{Protected, Tokenizer};
pub use truecaser::{TruecaseModel, TruecaseTraining, detruecase};
