//! Training from text to a model: vocabulary, corpus, training, the resulting files.
//!
//! Vocabularies that exist are kept, and a training run that was stopped is resumed, so the same
//! request continues where an earlier run ended.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_nmt::{LearnOptions, Vocabulary, learn_vocabulary};
use miriam_storage::partial_file::remove_stale_files;
use miriam_textio::{
    CancellableProgress, CancellationToken, Input, Output, Progress, date, display_name,
};
use miriam_textproc::sentencepiece::TrainOptions;

use crate::data::{BatchFile, Shuffle};
use crate::error::{Error, Result};
use crate::init::initial_values;
use crate::load_data;
use crate::options::RawOptions;
use crate::parallel_text::ParallelFiles;
use crate::parameters::{ParameterLayout, fill_parameters};
use crate::training::{
    DecoderSettings, MemoryUse, ModelFiles, Outcome, Training, TrainingConfig, lock_folder,
    lock_model,
};

/// The default number of pieces of a new vocabulary.
pub const DEFAULT_VOCAB_SIZE: usize = 8000;

/// A request for a training run.
#[derive(Clone, Debug)]
pub struct TrainingRequest {
    /// Marian's options, including the options of a preset and of configurations.
    pub options: RawOptions,
    /// The folder for all files; `None` if options name the files.
    pub folder: Option<PathBuf>,
    /// The number of pieces of a new vocabulary, or the largest number of its words, unless the
    /// option `dim-vocabs` gives one; `None` for [`DEFAULT_VOCAB_SIZE`] pieces, or all words.
    pub vocab_size: Option<usize>,
    /// The folder for the curves of the training.
    pub plot: Option<PathBuf>,
    /// Whether to count the memory that training would take, instead of training. A missing
    /// vocabulary is made.
    pub dry_run: bool,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Summary {
    /// A model.
    Trained {
        /// The reason why the training ended.
        outcome: Outcome,
        /// The path for `nmt translate -m`.
        model: PathBuf,
    },
    /// The memory that a training run would take.
    Memory(MemoryUse),
}

/// The paths of a training run.
struct Paths {
    files: ModelFiles,
    train: ParallelFiles,
    valid: Option<ParallelFiles>,
    vocabularies: [PathBuf; 2],
}

impl TrainingRequest {
    /// Trains, or resumes a training run. Lines of the log go to `log` and, with the time, to the
    /// file that the option `log` names. Warnings go to `warn`.
    ///
    /// # Errors
    /// If options are invalid, files do not match or cannot be read or written, or the training
    /// diverges.
    pub fn run(
        &self,
        stop: &CancellationToken,
        progress: &dyn Progress,
        log: &mut dyn FnMut(&str),
        warn: &mut dyn FnMut(&str),
    ) -> Result<Summary> {
        let path = self.options.get_string("log");
        if path.is_empty() {
            return self.train(stop, progress, log, warn);
        }
        let path = Path::new(&path);
        let failed = |error| Error::from(miriam_storage::Error::io(path, "write", error));
        let mut file = File::options().append(true).create(true).open(path).map_err(failed)?;
        let mut written = Ok(());
        let mut log_and_keep = |line: &str| {
            log(line);
            // The first failure is reported at the end; a full disk does not end the training.
            if written.is_ok() {
                written = writeln!(file, "[{}] {line}", date::now());
            }
        };
        let outcome = self.train(stop, progress, &mut log_and_keep, warn);
        if let Err(error) = written {
            warn(&failed(error).to_string());
        }
        outcome
    }

    fn train(
        &self,
        stop: &CancellationToken,
        progress: &dyn Progress,
        log: &mut dyn FnMut(&str),
        warn: &mut dyn FnMut(&str),
    ) -> Result<Summary> {
        if let Some(note) = self.options.note() {
            log(note);
        }
        for warning in self.options.check_status()? {
            warn(&warning);
        }
        let paths = self.paths()?;
        // Invalid options are reported before any text is read.
        self.check_validation(&paths)?;
        self.options.case_augmentation()?;
        for path in paths.train.paths().chain(paths.valid.iter().flat_map(ParallelFiles::paths)) {
            Input::check_access(path, None)?;
        }
        // Preparation ends when `stop` is cancelled. Training checks `stop` itself, and saves its
        // state.
        let preparing = &CancellableProgress { shown: progress, stop };
        // The lines of the training text are checked when it is read. The validation text would be
        // read after that, perhaps hours later, so its lines are checked now.
        if let Some(valid) = &paths.valid {
            match load_data::check_lines(valid, preparing) {
                Err(Error::Cancelled) => return Ok(self.cancelled_summary(&paths)),
                checked => checked?,
            }
        }
        if let Some(ini) = self.folder.as_deref().map(|folder| folder.join("moses.ini"))
            && ini.is_file()
        {
            return Err(Error::config(format!(
                "{}: this folder contains a phrase-based system; choose another -o",
                ini.display()
            )));
        }
        let model_folder = paths.files.model.parent().filter(|path| *path != Path::new(""));
        for folder in model_folder.into_iter().chain(self.folder.as_deref()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| miriam_storage::Error::io(folder, "create", e))?;
        }
        let _model = lock_model(&paths.files)?;
        let _folder = self.folder.as_deref().map(lock_folder).transpose()?;
        self.remove_partial_files(&paths);
        let made = self.make_vocabulary(&paths, preparing, log, warn);
        if made.is_err() && preparing.is_cancelled() {
            return Ok(self.cancelled_summary(&paths));
        }
        made?;
        let sizes = self.pair_of_sizes()?;
        let tokenizers = load_data::open_vocabularies(&paths.vocabularies, sizes)?;
        let vocab_sizes = [0, 1].map(|side| tokenizers.vocabularies[side].len());
        let mut config = self.options.training_config(vocab_sizes)?;
        if paths.train.reads_stdin() {
            // As in Marian: a second epoch would have to read standard input again.
            config.limits.is_one_pass = true;
            if config.batches.shuffle == Shuffle::Data {
                config.batches.shuffle = Shuffle::Batches;
            }
            log("[data] Standard input: one epoch, batches of neighbouring sentences; training \
                 begins when it has been read to its end");
        }
        let right_to_left = config.architecture.embeddings().right_to_left;
        let limit = config.length_limit;
        let corpus = load_data::read_corpus(
            &paths.train,
            &tokenizers,
            limit,
            right_to_left,
            self.options.case_augmentation()?,
            preparing,
            warn,
        );
        if matches!(corpus, Err(Error::Cancelled)) {
            return Ok(self.cancelled_summary(&paths));
        }
        let corpus = corpus?;
        log(&describe_corpus(&corpus));
        if corpus.is_empty() {
            let what = if corpus.is_monolingual() {
                format!("no line has words and at most {} tokens", limit.tokens)
            } else {
                let most = limit.tokens;
                format!("no line pair has words on both sides and at most {most} tokens on each")
            };
            return Err(Error::config(format!(
                "{}: {what}; raise --max-length or give --max-length-crop",
                paths.train.describe()
            )));
        }
        let validation = match &paths.valid {
            None => None,
            Some(valid) => {
                let longest = config.validation.max_length;
                let set = load_data::read_validation_set(
                    valid,
                    &tokenizers,
                    longest,
                    right_to_left,
                    preparing,
                    warn,
                );
                if matches!(set, Err(Error::Cancelled)) {
                    return Ok(self.cancelled_summary(&paths));
                }
                let set = set?;
                let counts = set.corpus.counts();
                if counts.empty == counts.lines {
                    let files = valid.describe();
                    let what = if set.corpus.is_monolingual() {
                        "no line has words"
                    } else {
                        "no line pair has words on both sides"
                    };
                    return Err(Error::config(format!("{files}: {what}")));
                }
                Some(set)
            }
        };
        let batches = self.options.get_string("batches");
        let batches = match &batches[..] {
            "" => None,
            path => Some(BatchFile::open(Path::new(path), &corpus)?),
        };
        let pretrained = self.pretrained(&config, &paths.files, log)?;
        let decoder = DecoderSettings {
            folder: self.folder.clone(),
            vocabularies: paths.vocabularies.clone(),
            beam_size: config.validation.beam_size,
            normalize: config.validation.normalize,
        };
        let mut training = Training {
            config: &config,
            corpus: &corpus,
            batches: batches.as_ref(),
            validation: validation.as_ref(),
            files: &paths.files,
            options_yaml: &self.marian_yaml(&paths)?,
            decoder: &decoder,
            pretrained,
            vocabularies_fingerprint: load_data::fingerprint(&tokenizers),
            plot: self.plot.as_deref(),
            stop,
            progress,
        };
        training.check()?;
        if self.dry_run {
            return training.memory().map(Summary::Memory);
        }
        let outcome = training.run(log)?;
        let model = self.folder.clone().unwrap_or_else(|| decoder.path(&paths.files));
        Ok(Summary::Trained { outcome, model })
    }

    /// Returns the summary of a training run that was cancelled before its first update.
    fn cancelled_summary(&self, paths: &Paths) -> Summary {
        let model = self.folder.clone().unwrap_or_else(|| paths.files.model.clone());
        Summary::Trained { outcome: Outcome::Cancelled, model }
    }

    /// Returns the options with the paths of this training run, in Marian's YAML.
    fn marian_yaml(&self, paths: &Paths) -> Result<String> {
        let mut options = self.options.clone();
        fn text(path: &Path) -> String {
            path.display().to_string()
        }
        options.set("model", vec![text(&paths.files.model)])?;
        let mut vocabularies: Vec<String> =
            paths.vocabularies.iter().map(|path| text(path)).collect();
        if self.options.is_language_model() {
            // Marian expects one vocabulary for each text.
            vocabularies.truncate(1);
            options.set("dim-vocabs", vec![self.pair_of_sizes()?[0].to_string()])?;
        }
        options.set("vocabs", vocabularies)?;
        Ok(options.marian_yaml())
    }

    /// If a validation script is given, checks that it exists, and that there is a validation set
    /// if a metric needs one.
    fn check_validation(&self, paths: &Paths) -> Result<()> {
        let validation = self.options.training_config([2, 2])?.validation;
        if let Some(script) = &validation.script {
            script.check()?;
            let lacks_set = paths.valid.is_none()
                && validation.metrics.iter().any(|m| m.needs_validation_set());
            if lacks_set {
                return Err(Error::usage(
                    "--valid-sets is needed for all --valid-metrics except valid-script",
                ));
            }
        }
        Ok(())
    }

    /// Removes hidden partial files of a killed run: all of them if the model is in the folder of
    /// the training, else those whose names begin with the model's name.
    fn remove_partial_files(&self, paths: &Paths) {
        let model = &paths.files.model;
        let parent = model.parent().filter(|path| *path != Path::new(""));
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = self.folder.as_deref().is_some_and(|folder| parent == Some(folder));
        let prefix = if is_ours { ".".into() } else { format!(".{name}.") };
        remove_stale_files(parent.unwrap_or(Path::new(".")), &prefix);
    }

    /// Returns the files of source and target that an option names. A language model has one file,
    /// which is returned twice.
    fn pair(&self, option: &str) -> Result<Option<[PathBuf; 2]>> {
        let is_language_model = self.options.is_language_model();
        match &self.options.get_strings(option)[..] {
            [] => Ok(None),
            [both] if is_language_model => Ok(Some([both.into(), both.into()])),
            files if is_language_model && files.iter().any(|file| *file != files[0]) => Err(
                Error::usage(format!("--{option}: a language model has one file, found {files:?}")),
            ),
            [source, target] => Ok(Some([source.into(), target.into()])),
            files => Err(Error::usage(format!(
                "--{option}: expected two files, source and target, found {}",
                files.len()
            ))),
        }
    }

    fn pair_of_sizes(&self) -> Result<[usize; 2]> {
        match self.options.get_list("dim-vocabs")?[..] {
            [both] => Ok([both; 2]),
            [source, target] if source != target && self.options.is_language_model() => {
                Err(Error::usage("--dim-vocabs: a language model has one vocabulary"))
            }
            [source, target] => Ok([source, target]),
            _ => Err(Error::usage("--dim-vocabs: expected two numbers")),
        }
    }

    fn paths(&self) -> Result<Paths> {
        fn needed(what: &str) -> Error {
            Error::usage(format!("--{what} is missing"))
        }
        let model = self.options.get_string("model");
        let model = match (&self.folder, &model[..]) {
            (Some(folder), "") => folder.join("model.npz"),
            (None, "") => return Err(needed("model (or -o)")),
            (_, model) => PathBuf::from(model),
        };
        if model.extension().and_then(|e| e.to_str()) != Some("npz") {
            return Err(Error::usage(format!(
                "--model: {}: the model's name must end in .npz",
                model.display()
            )));
        }
        let vocabularies = match (self.pair("vocabs")?, &self.folder) {
            (Some(pair), _) => pair,
            (None, Some(folder)) => [folder.join("vocab.spm"), folder.join("vocab.spm")],
            (None, None) => return Err(needed("vocabs")),
        };
        Ok(Paths {
            files: ModelFiles { model },
            train: self.options.training_files()?,
            valid: self.options.validation_files()?,
            vocabularies,
        })
    }

    /// Makes missing vocabularies: SentencePiece models if their names end in `.spm` or `.model`,
    /// else lists of words.
    fn make_vocabulary(
        &self,
        paths: &Paths,
        progress: &dyn Progress,
        log: &mut dyn FnMut(&str),
        warn: &mut dyn FnMut(&str),
    ) -> Result<()> {
        self.check_vocabulary_size(paths, warn)?;
        let missing = paths.vocabularies.iter().filter(|path| !path.is_file());
        if missing.clone().next().is_none() {
            return Ok(());
        }
        let piece_options = self.options.sentencepiece_options(TrainOptions::default())?;
        // Learning takes long, so files that cannot be created are reported before it.
        for path in missing {
            Output::check_access(path)?;
        }
        // A vocabulary is not made from text that cannot be used for training.
        load_data::check_lines(&paths.train, progress)?;
        let threads = self.options.workers()?;
        let sizes = self.pair_of_sizes()?;
        for (side, path) in paths.vocabularies.iter().enumerate() {
            if path.is_file() {
                continue;
            }
            let Some(texts) = paths.train.sides() else {
                return Err(Error::config(format!(
                    "{}: the vocabulary is missing and cannot be made from tab-separated text \
                     or standard input; make it with miriam nmt vocab",
                    path.display()
                )));
            };
            let is_joint = paths.vocabularies[0] == paths.vocabularies[1];
            let texts = if is_joint { &texts[..] } else { &texts[side..=side] };
            if let Some(text) = texts.iter().find(|text| !text.is_file()) {
                return Err(Error::config(format!(
                    "{}: the vocabulary is missing and cannot be made from {}, which can be read \
                     only once; make it with miriam nmt vocab, or give files",
                    path.display(),
                    display_name(text)
                )));
            }
            // As in Marian, a joint vocabulary has the larger of both sizes.
            let size = if is_joint { sizes[0].max(sizes[1]) } else { sizes[side] };
            if let Some(requested_size) = self.vocab_size.filter(|&n| size > 0 && n != size) {
                warn(&format!(
                    "--vocab-size {requested_size} has no effect on {}: --dim-vocabs gives the \
                     size {size}",
                    path.display()
                ));
            }
            let extension = path.extension().and_then(|e| e.to_str());
            let options = if matches!(extension, Some("spm" | "model")) {
                LearnOptions::SentencePiece(TrainOptions {
                    vocab_size: match size {
                        0 => self.vocab_size.unwrap_or(DEFAULT_VOCAB_SIZE),
                        size => size,
                    },
                    // A short text may give fewer pieces than the default size.
                    hard_vocab_limit: piece_options.hard_vocab_limit
                        && (size > 0 || self.vocab_size.is_some()),
                    ..piece_options.clone()
                })
            } else {
                let size = if size > 0 { Some(size) } else { self.vocab_size };
                LearnOptions::Words { max_size: size }
            };
            let learned = learn_vocabulary(texts, &options, threads, progress)?;
            let mut file = Output::create_atomic(path)?;
            file.write(&learned.bytes)?;
            file.finish()?;
            log(&format!("[vocab] Made {} of {} words", path.display(), learned.len));
        }
        Ok(())
    }

    /// Warns of each vocabulary that exists with another size than requested.
    fn check_vocabulary_size(&self, paths: &Paths, warn: &mut dyn FnMut(&str)) -> Result<()> {
        let Some(requested_size) = self.vocab_size else { return Ok(()) };
        let is_joint = paths.vocabularies[0] == paths.vocabularies[1];
        let distinct = &paths.vocabularies[..if is_joint { 1 } else { 2 }];
        for path in distinct.iter().filter(|path| path.is_file()) {
            let found = Vocabulary::open(path)?.len();
            if found != requested_size {
                warn(&format!(
                    "--vocab-size {requested_size} has no effect on {}, which exists and has \
                     {found} words; move it away to make another",
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// Returns the parameters of `pretrained-model`, and initial values for parameters that it does
    /// not have. Returns `None` if a training run is resumed. If the model file exists, training
    /// begins with that model instead, as in Marian.
    fn pretrained(
        &self,
        config: &TrainingConfig,
        files: &ModelFiles,
        log: &mut dyn FnMut(&str),
    ) -> Result<Option<Vec<f32>>> {
        if files.optimizer().is_file() || files.model.is_file() {
            return Ok(None);
        }
        let path = self.options.get_string("pretrained-model");
        if path.is_empty() {
            return Ok(None);
        }
        log(&format!("[training] Starting with the parameters of {path}"));
        let layout = ParameterLayout::new(&config.architecture);
        let mut values = initial_values(&config.architecture, config.seed, config.depth_scaling);
        let missing = fill_parameters(Path::new(&path), &layout, &mut values)?;
        let (count, all) = (missing.len(), layout.iter().len());
        if count == all {
            return Err(Error::config(format!("{path}: it has none of this model's parameters")));
        }
        if count > 0 {
            log(&format!(
                "[training] {count} of {all} parameters are not in it and get initial values, the \
                 first is {}",
                missing[0]
            ));
        }
        Ok(Some(values))
    }
}

fn describe_corpus(corpus: &crate::data::ParallelCorpus) -> String {
    let counts = corpus.counts();
    let [source, target] = corpus.num_tokens();
    let (sentences, lines) = (corpus.len(), counts.lines);
    let (mut line, side) = if corpus.is_monolingual() {
        (format!("[data] {sentences} sentences of {lines} lines, {target} tokens"), "they are")
    } else {
        let tokens = format!("{source} source and {target} target tokens");
        (format!("[data] {sentences} pairs of {lines} lines, {tokens}"), "a side is")
    };
    let reasons = ["empty", "too long"].map(|reason| format!("left out because {side} {reason}"));
    for (count, what) in [
        (counts.empty, &reasons[0][..]),
        (counts.too_long, &reasons[1]),
        (counts.cropped, "sentences cropped"),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    line
}
