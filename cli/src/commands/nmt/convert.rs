//! `miriam nmt convert`: conversion of a model to one file of this program, or to the formats of
//! Marian and of browsers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::Model;
use miriam_nmt::engine::Precision;
use miriam_nmt::formats::marian::{IntgemmKind, write_marian_intgemm, write_marian_model};
use miriam_nmt::translate::{
    OutputOptions, SourceText, Tokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_textio::{CancellationToken, Input, Lines, Output, Progress, SharedBuffer};
use miriam_trainer::calibration::clip_values;

use super::models::precision_names;
use super::{SingleModelArguments, models, open_bundle};
use crate::commands::tuner_cache::AutotunerCacheOptions;
use crate::common::{CommonOptions, check_model_folder, exit_with_usage_error};

/// The formats of `--to`; the aliases are the names that `marian-conv` uses.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Floating point for Marian: a .npz or .bin, by the name of the file
    #[value(alias = "float32")]
    Marian,
    /// Eight bits, for bergamot and Firefox
    #[value(alias = "intgemm8")]
    MarianIntgemm8,
    /// Sixteen bits, only for bergamot
    #[value(alias = "intgemm16")]
    MarianIntgemm16,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    model: SingleModelArguments,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Pack weights for GEMM of this precision only. Without it, weights are stored unchanged and
    /// can be used with all precisions
    #[arg(long, value_name = "NAME", value_parser = precision_names(&Precision::FOR_ANY_MODEL),
          conflicts_with = "to")]
    precision: Option<String>,
    /// Write a format of other programs; vocabularies and shortlist are separate files
    #[arg(long, value_name = "FORMAT", overrides_with = "to")]
    to: Option<Target>,
    /// Measure the range of the inputs of matrix products on this source text, and write it as
    /// fixed scales (alphas), instead of those of the model; some hundred lines are enough
    #[arg(long, value_name = "FILE", requires = "to")]
    calibrate: Option<PathBuf>,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if arguments.to != Some(Target::MarianIntgemm8) && arguments.calibrate.is_some() {
        let reason = "only the format marian-intgemm8 has scales of activations";
        exit_with_usage_error(format!("--calibrate: {reason}"));
    }
    let inputs = [Some(&arguments.model.model), arguments.calibrate.as_ref()];
    for input in inputs.into_iter().flatten() {
        Input::check_access(input, Some(&arguments.output))?;
    }
    // A file with an extension of converted models may be replaced even beside the original model;
    // any other file there may belong to the model.
    let extension = arguments.output.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("miriam" | "npz" | "bin")) {
        check_model_folder(&arguments.model.model, [arguments.output.as_path()])?;
    }
    let start = std::time::Instant::now();
    let bundle = open_bundle(&arguments.model)?;
    models::warn_of_keys_without_effect(&bundle, &arguments.model.model);
    models::warn_of_other_encodings(&bundle);
    bundle.verify_files()?;
    match arguments.to {
        Some(target) => write_for_marian(target, &arguments, bundle, common)?,
        None => write_ours(&arguments, &bundle, common)?,
    }
    let bytes = arguments.output.metadata()?.len();
    let seconds = start.elapsed().as_secs_f64();
    tracing::info!("{}: {bytes} bytes, {seconds:.1} s", arguments.output.display());
    Ok(())
}

fn write_ours(
    arguments: &Arguments,
    bundle: &ModelBundle,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let precision = arguments.precision.as_deref().and_then(Precision::from_name);
    let progress = common.progress();
    let left_out = miriam_nmt::model_file::write(bundle, precision, &arguments.output, &progress)?;
    for what in left_out {
        tracing::warn!("{}: left out: {what}", arguments.output.display());
    }
    if bundle.tokenizers.is_none() {
        let file = arguments.output.display();
        tracing::warn!(
            "{file}: written without vocabularies, because none were found; see --vocabs"
        );
    }
    Ok(())
}

fn write_for_marian(
    target: Target,
    arguments: &Arguments,
    bundle: ModelBundle,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    if bundle.models.len() != 1 {
        exit_with_usage_error("--to: expected one model, not an ensemble");
    }
    // Clones share the parameters.
    let (model, path) = (&bundle.models[0].clone(), &arguments.output);
    match target {
        Target::Marian => return write_floats(path, model),
        Target::MarianIntgemm16 => {
            return Ok(write_marian_intgemm(path, model, IntgemmKind::Sixteen)?);
        }
        Target::MarianIntgemm8 => {}
    }
    let clips = match &arguments.calibrate {
        None => {
            if model.activation_multipliers().is_empty() {
                tracing::warn!(
                    "without --calibrate no scales of activations are written, because the model \
                     has none; engines that take them from the file will not open it"
                );
            }
            BTreeMap::new()
        }
        Some(text) => calibrate(text, bundle, model, arguments, common)?,
    };
    Ok(write_marian_intgemm(path, model, IntgemmKind::Eight(&clips))?)
}

fn write_floats(path: &Path, model: &Model) -> anyhow::Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("npz" | "bin")) {
        let file = path.display();
        exit_with_usage_error(format!(
            "{file}: Marian opens models whose names end in .npz or .bin"
        ));
    }
    let architecture = model.architecture();
    Ok(write_marian_model(path, architecture, |parameter| {
        model.parameter(&parameter.name).map(|tensor| tensor.values()).unwrap_or_default()
    })?)
}

/// Measures the clipping limits of inputs of matrix products on a text and its translations by
/// `model`, the only model of the bundle.
fn calibrate(
    text: &Path,
    bundle: ModelBundle,
    model: &Model,
    arguments: &Arguments,
    common: &CommonOptions,
) -> anyhow::Result<BTreeMap<String, f32>> {
    if !text.is_file() {
        anyhow::bail!("{}: the text is read twice; give a file, not a pipe", text.display());
    }
    let Some(tokenizers) = bundle.tokenizers.clone() else {
        anyhow::bail!("{}: no vocabularies were found; see --vocabs", bundle.path.display());
    };
    let backwards = model.architecture().embeddings().right_to_left;
    let mut sides = [0, 1].map(|side| Tokenizer::new(&tokenizers, side));
    sides[0].reads_backwards = backwards;
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.precision = Precision::F32;
    (options.search.beam_size, options.search.n_best) = (1, 1);
    options.threads = common.threads.count();
    // A cut line is as good for calibration as any other.
    (options.input.crop, options.input.splits_long) = (true, false);
    options.input.max_length = options.input.max_length.min(MAX_LENGTH);
    options.output = OutputOptions { as_pieces: true, ..OutputOptions::default() };
    let tuner_cache = arguments.tuner_cache.open();
    let translator = Translator::new(bundle, options, &tuner_cache.tuner)?;
    let progress = common.progress();
    let translations = translate(&translator, text, &progress)?;
    tuner_cache.save();
    let [source, target] = &sides;
    let mut scratch = TokenizerScratch::default();
    let mut lines = Lines::new(Input::open(text)?);
    let mut pairs = Vec::new();
    let mut translated = translations.split(|&byte| byte == b'\n');
    while let Some(line) = lines.next()? {
        let pieces = translated.next().unwrap_or_default();
        let mut words = source.encode(line.bytes, &mut scratch);
        words.truncate(MAX_LENGTH - 1);
        if words.is_empty() {
            continue;
        }
        let vocabulary = &target.vocabulary;
        let ids = miriam_textio::fields::split_at_spaces(pieces)
            .map(|piece| vocabulary.find(piece).unwrap_or(vocabulary.unk_id()));
        let mut ids: Vec<u32> = ids.collect();
        if backwards {
            ids.reverse();
        }
        ids.push(vocabulary.eos_id());
        pairs.push((source.ids_with_special_tokens(&words), ids));
    }
    let task = (&progress as &dyn Progress).task("calibrating", None);
    let clips = clip_values(model, &pairs)?;
    drop(task);
    tracing::info!("calibrated on {} lines of {}", pairs.len(), text.display());
    Ok(clips)
}

/// The maximum number of tokens per line for calibration.
const MAX_LENGTH: usize = 500;

/// Returns the translations of a text, one per line, as pieces separated by spaces.
fn translate(
    translator: &Translator,
    text: &Path,
    progress: &dyn Progress,
) -> anyhow::Result<Vec<u8>> {
    let buffer = SharedBuffer::default();
    let output = Output::from_writer(buffer.clone(), "translations")?;
    let source = SourceText { lines: Lines::new(Input::open(text)?), prefixes: None };
    let stop = CancellationToken::new();
    translator.translate(source, false, output, &stop, progress, &mut |_| Ok(()))?;
    Ok(buffer.take())
}
