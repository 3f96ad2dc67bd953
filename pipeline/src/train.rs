//! A training run: what is checked before it, its stages, and what it tells in the end.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use miriam_lmcpu::estimate::EstimateOptions;
use miriam_text::{Input, Progress, name_of};

use crate::plan::{self, Plan};
use crate::record::Done;
use crate::stage;
use crate::stages::{INI, Training, WORK};
use crate::summary::DevSummary;
use crate::{Error, Result, Summary, TrainOptions};

/// Locked while a run works in its folder.
const LOCK: &str = "train.lock";

/// Trains a phrase model as `options` say. A run that ended early goes on where it
/// was; one that is asked for the same again has nothing to do.
///
/// The result depends neither on threads nor on memory.
pub fn train(options: &TrainOptions, progress: &dyn Progress) -> Result<Summary> {
    check(options)?;
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let _lock = lock(folder)?;
    remove_partial(&folder.join(WORK));
    plan_of(options).tell(options);
    let training = Training { options, folder };
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
fn check(options: &TrainOptions) -> Result<()> {
    let wrong = |reason: String| Err(Error::Options { reason });
    let mut files = vec![&options.source, &options.target];
    files.extend(options.dev.iter().flat_map(|(source, target)| [source, target]));
    files.extend(&options.lm_text);
    for file in files {
        if file.as_os_str() == "-" {
            return wrong("texts are read more than once: give files, not standard input".into());
        }
        Input::check(file, None)?;
    }
    if options.max_length == 0 || options.max_words == 0 || options.max_ratio == 0 {
        return wrong("lengths and ratios must be at least 1".into());
    }
    let order = EstimateOptions {
        prune: options.lm_prune.clone(),
        ..EstimateOptions::new(options.lm_order)
    };
    order.check()?;
    Ok(())
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
