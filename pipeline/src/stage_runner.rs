//! The runner of stages that read and write files, each only if it is out of date.
//!
//! A stage's key is a hash of everything its results depend on: this program's version, the
//! stage's options and the names of its files, the bytes of the user's files it reads, and
//! the keys of its dependencies. A stage is up to date if it was done with the same key and
//! its files exist. Only files that are kept at the end are targets: a stage with temporary files
//! runs only if a stage that reads them runs, or if the manifest does not have its results.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use miriam_storage::hash::Hasher;
use miriam_textio::Progress;

use crate::error::check_cancelled;
use crate::manifest::{CompletedStage, Manifest};
use crate::resumable_folder::ResumableFolder;
use crate::stage::Stage;
use crate::{Error, Result};

/// The results of all stages in their order, and the number of stages that this run executed.
pub(crate) struct RunOutcome {
    pub results: Vec<CompletedStage>,
    pub num_run: usize,
}

/// Runs the `stages` that are out of date, in `folder`. Records `options` in the manifest.
pub(crate) fn run_stages(
    folder: &Path,
    stages: &[Stage<'_>],
    options: BTreeMap<String, String>,
    progress: &dyn Progress,
) -> Result<RunOutcome> {
    let mut manifest = Manifest::open(folder);
    let changes = manifest.replace_options(options);
    let keys = compute_keys(stages);
    let fresh: Vec<bool> = stages
        .iter()
        .zip(&keys)
        .map(|(stage, key)| manifest.find_up_to_date(folder, stage.name, key).is_some())
        .collect();
    // A stage without results in the manifest runs too. A stage with results there need not run,
    // even if its temporary files are missing.
    let mut needed: Vec<bool> = stages
        .iter()
        .zip(&keys)
        .zip(&fresh)
        .map(|((stage, key), fresh)| {
            stage.is_kept && !fresh || manifest.find_completed(stage.name, key).is_none()
        })
        .collect();
    add_stale_dependencies(stages, &fresh, &mut needed);
    let count = needed.iter().filter(|&&needed| needed).count();
    if count > 0 {
        for change in changes {
            tracing::warn!("{change}; the files that depend on it are replaced");
        }
    }
    let mut number = 0;
    for ((stage, key), needed) in stages.iter().zip(&keys).zip(&needed) {
        if !needed {
            tracing::info!("{}: up to date", stage.title);
            continue;
        }
        check_cancelled(progress)?;
        number += 1;
        tracing::info!("{number} of {count}: {}", stage.title);
        manifest.remove_stage(stage.name);
        if let Some(resumable) = &stage.resumes_in {
            let key = work_key(resumable, stages, &keys);
            resumable.prepare(folder, stage.name, &key, &mut manifest)?;
        }
        manifest.save(folder)?;
        for file in &stage.files {
            if let Some(parent) = folder.join(file).parent() {
                fs::create_dir_all(parent).map_err(|e| Error::io(parent, "create", e))?;
            }
        }
        let start = Instant::now();
        let facts =
            (stage.run)(&NumberedProgress { stage_number: number, stage_count: count, progress })
                .map_err(Error::unify_cancellation)?;
        if let Some(resumable) = &stage.resumes_in {
            let key = work_key(resumable, stages, &keys);
            resumable.use_replacement(folder, stage.name, &key, &mut manifest)?;
        }
        let mut files = Vec::new();
        for file in &stage.files {
            let path = folder.join(file);
            let found = fs::metadata(&path).map_err(|e| Error::io(&path, "find", e))?;
            files.push((file.clone(), found.len()));
        }
        let seconds = start.elapsed().as_secs_f64();
        manifest.insert_stage(CompletedStage {
            stage: stage.name.into(),
            key: key.clone(),
            seconds,
            files,
            facts,
        });
        manifest.save(folder)?;
    }
    // The manifest is saved even if no stage ran: the next run compares its options with these.
    manifest.save(folder)?;
    let results = stages
        .iter()
        .zip(&keys)
        .map(|(stage, key)| {
            manifest.find_completed(stage.name, key).cloned().expect("done now, or in the manifest")
        })
        .collect();
    Ok(RunOutcome { results, num_run: count })
}

/// Finds the files and folders among `names` that an earlier run wrote into `folder` and that no
/// stage of this run writes. Must be called before the run, which replaces the records of earlier
/// stages.
pub(crate) fn find_obsolete<'n>(
    folder: &Path,
    stages: &[Stage<'_>],
    names: &[&'n str],
) -> Vec<&'n str> {
    let mut earlier = Manifest::open(folder);
    let is_written = |name: &str| {
        stages.iter().any(|stage| stage.files.iter().any(|file| file.starts_with(name)))
    };
    let names = names.iter().copied();
    names.filter(|name| !is_written(name) && earlier.remove_stages_of(Path::new(name))).collect()
}

/// Renames obsolete files and folders of `folder`, so that they do not change the new system:
/// `NAME` becomes `NAME.old`.
pub(crate) fn set_aside(folder: &Path, obsolete: &[&str]) -> Result<()> {
    let mut manifest = Manifest::open(folder);
    for name in obsolete {
        // From now on a file of this name is the user's.
        if manifest.remove_stages_of(Path::new(name)) {
            manifest.save(folder)?;
        }
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        let aside = folder.join(format!("{name}.old"));
        // A folder, unlike a file, is not replaced by a rename.
        if aside.is_dir()
            && let Err(e) = fs::remove_dir_all(&aside)
        {
            tracing::warn!("{}: cannot be removed ({e})", aside.display());
        }
        match fs::rename(&path, &aside) {
            Ok(()) => tracing::warn!(
                "{}: it belongs to the system that was trained here before; it is {name}.old now",
                path.display()
            ),
            Err(e) => tracing::warn!(
                "{}: it belongs to the system that was trained here before, and cannot be \
                 renamed ({e}); remove it",
                path.display()
            ),
        }
    }
    Ok(())
}

/// Computes the key of the unfinished work in a folder.
fn work_key(resumable: &ResumableFolder, stages: &[Stage<'_>], keys: &[String]) -> String {
    let mut hasher = Hasher::new();
    hash_text(&mut hasher, &resumable.key);
    hash_dependencies(&mut hasher, resumable.dependencies, stages, keys);
    format!("{:016x}", hasher.finish())
}

/// Computes the key of each stage, which depends on the keys of its dependencies.
fn compute_keys(stages: &[Stage<'_>]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for stage in stages {
        let mut hasher = Hasher::new();
        for text in [env!("CARGO_PKG_VERSION"), stage.name, &stage.key] {
            hash_text(&mut hasher, text);
        }
        for file in &stage.files {
            hash_text(&mut hasher, &file.to_string_lossy());
        }
        hash_dependencies(&mut hasher, stage.dependencies, stages, &keys);
        keys.push(format!("{:016x}", hasher.finish()));
    }
    keys
}

fn hash_dependencies(hasher: &mut Hasher, names: &[&str], stages: &[Stage<'_>], keys: &[String]) {
    for name in names {
        let before = stages.iter().position(|other| other.name == *name);
        hash_text(hasher, &keys[before.expect("a stage reads from stages before it")]);
    }
}

fn hash_text(hasher: &mut Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// Adds the dependencies that are not fresh to the stages that must run.
fn add_stale_dependencies(stages: &[Stage<'_>], fresh: &[bool], needed: &mut [bool]) {
    for i in (0..stages.len()).rev() {
        let is_read = (i + 1..stages.len())
            .any(|later| needed[later] && stages[later].dependencies.contains(&stages[i].name));
        needed[i] = needed[i] || (!fresh[i] && is_read);
    }
}

/// Progress reports that are prefixed with the number of the stage.
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

    fn skip_to(&self, done: u64) {
        self.progress.skip_to(done);
    }

    fn end(&self) {
        self.progress.end();
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::PathBuf;

    use miriam_textio::NoProgress;

    use super::*;
    use crate::manifest::StageStatistics;

    /// Two stages with temporary files and one whose file is kept. Each writes its option and the
    /// text of its inputs.
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
                resumes_in: None,
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
                stage("prepare", &[], self.options[0], false),
                stage("cut", &["prepare"], self.options[1], false),
                stage("build", &["cut"], self.options[2], true),
            ];
            let outcome = run_stages(folder, &stages, BTreeMap::new(), &NoProgress).unwrap();
            let log = std::mem::take(&mut *self.log.borrow_mut());
            assert_eq!(outcome.num_run, log.len());
            let built = fs::read_to_string(folder.join("build")).unwrap();
            assert_eq!(outcome.results[2].facts["text"], built);
            assert_eq!(built, [self.options[2], self.options[1], self.options[0]].concat());
            log
        }
    }

    #[test]
    fn stages_up_to_date_are_not_run_again() {
        let mut pipeline = TestPipeline::new();
        let paths = ["prepare", "cut", "build", crate::manifest::MANIFEST_FILE]
            .map(|name| pipeline.folder.path().join(name));
        let remove = |i: usize| fs::remove_file(&paths[i]).unwrap();
        assert_eq!(pipeline.run_pipeline(), ["prepare", "cut", "build"]);
        assert_eq!(pipeline.run_pipeline(), [""; 0]);
        // Temporary files may be missing: the kept file exists.
        remove(0);
        remove(1);
        assert_eq!(pipeline.run_pipeline(), [""; 0]);
        // Without the kept file, all its dependencies are needed.
        remove(2);
        assert_eq!(pipeline.run_pipeline(), ["prepare", "cut", "build"]);
        // A dependency whose file exists is not run.
        remove(2);
        remove(0);
        assert_eq!(pipeline.run_pipeline(), ["build"]);
        pipeline.options[2] = "d";
        assert_eq!(pipeline.run_pipeline(), ["build"]);
        pipeline.options[1] = "e";
        assert_eq!(pipeline.run_pipeline(), ["prepare", "cut", "build"]);
        pipeline.options[0] = "f";
        assert_eq!(pipeline.run_pipeline(), ["prepare", "cut", "build"]);
        // A truncated file does not count.
        fs::write(&paths[1], "").unwrap();
        fs::write(&paths[2], "").unwrap();
        assert_eq!(pipeline.run_pipeline(), ["cut", "build"]);
        for manifest in ["", "{", "{\"version\":0,\"stages\":[]}"] {
            fs::write(&paths[3], manifest).unwrap();
            assert_eq!(pipeline.run_pipeline(), ["prepare", "cut", "build"]);
        }
    }

    #[test]
    fn files_that_no_stage_writes_are_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let run = |names: &[&'static str]| {
            let stage = |name: &'static str| Stage {
                // One stage may write another file in another run.
                name: if name == "moses.phrase.ini" { "model" } else { name },
                title: name,
                dependencies: &[],
                key: String::new(),
                files: vec![name.into()],
                is_kept: true,
                resumes_in: None,
                run: Box::new({
                    let path = path(name);
                    move |_| {
                        fs::write(&path, "a stage").unwrap();
                        Ok(StageStatistics::new())
                    }
                }),
            };
            let stages: Vec<Stage<'_>> = names.iter().map(|name| stage(name)).collect();
            let names = ["model", "preparation", "moses.phrase.ini"];
            let obsolete = find_obsolete(folder.path(), &stages, &names);
            run_stages(folder.path(), &stages, BTreeMap::new(), &NoProgress).unwrap();
            set_aside(folder.path(), &obsolete).unwrap();
        };
        run(&["moses.phrase.ini", "preparation"]);
        assert!(path("preparation").exists() && path("moses.phrase.ini").exists());
        run(&["model"]);
        assert!(path("moses.phrase.ini.old").exists() && !path("moses.phrase.ini").exists());
        assert!(path("model").exists() && !path("preparation").exists());
        assert_eq!(fs::read_to_string(path("preparation.old")).unwrap(), "a stage");
        // A file that the user writes there stays.
        fs::write(path("preparation"), "the user").unwrap();
        run(&["model"]);
        assert_eq!(fs::read_to_string(path("preparation")).unwrap(), "the user");
        // A stage writes it again.
        run(&["model", "preparation"]);
        assert_eq!(fs::read_to_string(path("preparation")).unwrap(), "a stage");
    }

    /// A stopped stage finds its folder unchanged if the options that the folder depends on are the
    /// same. A folder that no stage has written is rejected.
    #[test]
    fn unfinished_work_is_used_by_a_stage_with_the_same_options() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let started = path.join("work/started");
        let run = |options: [&str; 2], work: &str, fails: bool| {
            let found = RefCell::new(false);
            let stage = |name: &'static str, key: &str, fails: bool| Stage {
                name,
                title: name,
                dependencies: if name == "learn" { &["text"] } else { &[] },
                key: key.into(),
                files: vec![Path::new(name).join("file")],
                is_kept: true,
                resumes_in: (name == "learn").then(|| ResumableFolder {
                    path: "work".into(),
                    replacement: None,
                    key: work.into(),
                    dependencies: &["text"],
                }),
                run: Box::new({
                    let (found, started) = (&found, &started);
                    move |_| {
                        fs::write(path.join(name).join("file"), "").unwrap();
                        if name == "learn" {
                            *found.borrow_mut() = started.exists();
                            fs::create_dir_all(path.join("work")).unwrap();
                            fs::write(started, "").unwrap();
                        }
                        if fails {
                            return Err(Error::Cancelled);
                        }
                        Ok(StageStatistics::new())
                    }
                }),
            };
            let stages = [stage("text", options[0], false), stage("learn", options[1], fails)];
            let outcome = run_stages(path, &stages, BTreeMap::new(), &NoProgress);
            drop(stages);
            (outcome.map(|outcome| outcome.num_run).map_err(|e| e.to_string()), found.into_inner())
        };
        assert!(!run(["a", "b"], "w", true).1);
        assert_eq!(run(["a", "b"], "w", true), (Err(Error::Cancelled.to_string()), true));
        // The unfinished work does not depend on the option that changes here.
        assert_eq!(run(["a", "c"], "w", false), (Ok(1), true));
        assert_eq!(run(["a", "c"], "w", false), (Ok(0), false));
        assert_eq!(run(["a", "d"], "v", false), (Ok(1), false));
        assert_eq!(run(["e", "d"], "v", false), (Ok(2), false));
        fs::remove_file(path.join(crate::manifest::MANIFEST_FILE)).unwrap();
        let (outcome, _) = run(["e", "d"], "v", false);
        assert!(outcome.unwrap_err().contains("work: not written by this training run"));
    }

    /// Work of other options stays until its replacement is done. A stopped run resumes the
    /// replacement. A run that goes back to the first options uses their work again.
    #[test]
    fn work_stays_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let [place, new] = ["model", "work/model"].map(|name| path.join(name));
        let texts = |folder: &Path| {
            let mut names: Vec<String> = fs::read_dir(folder)
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names.join(" ")
        };
        // Each run leaves a file in its folder; a run that does not fail also writes `done`.
        let run = |key: &str, file: &str, fails: bool| {
            let stage = Stage {
                name: "learn",
                title: "learn",
                dependencies: &[],
                key: format!("{key} {file}"),
                files: vec!["model/done".into()],
                is_kept: true,
                resumes_in: Some(ResumableFolder {
                    path: "model".into(),
                    replacement: Some("work/model".into()),
                    key: key.into(),
                    dependencies: &[],
                }),
                run: Box::new(|_| {
                    let folder = if new.is_dir() { &new } else { &place };
                    fs::create_dir_all(folder).unwrap();
                    fs::write(folder.join(file), "").unwrap();
                    if fails {
                        return Err(Error::Cancelled);
                    }
                    fs::write(folder.join("done"), key).unwrap();
                    Ok(StageStatistics::new())
                }),
            };
            let outcome = run_stages(path, &[stage], BTreeMap::new(), &NoProgress);
            assert_eq!(outcome.is_err(), fails, "{key} {file}");
            [texts(&place), texts(&new)]
        };
        assert_eq!(run("a", "1", true), ["1", ""]);
        assert_eq!(run("a", "2", false), ["1 2 done", ""]);
        assert_eq!(run("b", "3", true), ["1 2 done", "3"]);
        assert_eq!(run("b", "4", true), ["1 2 done", "3 4"]);
        // Other options again, and back to the first ones.
        assert_eq!(run("c", "5", true), ["1 2 done", "5"]);
        assert_eq!(run("a", "6", false), ["1 2 6 done", ""]);
        assert_eq!(run("b", "7", true), ["1 2 6 done", "7"]);
        assert_eq!(run("b", "8", false), ["7 8 done", ""]);
        assert_eq!(fs::read_to_string(place.join("done")).unwrap(), "b");
        assert!(!path.join("work/model.old").exists());
        // The state after a run that was killed between moving the old folder and moving the new
        // one.
        assert_eq!(run("d", "9", true), ["7 8 done", "9"]);
        fs::rename(&place, path.join("work/model.old")).unwrap();
        assert_eq!(run("d", "10", false), ["10 9 done", ""]);
        assert!(!path.join("work/model.old").exists());
        // A folder that no recorded stage has written is not replaced.
        fs::create_dir_all(&new).unwrap();
        fs::remove_file(path.join(crate::manifest::MANIFEST_FILE)).unwrap();
        assert_eq!(run("d", "11", true), ["10 9 done", ""]);
    }

    /// A stage that fails is not recorded; the stages before it are.
    #[test]
    fn a_failure_keeps_what_was_done() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RefCell::new(Vec::new());
        let build = |fails: bool| {
            let (runs, path) = (&runs, folder.path());
            let stage = |name: &'static str, reads: &'static [&'static str], fails: bool| Stage {
                name,
                title: name,
                dependencies: reads,
                key: String::new(),
                files: vec![name.into()],
                is_kept: true,
                resumes_in: None,
                run: Box::new(move |_| {
                    runs.borrow_mut().push(name);
                    if fails {
                        return Err(Error::Options { reason: "failed".into() });
                    }
                    fs::write(path.join(name), name).unwrap();
                    Ok(StageStatistics::new())
                }),
            };
            let stages = [stage("cut", &[], false), stage("build", &["cut"], fails)];
            run_stages(path, &stages, BTreeMap::new(), &NoProgress).map(|outcome| outcome.num_run)
        };
        assert_eq!(build(true).unwrap_err().to_string(), "failed");
        assert_eq!(build(false).unwrap(), 1);
        assert_eq!(*runs.borrow(), ["cut", "build", "build"]);
    }
}
