//! Folder with a small corpus to train on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_storage::hash::hash64;
use miriam_textio::{CancellationToken, NoProgress, Progress};
use miriam_trainer::options::RawOptions;
use miriam_trainer::train_from_text::{Summary, TrainingRequest};
use miriam_trainer::training::Outcome;

pub const SOURCE: &str = "a b c\nb c\n\nc a b a\na\nb b c a\nc c\na b\n";
pub const TARGET: &str = "x y z\ny z\nx\nz x\nx\ny y z\nz\nx y\n";
pub const LINKS: &str = "0-0 1-1 2-2\n0-0 1-1\n\n0-0 1-1 3-1\n0-0\n0-0 1-1 2-2\n0-0 1-0\n0-0 1-1\n";

/// A folder with the files of a training run.
pub struct Workplace {
    pub folder: PathBuf,
    /// The guard that removes the folder at the end.
    pub _temporary: Option<tempfile::TempDir>,
}

impl Workplace {
    pub fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().to_owned();
        let place = Workplace { folder, _temporary: Some(temporary) };
        for (name, text) in [("source", SOURCE), ("target", TARGET), ("links", LINKS)] {
            place.write(name, text);
        }
        // Vocabularies are made from text by the first training.
        place.train("vocabularies", &[]).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.text(name)
    }

    /// Trains `model` with the options of a tiny model, overridden by `more`. Returns a hash of the
    /// model and the last log line with a cost.
    pub fn train(&self, model: &str, more: &[(&str, &[&str])]) -> Result<(u64, String), String> {
        let Run { log, .. } = self.run(model, more, false)?;
        let costs = log.iter().filter_map(|line| line.split_once("Cost "));
        let cost = costs.map(|(_, after)| after.split(" @").next().unwrap_or_default()).next_back();
        let cost = cost.unwrap_or_default().to_owned();
        Ok((hash(&self.path(&format!("{model}.npz"))), cost))
    }

    /// Returns the options of a tiny model, overridden by `more`.
    pub fn options(&self, model: &str, more: &[(&str, &[&str])]) -> Result<RawOptions, String> {
        let mut options = RawOptions::default();
        let files = ["source", "target", "source.yml", "target.yml"].map(|name| self.text(name));
        let path = self.text(&format!("{model}.npz"));
        let given: [(&str, &[&str]); 14] = [
            ("train-sets", &[&files[0], &files[1]]),
            ("vocabs", &[&files[2], &files[3]]),
            ("model", &[&path]),
            ("dim-emb", &["8"]),
            ("transformer-heads", &["2"]),
            ("transformer-dim-ffn", &["8"]),
            ("enc-depth", &["1"]),
            ("dec-depth", &["1"]),
            ("mini-batch", &["3"]),
            ("after-batches", &["4"]),
            ("disp-freq", &["4"]),
            ("learn-rate", &["0.01"]),
            ("workers", &["1"]),
            ("overwrite", &["true"]),
        ];
        for (name, values) in given.iter().chain(more) {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            options.set(name, values).map_err(|e| e.to_string())?;
        }
        Ok(options)
    }

    /// Returns a request for a training run with these options.
    pub fn request(
        &self,
        model: &str,
        more: &[(&str, &[&str])],
    ) -> Result<TrainingRequest, String> {
        let options = self.options(model, more)?;
        Ok(TrainingRequest {
            options,
            folder: None,
            vocab_size: Some(20),
            plot: None,
            dry_run: false,
        })
    }

    /// Trains `model`, or computes its memory.
    pub fn run(&self, model: &str, more: &[(&str, &[&str])], dry_run: bool) -> Result<Run, String> {
        run(&TrainingRequest { dry_run, ..self.request(model, more)? })
    }

    /// Trains. Returns the reason of the end and the log.
    pub fn log(
        &self,
        model: &str,
        more: &[(&str, &[&str])],
    ) -> Result<(Outcome, Vec<String>), String> {
        run_request(&self.request(model, more)?)
    }
}

fn run(request: &TrainingRequest) -> Result<Run, String> {
    run_with(request, &NoProgress)
}

/// Trains like [`run_request`], and stops when training has asked `questions` times whether to
/// stop.
pub fn run_until(request: &TrainingRequest, questions: usize) -> Result<Outcome, String> {
    match run_with(request, &StopAfter(AtomicUsize::new(usize::MAX), questions))?.summary {
        Summary::Trained { outcome, .. } => Ok(outcome),
        Summary::Memory(_) => Err("memory was counted".into()),
    }
}

/// A user who stops training, but not the steps before it. The fields are the number of questions
/// that may still be asked, and this number at the start of training.
struct StopAfter(AtomicUsize, usize);

impl Progress for StopAfter {
    fn begin(&self, name: &str, _total: Option<u64>) {
        let questions = if name == "training" { self.1 } else { usize::MAX };
        self.0.store(questions, Ordering::Relaxed);
    }

    fn set_position(&self, _done: u64) {}

    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

fn run_with(request: &TrainingRequest, progress: &dyn Progress) -> Result<Run, String> {
    let (mut log, mut warnings) = (Vec::new(), Vec::new());
    let summary = request.run(
        &CancellationToken::new(),
        progress,
        &mut |line| log.push(line.to_owned()),
        &mut |warning| {
            // The vocabularies are smaller than requested.
            if !warning.starts_with("--vocab-size") {
                warnings.push(warning.to_owned());
            }
        },
    );
    Ok(Run { summary: summary.map_err(|e| e.to_string())?, log, warnings })
}

/// Trains. Returns the reason of the end and the log.
pub fn run_request(request: &TrainingRequest) -> Result<(Outcome, Vec<String>), String> {
    let Run { summary, log, .. } = run(request)?;
    match summary {
        Summary::Trained { outcome, .. } => Ok((outcome, log)),
        Summary::Memory(_) => Err("memory was counted".into()),
    }
}

/// The result of a training run.
pub struct Run {
    pub summary: Summary,
    pub log: Vec<String>,
    pub warnings: Vec<String>,
}

pub fn hash(path: &Path) -> u64 {
    hash64(&std::fs::read(path).unwrap())
}
