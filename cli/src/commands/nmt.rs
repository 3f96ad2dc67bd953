//! `miriam nmt`: translation and scoring with neural models, and the tools for their files.

mod configured_options;
mod convert;
mod distill;
mod ignored_options;
mod language_model;
mod line_errors;
mod models;
mod rescore;
mod running_text;
mod score;
#[cfg(feature = "serve")]
mod serve;
mod shortlist;
pub(super) mod train;
mod translate;
mod value_parsers;
mod vocab;

pub use configured_options::add as add_configured_options;
pub(super) use translate::Arguments as TranslateArguments;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use miriam_nmt::{DIALECTS, ModelBundle, Report};
use miriam_textio::Output;

use crate::common::CommonOptions;
use crate::model_kind::{ModelKind, explain_wrong_kind};

#[derive(Subcommand)]
pub enum Command {
    /// Translate text with a neural model of any format
    ///
    /// A model is a folder of OPUS-MT, Firefox, CTranslate2 or Hugging Face (MarianMT, M2M-100,
    /// NLLB-200, mBART-50, T5, MADLAD-400), a package of Argos Translate, a file of Marian,
    /// Nematus or Amun, a decoder's configuration, or a file of this program. Options are Marian's
    /// where it has them, otherwise CTranslate2's; those of a configuration are defaults. A
    /// translation depends only on its line, never on batches or threads.
    ///
    /// Example: miriam nmt translate -m opus-mt-de-en -b 4 -i news.de -o news.en
    ///
    /// Example: miriam nmt translate -m nllb-200-distilled-600M --from de --to en -i news.de
    Translate(Box<translate::Arguments>),
    /// Score translations, or add a score to lists of them
    ///
    /// Prints the log probability of each translation, one per line, as Marian's
    /// scorer does.
    ///
    /// Example: miriam nmt score -m opus-mt-de-en --source news.de --target news.en
    Score(Box<score::Arguments>),
    /// Add the scores of neural models to n-best lists as features
    ///
    /// Each model gives a feature: the log probability of a translation given its source, or with
    /// --reverse of the source given the translation, as `miriam nmt score` prints it. A source is
    /// encoded once, and translations that begin alike share the work. `miriam tune --n-best` finds
    /// weights, `miriam rerank` applies them. The same command continues a stopped run.
    ///
    /// Example: miriam nmt rescore -m opus-mt-de-en --reverse opus-mt-en-de --source news.de
    /// --n-best news.list.gz -o scored.list.gz
    Rescore(Box<rescore::Arguments>),
    /// Train a neural model from parallel text
    ///
    /// Creates a folder that `miriam nmt translate -m DIR` opens, with the vocabulary and the model
    /// that validated best. The same command resumes a stopped training run, with the same final
    /// bytes. Options are Marian's, on the command line or in a configuration (-c); --task sets
    /// many at once. Options that are not listed here are errors, or warnings if they have no
    /// effect. `miriam train` trains phrase-based systems.
    ///
    /// A LENGTH is a number of updates, of target tokens with the letter t, or of epochs with e:
    /// 500u, 20Mt, 10e.
    ///
    /// Example: miriam nmt train --source train.de --target train.en --dev-source dev.de
    /// --dev-target dev.en -o model --task m30k
    Train(Box<train::Arguments>),
    /// Make the training set of a small model from the translations of a large one
    ///
    /// Translates the source, selects the translation of each sentence that is most similar to the
    /// reference, aligns words, and writes a shortlist and a configuration for `miriam nmt train
    /// -c DIR/train.yml -o STUDENT`. The same command resumes a stopped run. With --n-best it only
    /// selects from a list.
    ///
    /// Example: miriam nmt distill -m teacher --source train.de --reference train.en -o distilled
    Distill(Box<distill::Arguments>),
    /// Write a shortlist: the target words that each source word is linked with
    ///
    /// Writes the text form that Marian reads, one `target source probability` per line. The text
    /// must consist of pieces of the model's vocabularies. With --to marian-bin it writes the
    /// binary form; with --list it converts a file of the text form, as marian-conv does.
    ///
    /// Example: miriam nmt shortlist --source s.spm --target t.spm --alignment links -o lex.s2t
    ///
    /// Example: miriam nmt shortlist --list lex.s2t.gz --to marian-bin --first 50 --best 50
    /// --vocabs vocab.spm -o lex.50.50.s2t.bin
    Shortlist(shortlist::Arguments),
    /// Make a vocabulary from text: BPE codes, a SentencePiece model or a list of words
    ///
    /// The codes are those that subword-nmt learns, to the byte; SentencePiece models have
    /// Marian's ids, </s> 0 and <unk> 1. The file does not depend on the order of lines or on
    /// threads. Give the texts of both languages for a joint vocabulary.
    ///
    /// Example: miriam nmt vocab --kind sentencepiece-unigram --size 8000 --text train.de
    /// train.en -o vocab.spm
    Vocab(vocab::Arguments),
    /// Convert a model of any format to one file of this program, with vocabularies and shortlist
    ///
    /// Reads Marian's .npz and .bin, Nematus' and Amun's .npz, decoder configurations
    /// (.yml), folders of Firefox, CTranslate2 and Hugging Face, and packages of OPUS-MT and
    /// Argos Translate, zipped or unpacked. With --to it writes what other programs open.
    ///
    /// Example: miriam nmt convert model/decoder.yml -o model.miriam
    Convert(convert::Arguments),
    /// Serve one model with marian-server's options; `miriam serve` has more options
    #[cfg(feature = "serve")]
    #[command(hide = true)]
    Serve(Box<serve::Arguments>),
    /// Describe a model of any format
    ///
    /// Example: miriam nmt info model.npz --json
    Info(InfoArguments),
}

#[derive(Args)]
struct SingleModelArguments {
    /// The model: a file or a folder
    model: PathBuf,
    /// Its source and target vocabularies, or a joint one, instead of those beside it
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    vocabs: Option<Vec<PathBuf>>,
    /// BPE codes for source and target text (or one file for both), instead of those beside the
    /// model
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    bpe_codes: Vec<PathBuf>,
    /// The version of Marian to follow where versions differ [default: the version that wrote the
    /// model]
    #[arg(long, value_name = "NAME", value_parser = DIALECTS.map(|(name, _)| name))]
    dialect: Option<String>,
}

#[derive(Args)]
pub struct InfoArguments {
    #[command(flatten)]
    model: SingleModelArguments,
    /// List every parameter with its kind and shape
    #[arg(long, conflicts_with = "json")]
    tensors: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command, common: &CommonOptions) -> anyhow::Result<()> {
    match command {
        Command::Translate(arguments) => translate::run(*arguments, common),
        Command::Score(arguments) => score::run(*arguments, common),
        Command::Rescore(arguments) => rescore::run(*arguments, common),
        Command::Train(arguments) => train::run(*arguments, common),
        Command::Distill(arguments) => distill::run(*arguments, common),
        Command::Shortlist(arguments) => shortlist::run(arguments),
        Command::Vocab(arguments) => vocab::run(arguments, common),
        Command::Convert(arguments) => convert::run(arguments, common),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(*arguments, common),
        Command::Info(arguments) => info(arguments),
    }
}

fn open_bundle(arguments: &SingleModelArguments) -> anyhow::Result<ModelBundle> {
    let vocabularies = models::vocabulary_pair(arguments.vocabs.as_deref().unwrap_or_default());
    let mut bundle = ModelBundle::open(&arguments.model, vocabularies)
        .map_err(|error| explain_wrong_kind(error, &arguments.model, ModelKind::NeuralModel))?;
    models::set_bpe_codes(&mut bundle, &arguments.bpe_codes)?;
    let dialect = arguments.dialect.as_deref();
    if let Some((_, dialect)) = DIALECTS.iter().find(|(name, _)| Some(*name) == dialect) {
        bundle.set_dialect(*dialect);
    }
    Ok(bundle)
}

fn info(arguments: InfoArguments) -> anyhow::Result<()> {
    let bundle = open_bundle(&arguments.model)?;
    let report = Report::new(&bundle);
    let text = if arguments.json {
        report.to_json()
    } else if arguments.tensors {
        report.to_tensor_list()
    } else {
        report.to_text()
    };
    let mut output = Output::create("-".as_ref())?;
    output.write(text.as_bytes())?;
    output.finish()?;
    models::warn_of_other_encodings(&bundle);
    // Opening does not compare checksums, so that it is fast even for large models.
    Ok(bundle.verify_files()?)
}
