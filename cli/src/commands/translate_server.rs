//! `miriam translate -server`: Moses' way to start a server, with the one system of the command
//! line.

use std::sync::Arc;

use miriam_decoder::Configuration;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_serve::{ModelConfiguration, ModelKind, MosesSystem};

use super::serve::run_server;

/// The port of mosesserver.
const DEFAULT_PORT: u16 = 8080;

/// The longest n-best list and the largest pop limit that a request may ask for.
const MAX_N_BEST: usize = 10_000;
const MAX_POPS: usize = 1_000_000;
/// The maximum number of words of a request for search graphs. Longer lines are translated in
/// parts.
const MAX_GRAPH_WORDS: usize = 2000;

/// Serves the system of `tokens`, whose configuration is `system`, until a signal stops the server.
/// `raw` is whether texts are prepared with the file beside the ini; by default they are if this
/// file exists.
///
/// # Errors
/// If the system cannot be opened or the address is taken.
pub fn serve(system: &Configuration, tokens: &[String], raw: Option<bool>) -> anyhow::Result<()> {
    let settings = &system.settings.server;
    let threads = if settings.is_serial { 1 } else { system.settings.threads };
    let model = ModelConfiguration {
        name: "moses".into(),
        path: system.ini.clone(),
        kind: Some(ModelKind::Phrase),
        raw,
        options: system_options(tokens),
        moses_system: Some(MosesSystem::new(system.clone())),
        ..ModelConfiguration::default()
    };
    let listen = match &settings.listen[..] {
        [] => vec![format!("127.0.0.1:{}", settings.port.unwrap_or(DEFAULT_PORT))],
        given => given.to_vec(),
    };
    let mut configuration = miriam_serve::Configuration {
        listen,
        threads: Some(threads),
        models: vec![model],
        access_log: settings.log.clone(),
        ..miriam_serve::Configuration::default()
    };
    let limits = &mut configuration.limits;
    limits.connections = settings.max_connections.unwrap_or(limits.connections);
    // Moses has no such limits; these keep requests from using all memory.
    (limits.n_best, limits.pops) = (MAX_N_BEST, MAX_POPS);
    limits.graph_words = MAX_GRAPH_WORDS;
    limits.idle_seconds = settings.idle_seconds.unwrap_or(limits.idle_seconds);
    // A phrase-based system has no products of matrices to tune.
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    run_server(Box::new(move || Ok(configuration.clone())), tuner)
}

/// Returns the options without the ini and the threads, which the server sets.
fn system_options(tokens: &[String]) -> Vec<String> {
    let mut options = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        let given = token.strip_prefix("--").or(token.strip_prefix('-')).unwrap_or_default();
        let (name, value) = given.split_once('=').map_or((given, None), |(n, v)| (n, Some(v)));
        if !matches!(name, "f" | "config" | "threads" | "th") {
            options.push(token.clone());
        } else if value.is_none() {
            tokens.next();
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_sets_the_ini_and_the_threads() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        for given in ["-f m.ini -s 50 -threads 3 -dl 6", "--f=m.ini -s 50 --th=3 -dl 6"] {
            assert_eq!(system_options(&words(given)), words("-s 50 -dl 6"));
        }
    }
}
