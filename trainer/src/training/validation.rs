//! Validation (`training.md` A.12): the model as `nmt` runs it, on a set of known
//! translations.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use miriam_metrics::{
    Bleu, Chrf, Metric as TextMetric, Tokenizer, corpus_score, corpus_statistics,
};
use miriam_nmt::architecture::{Architecture, Model};
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::network::Network;
use miriam_nmt::packed::Precision;
use miriam_nmt::search::DecodingSemantics;
use miriam_nmt::translate::{
    SourceText, Tokenizer as TextTokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_nmt::{DecoderConfig, ModelBundle, TokenizerPair};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};
use serde::{Deserialize, Serialize};

use super::config::{Metric, ValidationOptions, ValidationReset};
use crate::data::ParallelCorpus;
use crate::error::Result;
use crate::parameters::ParameterLayout;

/// What validation has seen of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricState {
    /// The best value, as bits, since infinities are no JSON.
    best_bits: u64,
    /// Validations in turn without improvement.
    pub stalled: u64,
}

impl MetricState {
    /// Before the first validation.
    pub fn new(metric: Metric) -> Self {
        let worst = if metric.is_larger_better() { f64::NEG_INFINITY } else { f64::INFINITY };
        MetricState { best_bits: worst.to_bits(), stalled: 0 }
    }

    /// The best value so far.
    pub fn best(&self) -> f64 {
        f64::from_bits(self.best_bits)
    }

    /// Follows a new value. It is an improvement if it is strictly better; one of no more than
    /// `epsilon` stalls all the same, and moves the best value, as in Marian. NaN stalls.
    /// Gives whether the value is the best.
    pub fn follow(&mut self, metric: Metric, value: f64, epsilon: f64) -> bool {
        let gain =
            if metric.is_larger_better() { value - self.best() } else { self.best() - value };
        let is_best = gain > 0.0;
        if is_best {
            self.best_bits = value.to_bits();
        }
        self.stalled = if is_best && gain > epsilon { 0 } else { self.stalled + 1 };
        is_best
    }
}

/// Forgets what `reset` says of validations.
pub(super) fn reset_metrics(metrics: &mut [(String, MetricState)], reset: ValidationReset) {
    for (name, state) in metrics {
        match (reset, Metric::from_name(name)) {
            (ValidationReset::Nothing, _) => {}
            (ValidationReset::All, Some(metric)) => *state = MetricState::new(metric),
            (ValidationReset::Stalls, _) | (ValidationReset::All, None) => state.stalled = 0,
        }
    }
}

/// A model to be validated: an architecture with values of its parameters.
pub fn model_of(
    architecture: &Architecture,
    layout: &ParameterLayout,
    values: &[f32],
) -> miriam_nmt::Result<Model> {
    Model::with_values(architecture.clone(), |spec| {
        let parameter = layout.get(&spec.name).expect("a parameter of the layout");
        values[parameter.range()].to_vec()
    })
}

/// The sums of cross-entropy over a set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossEntropySums {
    /// In nats.
    pub sum: f64,
    /// Sentences.
    pub sentences: usize,
    /// Target tokens.
    pub tokens: usize,
}

impl CrossEntropySums {
    /// The value of a metric of cross-entropy.
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

/// The cross-entropy of a corpus by a network, batches over threads, added up in the order of
/// the corpus.
///
/// # Errors
/// Those of the network.
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

/// A validation set: ids, and the text for metrics of translations.
pub struct ValidationSet {
    /// The sentences as ids.
    pub corpus: ParallelCorpus,
    /// The lines of the source, with line ends.
    pub source_text: Vec<u8>,
    /// The lines of the target.
    pub references: Vec<String>,
    /// Vocabularies and segmentation of both sides.
    pub tokenizers: TokenizerPair,
}

impl ValidationSet {
    /// The values of all metrics for a model.
    ///
    /// # Errors
    /// Those of the model, and of the file of translations.
    pub fn validate(
        &self,
        options: &ValidationOptions,
        architecture: &Architecture,
        layout: &ParameterLayout,
        values: &[f32],
        threads: usize,
    ) -> Result<Vec<f64>> {
        let model = model_of(architecture, layout, values)?;
        let needs = |translations: bool| {
            options.metrics.iter().any(|metric| metric.needs_translations() == translations)
        };
        // One model for both, and its network is gone before that of the translator is made.
        let mut sums = CrossEntropySums::default();
        if needs(false) {
            let path = Path::new("(the model in training)");
            let network = Network::load(&model, path, Precision::F32)?;
            sums = cross_entropy(&network, &self.corpus, options.mini_batch, threads)?;
        }
        let mut translations = Translations::default();
        if needs(true) {
            translations = self.translate(options, model, threads)?;
        }
        let value = |&metric: &Metric| match metric {
            Metric::BleuSegmented => {
                let references: Vec<String> = {
                    let mut scratch = TokenizerScratch::default();
                    let target = TextTokenizer::new(&self.tokenizers, 1);
                    let ids = |text: &String| target.encode(text.as_bytes(), &mut scratch).ids;
                    self.references.iter().map(ids).map(|ids| number_words(&ids)).collect()
                };
                score_text(metric, &translations.ids, &references)
            }
            _ if metric.needs_translations() => {
                score_text(metric, &translations.lines, &self.references)
            }
            _ => Ok(sums.metric(metric)),
        };
        options.metrics.iter().map(value).collect()
    }

    /// The translations of the set. They are written to a file as well if one is asked for.
    fn translate(
        &self,
        options: &ValidationOptions,
        model: Model,
        threads: usize,
    ) -> Result<Translations> {
        let bundle = ModelBundle {
            path: PathBuf::from("(the model in training)"),
            format: "model in training".into(),
            semantics: DecodingSemantics::Marian,
            files: Vec::new(),
            models: vec![model],
            tokenizers: Some(self.tokenizers.clone()),
            shortlist_generator: None,
            settings: DecoderConfig::default(),
        };
        let mut translation = TranslationOptions::for_bundle(&bundle, None);
        translation.search.beam_size = options.beam_size;
        translation.search.length_penalty = options.normalize;
        translation.search.max_length_factor = options.max_length_factor;
        translation.allow_unknown = options.allows_unknown;
        translation.threads = threads;
        translation.mini_batch = options.mini_batch;
        translation.input.max_length = options.max_length;
        translation.input.crop = true;
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
        if let Some(path) = &options.translation_output {
            let mut output = Output::create(path)?;
            for line in &translations.lines {
                output.write(line.as_bytes())?;
                output.write(b"\n")?;
            }
            output.finish()?;
        }
        Ok(translations)
    }

    /// Translations from lines of pieces with spaces between them.
    fn read_pieces(&self, text: &[u8]) -> Translations {
        let target = TextTokenizer::new(&self.tokenizers, 1);
        let vocabulary = &target.vocabulary;
        let mut translations = Translations::default();
        for line in text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n') {
            let pieces = line.split(|&byte| byte == b' ').filter(|piece| !piece.is_empty());
            let ids: Vec<u32> =
                pieces.map(|piece| vocabulary.find(piece).unwrap_or(vocabulary.unk_id())).collect();
            let mut words = Vec::new();
            target.decode(&ids, |_| None, &mut words);
            translations.lines.push(String::from_utf8_lossy(&words).into_owned());
            translations.ids.push(number_words(&ids));
        }
        translations
    }
}

/// The translations of a validation set.
#[derive(Default)]
struct Translations {
    /// Text.
    lines: Vec<String>,
    /// Ids of pieces as numbers with spaces between them, for [`Metric::BleuSegmented`].
    ids: Vec<String>,
}

/// Ids as words of a text.
fn number_words(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn score_text(metric: Metric, lines: &[String], references: &[String]) -> Result<f64> {
    let plain;
    let text_metric: &dyn TextMetric = match metric {
        Metric::Chrf => &Chrf::default(),
        Metric::BleuSegmented => {
            plain = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
            &plain
        }
        _ => &Bleu::default(),
    };
    let references = [references.to_vec()];
    let statistics = corpus_statistics(text_metric, lines, &references)?;
    Ok(corpus_score(text_metric, &statistics, 1).value)
}

/// Bytes in memory that a writer of its own thread fills.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stall_and_improve_as_in_marian() {
        let mut state = MetricState::new(Metric::CrossEntropy);
        assert!(state.follow(Metric::CrossEntropy, 5.0, 0.0));
        assert!(!state.follow(Metric::CrossEntropy, 5.0, 0.0));
        assert!(!state.follow(Metric::CrossEntropy, f64::NAN, 0.0));
        assert_eq!((state.best(), state.stalled), (5.0, 2));
        // Better, but by less than epsilon: it stalls, and is the best all the same.
        assert!(state.follow(Metric::CrossEntropy, 4.9, 0.5));
        assert_eq!((state.best(), state.stalled), (4.9, 3));
        assert!(state.follow(Metric::CrossEntropy, 4.4, 0.5), "as much as epsilon is not more");
        assert_eq!((state.best(), state.stalled), (4.4, 4));
        assert!(state.follow(Metric::CrossEntropy, 3.5, 0.5));
        assert_eq!(state.stalled, 0);
        let mut bleu = MetricState::new(Metric::Bleu);
        assert!(bleu.follow(Metric::Bleu, 0.1, 0.0));
        assert!(bleu.follow(Metric::Bleu, 20.0, 0.0));
        assert!(!bleu.follow(Metric::Bleu, 19.0, 0.0));
    }
}
