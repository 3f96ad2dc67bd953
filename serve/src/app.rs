//! State that all protocols share: the models, who may use them, and how sentences are translated.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use miriam_textio::fields::split_words;
use miriam_textproc::LanguageDetector;

use crate::access_log::AccessLog;
use crate::config::{Configuration, Limits, ModelKind};
use crate::engine::{Reply, RequestOptions, Sentence, SentenceResult};
use crate::http::client_address::Network;
use crate::keys::{Key, KeyError, Keys};
use crate::metrics::Metrics;
use crate::models::{Opener, Registry, Route};
use crate::pivot;
use crate::readiness::{BrokenModel, Readiness};
use crate::refusal::Refusal;
use crate::reload::ReloadSender;
use crate::request_record::set_key_name;
use crate::{Error, Result};

/// The state of a server.
pub struct App {
    /// The configuration that the server started with. A reload changes models, keys and the pivot.
    pub configuration: Configuration,
    /// Measurements.
    pub metrics: Arc<Metrics>,
    pub(crate) opener: Opener,
    pub(crate) access_log: Option<Arc<AccessLog>>,
    pub(crate) trusted_proxies: Vec<Network>,
    registry: RwLock<Arc<Registry>>,
    /// The keys, with their file.
    keys: RwLock<Option<(PathBuf, Arc<Keys>)>>,
    draining: AtomicBool,
    stopping: AtomicBool,
    generations: AtomicU64,
    requests: AtomicU64,
    reloads: OnceLock<ReloadSender>,
    reload_error: RwLock<Option<String>>,
    /// Settings that differ from those of the start.
    pending_settings: RwLock<Vec<&'static str>>,
}

/// Translated sentences, with the times of the engine.
pub(crate) struct Translated {
    pub sentences: Vec<SentenceResult>,
    pub queued: Duration,
    pub searched: Duration,
}

/// Returns the best translation of a sentence as text.
pub(crate) fn best_text(result: &SentenceResult) -> std::borrow::Cow<'_, str> {
    let best = result.translations.first().map(|best| &best.text[..]).unwrap_or_default();
    String::from_utf8_lossy(best)
}

impl App {
    /// Returns the state before any model is open.
    ///
    /// # Errors
    /// If the file of keys is missing or wrong, a trusted proxy is invalid, or the log cannot be
    /// opened.
    pub fn new(configuration: Configuration, opener: Opener) -> Result<Self> {
        let registry = Registry::loading(&configuration);
        let keys = configuration.api_keys.as_deref().map(Keys::read).transpose()?;
        let keys = configuration.api_keys.clone().zip(keys.map(Arc::new));
        let access_log = configuration.access_log.as_deref().map(AccessLog::open).transpose()?;
        Ok(App {
            access_log: access_log.map(Arc::new),
            trusted_proxies: configuration.networks()?,
            metrics: Arc::clone(&opener.metrics),
            opener,
            registry: RwLock::new(Arc::new(registry)),
            keys: RwLock::new(keys),
            draining: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            generations: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            reloads: OnceLock::new(),
            reload_error: RwLock::new(None),
            pending_settings: RwLock::default(),
            configuration,
        })
    }

    /// Returns the models.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the models of `configuration` that are new or changed, in its order, and serves
    /// them. If a model does not open, its previous version stays. Returns whether all opened.
    pub fn open_models(&self, configuration: &Configuration) -> bool {
        let before = self.registry();
        let mut opened = Registry::loading(configuration);
        let is_first = before.models.is_empty();
        for wanted in &configuration.models {
            let old = before.find(&wanted.name);
            opened.loading.retain(|name| *name != wanted.name);
            if let Some(old) = old.filter(|old| old.is_current(wanted)) {
                opened.models.push(Arc::clone(old));
                continue;
            }
            for file in old.iter().flat_map(|old| old.files.changed_in_place()) {
                tracing::warn!(
                    "{}: it was written in place while it is mapped; replace files of models \
                     by renaming new ones",
                    file.display()
                );
            }
            let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
            let started = Instant::now();
            match self.opener.open(wanted, generation) {
                Ok(model) => {
                    tracing::info!(
                        "model {}: {} is open in {:.2} s: generation {generation}, {}, {:.1} MB",
                        wanted.name,
                        wanted.path.display(),
                        started.elapsed().as_secs_f64(),
                        model.kind.name(),
                        model.files.bytes() as f64 / 1e6,
                    );
                    opened.models.push(Arc::new(model));
                }
                Err(error) => {
                    tracing::error!("{error}");
                    opened.broken.push((wanted.name.clone(), error.to_string()));
                    opened.models.extend(old.cloned());
                }
            }
            if is_first {
                // Each model is served as soon as it is open.
                self.set_registry(opened.clone());
            }
        }
        let all = opened.broken.is_empty();
        let languages = opened.languages();
        let detector = LanguageDetector::new(languages.iter().copied());
        let undetectable: Vec<&str> = detector.unknown_codes().collect();
        // A single language needs no detection.
        if languages.len() > 1 && !undetectable.is_empty() {
            tracing::warn!(
                "languages that cannot be detected, so that clients must name them: {}",
                undetectable.join(", ")
            );
        }
        self.set_registry(opened);
        all
    }

    fn set_registry(&self, registry: Registry) {
        *self.registry.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }

    pub(crate) fn set_reloads(&self, reloads: ReloadSender) {
        // Set once, by the server that has this state.
        let _ = self.reloads.set(reloads);
    }

    /// Returns the sender of requests for a reload.
    pub(crate) fn reloads(&self) -> Option<&ReloadSender> {
        self.reloads.get()
    }

    /// Reopens the log.
    pub fn reopen_log(&self) {
        if let Some(log) = &self.access_log {
            log.reopen();
        }
    }

    /// Reads the keys of a file. Without a file everybody may translate. What a key has used of its
    /// quota remains used.
    ///
    /// # Errors
    /// If the file is invalid; the previous keys stay.
    pub fn set_keys(&self, file: Option<&Path>) -> Result<(), Error> {
        let mut keys = file.map(Keys::read).transpose()?;
        let mut current = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() && keys.is_none() {
            tracing::warn!("the configuration no longer names keys: everybody may translate");
        }
        if let (Some(keys), Some((_, before))) = (&mut keys, &*current) {
            keys.continue_minutes(before);
        }
        *current = file.map(Path::to_owned).zip(keys.map(Arc::new));
        Ok(())
    }

    /// Remembers which settings of the file take effect only at the next start, and warns of them.
    pub(crate) fn set_pending_settings(&self, names: Vec<&'static str>) {
        if !names.is_empty() {
            let names = names.join(", ");
            tracing::warn!("{names}: changed in the configuration; takes effect after a restart");
        }
        *self.pending_settings.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Marks the server as not ready. It continues to serve.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Marks the server as stopping. Requests that have begun are finished; each is the last one of
    /// its connection.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Returns whether each model of the configuration is served, and what is wrong.
    pub fn readiness(&self) -> Readiness {
        let registry = self.registry();
        let generation = |name: &str| registry.find(name).map(|model| model.generation);
        let broken = registry.broken.iter().map(|(name, reason)| BrokenModel {
            name: name.clone(),
            reason: reason.clone(),
            serves: generation(name),
        });
        let loading = registry.loading.iter().filter(|name| generation(name).is_none());
        let reload_error = self.reload_error.read().unwrap_or_else(PoisonError::into_inner);
        let pending = self.pending_settings.read().unwrap_or_else(PoisonError::into_inner);
        Readiness {
            stopping: self.draining.load(Ordering::Acquire) || self.is_stopping(),
            loading: loading.cloned().collect(),
            broken: broken.collect(),
            reload_error: reload_error.clone(),
            pending_settings: pending.clone(),
        }
    }

    /// Remembers why the last reload of the configuration failed; `None` if it did not.
    pub(crate) fn set_reload_error(&self, reason: Option<String>) {
        *self.reload_error.write().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Returns a new number for a request.
    pub fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether keys are needed.
    pub fn needs_key(&self) -> bool {
        self.keys().is_some()
    }

    fn keys(&self) -> Option<Arc<Keys>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.as_ref().map(|(_, keys)| Arc::clone(keys))
    }

    /// Returns the file of the keys.
    pub(crate) fn keys_file(&self) -> Option<PathBuf> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.as_ref().map(|(file, _)| file.clone())
    }

    /// Checks the API key and its quota of characters.
    ///
    /// # Errors
    /// If there are too many characters, or if a key is needed and this one is not known or over
    /// its quota.
    pub fn admit(&self, key: Option<&str>, characters: usize) -> Result<(), Refusal> {
        self.admit_sizes(key, 0, characters)
    }

    /// Works like [`App::admit`], for a request with texts. The limit on the number of sentences
    /// also holds for the number of texts.
    ///
    /// # Errors
    /// The errors of [`App::admit`], and if there are too many texts.
    pub fn admit_texts(&self, key: Option<&str>, texts: &[String]) -> Result<(), Refusal> {
        let characters = texts.iter().map(|text| text.chars().count()).sum();
        self.admit_sizes(key, texts.len(), characters)
    }

    fn admit_sizes(
        &self,
        key: Option<&str>,
        texts: usize,
        characters: usize,
    ) -> Result<(), Refusal> {
        let keys = self.keys();
        let key = keys.as_deref().map(|keys| identify(keys, key)).transpose()?;
        let limits = &self.configuration.limits;
        if texts > limits.lines {
            let reason = format!("{texts} texts; {} are allowed", limits.lines);
            return Err(Refusal::TooLarge(reason));
        }
        if let Some(limit) = limits.characters
            && characters > limit
        {
            let reason = format!("request ({characters}) exceeds text limit ({limit})");
            return Err(Refusal::TooLarge(reason));
        }
        let Some(key) = key else { return Ok(()) };
        key.count(characters).map_err(|error| refuse_key(error, characters))
    }

    /// Checks that the key belongs to an administrator. Fails if no keys are configured.
    ///
    /// # Errors
    /// If the key does not belong to an administrator.
    pub fn admit_admin(&self, key: Option<&str>) -> Result<(), Refusal> {
        let keys = self.keys().ok_or(Refusal::Forbidden)?;
        if identify(&keys, key)?.is_admin { Ok(()) } else { Err(Refusal::Forbidden) }
    }

    /// Returns the deadline of a request that begins now: the smaller of its limit and the
    /// server's.
    pub fn deadline(&self, asked: Option<u64>) -> Instant {
        let longest = self.configuration.limits.deadline();
        Instant::now() + asked.map_or(longest, |ms| Duration::from_millis(ms).min(longest))
    }

    /// Translates sentences with the models of `route`. `options`, prefixes and constraints are for
    /// the last model; a model before it gets only `raw` and `alignment`. Source tokens are those
    /// of the first model, and links lead to them.
    pub(crate) async fn translate(
        &self,
        route: &Route,
        sentences: Vec<Sentence>,
        options: RequestOptions,
        deadline: Instant,
    ) -> Result<Translated, Refusal> {
        let words: usize = sentences.iter().map(|one| split_words(&one.text).count()).sum();
        check_size((sentences.len(), words), &options, &self.configuration.limits)?;
        pivot::check_options(route, &options)?;
        self.metrics.source_words.fetch_add(words as u64, Ordering::Relaxed);
        let mut total =
            Translated { sentences: Vec::new(), queued: Duration::ZERO, searched: Duration::ZERO };
        let mut sentences = sentences;
        let forced = pivot::take_forced(route, &mut sentences);
        let mut pivots = Vec::new();
        let wants_links = options.alignment;
        for (step, model) in route.models.iter().enumerate() {
            let is_last = step + 1 == route.models.len();
            let first = RequestOptions {
                raw: options.raw,
                alignment: options.alignment,
                ..RequestOptions::default()
            };
            let mut options = if is_last { options } else { first };
            let [from, to] = route.languages(step);
            let languages = model.language_pair_tokens(from, to, &sentences);
            options.languages = languages.map_err(Refusal::Invalid)?;
            let pending = model.submit(std::mem::take(&mut sentences), options, deadline);
            let pending = pending.inspect_err(|_| self.metrics.record_shed())?;
            let left = deadline.saturating_duration_since(Instant::now());
            // A phrase-based system translates with less effort when its time is over.
            let patience = if model.kind == ModelKind::Phrase { left * 2 } else { left };
            let patience = patience + Duration::from_millis(100);
            let reply = tokio::time::timeout(patience, pending.reply()).await;
            let Reply { outcome, queued, searched } = reply.map_err(|_| Refusal::Deadline)?;
            self.metrics.record_queue(queued);
            total.queued += queued;
            total.searched += searched;
            let results = outcome?;
            if step > 0 {
                let tag = model.configuration.prefix_token.clone().unwrap_or_default();
                let tag = wants_links.then_some(tag);
                let pivots = std::mem::take(&mut pivots);
                let joined = pivot::join_results(pivots, results, tag, deadline);
                total.sentences = joined.await?;
            } else if is_last {
                total.sentences = results;
            } else {
                let texts =
                    results.iter().map(|result| best_text(result).into_owned().into_bytes());
                let pairs = texts.zip(&forced);
                sentences.extend(pairs.map(|(text, forced)| Sentence { text, ..forced.clone() }));
                pivots = results;
            }
        }
        Ok(total)
    }
}

/// Checks that a request with these numbers of sentences and words asks for no more than `limits`
/// allow: all of its results are in memory until the response is sent. The n-best list of a single
/// sentence has a limit of its own.
///
/// # Errors
/// If it asks for more.
fn check_size(
    (sentences, words): (usize, usize),
    options: &RequestOptions,
    limits: &Limits,
) -> Result<(), Refusal> {
    let n_best = options.n_best.max(1);
    let has_lists = sentences > 1 && n_best > 1;
    let reason = if sentences > limits.lines {
        format!("{sentences} sentences; {} are allowed", limits.lines)
    } else if has_lists && sentences.saturating_mul(n_best) > limits.translations {
        let most = limits.translations;
        format!("{sentences} sentences with {n_best} translations each; {most} in all are allowed")
    } else if options.graph && words > limits.graph_words {
        format!("search graphs of {words} words; {} are allowed", limits.graph_words)
    } else {
        return Ok(());
    };
    Err(Refusal::TooLarge(reason))
}

/// Finds a key. Its name is in the log even if the request is rejected.
fn identify<'k>(keys: &'k Keys, key: Option<&str>) -> Result<&'k Key, Refusal> {
    let found = keys.find(key).map_err(|error| refuse_key(error, 0))?;
    set_key_name(&found.name);
    Ok(found)
}

/// Returns the refusal of a request of `characters` characters whose key is rejected.
fn refuse_key(error: KeyError, characters: usize) -> Refusal {
    match error {
        KeyError::Unknown => Refusal::Unauthorized,
        KeyError::TooMuch(time) => Refusal::TooMany(time),
        KeyError::TooLarge(limit) => Refusal::TooLarge(format!(
            "the request has {characters} characters; its key may translate {limit} a minute (cpm)"
        )),
    }
}
