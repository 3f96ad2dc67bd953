//! The stages of a training run, and the files between them.

mod held_out;
mod neural;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_align::AlignOptions;
use miriam_extract::{ExtractOptions, ReorderingType};
use miriam_lmcpu::estimate::EstimateOptions;
use miriam_lmcpu::{ArpaOptions, probing, trie};
use miriam_probingpt::BuildOptions;
use miriam_storage::hash::Hasher;
use miriam_textio::{Compression, Input, Output, Progress};
use miriam_textproc::{NonbreakingPrefixes, TextProcessor, TextProcessorConfig, TruecaseModel};

pub use self::neural::{AUGMENTED_FOLDER, NEURAL_FOLDER, REVERSE_FOLDER};
use crate::corpus::{self, LengthLimits, ParallelFiles};
use crate::error::check_cancelled;
use crate::manifest::{StageStatistics, stage_statistics};
use crate::stage::Stage;
use crate::stage_keys;
use crate::{
    Error, LanguagePair, LmKind, Result, TrainOptions, moses_ini, prepare_file,
    train_truecase_model,
};

/// The folder of intermediate files, in the model's folder.
pub(crate) const WORK_FOLDER: &str = "train.work";
/// The folder of the text tables, if they are kept, in the model's folder.
pub(crate) const TEXT_FOLDER: &str = "text";
const PHRASE_TABLE_FILE: &str = "phrase-table.miriam";
const LM_FILE: &str = "lm.miriam";
pub(crate) const INI_FILE: &str = "moses.ini";
/// The ini of the phrase-based part of a combined system, with weights tuned for that part alone.
const PHRASE_INI_FILE: &str = "moses.phrase.ini";
const UNTUNED_INI_FILE: &str = "moses.untuned.ini";
/// Discounts for counts of 1, 2, and 3 or more if the text is too small to estimate them: lmplz's
/// defaults.
const DISCOUNT_FALLBACK: [f32; 3] = [0.5, 1.0, 1.5];
/// The truecase models of the source and the target side.
const TRUECASE_FILES: [&str; 2] = ["truecase.source", "truecase.target"];

/// The copies of a user's lists of nonbreaking prefixes of the source and the target side.
const PREFIX_FILES: [&str; 2] = ["nonbreaking-prefixes.source", "nonbreaking-prefixes.target"];

/// The files and folders next to `moses.ini` that are found by their names, because the ini does
/// not name them. If a run does not write one of them, the file of an earlier run would belong to
/// another system.
pub(crate) const FILES_OF_A_SYSTEM: [&str; 3] =
    [TextProcessorConfig::FILE_NAME, PHRASE_INI_FILE, TEXT_FOLDER];

/// A training run: its options, and the names of its files.
pub(crate) struct TrainingRun<'a> {
    pub options: &'a TrainOptions,
    /// The reordering model that the options name.
    pub reordering: Option<ReorderingType>,
    /// The folder of the model.
    pub folder: &'a Path,
}

impl TrainingRun<'_> {
    /// Returns the path of an intermediate file, relative to the folder.
    fn work_file(name: &str) -> PathBuf {
        Path::new(WORK_FOLDER).join(name)
    }

    fn full_path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.folder.join(file)
    }

    /// Returns the two files of a prepared or cleaned text, relative to the folder.
    fn parallel_file_names(name: &str) -> [PathBuf; 2] {
        ["source", "target"].map(|side| Self::work_file(&format!("{name}.{side}")))
    }

    fn parallel_files(&self, name: &str) -> ParallelFiles {
        Self::parallel_file_names(name).map(|file| self.full_path(file))
    }

    /// Returns the folder of the text tables, relative to the model's folder.
    fn tables_folder(&self) -> PathBuf {
        if self.options.keep_text { TEXT_FOLDER.into() } else { Self::work_file("tables") }
    }

    /// Returns the text files of the phrase table and the reordering table, relative to the
    /// model's folder.
    fn table_files(&self) -> (PathBuf, Option<PathBuf>) {
        let extension = if self.options.keep_text { "gz" } else { "zst" };
        let [phrases, reordering] = ["phrase-table", "reordering-table"]
            .map(|name| self.tables_folder().join(format!("{name}.{extension}")));
        (phrases, self.options.reordering.is_some().then_some(reordering))
    }

    fn arpa_file(&self) -> PathBuf {
        if self.options.keep_text {
            Path::new(TEXT_FOLDER).join("lm.arpa.gz")
        } else {
            Self::work_file("lm.arpa")
        }
    }

    /// Builds all stages, in an order in which they can run.
    pub fn build_stages(&self, progress: &dyn Progress) -> Result<Vec<Stage<'_>>> {
        let options = self.options;
        let lm_text = match &options.lm_text[..] {
            [] => std::slice::from_ref(&options.target),
            files => files,
        };
        let sides = [&options.source, &options.target];
        let mut stages = match &options.raw_languages {
            Some(languages) => vec![
                self.truecase_stage(0, &languages.source, self.hash_side(0, progress)?),
                self.truecase_stage(1, &languages.target, self.hash_side(1, progress)?),
                self.preprocessing_stage(languages),
                self.preparation_file_stage(languages, progress)?,
            ],
            None => Vec::new(),
        };
        stages.extend([
            self.corpus_stage(hash_files(sides, progress)?),
            self.align_stage(),
            self.extract_stage(),
            self.phrase_table_stage(),
            self.lm_text_stage(lm_text, hash_files(lm_text, progress)?),
            self.lm_stage(),
            self.ini_stage(),
        ]);
        if let Some((source, target)) = &options.dev {
            stages.push(self.dev_stage(source, target, hash_files([source, target], progress)?));
            stages.push(self.perplexity_stage());
        }
        stages.push(self.tuning_stage());
        if let Some(neural) = &options.neural {
            stages.extend(self.neural_stages(neural, progress)?);
        }
        Ok(stages)
    }

    /// Hashes the text of the source (0) or target (1) side, and its list of nonbreaking
    /// prefixes.
    fn hash_side(&self, side: usize, progress: &dyn Progress) -> Result<String> {
        let text = [&self.options.source, &self.options.target][side];
        hash_files([text].into_iter().chain(&self.options.nonbreaking_prefixes[side]), progress)
    }

    /// Creates the preprocessing of the source (0) or target (1) side, without truecasing.
    fn create_processor(&self, side: usize, language: &str) -> Result<TextProcessor> {
        let processor = TextProcessor::for_language(language);
        Ok(match &self.options.nonbreaking_prefixes[side] {
            Some(file) => processor.with_nonbreaking_prefixes(NonbreakingPrefixes::read(file)?),
            None => processor,
        })
    }

    /// Returns the stage that trains the truecase model of the source (0) or target (1) side.
    fn truecase_stage<'s>(&'s self, side: usize, language: &'s str, hash: String) -> Stage<'s> {
        let options = self.options;
        Stage::new(
            ["truecase-source", "truecase-target"][side],
            ["learning the source side's true case", "learning the target side's true case"][side],
        )
        .key(format!("{hash} {language}"))
        .writes([TRUECASE_FILES[side]])
        .run(move |progress| {
            let text = [&options.source, &options.target][side];
            let model = self.full_path(TRUECASE_FILES[side]);
            let mut preparation = self.create_processor(side, language)?;
            train_truecase_model(text, &mut preparation, &model, options.threads, progress)?;
            Ok(StageStatistics::new())
        })
    }

    /// Loads the preprocessing of the source (0) or target (1) side, with its truecase model.
    fn load_preparation(&self, side: usize, languages: &LanguagePair) -> Result<TextProcessor> {
        let language = [&languages.source, &languages.target][side];
        let mut preparation = self.create_processor(side, language)?;
        preparation.truecaser = Some(TruecaseModel::read(&self.full_path(TRUECASE_FILES[side]))?);
        Ok(preparation)
    }

    /// Preprocesses a raw parallel text.
    fn prepare_parallel(
        &self,
        from: [&Path; 2],
        to: &ParallelFiles,
        languages: &LanguagePair,
        progress: &dyn Progress,
    ) -> Result<()> {
        for (side, (from, to)) in from.iter().zip(to).enumerate() {
            let preparation = self.load_preparation(side, languages)?;
            prepare_file(from, &preparation, to, self.options.threads, progress)?;
        }
        Ok(())
    }

    fn preprocessing_stage<'s>(&'s self, languages: &'s LanguagePair) -> Stage<'s> {
        let options = self.options;
        Stage::new("prepared", "preparing the parallel text")
            .after(&["truecase-source", "truecase-target"])
            .writes(Self::parallel_file_names("prepared"))
            .kept(false)
            .run(move |progress| {
                let from = [options.source.as_path(), &options.target];
                self.prepare_parallel(from, &self.parallel_files("prepared"), languages, progress)?;
                Ok(StageStatistics::new())
            })
    }

    /// Returns the stage that writes the text processing configuration of the system, with copies
    /// of the lists of nonbreaking prefixes that it names.
    fn preparation_file_stage(
        &self,
        languages: &LanguagePair,
        progress: &dyn Progress,
    ) -> Result<Stage<'_>> {
        let lists = &self.options.nonbreaking_prefixes;
        let copies =
            [0, 1].map(|side| lists[side].as_ref().map(|_| PathBuf::from(PREFIX_FILES[side])));
        let config = TextProcessorConfig {
            normalize: Some(languages.source.clone()),
            tokenize: Some(languages.source.clone()),
            nonbreaking_prefixes: copies[0].clone(),
            truecase: Some(TRUECASE_FILES[0].into()),
            detokenize: Some(languages.target.clone()),
            recase: true,
            target_nonbreaking_prefixes: copies[1].clone(),
            target_truecase: Some(TRUECASE_FILES[1].into()),
        };
        let text = config.to_text();
        let key = match copies {
            [None, None] => text.clone(),
            _ => format!("{text}{}", hash_files(lists.iter().flatten(), progress)?),
        };
        Ok(Stage::new("preparation", "writing the text processing configuration")
            .key(key)
            .writes(
                [TextProcessorConfig::FILE_NAME.into()]
                    .into_iter()
                    .chain(copies.iter().flatten().cloned()),
            )
            .run(move |_| {
                for (list, copy) in lists.iter().zip(&copies) {
                    if let (Some(list), Some(copy)) = (list, copy) {
                        let words = fs::read(list).map_err(|e| Error::io(list, "read", e))?;
                        Output::write_file(&self.full_path(copy), &words)?;
                    }
                }
                Output::write_file(
                    &self.full_path(TextProcessorConfig::FILE_NAME),
                    text.as_bytes(),
                )?;
                Ok(StageStatistics::new())
            }))
    }

    fn corpus_stage(&self, hash: String) -> Stage<'_> {
        let options = self.options;
        let limits = LengthLimits { max_words: options.max_words, max_ratio: options.max_ratio };
        Stage::new("corpus", "checking the parallel text")
            .after(if options.raw_languages.is_some() { &["prepared"] } else { &[] })
            .key(stage_keys::corpus(&hash, limits))
            .writes(Self::parallel_file_names("corpus"))
            .kept(false)
            .run(move |progress| {
                let from = match options.raw_languages {
                    Some(_) => self.parallel_files("prepared"),
                    None => [options.source.clone(), options.target.clone()],
                };
                corpus::clean_parallel(
                    &from,
                    &self.parallel_files("corpus"),
                    Some(limits),
                    progress,
                )
            })
    }

    fn align_stage(&self) -> Stage<'_> {
        let options = self.options;
        let align = AlignOptions {
            model: options.alignment_model,
            symmetrization: options.symmetrization,
            threads: options.threads,
            memory: Some(options.memory),
            temp_dir: Some(self.full_path(WORK_FOLDER)),
            ..AlignOptions::default()
        };
        Stage::new("align", "aligning words")
            .after(&["corpus"])
            .key(stage_keys::align(align.model, align.symmetrization))
            .writes([Self::work_file("alignment")])
            .kept(false)
            .run(move |progress| {
                let [source, target] = self.parallel_files("corpus");
                let output = self.full_path(Self::work_file("alignment"));
                let done = miriam_align::align_files(&source, &target, &output, &align, progress)?;
                Ok(stage_statistics([("links", done.links.into())]))
            })
    }

    fn extract_stage(&self) -> Stage<'_> {
        let options = self.options;
        let (phrases, reordering) = self.table_files();
        Stage::new("extract", "extracting phrases")
            .after(&["corpus", "align"])
            .key(stage_keys::extract(options.max_length, options.reordering.as_deref()))
            .writes([phrases].into_iter().chain(reordering))
            .kept(options.keep_text)
            .run(move |progress| {
                let [source, target] = self.parallel_files("corpus");
                let alignment = self.full_path(Self::work_file("alignment"));
                let output = self.full_path(self.tables_folder());
                let extract = ExtractOptions {
                    max_length: options.max_length,
                    reordering: options.reordering.clone(),
                    memory: options.memory,
                    temp_dir: output.clone(),
                    compression: if options.keep_text {
                        Compression::Gzip
                    } else {
                        Compression::Zstd
                    },
                    threads: options.threads,
                    ..ExtractOptions::default()
                };
                let done = miriam_extract::extract_files(
                    &source, &target, &alignment, &output, &extract, progress,
                )?;
                Ok(stage_statistics([
                    ("phrases", done.entries.into()),
                    ("sources", done.sources.into()),
                ]))
            })
    }

    fn phrase_table_stage(&self) -> Stage<'_> {
        let options = self.options;
        Stage::new("table", "building the phrase table")
            .after(&["extract"])
            .writes([PHRASE_TABLE_FILE])
            .run(move |progress| {
                let (phrases, reordering) = self.table_files();
                let build = BuildOptions {
                    phrase_table: self.full_path(phrases),
                    reordering: reordering.map(|file| self.full_path(file)),
                    memory: Some(options.memory),
                    threads: options.threads,
                    ..BuildOptions::default()
                };
                let done = miriam_probingpt::build_file(
                    &build,
                    &self.full_path(PHRASE_TABLE_FILE),
                    progress,
                )?;
                Ok(stage_statistics([
                    ("phrases", done.entries.into()),
                    ("bytes", done.bytes.into()),
                ]))
            })
    }

    fn lm_text_stage<'s>(&'s self, from: &'s [PathBuf], hash: String) -> Stage<'s> {
        Stage::new("lm-text", "checking the language model's text")
            .after(if self.options.raw_languages.is_some() { &["truecase-target"] } else { &[] })
            .key(hash)
            .writes([Self::work_file("lm.text")])
            .kept(false)
            .run(move |progress| {
                let to = self.full_path(Self::work_file("lm.text"));
                self.prepare_monolingual(from, &to, progress)
            })
    }

    /// Writes the non-empty lines of texts in the target language to `to`, preprocessed if texts
    /// are raw.
    fn prepare_monolingual(
        &self,
        from: &[PathBuf],
        to: &Path,
        progress: &dyn Progress,
    ) -> Result<StageStatistics> {
        let Some(languages) = &self.options.raw_languages else {
            return corpus::clean_monolingual(from, to, progress);
        };
        let preparation = self.load_preparation(1, languages)?;
        let mut prepared = Vec::new();
        for (i, file) in from.iter().enumerate() {
            let path = to.with_extension(format!("prepared.{i}"));
            prepare_file(file, &preparation, &path, self.options.threads, progress)?;
            prepared.push(path);
        }
        let facts = corpus::clean_monolingual(&prepared, to, progress)?;
        for path in &prepared {
            fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
        }
        Ok(facts)
    }

    fn lm_stage(&self) -> Stage<'_> {
        let options = self.options;
        Stage::new("lm", "estimating the language model")
            .after(&["lm-text"])
            .key(stage_keys::language_model(options))
            .writes(
                [PathBuf::from(LM_FILE)]
                    .into_iter()
                    .chain(options.keep_text.then(|| self.arpa_file())),
            )
            .run(move |progress| {
                let arpa = self.full_path(self.arpa_file());
                let estimate = EstimateOptions {
                    prune: options.lm_prune.clone(),
                    // Small texts have no counts of counts for all orders.
                    discount_fallback: Some(DISCOUNT_FALLBACK),
                    skip_symbols: true,
                    memory: options.memory,
                    temp_dir: self.full_path(WORK_FOLDER),
                    threads: options.threads,
                    ..EstimateOptions::new(options.lm_order)
                };
                let input = Input::open(&self.full_path(Self::work_file("lm.text")))?;
                let mut output = Output::create_atomic(&arpa)?;
                let done =
                    miriam_lmcpu::estimate::estimate(&estimate, input, &mut output, progress)?;
                output.finish()?;
                let model = self.full_path(LM_FILE);
                build_thread_pool(options.threads)?.install(|| match options.lm_kind {
                    LmKind::Probing => {
                        probing::build_probing(&arpa, &model, ArpaOptions::default(), progress)
                            .map(drop)
                    }
                    LmKind::Trie => {
                        trie::build_trie(&arpa, &model, None, ArpaOptions::default(), progress)
                            .map(drop)
                    }
                })?;
                if !options.keep_text {
                    fs::remove_file(&arpa).map_err(|e| Error::io(&arpa, "remove", e))?;
                }
                let bytes = fs::metadata(&model).map_err(|e| Error::io(&model, "find", e))?.len();
                Ok(stage_statistics([
                    ("tokens", done.tokens.into()),
                    ("ngrams", done.counts.into()),
                    ("bytes", bytes.into()),
                ]))
            })
    }

    fn ini_stage(&self) -> Stage<'_> {
        let options = self.options;
        let reordering = self.reordering.as_ref();
        let text = moses_ini::format_ini(PHRASE_TABLE_FILE, LM_FILE, options.lm_order, reordering);
        Stage::new("ini", "writing the configuration")
            .key(text.clone())
            .writes([UNTUNED_INI_FILE])
            .run(move |_| {
                Output::write_file(&self.full_path(UNTUNED_INI_FILE), text.as_bytes())?;
                Ok(StageStatistics::new())
            })
    }
}

/// Hashes the bytes of files, in their order.
fn hash_files<'f>(
    files: impl IntoIterator<Item = &'f PathBuf>,
    progress: &dyn Progress,
) -> Result<String> {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        let mut file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let mut length = 0u64;
        let task = progress.task("hashing files", file.metadata().ok().map(|found| found.len()));
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Error::io(path, "read", e)),
            };
            hasher.update(&buffer[..read]);
            length += read as u64;
            task.set_position(length);
            check_cancelled(progress)?;
        }
        hasher.update(&length.to_le_bytes());
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn build_thread_pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Options { reason: format!("cannot start {threads} threads: {e}") })
}
