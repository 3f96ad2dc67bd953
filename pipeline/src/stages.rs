//! The stages of a training run, and the files between them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use miriam_align::AlignOptions;
use miriam_decoder::Configuration;
use miriam_decoder::tuning::{self, TuneOptions};
use miriam_extract::{ExtractOptions, ReorderingModel};
use miriam_lmcpu::estimate::EstimateOptions;
use miriam_lmcpu::{Duplicates, perplexity, probing, trie};
use miriam_probingpt::BuildOptions;
use miriam_storage::Load;
use miriam_storage::hash::Hasher;
use miriam_textio::{Input, Output, Progress, Wrapping};
use miriam_textproc::{Preparation, PreparationSettings, TruecaseModel};

use crate::corpus::{self, Bounds, Sides};
use crate::record::Facts;
use crate::stage::Stage;
use crate::{
    Error, Languages, LmKind, Result, TrainOptions, Tuning, ini, learn_true_case, prepare_file,
};

/// What lies between stages, in the model's folder.
pub(crate) const WORK: &str = "train.work";
/// Tables as text, where they are kept.
pub(crate) const TEXT: &str = "text";
const TABLE: &str = "phrase-table.miriam";
const LM: &str = "lm.miriam";
pub(crate) const INI: &str = "moses.ini";
const UNTUNED: &str = "moses.untuned.ini";
/// Discounts for counts of 1, 2, and 3 or more where the text gives none, as lmplz'.
const FALLBACK: [f32; 3] = [0.5, 1.0, 1.5];
/// Models of true case, source and target side.
const TRUE_CASE: [&str; 2] = ["truecase.source", "truecase.target"];

/// A run: its options, and the names of its files.
pub(crate) struct Training<'a> {
    pub options: &'a TrainOptions,
    /// The reordering model that they name.
    pub reordering: Option<ReorderingModel>,
    /// The folder of the model.
    pub folder: &'a Path,
}

impl Training<'_> {
    /// A file between stages, relative to the folder.
    fn work(name: &str) -> PathBuf {
        Path::new(WORK).join(name)
    }

    fn at(&self, file: impl AsRef<Path>) -> PathBuf {
        self.folder.join(file)
    }

    /// The two files of a cleaned text, relative to the folder.
    fn side_files(name: &str) -> [PathBuf; 2] {
        ["source", "target"].map(|side| Self::work(&format!("{name}.{side}")))
    }

    fn sides(&self, name: &str) -> Sides {
        Self::side_files(name).map(|file| self.at(file))
    }

    /// The folder of tables as text, relative to the folder.
    fn tables(&self) -> PathBuf {
        if self.options.text { TEXT.into() } else { Self::work("tables") }
    }

    fn table_files(&self) -> (PathBuf, Option<PathBuf>) {
        let reordering = self.options.reordering.as_ref();
        let end = if self.options.text { "gz" } else { "zst" };
        let table = |name: &str| self.tables().join(format!("{name}.{end}"));
        (table("phrase-table"), reordering.map(|_| table("reordering-table")))
    }

    fn arpa(&self) -> PathBuf {
        if self.options.text { Path::new(TEXT).join("lm.arpa.gz") } else { Self::work("lm.arpa") }
    }

    /// All stages, in an order in which they can be done.
    pub fn stages(&self, progress: &dyn Progress) -> Result<Vec<Stage<'_>>> {
        let options = self.options;
        let lm_text = match &options.lm_text[..] {
            [] => std::slice::from_ref(&options.target),
            files => files,
        };
        let sides = [&options.source, &options.target];
        let mut stages = match &options.raw {
            Some(languages) => vec![
                self.true_case(0, &languages.source, hash_files([sides[0]], progress)?),
                self.true_case(1, &languages.target, hash_files([sides[1]], progress)?),
                self.prepared(languages),
                self.preparation(languages),
            ],
            None => Vec::new(),
        };
        stages.extend([
            self.corpus(hash_files(sides, progress)?),
            self.align(),
            self.extract(),
            self.table(),
            self.lm_text(lm_text, hash_files(lm_text, progress)?),
            self.lm(),
            self.untuned(),
        ]);
        if let Some((source, target)) = &options.dev {
            stages.push(self.dev(source, target, hash_files([source, target], progress)?));
            stages.push(self.perplexity());
        }
        stages.push(self.weights());
        Ok(stages)
    }

    /// Learns how words of the source (0) or target side are written inside of
    /// sentences.
    fn true_case<'s>(&'s self, side: usize, language: &'s str, hash: String) -> Stage<'s> {
        let options = self.options;
        Stage {
            name: ["truecase-source", "truecase-target"][side],
            title: ["learning the source side's true case", "learning the target side's true case"]
                [side],
            reads: &[],
            key: format!("{hash} {language}"),
            files: vec![TRUE_CASE[side].into()],
            kept: true,
            work: Box::new(move |progress| {
                let (text, model) =
                    ([&options.source, &options.target][side], self.at(TRUE_CASE[side]));
                let mut preparation = Preparation::of_language(language);
                learn_true_case(text, &mut preparation, &model, options.threads, progress)?;
                Ok(Facts::new())
            }),
        }
    }

    /// How raw text of the source (0) or target side is prepared, once its true case is
    /// known.
    fn preparation_of(&self, side: usize, languages: &Languages) -> Result<Preparation> {
        let language = [&languages.source, &languages.target][side];
        let mut preparation = Preparation::of_language(language);
        preparation.truecase = Some(TruecaseModel::read(&self.at(TRUE_CASE[side]))?);
        Ok(preparation)
    }

    /// Prepares two raw texts.
    fn prepare(
        &self,
        from: [&Path; 2],
        to: &Sides,
        languages: &Languages,
        progress: &dyn Progress,
    ) -> Result<()> {
        for (side, (from, to)) in from.iter().zip(to).enumerate() {
            let preparation = self.preparation_of(side, languages)?;
            prepare_file(from, &preparation, to, self.options.threads, progress)?;
        }
        Ok(())
    }

    fn prepared<'s>(&'s self, languages: &'s Languages) -> Stage<'s> {
        let options = self.options;
        Stage {
            name: "prepared",
            title: "preparing the parallel text",
            reads: &["truecase-source", "truecase-target"],
            key: String::new(),
            files: Self::side_files("prepared").into(),
            kept: false,
            work: Box::new(move |progress| {
                let from = [options.source.as_path(), &options.target];
                self.prepare(from, &self.sides("prepared"), languages, progress)?;
                Ok(Facts::new())
            }),
        }
    }

    /// Says how new text is to be prepared, for `translate -raw`.
    fn preparation(&self, languages: &Languages) -> Stage<'_> {
        let settings = PreparationSettings {
            normalize: Some(languages.source.clone()),
            tokenize: Some(languages.source.clone()),
            truecase: Some(TRUE_CASE[0].into()),
            detokenize: Some(languages.target.clone()),
            recase: true,
        };
        let text = settings.to_text();
        Stage {
            name: "preparation",
            title: "writing how raw text is prepared",
            reads: &[],
            key: text.clone(),
            files: vec![PreparationSettings::FILE.into()],
            kept: true,
            work: Box::new(move |_| {
                write_whole(&self.at(PreparationSettings::FILE), text.as_bytes())?;
                Ok(Facts::new())
            }),
        }
    }

    fn corpus(&self, hash: String) -> Stage<'_> {
        let options = self.options;
        let bounds = Bounds { words: options.max_words, ratio: options.max_ratio };
        Stage {
            name: "corpus",
            title: "checking the parallel text",
            reads: if options.raw.is_some() { &["prepared"] } else { &[] },
            key: format!("{hash} {bounds:?}"),
            files: Self::side_files("corpus").into(),
            kept: false,
            work: Box::new(move |progress| {
                let from = match options.raw {
                    Some(_) => self.sides("prepared"),
                    None => [options.source.clone(), options.target.clone()],
                };
                corpus::clean(&from, &self.sides("corpus"), Some(bounds), progress)
            }),
        }
    }

    fn align(&self) -> Stage<'_> {
        let options = self.options;
        let align = AlignOptions {
            model: options.alignment_model,
            symmetrization: options.symmetrization,
            threads: options.threads,
            memory: Some(options.memory),
            temp: Some(self.at(WORK)),
            ..AlignOptions::default()
        };
        Stage {
            name: "align",
            title: "aligning words",
            reads: &["corpus"],
            key: format!("{:?} {:?}", align.model, align.symmetrization),
            files: vec![Self::work("alignment")],
            kept: false,
            work: Box::new(move |progress| {
                let ([source, target], output) =
                    (self.sides("corpus"), self.at(Self::work("alignment")));
                let done = miriam_align::align_files(&source, &target, &output, &align, progress)?;
                Ok(facts([("links", done.links.into())]))
            }),
        }
    }

    fn extract(&self) -> Stage<'_> {
        let options = self.options;
        let (phrases, reordering) = self.table_files();
        Stage {
            name: "extract",
            title: "extracting phrases",
            reads: &["corpus", "align"],
            key: format!("{} {:?}", options.max_length, options.reordering),
            files: [phrases].into_iter().chain(reordering).collect(),
            kept: options.text,
            work: Box::new(move |progress| {
                let [source, target] = self.sides("corpus");
                let alignment = self.at(Self::work("alignment"));
                let output = self.at(self.tables());
                let extract = ExtractOptions {
                    max_length: options.max_length,
                    reordering: options.reordering.clone(),
                    memory: options.memory,
                    temp: output.clone(),
                    tables: if options.text { Wrapping::Gzip } else { Wrapping::Zstd },
                    threads: options.threads,
                    ..ExtractOptions::default()
                };
                let done = miriam_extract::extract_files(
                    &source, &target, &alignment, &output, &extract, progress,
                )?;
                Ok(facts([("phrases", done.entries.into()), ("sources", done.sources.into())]))
            }),
        }
    }

    fn table(&self) -> Stage<'_> {
        let options = self.options;
        Stage {
            name: "table",
            title: "building the phrase table",
            reads: &["extract"],
            key: String::new(),
            files: vec![TABLE.into()],
            kept: true,
            work: Box::new(move |progress| {
                let (phrases, reordering) = self.table_files();
                let build = BuildOptions {
                    phrase_table: self.at(phrases),
                    reordering: reordering.map(|file| self.at(file)),
                    memory: Some(options.memory),
                    threads: options.threads,
                    ..BuildOptions::default()
                };
                let done = miriam_probingpt::build_file(&build, &self.at(TABLE), progress)?;
                Ok(facts([("phrases", done.entries.into()), ("bytes", done.bytes.into())]))
            }),
        }
    }

    fn lm_text<'s>(&'s self, from: &'s [PathBuf], hash: String) -> Stage<'s> {
        Stage {
            name: "lm-text",
            title: "checking the language model's text",
            reads: if self.options.raw.is_some() { &["truecase-target"] } else { &[] },
            key: hash,
            files: vec![Self::work("lm.text")],
            kept: false,
            work: Box::new(move |progress| {
                let to = self.at(Self::work("lm.text"));
                let Some(languages) = &self.options.raw else {
                    return corpus::clean_text(from, &to, progress);
                };
                let preparation = self.preparation_of(1, languages)?;
                let mut prepared = Vec::new();
                for (i, file) in from.iter().enumerate() {
                    let path = self.at(Self::work(&format!("lm.prepared.{i}")));
                    prepare_file(file, &preparation, &path, self.options.threads, progress)?;
                    prepared.push(path);
                }
                let facts = corpus::clean_text(&prepared, &to, progress)?;
                for path in &prepared {
                    fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
                }
                Ok(facts)
            }),
        }
    }

    fn lm(&self) -> Stage<'_> {
        let options = self.options;
        Stage {
            name: "lm",
            title: "estimating the language model",
            reads: &["lm-text"],
            key: format!(
                "{} {:?} {:?} {}",
                options.lm_order, options.lm_prune, options.lm_kind, options.text
            ),
            files: [PathBuf::from(LM)]
                .into_iter()
                .chain(options.text.then(|| self.arpa()))
                .collect(),
            kept: true,
            work: Box::new(move |progress| {
                let arpa = self.at(self.arpa());
                let estimate = EstimateOptions {
                    prune: options.lm_prune.clone(),
                    // Small texts have no counts of counts for all orders.
                    discount_fallback: Some(FALLBACK),
                    skip_symbols: true,
                    memory: options.memory,
                    temp: self.at(WORK),
                    threads: options.threads,
                    ..EstimateOptions::new(options.lm_order)
                };
                let input = Input::open(&self.at(Self::work("lm.text")))?;
                let mut output = Output::create_whole(&arpa)?;
                let done =
                    miriam_lmcpu::estimate::estimate(&estimate, input, &mut output, progress)?;
                output.finish()?;
                let model = self.at(LM);
                pool(options.threads)?.install(|| match options.lm_kind {
                    LmKind::Probing => {
                        probing::build_probing(&arpa, &model, Duplicates::Refuse, progress)
                            .map(drop)
                    }
                    LmKind::Trie => {
                        trie::build_trie(&arpa, &model, None, Duplicates::Refuse, progress)
                            .map(drop)
                    }
                })?;
                if !options.text {
                    fs::remove_file(&arpa).map_err(|e| Error::io(&arpa, "remove", e))?;
                }
                let bytes = fs::metadata(&model).map_err(|e| Error::io(&model, "find", e))?.len();
                Ok(facts([
                    ("tokens", done.tokens.into()),
                    ("ngrams", done.counts.into()),
                    ("bytes", bytes.into()),
                ]))
            }),
        }
    }

    fn untuned(&self) -> Stage<'_> {
        let options = self.options;
        let text = ini::text(&ini::Parts {
            table: TABLE,
            lm: LM,
            lm_order: options.lm_order,
            reordering: self.reordering,
        });
        Stage {
            name: "ini",
            title: "writing the configuration",
            reads: &[],
            key: text.clone(),
            files: vec![UNTUNED.into()],
            kept: true,
            work: Box::new(move |_| {
                write_whole(&self.at(UNTUNED), text.as_bytes())?;
                Ok(Facts::new())
            }),
        }
    }

    fn dev<'s>(&'s self, source: &'s Path, target: &'s Path, hash: String) -> Stage<'s> {
        Stage {
            name: "dev",
            title: "checking the text for tuning",
            reads: match self.options.raw {
                Some(_) => &["truecase-source", "truecase-target"],
                None => &[],
            },
            key: hash,
            files: Self::side_files("dev").into(),
            kept: false,
            work: Box::new(move |progress| {
                let from = match &self.options.raw {
                    Some(languages) => {
                        let prepared = self.sides("dev.prepared");
                        self.prepare([source, target], &prepared, languages, progress)?;
                        prepared
                    }
                    None => [source.into(), target.into()],
                };
                corpus::clean(&from, &self.sides("dev"), None, progress)
            }),
        }
    }

    fn perplexity(&self) -> Stage<'_> {
        let options = self.options;
        Stage {
            name: "perplexity",
            title: "scoring the text for tuning",
            reads: &["lm", "dev"],
            key: String::new(),
            files: Vec::new(),
            kept: true,
            work: Box::new(move |progress| {
                let [_, target] = self.sides("dev");
                let model = miriam_glm::open(&self.at(LM), Load::Lazy, progress)?;
                let input = Input::open(&target)?;
                let mut nowhere = Output::create(Path::new("/dev/null"))?;
                let asked = perplexity::Options {
                    markers: true,
                    threads: options.threads,
                    per_line: false,
                    json: None,
                    filter: None,
                };
                let size = input.size();
                let (sums, _) = perplexity::perplexity(
                    &*model,
                    [Ok(input)],
                    size,
                    &mut nowhere,
                    &asked,
                    progress,
                )?;
                Ok(facts([
                    ("perplexity", sums.including_unknown().into()),
                    ("tokens", sums.tokens.into()),
                    ("unknown", sums.unknown.into()),
                ]))
            }),
        }
    }

    /// Tunes; or keeps the first weights, where there is nothing to tune them on.
    fn weights(&self) -> Stage<'_> {
        let options = self.options;
        let tuning = options.dev.as_ref().and(options.tuning);
        Stage {
            name: "weights",
            title: if tuning.is_some() {
                "tuning the weights"
            } else {
                "keeping the first weights"
            },
            reads: match tuning {
                Some(_) => &["table", "lm", "ini", "dev"],
                None => &["ini"],
            },
            key: format!("{tuning:?}"),
            files: vec![INI.into()],
            kept: true,
            work: Box::new(move |progress| {
                let (untuned, output) = (self.at(UNTUNED), self.at(INI));
                let Some(Tuning { method, seed, iterations }) = tuning else {
                    let ini = fs::read(&untuned).map_err(|e| Error::io(&untuned, "read", e))?;
                    write_whole(&output, &ini)?;
                    return Ok(Facts::new());
                };
                let [source, target] = self.sides("dev");
                let configuration = Configuration::from_ini(&untuned)?;
                let mut tune = TuneOptions::new(configuration, source, vec![target], output);
                tune.method = method;
                tune.seed = seed;
                tune.iterations = iterations.unwrap_or(tune.iterations);
                tune.threads = options.threads;
                let report = tuning::tune(&tune, progress)?;
                Ok(facts([
                    ("iterations", report.iterations.len().into()),
                    ("first_bleu", report.iterations[0].bleu.into()),
                    ("best_bleu", report.best().bleu.into()),
                ]))
            }),
        }
    }
}

/// A hash of the bytes of files, in their order.
fn hash_files<'f>(
    files: impl IntoIterator<Item = &'f PathBuf>,
    progress: &dyn Progress,
) -> Result<String> {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        let mut file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let mut length = 0u64;
        progress.begin("looking at files", file.metadata().ok().map(|found| found.len()));
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Error::io(path, "read", e)),
            };
            hasher.update(&buffer[..read]);
            length += read as u64;
            progress.reached(length);
        }
        progress.end();
        hasher.update(&length.to_le_bytes());
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn facts<const N: usize>(facts: [(&str, serde_json::Value); N]) -> Facts {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Writes `path` whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::create_whole(path)?;
    output.write(bytes)?;
    output.finish()?;
    Ok(())
}

fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Options { reason: format!("cannot start {threads} threads: {e}") })
}
