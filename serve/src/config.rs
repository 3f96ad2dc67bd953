//! The configuration of a server: a file in TOML, and what the command line adds to it.
//!
//! A key that has no meaning is an error, so that nothing is set in vain.

use std::path::{Path, PathBuf};
use std::time::Duration;

use miriam_lmcpu::ArpaOptions;
use miriam_nmt::shortlist::ShortlistOptions;
use miriam_nmt::translate::DecodingSettings;
use serde::Deserialize;

use crate::http::client_address::Network;
use crate::http::listener::SocketAccess;
use crate::{Error, Result};

/// The configuration of a server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Configuration {
    /// Addresses with ports, `127.0.0.1:8080`; port 0 is a free one.
    pub listen: Vec<String>,
    /// Unix sockets.
    pub unix: Vec<PathBuf>,
    /// Who may use them: their mode in octal digits, `0660` by default.
    pub unix_mode: Option<String>,
    /// The group of their files, by name or number; by default that of the process.
    pub unix_group: Option<String>,
    /// Searching threads; `None` for one a core.
    pub threads: Option<usize>,
    /// Threads for sockets; 0 for one.
    pub io_threads: usize,
    /// The language through which pairs are translated that no model has.
    pub pivot: Option<String>,
    /// A file of keys; without it everybody may translate.
    pub api_keys: Option<PathBuf>,
    /// Origins whose pages may read answers; `*` is any.
    pub cors: Vec<String>,
    /// The groups of protocols that are served; empty for all.
    pub apis: Vec<Api>,
    /// Whether the page for people is left out.
    pub no_page: bool,
    /// What comes before all paths, where a proxy gives the server a part of a site: `/mt`.
    pub base_path: String,
    /// An address with a port for measurements and health alone; measurements are there only then,
    /// and need no key.
    pub metrics: Option<String>,
    /// A file for a line of JSON a request; `-` for standard error.
    pub access_log: Option<PathBuf>,
    /// Proxies, addresses or networks, whose `X-Forwarded-For` names the client.
    pub trusted_proxies: Vec<String>,
    /// Bounds.
    pub limits: Limits,
    /// The models.
    #[serde(rename = "model")]
    pub models: Vec<ModelConfiguration>,
}

/// A group of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Our own, at `/v1`.
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
    /// DeepL, version 2.
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

    /// The name in options and metrics.
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
            format!("{text:?} is no group of protocols; there are {names}")
        })
    }
}

/// Bounds on what clients may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Limits {
    /// Bytes of a request, also after decompression.
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
    /// LibreTranslate's alternatives.
    pub alternatives: usize,
    /// The largest stack size, and pop limit, that a request may ask for.
    pub pops: usize,
    /// Milliseconds until a request fails; a phrase-based system searches less when they are
    /// over, and fails after twice as many.
    pub deadline_ms: u64,
    /// Seconds in which the head of a request must come.
    pub header_seconds: u64,
    /// Seconds in which its body must come.
    pub body_seconds: u64,
    /// Seconds after which a connection without a request is closed.
    pub idle_seconds: u64,
    /// Seconds in which a server that is to stop is not ready and serves what still comes.
    pub drain_seconds: u64,
    /// Seconds for what is under way when the server is stopped.
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
    /// The time of a request.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}

/// The kind of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// A phrase-based system: a moses.ini.
    Phrase,
    /// A neural model of any format.
    Neural,
    /// An n-gram language model.
    Lm,
}

impl ModelKind {
    /// The name in options and metrics.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Phrase => "phrase",
            ModelKind::Neural => "neural",
            ModelKind::Lm => "lm",
        }
    }
}

/// A model of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ModelConfiguration {
    /// The name by which clients choose it.
    pub name: String,
    /// A moses.ini or its folder, a neural model's file or folder, or a language model.
    pub path: PathBuf,
    /// The languages it translates from.
    pub from: Vec<String>,
    /// The languages it translates to.
    pub to: Vec<String>,
    /// Its kind, where the path does not tell.
    pub kind: Option<ModelKind>,
    /// Whether clients that name no model get this one.
    pub default: bool,
    /// A phrase-based system: whether running text is prepared by the file `preparation`
    /// beside the ini, where there is one.
    pub raw: Option<bool>,
    /// A phrase-based system: words that keep their full stop, in Moses' form, for its tokens and
    /// sentences, in place of those of its preparation.
    pub nonbreaking_prefixes: Option<PathBuf>,
    /// A phrase-based system: further options of `miriam translate`.
    pub options: Vec<String>,
    /// A phrase-based system: whether `align` puts `|0-1|` after phrases in the text of
    /// XML-RPC, as Moses does.
    pub segmentation_marks: Option<bool>,
    /// A neural model: its vocabularies, where they are not beside it.
    pub vocabs: Vec<PathBuf>,
    /// A neural model: the token that begins each source, such as `>>fra<<`.
    pub prefix_token: Option<String>,
    /// A neural model: a shortlist, in place of that of the model.
    pub shortlist: Option<ShortlistSetting>,
    /// A neural model: whose rules decide when search is done, `marian` or `ctranslate2`.
    pub search: Option<String>,
    /// A neural model: the beam size.
    #[serde(alias = "beam-size")]
    pub beam: Option<usize>,
    /// A neural model: the exponent of length normalisation.
    pub normalize: Option<f32>,
    /// A neural model: the penalty of each word.
    pub word_penalty: Option<f32>,
    /// A neural model: the largest number of target tokens a source token.
    pub max_length_factor: Option<f32>,
    /// A neural model: the most tokens of a translation.
    pub max_decoding_length: Option<usize>,
    /// A neural model: the fewest tokens of a translation.
    #[serde(alias = "min-decoding-length")]
    pub min_length: Option<usize>,
    /// A neural model: how many times the beam must have ended.
    pub patience: Option<f32>,
    /// A neural model: the weight of attention to all of the source.
    pub coverage_penalty: Option<f32>,
    /// A neural model: the divisor of scores of tokens that were generated before.
    pub repetition_penalty: Option<f32>,
    /// A neural model: the length of sequences that are not repeated.
    pub no_repeat_ngram_size: Option<usize>,
    /// A neural model: the margin at which search ends early.
    pub early_stop: Option<f32>,
    /// A neural model: whether the unknown token may be generated.
    pub allow_unk: Option<bool>,
    /// A neural model: whether unknown tokens become source words.
    pub replace_unknowns: Option<bool>,
    /// A neural model: the most tokens of a sentence.
    pub max_length: Option<usize>,
    /// A neural model: whether longer sentences are cropped.
    pub max_length_crop: Option<bool>,
    /// A neural model: sentences translated together at most.
    pub mini_batch: Option<usize>,
    /// A neural model: the precision of products.
    pub precision: Option<String>,
    /// A language model as ARPA text: what is done about n-grams listed twice.
    pub duplicates: Option<String>,
    /// A language model as ARPA text: what is done about positive log probabilities.
    pub positive: Option<String>,
    /// A language model as ARPA text: what is done where `<s>` or `</s>` is missing.
    pub missing_markers: Option<String>,
}

/// A shortlist of a configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ShortlistSetting {
    /// False for none, though one is beside the model.
    Flag(bool),
    /// Its file.
    File(PathBuf),
    /// Its file, how many frequent words and translations of each word, and how probable they must be.
    Pruned(Vec<toml::Value>),
}

impl ShortlistSetting {
    /// The file with its options; none for no shortlist.
    ///
    /// # Errors
    /// If it is not a file with numbers.
    pub(crate) fn parse(&self) -> Result<Option<(PathBuf, ShortlistOptions)>, String> {
        let wrong = |reason: String| format!("shortlist: {reason}");
        match self {
            ShortlistSetting::Flag(false) => Ok(None),
            ShortlistSetting::Flag(true) => Err(wrong("give its file, or false for none".into())),
            ShortlistSetting::File(file) => Ok(Some((file.clone(), ShortlistOptions::default()))),
            ShortlistSetting::Pruned(values) => {
                let word = |value: &toml::Value| match value {
                    toml::Value::String(text) => text.clone(),
                    toml::Value::Integer(number) => number.to_string(),
                    toml::Value::Float(number) => number.to_string(),
                    toml::Value::Boolean(flag) => flag.to_string(),
                    _ => String::new(),
                };
                let words: Vec<String> = values.iter().map(word).collect();
                let [file, numbers @ ..] = &words[..] else {
                    return Err(wrong("give its file".into()));
                };
                let options = ShortlistOptions::parse(numbers).map_err(wrong)?;
                Ok(Some((file.into(), options)))
            }
        }
    }

    /// That of the command line: a file, or `false`.
    fn from_text(text: &str) -> Self {
        match text {
            "false" => ShortlistSetting::Flag(false),
            file => ShortlistSetting::File(file.into()),
        }
    }

    /// The same with its file in `folder`, where that is relative.
    fn within(&self, folder: &Path) -> Self {
        match self {
            ShortlistSetting::Flag(flag) => ShortlistSetting::Flag(*flag),
            ShortlistSetting::File(file) => ShortlistSetting::File(folder.join(file)),
            ShortlistSetting::Pruned(values) => {
                let mut values = values.clone();
                if let Some(toml::Value::String(file)) = values.first_mut() {
                    *file = folder.join(&*file).display().to_string();
                }
                ShortlistSetting::Pruned(values)
            }
        }
    }
}

impl ModelConfiguration {
    /// The options of decoding by their keys, as texts.
    pub(crate) fn decoding_values(&self) -> [(&'static str, Option<String>); 15] {
        fn text<T: ToString>(value: Option<T>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        [
            ("beam-size", text(self.beam)),
            ("normalize", text(self.normalize)),
            ("word-penalty", text(self.word_penalty)),
            ("max-length-factor", text(self.max_length_factor)),
            ("max-decoding-length", text(self.max_decoding_length)),
            ("min-length", text(self.min_length)),
            ("patience", text(self.patience)),
            ("coverage-penalty", text(self.coverage_penalty)),
            ("repetition-penalty", text(self.repetition_penalty)),
            ("no-repeat-ngram-size", text(self.no_repeat_ngram_size)),
            ("early-stop", text(self.early_stop)),
            ("allow-unk", text(self.allow_unk)),
            ("replace-unknowns", text(self.replace_unknowns)),
            ("max-length", text(self.max_length)),
            ("max-length-crop", text(self.max_length_crop)),
        ]
    }

    /// The options of decoding.
    ///
    /// # Errors
    /// If one is out of its range.
    pub(crate) fn decoding(&self) -> Result<DecodingSettings, String> {
        let mut settings = DecodingSettings::default();
        for (key, value) in self.decoding_values() {
            if let Some(value) = value {
                settings.set(key, &value)?;
            }
        }
        Ok(settings)
    }

    /// How ARPA text is read.
    ///
    /// # Errors
    /// If a policy does not have this value.
    pub(crate) fn arpa_options(&self) -> Result<ArpaOptions, String> {
        let mut options = ArpaOptions::default();
        let given = [&self.duplicates, &self.positive, &self.missing_markers];
        for (name, value) in ArpaOptions::NAMES.iter().zip(given) {
            if let Some(value) = value {
                options.set(name, value)?;
            }
        }
        Ok(options)
    }

    /// The model of `NAME=PATH[,from=de,to=en,kind=neural,...]`.
    ///
    /// # Errors
    /// If a part is not known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once('=').ok_or("give NAME=PATH[,from=de,to=en]")?;
        let mut parts = rest.split(',');
        let path = parts.next().unwrap_or_default();
        let parts: Vec<(&str, &str)> =
            parts.map(|part| part.split_once('=').unwrap_or((part, "true"))).collect();
        let is_decoding = |key: &str| DecodingSettings::KEYS.contains(&key);
        // Options of decoding are written as in a file.
        let mut decoding = String::new();
        for (key, value) in parts.iter().filter(|(key, _)| is_decoding(key)) {
            DecodingSettings::default().set(key, value)?;
            decoding += &format!("{key} = {value}\n");
        }
        let model = toml::from_str(&decoding);
        let mut model: ModelConfiguration =
            model.map_err(|error: toml::de::Error| error.message().to_owned())?;
        (model.name, model.path) = (name.to_owned(), path.into());
        for (key, value) in parts {
            let languages = || value.split('+').map(str::to_owned).collect();
            let number = |what| move |_| format!("{key}={value}: give {what}");
            match key {
                "from" => model.from = languages(),
                "to" => model.to = languages(),
                "kind" => {
                    let kinds = [ModelKind::Phrase, ModelKind::Neural, ModelKind::Lm];
                    let found = kinds.into_iter().find(|kind| kind.name() == value);
                    model.kind = Some(found.ok_or("kind is phrase, neural or lm")?);
                }
                "default" => model.default = value == "true",
                "raw" => model.raw = Some(value.parse().map_err(number("true or false"))?),
                "beam" => {
                    let wrong = |_| format!("beam={value}: give a number");
                    model.beam = Some(value.parse().map_err(wrong)?);
                }
                "nonbreaking-prefixes" => model.nonbreaking_prefixes = Some(value.into()),
                "precision" => model.precision = Some(value.to_owned()),
                "duplicates" => model.duplicates = Some(value.to_owned()),
                "positive" => model.positive = Some(value.to_owned()),
                "missing-markers" => model.missing_markers = Some(value.to_owned()),
                "prefix-token" => model.prefix_token = Some(value.to_owned()),
                "vocab" => model.vocabs.push(value.into()),
                "shortlist" => model.shortlist = Some(ShortlistSetting::from_text(value)),
                "search" => model.search = Some(value.to_owned()),
                _ if is_decoding(key) => {}
                _ => {
                    return Err(format!(
                        "{key} is not known here; there are from, to (several with +), kind, \
                         default, raw, nonbreaking-prefixes, beam, precision, prefix-token, vocab, shortlist, search, {}, \
                         duplicates, positive, missing-markers; \
                         the rest is set in a file (--config)",
                        DecodingSettings::KEYS.join(", ")
                    ));
                }
            }
        }
        Ok(model)
    }
}

impl Configuration {
    /// Reads a file. Relative paths of models and other files are in its folder.
    ///
    /// # Errors
    /// If it cannot be read, is no TOML, or has a key that is not known.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong =
            |reason: String| Error::Configuration { place: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let mut configuration = Configuration::parse(&text).map_err(wrong)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for model in &mut configuration.models {
            model.path = folder.join(&model.path);
            model.vocabs.iter_mut().for_each(|file| *file = folder.join(&*file));
            model.shortlist = model.shortlist.as_ref().map(|list| list.within(folder));
        }
        configuration.api_keys = configuration.api_keys.map(|file| folder.join(file));
        let is_file = |log: &PathBuf| *log != Path::new("-");
        if let Some(log) = configuration.access_log.as_mut().filter(|log| is_file(log)) {
            *log = folder.join(&*log);
        }
        Ok(configuration)
    }

    /// The configuration of the text of a file.
    ///
    /// # Errors
    /// With the line and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let message = error.message();
            // It quotes names as they are, however long.
            match message.split_once('`').map(|(before, rest)| (before, rest.split_once('`'))) {
                Some((before, Some((name, after)))) => {
                    format!("{place}{before}`{}`{after}", miriam_textio::shorten(name))
                }
                _ => format!("{place}{message}"),
            }
        })
    }

    /// Whether a group of protocols is served.
    pub fn serves(&self, api: Api) -> bool {
        self.apis.is_empty() || self.apis.contains(&api)
    }

    /// The networks of trusted proxies.
    ///
    /// # Errors
    /// If one is none.
    pub(crate) fn networks(&self) -> Result<Vec<Network>> {
        let parse = |text: &String| {
            let wrong = |reason| Error::Usage { reason: format!("trusted-proxies: {reason}") };
            text.parse().map_err(wrong)
        };
        self.trusted_proxies.iter().map(parse).collect()
    }

    /// Who may use Unix sockets.
    ///
    /// # Errors
    /// If the mode is not one, or sockets that it is for are missing.
    pub(crate) fn socket_access(&self) -> Result<SocketAccess> {
        let wrong = |reason: String| Error::Usage { reason };
        let given = [(&self.unix_mode, "unix-mode"), (&self.unix_group, "unix-group")];
        if self.unix.is_empty()
            && let Some((_, name)) = given.iter().find(|(value, _)| value.is_some())
        {
            return Err(wrong(format!("{name} has no effect without a socket, unix")));
        }
        let mode = match &self.unix_mode {
            None => SocketAccess::default().mode,
            Some(text) => u32::from_str_radix(text, 8)
                .ok()
                .filter(|mode| *mode <= 0o777 && text.len() <= 4 && !text.starts_with('+'))
                .ok_or_else(|| wrong(format!("unix-mode {text:?}: give octal digits, as 0660")))?,
        };
        Ok(SocketAccess { mode, group: self.unix_group.clone() })
    }

    /// Checks what does not depend on files.
    ///
    /// # Errors
    /// If there is no model, or two have one name.
    pub fn check(&self) -> Result<()> {
        let wrong = |reason: String| Err(Error::Usage { reason });
        let base = &self.base_path;
        if !base.is_empty() && (!base.starts_with('/') || base.ends_with('/')) {
            return wrong(format!("base-path {base:?}: it begins with / and does not end with it"));
        }
        self.networks()?;
        self.socket_access()?;
        if self.models.is_empty() {
            return wrong("there is no model; give --model NAME=PATH, or --config".into());
        }
        for (number, model) in self.models.iter().enumerate() {
            if model.name.is_empty() {
                return wrong(format!("{}: the model has no name", model.path.display()));
            }
            // As in a request.
            let most = self.limits.n_best;
            if let Some(beam) = model.beam.filter(|beam| !(1..=most).contains(beam)) {
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_toml() {
        let text = "listen = [\"127.0.0.1:0\"]\npivot = \"en\"\napis = [\"v1\", \"libre\"]\n\n\
                    [limits]\nlines = 5\n\n[[model]]\nname = \"a\"\npath = \"x/moses.ini\"\n\
                    from = [\"de\"]\nto = [\"en\"]\nkind = \"phrase\"\n";
        let found = Configuration::parse(text).unwrap();
        assert_eq!(found.limits, Limits { lines: 5, ..Limits::default() });
        assert_eq!(found.models[0].path, Path::new("x/moses.ini"));
        assert!(found.serves(Api::V1) && !found.serves(Api::DeepL));
        assert!(Configuration::default().serves(Api::DeepL));
        let wrong = Configuration::parse("listen = []\n[[model]]\nnam = \"a\"\n").unwrap_err();
        assert!(wrong.starts_with("line 3: unknown field `nam`"), "{wrong}");
    }

    /// Every option of ARPA text is a key of a language model.
    #[test]
    fn options_of_arpa_text_are_keys_of_models() {
        for (name, value) in ArpaOptions::NAMES.iter().zip(["keep-first", "zero", "unknown"]) {
            let mut expected = ArpaOptions::default();
            expected.set(name, value).unwrap();
            let text = format!("[[model]]\nname = \"a\"\n{name} = \"{value}\"\n");
            let found = Configuration::parse(&text).unwrap();
            assert_eq!(found.models[0].arpa_options(), Ok(expected), "{name}");
            let found = ModelConfiguration::parse(&format!("a=b,{name}={value}")).unwrap();
            assert_eq!(found.arpa_options(), Ok(expected), "{name}");
            let wrong = ModelConfiguration::parse(&format!("a=b,{name}=x")).unwrap();
            assert!(wrong.arpa_options().unwrap_err().starts_with(&format!("{name}=x: give")));
        }
    }

    /// Every option of decoding is a key of a model, in a file and on the command line.
    #[test]
    fn options_of_decoding_are_keys_of_models() {
        let keys: Vec<&str> =
            ModelConfiguration::default().decoding_values().iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, DecodingSettings::KEYS);
        for key in DecodingSettings::KEYS {
            let fits = |value: &&str| DecodingSettings::default().set(key, value).is_ok();
            let value = ["2", "true"].into_iter().find(fits).unwrap();
            let mut expected = DecodingSettings::default();
            expected.set(key, value).unwrap();
            let text = format!("[[model]]\nname = \"a\"\n{key} = {value}\n");
            let found = Configuration::parse(&text).unwrap();
            assert_eq!(found.models[0].decoding(), Ok(expected), "{key}");
            let found = ModelConfiguration::parse(&format!("a=b,{key}={value}")).unwrap();
            assert_eq!(found.decoding(), Ok(expected), "{key}");
            assert!(ModelConfiguration::parse(&format!("a=b,{key}=x")).is_err(), "{key}");
        }
        let wrong = Configuration::parse("[[model]]\nbeam = 0\n").unwrap();
        assert!(wrong.models[0].decoding().unwrap_err().starts_with("beam-size"));
        let list = |text: &str| {
            let found = Configuration::parse(&format!("[[model]]\nshortlist = {text}\n"));
            found.unwrap().models[0].shortlist.clone().unwrap().parse()
        };
        let pruned = ShortlistOptions { first: 50, best: 20, ..ShortlistOptions::default() };
        assert_eq!(list("[\"lex\", 50, \"20\"]"), Ok(Some(("lex".into(), pruned))));
        assert_eq!(list("[\"lex\", false]"), list("\"lex\""));
        assert_eq!(list("false"), Ok(None));
        for wrong in ["true", "[]", "[\"lex\", \"many\"]"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn modes_of_sockets_are_octal() {
        let access = |mode: Option<&str>, unix: &[&str]| {
            let unix = unix.iter().map(Into::into).collect();
            Configuration { unix, unix_mode: mode.map(Into::into), ..Default::default() }
                .socket_access()
        };
        assert_eq!(access(None, &[]).unwrap().mode, 0o660);
        assert_eq!(access(Some("0666"), &["s"]).unwrap().mode, 0o666);
        assert_eq!(access(Some("600"), &["s"]).unwrap().mode, 0o600);
        for wrong in ["", "rw", "0888", "7777", "00666", "-1", "+660"] {
            assert!(access(Some(wrong), &["s"]).is_err(), "{wrong}");
        }
        assert!(access(Some("0666"), &[]).is_err(), "without a socket");
    }

    #[test]
    fn models_on_the_command_line() {
        let model = ModelConfiguration::parse("toy=a/moses.ini,from=en+de,to=es,beam=3").unwrap();
        assert_eq!(model.from, ["en", "de"]);
        assert_eq!((model.path.as_path(), model.beam), (Path::new("a/moses.ini"), Some(3)));
        for wrong in ["toy", "toy=x,beam=many", "toy=x,color=red", "toy=x,kind=best"] {
            assert!(ModelConfiguration::parse(wrong).is_err(), "{wrong}");
        }
        for (number, (api, name)) in Api::ALL.into_iter().enumerate() {
            assert_eq!((name.parse::<Api>().unwrap(), api as usize), (api, number));
        }
    }

    #[test]
    fn names_are_single() {
        let model = |name: &str| ModelConfiguration { name: name.into(), ..Default::default() };
        let with = |models| Configuration { models, ..Default::default() }.check();
        let based = |base_path: &str, proxy: &str| {
            let (base_path, trusted_proxies) = (base_path.into(), vec![proxy.into()]);
            let models = vec![model("a")];
            Configuration { models, base_path, trusted_proxies, ..Default::default() }.check()
        };
        assert!(based("/mt", "10.0.0.0/8").is_ok());
        for (path, proxy) in [("mt", "::1"), ("/mt/", "::1"), ("/", "::1"), ("", "proxy")] {
            assert!(based(path, proxy).is_err(), "{path} {proxy}");
        }
        assert!(with(vec![model("a"), model("b")]).is_ok());
        for wrong in [vec![], vec![model("")], vec![model("a"), model("a")]] {
            assert!(with(wrong).is_err());
        }
    }
}
