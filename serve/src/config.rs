//! The configuration of a server: a file in TOML, and what the command line adds to it.
//!
//! An unknown key is an error, so that no setting is silently ignored.

mod marian_server;
mod mistakes;
mod model;
mod moses_system;

use std::path::{Path, PathBuf};
use std::time::Duration;

use miriam_textproc::LanguageTag;
use serde::Deserialize;

pub use marian_server::MarianServerModels;
pub use model::{ModelConfiguration, ModelKind, ShortlistSetting};
pub use moses_system::MosesSystem;

use crate::http::client_address::Network;
use crate::http::socket_access::SocketAccess;
use crate::{Error, Result};

/// The configuration of a server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Configuration {
    /// Addresses with ports, `127.0.0.1:8080`; port 0 selects a free port.
    pub listen: Vec<String>,
    /// Unix sockets.
    pub unix: Vec<PathBuf>,
    /// The mode of Unix sockets in octal digits, which says who may use them; `0660` by default.
    pub unix_mode: Option<String>,
    /// The group of Unix sockets, by name or number; by default that of the process.
    pub unix_group: Option<String>,
    /// Searching threads; `None` for one per core.
    pub threads: Option<usize>,
    /// Threads for sockets; `None` for one.
    pub io_threads: Option<usize>,
    /// The pivot language for pairs that no model has.
    pub pivot: Option<String>,
    /// A file of keys; without it everybody may translate.
    pub api_keys: Option<PathBuf>,
    /// Origins whose pages may read responses and open websockets; `*` is any.
    pub cors: Vec<String>,
    /// The groups of protocols that are served; empty, if a file does not name any, means all.
    #[serde(deserialize_with = "some_apis")]
    pub apis: Vec<Api>,
    /// Whether the page for people is left out.
    pub no_page: bool,
    /// The prefix of all paths, such as `/mt`, where a proxy maps a part of a site to the server.
    pub base_path: String,
    /// An address with a port that serves only measurements and health. Measurements then need no
    /// key and are not served elsewhere.
    pub metrics: Option<String>,
    /// A file for one line of JSON per request; `-` is standard error.
    pub access_log: Option<PathBuf>,
    /// Addresses or networks of proxies whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<String>,
    /// Limits.
    pub limits: Limits,
    /// The models.
    #[serde(rename = "model")]
    pub models: Vec<ModelConfiguration>,
}

/// A group of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// This project's protocol, at `/v1`.
    V1,
    /// Moses' XML-RPC.
    XmlRpc,
    /// LibreTranslate.
    Libre,
    /// Marian's websocket.
    Marian,
    /// OpenNMT's REST server.
    OpenNmt,
    /// OPUS-MT.
    OpusMt,
    /// OPUS-CAT.
    OpusCat,
    /// DeepL, version 2 and lists of version 3.
    DeepL,
}

impl Api {
    /// All groups with their names.
    pub const ALL: [(Api, &str); 8] = [
        (Api::V1, "v1"),
        (Api::XmlRpc, "xmlrpc"),
        (Api::Libre, "libre"),
        (Api::Marian, "marian"),
        (Api::OpenNmt, "opennmt"),
        (Api::OpusMt, "opusmt"),
        (Api::OpusCat, "opuscat"),
        (Api::DeepL, "deepl"),
    ];

    /// Returns the name in options and metrics.
    pub fn name(self) -> &'static str {
        Api::ALL[self as usize].1
    }
}

impl std::str::FromStr for Api {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Api::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(api, _)| *api).ok_or_else(|| {
            let names = Api::ALL.map(|(_, name)| name).join(", ");
            format!("{text:?} is not a group of protocols; there are {names}")
        })
    }
}

/// The most threads of a kind.
const MAX_THREADS: usize = 4096;

/// The longest time limit: 31 years. Clocks overflow at the end of much longer times.
const MAX_SECONDS: u64 = 1_000_000_000;

/// Limits on what clients may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Limits {
    /// Bytes of a request, before and after decompression.
    pub body_bytes: usize,
    /// Sentences of a request.
    pub lines: usize,
    /// Characters of a request; `None` for any number.
    pub characters: Option<usize>,
    /// Words in all queues.
    pub queued_words: usize,
    /// Connections.
    pub connections: usize,
    /// Entries of an n-best list.
    pub n_best: usize,
    /// Entries of all n-best lists of a request with several sentences, and the next words of
    /// several texts.
    pub translations: usize,
    /// Words of a request that asks for search graphs.
    pub graph_words: usize,
    /// LibreTranslate's alternatives.
    pub alternatives: usize,
    /// The largest stack size, and pop limit, that a request may ask for.
    pub pops: usize,
    /// Milliseconds that a request may take, including its time in the queue. After them, a
    /// request to a neural model fails; a phrase-based system searches less, and the request fails
    /// after twice the time.
    pub deadline_ms: u64,
    /// Seconds within which the head of a request must arrive.
    pub header_seconds: u64,
    /// Seconds within which its body must arrive.
    pub body_seconds: u64,
    /// Seconds after which an idle connection is closed.
    pub idle_seconds: u64,
    /// Seconds between the signal to stop and the stop. In them the server reports that it is not
    /// ready, but still serves requests.
    pub drain_seconds: u64,
    /// Seconds for requests in progress when the server is stopped.
    pub grace_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes: 2 << 20,
            lines: 10_000,
            characters: None,
            queued_words: 200_000,
            connections: 10_000,
            n_best: 100,
            translations: 100_000,
            graph_words: 500,
            alternatives: 10,
            pops: 5000,
            deadline_ms: 60_000,
            header_seconds: 10,
            body_seconds: 30,
            idle_seconds: 75,
            drain_seconds: 0,
            grace_seconds: 30,
        }
    }
}

impl Limits {
    /// Checks that some request can be within the limits, and that no time is absurd.
    fn check(&self) -> Result<(), String> {
        let zeros = [
            ("lines", self.lines == 0),
            ("body-bytes", self.body_bytes == 0),
            ("characters", self.characters == Some(0)),
            ("connections", self.connections == 0),
            ("n-best", self.n_best == 0),
            ("body-seconds", self.body_seconds == 0),
            ("deadline-ms", self.deadline_ms == 0),
        ];
        if let Some((name, _)) = zeros.iter().find(|(_, is_zero)| *is_zero) {
            return Err(format!("limits: {name} is 0, which no request satisfies"));
        }
        let times = [
            ("header-seconds", self.header_seconds),
            ("body-seconds", self.body_seconds),
            ("idle-seconds", self.idle_seconds),
            ("drain-seconds", self.drain_seconds),
            ("grace-seconds", self.grace_seconds),
        ];
        match times.iter().find(|(_, seconds)| *seconds > MAX_SECONDS) {
            Some((name, _)) => Err(format!("limits: {name} is more than {MAX_SECONDS}")),
            None => Ok(()),
        }
    }

    /// Returns the time limit of a request.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}

/// Reads the groups of protocols that a file names.
fn some_apis<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Api>, D::Error> {
    let apis = Vec::<Api>::deserialize(deserializer)?;
    let reason = "apis: the list is empty; leave it out for all of them";
    if apis.is_empty() { Err(serde::de::Error::custom(reason)) } else { Ok(apis) }
}

impl Configuration {
    /// Reads a file. Relative paths are relative to its folder, except those of Unix sockets.
    ///
    /// # Errors
    /// If it cannot be read, is not TOML, or has an unknown key or an invalid value.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::configuration(path, error.to_string()))?;
        let mut configuration =
            Configuration::parse(&text).map_err(|reason| Error::configuration(path, reason))?;
        // An empty path would become that of the folder.
        configuration.check_paths().map_err(|reason| Error::configuration(path, reason))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for model in &mut configuration.models {
            model.path = folder.join(&model.path);
            model.vocabs.iter_mut().for_each(|file| *file = folder.join(&*file));
            model.shortlist = model.shortlist.as_ref().map(|list| list.within(folder));
            for file in [&mut model.lm, &mut model.nonbreaking_prefixes].into_iter().flatten() {
                *file = folder.join(&*file);
            }
        }
        configuration.api_keys = configuration.api_keys.map(|file| folder.join(file));
        fn is_file(log: &PathBuf) -> bool {
            *log != Path::new("-")
        }
        if let Some(log) = configuration.access_log.as_mut().filter(|log| is_file(log)) {
            *log = folder.join(&*log);
        }
        Ok(configuration)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// If a line is invalid, with its number, the key and the reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| mistakes::describe(text, &error))
    }

    /// Returns the settings that differ in `other` and that a running server cannot change.
    pub(crate) fn settings_that_need_restart(&self, other: &Configuration) -> Vec<&'static str> {
        let settings = [
            ("listen", self.listen != other.listen),
            ("unix", self.unix != other.unix),
            ("unix-mode", self.unix_mode != other.unix_mode),
            ("unix-group", self.unix_group != other.unix_group),
            ("threads", self.threads != other.threads),
            ("io-threads", self.io_threads != other.io_threads),
            ("cors", self.cors != other.cors),
            ("apis", self.apis != other.apis),
            ("no-page", self.no_page != other.no_page),
            ("base-path", self.base_path != other.base_path),
            ("metrics", self.metrics != other.metrics),
            ("access-log", self.access_log != other.access_log),
            ("trusted-proxies", self.trusted_proxies != other.trusted_proxies),
            ("limits", self.limits != other.limits),
        ];
        settings.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }

    /// Whether a group of protocols is served.
    pub fn serves(&self, api: Api) -> bool {
        self.apis.is_empty() || self.apis.contains(&api)
    }

    /// Returns the networks of trusted proxies.
    ///
    /// # Errors
    /// If one is invalid.
    pub(crate) fn networks(&self) -> Result<Vec<Network>> {
        let networks = self.trusted_proxies.iter().map(|text| text.parse());
        networks
            .collect::<Result<_, String>>()
            .map_err(|reason| Error::Usage { reason: format!("trusted-proxies: {reason}") })
    }

    /// Returns who may use Unix sockets.
    ///
    /// # Errors
    /// If the mode is invalid, or a mode or a group is given without a socket.
    pub(crate) fn socket_access(&self) -> Result<SocketAccess> {
        fn wrong(reason: String) -> Error {
            Error::Usage { reason }
        }
        let given = [(&self.unix_mode, "unix-mode"), (&self.unix_group, "unix-group")];
        if self.unix.is_empty()
            && let Some((_, name)) = given.iter().find(|(value, _)| value.is_some())
        {
            return Err(wrong(format!("{name} has no effect without a socket, unix")));
        }
        let mode = match &self.unix_mode {
            None => 0o660,
            Some(text) => u32::from_str_radix(text, 8)
                .ok()
                .filter(|mode| *mode <= 0o777 && text.len() <= 4 && !text.starts_with('+'))
                .ok_or_else(|| wrong(format!("unix-mode {text:?}: give octal digits, as 0660")))?,
        };
        Ok(SocketAccess { mode, group: self.unix_group.clone() })
    }

    /// Checks that no path is empty, except those of models, which have checks of their own.
    fn check_paths(&self) -> Result<(), String> {
        fn is_empty(path: &Path) -> bool {
            path.as_os_str().is_empty()
        }
        let settings = [
            ("unix", self.unix.iter().any(|path| is_empty(path))),
            ("api-keys", self.api_keys.as_deref().is_some_and(is_empty)),
            ("access-log", self.access_log.as_deref().is_some_and(is_empty)),
        ];
        match settings.iter().find(|(_, is_empty)| *is_empty) {
            Some((name, _)) => {
                Err(format!("{name}: the path is empty; give one, or leave {name} out"))
            }
            None => Ok(()),
        }
    }

    /// Checks the numbers of threads. The command line has the same limit.
    fn check_threads(&self) -> Result<(), String> {
        let numbers = [("threads", self.threads), ("io-threads", self.io_threads)];
        for (name, number) in numbers {
            if let Some(number) = number.filter(|number| !(1..=MAX_THREADS).contains(number)) {
                return Err(format!("{name} is {number}; give a number from 1 to {MAX_THREADS}"));
            }
        }
        Ok(())
    }

    /// Checks everything that does not depend on files. Warns of a second default model.
    ///
    /// # Errors
    /// If there is no model, a model lacks a name or a path, two models have the same name, a
    /// language is not a code, no model has the pivot language, or another setting is invalid.
    pub fn check(&self) -> Result<()> {
        fn wrong(reason: String) -> Result<(), Error> {
            Err(Error::Usage { reason })
        }
        let base = &self.base_path;
        if !base.is_empty() && (!base.starts_with('/') || base.ends_with('/')) {
            return wrong(format!("base-path {base:?}: it must begin with / and not end with /"));
        }
        // No request has another character in its path.
        fn is_in_paths(byte: u8) -> bool {
            byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/".contains(&byte)
        }
        if !base.bytes().all(is_in_paths) {
            return wrong(format!(
                "base-path {base:?}: write it as in addresses, with %20 for a space"
            ));
        }
        self.networks()?;
        self.check_paths().or_else(wrong)?;
        self.socket_access()?;
        self.check_threads().or_else(wrong)?;
        self.limits.check().or_else(wrong)?;
        if let Some(origin) = self.cors.iter().find(|one| !is_origin(one)) {
            return wrong(format!(
                "cors: {origin:?} is not an origin; write it as browsers do, https://example.org, \
                 in lower case and without a default port, or * for any"
            ));
        }
        if self.models.is_empty() {
            return wrong(
                "there is no model; give --model NAME=PATH, or a table [[model]] in the file of \
                 --config"
                    .into(),
            );
        }
        for (number, model) in self.models.iter().enumerate() {
            if model.name.is_empty() {
                return wrong(format!("{}: the model has no name", model.path.display()));
            }
            // Threads, logs and measurements have the name.
            if model.name.contains(char::is_control) {
                return wrong(format!(
                    "model {:?}: its name has a control character; give another name",
                    model.name
                ));
            }
            if model.path.as_os_str().is_empty() {
                return wrong(format!("model {}: it has no path", model.name));
            }
            fn is_code(code: &str) -> bool {
                !code.is_empty() && !code.contains([' ', ',', ';', '=', '\t'])
            }
            for (side, codes) in [("from", &model.from), ("to", &model.to)] {
                if let Some(code) = codes.iter().find(|code| !is_code(code)) {
                    return wrong(format!(
                        "model {}: {side} has the language {code:?}; give codes such as en, several \
                         as en+de",
                        model.name
                    ));
                }
            }
            // The same limit as in a request.
            let most = self.limits.n_best;
            if let Some(beam) = model.decoding.beam_size.filter(|beam| !(1..=most).contains(beam)) {
                let name = &model.name;
                return wrong(format!(
                    "model {name}: beam is {beam}; give a number from 1 to {most} (n-best of the \
                     limits)"
                ));
            }
            if self.models[..number].iter().any(|other| other.name == model.name) {
                return wrong(format!("there are two models of the name {}", model.name));
            }
        }
        let mut defaults = self.models.iter().filter(|model| model.default);
        if let (Some(first), Some(second)) = (defaults.next(), defaults.next()) {
            let (first, second) = (&first.name, &second.name);
            tracing::warn!(
                "models {first} and {second} both have default = true; a request that both fit \
                 gets {first}"
            );
        }
        self.check_pivot().or_else(wrong)
    }

    /// Checks that a model has the pivot language.
    fn check_pivot(&self) -> Result<(), String> {
        let Some(pivot) = &self.pivot else { return Ok(()) };
        let tag = LanguageTag::parse(pivot);
        let is_pivot = |code: &String| {
            let other = LanguageTag::parse(code);
            let fits =
                tag.as_ref().zip(other).is_some_and(|(tag, other)| tag.fitness(&other).is_some());
            fits || code.eq_ignore_ascii_case(pivot)
        };
        let has_pivot = |model: &ModelConfiguration| {
            let mut languages = model.from.iter().chain(&model.to);
            languages.any(is_pivot)
        };
        if self.models.iter().any(has_pivot) {
            return Ok(());
        }
        Err(format!("pivot: no model has the language {pivot:?}"))
    }
}

/// Whether a text is an origin as browsers send it, or `*` for any. Local files have the origin
/// `null`.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return matches!(text, "*" | "null") };
    let default_port = match scheme {
        "http" => Some(":80"),
        "https" => Some(":443"),
        _ => None,
    };
    // Browsers write sites in lower case and without the default port, but the ids of Safari's
    // extensions in capitals.
    let has_capitals = default_port.is_some() && host.bytes().any(|byte| byte.is_ascii_uppercase());
    let has_odd_port = host.ends_with(':') || default_port.is_some_and(|port| host.ends_with(port));
    !scheme.is_empty()
        && scheme.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
        })
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"*/?#@,".contains(&byte))
        && !has_capitals
        && !has_odd_port
}

#[cfg(test)]
mod tests;
