//! The native module `miriam._native` of the Python package (`docs/python.md`).
//!
//! It only converts between Python's objects and the types of this workspace; the algorithms are
//! in the other crates. The Python files in `miriam/` define the public modules. Without the
//! feature `extension` the crate is empty, so that the workspace builds without Python.
//!
//! Two rules: long work runs without the interpreter's lock, and it is interruptible
//! (`interrupt`). Text tools keep the lock for a single line and while they read their small files.

#![cfg(feature = "extension")]
#![deny(unsafe_code)]

mod align;
mod combine;
mod ct2;
mod errors;
mod interrupt;
mod kenlm;
mod lm;
mod lm_files;
mod metrics;
mod open;
mod phrase;
mod pickle;
mod text;
mod text_tools;
mod train;
mod warning;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::align::{align, evaluate_links, symmetrize_links};
    #[pymodule_export]
    use crate::combine::{minimum_bayes_risk, rerank_list};
    #[pymodule_export]
    use crate::ct2::{
        AsyncScoringResult, AsyncTexts, AsyncTranslationResult, GenerationStepResult,
        ScoringResult, TranslationResult, Translator, contains_model, get_cuda_device_count,
        get_supported_compute_types, set_random_seed,
    };
    #[pymodule_export]
    use crate::kenlm::{Config, FullScoreReturn, FullScores, Model, State};
    #[pymodule_export]
    use crate::lm::LanguageModel;
    #[pymodule_export]
    use crate::lm_files::{build, dump, estimate, filter_ngrams};
    #[pymodule_export]
    use crate::metrics::{score_bleu, score_chrf, score_ter};

    #[pymodule_export]
    use crate::phrase::{PhraseTranslation, PhraseTranslator, build_system};
    #[pymodule_export]
    use crate::text_tools::{
        Bpe, Detokenizer, PunctuationNormalizer, SentencePiece, SentenceSplitter, Tokenizer,
        Truecaser, detruecase,
    };
    #[pymodule_export]
    use crate::train::{train_neural, train_phrase};

    /// Raises `ValueError` on import if the environment names an unknown instruction set.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        let check = miriam_nmt::engine::Cpu::check_limit();
        check.map_err(crate::errors::value_error)
    }

    /// The version of the distribution.
    #[pymodule_export]
    const __VERSION__: &str = env!("CARGO_PKG_VERSION");
}
