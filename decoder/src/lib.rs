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

mod component_layout;
mod config;
mod coverage;
mod error;
mod factored_system;
mod factors;
mod features;
mod future_cost;
mod input_line;
mod line_errors;
mod markup;
mod n_best;
mod options;
mod output;
mod output_streams;
mod reordering_constraint;
mod reordering_model;
mod reports;
mod search;
mod sentence;
mod sentence_table;
mod set_weights;
mod surface_forms;
mod system;
mod translate;
mod translator;
pub mod tuning;

pub use component_layout::FeatureComponents;
pub use config::{
    Configuration, DecodingGraphBackoff, DecodingStep, FactorSettings, FeatureKind, FeatureSpec,
    InputSettings, LanguageModelSpec, NBestOptions, OperationSequenceModelSpec, OutputOptions,
    PhraseTableFormat, PhraseTableSpec, ReorderingSource, ReorderingSpec, SearchAlgorithm,
    Settings, UnknownWordSpec, options_help,
};
pub use error::{Error, Result};
pub use features::{Orientations, ReorderingType, Span};
pub use line_errors::{LineError, LineErrorKind};
pub use markup::{Brackets, Element, MarkedText, MarkupError, MarkupMode};
pub use n_best::Derivation;
pub use output::{TranslatedPhrase, Translation};
pub use output_streams::OutputStream;
pub use system::System;
pub use translate::{LineProcessor, translate, translate_raw_text, translate_text};
pub use translator::{MAX_SENTENCE_WORDS, Statistics, Translator};
