//! Phrase-based decoding with a moses.ini, with Moses2's scores and output.
//!
//! [`Configuration`] reads the ini file and the command line; [`System::load`] opens the models; a
//! [`Translator`], one per thread, translates a line; [`translate()`] translates a text on many
//! threads and keeps the order of its lines. A system is immutable and shared. The data of a
//! sentence is in buffers of its translator, which are reused, so that no hypothesis needs an
//! allocation.
//!
//! The main modules form layers, each importing only those above it in this list
//! (`tests/module_circles.rs` tests this):
//!
//! - `error`, `span`, `factors`, `feature_line`, `line_errors`, `markup`, `sentence_table`,
//!   `output_streams`: words, lines and their errors;
//! - `models`: phrase tables, reordering tables, language models, the vocabulary;
//! - `sentence`, `lm_scoring`, `translation_options`, `coverage`, `future_cost`,
//!   `reordering_constraint`, `joint_states`, `hypothesis`: the data that a search reads and
//!   extends;
//! - `features`: the feature functions, one file each: keys, weights, scores, values;
//! - `config`, `input_line`: typed values from ini and command line; annotations of lines;
//! - `search_plan`, `system`: the features with their weights over the models;
//! - `option_building`, `search`: target phrases scored and pruned; both searches;
//! - `output`, `surface_forms`: a translation as it is printed;
//! - `sentence_decoder`, `decoded_sentence`, `line_decoder`: a sentence, its immutable
//!   result, a line;
//! - `n_best`, `reports`: the output for a line;
//! - `translator`, `translate`, `translate_segments`, `tuning`: one line, a text of lines, running
//!   text and HTML, the weights of a system.
//!
//! The behaviour follows the specification of phrase-based decoding section by
//! section; modules name the section they follow.
//!
//! # Examples
//!
//! ```
//! use std::fs;
//!
//! use miriam_decoder::{Configuration, System, Translator};
//! use miriam_textio::NoProgress;
//!
//! let folder = tempfile::tempdir()?;
//! let ini = folder.path().join("moses.ini");
//! fs::write(
//!     folder.path().join("phrase-table"),
//!     "das ||| the ||| 0.5\ndas haus ||| the house ||| 0.25\nhaus ||| building ||| 0.25\n",
//! )?;
//! fs::write(
//!     &ini,
//!     "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
//!      PhraseDictionaryMemory name=Table num-features=1 path=phrase-table\n\
//!      [weight]\nUnknownWordPenalty0= 1\nDistortion0= 0.5\nTable= 1\n",
//! )?;
//! let system = System::load(&Configuration::from_ini(&ini)?, &NoProgress)?;
//! let mut translator = Translator::new(&system);
//! let translation = translator.translate(b"das haus")?.expect("a translation");
//! // One phrase of probability 0.25 is better than two of 0.5 and 0.25.
//! assert_eq!(translation.phrases.len(), 1);
//! assert_eq!(translation.phrases[0].words, [b"the".to_vec(), b"house".to_vec()]);
//! assert_eq!(translation.score, 0.25f32.ln());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod binary_system;
mod config;
mod coverage;
mod cut_words;
mod decoded_sentence;
mod error;
mod factors;
mod feature_line;
mod features;
mod future_cost;
mod hypothesis;
mod ini_text;
mod input_line;
mod joint_states;
mod line_decoder;
mod line_errors;
mod lm_scoring;
mod markup;
mod models;
mod n_best;
mod option_building;
mod output;
mod output_streams;
mod preparation_copy;
mod reordering_constraint;
mod reports;
mod rescorer;
mod rescoring;
mod search;
mod search_plan;
mod sentence;
mod sentence_decoder;
mod sentence_table;
mod span;
mod surface_forms;
mod system;
mod translate;
mod translate_segments;
mod translation_options;
mod translator;
pub mod tuning;
mod unknown_words;

pub use binary_system::{BinarySystem, BuiltTable, build_binary_system};
pub use config::{
    Configuration, DecodingGraphBackoff, DecodingStep, InputSettings, MAX_CANDIDATES, NBestOptions,
    NeuralModelSpec, OutputOptions, ParameterInfo, RescoringModel, RescoringModelKind,
    SearchAlgorithm, ServerSettings, Settings, options_help, supported_parameters,
};
pub use error::{Error, Result};
pub use factors::FactorSettings;
pub use features::{
    FeatureComponents, FeatureKind, FeatureSpec, LanguageModelSpec, OperationSequenceModelSpec,
    OrientationClasses, PhraseTableFormat, PhraseTableSpec, ReorderingSource, ReorderingSpec,
    ReorderingType, UnknownWordSpec,
};
pub use line_decoder::LineLimits;
pub use line_errors::{LineError, LineErrorKind};
pub use markup::{Brackets, Element, MarkedText, MarkupError, XmlInputMode};
pub use miriam_probingpt::BuildOptions;
pub use n_best::Derivation;
pub use output::{TranslatedPhrase, Translation};
pub use output_streams::OutputStream;
pub use preparation_copy::PreparationCopy;
pub use rescoring::RescoringModelOpener;
pub use search::SearchWidth;
pub use sentence::MAX_SENTENCE_WORDS;
pub use sentence_decoder::Statistics;
pub use span::Span;
pub use system::System;
pub use translate::{LineProcessor, translate, translate_raw_text, translate_text};
pub use translate_segments::{SegmentedFormat, translate_segments};
pub use translator::{DetailOptions, DetailedTranslation, TranslationOption, Translator};
