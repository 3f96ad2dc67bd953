//! Requests in the engine: their sentences, options and results.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use miriam_decoder::SearchWidth;
use miriam_nmt::LanguagePairTokens;
use miriam_nmt::translate::DecodingSettings;
pub use miriam_nmt::translate::SentenceText as Sentence;
use miriam_textio::CancellationToken;
use miriam_textio::fields::split_words;
use miriam_textproc::{Link, TokenLinks};
use tokio::sync::oneshot;

use crate::metrics::Outcome;
use crate::refusal::Refusal;

/// Options of the sentences of a request. Sentences with the same options form a class, and share
/// the batches of neural models.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestOptions {
    /// Whether sentences are running text, to be prepared for the model; otherwise they are lines
    /// of the form that the command line reads.
    pub raw: bool,
    /// Translations per sentence; 0 and 1 give only the best one.
    pub n_best: usize,
    /// Whether all translations must have different words.
    pub distinct: bool,
    /// The language tokens for a multilingual neural model.
    pub languages: LanguagePairTokens,
    /// Decoding options that differ from those of the model, for neural models.
    pub settings: DecodingSettings,
    /// Whether scores are wanted.
    pub scores: bool,
    /// Whether the values of features are wanted, for phrase-based models. Lists of several
    /// translations always have them.
    pub features: bool,
    /// Whether alignments are wanted.
    pub alignment: bool,
    /// The width of the search, for phrase-based models.
    pub width: SearchWidth,
    /// Whether the search graph is wanted, for phrase-based models.
    pub graph: bool,
    /// Whether the translation options are wanted, for phrase-based models.
    pub translation_options: bool,
    /// Whether only the output lines of the command line are wanted.
    pub lines: bool,
    /// Whether the prefix of each sentence is a translation to be scored.
    pub given: bool,
}

/// A phrase that a search may use for a span of the source.
#[derive(Clone, Debug, Default)]
pub struct TranslationOption {
    /// First and last source token.
    pub source: (u32, u32),
    /// The words of the target phrase.
    pub words: Vec<Vec<u8>>,
    /// The weighted score, with an estimate of the language-model scores.
    pub future_score: f32,
    /// The values of all features in the order of the model; 0 for those that depend on the
    /// context.
    pub values: Vec<f32>,
    /// The values of tuned features by name.
    pub features: Vec<(String, Vec<f32>)>,
}

/// A sentence after its translation.
#[derive(Clone, Debug, Default)]
pub struct SentenceResult {
    /// The tokens of the source, as the model saw them.
    pub source: Vec<Vec<u8>>,
    /// The translations, best first. There is at least one, which may be empty, unless only output
    /// lines are wanted or a given translation could not be scored.
    pub translations: Vec<Hypothesis>,
    /// The search graph, a JSON object.
    pub graph: Option<Vec<u8>>,
    /// The translation options, where they are wanted.
    pub options: Vec<TranslationOption>,
    /// The output lines of the command line, where they are wanted.
    pub lines: Vec<u8>,
    /// The errors of the sentence.
    pub errors: Vec<SentenceError>,
}

impl SentenceResult {
    /// Returns the error that the sentence has in place of a translation.
    pub fn fatal_error(&self) -> Option<&SentenceError> {
        self.errors.iter().find(|error| error.kind == "malformed")
    }

    /// Returns how many tokens of the source are not in the sentence: one if the model begins its
    /// sentences with the token `tag`, which may be empty.
    pub fn num_tags(&self, tag: &str) -> usize {
        let first = self.source.first();
        usize::from(!tag.is_empty() && first.is_some_and(|first| first == tag.as_bytes()))
    }
}

/// A translation.
#[derive(Clone, Debug, Default)]
pub struct Hypothesis {
    /// The text.
    pub text: Vec<u8>,
    /// The target tokens.
    pub tokens: Vec<Vec<u8>>,
    /// The score by which translations are ranked; higher is better.
    pub score: f32,
    /// The score of each token, for neural models.
    pub word_scores: Vec<f32>,
    /// Pairs of source and target token.
    pub alignment: Vec<(u32, u32)>,
    /// The attention of target tokens to source tokens, for neural models: source, target, weight.
    pub attention: Vec<(u32, u32, f32)>,
    /// Its phrases in target order, for phrase-based models.
    pub phrases: Vec<Phrase>,
    /// The links through a pivot language, in place of attention and phrases.
    pub pivot_links: Option<TokenLinks>,
    /// The values of each feature, by name, in the order of the model.
    pub features: Vec<(String, Vec<f32>)>,
}

impl Hypothesis {
    /// Returns the links of its tokens with those of the source.
    pub fn links(&self) -> TokenLinks {
        if let Some(links) = &self.pivot_links {
            return links.clone();
        }
        let points = self.alignment.iter().copied();
        match &self.phrases[..] {
            [] => TokenLinks::from_tokens(points, self.attention.iter().copied()),
            phrases => TokenLinks::from_phrases(points, phrases.iter().map(Phrase::spans)),
        }
    }
}

/// A phrase of a translation: first and last positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// First and last source token.
    pub source: (u32, u32),
    /// First and last target token; the last is one less than the first in an empty phrase.
    pub target: (i64, i64),
}

impl Phrase {
    /// Returns the positions of its source and target tokens.
    pub fn spans(&self) -> Link {
        fn position(number: i64) -> usize {
            usize::try_from(number).unwrap_or(0)
        }
        let source = self.source.0 as usize..self.source.1 as usize + 1;
        (source, position(self.target.0)..position(self.target.1 + 1))
    }
}

/// An error or a note about a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceError {
    /// A word for the kind, such as `malformed` or `time-limit`.
    pub kind: &'static str,
    /// What happened.
    pub reason: String,
}

/// The reason why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was cancelled.
    Cancelled,
    /// It took too long.
    Deadline,
    /// A sentence made its worker panic.
    Panicked,
    /// The model does not support an option.
    Refused(String),
    /// A model file is damaged, or a device failed.
    Model(String),
}

impl Failure {
    /// Returns the outcome that the failure counts as.
    pub fn outcome(&self) -> Outcome {
        match self {
            Failure::Cancelled => Outcome::Cancelled,
            Failure::Deadline => Outcome::Timeout,
            Failure::Panicked | Failure::Refused(_) | Failure::Model(_) => Outcome::Error,
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Deadline => Refusal::Deadline,
            Failure::Cancelled => Refusal::Unavailable,
            Failure::Refused(reason) => Refusal::Invalid(reason),
            Failure::Panicked => Refusal::Internal("a worker failed on a sentence".into()),
            Failure::Model(reason) => Refusal::Internal(reason),
        }
    }
}

/// The results of a request, with times.
#[derive(Debug)]
pub struct Reply {
    /// A result for each sentence.
    pub outcome: Result<Vec<SentenceResult>, Failure>,
    /// The time from the request to the search of its first sentence.
    pub queued: Duration,
    /// The time from the start of that search to the reply.
    pub searched: Duration,
}

impl Reply {
    /// Returns the reply of a request that the engine dropped, for example when the engine ends.
    fn none() -> Self {
        let outcome = Err(Failure::Cancelled);
        Reply { outcome, queued: Duration::ZERO, searched: Duration::ZERO }
    }
}

/// A request in the engine.
pub(super) struct Request {
    pub sentences: Vec<Sentence>,
    pub options: RequestOptions,
    pub deadline: Instant,
    pub cancellation: CancellationToken,
    pub arrived: Instant,
    progress: Mutex<Progress>,
    /// The outcome of the sentences that remain, set when nobody waits for the reply any more.
    abandoned: Arc<OnceLock<Outcome>>,
}

struct Progress {
    results: Vec<Option<SentenceResult>>,
    missing: usize,
    started: Option<Instant>,
    reply: Option<oneshot::Sender<Reply>>,
}

/// A handle of a request in the engine. Dropping it cancels the request.
pub struct Pending {
    receiver: oneshot::Receiver<Reply>,
    cancellation: CancellationToken,
    deadline: Instant,
    /// The same cell as in the request.
    abandoned: Arc<OnceLock<Outcome>>,
}

impl Request {
    /// Creates a request and the handle for its reply. A request without sentences is answered at
    /// once.
    pub fn new(
        sentences: Vec<Sentence>,
        options: RequestOptions,
        deadline: Instant,
    ) -> (Arc<Self>, Pending) {
        let (sender, receiver) = oneshot::channel();
        let cancellation = CancellationToken::new();
        let results = vec![None; sentences.len()];
        let missing = results.len();
        let progress = Progress { results, missing, started: None, reply: Some(sender) };
        let abandoned = Arc::default();
        let request = Request {
            sentences,
            options,
            deadline,
            cancellation: cancellation.clone(),
            arrived: Instant::now(),
            progress: Mutex::new(progress),
            abandoned: Arc::clone(&abandoned),
        };
        if missing == 0 {
            request.reply(&mut request.lock(), Ok(()));
        }
        (Arc::new(request), Pending { receiver, cancellation, deadline, abandoned })
    }

    /// Returns the number of words of sentence `index`, plus one for its end.
    pub fn sentence_words(&self, index: usize) -> usize {
        split_words(&self.sentences[index].text).count() + 1
    }

    /// Returns the number of words of all sentences, plus one for the end of each.
    pub fn words(&self) -> usize {
        (0..self.sentences.len()).map(|index| self.sentence_words(index)).sum()
    }

    /// Whether somebody waits for the reply.
    pub fn is_wanted(&self) -> bool {
        !self.cancellation.is_cancelled()
    }

    /// Returns the outcome of the sentences that are dropped.
    pub fn dropped_outcome(&self) -> Outcome {
        self.abandoned.get().copied().unwrap_or(Outcome::Cancelled)
    }

    /// Records that a search begins.
    pub fn start(&self) {
        self.lock().started.get_or_insert_with(Instant::now);
    }

    /// Stores the result of sentence `index`.
    pub fn finish(&self, index: usize, result: SentenceResult) {
        let mut progress = self.lock();
        // A cancelled request keeps no results.
        let Some(place) = progress.results.get_mut(index) else { return };
        if place.replace(result).is_none() {
            progress.missing -= 1;
            if progress.missing == 0 {
                self.reply(&mut progress, Ok(()));
            }
        }
    }

    /// Fails the request.
    pub fn fail(&self, failure: Failure) {
        // Only the first reason is kept.
        let _ = self.abandoned.set(failure.outcome());
        self.cancellation.cancel();
        self.reply(&mut self.lock(), Err(failure));
    }

    fn reply(&self, progress: &mut Progress, outcome: Result<(), Failure>) {
        let Some(sender) = progress.reply.take() else { return };
        let results = std::mem::take(&mut progress.results);
        let started = progress.started.unwrap_or_else(Instant::now);
        let reply = Reply {
            outcome: outcome.map(|()| results.into_iter().flatten().collect()),
            queued: started.saturating_duration_since(self.arrived),
            searched: started.elapsed(),
        };
        // The client may have disconnected.
        let _ = sender.send(reply);
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Waits for the reply.
    pub async fn reply(mut self) -> Reply {
        (&mut self.receiver).await.unwrap_or_else(|_| Reply::none())
    }

    /// Works like [`Pending::reply`], on a thread that serves no sockets.
    pub fn blocking_reply(mut self) -> Reply {
        let (_, closed) = oneshot::channel();
        let receiver = std::mem::replace(&mut self.receiver, closed);
        receiver.blocking_recv().unwrap_or_else(|_| Reply::none())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let is_late = Instant::now() >= self.deadline;
        let outcome = if is_late { Outcome::Timeout } else { Outcome::Cancelled };
        // A request that has failed keeps its reason.
        let _ = self.abandoned.set(outcome);
        self.cancellation.cancel();
    }
}
