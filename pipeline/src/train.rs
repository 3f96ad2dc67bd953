//! A training run: the check of its options, its stages, and its summary.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miriam_extract::{ExtractOptions, ReorderingType};
use miriam_lmcpu::estimate::EstimateOptions;
use miriam_storage::file_lock::FileLock;
use miriam_storage::partial_file::remove_stale_files;
use miriam_textio::{Input, Progress, display_name, is_same_file};

use crate::disk_estimate::{self, DiskEstimate};
use crate::input_check;
use crate::manifest::{CompletedStage, MANIFEST_FILE};
use crate::stage_keys;
use crate::stage_runner;
use crate::summary::{CombinationSummary, DevSummary};
use crate::training_stages::{FILES_OF_A_SYSTEM, INI_FILE, TEXT_FOLDER, TrainingRun, WORK_FOLDER};
use crate::{Error, Result, TrainOptions, TrainSummary};

/// The file that is locked while a run uses its folder.
const LOCK_FILE: &str = "train.lock";

/// Trains a phrase model, and neural models with their combination if the options say so. A killed
/// run is resumed. If a finished run is repeated with the same options, no stage runs.
///
/// The result depends neither on the number of threads nor on the memory limit.
///
/// # Errors
/// If options exclude each other, a text cannot be used, another run uses the same folder, or a
/// file cannot be read or written; [`Error::Cancelled`] if `progress` is cancelled.
pub fn train(options: &TrainOptions, progress: &dyn Progress) -> Result<TrainSummary> {
    let reordering = check_options(options)?;
    for warning in input_check::check_texts(options, progress)? {
        tracing::warn!("{warning}");
    }
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let _lock = lock_folder(folder)?;
    for part in ["", WORK_FOLDER, TEXT_FOLDER] {
        remove_stale_files(&folder.join(part), ".");
    }
    estimate_disk(options)?.log(options);
    let training = TrainingRun { options, reordering, folder };
    let stages = training.build_stages(progress)?;
    // The user may give a list of prefixes that is the copy an earlier run made in this folder.
    let prefixes: Vec<&PathBuf> = options.nonbreaking_prefixes.iter().flatten().collect();
    for file in user_files(options).into_iter().filter(|file| !prefixes.contains(file)) {
        let written = stages.iter().flat_map(|stage| &stage.files);
        if written.map(|name| folder.join(name)).any(|written| is_same_file(file, &written)) {
            let reason = io::Error::other("it would be overwritten; give another -o");
            return Err(Error::io(file, "use", reason));
        }
    }
    let obsolete = stage_runner::find_obsolete(folder, &stages, &FILES_OF_A_SYSTEM);
    let (texts, files): (Vec<&str>, Vec<&str>) =
        obsolete.into_iter().partition(|name| *name == TEXT_FOLDER);
    // The run replaces the records of these files. If it were killed, no later run would find them.
    stage_runner::set_aside(folder, &texts)?;
    let outcome =
        stage_runner::run_stages(folder, &stages, stage_keys::option_texts(options), progress)?;
    stage_runner::set_aside(folder, &files)?;
    let stage_seconds = stages
        .iter()
        .zip(&outcome.results)
        .map(|(stage, result)| (stage.title, result.seconds))
        .collect();
    let summary = summarize(options, &outcome.results, stage_seconds, outcome.num_run);
    if !options.keep_work {
        let work = folder.join(WORK_FOLDER);
        match fs::remove_dir_all(&work) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!("{}: cannot remove: {e}", work.display());
            }
            _ => {}
        }
    }
    Ok(summary)
}

/// Returns the files that a run reads.
fn user_files(options: &TrainOptions) -> Vec<&PathBuf> {
    let mut files = vec![&options.source, &options.target];
    files.extend(options.dev.iter().flat_map(|(source, target)| [source, target]));
    files.extend(&options.lm_text);
    files.extend(options.nonbreaking_prefixes.iter().flatten());
    files.extend(options.neural.iter().flat_map(|neural| &neural.back_translate));
    files
}

/// Checks the options before any stage runs. Returns the reordering model that they name.
fn check_options(options: &TrainOptions) -> Result<Option<ReorderingType>> {
    for file in user_files(options) {
        Input::check_access(file, None)?;
        if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
            let name = display_name(file);
            return Err(Error::invalid_options(format!(
                "{name}: texts are read more than once; give files, not pipes"
            )));
        }
        if let (Ok(file), Ok(work)) =
            (file.canonicalize(), options.output.join(WORK_FOLDER).canonicalize())
            && file.starts_with(work)
        {
            let name = display_name(&file);
            return Err(Error::invalid_options(format!(
                "{name}: training replaces and removes intermediate files; copy the file first"
            )));
        }
    }
    let ini = options.output.join(INI_FILE);
    if ini.exists() && !options.output.join(MANIFEST_FILE).exists() {
        return Err(Error::invalid_options(format!(
            "{}: not written by training; give another -o",
            display_name(&ini)
        )));
    }
    if options.raw_languages.is_none() && options.nonbreaking_prefixes.iter().any(Option::is_some) {
        return Err(Error::invalid_options(
            "nonbreaking prefixes are for raw texts; name their languages",
        ));
    }
    if let Some(neural) = &options.neural {
        neural.check()?;
        if options.dev.is_none() {
            return Err(Error::invalid_options(
                "neural models are validated, and the combination is tuned, on held-out text; give \
                 --dev-source and --dev-target",
            ));
        }
    }
    if options.max_length == 0 || options.max_words == 0 || options.max_ratio == 0 {
        return Err(Error::invalid_options("lengths and ratios must be at least 1"));
    }
    if options.max_words > miriam_align::MAX_SENTENCE_WORDS {
        return Err(Error::invalid_options(format!(
            "--max-words: lines of more than {} words are not aligned",
            miriam_align::MAX_SENTENCE_WORDS
        )));
    }
    if options.tuning.and_then(|tuning| tuning.iterations) == Some(0) {
        return Err(Error::invalid_options("tuning takes at least one iteration"));
    }
    let prune = options.lm_prune.clone();
    EstimateOptions { prune, ..EstimateOptions::new(options.lm_order) }.validate()?;
    let extract = ExtractOptions {
        max_length: options.max_length,
        reordering: options.reordering.clone(),
        ..ExtractOptions::default()
    };
    let reordering = extract.validate()?;
    if reordering.is_some_and(|model| !model.conditions_on_target) {
        return Err(Error::invalid_options(
            "--reordering: `f` models are not supported, because their tables name only source \
             phrases; give an `fe` model",
        ));
    }
    Ok(reordering)
}

/// Locks `folder` against other runs until the lock is dropped.
pub(crate) fn lock_folder(folder: &Path) -> Result<FileLock> {
    FileLock::try_acquire(&folder.join(LOCK_FILE))?
        .ok_or_else(|| Error::FolderLocked { folder: display_name(folder) })
}

fn estimate_disk(options: &TrainOptions) -> Result<DiskEstimate> {
    fn sum(files: &[PathBuf]) -> u64 {
        files.iter().map(|file| disk_estimate::uncompressed_size(file)).sum()
    }
    let parallel = disk_estimate::uncompressed_size(&options.source)
        + disk_estimate::uncompressed_size(&options.target);
    let lm_text = match &options.lm_text[..] {
        [] => disk_estimate::uncompressed_size(&options.target),
        files => sum(files),
    };
    let mut estimate = DiskEstimate::new(parallel, lm_text, options);
    if let Some(neural) = &options.neural {
        let model = neural.model_bytes([&options.source, &options.target])?;
        estimate.add_neural(model, parallel, sum(&neural.back_translate));
    }
    Ok(estimate)
}

/// Summarises the results of stages.
fn summarize(
    options: &TrainOptions,
    results: &[CompletedStage],
    stage_seconds: Vec<(&'static str, f64)>,
    num_run: usize,
) -> TrainSummary {
    let count =
        |stage, name| find_statistic(results, stage, name).and_then(|v| v.as_u64()).unwrap_or(0);
    let number = |stage, name| find_statistic(results, stage, name).and_then(|v| v.as_f64());
    TrainSummary {
        ini: options.output.join(INI_FILE),
        is_raw: options.raw_languages.is_some(),
        stages: (num_run, results.len()),
        stage_seconds,
        pairs: (count("corpus", "kept"), count("corpus", "pairs")),
        words: (count("corpus", "source_words"), count("corpus", "target_words")),
        links: count("align", "links"),
        phrase_pairs: count("table", "phrases"),
        table_bytes: count("table", "bytes"),
        ngrams: find_statistic(results, "lm", "ngrams")
            .and_then(|counts| counts.as_array())
            .map(|counts| counts.iter().filter_map(|count| count.as_u64()).collect())
            .unwrap_or_default(),
        lm_bytes: count("lm", "bytes"),
        dev: number("perplexity", "perplexity").map(|perplexity| DevSummary {
            perplexity,
            unknown: count("perplexity", "unknown"),
            tokens: count("perplexity", "tokens"),
            bleu: number("weights", "first_bleu").zip(number("weights", "best_bleu")),
        }),
        combination: number("combination", "neural_bleu")
            .zip(number("combination", "combined_bleu"))
            .map(|(neural, combined)| CombinationSummary {
                neural,
                augmented: number("combination", "augmented_bleu"),
                combined,
            }),
    }
}

/// Finds the statistic `name` of a stage.
pub(crate) fn find_statistic<'r>(
    results: &'r [CompletedStage],
    stage: &str,
    name: &str,
) -> Option<&'r serde_json::Value> {
    results.iter().find(|done| done.stage == stage)?.facts.get(name)
}
