//! Validation (`docs/spec/training.md` A.12): the model in training translates or scores a
//! validation set with the inference engine of `nmt`.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use miriam_metrics::bleu::Smoothing;
use miriam_metrics::{
    Bleu, Chrf, Metric as TextMetric, Tokenizer, corpus_score, corpus_statistics,
};
use miriam_nmt::architecture::{Architecture, Model};
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::network::Network;
use miriam_nmt::search::DecodingSemantics;
use miriam_nmt::translate::{
    SourceText, Tokenizer as TextTokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_nmt::{DecoderConfig, ModelBundle, TokenizerPair};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output, SharedBuffer};

use super::checkpoint::save_model;
use super::config::ValidationOptions;
use super::decoder_settings::DecoderSettings;
use super::metric::Metric;
use super::model_files::ModelFiles;
use super::validation_script::ValidationScript;
use crate::data::ParallelCorpus;
use crate::error::{Error, Result};
use crate::parameters::ParameterLayout;

/// Returns the model to validate. `values` are its parameters as `layout` arranges them.
pub fn build_model(
    architecture: &Architecture,
    layout: &ParameterLayout,
    values: &[f32],
) -> miriam_nmt::Result<Model> {
    Model::with_values(architecture.clone(), |spec| {
        let parameter = layout.get(&spec.name).expect("a parameter of the layout");
        values[parameter.range()].to_vec()
    })
}

/// The cross-entropy of a corpus, as a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropySums {
    /// The sum over all target tokens, in nats.
    pub sum: f64,
    /// The number of sentences.
    pub sentences: usize,
    /// The number of target tokens, `</s>` included.
    pub tokens: usize,
}

impl CrossEntropySums {
    /// Returns the value of a metric that derives from cross-entropy.
    fn metric(&self, metric: Metric) -> f64 {
        let per_token = self.sum / self.tokens.max(1) as f64;
        match metric {
            Metric::CrossEntropySum => self.sum,
            Metric::CrossEntropy => self.sum / self.sentences.max(1) as f64,
            Metric::Perplexity => per_token.exp(),
            _ => per_token,
        }
    }
}

/// Returns the cross-entropy of a corpus by a network. `threads` threads score batches of
/// `mini_batch` sentences. Their sums are added in the order of the corpus, so the result does not
/// depend on the number of threads.
///
/// # Errors
/// If the network cannot score a batch.
pub fn cross_entropy(
    network: &Network,
    corpus: &ParallelCorpus,
    mini_batch: usize,
    threads: usize,
) -> miriam_nmt::Result<CrossEntropySums> {
    let num_batches = corpus.len().div_ceil(mini_batch.max(1));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut scorer = network.scorer()?;
        let mut found = Vec::new();
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch >= num_batches {
                return Ok::<_, miriam_nmt::Error>(found);
            }
            let range = batch * mini_batch..corpus.len().min((batch + 1) * mini_batch);
            let sources: Vec<&[u32]> = range.clone().map(|index| corpus.source(index)).collect();
            let targets: Vec<&[u32]> = range.map(|index| corpus.target(index)).collect();
            let scores = scorer.score(&sources, &targets)?;
            let sum = scores.iter().flatten().map(|&score| -f64::from(score)).sum::<f64>();
            found.push((batch, sum));
        }
    };
    let mut sums = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut all = work()?;
        for thread in threads {
            match thread.join() {
                Ok(found) => all.extend(found?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, miriam_nmt::Error>(all)
    })?;
    sums.sort_unstable_by_key(|(batch, _)| *batch);
    Ok(CrossEntropySums {
        sum: sums.iter().map(|(_, sum)| sum).sum(),
        sentences: corpus.len(),
        tokens: corpus.num_tokens()[1],
    })
}

/// A validation set: token ids for cross-entropy, and text for metrics of translations.
pub struct ValidationSet {
    /// The sentence pairs as token ids.
    pub corpus: ParallelCorpus,
    /// The lines of the source, with line ends.
    pub source_text: Vec<u8>,
    /// The lines of the target, which are the references.
    pub references: Vec<String>,
    /// Whether lines are tokens of the vocabulary, which are not segmented.
    pub is_tokenized: bool,
    /// Vocabularies and segmentation of both sides.
    pub tokenizers: TokenizerPair,
}

impl ValidationSet {
    /// Returns the value of a metric that compares translations with the references.
    fn score(&self, metric: Metric, translations: &Translations) -> Result<f64> {
        let is_segmented = metric == Metric::BleuSegmented;
        if !is_segmented && !self.is_tokenized {
            return score_text(metric, &translations.lines, &self.references);
        }
        let mut scratch = TokenizerScratch::default();
        let mut target = TextTokenizer::new(&self.tokenizers, 1);
        target.input_is_tokenized = self.is_tokenized;
        let references = self.references.iter().map(|text| {
            let ids = target.encode(text.as_bytes(), &mut scratch).ids;
            if is_segmented { number_words(&ids) } else { decode(&target, &ids) }
        });
        let references: Vec<String> = references.collect();
        let translations = if is_segmented { &translations.ids } else { &translations.lines };
        score_text(metric, translations, &references)
    }

    /// Translates the set and also writes the translations to the file `path`.
    fn translate(
        &self,
        options: &ValidationOptions,
        model: Model,
        threads: usize,
        path: &Path,
    ) -> Result<Translations> {
        let bundle = ModelBundle {
            path: PathBuf::from("(the model in training)"),
            format: "model in training".into(),
            semantics: DecodingSemantics::Marian,
            files: Vec::new(),
            models: vec![model],
            tokenizers: Some(self.tokenizers.clone()),
            shortlist_generator: None,
            shortlist_path: None,
            is_for_browsers: false,
            settings: DecoderConfig::default(),
        };
        let mut translation = TranslationOptions::for_bundle(&bundle, None);
        translation.precision = options.precision;
        translation.search.beam_size = options.beam_size;
        translation.search.length_penalty = options.normalize;
        translation.search.max_length_factor = options.max_length_factor;
        translation.allow_unknown = options.allows_unknown;
        translation.threads = threads;
        translation.mini_batch = options.mini_batch;
        translation.input.max_length = options.max_length;
        translation.input.crop = true;
        translation.input.is_tokenized = self.is_tokenized;
        translation.output.as_pieces = true;
        let translator =
            Translator::new(bundle, translation, &Arc::new(Autotuner::new(Cpu::detect())))?;
        let text = Cursor::new(self.source_text.clone());
        let lines = Lines::new(Input::from_reader(text, "the validation set", None)?);
        let pieces = SharedBuffer::default();
        let output = Output::from_writer(pieces.clone(), "the translations of the validation set")?;
        let source = SourceText { lines, prefixes: None };
        let (stop, mut ignore) = (CancellationToken::new(), |_: &_| Ok(()));
        translator.translate(source, false, output, &stop, &NoProgress, &mut ignore)?;
        drop(translator);
        let translations = self.read_pieces(&pieces.take());
        let mut output = Output::create_atomic(path)?;
        for line in &translations.lines {
            output.write(line.as_bytes())?;
            output.write(b"\n")?;
        }
        output.finish()?;
        Ok(translations)
    }

    /// Parses lines of target pieces separated by spaces.
    fn read_pieces(&self, text: &[u8]) -> Translations {
        let target = TextTokenizer::new(&self.tokenizers, 1);
        let vocabulary = &target.vocabulary;
        let mut translations = Translations::default();
        for line in text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n') {
            let pieces = line.split(|&byte| byte == b' ').filter(|piece| !piece.is_empty());
            let ids: Vec<u32> =
                pieces.map(|piece| vocabulary.find(piece).unwrap_or(vocabulary.unk_id())).collect();
            translations.lines.push(decode(&target, &ids));
            translations.ids.push(number_words(&ids));
        }
        translations
    }
}

/// The translations of a validation set.
#[derive(Default)]
struct Translations {
    /// The translations as text.
    lines: Vec<String>,
    /// Their token ids, as decimal numbers separated by spaces, for [`Metric::BleuSegmented`].
    ids: Vec<String>,
}

/// Returns the text of ids.
fn decode(target: &TextTokenizer, ids: &[u32]) -> String {
    let mut words = Vec::new();
    target.decode(ids, |_| None, &mut words);
    String::from_utf8_lossy(&words).into_owned()
}

/// Returns ids as decimal numbers separated by spaces, to be compared as words.
fn number_words(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the corpus score of `lines` by a metric of translations. As in Marian, BLEU is not
/// smoothed: it is 0 if no n-gram of some order matches.
fn score_text(metric: Metric, lines: &[String], references: &[String]) -> Result<f64> {
    let mut bleu = Bleu { smoothing: Smoothing::None, ..Bleu::default() };
    let text_metric: &dyn TextMetric = match metric {
        Metric::Chrf => &Chrf::default(),
        Metric::BleuSegmented => {
            bleu.tokenizer = Tokenizer::None;
            &bleu
        }
        _ => &bleu,
    };
    let statistics = corpus_statistics(text_metric, lines, &[references])?;
    Ok(corpus_score(text_metric, &statistics, 1).value)
}

/// The model to validate.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// The architecture that the parameters belong to.
    pub architecture: &'a Architecture,
    /// The range of each parameter in `values`.
    pub layout: &'a ParameterLayout,
    /// All parameters, a flat vector of `layout`.
    pub values: &'a [f32],
}

impl Candidate<'_> {
    fn model(&self) -> miriam_nmt::Result<Model> {
        build_model(self.architecture, self.layout, self.values)
    }
}

/// The metrics of validation and the data that they need.
pub struct Validator<'a> {
    /// The metrics and the options of decoding.
    pub options: &'a ValidationOptions,
    /// The validation set, if any metric needs one.
    pub set: Option<&'a ValidationSet>,
    /// The files of the training run. The model is saved beside them for a validation script.
    pub files: &'a ModelFiles,
    /// The settings of the decoder configuration that is saved with the model for a script.
    pub decoder: &'a DecoderSettings,
    /// The number of threads.
    pub threads: usize,
}

impl Validator<'_> {
    /// Returns the value of each metric for a model; `None` for the metric `translation` without a
    /// scoring script. Translations are written to the file `translations`.
    ///
    /// # Errors
    /// If a metric lacks its validation set or script, the model cannot translate or score, a file
    /// cannot be written, or the script fails.
    pub fn validate(
        &self,
        candidate: Candidate<'_>,
        translations: &Path,
    ) -> Result<Vec<Option<f64>>> {
        let metrics = &self.options.metrics;
        let needed = metrics.iter().find(|metric| metric.needs_validation_set());
        let known = match (needed, self.set) {
            (None, _) => None,
            (Some(_), Some(set)) => Some(self.measure(set, candidate, translations)?),
            (Some(metric), None) => {
                let name = metric.name();
                return Err(Error::usage(format!("--valid-sets is needed for {name}")));
            }
        };
        let script = self.options.script.as_ref();
        let values = metrics.iter().map(|&metric| match (metric, script, &known) {
            (Metric::Script, ..) | (_, _, None) => self.score_model(script, candidate).map(Some),
            (Metric::Translation, None, _) => Ok(None),
            (Metric::Translation, Some(script), _) => script.score(Some(translations)).map(Some),
            (_, _, Some((set, _, found))) if metric.needs_translations() => {
                set.score(metric, found).map(Some)
            }
            (_, _, Some((_, sums, _))) => Ok(Some(sums.metric(metric))),
        });
        values.collect()
    }

    /// Computes the cross-entropy and the translations of the set if a metric needs them; otherwise
    /// they are empty.
    fn measure<'s>(
        &self,
        set: &'s ValidationSet,
        candidate: Candidate<'_>,
        path: &Path,
    ) -> Result<(&'s ValidationSet, CrossEntropySums, Translations)> {
        let options = self.options;
        let needed = options.metrics.iter().filter(|metric| metric.needs_validation_set());
        let (translation_metrics, entropy_metrics): (Vec<&Metric>, Vec<&Metric>) =
            needed.partition(|metric| metric.needs_translations());
        // One model serves both kinds of metrics. Its network is dropped before the translator
        // builds its own.
        let model = candidate.model()?;
        let (mut sums, mut translated) = (CrossEntropySums::default(), Translations::default());
        if !entropy_metrics.is_empty() {
            let path = Path::new("(the model in training)");
            let network = Network::load(&model, path, options.precision)?;
            sums = cross_entropy(&network, &set.corpus, options.mini_batch, self.threads)?;
        }
        if !translation_metrics.is_empty() {
            translated = set.translate(options, model, self.threads, path)?;
        }
        Ok((set, sums, translated))
    }

    /// Returns the cross-entropy of a sample of the training text, in nats per target token.
    ///
    /// # Errors
    /// If the model cannot score the sample.
    pub fn training_cross_entropy(
        &self,
        candidate: Candidate<'_>,
        sample: &ParallelCorpus,
    ) -> Result<f64> {
        let path = Path::new("(the model in training)");
        let network = Network::load(&candidate.model()?, path, self.options.precision)?;
        let sums = cross_entropy(&network, sample, self.options.mini_batch, self.threads)?;
        Ok(sums.metric(Metric::CrossEntropyWords))
    }

    /// Saves the model and its decoder configuration, and returns the score that the script prints.
    fn score_model(
        &self,
        script: Option<&ValidationScript>,
        candidate: Candidate<'_>,
    ) -> Result<f64> {
        let Some(script) = script else {
            return Err(Error::usage("--valid-metrics valid-script needs --valid-script-path"));
        };
        let written = self.files.validated();
        let Candidate { architecture, layout, values } = candidate;
        save_model(&written.model, architecture, layout, values)?;
        self.decoder.write(&written.decoder_config(), &written.model)?;
        script.score(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bleu_is_not_smoothed() {
        let lines = |text: &str| vec![text.to_owned()];
        let reference = lines("a b c d e");
        for metric in [Metric::Bleu, Metric::BleuDetok, Metric::BleuSegmented] {
            let score = |text: &str| score_text(metric, &lines(text), &reference).unwrap();
            assert!((score("a b c d e") - 100.0).abs() < 1e-9);
            // No four words in a row match.
            assert_eq!(score("a b c x e"), 0.0);
        }
        assert!(score_text(Metric::Chrf, &lines("a b c x e"), &reference).unwrap() > 0.0);
    }
}
