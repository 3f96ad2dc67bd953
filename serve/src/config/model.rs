//! A model of a configuration: a table of the file, or an argument of the command line.

mod decoding;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use miriam_lmcpu::{ArpaOptions, is_binary_model};
use miriam_nmt::shortlist::ShortlistOptions;
use miriam_nmt::translate::DecodingSettings;
use miriam_storage::{Container, LoadMethod};
use serde::Deserialize;

use super::{MarianServerModels, MosesSystem};
use decoding::{decoding_key, text_of};

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
    /// Returns the name in options and metrics.
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
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ModelConfiguration {
    /// The name by which clients choose it.
    pub name: String,
    /// A moses.ini or its folder, a neural model's file or folder, or a language model.
    pub path: PathBuf,
    /// The languages it translates from.
    pub from: Vec<String>,
    /// The languages it translates to.
    pub to: Vec<String>,
    /// Its kind, where the path does not determine it.
    pub kind: Option<ModelKind>,
    /// Whether this is the model of requests that name none.
    pub default: bool,
    /// A phrase-based system: whether running text is prepared with the file `preparation`
    /// beside the ini, if there is one.
    pub raw: Option<bool>,
    /// A model that translates: a list of nonbreaking prefixes in Moses' form, which replaces the
    /// list of the language or of the system's text preparation.
    pub nonbreaking_prefixes: Option<PathBuf>,
    /// A phrase-based system: further options of `miriam translate`.
    pub options: Vec<String>,
    /// A phrase-based system: its configuration, if it has been read from `path` and `options`.
    #[serde(skip)]
    pub moses_system: Option<MosesSystem>,
    /// A phrase-based system: whether `align` puts `|0-1|` after phrases in the text of
    /// XML-RPC, as Moses does.
    pub segmentation_marks: Option<bool>,
    /// A neural model: what marian-server's command line names in place of `path`.
    #[serde(skip)]
    pub marian_server: Option<MarianServerModels>,
    /// A neural model: its vocabularies, where they are not beside it.
    pub vocabs: Vec<PathBuf>,
    /// A neural model: the token that begins each source, such as `>>fra<<`.
    pub prefix_token: Option<String>,
    /// A neural model: a shortlist that replaces the model's.
    pub shortlist: Option<ShortlistSetting>,
    /// A neural model: a language model that takes part in its search.
    pub lm: Option<PathBuf>,
    /// A neural model: whether the language model is over pieces, not over words.
    pub lm_pieces: Option<bool>,
    /// A neural model: the program whose rules end the search, `marian` or `ctranslate2`.
    pub search: Option<String>,
    /// A neural model: its decoding options, which are keys of the same table.
    #[serde(skip)]
    pub decoding: DecodingSettings,
    /// A neural model: the most sentences that are translated together.
    pub mini_batch: Option<usize>,
    /// A neural model: the precision of matrix products.
    pub precision: Option<String>,
    /// A neural model: where it computes, `cpu`, `cuda:N` or `auto`.
    pub device: Option<String>,
    /// A language model as ARPA text: the policy for duplicate n-grams.
    pub duplicates: Option<String>,
    /// A language model as ARPA text: the policy for positive log probabilities.
    pub positive: Option<String>,
    /// A language model as ARPA text: the policy for a missing `<s>` or `</s>`.
    pub missing_markers: Option<String>,
}

/// The shortlist setting of a configuration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ShortlistSetting {
    /// False to ignore the shortlist beside the model.
    Flag(bool),
    /// Its file.
    File(PathBuf),
    /// Its file, the numbers of frequent words and of translations per word, and the least
    /// probability of a translation.
    Pruned(Vec<toml::Value>),
}

impl ShortlistSetting {
    /// Returns the setting of a command line: a file, and the numbers and the least probability
    /// that may follow it. `None` without words.
    pub fn from_words(words: &[String]) -> Option<Self> {
        match words {
            [] => None,
            [file] => Some(ShortlistSetting::File(file.into())),
            _ => {
                let values = words.iter().cloned().map(toml::Value::String).collect();
                Some(ShortlistSetting::Pruned(values))
            }
        }
    }

    /// Returns the file with its options, or `None` for no shortlist.
    ///
    /// # Errors
    /// If the setting is invalid.
    pub(crate) fn parse(&self) -> Result<Option<(PathBuf, ShortlistOptions)>, String> {
        fn wrong(reason: String) -> String {
            format!("shortlist: {reason}")
        }
        match self {
            ShortlistSetting::Flag(false) => Ok(None),
            ShortlistSetting::Flag(true) => Err(wrong("give its file, or false for none".into())),
            ShortlistSetting::File(file) => Ok(Some((file.clone(), ShortlistOptions::default()))),
            ShortlistSetting::Pruned(values) => {
                let words: Vec<String> = values.iter().map(text_of).collect();
                let [file, numbers @ ..] = &words[..] else {
                    return Err(wrong("give its file".into()));
                };
                let options = ShortlistOptions::parse(numbers).map_err(wrong)?;
                Ok(Some((file.into(), options)))
            }
        }
    }

    /// Parses an argument of the command line: a file, or `false`.
    fn from_text(text: &str) -> Self {
        match text {
            "false" => ShortlistSetting::Flag(false),
            file => ShortlistSetting::File(file.into()),
        }
    }

    /// Returns the setting with a relative file name resolved in `folder`.
    pub(super) fn within(&self, folder: &Path) -> Self {
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

/// The ends of names of ARPA files, plain and compressed.
const ARPA_ENDINGS: [&str; 6] = [".arpa", ".arpa.gz", ".arpa.zst", ".arpa.bz2", ".arpa.xz", ".lm"];

/// Whether the file at `path` is a binary language model: KenLM's, or one of `miriam lm build`.
fn is_binary_language_model(path: &Path) -> bool {
    if !Container::is_container(path) {
        return is_binary_model(path);
    }
    let container = Container::open_any(path, LoadMethod::Lazy);
    container.is_ok_and(|container| {
        matches!(
            container.kind(),
            miriam_lmcpu::probing::KIND | miriam_lmcpu::trie::KIND | miriam_glm::KIND
        )
    })
}

impl ModelConfiguration {
    /// Returns the kind that the configuration states, otherwise the one that the path or the
    /// beginning of the file tells.
    pub(crate) fn actual_kind(&self) -> ModelKind {
        fn is_named(endings: &[&str], path: &Path) -> bool {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            endings.iter().any(|ending| name.ends_with(ending))
        }
        let is_ini = self.path.extension().is_some_and(|extension| extension == "ini");
        if let Some(kind) = self.kind {
            kind
        } else if is_ini || self.path.join("moses.ini").is_file() {
            ModelKind::Phrase
        } else if is_named(&ARPA_ENDINGS, &self.path) || is_binary_language_model(&self.path) {
            ModelKind::Lm
        } else {
            ModelKind::Neural
        }
    }

    /// Returns the options for reading ARPA text.
    ///
    /// # Errors
    /// If a policy has an invalid value.
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

    /// Parses `NAME=PATH[,from=de,to=en,kind=neural,...]`. The path may have any bytes.
    ///
    /// # Errors
    /// If `=` is missing, or a key is unknown, repeated or has an invalid value.
    pub fn parse(argument: impl AsRef<OsStr>) -> Result<Self, String> {
        fn text(bytes: &[u8]) -> Result<&str, String> {
            std::str::from_utf8(bytes).map_err(|_| {
                let shown = String::from_utf8_lossy(bytes);
                format!("{shown} is not UTF-8; only the path of a model may have other bytes")
            })
        }
        let argument = argument.as_ref().as_bytes();
        let name_end = argument.iter().position(|&byte| byte == b'=');
        let name_end = name_end.ok_or("give NAME=PATH[,from=de,to=en]")?;
        let name = text(&argument[..name_end])?;
        let mut parts = argument[name_end + 1..].splitn(2, |&byte| byte == b',');
        let path = OsStr::from_bytes(parts.next().unwrap_or_default());
        let keys = parts.next().map(text).transpose()?;
        let parts = keys.into_iter().flat_map(|keys| keys.split(','));
        let parts: Vec<(&str, &str)> =
            parts.map(|part| part.split_once('=').unwrap_or((part, "true"))).collect();
        let mut model = ModelConfiguration {
            name: name.to_owned(),
            path: path.into(),
            ..ModelConfiguration::default()
        };
        let mut given = HashSet::new();
        for (key, value) in parts {
            // A model may have two vocabularies.
            if !given.insert(key) && key != "vocab" {
                let several =
                    if matches!(key, "from" | "to") { "; write several as a+b" } else { "" };
                return Err(format!("{key} is given twice{several}"));
            }
            fn languages(value: &str) -> Vec<String> {
                value.split('+').map(str::to_owned).collect()
            }
            fn read_flag(key: &str, value: &str) -> Result<bool, String> {
                value.parse().map_err(|_| format!("{key}={value}: give true or false"))
            }
            match key {
                "from" => model.from = languages(value),
                "to" => model.to = languages(value),
                "kind" => {
                    let kinds = [ModelKind::Phrase, ModelKind::Neural, ModelKind::Lm];
                    let found = kinds.into_iter().find(|kind| kind.name() == value);
                    model.kind = Some(found.ok_or("kind is phrase, neural or lm")?);
                }
                "default" => model.default = read_flag(key, value)?,
                "raw" => model.raw = Some(read_flag(key, value)?),
                "nonbreaking-prefixes" => model.nonbreaking_prefixes = Some(value.into()),
                "precision" => model.precision = Some(value.to_owned()),
                "device" => model.device = Some(value.to_owned()),
                "duplicates" => model.duplicates = Some(value.to_owned()),
                "positive" => model.positive = Some(value.to_owned()),
                "missing-markers" => model.missing_markers = Some(value.to_owned()),
                "prefix-token" => model.prefix_token = Some(value.to_owned()),
                "vocab" => model.vocabs.push(value.into()),
                "shortlist" => model.shortlist = Some(ShortlistSetting::from_text(value)),
                "lm" => model.lm = Some(value.into()),
                "lm-pieces" => model.lm_pieces = Some(read_flag(key, value)?),
                "search" => model.search = Some(value.to_owned()),
                _ => {
                    if let Some(key) = decoding_key(key) {
                        model.decoding.set(key, value)?;
                        continue;
                    }
                    return Err(format!(
                        "{key} is not known here; the keys are from, to (several with +), kind, \
                         default, raw, nonbreaking-prefixes, beam, precision, device, \
                         prefix-token, vocab, shortlist, lm, lm-pieces, search, {}, duplicates, \
                         positive, missing-markers; the rest is set in a file (--config)",
                        DecodingSettings::KEYS.join(", ")
                    ));
                }
            }
        }
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Configuration;

    /// The model of a table with these lines.
    fn read(lines: &str) -> Result<ModelConfiguration, String> {
        let found = Configuration::parse(&format!("[[model]]\n{lines}\n"))?;
        Ok(found.models.into_iter().next().unwrap())
    }

    #[test]
    fn language_models_are_known_by_name_or_content() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (path, kind) in [
            ("none.arpa.xz", ModelKind::Lm),
            ("none.bin", ModelKind::Neural),
            ("lmcpu/testdata/toy-wordless.kenlm", ModelKind::Lm),
            ("lmcpu/testdata/toy-v2.ngram-probing", ModelKind::Lm),
            ("lmcpu/testdata/toy-v2.ngram-trie", ModelKind::Lm),
            ("nmt/testdata/tiny.miriam", ModelKind::Neural),
        ] {
            let mut model = ModelConfiguration { path: root.join(path), ..Default::default() };
            assert_eq!(model.actual_kind(), kind, "{path}");
            model.kind = Some(ModelKind::Phrase);
            assert_eq!(model.actual_kind(), ModelKind::Phrase, "{path}");
        }
    }

    /// Every option of ARPA text is a key of a language model.
    #[test]
    fn options_of_arpa_text_are_keys_of_models() {
        for (name, value) in ArpaOptions::NAMES.iter().zip(["keep-first", "zero", "unknown"]) {
            let mut expected = ArpaOptions::default();
            expected.set(name, value).unwrap();
            let found = read(&format!("{name} = \"{value}\"")).unwrap();
            assert_eq!(found.arpa_options(), Ok(expected), "{name}");
            let found = ModelConfiguration::parse(format!("a=b,{name}={value}")).unwrap();
            assert_eq!(found.arpa_options(), Ok(expected), "{name}");
            let wrong = ModelConfiguration::parse(format!("a=b,{name}=x")).unwrap();
            assert!(wrong.arpa_options().unwrap_err().starts_with(&format!("{name}=x: give")));
        }
    }

    /// Every option of decoding is a key of a model, in a file and on the command line.
    #[test]
    fn options_of_decoding_are_keys_of_models() {
        for key in DecodingSettings::KEYS {
            let fits = |value: &&str| DecodingSettings::default().set(key, value).is_ok();
            let value = ["0.5", "1", "true"].into_iter().find(fits).unwrap();
            let mut expected = DecodingSettings::default();
            expected.set(key, value).unwrap();
            assert_eq!(read(&format!("{key} = {value}")).unwrap().decoding, expected, "{key}");
            let found = ModelConfiguration::parse(format!("a=b,{key}={value}")).unwrap();
            assert_eq!(found.decoding, expected, "{key}");
            for wrong in [format!("{key} = -1.5e9"), format!("{key} = [[1]]")] {
                let may_be_any = ["normalize", "word-penalty", "coverage-penalty", "lm-weight"];
                let may_be_any = may_be_any.contains(&key);
                let error = read(&wrong).err();
                let named = format!("line 2: {key}: expected");
                let is_named = error.is_some_and(|error| error.starts_with(&named));
                assert!(is_named || may_be_any && wrong.ends_with("e9"), "{wrong}");
            }
            assert!(ModelConfiguration::parse(format!("a=b,{key}=x")).is_err(), "{key}");
        }
        let both = read("beam = 4\nmin-decoding-length = 3").unwrap().decoding;
        assert_eq!((both.beam_size, both.min_length), (Some(4), Some(3)));
        let marian = read("output-sampling = [\"topk\", 5, 0.5]\nname = \"a\"").unwrap();
        let mut expected = DecodingSettings::default();
        expected.set("output-sampling", "topk 5 0.5").unwrap();
        assert_eq!((&marian.name[..], marian.decoding), ("a", expected));
        let error = read("sampling-topk = 5\noutput-sampling = true").unwrap_err();
        assert!(
            error.ends_with(": output-sampling and sampling-topk: give one of them"),
            "{error}"
        );
        let unknown = read("beem = 4").unwrap_err();
        assert!(unknown.starts_with("line 2: unknown field `beem`, expected one of"), "{unknown}");
        assert!(unknown.contains("beam-size") && unknown.contains("`name`"), "{unknown}");
    }

    #[test]
    fn shortlists_are_files_with_numbers() {
        let list = |text: &str| {
            let found = read(&format!("shortlist = {text}"));
            found.unwrap().shortlist.unwrap().parse()
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
    fn models_on_the_command_line() {
        let model = ModelConfiguration::parse("toy=a/moses.ini,from=en+de,to=es,beam=3").unwrap();
        assert_eq!(model.from, ["en", "de"]);
        assert_eq!(
            (model.path.as_path(), model.decoding.beam_size),
            (Path::new("a/moses.ini"), Some(3))
        );
        for wrong in ["toy", "toy=x,beam=many", "toy=x,color=red", "toy=x,kind=best", "toy=x,"] {
            assert!(ModelConfiguration::parse(wrong).is_err(), "{wrong}");
        }
        let latin = OsStr::from_bytes(b"toy=caf\xe9/moses.ini,from=en");
        let model = ModelConfiguration::parse(latin).unwrap();
        assert_eq!(model.path.as_os_str().as_bytes(), b"caf\xe9/moses.ini");
        assert_eq!(model.from, ["en"]);
        for wrong in [&b"caf\xe9=x"[..], b"toy=x,lm=caf\xe9"] {
            let error = ModelConfiguration::parse(OsStr::from_bytes(wrong)).unwrap_err();
            assert!(error.contains("is not UTF-8; only the path"), "{error}");
        }
    }
}
