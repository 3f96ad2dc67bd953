//! The texts of options from which stage keys are made.
//!
//! A key decides whether a stage must run again, and the folders of earlier runs hold hashes
//! of exactly these texts. So each text is written out here, with the names that types and fields
//! had when the format was set. Renaming a type or changing its `Debug` text does not change the
//! keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miriam_align::{AlignModel, Symmetrization};
use miriam_decoder::tuning::TuningAlgorithm;

use crate::corpus::LengthLimits;
use crate::{LanguagePair, LmKind, TrainOptions, Tuning};

/// Returns the text of the options for cleaning a parallel text whose files have the hash `hash`.
pub(crate) fn corpus(hash: &str, limits: LengthLimits) -> String {
    let LengthLimits { max_words, max_ratio } = limits;
    format!("{hash} Bounds {{ words: {max_words}, ratio: {max_ratio} }}")
}

/// Returns the text of the options of word alignment.
pub(crate) fn align(model: AlignModel, symmetrization: Symmetrization) -> String {
    let model = align_model_name(model);
    let symmetrization = match symmetrization {
        Symmetrization::Forward => "Forward",
        Symmetrization::Reverse => "Reverse",
        Symmetrization::Intersection => "Intersection",
        Symmetrization::Union => "Union",
        Symmetrization::Grow => "Grow",
        Symmetrization::GrowDiag => "GrowDiag",
        Symmetrization::GrowDiagFinal => "GrowDiagFinal",
        Symmetrization::GrowDiagFinalAnd => "GrowDiagFinalAnd",
    };
    format!("{model} {symmetrization}")
}

/// Returns the text of the options of phrase extraction. Names of reordering models have no
/// characters to escape.
pub(crate) fn extract(max_length: usize, reordering: Option<&str>) -> String {
    match reordering {
        Some(name) => format!("{max_length} Some(\"{name}\")"),
        None => format!("{max_length} None"),
    }
}

/// Returns the text of the options of the language model.
pub(crate) fn language_model(options: &TrainOptions) -> String {
    let prune: Vec<String> = options.lm_prune.iter().map(u64::to_string).collect();
    let kind = lm_kind_name(options.lm_kind);
    format!("{} [{}] {kind} {}", options.lm_order, prune.join(", "), options.keep_text)
}

/// Returns the text of the options of tuning; `None` keeps the initial weights.
pub(crate) fn tuning(tuning: Option<Tuning>, seed: u64) -> String {
    let Some(Tuning { method, iterations }) = tuning else { return "None".into() };
    let method = method_name(method);
    let iterations = match iterations {
        Some(iterations) => format!("Some({iterations})"),
        None => "None".into(),
    };
    format!("Some(Tuning {{ method: {method}, seed: {seed}, iterations: {iterations} }})")
}

/// Returns the options that results depend on, as they are given on the command line, so that a
/// later run can report which have changed. The names of files are only reported: stages compare
/// files by their bytes.
pub(crate) fn option_texts(options: &TrainOptions) -> BTreeMap<String, String> {
    let prune: Vec<String> = options.lm_prune.iter().map(u64::to_string).collect();
    let method = options.tuning.map(|tuning| method_name(tuning.method).to_lowercase());
    let iterations = options.tuning.and_then(|tuning| tuning.iterations);
    let dev = options.dev.as_ref();
    let neural = options.neural.as_ref();
    let is_tuned = options.tuning.is_some() || neural.is_some();
    let task = neural.map(|neural| neural.task.clone().unwrap_or_else(|| "by size".into()));
    let vocab_size = neural.and_then(|neural| neural.vocab_size);
    let texts = [
        ("source", path_text(&options.source)),
        ("target", path_text(&options.target)),
        ("raw", or_none(options.raw_languages.as_ref().map(pair_text))),
        ("dev-source", or_none(dev.map(|(source, _)| path_text(source)))),
        ("dev-target", or_none(dev.map(|(_, target)| path_text(target)))),
        ("max-words", options.max_words.to_string()),
        ("max-ratio", options.max_ratio.to_string()),
        ("alignment-model", align_model_name(options.alignment_model).to_lowercase()),
        ("symmetrize", options.symmetrization.name().into()),
        ("max-length", options.max_length.to_string()),
        ("reordering", or_none(options.reordering.clone())),
        ("lm-order", options.lm_order.to_string()),
        ("lm-prune", or_none((!prune.is_empty()).then(|| prune.join(" ")))),
        ("lm-type", lm_kind_name(options.lm_kind).to_lowercase()),
        ("method", or_none(method)),
        ("seed", or_none(is_tuned.then(|| options.seed.to_string()))),
        ("iterations", iterations.map_or("the default".into(), |n| n.to_string())),
        ("neural, the task,", or_none(task)),
        ("neural-config", list_paths(neural.map_or(&[], |neural| &neural.configs))),
        ("back-translate", list_paths(neural.map_or(&[], |neural| &neural.back_translate))),
        ("neural-candidates", neural.map_or(0, |neural| neural.candidates).to_string()),
        ("vocab-size", vocab_size.map_or("by size".into(), |n| n.to_string())),
    ];
    texts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn align_model_name(model: AlignModel) -> &'static str {
    match model {
        AlignModel::Ibm2 => "Ibm2",
        AlignModel::Hmm => "Hmm",
    }
}

fn lm_kind_name(kind: LmKind) -> &'static str {
    match kind {
        LmKind::Probing => "Probing",
        LmKind::Trie => "Trie",
    }
}

fn method_name(method: TuningAlgorithm) -> &'static str {
    match method {
        TuningAlgorithm::Mira => "Mira",
        TuningAlgorithm::Mert => "Mert",
        TuningAlgorithm::Pro => "Pro",
    }
}

fn pair_text(languages: &LanguagePair) -> String {
    format!("{} {}", languages.source, languages.target)
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "none".into())
}

fn list_paths(paths: &[PathBuf]) -> String {
    let texts: Vec<String> = paths.iter().map(|path| path_text(path)).collect();
    or_none((!texts.is_empty()).then(|| texts.join(" ")))
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that the first release hashed, letter by letter.
    #[test]
    fn keys_are_those_of_folders_trained_before() {
        let limits = LengthLimits { max_words: 80, max_ratio: 9 };
        assert_eq!(corpus("00ff", limits), "00ff Bounds { words: 80, ratio: 9 }");

        assert_eq!(
            align(AlignModel::Ibm2, Symmetrization::GrowDiagFinalAnd),
            "Ibm2 GrowDiagFinalAnd"
        );
        let names = Symmetrization::ALL.map(|heuristic| align(AlignModel::Hmm, heuristic));
        assert_eq!(
            names.join(","),
            "Hmm Forward,Hmm Reverse,Hmm Intersection,Hmm Union,Hmm Grow,Hmm GrowDiag,\
             Hmm GrowDiagFinal,Hmm GrowDiagFinalAnd"
        );

        assert_eq!(
            extract(7, Some("wbe-msd-bidirectional-fe")),
            "7 Some(\"wbe-msd-bidirectional-fe\")"
        );
        assert_eq!(extract(7, None), "7 None");

        let mut options = TrainOptions::new("s".into(), "t".into(), "o".into());
        options.lm_prune = vec![0, 0, 1];
        assert_eq!(language_model(&options), "5 [0, 0, 1] Probing false");
        options.lm_prune.clear();
        (options.lm_kind, options.keep_text) = (LmKind::Trie, true);
        assert_eq!(language_model(&options), "5 [] Trie true");

        let mira = Tuning { method: TuningAlgorithm::Mira, iterations: None };
        assert_eq!(
            tuning(Some(mira), 1),
            "Some(Tuning { method: Mira, seed: 1, iterations: None })"
        );
        let mert = Tuning { method: TuningAlgorithm::Mert, iterations: Some(3) };
        assert_eq!(
            tuning(Some(mert), 7),
            "Some(Tuning { method: Mert, seed: 7, iterations: Some(3) })"
        );
        assert_eq!(tuning(None, 7), "None");
    }
}
