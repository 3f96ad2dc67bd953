//! Marian's `--sentencepiece-options`: settings of SentencePiece's trainer for vocabularies that
//! are made.

use miriam_textio::{parse_truth_word, shorten};
use miriam_textproc::sentencepiece::{ModelType, Normalization, TrainOptions};

use super::RawOptions;
use crate::error::{Error, Result};

const NAME: &str = "sentencepiece-options";

/// Settings without effect on the vocabulary: all lines are read, with `--workers` threads.
const WITHOUT_EFFECT: [&str; 7] = [
    "input_sentence_size",
    "max_sentence_length",
    "minloglevel",
    "num_threads",
    "shuffle_input_sentence",
    "train_extremely_large_corpus",
    "random_seed",
];

impl RawOptions {
    /// Returns the options of a new SentencePiece model: `options`, changed by
    /// `sentencepiece-options`.
    ///
    /// # Errors
    /// If a setting is not supported or has an invalid value, or a user-defined symbol cannot be a
    /// piece.
    pub fn sentencepiece_options(&self, mut options: TrainOptions) -> Result<TrainOptions> {
        let text = self.get_string(NAME);
        for word in text.split_whitespace() {
            let setting = word.strip_prefix("--").unwrap_or(word);
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            apply(&mut options, name, value)
                .map_err(|reason| Error::usage(format!("--{NAME}: {}: {reason}", shorten(word))))?;
        }
        options.check_symbols().map_err(|error| Error::usage(format!("--{NAME}: {error}")))?;
        Ok(options)
    }
}

/// Applies a setting. The error is the reason why it is invalid.
fn apply(
    options: &mut TrainOptions,
    name: &str,
    value: &str,
) -> std::result::Result<(), &'static str> {
    // A setting without a value is switched on.
    let switch = || match value {
        "" | "1" => Ok(true),
        "0" => Ok(false),
        word => parse_truth_word(word).ok_or("expected true or false"),
    };
    match name {
        "byte_fallback" => options.byte_fallback = switch()?,
        "hard_vocab_limit" => options.hard_vocab_limit = switch()?,
        "character_coverage" => {
            let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            options.character_coverage = share.ok_or("expected a number from 0 to 1")?;
        }
        "user_defined_symbols" => {
            let symbols = value.split(',').filter(|symbol| !symbol.is_empty());
            options.user_defined_symbols = symbols.map(str::to_owned).collect();
        }
        "model_type" => {
            options.model_type = match value {
                "unigram" => ModelType::Unigram,
                "bpe" => ModelType::Bpe,
                _ => return Err("expected unigram or bpe"),
            }
        }
        "normalization_rule_name" => {
            options.normalization = match value {
                "nmt_nfkc" => Normalization::NmtNfkc,
                "identity" => Normalization::Identity,
                _ => return Err("expected nmt_nfkc or identity"),
            }
        }
        _ if WITHOUT_EFFECT.contains(&name) => {}
        _ => {
            return Err("not supported; leave it out, or make the vocabulary with spm_train and \
                        name it with --vocabs");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<TrainOptions> {
        let mut options = RawOptions::default();
        options.set(NAME, vec![text.into()]).unwrap();
        assert!(options.check_status().unwrap().is_empty(), "{text}");
        options.sentencepiece_options(TrainOptions::default())
    }

    #[test]
    fn settings_of_sentencepiece_are_read_as_marian_passes_them_on() {
        let options = options(
            "--character_coverage=1.0 --byte_fallback user_defined_symbols=<a>,<b> \
             --model_type=bpe  --normalization_rule_name=identity --hard_vocab_limit=false \
             --input_sentence_size=1000000",
        );
        let options = options.unwrap();
        assert_eq!(options.character_coverage, 1.0);
        assert_eq!(options.user_defined_symbols, ["<a>", "<b>"]);
        assert!(options.byte_fallback && !options.hard_vocab_limit);
        assert!(matches!(options.model_type, ModelType::Bpe));
        assert!(matches!(options.normalization, Normalization::Identity));
    }

    #[test]
    fn no_settings_are_the_defaults() {
        let defaults = TrainOptions::default();
        for options in [
            options("").unwrap(),
            RawOptions::default().sentencepiece_options(TrainOptions::default()).unwrap(),
        ] {
            assert_eq!(options.character_coverage, defaults.character_coverage);
            assert!(!options.byte_fallback && options.hard_vocab_limit);
        }
    }

    #[test]
    fn invalid_settings_are_named() {
        for (text, expected) in [
            ("--character_coverage=2", "--character_coverage=2: expected a number from 0 to 1"),
            ("--byte_fallback=maybe", "--byte_fallback=maybe: expected true or false"),
            ("--model_type=char", "--model_type=char: expected unigram or bpe"),
            ("--split_digits", "--split_digits: not supported"),
            ("--user_defined_symbols=<unk>", "<unk>"),
        ] {
            let error = options(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("--sentencepiece-options: "), "{error}");
        }
    }
}
