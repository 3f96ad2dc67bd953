//! Sequence-level knowledge distillation (Kim and Rush 2016): a large model's translations of the
//! training text become the targets of a small one.
//!
//! Text that a model wrote is more regular than text that people wrote, so a small model learns
//! it better. Of several translations of a sentence, the one most similar to the original target
//! is taken (interpolated, as in the same paper), or simply the first (plain). All work
//! runs in stages, as in `train`. Translation takes nearly all the time. It is divided into parts,
//! and a killed run resumes after the last finished part.

mod metric;
mod select;
mod student;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use miriam_align::{AlignOptions, ShortlistOptions};
use miriam_storage::hash::{Hasher, hash64};
use miriam_storage::partial_file::remove_stale_files;
use miriam_textio::n_best::{NBestForm, NBestReader};
use miriam_textio::{Input, Lines, Output, Progress, display_name};
use miriam_trainer::load_data::open_vocabularies;
use miriam_trainer::options::{DumpScope, RawOptions};

pub use crate::list_parts::Teacher;
pub use metric::SelectionMetric;
pub use select::{SelectionSummary, select_from_list};

use crate::corpus::copy_lines;
use crate::error::check_cancelled;
use crate::manifest::{StageStatistics, stage_statistics};
use crate::stage::Stage;
use crate::stage_runner;
use crate::train::{find_statistic, lock_folder};
use crate::training_stages::INI_FILE;
use crate::{Error, Result};

use crate::list_parts::ListParts;
use select::Selection;

/// The name of the configuration for training the student, in the folder of the training set.
pub const CONFIG_FILE: &str = "train.yml";
const LISTS_FOLDER: &str = "n-best";
const WORK_FOLDER: &str = "distill.work";
const TEXT_FILES: [&str; 2] = ["train.source.gz", "train.target.gz"];
const PIECES_FILES: [&str; 2] = ["distill.work/pieces.source", "distill.work/pieces.target"];
const ALIGNMENT_FILE: &str = "alignment.gz";
const SHORTLIST_FILE: &str = "lex.s2t.gz";
/// The maximum number of translations of a word in the shortlist, as in Marian's lists.
const SHORTLIST_BEST: usize = 100;

/// The options of a distillation.
#[derive(Clone, Debug)]
pub struct DistillOptions {
    /// The source side of the training text: plain, .gz, .zst, .bz2 or .xz.
    pub source: PathBuf,
    /// The original target side; without it the teacher's first translations are taken.
    pub reference: Option<PathBuf>,
    /// The metric that selects a translation; `None` takes the first.
    pub metric: Option<SelectionMetric>,
    /// Whether the original pairs are added after the distilled pairs.
    pub adds_original: bool,
    /// The folder of the training set; it is created if it does not exist.
    pub output: PathBuf,
    /// The number of lines in a part of the n-best lists.
    pub part_lines: u64,
    /// The student's source and target vocabularies.
    pub vocabularies: [PathBuf; 2],
    /// Whether words are aligned, for guided alignment and a shortlist.
    pub aligns: bool,
    /// Text to validate the student on.
    pub dev: Option<[PathBuf; 2]>,
    /// The student's architecture and training schedule.
    pub student: RawOptions,
    /// Worker threads.
    pub threads: usize,
}

/// A summary of a distillation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistillSummary {
    /// Counts of the selection.
    pub selection: SelectionSummary,
    /// The number of stages that ran in this call, and the number of all stages.
    pub stages: (usize, usize),
}

/// Creates the training set of a student of `teacher`. A killed run is resumed, and gives the same
/// bytes. If a finished run is repeated with the same options, no stage runs.
///
/// # Errors
/// If options exclude each other, the source is empty, the texts differ in their numbers of lines,
/// another run uses the same folder, the folder has lists of another teacher, or a file cannot be
/// read or written; [`Error::Cancelled`] if `progress` is cancelled.
pub fn distill(
    options: &DistillOptions,
    teacher: &Teacher<'_>,
    progress: &dyn Progress,
) -> Result<DistillSummary> {
    check_options(options)?;
    let folder = &options.output;
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    let _lock = lock_folder(folder)?;
    for part in ["", WORK_FOLDER] {
        remove_stale_files(&folder.join(part), ".");
    }
    let source = TextDigest::read(&options.source, progress)?;
    let reference =
        options.reference.as_ref().map(|path| TextDigest::read(path, progress)).transpose()?;
    if source.lines == 0 {
        let file = display_name(&options.source);
        return Err(Error::EmptyCorpus { file, reason: "the text is empty".into() });
    }
    if let (Some(path), Some(reference)) = (&options.reference, &reference) {
        let names = [&options.source, path].map(|path| display_name(path));
        let lengths = names.iter().map(String::as_str).zip([source.lines, reference.lines]);
        miriam_textio::Error::check_line_counts(lengths)?;
    }
    let mut description = teacher.description.clone();
    description.insert("source".into(), source.key());
    description.insert("part-lines".into(), options.part_lines.to_string());
    let teacher = Teacher { description, ..*teacher };
    let run = DistillRun {
        options,
        folder,
        parts: ListParts {
            folder: folder.join(LISTS_FOLDER),
            num_lines: source.lines,
            part_lines: options.part_lines,
        },
        vocabulary_names: vocabulary_names(&options.vocabularies),
    };
    let reference_key = reference.map_or("none".into(), |reference| reference.key());
    let stages = run.build_stages(&teacher, &reference_key)?;
    let count = stages.len();
    let outcome = stage_runner::run_stages(folder, &stages, run.option_texts(), progress)?;
    let work = folder.join(WORK_FOLDER);
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|e| Error::io(&work, "remove", e))?;
    }
    let [sentences, not_first, empty] = ["sentences", "not first", "empty"].map(|name| {
        find_statistic(&outcome.results, "select", name)
            .and_then(|count| count.as_u64())
            .unwrap_or_default()
    });
    let selection = SelectionSummary { sentences, not_first, empty };
    Ok(DistillSummary { selection, stages: (outcome.num_run, count) })
}

fn check_options(options: &DistillOptions) -> Result<()> {
    let dev = options.dev.iter().flatten();
    let files = [&options.source].into_iter().chain(&options.reference).chain(dev);
    for file in files.chain(&options.vocabularies) {
        Input::check_access(file, None)?;
        if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
            let name = display_name(file);
            return Err(Error::invalid_options(format!(
                "{name}: files are read more than once; give files, not pipes"
            )));
        }
        let inside = options.output.canonicalize().ok().zip(file.canonicalize().ok());
        if inside.is_some_and(|(folder, file)| {
            let own = [&TEXT_FILES[..], &[ALIGNMENT_FILE]].concat();
            own.iter().any(|own| file == folder.join(own))
                || file.starts_with(folder.join(WORK_FOLDER))
        }) {
            let name = display_name(file);
            return Err(Error::invalid_options(format!(
                "{name}: this input would be overwritten or removed; give another -o"
            )));
        }
    }
    if options.part_lines == 0 {
        return Err(Error::invalid_options("a part of the n-best lists needs at least one line"));
    }
    let ini = options.output.join(INI_FILE);
    if ini.exists() {
        let name = display_name(&ini);
        return Err(Error::invalid_options(format!(
            "{name}: this folder holds a phrase-based system; give another -o"
        )));
    }
    if options.reference.is_none() && (options.metric.is_some() || options.adds_original) {
        return Err(Error::invalid_options(
            "--reference is needed to select translations, and for --add-original",
        ));
    }
    Ok(())
}

/// Returns the file names of the copies of the vocabularies in the folder of the training set.
fn vocabulary_names(paths: &[PathBuf; 2]) -> [String; 2] {
    // The extensions after the first dot tell the format of a vocabulary.
    let extensions = paths.each_ref().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split_once('.').map_or(String::new(), |(_, extensions)| format!(".{extensions}"))
    });
    let stems =
        if paths[0] == paths[1] { ["vocab", "vocab"] } else { ["source-vocab", "target-vocab"] };
    [0, 1].map(|side| format!("{}{}", stems[side], extensions[side]))
}

/// The number of lines of a text, and their hash.
struct TextDigest {
    lines: u64,
    hash: u64,
}

impl TextDigest {
    fn read(path: &Path, progress: &dyn Progress) -> Result<Self> {
        let task = progress.task("counting lines", None);
        let mut text = Lines::new(Input::open(path)?);
        let mut lines = 0;
        let mut hasher = Hasher::new();
        while let Some(line) = text.next()? {
            hasher.update(&(line.bytes.len() as u64).to_le_bytes());
            hasher.update(line.bytes);
            lines += 1;
            task.advance(1);
            if lines % 4096 == 0 {
                check_cancelled(progress)?;
            }
        }
        Ok(TextDigest { lines, hash: hasher.finish() })
    }

    fn key(&self) -> String {
        format!("{} lines, {:016x}", self.lines, self.hash)
    }
}

/// A distillation: its options and files.
struct DistillRun<'a> {
    options: &'a DistillOptions,
    folder: &'a Path,
    parts: ListParts,
    vocabulary_names: [String; 2],
}

impl DistillRun<'_> {
    /// Returns the options that a later run compares with its own.
    fn option_texts(&self) -> BTreeMap<String, String> {
        let options = self.options;
        let texts = [
            ("metric", options.metric.map_or("none", SelectionMetric::name).to_owned()),
            ("add-original", options.adds_original.to_string()),
            ("alignments", options.aligns.to_string()),
        ];
        texts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn full_path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn build_stages<'s>(
        &'s self,
        teacher: &'s Teacher<'_>,
        reference_key: &str,
    ) -> Result<Vec<Stage<'s>>> {
        let options = self.options;
        let description: Vec<String> =
            teacher.description.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let [source_vocabulary, target_vocabulary] = options
            .vocabularies
            .each_ref()
            .map(|path| fs::read(path).map_err(|e| Error::io(path, "read", e)));
        let vocabulary_key =
            format!("{:016x} {:016x}", hash64(&source_vocabulary?), hash64(&target_vocabulary?));
        let metric = options.metric.map_or("none", SelectionMetric::name);
        let mut stages = vec![
            Stage::new("translate", "translating with the teacher")
                .key(description.join("\n"))
                .writes(self.parts.names().map(|name| Path::new(LISTS_FOLDER).join(name)))
                .run(|progress| {
                    self.parts.translate(&options.source, teacher, progress)?;
                    Ok(StageStatistics::new())
                }),
            Stage::new("select", "selecting translations")
                .after(&["translate"])
                .key(format!("{reference_key} {metric} {}", options.adds_original))
                .writes(TEXT_FILES)
                .run(|progress| self.select(progress)),
            Stage::new("vocabulary", "copying the vocabularies")
                .key(vocabulary_key.clone())
                .writes(self.vocabulary_names.iter().map(PathBuf::from))
                .run(|_| self.copy_vocabularies()),
        ];
        if options.aligns {
            stages.extend(self.alignment_stages(vocabulary_key));
        }
        let yaml = self.training_yaml()?;
        stages.push(
            Stage::new("configure", "writing the configuration of the training")
                .key(yaml.clone())
                .writes([CONFIG_FILE])
                .run(move |_| {
                    Output::write_file(&self.full_path(CONFIG_FILE), yaml.as_bytes())?;
                    Ok(StageStatistics::new())
                }),
        );
        Ok(stages)
    }

    fn alignment_stages(&self, vocabulary_key: String) -> [Stage<'_>; 3] {
        let options = self.options;
        [
            Stage::new("segment", "segmenting the text")
                .after(&["select"])
                .key(vocabulary_key)
                .writes(PIECES_FILES)
                .kept(false)
                .run(|progress| {
                    let tokenizers = open_vocabularies(&options.vocabularies, [0, 0])?;
                    for side in [0, 1] {
                        let [text, pieces] = [TEXT_FILES, PIECES_FILES].map(|all| all[side]);
                        student::write_pieces(
                            &self.full_path(text),
                            &tokenizers,
                            side,
                            &self.full_path(pieces),
                            progress,
                        )?;
                    }
                    Ok(StageStatistics::new())
                }),
            Stage::new("align", "aligning pieces")
                .after(&["segment"])
                .writes([ALIGNMENT_FILE])
                .run(|progress| {
                    let [source, target] = PIECES_FILES.map(|name| self.full_path(name));
                    let align =
                        AlignOptions { threads: options.threads, ..AlignOptions::default() };
                    let links = self.full_path(ALIGNMENT_FILE);
                    miriam_align::align_files(&source, &target, &links, &align, progress)?;
                    Ok(StageStatistics::new())
                }),
            Stage::new("shortlist", "writing the shortlist")
                .after(&["segment", "align"])
                .key(SHORTLIST_BEST.to_string())
                .writes([SHORTLIST_FILE])
                .run(|_| {
                    let [source, target] = PIECES_FILES.map(|name| self.full_path(name));
                    let shortlist =
                        ShortlistOptions { max_translations: SHORTLIST_BEST, threshold: 0.0 };
                    miriam_align::write_shortlist(
                        &source,
                        &target,
                        &self.full_path(ALIGNMENT_FILE),
                        Output::create_atomic(&self.full_path(SHORTLIST_FILE))?,
                        shortlist,
                    )?;
                    Ok(StageStatistics::new())
                }),
        ]
    }

    /// Writes both sides of the training text.
    fn select(&self, progress: &dyn Progress) -> Result<StageStatistics> {
        let options = self.options;
        let reference = options.reference.as_deref().zip(options.metric);
        let list_name = display_name(&self.parts.folder);
        let mut selection = Selection::new(
            NBestReader::new(self.parts.paths(), NBestForm::Plain),
            &list_name,
            reference,
        )?;
        let [source, target] = TEXT_FILES.map(|name| Output::create_atomic(&self.full_path(name)));
        let mut source = source?;
        let mut target = target?;
        let task = progress.task("selecting", Some(self.parts.num_lines));
        let summary = selection.write(options.threads, &mut target, &task)?;
        copy_lines(&options.source, &mut source)?;
        if let Some(reference) = options.reference.as_ref().filter(|_| options.adds_original) {
            copy_lines(&options.source, &mut source)?;
            copy_lines(reference, &mut target)?;
        }
        source.finish()?;
        target.finish()?;
        let SelectionSummary { sentences, not_first, empty } = summary;
        Ok(stage_statistics([
            ("sentences", sentences.into()),
            ("not first", not_first.into()),
            ("empty", empty.into()),
        ]))
    }

    fn copy_vocabularies(&self) -> Result<StageStatistics> {
        for (path, name) in self.options.vocabularies.iter().zip(&self.vocabulary_names) {
            let bytes = fs::read(path).map_err(|e| Error::io(path, "read", e))?;
            let mut output = Output::create_precompressed(&self.full_path(name))?;
            output.write(&bytes)?;
            output.finish()?;
        }
        Ok(StageStatistics::new())
    }

    /// Formats the configuration of the student's training as YAML. Paths of the training set are
    /// relative to the folder of the configuration.
    fn training_yaml(&self) -> Result<String> {
        let mut options = self.options.student.clone();
        options.set("train-sets", TEXT_FILES.map(str::to_owned).to_vec())?;
        options.set("vocabs", self.vocabulary_names.to_vec())?;
        if self.options.aligns {
            options.set("guided-alignment", vec![ALIGNMENT_FILE.to_owned()])?;
        }
        if let Some([source, target]) = &self.options.dev {
            options.set("valid-sets", vec![absolute_path(source)?, absolute_path(target)?])?;
        }
        Ok(format!("relative-paths: true\n{}", options.dump(DumpScope::Minimal)))
    }
}

fn absolute_path(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).map_err(|e| Error::io(path, "find", e))?;
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_the_run_would_replace_or_remove_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path(WORK_FOLDER)).unwrap();
        for name in ["source", "vocab", "distill.work/text", TEXT_FILES[0]] {
            fs::write(path(name), "a\n").unwrap();
        }
        let options = |source: &str, part_lines| DistillOptions {
            source: path(source),
            reference: None,
            metric: None,
            adds_original: false,
            output: folder.path().to_owned(),
            part_lines,
            vocabularies: [path("vocab"), path("vocab")],
            aligns: false,
            dev: None,
            student: RawOptions::default(),
            threads: 1,
        };
        check_options(&options("source", 1)).unwrap();
        for (source, part_lines, reason) in [
            ("distill.work/text", 1, "removed"),
            (TEXT_FILES[0], 1, "overwritten"),
            ("source", 0, "at least one line"),
        ] {
            let error = check_options(&options(source, part_lines)).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
