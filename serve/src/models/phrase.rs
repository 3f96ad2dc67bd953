//! Phrase-based systems in the engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miriam_decoder::{
    Derivation, DetailOptions, Error, LineLimits, System, TranslatedPhrase, Translation,
    TranslationOption, Translator,
};
use miriam_textproc::TextProcessor;

use crate::engine::{
    self, Backend, Failure, Hypothesis, Phrase, RequestOptions, SentenceError, SentenceResult,
    Task, Worker,
};
use crate::metrics::Outcome;

/// A system, with the steps that turn running text into its input, and its output into running
/// text.
pub struct PhraseModel {
    system: Arc<System>,
    preparation: Option<TextProcessor>,
}

/// The translators of a thread: two, because one that keeps lattices is slower.
struct Translators<'s> {
    plain: Translator<'s>,
    detailed: Option<Translator<'s>>,
}

impl<'s> Translators<'s> {
    fn new(system: &'s System) -> Self {
        Translators { plain: Translator::new(system), detailed: None }
    }
}

impl PhraseModel {
    /// Creates the model of `system`.
    pub fn new(system: System, preparation: Option<TextProcessor>) -> Self {
        PhraseModel { system: Arc::new(system), preparation }
    }

    fn translate<'s>(
        &'s self,
        translators: &mut Translators<'s>,
        task: &Task,
    ) -> Result<SentenceResult, Failure> {
        let options = task.options();
        let wanted = DetailOptions {
            n_best: if options.n_best > 1 || options.features { options.n_best } else { 0 },
            distinct: options.distinct,
            search_graph: options.graph,
            options: options.translation_options,
        };
        let translator = if wanted.n_best > 0 || wanted.search_graph {
            translators.detailed.get_or_insert_with(|| Translator::new(&self.system))
        } else {
            &mut translators.plain
        };
        let time_limit = task.deadline().saturating_duration_since(Instant::now());
        translator.set_line_limits(LineLimits {
            width: options.width,
            time_limit: Some(time_limit.max(Duration::from_millis(1))),
            cancellation: Some(task.cancellation()),
        });
        let mut line = Vec::new();
        match &self.preparation {
            Some(steps) if options.raw => steps.preprocess(&task.sentence().text, &mut line),
            _ => line.extend_from_slice(&task.sentence().text),
        }
        #[cfg(test)]
        assert!(!line.starts_with(b"panic in a test"));
        let found = translator.translate_in_detail(&line, wanted);
        let source = translator.source_words(&line).map(<[u8]>::to_vec).collect();
        let mut result = SentenceResult { source, ..Default::default() };
        match found {
            Ok(found) => {
                result.graph = found.search_graph;
                let translation_options = found.options.into_iter();
                result.options = translation_options.map(|option| self.option(option)).collect();
                let best = found.best.map(|best| self.best_hypothesis(best, options));
                let list = found.n_best.into_iter().map(|entry| self.hypothesis(entry, options));
                result.translations.extend(list);
                if result.translations.is_empty() {
                    result.translations.push(best.unwrap_or_default());
                }
            }
            Err(Error::Line { reason }) => {
                result.translations.push(Hypothesis::default());
                result.errors.push(SentenceError { kind: "malformed", reason });
            }
            Err(Error::Cancelled) => return Err(Failure::Cancelled),
            Err(error) => return Err(Failure::Model(error.to_string())),
        }
        let errors = translator.take_line_errors().into_iter();
        result.errors.extend(
            errors.map(|error| SentenceError { kind: error.kind.name(), reason: error.reason }),
        );
        Ok(result)
    }

    fn best_hypothesis(&self, best: Translation, options: RequestOptions) -> Hypothesis {
        let Translation { score, phrases } = best;
        self.hypothesis(Derivation { score, phrases, values: Vec::new() }, options)
    }

    fn hypothesis(&self, derivation: Derivation, options: RequestOptions) -> Hypothesis {
        let Derivation { score, phrases: translated, values } = derivation;
        let (mut text, mut tokens) = (Vec::new(), Vec::new());
        let (mut phrases, mut alignment) = (Vec::new(), Vec::new());
        for TranslatedPhrase { source, words, alignment: points } in translated {
            let first = tokens.len() as u32;
            for word in &words {
                text.extend_from_slice(word);
                text.push(b' ');
            }
            tokens.extend(words);
            phrases.push(Phrase {
                source: (source.start, source.end.saturating_sub(1)),
                target: (i64::from(first), tokens.len() as i64 - 1),
            });
            let points = points.iter();
            alignment
                .extend(points.map(|&(s, t)| (source.start + u32::from(s), first + u32::from(t))));
        }
        if options.raw {
            let bare = text.strip_suffix(b" ").unwrap_or(&text).to_vec();
            text.clear();
            match &self.preparation {
                Some(steps) => steps.postprocess(&bare, &mut text),
                None => text = bare,
            }
        }
        let features = self.named_values(&values);
        Hypothesis { text, tokens, score, alignment, phrases, features, ..Hypothesis::default() }
    }

    /// Returns the values of each feature, by name; empty if `values` is empty.
    fn named_values(&self, values: &[f32]) -> Vec<(String, Vec<f32>)> {
        let features = self.system.features().iter().filter(|_| !values.is_empty());
        features
            .filter(|feature| feature.is_tuneable())
            .map(|feature| {
                let values = feature.tuned_components().map(|component| values[component]);
                (feature.name.clone(), values.collect())
            })
            .collect()
    }

    fn option(&self, option: TranslationOption) -> engine::TranslationOption {
        let TranslationOption { source, words, future_score, values } = option;
        engine::TranslationOption {
            source: (source.start, source.end.saturating_sub(1)),
            words,
            future_score,
            features: self.named_values(&values),
            values,
        }
    }
}

impl Backend for PhraseModel {
    fn serve(&self, worker: &Worker) {
        let mut translators = Translators::new(&self.system);
        while worker.wait() {
            let permit = worker.permit();
            let Some(task) = worker.pop(None) else { continue };
            let started = Instant::now();
            // After a panic, the translators are replaced.
            let run = AssertUnwindSafe(|| self.translate(&mut translators, &task));
            let outcome = catch_unwind(run);
            drop(permit);
            match outcome {
                Ok(Ok(result)) => {
                    let degraded = result.errors.iter().any(|error| error.kind == "time-limit");
                    let outcome = if degraded { Outcome::Degraded } else { Outcome::Ok };
                    worker.record(outcome, started);
                    task.finish(result);
                }
                Ok(Err(failure)) => worker.fail(task, failure, started),
                Err(_) => {
                    translators = Translators::new(&self.system);
                    worker.fail(task, Failure::Panicked, started);
                }
            }
        }
    }
}
