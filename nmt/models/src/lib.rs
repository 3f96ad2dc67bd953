//! Models of Marian, Nematus, Amun, CTranslate2, Hugging Face, OPUS-MT, Argos Translate and
//! Firefox, and the files that belong to them, read into one description.
//!
//! A model is read in two steps. [`checkpoint`] maps a file and gives its named tensors,
//! whatever the format. [`architecture`] gives them a meaning: one typed description for
//! all formats, with every parameter found under one set of names and in one shape.
//! [`ModelBundle`] adds vocabularies, tokenizers, shortlist and decoder configuration, all
//! found from one path; [`formats`] has a folder or file for each format. Models are run by
//! `miriam-nmt-network`.

#![forbid(unsafe_code)]

pub mod architecture;
pub mod checkpoint;
mod compressed;
mod decoder_config;
mod error;
pub mod formats;
mod json;
mod languages;
mod model_bundle;
pub mod packed;
mod report;
mod segmentation;
pub mod shortlist;
mod vocabulary;
pub mod yaml;

pub use decoder_config::{
    AlignmentFormat, DecoderConfig, DecodingSemantics, EarlyStopping, KnownKeys, MARIAN_KEYS,
    OtherOption,
};
pub use error::{Error, Result};
pub use formats::BundleOptions;
pub use formats::miriam::{KIND, verify};
pub use languages::{LanguagePairTokens, LanguageStyle, LanguageToken, Languages, language_code};
pub use model_bundle::{
    BoundaryTokens, EosAfterTokens, ModelBundle, ShortlistGenerator, TokenizerPair,
};
pub use report::{DIALECTS, Report};
pub use segmentation::{
    BPE_SEPARATOR, BpeCodesFile, MosesWords, Segmentation, SentencePieceModel, WordRules,
};
pub use vocabulary::{
    LearnOptions, LearnedVocabulary, Vocabulary, learn_vocabulary, select_words, words_to_yaml,
};
