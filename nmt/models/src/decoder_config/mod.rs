//! Decoder configurations (`neural.md` 1.5): Marian's `decoder.yml` and Amun's `config.yml`.
//!
//! Every key of a file is honoured, reported as without effect, or rejected by name, because to
//! ignore a setting could change translations silently. A key that would be rejected is ignored if
//! its value turns it off.

mod alignment_format;
mod keys;
mod read;
mod semantics;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::shortlist::ShortlistOptions;
use crate::yaml::Value;
use crate::{Error, Result, compressed};
use read::ConfigReader;

pub use alignment_format::AlignmentFormat;
pub use keys::{KnownKeys, MARIAN as MARIAN_KEYS, OtherOption};
pub use semantics::{DecodingSemantics, EarlyStopping};

/// A decoder configuration. If a file sets `relative-paths`, its paths are already joined to its
/// folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecoderConfig {
    /// The models of the ensemble.
    pub models: Vec<PathBuf>,
    /// The weights of the models: one for each model, or none.
    pub weights: Vec<f32>,
    /// The vocabularies: one for both sides, or the source's and then the target's.
    pub vocabularies: Vec<PathBuf>,
    /// The shortlist and its pruning.
    pub shortlist: Option<(PathBuf, ShortlistOptions)>,
    /// The beam size.
    pub beam_size: Option<usize>,
    /// Length normalisation: scores are divided by the length to this power.
    pub normalize: Option<f32>,
    /// The penalty subtracted for each token.
    pub word_penalty: Option<f32>,
    /// The maximum number of sentences that are decoded together.
    pub mini_batch: Option<usize>,
    /// The number of mini-batches that are read ahead, to be sorted by length.
    pub maxi_batch: Option<usize>,
    /// The maximum number of target tokens per source token.
    pub max_length_factor: Option<f32>,
    /// The maximum number of target tokens (Hugging Face).
    pub max_target_length: Option<usize>,
    /// The minimum number of target tokens before `</s>` (Hugging Face).
    pub min_target_length: Option<usize>,
    /// The order of n-grams that are not generated twice (Hugging Face).
    pub no_repeat_ngram_size: Option<usize>,
    /// The factor that penalises tokens which were generated before (Hugging Face).
    pub repetition_penalty: Option<f32>,
    /// The rule that ends a beam search (Hugging Face).
    pub early_stopping: Option<EarlyStopping>,
    /// The file of BPE codes (Amun).
    pub bpe_codes: Option<PathBuf>,
    /// The maximum number of source tokens of a batch. As in Marian, 0 means that batches are
    /// counted in sentences; then the default limit applies.
    pub mini_batch_words: Option<usize>,
    /// Whether sentences are sorted by length.
    pub sort_by_length: Option<bool>,
    /// The maximum number of tokens of a source sentence.
    pub max_length: Option<usize>,
    /// Whether longer source sentences are cropped.
    pub crop: Option<bool>,
    /// Whether input is tokenised already.
    pub is_tokenized: Option<bool>,
    /// Whether tokens are printed instead of text.
    pub as_pieces: Option<bool>,
    /// Whether n-best lists are printed.
    pub n_best: Option<bool>,
    /// The format of printed alignments; `Some(None)` if they are turned off.
    pub alignment: Option<Option<AlignmentFormat>>,
    /// Whether the score of each token is printed.
    pub word_scores: Option<bool>,
    /// Whether the unknown token may be generated.
    pub allow_unknown: Option<bool>,
    /// Whether unknown tokens become the source words that they attend to.
    pub replace_unknowns: Option<bool>,
    /// Whether this configuration, or one that was merged into it, has keys of a scorer, `model` or
    /// `train-sets`.
    pub is_for_scoring: bool,
    /// The texts that a scorer reads.
    pub train_sets: Vec<PathBuf>,
    /// The port of a server.
    pub port: Option<u16>,
    /// Keys that have no effect here, in the order of the file.
    pub keys_without_effect: Vec<String>,
    /// Entries with unknown keys. Only [`open_all`](Self::open_all) accepts them.
    pub other_options: Vec<OtherOption>,
}

impl DecoderConfig {
    /// The beam sizes that are accepted; memory grows with the beam.
    pub const BEAM_SIZES: RangeInclusive<usize> = 1..=1000;

    /// The sizes of batches that are accepted, and the numbers of batches read ahead.
    pub const BATCH_SIZES: RangeInclusive<usize> = 1..=1_000_000;

    /// The values that are accepted as the maximum length of a sentence or a translation.
    pub const LENGTHS: RangeInclusive<usize> = 1..=1_000_000;

    /// Reads the file at `path`, of Marian or Amun.
    ///
    /// # Errors
    /// If the file cannot be read or is not YAML, or if a key is rejected or unknown or a value is
    /// invalid.
    pub fn open(path: &Path) -> Result<Self> {
        Self::parse(&compressed::open(path)?, path)
    }

    /// Reads several files; a later file replaces settings of earlier files, as in Marian; an
    /// empty list replaces nothing.
    /// `has_relative_paths` sets the option `relative-paths` for all files. The caller must reject
    /// the [`other_options`](Self::other_options) that it does not know.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), but an unknown key is an error only if its value is a map or
    /// a nested list.
    pub fn open_all(paths: &[PathBuf], has_relative_paths: bool) -> Result<Self> {
        let mut merged = Self::default();
        for path in paths {
            let settings = Self::parse_paths(&compressed::open(path)?, path, has_relative_paths)?;
            merged = settings.or(merged);
        }
        Ok(merged)
    }

    /// Parses a configuration. `path` names it in messages. If the option `relative-paths` is set,
    /// relative paths begin at the folder of `path`.
    ///
    /// # Errors
    /// If `text` is not YAML, or has a rejected or unknown key or an invalid value.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self> {
        let settings = Self::parse_paths(text, path, false)?;
        match settings.other_options.first() {
            Some(unknown) => Err(unknown.unknown_error()),
            None => Ok(settings),
        }
    }

    /// Works as [`parse`](Self::parse), but keeps unknown keys. With `has_relative_paths`, paths
    /// are relative to the file's folder, whatever the file says.
    fn parse_paths(text: &[u8], path: &Path, has_relative_paths: bool) -> Result<Self> {
        let value = Value::parse_configuration(text, &path.display().to_string())?;
        let reader = ConfigReader { value: &value, path, has_relative_paths };
        let is_amun = value.get("scorers").is_some();
        let mut settings = if is_amun { reader.read_amun()? } else { reader.read_marian()? };
        let length_factor = if is_amun { "max-length-multiple" } else { "max-length-factor" };
        settings.validate_named(path, length_factor)?;
        let known = if is_amun { &keys::AMUN } else { &keys::MARIAN };
        keys::check(&reader, known, &mut settings)?;
        Ok(settings)
    }

    /// Takes the settings from `other` that are not set here. Keys without effect and unknown keys
    /// are those of both, the ones of `other` first. An unknown key that both have keeps its value
    /// here.
    pub fn or(self, other: DecoderConfig) -> Self {
        fn first<T>(one: Vec<T>, other: Vec<T>) -> Vec<T> {
            if one.is_empty() { other } else { one }
        }
        DecoderConfig {
            models: first(self.models, other.models),
            weights: first(self.weights, other.weights),
            vocabularies: first(self.vocabularies, other.vocabularies),
            shortlist: self.shortlist.or(other.shortlist),
            beam_size: self.beam_size.or(other.beam_size),
            normalize: self.normalize.or(other.normalize),
            word_penalty: self.word_penalty.or(other.word_penalty),
            mini_batch: self.mini_batch.or(other.mini_batch),
            maxi_batch: self.maxi_batch.or(other.maxi_batch),
            max_length_factor: self.max_length_factor.or(other.max_length_factor),
            max_target_length: self.max_target_length.or(other.max_target_length),
            min_target_length: self.min_target_length.or(other.min_target_length),
            no_repeat_ngram_size: self.no_repeat_ngram_size.or(other.no_repeat_ngram_size),
            repetition_penalty: self.repetition_penalty.or(other.repetition_penalty),
            early_stopping: self.early_stopping.or(other.early_stopping),
            bpe_codes: self.bpe_codes.or(other.bpe_codes),
            mini_batch_words: self.mini_batch_words.or(other.mini_batch_words),
            sort_by_length: self.sort_by_length.or(other.sort_by_length),
            max_length: self.max_length.or(other.max_length),
            crop: self.crop.or(other.crop),
            is_tokenized: self.is_tokenized.or(other.is_tokenized),
            as_pieces: self.as_pieces.or(other.as_pieces),
            n_best: self.n_best.or(other.n_best),
            alignment: self.alignment.or(other.alignment),
            word_scores: self.word_scores.or(other.word_scores),
            allow_unknown: self.allow_unknown.or(other.allow_unknown),
            replace_unknowns: self.replace_unknowns.or(other.replace_unknowns),
            is_for_scoring: self.is_for_scoring || other.is_for_scoring,
            train_sets: first(self.train_sets, other.train_sets),
            port: self.port.or(other.port),
            keys_without_effect: [other.keys_without_effect, self.keys_without_effect].concat(),
            other_options: {
                let mut earlier = other.other_options;
                earlier.retain(|one| !self.other_options.iter().any(|later| later.key == one.key));
                [earlier, self.other_options].concat()
            },
        }
    }

    /// Returns the source and target vocabularies, the same twice if there is only one; `None` if
    /// there are none. `path` names the file in messages.
    ///
    /// # Errors
    /// If there are more than two.
    pub(crate) fn vocabulary_pair(&self, path: &Path) -> Result<Option<[PathBuf; 2]>> {
        match &self.vocabularies[..] {
            [] => Ok(None),
            [both] => Ok(Some([both.clone(), both.clone()])),
            [source, target] => Ok(Some([source.clone(), target.clone()])),
            more => {
                let reason = format!(
                    "expected one vocabulary for both sides or one for each, found {}",
                    more.len()
                );
                Err(Error::unsupported(path, reason))
            }
        }
    }

    /// Checks that the number of weights is `models` or zero; `path` names the file in messages.
    pub(crate) fn check_weights(&self, path: &Path, models: usize) -> Result<()> {
        let found = self.weights.len();
        if found == 0 || found == models {
            return Ok(());
        }
        let reason = format!("expected {models} weights, found {found}");
        Err(Error::mismatch(path, "weights", reason))
    }

    /// Takes the beam size, length normalisation, word penalty and maximum length factor from
    /// `other` where they are not set here.
    pub fn or_search_options(mut self, other: &DecoderConfig) -> Self {
        self.beam_size = self.beam_size.or(other.beam_size);
        self.normalize = self.normalize.or(other.normalize);
        self.word_penalty = self.word_penalty.or(other.word_penalty);
        self.max_length_factor = self.max_length_factor.or(other.max_length_factor);
        self
    }

    /// Checks the ranges of numbers; `path` names the file in messages.
    pub fn validate(&self, path: &Path) -> Result<()> {
        self.validate_named(path, "max-length-factor")
    }

    /// Works as [`validate`](Self::validate); `length_factor` is the key of the maximum length
    /// factor in the file.
    fn validate_named(&self, path: &Path, length_factor: &str) -> Result<()> {
        let counts = [
            ("beam-size", self.beam_size, Self::BEAM_SIZES),
            ("mini-batch", self.mini_batch, Self::BATCH_SIZES),
            ("maxi-batch", self.maxi_batch, Self::BATCH_SIZES),
            ("mini-batch-words", self.mini_batch_words, 0..=*Self::LENGTHS.end()),
            ("max-length", self.max_length, Self::LENGTHS),
            ("max-decoding-length", self.max_target_length, Self::LENGTHS),
            ("min-length", self.min_target_length, 0..=*Self::LENGTHS.end()),
        ];
        for (name, number, range) in counts {
            if let Some(number) = number
                && !range.contains(&number)
            {
                let reason =
                    format!("{number} is out of range, {} to {}", range.start(), range.end());
                return Err(Error::mismatch(path, name, reason));
            }
        }
        if let Some(penalty) = self.repetition_penalty
            && !(penalty.is_finite() && penalty > 0.0)
        {
            let reason = format!("expected a finite number above 0, found {penalty}");
            return Err(Error::mismatch(path, "repetition-penalty", reason));
        }
        let threshold = self.shortlist.as_ref().map(|(_, options)| options.threshold);
        let weights = self.weights.iter().map(|&weight| ("weights", weight));
        let numbers = [
            ("normalize", self.normalize),
            ("word-penalty", self.word_penalty),
            ("shortlist", threshold),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
        if let Some((name, number)) = numbers.chain(weights).find(|(_, n)| !n.is_finite()) {
            return Err(Error::mismatch(path, name, format!("{number} is not finite")));
        }
        match self.max_length_factor {
            Some(factor) if !(factor.is_finite() && factor > 0.0) => {
                let reason = format!("expected a finite number above 0, found {factor}");
                Err(Error::mismatch(path, length_factor, reason))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_marian() {
        let text = "relative-paths: true\nmodels:\n  - model.npz\n  - /abs/b.npz\nvocabs:\n  - a.spm\n  \
                    - a.spm\nweights: [0.25, 0.75]\nbeam-size: 6\nnormalize: 0.6\nword-penalty: 0\n\
                    mini-batch: 1\nmaxi-batch: 100\nmaxi-batch-sort: src\nshortlist:\n  - lex.s2t\n  \
                    - 50\n  - 30\n  - 0\nskip-cost: yes\nquiet: true\nmax-length-factor: 2\n\
                    n-best: true\nalignment: 0.25\nword-scores: false\nallow-unk: yes\n\
                    mini-batch-words: 500\nmax-length: 80\nmax-length-crop: true\n\
                    no-spm-encode: true\nno-spm-decode: false\ndim-vocabs: [0, 0]\n\
                    output-sampling: []\ninput: [stdin]\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("/m/decoder.yml")).unwrap();
        assert_eq!(settings.models, [Path::new("/m/model.npz"), Path::new("/abs/b.npz")]);
        assert_eq!(settings.vocabularies, [Path::new("/m/a.spm"), Path::new("/m/a.spm")]);
        assert_eq!(settings.weights, [0.25, 0.75]);
        assert_eq!((settings.beam_size, settings.normalize), (Some(6), Some(0.6)));
        let options = ShortlistOptions { first: 50, best: 30, threshold: 0.0 };
        assert_eq!(settings.shortlist, Some(("/m/lex.s2t".into(), options)));
        assert_eq!(settings.max_length_factor, Some(2.0));
        let output = (settings.n_best, settings.alignment, settings.word_scores);
        assert_eq!(output, (Some(true), Some(Some(AlignmentFormat::Hard(0.25))), Some(false)));
        let input = (settings.max_length, settings.crop, settings.mini_batch_words);
        assert_eq!(input, (Some(80), Some(true), Some(500)));
        assert_eq!((settings.allow_unknown, settings.sort_by_length), (Some(true), Some(true)));
        assert_eq!((settings.is_tokenized, settings.as_pieces), (Some(true), Some(false)));
        assert_eq!(settings.keys_without_effect, ["skip-cost", "quiet", "dim-vocabs"]);
    }

    #[test]
    fn flags_may_be_numbers_as_in_marian() {
        let parse = |text: &str| DecoderConfig::parse(text.as_bytes(), Path::new("/m/c.yml"));
        let on = parse("models: [a]\nn-best: 1\nword-scores: 0\nrelative-paths: 1\n").unwrap();
        assert_eq!((on.n_best, on.word_scores), (Some(true), Some(false)));
        assert_eq!(on.models, [Path::new("/m/a")]);
        let off = parse("models: [a]\nrelative-paths:\n").unwrap();
        assert_eq!(off.models, [Path::new("a")]);
        for key in ["n-best", "relative-paths"] {
            let error = parse(&format!("models: [a]\n{key}: maybe\n")).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("expected true or false"), "{error}");
        }
    }

    #[test]
    fn alignment_formats_are_read_as_in_marian() {
        for (text, expected) in [
            ("soft", Some(AlignmentFormat::Soft)),
            ("hard", Some(AlignmentFormat::Hard(1.0))),
            ("true", Some(AlignmentFormat::Hard(1.0))),
            ("1", Some(AlignmentFormat::Hard(1.0))),
            ("false", None),
            ("\"\"", None),
        ] {
            let text = format!("models: [a]\nalignment: {text}\n");
            let settings = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap();
            assert_eq!(settings.alignment, Some(expected), "{text}");
        }
    }

    #[test]
    fn a_later_file_turns_settings_off() {
        let folder = tempfile::tempdir().unwrap();
        let [earlier, later] = ["a.yml", "b.yml"].map(|name| folder.path().join(name));
        std::fs::write(&earlier, "alignment: hard\nmini-batch-words: 500\n").unwrap();
        std::fs::write(&later, "alignment: false\nmini-batch-words: 0\n").unwrap();
        let settings = DecoderConfig::open_all(&[earlier, later], false).unwrap();
        assert_eq!((settings.alignment, settings.mini_batch_words), (Some(None), Some(0)));
    }

    #[test]
    fn every_key_is_honoured_named_or_rejected() {
        let all = keys::MARIAN.honoured.iter().chain(keys::MARIAN.without_effect);
        let refused = keys::MARIAN.refused.iter().map(|(key, _)| key);
        let mut names: Vec<&str> = all.chain(refused).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a key is in one list");
        for key in keys::MARIAN.without_effect {
            let text = format!("models: [a]\n{key}: 1\n");
            let settings = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap();
            assert_eq!(settings.keys_without_effect, [*key]);
        }
        for (key, remedy) in keys::MARIAN.refused {
            let text = format!("models: [a]\n{key}: [full, 2]\n");
            let error = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(&format!("c.yml: {key}")) && error.contains(remedy), "{error}");
            for off in ["false", "[]", "\"\"", "0", "~"] {
                let text = format!("models: [a]\n{key}: {off}\n");
                let settings = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml"));
                assert!(settings.unwrap().keys_without_effect.is_empty(), "{key}: {off}");
            }
        }
    }

    #[test]
    fn a_configuration_of_a_browser() {
        let text = "models: [m.bin]\nvocabs: [v.spm, v.spm]\nshortlist: [lex.bin, false]\n\
                    ssplit-mode: paragraph\nnormalize:\ngemm-precision: int8shiftAlphaAll\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap();
        let shortlist = Some(("lex.bin".into(), ShortlistOptions::default()));
        assert_eq!((settings.shortlist, settings.normalize), (shortlist, Some(1.0)));
        assert_eq!(settings.keys_without_effect, ["ssplit-mode", "gemm-precision"]);
    }

    #[test]
    fn a_configuration_of_amun() {
        let text = "relative-paths: yes\nscorers:\n  F0:\n    path: a.npz\n    type: Nematus\n  F1:\n    \
                    path: b.npz\n    type: nematus2\nweights:\n  F0: 0.5\n  F1: 2\nbeam-size: 12\n\
                    normalize: yes\nsource-vocab: s.json\ntarget-vocab: t.json\nbpe: codes\n\
                    max-length-multiple: 3\n";
        let settings = DecoderConfig::parse(text.as_bytes(), Path::new("x/config.yml")).unwrap();
        assert_eq!(settings.models, [Path::new("x/a.npz"), Path::new("x/b.npz")]);
        assert_eq!(settings.weights, [0.5, 2.0]);
        assert_eq!(settings.vocabularies, [Path::new("x/s.json"), Path::new("x/t.json")]);
        assert_eq!((settings.normalize, settings.beam_size), (Some(1.0), Some(12)));
        assert_eq!(settings.bpe_codes, Some("x/codes".into()));
        assert_eq!(settings.max_length_factor, Some(3.0));
    }

    #[test]
    fn wrong_values_are_named() {
        for (text, word) in [
            ("models: [a]\nbeam-size: many\n", "beam-size"),
            ("shortlist: [a, b]\n", "shortlist"),
            ("models: [[]]\n", "models"),
            ("beam-size: 0\n", "c.yml: beam-size"),
            ("beam-size: 100000\n", "beam-size"),
            ("maxi-batch: 10000000\n", "maxi-batch"),
            ("normalize: nan\n", "normalize"),
            ("word-penalty: inf\n", "word-penalty"),
            ("max-length-factor: -1\n", "max-length-factor"),
            ("scorers: {F0: {path: a}}\nmax-length-multiple: 0\n", "max-length-multiple"),
            ("models: [a]\nweights: [nan]\n", "weights"),
            ("shortlist: [a, 1, 1, nan]\n", "shortlist"),
            ("scorers: {F0: {type: Nematus}}\n", "F0"),
            ("scorers: {F0: {path: a, type: Ape}}\n", "Ape"),
            ("scorers: {F0: {path: a}}\nweights: {F0: x}\n", "weight"),
            ("models: [a]\nbeam_size: 4\n", "c.yml: beam_size"),
            ("models: [a]\nlearn-rate: 0.1\n", "learn-rate"),
            ("models: [a]\nn-best: 3\n", "n-best"),
            ("models: [a]\nallow-unk:\n", "allow-unk"),
            ("models: [a]\nalignment: most\n", "alignment"),
            ("models: [a]\nmaxi-batch-sort: length\n", "maxi-batch-sort"),
            ("models: [a]\nmax-length: 0\n", "max-length"),
            ("models: [a]\nmini-batch-words: many\n", "mini-batch-words"),
            ("scorers: {F0: {path: a}}\nreturn-alignment: true\n", "return-alignment"),
            ("scorers: {F0: {path: a}}\nalignment: hard\n", "alignment"),
            ("scorers: [a.npz]\n", "expected a map"),
            ("scorers: {F0: {path: a}}\nweights: [0.5]\n", "weights: expected a map"),
            ("scorers: {F0: {path: a}}\nbpe: [one, two]\n", "bpe"),
            ("scorers: {F0: {path: a, tab: 1}}\n", "one source"),
            ("scorers: {F0: {path: a, beam: 5}}\n", "unknown key beam"),
            ("scorers: {F0: {path: a}}\nmax-length: 18446744073709551615\n", "max-length"),
            ("models: [a]\nmaxi-batch-sort: [src]\n", "maxi-batch-sort"),
        ] {
            let error = DecoderConfig::parse(text.as_bytes(), Path::new("c.yml")).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
