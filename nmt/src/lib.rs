//! Neural machine translation: reading models of Marian, Nematus, Amun, CTranslate2 and
//! Hugging Face, translating and scoring with them on CPUs and GPUs.
//!
//! A model is read in two steps. [`checkpoint`] maps a file and gives its named tensors,
//! whatever the format. [`architecture`] gives them a meaning: one typed description for
//! all formats, with every parameter found under one set of names and in one shape.
//! [`ModelBundle`] adds vocabularies, tokenisers, shortlist and decoder configuration, all
//! found from one path; [`formats`] has a folder or file for each format, and
//! [`model_file`] writes a bundle into one file of this program.
//! [`network`] runs a model through [`layer`] and [`engine`]; [`search`] and [`batch`]
//! decode. [`translate`](mod@translate) and [`score`](mod@score) go from lines of text to lines of
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

pub mod batch;
pub mod score;
pub mod search;
pub mod translate;

pub use miriam_gpu::{DeviceSet, gpu_count};
pub use miriam_nmt_models::{
    BPE_SEPARATOR, BoundaryTokens, BpeCodesFile, BundleOptions, DIALECTS, DecoderConfig,
    EosAfterTokens, Error, KIND, KnownKeys, LanguagePairTokens, LanguageStyle, LanguageToken,
    Languages, LearnOptions, LearnedVocabulary, MARIAN_KEYS, ModelBundle, MosesWords, OtherOption,
    Report, Result, Segmentation, SentencePieceModel, ShortlistGenerator, TokenizerPair,
    Vocabulary, WordRules, architecture, checkpoint, formats, language_code, learn_vocabulary,
    packed, select_words, shortlist, verify, words_to_yaml, yaml,
};
pub use miriam_nmt_network::{engine, layer, model_file, network, plain_parameters, reference};
