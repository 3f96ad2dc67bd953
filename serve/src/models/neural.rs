//! Neural models in the engine. A worker translates a running batch, and sentences of all requests
//! with the same options join it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use miriam_nmt::score::Scorer;
use miriam_nmt::translate::{
    FinishedSentence, SentenceOptions, SentenceSource, SentenceText, TranslationSession, Translator,
};

use crate::engine::{
    Backend, Failure, Hypothesis, RequestOptions, SentenceError, SentenceResult, Task, Worker,
};
use crate::metrics::Outcome;

/// A neural model with its options.
pub struct NeuralModel {
    translator: Arc<Translator>,
    /// A token such as `>>fra<<` that begins every source sentence, with a space.
    prefix: Vec<u8>,
}

/// The memory of a worker, which must not be used again after a panic.
#[derive(Default)]
struct Memory {
    session: Option<TranslationSession>,
    scorer: Option<Scorer>,
}

/// The sentences of one batch of a worker, from the first until the worker leaves the class.
struct Batch<'a> {
    worker: &'a Worker,
    options: RequestOptions,
    /// The prefix of each source sentence, such as `>>fra<< `.
    prefix: &'a [u8],
    /// The size of the largest batch, if more sentences may join.
    places: Option<usize>,
    started: Instant,
    next_id: u64,
    /// The first sentences.
    first: Vec<Task>,
    active: HashMap<u64, (Task, Instant)>,
}

impl NeuralModel {
    /// Creates the model of `translator`; each source sentence begins with `prefix_token`.
    pub fn new(translator: Arc<Translator>, prefix_token: Option<&str>) -> Self {
        let prefix = prefix_token.map(|token| format!("{token} ").into_bytes()).unwrap_or_default();
        NeuralModel { translator, prefix }
    }

    /// Returns the translator for sentences with `options`.
    fn variant(&self, options: RequestOptions) -> miriam_nmt::Result<Translator> {
        let translator = self.translator.for_languages(options.languages)?;
        if options.lines {
            return Ok(translator);
        }
        translator.for_sentences(SentenceOptions {
            settings: options.settings,
            n_best: options.n_best,
            scores: options.scores,
            alignment: options.alignment,
        })
    }

    /// Translates `first` and, if more may join, sentences that arrive meanwhile. Returns the
    /// sentences that are left after a panic.
    fn run_batch(
        &self,
        worker: &Worker,
        session: &mut TranslationSession,
        first: Task,
        joins: bool,
    ) -> Result<(), Vec<Task>> {
        let options = first.options();
        let translator = match self.variant(options) {
            Ok(translator) => translator,
            Err(error) => {
                worker.fail(first, Failure::Refused(error.to_string()), Instant::now());
                return Ok(());
            }
        };
        let mut batch = Batch {
            worker,
            options,
            prefix: &self.prefix,
            places: joins.then(|| translator.batch_size()),
            started: Instant::now(),
            next_id: 0,
            first: vec![first],
            active: HashMap::new(),
        };
        let run = AssertUnwindSafe(|| translator.translate_sentences(session, &mut batch));
        let outcome = catch_unwind(run);
        let left = batch.first.into_iter().chain(batch.active.into_values().map(|(task, _)| task));
        let failure = match outcome {
            Ok(Ok(())) => Failure::Cancelled,
            Ok(Err(error)) => Failure::Model(error.to_string()),
            Err(_) => return Err(left.collect()),
        };
        left.for_each(|task| worker.fail(task, failure.clone(), batch.started));
        Ok(())
    }

    /// Scores the given translations of `first` and of sentences with the same options. Returns the
    /// sentences if one of them makes the worker panic.
    fn score_given(
        &self,
        worker: &Worker,
        scorer: &mut Scorer,
        first: Task,
        joins: bool,
    ) -> Result<(), Vec<Task>> {
        let (started, options) = (Instant::now(), first.options());
        let room =
            if joins { worker.fair_share(options).min(self.translator.batch_size()) } else { 0 };
        let more = (0..room).map_while(|_| worker.pop(Some(options)));
        let tasks: Vec<Task> = std::iter::once(first).chain(more).collect();
        let (tasks, late): (Vec<Task>, Vec<Task>) =
            tasks.into_iter().partition(|task| started < task.deadline());
        late.into_iter().for_each(|task| worker.fail(task, Failure::Deadline, started));
        worker.record_batch(tasks.len());
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = tasks
            .iter()
            .map(|task| {
                let sentence = task.sentence();
                ([&self.prefix[..], &sentence.text].concat(), sentence.prefix.clone())
            })
            .collect();
        let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(s, t)| (&s[..], &t[..])).collect();
        let run = AssertUnwindSafe(|| {
            self.translator.for_languages(options.languages)?.score_pairs(scorer, &pairs)
        });
        let scores = match catch_unwind(run) {
            Ok(Ok(scores)) => scores,
            Ok(Err(error)) => {
                let failure = Failure::Model(error.to_string());
                tasks.into_iter().for_each(|task| worker.fail(task, failure.clone(), started));
                return Ok(());
            }
            Err(_) => return Err(tasks),
        };
        for (task, score) in tasks.into_iter().zip(scores) {
            let mut result = SentenceResult::default();
            match score {
                Ok(score) => result.translations.push(Hypothesis {
                    tokens: score.tokens,
                    score: score.log_probability,
                    word_scores: score.token_scores,
                    ..Hypothesis::default()
                }),
                Err(reason) => result.errors.push(SentenceError { kind: "malformed", reason }),
            }
            worker.record(Outcome::Ok, started);
            task.finish(result);
        }
        Ok(())
    }

    /// Runs `task`, and the tasks that may join it, in the memory of a worker.
    fn work(
        &self,
        worker: &Worker,
        memory: &mut Memory,
        task: Task,
        joins: bool,
    ) -> Result<(), Vec<Task>> {
        fn failed(worker: &Worker, task: Task, error: miriam_nmt::Error) -> Result<(), Vec<Task>> {
            worker.fail(task, Failure::Model(error.to_string()), Instant::now());
            Ok(())
        }
        if task.options().given {
            let scorer = match &mut memory.scorer {
                Some(scorer) => scorer,
                None => match self.translator.scorer() {
                    Ok(new) => memory.scorer.insert(new),
                    Err(error) => return failed(worker, task, error),
                },
            };
            return self.score_given(worker, scorer, task, joins);
        }
        let session = match &mut memory.session {
            Some(session) => session,
            None => match self.translator.session() {
                Ok(new) => memory.session.insert(new),
                Err(error) => return failed(worker, task, error),
            },
        };
        self.run_batch(worker, session, task, joins)
    }
}

/// The number of threads for each GPU: one prepares text and reads results while the GPU computes
/// for the other.
const THREADS_OF_GPU: usize = 2;

impl Backend for NeuralModel {
    fn max_threads(&self) -> Option<usize> {
        self.translator.num_gpus().map(|gpus| THREADS_OF_GPU * gpus)
    }

    fn serve(&self, worker: &Worker) {
        let mut memory = Memory::default();
        while worker.wait() {
            let _permit = worker.permit();
            let Some(task) = worker.pop(None) else { continue };
            let mut waiting = vec![(task, true)];
            while let Some((task, joins)) = waiting.pop() {
                let Err(left) = self.work(worker, &mut memory, task, joins) else { continue };
                memory = Memory::default();
                if joins {
                    // One of the sentences made the worker panic; running each alone shows which.
                    waiting.extend(left.into_iter().map(|task| (task, false)));
                    continue;
                }
                left.into_iter()
                    .for_each(|task| worker.fail(task, Failure::Panicked, Instant::now()));
            }
        }
    }
}

impl SentenceSource for Batch<'_> {
    fn next_sentences(&mut self, active: usize) -> Option<Vec<(u64, SentenceText)>> {
        let mut tasks = std::mem::take(&mut self.first);
        if let Some(places) = self.places {
            let idle = active == 0 && tasks.is_empty();
            if tasks.is_empty() && self.worker.must_yield(self.options, self.started, idle) {
                return None;
            }
            let share = self.worker.fair_share(self.options).max(1);
            let room = places.saturating_sub(self.active.len() + tasks.len()).min(share);
            tasks.extend((0..room).map_while(|_| self.worker.pop(Some(self.options))));
        }
        if tasks.is_empty() {
            return (active > 0 && self.places.is_some()).then(Vec::new);
        }
        let sentences = tasks.into_iter().map(|task| {
            let id = self.next_id;
            self.next_id += 1;
            let mut sentence = task.sentence().clone();
            sentence.number = task.index() as u64;
            if !self.prefix.is_empty() {
                sentence.text.splice(0..0, self.prefix.iter().copied());
            }
            self.active.insert(id, (task, Instant::now()));
            (id, sentence)
        });
        let sentences: Vec<_> = sentences.collect();
        self.worker.record_batch(self.active.len());
        Some(sentences)
    }

    fn is_wanted(&mut self, id: u64) -> bool {
        let Some((task, _)) = self.active.get(&id) else { return false };
        let failure = match (task.is_wanted(), Instant::now() < task.deadline()) {
            (true, true) => return true,
            (false, _) => Failure::Cancelled,
            (true, false) => Failure::Deadline,
        };
        if let Some((task, since)) = self.active.remove(&id) {
            self.worker.fail(task, failure, since);
        }
        false
    }

    fn finish(&mut self, id: u64, sentence: FinishedSentence<'_>) {
        #[cfg(test)]
        if let Some((task, _)) = self.active.get(&id) {
            assert!(!task.sentence().text.starts_with(b"panic in a test"));
        }
        let Some((task, since)) = self.active.remove(&id) else { return };
        let mut result = SentenceResult::default();
        if self.options.lines {
            result.lines = sentence.lines(task.index() as u64);
        } else {
            result.source = sentence.source_tokens();
            let translations = sentence.translations().into_iter();
            result.translations.extend(translations.map(|found| Hypothesis {
                text: found.text,
                tokens: found.tokens,
                score: found.score,
                word_scores: found.token_scores,
                alignment: found.alignment,
                attention: found.attention,
                features: match &found.model_scores[..] {
                    [] | [_] => Vec::new(),
                    scores => named_scores(scores),
                },
                ..Hypothesis::default()
            }));
        }
        let kinds = [("malformed", sentence.error()), ("cropped", sentence.warning())];
        for (kind, reason) in kinds {
            let reason = reason.map(str::to_owned);
            result.errors.extend(reason.map(|reason| SentenceError { kind, reason }));
        }
        self.worker.record(Outcome::Ok, since);
        task.finish(result);
    }
}

/// Returns the scores of the models of an ensemble, named as in n-best lists.
fn named_scores(scores: &[f32]) -> Vec<(String, Vec<f32>)> {
    scores.iter().enumerate().map(|(n, &score)| (format!("F{n}"), vec![score])).collect()
}
