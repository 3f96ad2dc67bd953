//! What people choose when they translate, and what a model's configuration or its
//! format chooses for them.

use crate::checkpoint::DType;
use crate::model_bundle::ModelBundle;
use crate::packed::Precision;
use crate::search::{DecodingSemantics, SearchOptions};

/// How text is translated.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslationOptions {
    /// The search. Its `end` and `never` are filled in from the model.
    pub search: SearchOptions,
    /// Whether the unknown word may be put out.
    pub allow_unknown: bool,
    /// The numbers that products multiply with.
    pub precision: Precision,
    /// Weights of models that vote; empty for 1 each.
    pub weights: Vec<f32>,
    /// Threads that translate, one session each.
    pub threads: usize,
    /// Sentences translated together.
    pub mini_batch: usize,
    /// Words of the source translated together; one sentence may have more; 0 is no
    /// limit.
    pub mini_batch_words: usize,
    /// Batches that are read ahead and sorted.
    pub maxi_batch: usize,
    /// Whether sentences are sorted by length.
    pub sort_by_length: bool,
    /// What comes in.
    pub input: InputOptions,
    /// What goes out.
    pub output: OutputOptions,
}

/// What the lines of the input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LineFormat {
    /// A sentence.
    #[default]
    Sentence,
    /// Fields with tabs between them: a sentence, what its translation begins with, and
    /// what it must have (`|||` between several).
    Tsv,
    /// A JSON object with `source`, and if wanted `prefix` and `constraints` (a list).
    Json,
}

/// How sentences come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputOptions {
    /// What a line is.
    pub format: LineFormat,
    /// Whether text is in pieces already.
    pub is_tokenized: bool,
    /// The longest sentence, in pieces, and the longest prefix, and the most pieces of all
    /// constraints together.
    pub max_length: usize,
    /// Whether longer sentences are cut; otherwise they are not translated.
    pub crop: bool,
}

/// How translations go out.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct OutputOptions {
    /// Pieces instead of text.
    pub as_pieces: bool,
    /// All that were found, as a list, instead of the best.
    pub n_best: bool,
    /// Alignments behind each translation.
    pub alignment: Option<AlignmentFormat>,
    /// The score of each word behind each translation.
    pub word_scores: bool,
    /// The unknown word gives way to the source word with most attention.
    pub replace_unknowns: bool,
}

/// How an alignment is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlignmentFormat {
    /// The attention of each word.
    Soft,
    /// Points `source-target`: all with more attention than this, at 1 the best of each
    /// target word.
    Hard(f32),
}

impl TranslationOptions {
    /// What an engine would choose, Marian or CTranslate2: that of `rules`, if they are
    /// given, or else that which `package` was made for, which is CTranslate2 for its
    /// folders and those of Hugging Face. Options of a configuration beside the model stand
    /// over them. Only batches are larger than there, for results do not depend on them here.
    pub fn for_package(package: &ModelBundle, semantics: Option<DecodingSemantics>) -> Self {
        let settings = &package.settings;
        let is_of_ctranslate2 =
            ["CTranslate2", "Hugging Face"].iter().any(|name| package.format.contains(name));
        let own = if is_of_ctranslate2 {
            DecodingSemantics::CTranslate2
        } else {
            DecodingSemantics::Marian
        };
        let rules = semantics.unwrap_or(own);
        let of_marian = rules == DecodingSemantics::Marian;
        let (beam, normalize) = if of_marian { (12, 0.0) } else { (2, 1.0) };
        let factor = if of_marian { 3.0 } else { f32::INFINITY };
        // Positions are counted in 32 bits.
        let longest = if of_marian { u32::MAX as usize } else { 256 };
        TranslationOptions {
            search: SearchOptions {
                beam_size: settings.beam_size.unwrap_or(beam),
                n_best: 1,
                length_penalty: settings.normalize.unwrap_or(normalize),
                word_penalty: settings.word_penalty.unwrap_or(0.0),
                coverage_penalty: 0.0,
                max_length_factor: settings.max_length_factor.unwrap_or(factor),
                max_length: longest,
                min_length: usize::from(!of_marian),
                semantics: rules,
                patience: 1.0,
                early_stop_margin: None,
                no_repeat_ngram_size: 0,
                repetition_penalty: 1.0,
                suppress_tokens: Vec::new(),
                eos_id: 0,
                sampling: None,
                return_alignments: false,
                skip_cost: false,
            },
            allow_unknown: !of_marian,
            precision: stored_precision(package),
            weights: settings.weights.clone(),
            threads: 1,
            mini_batch: settings.mini_batch.filter(|&n| n > 1).unwrap_or(32),
            // Whatever the sentences, memory stays within bounds.
            mini_batch_words: 4096,
            maxi_batch: settings.maxi_batch.filter(|&n| n > 1).unwrap_or(20),
            sort_by_length: true,
            input: InputOptions {
                format: LineFormat::Sentence,
                is_tokenized: false,
                max_length: 5000,
                crop: false,
            },
            output: OutputOptions::default(),
        }
    }

    /// What was chosen, a name and a value each, for people.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let search = &self.search;
        let rules = match search.semantics {
            DecodingSemantics::Marian => "marian",
            DecodingSemantics::CTranslate2 => "ctranslate2",
        };
        let mut all = vec![
            ("search", rules.to_owned()),
            ("beam-size", search.beam_size.to_string()),
            ("normalize", search.length_penalty.to_string()),
            ("word-penalty", search.word_penalty.to_string()),
            ("max-length-factor", search.max_length_factor.to_string()),
            ("allow-unk", self.allow_unknown.to_string()),
            ("precision", self.precision.name().into()),
            ("cpu-threads", self.threads.to_string()),
            ("mini-batch", self.mini_batch.to_string()),
            ("mini-batch-words", self.mini_batch_words.to_string()),
            ("maxi-batch", self.maxi_batch.to_string()),
        ];
        if !self.weights.is_empty() {
            let weights: Vec<String> = self.weights.iter().map(f32::to_string).collect();
            all.push(("weights", weights.join(" ")));
        }
        if search.max_length < u32::MAX as usize {
            all.push(("max-decoding-length", search.max_length.to_string()));
        }
        all
    }
}

/// That of the weights in the files, if they are integers: who made them so wants them
/// multiplied so.
fn stored_precision(package: &ModelBundle) -> Precision {
    if let Some(packed) = package.models.iter().find_map(|model| model.precision()) {
        return packed;
    }
    let parameters = package.models.iter().flat_map(|model| model.parameters());
    let integers = parameters.filter(|(name, _)| !name.contains("emb"));
    let mut elements = integers.map(|(_, tensor)| tensor.dtype());
    elements
        .try_fold(Precision::F32, |found, element| match element {
            DType::I8 => Err(Precision::I8),
            DType::I16 => Ok(Precision::I16),
            _ => Ok(found),
        })
        .unwrap_or_else(|eight| eight)
}
