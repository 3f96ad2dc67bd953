//! `miriam nmt distill`: a student's training set from the translations of a teacher.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use miriam_nmt::translate::{LineError, TranslationOptions, Translator};
use miriam_nmt::{ModelBundle, Segmentation};
use miriam_pipeline::distill::{
    CONFIG_FILE, DistillOptions, SelectionMetric, SelectionSummary, Teacher, distill,
    select_from_list,
};
use miriam_storage::hash::Hasher;
use miriam_textio::{Input, find_swapped_sides, quote_for_shell};
use miriam_trainer::load_data;
use miriam_trainer::options::{NO_PRESET, RawOptions, count_lines, preset, student_preset};
use miriam_trainer::parallel_text::ParallelFiles;

use super::line_errors::LineErrors;
use super::models::{ModelArguments, OptionalModelArguments, vocabulary_pair};
use super::train::task_parser;
use super::value_parsers::{batch_size, beam_size, finite, length, length_or_zero};
use crate::commands::tuner_cache::AutotunerCacheOptions;
use crate::common::{CommonOptions, exit_with_usage_error};

/// Options for the translation by the teacher, which do not apply to `--n-best`.
const TRANSLATION_OPTIONS: [&str; 21] = [
    "source",
    "models",
    "config",
    "vocabs",
    "bpe_codes",
    "from",
    "to",
    "weights",
    "precision",
    "dialect",
    "beam_size",
    "normalize",
    "max_length",
    "mini_batch",
    "mini_batch_words",
    "part_lines",
    "task",
    "student_vocabs",
    "dev_source",
    "alignments",
    "tuner_file",
];

/// The default maximum length of a source sentence, in pieces of the teacher.
const MAX_LENGTH: usize = 200;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    models: OptionalModelArguments,
    #[command(flatten)]
    text: TextArguments,
    #[command(flatten)]
    search: SearchArguments,
    #[command(flatten)]
    student: StudentArguments,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
}

#[derive(Args)]
#[command(next_help_heading = "Text")]
struct TextArguments {
    /// The source side of the training text: plain, .gz, .zst, .bz2 or .xz
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// The original target side, with which translations are compared
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// The folder of the student's training set; a run that ended early resumes in it. With
    /// --n-best, this is the file of selected translations
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Select from this n-best list of Marian's form (plain, .gz, .zst, .bz2 or .xz) instead of
    /// translating
    #[arg(long, visible_alias = "n-best-list", value_name = "LIST",
          conflicts_with_all = TRANSLATION_OPTIONS)]
    n_best: Option<PathBuf>,
    /// The similarity to the reference that selects a translation: effective is sacreBLEU's
    /// sentence BLEU; marian is the BLEU of Marian's students; chrf [effective]
    #[arg(long, value_name = "NAME", value_parser = SelectionMetric::ALL.map(SelectionMetric::name))]
    metric: Option<String>,
    /// Select the teacher's first translation, without a reference
    #[arg(long, conflicts_with = "metric")]
    plain: bool,
    /// Append the original pairs to the distilled ones
    #[arg(long, requires = "reference", conflicts_with = "n_best")]
    add_original: bool,
    /// Lines per part of the n-best lists; a killed run loses at most one part
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    part_lines: u64,
}

#[derive(Args)]
#[command(next_help_heading = "Search")]
struct SearchArguments {
    /// Hypotheses kept at each step, and translations to select from [8; with --plain the beam size
    /// of the model]
    #[arg(short, long, value_name = "N", value_parser = beam_size())]
    beam_size: Option<usize>,
    /// Divide scores by the length to this power [that of the model's configuration, or 1]
    #[arg(long, num_args = 0..=1, value_name = "A", default_missing_value = "1",
          allow_negative_numbers = true, value_parser = finite)]
    normalize: Option<f32>,
    /// The longest sentence, in pieces with </s>; the training set omits longer ones
    /// [that of the model's configuration, or 200]
    #[arg(long, value_name = "N", value_parser = length())]
    max_length: Option<usize>,
    /// Sentences translated together [that of a configuration, or 32]
    #[arg(long, value_name = "N", value_parser = batch_size())]
    mini_batch: Option<usize>,
    /// Source words translated together; 0 is any number [that of a configuration, or 4096]
    #[arg(long, value_name = "N", value_parser = length_or_zero())]
    mini_batch_words: Option<usize>,
}

#[derive(Args)]
#[command(next_help_heading = "Student")]
struct StudentArguments {
    /// The preset of `nmt train` for the configuration [default: student-small below
    /// 200,000 lines, else student-tiny]
    #[arg(long, value_name = "NAME", value_parser = task_parser())]
    task: Option<String>,
    /// The student's source and target vocabularies, or a joint one (.spm, .model, .yml)
    /// [those of the teacher]
    #[arg(long, num_args = 1..=2, value_names = ["SOURCE", "TARGET"])]
    student_vocabs: Option<Vec<PathBuf>>,
    /// The source side of the text to validate the student on
    #[arg(long, value_name = "FILE", requires = "dev_target")]
    dev_source: Option<PathBuf>,
    /// Its target side
    #[arg(long, value_name = "FILE", requires = "dev_source")]
    dev_target: Option<PathBuf>,
    /// Links for guided alignment and a shortlist: align, by the word aligner; or none
    #[arg(long, value_name = "METHOD", default_value = "align", value_parser = ["align", "none"])]
    alignments: String,
}

impl TextArguments {
    /// Returns the metric that selects a translation; `None` if the first translation is selected.
    fn metric(&self) -> Option<SelectionMetric> {
        if self.plain || (self.reference.is_none() && self.metric.is_none()) {
            return None;
        }
        Some(self.metric.as_deref().and_then(SelectionMetric::from_name).unwrap_or_default())
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let text = &arguments.text;
    let metric = text.metric();
    if metric.is_some() && text.reference.is_none() {
        exit_with_usage_error("--metric compares with --reference; give it");
    }
    if metric.is_none() && !text.plain {
        exit_with_usage_error(
            "--reference is needed to select translations; --plain selects the first",
        );
    }
    if text.plain && text.reference.is_some() && !text.add_original {
        exit_with_usage_error("--plain does not use --reference; omit it, or give --add-original");
    }
    match (&text.n_best, &arguments.models.0) {
        (Some(list), _) => select(list, &arguments, metric, common),
        (None, Some(models)) => distill_from_teacher(models, &arguments, metric, common),
        (None, None) => exit_with_usage_error("give -m or --n-best"),
    }
}

/// Selects translations from the n-best list `list`.
fn select(
    list: &Path,
    arguments: &Arguments,
    metric: Option<SelectionMetric>,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let text = &arguments.text;
    for input in [Some(list), text.reference.as_deref()].into_iter().flatten() {
        Input::check_access(input, Some(&text.output))?;
    }
    let reference = text.reference.as_deref().zip(metric);
    let (threads, progress) = (common.threads.count(), common.progress());
    log_selection(select_from_list(list, reference, &text.output, threads, &progress)?);
    Ok(())
}

fn log_selection(selection: SelectionSummary) {
    let SelectionSummary { sentences, not_first, empty } = selection;
    tracing::info!(
        "{sentences} sentences; for {not_first} of them a later translation was selected"
    );
    if empty > 0 {
        tracing::warn!("{empty} sentences have an empty translation; training drops them");
    }
}

fn distill_from_teacher(
    models: &ModelArguments,
    arguments: &Arguments,
    metric: Option<SelectionMetric>,
    common: &CommonOptions,
) -> anyhow::Result<()> {
    let (text, student) = (&arguments.text, &arguments.student);
    let Some(source) = text.source.clone() else {
        exit_with_usage_error("give --source, the text that the teacher translates");
    };
    let dev = student.dev_source.clone().zip(student.dev_target.clone());
    if let (Some(reference), Some((dev_source, dev_target))) = (&text.reference, &dev)
        && let Some(warning) =
            find_swapped_sides([&source, reference], [dev_source.as_path(), dev_target])?
    {
        tracing::warn!("{warning}");
    }
    // Training reads the dev text long after the teacher has translated, so it is checked now.
    if let Some((dev_source, dev_target)) = &dev {
        let files = ParallelFiles::pair([dev_source.clone(), dev_target.clone()]);
        load_data::check_lines(&files, &common.progress())?;
    }
    let (bundle, _) = models.open_bundle(None, models.languages())?;
    if let Some(missing) = bundle.missing_languages() {
        anyhow::bail!(missing);
    }
    let translation = translation_options(&bundle, arguments, metric, common)?;
    let vocabularies = student_vocabularies(&bundle, student.student_vocabs.as_deref())?;
    let mut description = models.describe_choices();
    describe_teacher(&bundle, &translation, &mut description)?;
    let tuner_cache = arguments.tuner_cache.open();
    let translator = Translator::new(bundle, translation, &tuner_cache.tuner)?;
    let line_errors = Mutex::new(LineErrors::new(miriam_textio::display_name(&source), None)?);
    let report = |error: &LineError| {
        // A report fails only if it cannot be written to a file, and there is no file.
        if let Ok(mut errors) = line_errors.lock() {
            let _ = errors.report(error);
        }
    };
    let teacher = Teacher { translator: &translator, description, report: &report };
    let source_of_size = source.clone();
    let options = DistillOptions {
        source,
        reference: text.reference.clone(),
        metric,
        adds_original: text.add_original,
        output: text.output.clone(),
        part_lines: text.part_lines,
        vocabularies,
        aligns: student.alignments == "align",
        dev: dev.map(|(source, target)| [source, target]),
        student: student_options(student.task.as_deref(), &source_of_size)?,
        threads: common.threads.count(),
    };
    let summary = distill(&options, &teacher, &common.progress());
    tuner_cache.save();
    if let Ok(errors) = line_errors.into_inner() {
        errors.finish(summary.is_ok())?;
    }
    let summary = summary?;
    log_selection(summary.selection);
    let config = text.output.join(CONFIG_FILE);
    tracing::info!(
        "{} of {} stages done now; train the student with: miriam nmt train -c {} -o STUDENT",
        summary.stages.0,
        summary.stages.1,
        quote_for_shell(&config)
    );
    Ok(())
}

/// Returns the options of the teacher's search, which writes n-best lists in plain form.
fn translation_options(
    bundle: &ModelBundle,
    arguments: &Arguments,
    metric: Option<SelectionMetric>,
    common: &CommonOptions,
) -> anyhow::Result<TranslationOptions> {
    let given = &arguments.search;
    let mut options = TranslationOptions::for_bundle(bundle, None);
    let search = &mut options.search;
    search.beam_size = match (given.beam_size, metric) {
        (Some(beam_size), _) => beam_size,
        (None, Some(_)) => 8,
        (None, None) => search.beam_size,
    };
    search.n_best = if metric.is_some() { search.beam_size } else { 1 };
    search.length_penalty = given.normalize.or(bundle.settings.normalize).unwrap_or(1.0);
    options.output = miriam_nmt::translate::OutputOptions { n_best: true, ..Default::default() };
    options.threads = common.threads.count();
    if let Some(models) = &arguments.models.0 {
        models.place(&mut options)?;
    }
    options.mini_batch = given.mini_batch.unwrap_or(options.mini_batch);
    options.mini_batch_words = given.mini_batch_words.unwrap_or(options.mini_batch_words);
    let longest = given.max_length.or(bundle.settings.max_length).unwrap_or(MAX_LENGTH);
    options.input.max_length = longest;
    // The training set must not have translations of parts of sentences.
    (options.input.crop, options.input.splits_long) = (false, false);
    Ok(options)
}

/// Returns the options of the student's preset, chosen by the size of the text unless one is named.
fn student_options(task: Option<&str>, source: &Path) -> anyhow::Result<RawOptions> {
    match task {
        Some(NO_PRESET) => Ok(RawOptions::default()),
        Some(task) => Ok(preset(task)?),
        None => {
            let lines = count_lines(source)?;
            let name = student_preset(lines.unwrap_or(u64::MAX));
            tracing::info!("the student has the preset {name}; --task chooses another");
            Ok(preset(name)?)
        }
    }
}

/// Returns the given vocabularies, or those that the student shares with the teacher.
fn student_vocabularies(
    bundle: &ModelBundle,
    given: Option<&[PathBuf]>,
) -> anyhow::Result<[PathBuf; 2]> {
    if let Some(pair) = given.and_then(vocabulary_pair) {
        return Ok(pair.map(Path::to_owned));
    }
    let needed = "give the student's with --student-vocabs (miriam nmt vocab makes them)";
    let Some(tokenizers) = &bundle.tokenizers else {
        anyhow::bail!(
            "{}: no vocabularies were found; name the teacher's with --vocabs SOURCE TARGET",
            bundle.path.display()
        );
    };
    let paths = [0, 1].map(|side| {
        let own = &tokenizers.segmentation[side];
        match own {
            Segmentation::SentencePiece(pieces) => PathBuf::from(&pieces.name),
            _ => PathBuf::from(tokenizers.vocabularies[side].name()),
        }
    });
    let has_codes = tokenizers.segmentation.iter().any(|s| matches!(s, Segmentation::Bpe(_)));
    if has_codes || !paths.iter().all(|path| path.is_file()) {
        anyhow::bail!(
            "{}: the teacher's vocabularies are not files that training can read; {needed}",
            bundle.path.display()
        );
    }
    let opened = load_data::open_vocabularies(&paths, [0, 0])?;
    for side in [0, 1] {
        if !opened.vocabularies[side].has_same_ids(&tokenizers.vocabularies[side]) {
            anyhow::bail!(
                "{}: the teacher numbers its words in another way; {needed}",
                paths[side].display()
            );
        }
    }
    Ok(paths)
}

/// Adds to `description` what translations depend on: hashes of the models and vocabularies, and
/// the search options.
fn describe_teacher(
    bundle: &ModelBundle,
    options: &TranslationOptions,
    description: &mut BTreeMap<String, String>,
) -> anyhow::Result<()> {
    let mut hasher = Hasher::new();
    for file in &bundle.files {
        let mut file = std::fs::File::open(file)
            .map_err(|e| anyhow::anyhow!("{}: cannot read: {e}", file.display()))?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match std::io::Read::read(&mut file, &mut buffer)? {
                0 => break,
                count => hasher.update(&buffer[..count]),
            }
        }
    }
    description.insert("models".into(), format!("{:016x}", hasher.finish()));
    let mut hasher = Hasher::new();
    if let Some(tokenizers) = &bundle.tokenizers {
        for word in tokenizers.vocabularies.iter().flat_map(|words| words.iter()) {
            hasher.update(word);
            hasher.update(b"\n");
        }
        hasher.update(format!("{:?}", tokenizers.target_prefix).as_bytes());
        hasher.update(format!("{:?}", tokenizers.source_boundary_tokens.bos_id).as_bytes());
    }
    description.insert("vocabularies".into(), format!("{:016x}", hasher.finish()));
    let speed_options = ["cpu-threads", "mini-batch", "mini-batch-words", "maxi-batch"];
    for (name, value) in options.describe() {
        if !speed_options.contains(&name) {
            description.insert(name.to_owned(), value);
        }
    }
    let search = &options.search;
    for (name, value) in [
        ("repetition-penalty", search.repetition_penalty.to_string()),
        ("no-repeat-ngram-size", search.no_repeat_ngram_size.to_string()),
        ("min-length", search.min_length.to_string()),
        ("patience", search.patience.to_string()),
    ] {
        description.insert(name.to_owned(), value);
    }
    if let Some(rule) = search.early_stopping {
        description.insert("early-stopping".to_owned(), rule.to_string());
    }
    Ok(())
}
