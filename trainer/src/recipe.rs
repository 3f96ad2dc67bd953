//! The whole way from text to a model: vocabulary, corpus, training, the files of the result.
//!
//! Every step looks first whether its result is there, so the same request goes on where a run
//! before it was stopped.

use std::path::{Path, PathBuf};

use miriam_nmt::{LearnOptions, ModelBundle, learn_vocabulary};
use miriam_textio::{CancellationToken, Input, Output, Progress};
use miriam_textproc::sentencepiece::{ModelType, TrainOptions};

use crate::data::Shuffle;
use crate::error::{Error, Result};
use crate::options::RawOptions;
use crate::parallel_text::ParallelFiles;
use crate::parameters::ParameterLayout;
use crate::prepare;
use crate::training::{ModelFiles, Outcome, Span, Training, TrainingConfig, Unit};

/// The number of pieces of a vocabulary that is made, if no other is asked for.
pub const DEFAULT_VOCAB_SIZE: usize = 8000;

/// A training that is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Marian's options, those of a preset and of configurations among them.
    pub options: RawOptions,
    /// A folder for all files; without it, options name the files.
    pub folder: Option<PathBuf>,
    /// The number of pieces of a vocabulary that is made; [`DEFAULT_VOCAB_SIZE`] if none.
    pub vocab_size: Option<usize>,
    /// A folder for the curves of the training.
    pub plot: Option<PathBuf>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Why the training ended.
    pub outcome: Outcome,
    /// What `nmt translate -m` takes.
    pub model: PathBuf,
}

/// The paths of a training.
struct Paths {
    files: ModelFiles,
    train: ParallelFiles,
    valid: Option<ParallelFiles>,
    vocabularies: [PathBuf; 2],
}

impl Request {
    /// Trains, or goes on with a training. `log` gets lines of the log, `warn` warnings.
    ///
    /// # Errors
    /// If options or files do not fit, or cannot be read or written, or the training diverges.
    pub fn run(
        &self,
        stop: &CancellationToken,
        progress: &dyn Progress,
        log: &mut dyn FnMut(&str),
        warn: &mut dyn FnMut(&str),
    ) -> Result<Summary> {
        for warning in self.options.check_status()? {
            warn(&warning);
        }
        let paths = self.paths()?;
        // What is wrong with options is said before anything is read.
        self.options.training_config([2, 2])?;
        for path in paths.train.paths().chain(paths.valid.iter().flat_map(ParallelFiles::paths)) {
            Input::check_access(path, None)?;
        }
        if let Some(folder) = paths.files.model.parent().filter(|path| *path != Path::new("")) {
            std::fs::create_dir_all(folder)
                .map_err(|e| miriam_storage::Error::io(folder, "create", e))?;
        }
        self.remove_partial_files(&paths);
        self.make_vocabulary(&paths, progress, log, warn)?;
        let sizes = self.pair_of_sizes()?;
        let tokenizers = prepare::open_vocabularies(&paths.vocabularies, sizes)?;
        let vocab_sizes = [0, 1].map(|side| tokenizers.vocabularies[side].len());
        let mut config = self.options.training_config(vocab_sizes)?;
        if config.validation.translation_output.is_none() {
            let output = paths.files.model.with_file_name("valid.translation");
            config.validation.translation_output = Some(output);
        }
        if paths.train.reads_stdin() {
            // As Marian does: a second epoch would need all of it again.
            config.limits.spans.push(Span { count: 1, unit: Unit::Epochs });
            if config.batches.shuffle == Shuffle::Data {
                config.batches.shuffle = Shuffle::Batches;
            }
            log("[data] Standard input: one epoch, batches of neighbouring sentences");
        }
        let right_to_left = config.architecture.embeddings().right_to_left;
        let limit = config.length_limit;
        let corpus =
            prepare::read_corpus(&paths.train, &tokenizers, limit, right_to_left, progress)?;
        log(&describe_corpus(&corpus));
        if corpus.is_empty() {
            return Err(Error::config(format!(
                "{}: no pair of lines has words on both sides and at most {} tokens on each; \
                 raise --max-length or give --max-length-crop",
                paths.train.describe(),
                limit.tokens
            )));
        }
        let validation = match &paths.valid {
            None => None,
            Some(valid) => {
                let longest = config.validation.max_length;
                let set = prepare::read_validation_set(
                    valid,
                    &tokenizers,
                    longest,
                    right_to_left,
                    progress,
                )?;
                if set.corpus.is_empty() {
                    let files = valid.describe();
                    return Err(Error::config(format!(
                        "{files}: no pair of lines has words on both sides"
                    )));
                }
                Some(set)
            }
        };
        let pretrained = self.pretrained(&config, &paths.files, log)?;
        let mut training = Training {
            config: &config,
            corpus: &corpus,
            validation: validation.as_ref(),
            files: &paths.files,
            pretrained,
            vocabularies: prepare::fingerprint(&tokenizers),
            plot: self.plot.as_deref(),
            stop,
            progress,
        };
        training.check()?;
        // A training that is killed leaves a folder that opens.
        self.write_decoder_config(&paths, &config)?;
        let outcome = training.run(log)?;
        let model = self.write_decoder_config(&paths, &config)?;
        Ok(Summary { outcome, model })
    }

    /// Removes what a killed run was writing: files in our folder, or of our model's name.
    fn remove_partial_files(&self, paths: &Paths) {
        let model = &paths.files.model;
        let parent = model.parent().filter(|path| *path != Path::new(""));
        let Ok(entries) = std::fs::read_dir(parent.unwrap_or(Path::new("."))) else { return };
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = self.folder.as_deref().is_some_and(|folder| parent == Some(folder));
        let prefix = if is_ours { ".".into() } else { format!(".{name}.") };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(&prefix) && name.ends_with(".partial") {
                // What cannot be removed is left; it does no harm.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn pair(&self, option: &str) -> Result<Option<[PathBuf; 2]>> {
        match &self.options.texts(option)[..] {
            [] => Ok(None),
            [source, target] => Ok(Some([source.into(), target.into()])),
            files => Err(Error::config(format!(
                "--{option}: {} files; one of the source and one of the target are needed",
                files.len()
            ))),
        }
    }

    fn pair_of_sizes(&self) -> Result<[usize; 2]> {
        match self.options.list("dim-vocabs")?[..] {
            [both] => Ok([both; 2]),
            [source, target] => Ok([source, target]),
            _ => Err(Error::config("--dim-vocabs: two numbers are needed")),
        }
    }

    fn paths(&self) -> Result<Paths> {
        let needed = |what: &str| Error::config(format!("--{what} is needed"));
        let model = self.options.text("model");
        let model = match (&self.folder, &model[..]) {
            (Some(folder), "") => folder.join("model.npz"),
            (None, "") => return Err(needed("model (or -o)")),
            (_, model) => PathBuf::from(model),
        };
        if model.extension().and_then(|e| e.to_str()) != Some("npz") {
            return Err(Error::config(format!(
                "--model: {}: the name of a model ends in .npz",
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

    /// Makes vocabularies that are not there: SentencePiece models where names end in `.spm`,
    /// lists of words else.
    fn make_vocabulary(
        &self,
        paths: &Paths,
        progress: &dyn Progress,
        log: &mut dyn FnMut(&str),
        warn: &mut dyn FnMut(&str),
    ) -> Result<()> {
        if paths.vocabularies.iter().all(|path| path.is_file()) {
            return self.check_vocabulary_size(paths, warn);
        }
        // No vocabulary is made of text that does not train.
        prepare::check_lines(&paths.train)?;
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let sizes = self.pair_of_sizes()?;
        for (side, path) in paths.vocabularies.iter().enumerate() {
            if path.is_file() {
                continue;
            }
            let Some(texts) = paths.train.texts() else {
                return Err(Error::config(format!(
                    "{}: there is no such vocabulary, and none is made from tab-separated text \
                     or standard input; make it with miriam nmt vocab",
                    path.display()
                )));
            };
            let is_joint = paths.vocabularies[0] == paths.vocabularies[1];
            let texts = if is_joint { &texts[..] } else { &texts[side..=side] };
            let size = sizes[side];
            let options = if path.extension().and_then(|e| e.to_str()) == Some("spm") {
                LearnOptions::SentencePiece(TrainOptions {
                    model_type: ModelType::Unigram,
                    vocab_size: match size {
                        0 => self.vocab_size.unwrap_or(DEFAULT_VOCAB_SIZE),
                        size => size,
                    },
                    ..TrainOptions::default()
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

    /// Warns where a vocabulary is there in another size than the one asked for.
    fn check_vocabulary_size(&self, paths: &Paths, warn: &mut dyn FnMut(&str)) -> Result<()> {
        let path = &paths.vocabularies[0];
        let Some(asked) = self.vocab_size else { return Ok(()) };
        let tokenizers = prepare::open_vocabularies(&paths.vocabularies, [0, 0])?;
        let found = tokenizers.vocabularies[0].len();
        if found != asked {
            warn(&format!(
                "--vocab-size {asked} has no effect: {} of {found} words is there; move it away \
                 to make another",
                path.display()
            ));
        }
        Ok(())
    }

    /// The parameters of the model to begin with: those of a model that is there already without
    /// a state of its training, as Marian does, else those of `pretrained-model`. A training that
    /// goes on needs none.
    fn pretrained(
        &self,
        config: &TrainingConfig,
        files: &ModelFiles,
        log: &mut dyn FnMut(&str),
    ) -> Result<Option<Vec<f32>>> {
        if files.optimizer().is_file() {
            return Ok(None);
        }
        let path = if files.model.is_file() {
            files.model.clone()
        } else {
            PathBuf::from(self.options.text("pretrained-model"))
        };
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        log(&format!("[training] Beginning with the parameters of {}", path.display()));
        let bundle = ModelBundle::open(&path, None)?;
        let [model] = &bundle.models[..] else {
            return Err(Error::config(format!("{}: one model is needed", path.display())));
        };
        let layout = ParameterLayout::new(&config.architecture);
        let mut values = vec![0.0; layout.len()];
        for parameter in layout.iter() {
            let tensor = model.parameter(&parameter.name);
            let tensor = tensor.filter(|tensor| tensor.shape() == parameter.shape);
            let Some(tensor) = tensor else {
                return Err(Error::config(format!(
                    "{}: {} is not there in the shape {:?}; train a model of its options",
                    path.display(),
                    parameter.name,
                    parameter.shape
                )));
            };
            let numbers = tensor.values();
            if !numbers.iter().all(|x| x.is_finite()) {
                let name = &parameter.name;
                let file = path.display();
                return Err(Error::config(format!(
                    "{file}: {name} has numbers that are not finite"
                )));
            }
            values[parameter.range()].copy_from_slice(&numbers);
        }
        Ok(Some(values))
    }

    /// Writes how to decode with the model: `decoder.yml` in a folder of its own, else
    /// `model.npz.decoder.yml`. It names the best model by the first metric if there is one.
    fn write_decoder_config(&self, paths: &Paths, config: &TrainingConfig) -> Result<PathBuf> {
        let best = config.validation.metrics.iter().map(|metric| paths.files.best(metric.name()));
        let translated = config.validation.metrics.iter().position(|m| m.needs_translations());
        let best: Vec<PathBuf> = best.collect();
        // Translations say more than cross-entropy.
        let best = best.get(translated.unwrap_or(0)).filter(|path| path.is_file());
        let model = best.filter(|_| self.folder.is_some()).unwrap_or(&paths.files.model);
        let (path, base) = match &self.folder {
            Some(folder) => (folder.join("decoder.yml"), folder.as_path()),
            None => (paths.files.decoder_config(), Path::new("")),
        };
        // In a folder of our own, what is in it moves with it, and all else is where it is.
        let relative = |path: &Path| -> Result<String> {
            if self.folder.is_none() {
                return Ok(yaml_scalar(&path.display().to_string()));
            }
            let absolute = |path: &Path| {
                std::path::absolute(path).map_err(|e| miriam_storage::Error::io(path, "find", e))
            };
            let (path, base) = (absolute(path)?, absolute(base)?);
            Ok(yaml_scalar(&path.strip_prefix(base).unwrap_or(&path).display().to_string()))
        };
        let mut text = format!(
            "models:\n  - {}\nvocabs:\n  - {}\n  - {}\nbeam-size: {}\nnormalize: {}\n",
            relative(model)?,
            relative(&paths.vocabularies[0])?,
            relative(&paths.vocabularies[1])?,
            config.validation.beam_size,
            config.validation.normalize,
        );
        if self.folder.is_some() {
            text += "relative-paths: true\n";
        }
        let mut output = Output::create_atomic(&path)?;
        output.write(text.as_bytes())?;
        output.finish()?;
        Ok(self.folder.clone().unwrap_or(path))
    }
}

/// A text as a scalar of YAML, quoted where it could be read as something else.
fn yaml_scalar(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/+=@,".contains(&byte);
    let begins_plainly = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c));
    if begins_plainly && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    // A string of JSON is one of YAML.
    serde_json::to_string(text).expect("a text is JSON")
}

fn describe_corpus(corpus: &crate::data::ParallelCorpus) -> String {
    let counts = corpus.counts();
    let [source, target] = corpus.num_tokens();
    let mut line = format!(
        "[data] {} pairs of {} lines, {source} source and {target} target tokens",
        corpus.len(),
        counts.lines
    );
    for (count, what) in [
        (counts.empty, "with an empty side left out"),
        (counts.too_long, "too long and left out"),
        (counts.cropped, "sentences cut"),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_nmt::yaml::Value;

    #[test]
    fn names_of_files_are_read_back() {
        assert_eq!(yaml_scalar("model.npz.best-bleu.npz"), "model.npz.best-bleu.npz");
        for name in ["a b #c", "a: b", "- a", "\"a\"", "a\tb", "[a]", "über", "*x", "/a/b.npz"] {
            let text = format!("vocabs:\n  - {}\n", yaml_scalar(name));
            let value = Value::parse(text.as_bytes(), "test").unwrap();
            let found = value.get("vocabs").unwrap().items()[0].as_str().map(str::to_owned);
            assert_eq!(found.as_deref(), Some(name));
        }
    }
}
