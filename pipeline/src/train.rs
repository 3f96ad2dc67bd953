//! A training run: what is checked before it, its stages, and what it tells in the end.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use miriam_extract::{ExtractOptions, ReorderingModel};
use miriam_lmcpu::estimate::EstimateOptions;
use miriam_textio::{Input, Progress, name_of};

use crate::plan::{self, Plan};
use crate::record::{Done, RECORD};
use crate::stage;
use crate::stages::{INI, TEXT, Training, WORK};
use crate::summary::DevSummary;
use crate::{Error, Result, Summary, TrainOptions};

/// Locked while a run works in its folder.
const LOCK: &str = "train.lock";

/// Trains a phrase model as `options` say. A run that ended early goes on where it
/// was; one that is asked for the same again has nothing to do.
///
/// The result depends neither on threads nor on memory.
pub fn train(options: &TrainOptions, progress: &dyn Progress) -> Result<Summary> {
    let reordering = check(options)?;
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let _lock = lock(folder)?;
    for part in ["", WORK, TEXT] {
        remove_partial(&folder.join(part));
    }
    plan_of(options).tell(options);
    let training = Training { options, reordering, folder };
    let stages = training.stages(progress)?;
    let outcome = stage::run(folder, &stages, progress)?;
    let times =
        stages.iter().map(|stage| stage.title).zip(outcome.results.iter().map(|r| r.seconds));
    let summary = summary(options, &outcome.results, times.collect(), outcome.done_now);
    if !options.keep_work {
        let work = folder.join(WORK);
        match fs::remove_dir_all(&work) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!("{}: cannot remove: {e}", work.display());
            }
            _ => {}
        }
    }
    Ok(summary)
}

/// Says what is wrong with the options before anything is done.
fn check(options: &TrainOptions) -> Result<Option<ReorderingModel>> {
    let wrong = |reason: String| Err(Error::Options { reason });
    let mut files = vec![&options.source, &options.target];
    files.extend(options.dev.iter().flat_map(|(source, target)| [source, target]));
    files.extend(&options.lm_text);
    for file in files {
        Input::check(file, None)?;
        if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
            let name = name_of(file);
            return wrong(format!("{name}: texts are read more than once; give files, no pipes"));
        }
        if let (Ok(file), Ok(work)) =
            (file.canonicalize(), options.output.join(WORK).canonicalize())
            && file.starts_with(work)
        {
            let name = name_of(&file);
            return wrong(format!(
                "{name}: what lies between stages comes and goes; copy it first"
            ));
        }
    }
    let ini = options.output.join(INI);
    if ini.exists() && !options.output.join(RECORD).exists() {
        let reason = format!("{}: not made by training; give another -o", name_of(&ini));
        return wrong(reason);
    }
    if options.max_length == 0 || options.max_words == 0 || options.max_ratio == 0 {
        return wrong("lengths and ratios must be at least 1".into());
    }
    if options.max_words > miriam_align::MAX_WORDS {
        let most = miriam_align::MAX_WORDS;
        return wrong(format!("--max-words: lines of more than {most} words are not aligned"));
    }
    if options.tuning.and_then(|tuning| tuning.iterations) == Some(0) {
        return wrong("tuning takes at least one iteration".into());
    }
    let prune = options.lm_prune.clone();
    EstimateOptions { prune, ..EstimateOptions::new(options.lm_order) }.check()?;
    let extract = ExtractOptions {
        max_length: options.max_length,
        reordering: options.reordering.clone(),
        ..ExtractOptions::default()
    };
    let reordering = extract.check()?;
    if reordering.is_some_and(|model| !model.of_pairs) {
        return wrong(
            "--reordering: tables of `f` models name source phrases only and cannot be joined; \
             give an `fe` model"
                .into(),
        );
    }
    Ok(reordering)
}

/// Keeps other runs out of `folder` for as long as the file is open.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|e| Error::io(&path, "create", e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { folder: name_of(folder) }),
        // Some file systems have no locks; two runs at once are rare.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Removes what a killed run had half written.
fn remove_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(".partial") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn plan_of(options: &TrainOptions) -> Plan {
    let parallel = plan::unpacked(&options.source) + plan::unpacked(&options.target);
    let lm_text = match &options.lm_text[..] {
        [] => plan::unpacked(&options.target),
        files => files.iter().map(|file| plan::unpacked(file)).sum(),
    };
    Plan::new(parallel, lm_text, options)
}

/// What the stages' results come to.
fn summary(
    options: &TrainOptions,
    results: &[Done],
    times: Vec<(&'static str, f64)>,
    done_now: usize,
) -> Summary {
    let facts =
        |stage: &str| results.iter().find(|done| done.stage == stage).map(|done| &done.facts);
    let value = |stage: &str, name: &str| facts(stage).and_then(|facts| facts.get(name));
    let count = |stage: &str, name: &str| value(stage, name).and_then(|v| v.as_u64()).unwrap_or(0);
    let number = |stage: &str, name: &str| value(stage, name).and_then(|v| v.as_f64());
    Summary {
        ini: options.output.join(INI),
        stages: (done_now, results.len()),
        times,
        pairs: (count("corpus", "kept"), count("corpus", "pairs")),
        words: (count("corpus", "source_words"), count("corpus", "target_words")),
        links: count("align", "links"),
        phrases: count("table", "phrases"),
        table_bytes: count("table", "bytes"),
        ngrams: value("lm", "ngrams")
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
    }
}
