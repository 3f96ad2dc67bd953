//! Phrase-based decoding: from a moses.ini to translations, with Moses2's scores
//! and Moses2's output.
//!
//! [`Configuration`] reads the ini file and the command line; [`System::load`]
//! opens the models; a [`Translator`], one a thread, turns a line into a line;
//! [`translate`] runs a whole text over many threads in order. What a system is
//! made of is immutable and shared; what a sentence needs lives in buffers of
//! its translator, which are reused, so that nothing is allocated a hypothesis.
//!
//! The behaviour follows the specification of phrase-based decoding section by
//! section; modules name the section they follow.

#![forbid(unsafe_code)]

mod components;
mod config;
mod coverage;
mod error;
mod factored_system;
mod factors;
mod features;
mod future_cost;
mod input_line;
mod markup;
mod mishaps;
mod n_best;
mod options;
mod output;
mod printed_words;
mod reordering_constraint;
mod reordering_model;
mod reports;
mod reweighing;
mod search;
mod sentence;
mod sentence_table;
mod streams;
mod system;
mod translate;
mod translator;
pub mod tuning;

pub use components::FeatureComponents;
pub use config::{
    Backoff, Configuration, DecodingStep, FactorSettings, FeatureKind, FeatureSpec, InputSettings,
    LanguageModelSpec, NBestOptions, OperationModelSpec, OutputOptions, ReorderingSource,
    ReorderingSpec, SearchAlgorithm, Settings, TableFormat, TableSpec, UnknownWords, help,
};
pub use error::{Error, Result};
pub use features::{Orientations, ReorderingType, Span};
pub use markup::{Brackets, Element, MarkedText, MarkupError, MarkupMode};
pub use mishaps::{Mishap, MishapKind};
pub use n_best::Derivation;
pub use output::{PhraseMatch, Translation};
pub use streams::Stream;
pub use system::System;
pub use translate::{TextForm, translate, translate_raw_text, translate_text};
pub use translator::{PIECE, Statistics, Translator};
