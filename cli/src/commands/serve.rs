//! `miriam serve`: the translation server.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use miriam_serve::{
    Api, CheckedModel, Configuration, ConfigurationSource, ModelConfiguration, OpenListener, Server,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::systemd;
use super::tuner_cache::AutotunerCacheOptions;
use crate::common::{CommonOptions, Threads, is_broken_pipe};
use crate::console;

/// Serve translations to programs that speak Moses' XML-RPC, LibreTranslate, Marian's websocket,
/// OpenNMT, OPUS-MT, OPUS-CAT, DeepL or this program's own protocol
///
/// A model is a moses.ini, a neural model of any format, or a language model. Translations are the
/// same as from miriam translate and miriam nmt translate. SIGHUP reloads the configuration and
/// changed models; SIGTERM finishes requests and stops.
///
/// Example: miriam serve --model toy=examples/toy/moses.ini,from=en,to=es
#[derive(Args)]
pub struct Arguments {
    /// A file in TOML with models and limits; options override or extend it
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A model: its name and path, then its languages and other keys, from=de,to=en; repeatable
    #[arg(short, long, value_name = "NAME=PATH,...", value_parser = model_parser())]
    model: Vec<ModelConfiguration>,
    /// The address and port to listen on, port 0 for any free one; repeatable [127.0.0.1:8080]
    #[arg(short, long, value_name = "ADDRESS:PORT")]
    listen: Vec<String>,
    /// Listen only on this machine, on this port of 127.0.0.1
    #[arg(short, long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
    /// A Unix socket to listen on; repeatable
    #[arg(long, value_name = "PATH")]
    unix: Vec<PathBuf>,
    /// The mode of Unix sockets, in octal digits [0660]
    #[arg(long, value_name = "MODE")]
    unix_mode: Option<String>,
    /// The group of Unix sockets, to which the server's user must belong
    #[arg(long, value_name = "GROUP")]
    unix_group: Option<String>,
    /// Threads for sockets [1]
    #[arg(long, value_name = "N")]
    io_threads: Option<usize>,
    /// The file of keys that clients need: SHA-256, name, rpm=N, cpm=N, admin
    #[arg(long, value_name = "FILE")]
    api_keys: Option<PathBuf>,
    /// An origin whose pages may read responses and open websockets, or *; repeatable
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// The protocols to serve, separated by commas: v1, xmlrpc, libre, marian, opennmt,
    /// opusmt, opuscat, deepl [all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = str::parse::<Api>)]
    apis: Vec<Api>,
    /// Do not serve the web page, only protocols
    #[arg(long)]
    no_page: bool,
    /// The prefix of all paths, such as /mt, if a proxy maps a part of a site to the server
    #[arg(long, value_name = "PATH")]
    base_path: Option<String>,
    /// An address and port that serve only metrics and health checks
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<String>,
    /// A file for one line of JSON per request, without texts; - for standard error
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// A proxy (address or network) whose X-Forwarded-For names the client in the log; repeatable
    #[arg(long, value_name = "ADDRESS/BITS")]
    trusted_proxy: Vec<String>,
    /// The pivot language for pairs that no model has
    #[arg(long, value_name = "LANGUAGE")]
    pivot: Option<String>,
    /// Open all models, translate a line with each, and exit
    #[arg(long)]
    check: bool,
    /// Create a key and exit. Prints the key, and the line for the file of keys, which has only its
    /// SHA-256
    #[arg(long, value_name = "NAME", exclusive = true)]
    new_key: Option<String>,
    #[command(flatten)]
    tuner_cache: AutotunerCacheOptions,
}

/// Returns a parser of models, whose paths may have any bytes.
fn model_parser() -> impl TypedValueParser<Value = ModelConfiguration> {
    OsStringValueParser::new().try_map(ModelConfiguration::parse)
}

impl Arguments {
    /// Returns the configuration of the file and the command line.
    fn configuration(&self, threads: Threads) -> miriam_serve::Result<Configuration> {
        let mut all = match &self.config {
            Some(file) => Configuration::read(file)?,
            None => Configuration::default(),
        };
        if let Threads::Count(count) = threads {
            all.threads = Some(count);
        }
        all.models.extend(self.model.iter().cloned());
        let port = self.port.map(|port| format!("127.0.0.1:{port}"));
        let listen: Vec<String> = self.listen.iter().cloned().chain(port).collect();
        if !listen.is_empty() || !self.unix.is_empty() {
            (all.listen, all.unix) = (listen, self.unix.clone());
        }
        all.unix_mode = self.unix_mode.clone().or(all.unix_mode);
        all.unix_group = self.unix_group.clone().or(all.unix_group);
        all.io_threads = self.io_threads.or(all.io_threads);
        all.api_keys = self.api_keys.clone().or(all.api_keys);
        all.pivot = self.pivot.clone().or(all.pivot);
        all.no_page |= self.no_page;
        all.base_path = self.base_path.clone().unwrap_or(all.base_path);
        all.metrics = self.metrics.clone().or(all.metrics);
        all.access_log = self.access_log.clone().or(all.access_log);
        if !self.trusted_proxy.is_empty() {
            all.trusted_proxies.clone_from(&self.trusted_proxy);
        }
        if !self.cors.is_empty() {
            all.cors.clone_from(&self.cors);
        }
        if !self.apis.is_empty() {
            all.apis.clone_from(&self.apis);
        }
        Ok(all)
    }
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if let Some(name) = &arguments.new_key {
        let (key, line) = miriam_serve::make_key(name)?;
        return console::print(format!(
            "key for {name}, shown only now:\n{key}\n\nline for the file of keys:\n{line}\n"
        ));
    }
    let tuner_cache = arguments.tuner_cache.open();
    let tuner = Arc::clone(&tuner_cache.tuner);
    let threads = common.threads;
    if arguments.check {
        let configuration = arguments.configuration(threads)?;
        for CheckedModel { name, time, languages } in miriam_serve::check(&configuration, tuner)? {
            let languages = languages.map(|found| format!("; languages: {found}"));
            let (seconds, languages) = (time.as_secs_f64(), languages.unwrap_or_default());
            console::print_line(format_args!("{name}: ok, {seconds:.3} s{languages}"))?;
        }
        return Ok(());
    }
    let source: ConfigurationSource = Box::new(move || arguments.configuration(threads));
    run_server(source, tuner)?;
    tuner_cache.save();
    Ok(())
}

/// Runs a server until a signal stops it. Fails if none of its models opens.
pub fn run_server(
    source: ConfigurationSource,
    tuner: Arc<miriam_nmt::engine::Autotuner>,
) -> anyhow::Result<()> {
    crate::panics::continue_without_threads();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let waiting = signals.handle();
    let on_open: OpenListener = Box::new(move |is_any_open| {
        if is_any_open {
            systemd::notify("READY=1");
        } else {
            waiting.close();
        }
    });
    let server = Server::start(source, tuner, on_open)?;
    let addresses = server.addresses().iter().map(|address| format!("listening on {address}"));
    let metrics = server.metrics_address().map(|address| format!("measurements at {address}"));
    for line in addresses.chain(metrics) {
        // The program that started the server may close the pipe after the first line.
        match console::print_line(&line) {
            Err(error) if is_broken_pipe(&error) => {}
            Err(error) => tracing::warn!("{error}; {line}"),
            Ok(()) => {}
        }
    }
    let reloads = server.reloads();
    let asked_to_stop = signals.forever().any(|signal| {
        if signal == SIGHUP {
            reloads.request();
        }
        signal != SIGHUP
    });
    ensure!(asked_to_stop, "no model opened, so there is nothing to serve");
    // A second signal kills the server.
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal != SIGHUP {
                let _ = emulate_default_handler(signal);
            }
        }
    });
    systemd::notify("STOPPING=1");
    tracing::info!("stopping; requests in progress are finished first");
    if !server.stop() {
        tracing::warn!("some requests were not finished in time");
    }
    Ok(())
}
