//! `miriam translate -server`: Moses' way to start a server, with the one system of the command
//! line. The options of the server are removed; the others belong to the system.

use std::path::PathBuf;
use std::sync::Arc;

use miriam_decoder::Error;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_serve::{Configuration, ModelConfiguration, ModelKind};

use super::serve::run_server;
use super::system_configuration::read_configuration;

/// The options of the server.
#[derive(Default)]
pub struct ServerOptions {
    is_wanted: bool,
    is_serial: bool,
    port: Option<u16>,
    connections: Option<usize>,
    idle_seconds: Option<u64>,
    log: Option<PathBuf>,
    /// Options without effect here.
    without_effect: Vec<String>,
}

impl ServerOptions {
    /// Removes the options of the server from `tokens`, if they contain `-server`.
    ///
    /// # Errors
    /// If the value of an option is missing or invalid.
    pub fn take(tokens: &mut Vec<String>) -> Result<Option<Self>, Error> {
        fn is_option(token: &str, name: &str) -> bool {
            token.strip_prefix("--").or(token.strip_prefix('-')) == Some(name)
        }
        if !tokens.iter().any(|token| is_option(token, "server")) {
            return Ok(None);
        }
        let mut options = ServerOptions::default();
        let mut rest = Vec::new();
        let mut given = std::mem::take(tokens).into_iter();
        while let Some(token) = given.next() {
            let name = token.strip_prefix("--").or(token.strip_prefix('-')).unwrap_or_default();
            let mut value = || {
                given
                    .next()
                    .ok_or_else(|| Error::Usage { reason: format!("{token} takes a value") })
            };
            let wrong = |text: &str| Error::Usage {
                reason: format!("{token} {text}: expected a whole number"),
            };
            fn parse<T: std::str::FromStr>(
                text: String,
                wrong: impl Fn(&str) -> Error,
            ) -> Result<T, Error> {
                text.parse().map_err(|_| wrong(&text))
            }
            match name {
                "server" => options.is_wanted = true,
                "serial" => options.is_serial = true,
                "server-port" => options.port = Some(parse(value()?, wrong)?),
                "server-maxconn" => options.connections = Some(parse(value()?, wrong)?),
                "server-timeout" | "server-keepalive-timeout" => {
                    options.idle_seconds = Some(parse(value()?, wrong)?);
                }
                "server-log" => options.log = Some(value()?.into()),
                "server-keepalive-maxconn" | "server-maxconn-backlog" => {
                    value()?;
                    options.without_effect.push(token.clone());
                }
                _ => rest.push(token),
            }
        }
        *tokens = rest;
        Ok(Some(options).filter(|options| options.is_wanted))
    }

    /// Serves the system of `tokens` until a signal stops the server. `raw` is whether texts are
    /// prepared with the file beside the ini; by default they are if there is one.
    pub fn run(self, tokens: &[String], raw: Option<bool>) -> anyhow::Result<()> {
        for option in &self.without_effect {
            tracing::warn!("{option}: without effect");
        }
        let system = read_configuration(tokens)?;
        let threads = if self.is_serial { 1 } else { system.settings.threads };
        let model = ModelConfiguration {
            name: "moses".into(),
            path: system.ini,
            kind: Some(ModelKind::Phrase),
            raw,
            options: system_options(tokens),
            ..ModelConfiguration::default()
        };
        let port = self.port.unwrap_or(8080);
        let mut configuration = Configuration {
            listen: vec![format!("127.0.0.1:{port}")],
            threads: Some(threads),
            models: vec![model],
            ..Configuration::default()
        };
        configuration.access_log = self.log;
        let limits = &mut configuration.limits;
        limits.connections = self.connections.unwrap_or(limits.connections);
        limits.idle_seconds = self.idle_seconds.unwrap_or(limits.idle_seconds);
        // A phrase-based system has no products of matrices to tune.
        let tuner = Arc::new(Autotuner::new(Cpu::detect()));
        run_server(Box::new(move || Ok(configuration.clone())), tuner)
    }
}

/// Returns the options without the ini and the threads, which the server sets.
fn system_options(tokens: &[String]) -> Vec<String> {
    let mut options = Vec::new();
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        let name = token.strip_prefix("--").or(token.strip_prefix('-')).unwrap_or_default();
        match name {
            "f" | "config" | "threads" | "th" => drop(tokens.next()),
            _ if name.starts_with("config=") || name.starts_with("threads=") => {}
            _ => options.push(token.clone()),
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_of_a_server_are_taken_out() {
        let mut tokens = words("-f m.ini --server -server-port 9000 -s 50 -serial -server-log x");
        let options = ServerOptions::take(&mut tokens).unwrap().unwrap();
        assert_eq!(tokens, words("-f m.ini -s 50"));
        assert_eq!((options.port, options.is_serial), (Some(9000), true));
        assert_eq!(options.log, Some(PathBuf::from("x")));
        assert_eq!(system_options(&words("-f m.ini -s 50 -threads 3 -dl 6")), words("-s 50 -dl 6"));
        let mut tokens = words("-f m.ini -server-port 9000");
        assert!(ServerOptions::take(&mut tokens).unwrap().is_none());
        assert_eq!(tokens.len(), 4);
        for wrong in ["-server -server-port", "-server -server-port x"] {
            assert!(ServerOptions::take(&mut words(wrong)).is_err(), "{wrong}");
        }
    }
}
