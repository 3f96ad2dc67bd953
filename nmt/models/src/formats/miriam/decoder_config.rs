//! Settings of a decoder configuration that a model file stores outside of its metadata block,
//! because they were added after the layout of that block was fixed.

use serde::{Deserialize, Serialize};

use crate::decoder_config::{AlignmentFormat, DecoderConfig, EarlyStopping};

/// Settings of input, batches, search and output. Only settings that are set are written.
/// Alignments that are turned off and `mini_batch_words` of 0 are left out, because both are the
/// default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredDecoderConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    mini_batch_words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_by_length: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_target_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_target_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_repeat_ngram_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    early_stopping: Option<EarlyStopping>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crop: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_tokenized: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_pieces: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_best: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alignment: Option<StoredAlignment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    word_scores: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_unknown: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replace_unknowns: Option<bool>,
}

/// [`AlignmentFormat`] in the file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredAlignment {
    Soft,
    Hard(f32),
}

impl StoredDecoderConfig {
    /// Returns the settings of `config` that are stored here.
    pub fn new(config: &DecoderConfig) -> Self {
        let DecoderConfig { sort_by_length, crop, is_tokenized, as_pieces, .. } = *config;
        let DecoderConfig { n_best, word_scores, allow_unknown, replace_unknowns, .. } = *config;
        StoredDecoderConfig {
            mini_batch_words: config.mini_batch_words.filter(|&n| n > 0).map(|n| n as u64),
            sort_by_length,
            max_length: config.max_length.map(|n| n as u64),
            max_target_length: config.max_target_length.map(|n| n as u64),
            min_target_length: config.min_target_length.map(|n| n as u64),
            no_repeat_ngram_size: config.no_repeat_ngram_size.map(|n| n as u64),
            repetition_penalty: config.repetition_penalty,
            early_stopping: config.early_stopping,
            crop,
            is_tokenized,
            as_pieces,
            n_best,
            alignment: config.alignment.flatten().map(|format| match format {
                AlignmentFormat::Soft => StoredAlignment::Soft,
                AlignmentFormat::Hard(threshold) => StoredAlignment::Hard(threshold),
            }),
            word_scores,
            allow_unknown,
            replace_unknowns,
        }
    }

    /// Returns a configuration with these settings only. A number that is too large for this
    /// machine is left out.
    pub fn into_config(self) -> DecoderConfig {
        fn number(number: Option<u64>) -> Option<usize> {
            number.and_then(|n| usize::try_from(n).ok())
        }
        DecoderConfig {
            mini_batch_words: number(self.mini_batch_words),
            sort_by_length: self.sort_by_length,
            max_length: number(self.max_length),
            max_target_length: number(self.max_target_length),
            min_target_length: number(self.min_target_length),
            no_repeat_ngram_size: number(self.no_repeat_ngram_size),
            repetition_penalty: self.repetition_penalty,
            early_stopping: self.early_stopping,
            crop: self.crop,
            is_tokenized: self.is_tokenized,
            as_pieces: self.as_pieces,
            n_best: self.n_best,
            alignment: self.alignment.map(|format| match format {
                StoredAlignment::Soft => Some(AlignmentFormat::Soft),
                StoredAlignment::Hard(threshold) => Some(AlignmentFormat::Hard(threshold)),
            }),
            word_scores: self.word_scores,
            allow_unknown: self.allow_unknown,
            replace_unknowns: self.replace_unknowns,
            ..DecoderConfig::default()
        }
    }
}
