//! `miriam nmt score`: forced decoding of given translations.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miriam_combine::rescore::ListCoverage;
use miriam_nmt::DecoderConfig;
use miriam_nmt::score::{
    LengthLimit, ListOptions, MAX_LENGTH, ScoreOptions, ScoreSummary, ScoringDirection,
    ScoringInput, score_text,
};
use miriam_nmt::translate::{AlignmentFormat, LoadedModels, TranslationOptions};
use miriam_textio::number::push_general;
use miriam_textio::{CancellationToken, Input, Lines, Output, ParallelLines};

use super::ignored_options::IgnoredOptions;
use super::models::ModelArguments;
use super::rescore::{self, OpenedModel};
use super::translate::{CpuThreads, parse_cpu_threads};
use super::value_parsers::{batch_size, finite, length};
use crate::commands::rescore_lists::{RescoringFiles, name_features};
use crate::commands::tuner_cache::{AutotunerCache, AutotunerCacheOptions};
use crate::common::{
    CommonOptions, Threads, check_stdin_use, exit_with_usage_error, is_broken_pipe, open_text,
};
use crate::signals::{SignalHandler, describe_partial_files};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    models: ModelArguments,
    /// The source text, one sentence per line; language models score without it
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// Its translation, line by line; or the text that a language model scores
    #[arg(long, value_name = "FILE", required_unless_present_any = ["tsv", "n_best", "train_sets", "config"])]
    target: Option<PathBuf>,
    /// Marian's option for the texts: source and target; source and lists with a bare --n-best; one
    /// file with --tsv, or for a language model
    #[arg(short, long, value_name = "FILE", num_args = 1..=2, hide = true,
          conflicts_with_all = ["source", "target"])]
    train_sets: Vec<PathBuf>,
    /// Both sides in one text, separated by a tab: this file, that of --source, or standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["target", "n_best"])]
    tsv: Option<Option<PathBuf>>,
    /// A file with lists of translations (number ||| translation ||| features ||| score),
    /// to which a feature is added; instead of --target
    #[arg(long, value_name = "FILE", num_args = 0..=1,
          conflicts_with_all = ["target", "tsv", "summary"])]
    n_best: Option<Option<PathBuf>>,
    /// The name of the feature that --n-best adds
    #[arg(long, value_name = "NAME", default_value = "Score")]
    n_best_feature: String,
    /// The file for scores; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Print one number for the whole text instead of one per line
    #[arg(long, num_args = 0..=1, value_name = "KIND", default_missing_value = "cross-entropy")]
    summary: Option<SummaryKind>,
    /// Divide scores by the length, with </s>, to this power [0]
    #[arg(short, long, num_args = 0..=1, value_name = "A", default_missing_value = "1",
          allow_negative_numbers = true, value_parser = finite)]
    normalize: Option<f32>,
    /// Write the score of each piece
    #[arg(long, conflicts_with = "n_best")]
    word_scores: bool,
    /// Write alignments of pieces: hard (the default form), for each piece the source piece with
    /// the most attention; soft, all attention; or a threshold from 0 to 1, the source pieces with
    /// more attention. Positions count pieces, not words. Needs a model with attention
    #[arg(long, num_args = 0..=1, value_name = "FORM", default_missing_value = "hard",
          value_parser = str::parse::<AlignmentFormat>, conflicts_with = "n_best")]
    alignment: Option<AlignmentFormat>,
    /// The input is already tokenised, with spaces between pieces
    #[arg(long)]
    no_spm_encode: bool,
    /// The longest sentence or translation, in pieces with </s>; a longer one is an error [5000]
    #[arg(long, value_name = "N", value_parser = length())]
    max_length: Option<usize>,
    /// Score only the beginning of longer sentences
    #[arg(long)]
    max_length_crop: bool,
    /// Sentences scored together [32]
    #[arg(long, value_name = "N", value_parser = batch_size())]
    mini_batch: Option<usize>,
    /// The number of batches that are read ahead and sorted; lists do not use it, because they are
    /// read sentence by sentence [20]
    #[arg(long, value_name = "N", value_parser = batch_size())]
    maxi_batch: Option<usize>,
    /// The same as --threads; 0, which selects GPUs in Marian, has no effect
    #[arg(long, value_name = "N", value_parser = parse_cpu_threads)]
    cpu_threads: Option<CpuThreads>,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
    #[command(flatten)]
    ignored_options: IgnoredOptions,
}

/// The texts to score.
#[derive(Default)]
struct Texts {
    source: Option<PathBuf>,
    target: Option<PathBuf>,
    tsv: Option<PathBuf>,
    n_best: Option<PathBuf>,
}

impl Texts {
    /// Returns the texts that the options name, in this program's way or in Marian's.
    fn new(a: &Arguments, scorer: &DecoderConfig) -> Self {
        let names_text = a.source.is_some()
            || a.target.is_some()
            || matches!(a.tsv, Some(Some(_)))
            || matches!(a.n_best, Some(Some(_)));
        let train_sets = match &a.train_sets[..] {
            [] if !names_text => &scorer.train_sets[..],
            given => given,
        };
        let n_best = match (&a.n_best, scorer.n_best) {
            (None, Some(true)) if !names_text && a.tsv.is_none() => &Some(None),
            (given, _) => given,
        };
        match (&a.tsv, n_best, train_sets) {
            (None, None, [source, target]) => Texts {
                source: Some(source.clone()),
                target: Some(target.clone()),
                ..Texts::default()
            },
            (None, Some(None), [source, list]) => Texts {
                source: Some(source.clone()),
                n_best: Some(list.clone()),
                ..Texts::default()
            },
            (None, None, [text]) => Texts { target: Some(text.clone()), ..Texts::default() },
            (None, Some(None), [list]) => Texts { n_best: Some(list.clone()), ..Texts::default() },
            (Some(None), None, [both]) => Texts { tsv: Some(both.clone()), ..Texts::default() },
            (_, _, [_, ..]) => exit_with_usage_error(
                "--train-sets: expected two files, source and target, or source and --n-best \
                 lists, or one file with --tsv or for a language model",
            ),
            (None, Some(None), []) => {
                exit_with_usage_error("--n-best needs a file, or add --train-sets")
            }
            (None, n_best, []) => Texts {
                source: a.source.clone(),
                target: a.target.clone(),
                tsv: None,
                n_best: n_best.clone().flatten(),
            },
            (Some(tsv), ..) => match (tsv, &a.source) {
                (Some(_), Some(_)) => {
                    exit_with_usage_error("--tsv FILE and --source: give one of them")
                }
                (Some(file), None) | (None, Some(file)) => {
                    Texts { tsv: Some(file.clone()), ..Texts::default() }
                }
                // Standard input, as in Marian's scorer.
                (None, None) => Texts { tsv: Some("-".into()), ..Texts::default() },
            },
        }
    }
}

/// The number of sentences scored together, if it is not given.
const MINI_BATCH: usize = 32;

/// The number of batches that are read ahead, if it is not given.
const MAXI_BATCH: usize = 20;

#[derive(Clone, Copy, ValueEnum)]
enum SummaryKind {
    /// The mean per sentence, in natural logarithms
    #[value(alias = "ce-mean")]
    CrossEntropy,
    /// The sum, in natural logarithms
    CeSum,
    /// The mean per word, with </s>, in natural logarithms
    CeMeanWords,
    /// e to the power of ce-mean-words
    Perplexity,
}

impl SummaryKind {
    fn value_of(self, summary: &ScoreSummary) -> f64 {
        match self {
            SummaryKind::CrossEntropy => summary.cross_entropy(),
            SummaryKind::CeSum => -summary.log_probability,
            SummaryKind::CeMeanWords => summary.cross_entropy_per_token(),
            SummaryKind::Perplexity => summary.perplexity(),
        }
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let a = &arguments;
    a.ignored_options.check(a.tsv.is_some());
    // Only a scorer's configuration has settings for scoring; a decoder's settings are for search.
    let scorer = a.models.settings()?.filter(|settings| settings.is_for_scoring).cloned();
    let scorer = scorer.unwrap_or_default();
    let texts = Texts::new(a, &scorer);
    let inputs = [&texts.source, &texts.target, &texts.tsv, &texts.n_best];
    check_stdin_use(inputs.into_iter().flatten());
    for input in inputs.into_iter().flatten() {
        Input::check_access(input, Some(&a.output))?;
    }
    a.models.check_outputs([a.output.as_path()])?;
    let tuner_cache = a.tuner_cache.open();
    if let Some(list) = &texts.n_best {
        let outcome = add_to_list(a, &scorer, texts.source.as_deref(), list, &tuner_cache, common);
        tuner_cache.save();
        return outcome;
    }
    let (mut bundle, _) = a.models.open_bundle(None, a.models.languages())?;
    bundle.prepare_to_score();
    if let Some(missing) = bundle.missing_languages().filter(|_| !a.is_tokenized(&scorer)) {
        anyhow::bail!(missing);
    }
    let mut defaults = TranslationOptions::for_bundle(&bundle, None);
    a.models.place(&mut defaults)?;
    let placement = defaults.placement(&tuner_cache.tuner);
    let models = LoadedModels::new(&bundle, &defaults.weights, placement)?;
    let stop = CancellationToken::new();
    let interrupts = SignalHandler::install(&stop)?;
    let open = |path: &PathBuf| -> anyhow::Result<Lines> {
        Ok(Lines::in_background(open_text(path)?).until_cancelled(&stop))
    };
    let pairs = match (&texts.tsv, &texts.source, &texts.target) {
        (Some(tsv), ..) => ScoringInput::Tsv(open(tsv)?),
        (_, Some(source), Some(target)) => {
            ScoringInput::ParallelTexts(ParallelLines::new(vec![open(source)?, open(target)?]))
        }
        (_, None, Some(text)) => ScoringInput::Text(open(text)?),
        _ => exit_with_usage_error("--target, --tsv or --n-best is needed"),
    };
    let options = ScoreOptions {
        threads: a.threads(defaults.devices.is_cuda().then_some(defaults.threads), common),
        mini_batch: a.mini_batch.or(scorer.mini_batch).unwrap_or(MINI_BATCH),
        maxi_batch: a.maxi_batch.or(scorer.maxi_batch).unwrap_or(MAXI_BATCH),
        is_tokenized: a.is_tokenized(&scorer),
        limit: a.limit(&scorer),
        normalize: a.normalize.or(scorer.normalize).unwrap_or(0.0),
        alignment: a.alignment.or(scorer.alignment.flatten()),
        word_scores: a.word_scores || scorer.word_scores == Some(true),
    };
    let mut output = Some(Output::create(&a.output)?);
    let lines = if a.summary.is_some() { None } else { output.take() };
    let outcome = score_text(&models, pairs, &options, lines, &stop, &common.progress());
    tuner_cache.save();
    let outcome = outcome.map_err(anyhow::Error::from).and_then(|summary| {
        // A summary of a part could be mistaken for one of the whole text.
        if let (Some(kind), Some(mut output)) = (a.summary, output.filter(|_| !stop.is_cancelled()))
        {
            let mut text = Vec::new();
            push_general(&mut text, kind.value_of(&summary));
            text.push(b'\n');
            output.write(&text)?;
            output.finish()?;
        }
        Ok(())
    });
    if outcome.as_ref().err().is_none_or(is_broken_pipe) {
        interrupts.reraise_signal_with_message(&format!(
            "scores are those of the first lines{}",
            describe_partial_files([a.output.as_path()])
        ));
    }
    outcome
}

impl Arguments {
    fn is_tokenized(&self, scorer: &DecoderConfig) -> bool {
        self.no_spm_encode || scorer.is_tokenized == Some(true)
    }

    fn limit(&self, scorer: &DecoderConfig) -> LengthLimit {
        LengthLimit {
            tokens: self.max_length.or(scorer.max_length).unwrap_or(MAX_LENGTH),
            crops: self.max_length_crop || scorer.crop == Some(true),
        }
    }

    /// Returns the number of threads: from Marian's option, else `for_devices`, which is set if the
    /// model computes on GPUs, else from `--threads`.
    fn threads(&self, for_devices: Option<usize>, common: &CommonOptions) -> usize {
        let given = self.cpu_threads.and_then(|CpuThreads(threads)| threads).map(Threads::count);
        given.or(for_devices).unwrap_or(common.threads.count())
    }
}

/// Adds the score of the model to a list, as `miriam nmt rescore` does with one model, but the list
/// may leave sentences out.
fn add_to_list(
    a: &Arguments,
    scorer: &DecoderConfig,
    source: Option<&Path>,
    list: &Path,
    tuner_cache: &AutotunerCache,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let options = ListOptions {
        direction: ScoringDirection::Forward,
        is_tokenized: a.is_tokenized(scorer),
        limit: a.limit(scorer),
        normalize: a.normalize.or(scorer.normalize).unwrap_or(0.0),
        mini_batch: a.mini_batch.or(scorer.mini_batch).unwrap_or(MINI_BATCH),
    };
    let OpenedModel { feature, files, threads } =
        rescore::open(&a.models, options.clone(), source.is_some(), tuner_cache)?;
    rescore::check_source_use(source, std::slice::from_ref(&feature))?;
    let features = name_features(vec![a.n_best_feature.clone()], &["Score"], [&feature as _]);
    let files = RescoringFiles {
        list,
        source,
        coverage: ListCoverage::SomeSentences,
        output: &a.output,
        model_files: files,
        options: format!("{:?} {options:?}", a.models),
    };
    files.add(&features, a.threads(threads, common), common)
}
