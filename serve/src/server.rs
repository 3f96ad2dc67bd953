//! A server from its start to its end.
//!
//! The port is opened before the models: `/healthz` tells a supervisor that the process is alive,
//! `/readyz` whether the models are open. One thread opens models, at the start and at every
//! reload, so that two reloads never overlap.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use miriam_nmt::engine::Autotuner;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::access_log::AccessLog;
use crate::app::App;
use crate::config::Configuration;
use crate::engine::Engine;
use crate::keys::Keys;
use crate::listen_addresses::ListenAddresses;
use crate::listener::Listener;
use crate::metrics::Metrics;
use crate::models::Opener;
use crate::reload::{self, ReloadRequest, ReloadSender};
use crate::{Error, Result};

/// The address of a server for which none is configured.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8080";

/// A function that reads the configuration, at the start and at every reload.
pub type ConfigurationSource = Box<dyn Fn() -> Result<Configuration> + Send + Sync>;

/// A callback that is told whether any model opened. It is not generic, because the code of the
/// server would otherwise be compiled again in the crate that starts it.
pub type OpenListener = Box<dyn FnOnce(bool) + Send>;

/// A running server.
pub struct Server {
    app: Arc<App>,
    runtime: Runtime,
    addresses: Vec<String>,
    metrics_address: Option<String>,
    stop: watch::Sender<bool>,
    alive: mpsc::Receiver<()>,
    reloads: ReloadSender,
}

impl Server {
    /// Starts a server. When this returns, sockets are open and models are being opened. `on_open`
    /// is called after the models were opened, and is told whether any model opened.
    ///
    /// # Errors
    /// If the configuration is invalid, a socket, the file of keys or the log cannot be opened, or
    /// a thread cannot be started.
    pub fn start(
        source: ConfigurationSource,
        tuner: Arc<Autotuner>,
        on_open: OpenListener,
    ) -> Result<Self> {
        let configuration = source()?;
        configuration.check()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(configuration.io_threads.unwrap_or(1))
            .max_blocking_threads(4)
            .thread_name("sockets")
            .enable_all()
            .build()
            .map_err(|error| Error::system("the runtime of sockets", error))?;
        let within_runtime = runtime.enter();
        let (listeners, metrics) = listen(&configuration)?;
        let addresses = listeners.iter().map(Listener::name).collect();
        let metrics_address = metrics.as_ref().map(Listener::name);
        drop(within_runtime);
        if configuration.api_keys.is_none() && listeners.iter().any(Listener::is_public) {
            tracing::warn!("other machines can use the server without a key");
        }
        let limits = configuration.limits.clone();
        let opener = opener(&configuration, tuner);
        let app = Arc::new(App::new(configuration.clone(), opener)?);
        let reloads = start_reloader(Arc::clone(&app), configuration, source, on_open)?;
        app.set_reloads(reloads.clone());
        let (stop, stopped) = watch::channel(false);
        let (alive_sender, alive) = mpsc::channel(1);
        let places = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
        let for_all = listeners.into_iter().map(|listener| (listener, false));
        for (listener, is_for_metrics) in for_all.chain(metrics.map(|listener| (listener, true))) {
            let (app, places) = (Arc::clone(&app), Arc::clone(&places));
            let alive = alive_sender.clone();
            let serving = listener.serve(app, places, alive, stopped.clone(), is_for_metrics);
            runtime.spawn(async move {
                if let Err(error) = serving.await {
                    tracing::error!("the server cannot listen on a socket: {error}");
                }
            });
        }
        Ok(Server { app, runtime, addresses, metrics_address, stop, alive, reloads })
    }

    /// Returns the addresses as clients write them.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Returns the address that serves only measurements and health, if there is one.
    pub fn metrics_address(&self) -> Option<&str> {
        self.metrics_address.as_deref()
    }

    /// Returns the sender of requests for a reload.
    pub fn reloads(&self) -> ReloadSender {
        self.reloads.clone()
    }

    /// Stops in order: accepts no more connections, and finishes requests in progress within the
    /// limits of the configuration. Returns whether all of them were finished.
    pub fn stop(mut self) -> bool {
        let limits = &self.app.configuration.limits;
        if limits.drain_seconds > 0 {
            // Requests continue to arrive until the load balancer sees that the server is not
            // ready.
            self.app.drain();
            thread::sleep(Duration::from_secs(limits.drain_seconds));
        }
        self.app.stop();
        let grace = Duration::from_secs(limits.grace_seconds);
        self.stop.send_replace(true);
        let all_done = self
            .runtime
            .block_on(async { tokio::time::timeout(grace, self.alive.recv()).await.is_ok() });
        self.runtime.shutdown_timeout(Duration::from_millis(100));
        all_done
    }
}

/// A model that opened, for a report.
pub struct CheckedModel {
    /// Its name.
    pub name: String,
    /// The time to open it, to translate a line unless it is a language model, and to verify its
    /// files.
    pub time: Duration,
    /// The tokens of a neural model for the languages of the configuration.
    pub languages: Option<String>,
}

/// Checks the files, addresses and groups that a configuration names. Opens all its models,
/// verifies their files, translates a line with each model that translates, and closes them again.
///
/// # Errors
/// If any of these fails; the error is the first one.
pub fn check(configuration: &Configuration, tuner: Arc<Autotuner>) -> Result<Vec<CheckedModel>> {
    configuration.check()?;
    check_environment(configuration)?;
    let opener = opener(configuration, tuner);
    let checked = configuration.models.iter().map(|model| {
        let started = Instant::now();
        opener.open(model, 1).and_then(|opened| {
            opened.verify_files()?;
            let languages = opened.facts.iter().find(|(name, _)| *name == "languages");
            Ok(CheckedModel {
                name: model.name.clone(),
                time: started.elapsed(),
                languages: languages.map(|(_, found)| found.clone()),
            })
        })
    });
    checked.collect()
}

/// Checks keys, addresses, groups and folders without using them: a server may be running.
fn check_environment(configuration: &Configuration) -> Result<()> {
    configuration.api_keys.as_deref().map(Keys::read).transpose()?;
    let names = listen_names(configuration, false);
    ListenAddresses::resolve(with_options(&names, configuration.metrics.as_deref()), [])?;
    let access = configuration.socket_access()?;
    for path in &configuration.unix {
        Listener::check_unix(path, &access)?;
    }
    configuration.access_log.as_deref().map(AccessLog::check).transpose()?;
    Ok(())
}

fn opener(configuration: &Configuration, tuner: Arc<Autotuner>) -> Opener {
    let threads = configuration.threads.unwrap_or_else(miriam_textio::available_threads);
    let engine = Engine::new(threads, configuration.limits.queued_words);
    Opener { engine, metrics: Arc::new(Metrics::default()), tuner }
}

/// Returns the addresses to listen on, or the default one if there is no other way to reach the
/// server.
fn listen_names(configuration: &Configuration, has_inherited: bool) -> Vec<&str> {
    let is_default =
        !has_inherited && configuration.listen.is_empty() && configuration.unix.is_empty();
    let default = is_default.then_some(DEFAULT_ADDRESS);
    configuration.listen.iter().map(String::as_str).chain(default).collect()
}

/// Returns each address after the option that gives it, which messages name.
fn with_options<'n>(
    names: &[&'n str],
    metrics: Option<&'n str>,
) -> impl Iterator<Item = (&'static str, &'n str)> {
    let names = names.iter().map(|name| ("--listen", *name));
    names.chain(metrics.map(|name| ("--metrics", name)))
}

/// Opens the sockets of all requests, and the one that serves only measurements and health.
fn listen(configuration: &Configuration) -> Result<(Vec<Listener>, Option<Listener>)> {
    let mut listeners = Listener::inherited()?;
    let names = listen_names(configuration, !listeners.is_empty());
    let metrics = configuration.metrics.as_deref();
    let inherited = listeners.iter().filter_map(Listener::tcp_address);
    let addresses = ListenAddresses::resolve(with_options(&names, metrics), inherited)?;
    for name in names {
        listeners.push(Listener::tcp(name, &addresses)?);
    }
    let access = configuration.socket_access()?;
    for path in &configuration.unix {
        listeners.push(Listener::unix(path, &access)?);
    }
    let metrics = metrics.map(|name| Listener::tcp(name, &addresses)).transpose()?;
    Ok((listeners, metrics))
}

/// Reloads keys and configuration, and opens the models that have changed. Returns whether all
/// opened.
fn reload(app: &App, source: &ConfigurationSource) -> Result<bool> {
    let configuration = source().and_then(|found| found.check().map(|()| found));
    let configuration = match configuration {
        Ok(configuration) => configuration,
        Err(error) => {
            // A key is revoked even if something else fails.
            app.set_keys(app.keys_file().as_deref())?;
            return Err(error);
        }
    };
    app.set_keys(configuration.api_keys.as_deref())?;
    app.set_pending_settings(app.configuration.settings_that_need_restart(&configuration));
    Ok(app.open_models(&configuration))
}

/// Starts a thread that opens models: those of `first` at once, then at every request those of the
/// configuration that `source` reads.
fn start_reloader(
    app: Arc<App>,
    first: Configuration,
    source: ConfigurationSource,
    on_open: OpenListener,
) -> Result<ReloadSender> {
    let (sender, requests) = reload::channel();
    let thread = thread::Builder::new().name("models".into()).spawn(move || {
        app.open_models(&first);
        on_open(!app.registry().models.is_empty());
        serve_requests(&app, &source, &requests);
    });
    thread.map_err(|error| Error::system("the thread that opens models", error))?;
    Ok(sender)
}

/// Serves requests for a reload, those that came during a reload together.
fn serve_requests(app: &App, source: &ConfigurationSource, requests: &Receiver<ReloadRequest>) {
    while let Ok(request) = requests.recv() {
        let waiting: Vec<ReloadRequest> =
            std::iter::once(request).chain(requests.try_iter()).collect();
        reload_and_report(app, source);
        // The caller may no longer wait.
        for answer in waiting.into_iter().flatten() {
            let _ = answer.send(());
        }
    }
}

/// Reloads, and reports the outcome in the log, the metrics and the readiness of the server.
fn reload_and_report(app: &App, source: &ConfigurationSource) {
    app.metrics.reloads.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    app.reopen_log();
    let outcome = reload(app, source);
    let seconds = started.elapsed().as_secs_f64();
    match &outcome {
        Ok(true) => {
            let count = app.registry().models.len();
            let served = if count == 1 { "model is served" } else { "models are served" };
            tracing::info!("reloaded in {seconds:.2} s: {count} {served}");
        }
        Ok(false) => tracing::warn!(
            "reloaded in {seconds:.2} s; models that did not open are served as before"
        ),
        Err(error) => tracing::error!("the configuration was not read again: {error}"),
    }
    if !matches!(outcome, Ok(true)) {
        app.metrics.reload_failures.fetch_add(1, Ordering::Relaxed);
    }
    app.set_reload_error(outcome.err().map(|error| error.to_string()));
}
