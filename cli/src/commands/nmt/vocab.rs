//! `miriam nmt vocab`: vocabularies from text.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use miriam_nmt::{LearnOptions, learn_vocabulary};
use miriam_textio::Output;
use miriam_textproc::BpeLearnOptions;
use miriam_textproc::sentencepiece::{ModelType, Normalization, TrainOptions};

use crate::common::{CommonOptions, check_files, exit_with_usage_error, warn_if_binary};
use crate::option_values::parse_number;

#[derive(Args)]
pub struct Arguments {
    /// The text, one sentence per line: plain, .gz, .zst, .bz2 or .xz; - for standard input.
    /// Several files are read as one text
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    text: Vec<PathBuf>,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// For bpe, the number of merges; for SentencePiece, the number of pieces; for words, the
    /// largest number of words. Pieces and words include </s> and <unk> [default for words: all;
    /// 0 is all, too]
    #[arg(long, alias = "vocab-size", value_name = "N",
          value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    size: Option<u32>,
    /// The kind of vocabulary [default: by the name of the file to write: sentencepiece-unigram for
    /// .spm and .model, words for .yml and .yaml, else bpe]
    #[arg(long, alias = "type", value_name = "KIND", value_enum)]
    kind: Option<Kind>,
    /// bpe: merge only pairs that occur at least this often [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    min_frequency: Option<u32>,
    /// SentencePiece: the share of the text's characters that become pieces; the rest, the
    /// rarest, are unknown [default: 0.9995]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    character_coverage: Option<f64>,
    /// SentencePiece: the normalisation of text before segmentation [default: nmt-nfkc]
    #[arg(long, value_name = "NAME", value_enum)]
    normalization: Option<NormalizationName>,
    /// SentencePiece: segment unknown characters into pieces of one byte, which are 256 of the
    /// pieces
    #[arg(long)]
    byte_fallback: bool,
    /// SentencePiece: pieces that are never divided, such as tags, separated by commas; each is
    /// one of the pieces
    #[arg(long, alias = "user_defined_symbols", value_name = "SYMBOLS", value_delimiter = ',')]
    user_defined_symbols: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Codes of byte pair encoding, as subword-nmt writes them, for tokenised text
    Bpe,
    /// A SentencePiece model of the unigram algorithm, for raw text
    SentencepieceUnigram,
    /// A SentencePiece model of byte pair encoding, for raw text
    SentencepieceBpe,
    /// Whole words by frequency, as Marian writes them (.yml)
    Words,
}

#[derive(Clone, Copy, ValueEnum)]
enum NormalizationName {
    /// Unicode's NFKC, uniform white space, no control characters
    #[value(alias = "nmt_nfkc")]
    NmtNfkc,
    /// No normalisation
    Identity,
}

fn parse_share(text: &str) -> Result<f64, String> {
    parse_number(text, |share| (0.0..=1.0).contains(&share), "a number from 0 to 1")
}

impl Arguments {
    fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| match self.output.extension().and_then(|name| name.to_str()) {
            Some("spm" | "model") => Kind::SentencepieceUnigram,
            Some("yml" | "yaml") => Kind::Words,
            _ => Kind::Bpe,
        })
    }

    /// Returns the size; `None` if it is not given or 0.
    fn size(&self) -> Option<usize> {
        self.size.map(|size| size as usize).filter(|&size| size > 0)
    }

    fn learn_options(&self) -> LearnOptions {
        let kind = self.kind();
        let is_sentencepiece = matches!(kind, Kind::SentencepieceUnigram | Kind::SentencepieceBpe);
        let misplaced = [
            ("--min-frequency", self.min_frequency.is_some(), kind == Kind::Bpe),
            ("--character-coverage", self.character_coverage.is_some(), is_sentencepiece),
            ("--normalization", self.normalization.is_some(), is_sentencepiece),
            ("--byte-fallback", self.byte_fallback, is_sentencepiece),
            ("--user-defined-symbols", !self.user_defined_symbols.is_empty(), is_sentencepiece),
        ];
        if let Some((option, ..)) = misplaced.iter().find(|(_, given, fits)| *given && !fits) {
            exit_with_usage_error(format!("{option} has no effect with this --kind"));
        }
        let size = self.size();
        let train = |model_type| {
            let defaults = TrainOptions::default();
            let options = TrainOptions {
                model_type,
                vocab_size: size.unwrap_or(defaults.vocab_size),
                character_coverage: self.character_coverage.unwrap_or(defaults.character_coverage),
                normalization: match self.normalization {
                    None => defaults.normalization,
                    Some(NormalizationName::NmtNfkc) => Normalization::NmtNfkc,
                    Some(NormalizationName::Identity) => Normalization::Identity,
                },
                byte_fallback: self.byte_fallback,
                user_defined_symbols: self.user_defined_symbols.clone(),
                ..defaults
            };
            if let Err(error) = options.check_symbols() {
                exit_with_usage_error(format!("--user-defined-symbols: {error}"));
            }
            LearnOptions::SentencePiece(options)
        };
        if kind == Kind::Words && size == Some(1) {
            exit_with_usage_error("--size 1: words need 2 or more, for </s> and <unk>");
        }
        match kind {
            Kind::Bpe => LearnOptions::Bpe(BpeLearnOptions {
                max_merges: size.unwrap_or_default(),
                min_frequency: self.min_frequency.unwrap_or(2).into(),
            }),
            Kind::SentencepieceUnigram => train(ModelType::Unigram),
            Kind::SentencepieceBpe => train(ModelType::Bpe),
            Kind::Words => LearnOptions::Words { max_size: size },
        }
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let Arguments { text, output, .. } = &arguments;
    if arguments.kind() != Kind::Words && arguments.size().is_none() {
        exit_with_usage_error("--size is missing; give the number of merges or pieces");
    }
    let options = arguments.learn_options();
    check_files(text, &[("--output", Some(output))])?;
    warn_if_binary(text.iter().map(PathBuf::as_path))?;
    let start = std::time::Instant::now();
    let (threads, progress) = (common.threads.count(), common.progress());
    let learned = learn_vocabulary(text, &options, threads, &progress)?;
    Output::write_file(output, &learned.bytes)?;
    let (len, seconds) = (learned.len, start.elapsed().as_secs_f64());
    let what = match options {
        LearnOptions::Bpe(options) => {
            if len < options.max_merges {
                let least = options.min_frequency;
                tracing::warn!("only {len} merges: no other pair occurs {least} times");
            }
            "merges"
        }
        LearnOptions::SentencePiece(_) => "pieces",
        LearnOptions::Words { .. } => "words",
    };
    tracing::info!("{len} {what}, {seconds:.1} s");
    Ok(())
}
