//! Neural machine translation: reading models of Marian, Nematus, Amun, CTranslate2 and
//! Hugging Face, translating and scoring with them on CPUs.
//!
//! A model is read in two steps. [`checkpoint`] maps a file and gives its named tensors,
//! whatever the format. [`architecture`] gives them a meaning: one typed description for
//! all formats, with every parameter found under one set of names and in one shape.
//! [`ModelBundle`] adds vocabularies, tokenisers, shortlist and decoder configuration, all
//! found from one path; [`formats`] has a folder or file for each format, and
//! [`model_file`] writes a bundle into one file of this program.
//! [`network`] runs a model through [`layer`] and [`engine`], [`search`] and [`batch`]
//! decode, [`translate`](mod@translate) and [`score`](mod@score) go from lines of text to lines of
//! text.
//!
//! ```
//! use std::io::Cursor;
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use miriam_nmt::ModelBundle;
//! use miriam_nmt::engine::{Cpu, Autotuner};
//! use miriam_nmt::translate::{SourceText, TranslationOptions, Translator};
//! use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A folder of CTranslate2 with a tiny random model, read and loaded.
//! let bundle = ModelBundle::open(Path::new("testdata/tiny-ct2"), None)?;
//! let options = TranslationOptions::for_bundle(&bundle, None);
//! let translator = Translator::new(bundle, options, &Arc::new(Autotuner::new(Cpu::detect())))?;
//!
//! let text = Input::from_reader(Cursor::new("w2 w3 w4\nw5\n"), "text", None)?;
//! let source = SourceText { lines: Lines::new(text), prefixes: None };
//! let folder = tempfile::tempdir()?;
//! let output = Output::create(&folder.path().join("translations"))?;
//! let stop = CancellationToken::new();
//! let counts = translator.translate(source, false, output, &stop, &NoProgress, &mut |error| {
//!     panic!("line {}: {}", error.line, error.reason)
//! })?;
//! assert_eq!((counts.read, counts.written), (2, 2));
//! let translations = std::fs::read_to_string(folder.path().join("translations"))?;
//! assert_eq!(translations.lines().count(), 2);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod architecture;
pub mod batch;
pub mod checkpoint;
mod compressed;
mod decoder_config;
pub mod engine;
mod error;
pub mod formats;
mod json;
mod languages;
pub mod layer;
mod model_bundle;
pub mod model_file;
pub mod network;
pub mod packed;
pub mod reference;
mod report;
pub mod score;
pub mod search;
mod segmentation;
pub mod shortlist;
pub mod translate;
mod vocabulary;
pub mod yaml;

pub use decoder_config::{DecoderConfig, KnownKeys, MARIAN_KEYS};
pub use error::{Error, Result};
pub use formats::BundleOptions;
pub use formats::miriam::{KIND, verify};
pub use languages::{LanguageMarks, LanguageStyle, LanguageToken, Languages, language_code};
pub use model_bundle::{ModelBundle, SentenceMarks, ShortlistGenerator, TokenizerPair};
pub use report::{DIALECTS, Report};
pub use segmentation::{
    BPE_SEPARATOR, BpeCodesFile, MosesWords, Segmentation, SentencePieceModel, WordRules,
};
pub use vocabulary::{
    LearnOptions, LearnedVocabulary, Vocabulary, learn_vocabulary, select_words, words_to_yaml,
};
