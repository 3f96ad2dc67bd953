//! Stages with files between them, done when they must be and not again.
//!
//! A stage's key is a hash of everything that decides its results: this program's
//! version, the stage's options and the names of its files, the bytes of the user's
//! files it reads, and the keys of the stages it reads from. A stage is fresh when it was done from the same key and its files are
//! there. Only files that are kept at the end are wanted for themselves; a stage
//! with temporary files is done when a stage that reads them must be.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use miriam_storage::hash::Hasher;
use miriam_textio::Progress;

use crate::manifest::{CompletedStage, Manifest, StageStatistics};
use crate::{Error, Result};

/// What a stage does.
pub(crate) type StageFn<'a> = dyn Fn(&dyn Progress) -> Result<StageStatistics> + 'a;

/// A step from files to files.
pub(crate) struct Stage<'a> {
    /// Its name in the record.
    pub name: &'static str,
    /// What it does, for people.
    pub title: &'static str,
    /// Stages whose files it reads; they come before it.
    pub dependencies: &'static [&'static str],
    /// Its own options and a hash of the user's files.
    pub key: String,
    /// The files it writes, relative to the folder.
    pub files: Vec<PathBuf>,
    /// Whether these files are what the user wants.
    pub is_kept: bool,
    /// Does the work.
    pub run: Box<StageFn<'a>>,
}

/// What became of the stages: their results in the same order, and how many were
/// done now.
pub(crate) struct RunOutcome {
    pub results: Vec<CompletedStage>,
    pub num_run: usize,
}

/// Does what must be done of `stages` in `folder`.
pub(crate) fn run_stages(
    folder: &Path,
    stages: &[Stage<'_>],
    progress: &dyn Progress,
) -> Result<RunOutcome> {
    let mut record = Manifest::open(folder);
    let keys = compute_keys(stages);
    let fresh: Vec<bool> = stages
        .iter()
        .zip(&keys)
        .map(|(stage, key)| record.find_up_to_date(folder, stage.name, key).is_some())
        .collect();
    let must = find_needed(stages, &fresh);
    // The results of a stage whose files are gone, but which need not be done, are
    // known from the record; where they are not, it is done for them.
    let must: Vec<bool> = must
        .iter()
        .zip(stages.iter().zip(&keys))
        .map(|(&must, (stage, key))| must || record.find_completed(stage.name, key).is_none())
        .collect();
    let must = add_stale_dependencies(stages, &fresh, must);
    let count = must.iter().filter(|&&must| must).count();
    let mut number = 0;
    for ((stage, key), must) in stages.iter().zip(&keys).zip(&must) {
        if !must {
            tracing::info!("{}: done before", stage.title);
            continue;
        }
        number += 1;
        tracing::info!("{number} of {count}: {}", stage.title);
        record.remove_stage(stage.name);
        record.save(folder)?;
        for file in &stage.files {
            if let Some(parent) = folder.join(file).parent() {
                fs::create_dir_all(parent).map_err(|e| Error::io(parent, "create", e))?;
            }
        }
        let start = Instant::now();
        let facts =
            (stage.run)(&NumberedProgress { stage_number: number, stage_count: count, progress })?;
        let mut files = Vec::new();
        for file in &stage.files {
            let path = folder.join(file);
            let found = fs::metadata(&path).map_err(|e| Error::io(&path, "find", e))?;
            files.push((file.clone(), found.len()));
        }
        let seconds = start.elapsed().as_secs_f64();
        record.insert_stage(CompletedStage {
            stage: stage.name.into(),
            key: key.clone(),
            seconds,
            files,
            facts,
        });
        record.save(folder)?;
    }
    let results = stages.iter().zip(&keys).map(|(stage, key)| {
        record.find_completed(stage.name, key).cloned().expect("done now, or known from before")
    });
    Ok(RunOutcome { results: results.collect(), num_run: count })
}

/// The key of each stage, with those of the stages it reads from in it.
fn compute_keys(stages: &[Stage<'_>]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for stage in stages {
        let mut hasher = Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(env!("CARGO_PKG_VERSION"));
        add(stage.name);
        add(&stage.key);
        for file in &stage.files {
            add(&file.to_string_lossy());
        }
        for name in stage.dependencies {
            let before = stages.iter().position(|other| other.name == *name);
            add(&keys[before.expect("a stage reads from stages before it")]);
        }
        keys.push(format!("{:016x}", hasher.finish()));
    }
    keys
}

/// Which stages must be done.
fn find_needed(stages: &[Stage<'_>], fresh: &[bool]) -> Vec<bool> {
    let wanted = stages.iter().zip(fresh).map(|(stage, fresh)| stage.is_kept && !fresh).collect();
    add_stale_dependencies(stages, fresh, wanted)
}

/// Which stages must be done where those `must` be: those they read from that are
/// not fresh, too.
fn add_stale_dependencies(stages: &[Stage<'_>], fresh: &[bool], mut must: Vec<bool>) -> Vec<bool> {
    for i in (0..stages.len()).rev() {
        let read =
            |later: usize| must[later] && stages[later].dependencies.contains(&stages[i].name);
        must[i] = must[i] || (!fresh[i] && (i + 1..stages.len()).any(read));
    }
    must
}

/// Puts the number of the stage before what it reports.
struct NumberedProgress<'a> {
    stage_number: usize,
    stage_count: usize,
    progress: &'a dyn Progress,
}

impl Progress for NumberedProgress<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.progress
            .begin(&format!("[{}/{}] {stage}", self.stage_number, self.stage_count), total);
    }

    fn set_position(&self, done: u64) {
        self.progress.set_position(done);
    }

    fn end(&self) {
        self.progress.end();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use miriam_textio::NoProgress;

    use super::*;

    /// Two temporary stages, one kept; each writes its inputs and its option.
    struct TestPipeline {
        folder: tempfile::TempDir,
        options: [&'static str; 3],
        log: RefCell<Vec<&'static str>>,
    }

    impl TestPipeline {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            TestPipeline { folder, options: ["a", "b", "c"], log: RefCell::default() }
        }

        fn run_pipeline(&self) -> Vec<&'static str> {
            let folder = self.folder.path();
            let stage = |name: &'static str, reads: &'static [&'static str], option, kept| Stage {
                name,
                title: name,
                dependencies: reads,
                key: String::from(option),
                files: vec![PathBuf::from(name)],
                is_kept: kept,
                run: Box::new(move |_| {
                    self.log.borrow_mut().push(name);
                    let mut text = String::from(option);
                    for read in reads {
                        text += &fs::read_to_string(folder.join(read)).unwrap();
                    }
                    fs::write(folder.join(name), &text).unwrap();
                    Ok(StageStatistics::from_iter([("text".to_owned(), text.into())]))
                }),
            };
            let stages = [
                stage("wash", &[], self.options[0], false),
                stage("cut", &["wash"], self.options[1], false),
                stage("cook", &["cut"], self.options[2], true),
            ];
            let outcome = run_stages(folder, &stages, &NoProgress).unwrap();
            let log = std::mem::take(&mut *self.log.borrow_mut());
            assert_eq!(outcome.num_run, log.len());
            let served = fs::read_to_string(folder.join("cook")).unwrap();
            assert_eq!(outcome.results[2].facts["text"], served);
            assert_eq!(served, [self.options[2], self.options[1], self.options[0]].concat());
            log
        }
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let mut kitchen = TestPipeline::new();
        let at = |name| kitchen.folder.path().join(name);
        let paths = [at("wash"), at("cut"), at("cook"), at(crate::manifest::MANIFEST_FILE)];
        let remove = |i: usize| fs::remove_file(&paths[i]).unwrap();
        assert_eq!(kitchen.run_pipeline(), ["wash", "cut", "cook"]);
        assert_eq!(kitchen.run_pipeline(), [""; 0]);
        // Temporary files may go: the meal is there.
        remove(0);
        remove(1);
        assert_eq!(kitchen.run_pipeline(), [""; 0]);
        // The meal gone, everything it is made of is needed.
        remove(2);
        assert_eq!(kitchen.run_pipeline(), ["wash", "cut", "cook"]);
        // Not what is there.
        remove(2);
        remove(0);
        assert_eq!(kitchen.run_pipeline(), ["cook"]);
        kitchen.options[2] = "d";
        assert_eq!(kitchen.run_pipeline(), ["cook"]);
        kitchen.options[1] = "e";
        assert_eq!(kitchen.run_pipeline(), ["wash", "cut", "cook"]);
        kitchen.options[0] = "f";
        assert_eq!(kitchen.run_pipeline(), ["wash", "cut", "cook"]);
        // A file cut short is not the file.
        fs::write(&paths[1], "").unwrap();
        fs::write(&paths[2], "").unwrap();
        assert_eq!(kitchen.run_pipeline(), ["cut", "cook"]);
        for record in ["", "{", "{\"version\":0,\"stages\":[]}"] {
            fs::write(&paths[3], record).unwrap();
            assert_eq!(kitchen.run_pipeline(), ["wash", "cut", "cook"]);
        }
    }

    /// A stage that fails is not done, those before it are.
    #[test]
    fn a_failure_keeps_what_was_done() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RefCell::new(Vec::new());
        let cook = |fails: bool| {
            let (runs, path) = (&runs, folder.path());
            let stage = |name: &'static str, reads: &'static [&'static str], fails: bool| Stage {
                name,
                title: name,
                dependencies: reads,
                key: String::new(),
                files: vec![name.into()],
                is_kept: true,
                run: Box::new(move |_| {
                    runs.borrow_mut().push(name);
                    if fails {
                        return Err(Error::Options { reason: "burnt".into() });
                    }
                    fs::write(path.join(name), name).unwrap();
                    Ok(StageStatistics::new())
                }),
            };
            let stages = [stage("cut", &[], false), stage("cook", &["cut"], fails)];
            run_stages(path, &stages, &NoProgress).map(|outcome| outcome.num_run)
        };
        assert_eq!(cook(true).unwrap_err().to_string(), "burnt");
        assert_eq!(cook(false).unwrap(), 1);
        assert_eq!(*runs.borrow(), ["cut", "cook", "cook"]);
    }
}
