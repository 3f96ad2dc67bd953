//! Unparsed options: names with strings, from the command line, configuration files and a preset.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use miriam_nmt::yaml::Value;
use miriam_textio::{shorten, suggest_name};

use super::table::{Arity, OptionSpec, Status, all_options, find};
use crate::error::{Error, Result};

/// Options that name files, to which `relative-paths` applies.
const PATHS: [&str; 17] = [
    "model",
    "pretrained-model",
    "train-sets",
    "valid-sets",
    "vocabs",
    "guided-alignment",
    "data-weighting",
    "embedding-vectors",
    "valid-script-path",
    "valid-script-args",
    "valid-log",
    "valid-translation-output",
    "log",
    "batches",
    "sqlite",
    "tempdir",
    "simulate-async",
];

/// Options that a resumed training run may change, in addition to the options of validation.
const CHANGEABLE: [&str; 14] = [
    "after",
    "logical-epoch",
    "after-epochs",
    "after-batches",
    "disp-freq",
    "disp-first",
    "save-freq",
    "log",
    "overwrite",
    "workers",
    "cpu-threads",
    "throw-on-divergence",
    "check-gradient-nan",
    "sentencepiece-options",
];

/// The beginning of a line with an option that Marian does not have. To Marian the line is a
/// comment.
pub(super) const OWN_OPTION: &[u8] = b"#miriam-option ";

/// Returns a configuration in which options that [`RawOptions::marian_yaml`] wrote as comments are
/// lines of their own.
fn uncomment_own_options(yaml: &[u8]) -> Vec<u8> {
    let lines = yaml.split_inclusive(|&byte| byte == b'\n');
    lines.flat_map(|line| line.strip_prefix(OWN_OPTION).unwrap_or(line)).copied().collect()
}

/// Options by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    values: BTreeMap<&'static str, Vec<String>>,
    /// The first line of the training's log.
    note: Option<String>,
}

impl RawOptions {
    /// Returns the first line of the log, which names the chosen preset, if any.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    pub(super) fn with_note(mut self, note: String) -> Self {
        self.note = Some(note);
        self
    }

    /// Reads a configuration in YAML; `name` names it in messages.
    ///
    /// # Errors
    /// If it is not a YAML mapping, or an option in it is unknown or has values of an invalid form
    /// or number.
    pub fn from_yaml(text: &[u8], name: &str) -> Result<Self> {
        let value = Value::parse_configuration(&uncomment_own_options(text), name)?;
        fn wrong(key: &str, reason: &str, name: &str) -> Error {
            Error::config(format!("{name}: {}: {reason}", shorten(key)))
        }
        let Value::Mapping(entries) = value else {
            return Err(wrong("options", "expected a mapping of names to values", name));
        };
        let mut options = RawOptions::default();
        for (key, value) in &entries {
            let key = String::from_utf8_lossy(key).into_owned();
            // Marian writes these keys into its configurations and models.
            let is_of_command = matches!(
                &key[..],
                "version"
                    | "config"
                    | "dump-config"
                    | "ignore-model-config"
                    | "authors"
                    | "cite"
                    | "build-info"
            );
            if is_of_command {
                continue;
            }
            let spec = spec_of(&key).map_err(|reason| wrong(&key, &reason, name))?;
            // Null is not a value. An empty string is a value, because it can override a default.
            if matches!(value.as_bytes(), Some(b"~" | b"null" | b"Null" | b"NULL")) {
                continue;
            }
            let texts: Vec<String> = match value {
                Value::Sequence(items) => items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect::<Option<_>>()
                    .ok_or_else(|| wrong(&key, "expected a list of values", name))?,
                Value::Scalar(_) => vec![value.as_str().unwrap_or_default().to_owned()],
                Value::Mapping(_) => return Err(wrong(&key, "expected a value", name)),
            };
            if texts.is_empty() && spec.arity != Arity::Many {
                continue;
            }
            check_count(spec, &texts).map_err(|reason| wrong(&key, &reason, name))?;
            // For a list, an empty string is an empty list.
            let is_empty = spec.arity == Arity::Many && texts.iter().all(String::is_empty);
            let texts = replace_truth_word(spec, texts);
            options.values.insert(spec.name, if is_empty { Vec::new() } else { texts });
        }
        Ok(options)
    }

    /// Sets an option. A flag has no value, or `true` or `false`.
    ///
    /// # Errors
    /// If it is unknown, or takes one value and has several.
    pub fn set(&mut self, name: &str, values: Vec<String>) -> Result<()> {
        let spec = spec_of(name).map_err(|reason| {
            let name = shorten(name);
            Error::usage(format!("--{name}: {reason}"))
        })?;
        let values = match (spec.arity, values.is_empty()) {
            (Arity::Flag, true) => vec!["true".into()],
            (Arity::Optional(bare), true) => vec![bare.into()],
            _ => replace_truth_word(spec, values),
        };
        check_count(spec, &values).map_err(|reason| Error::usage(format!("--{name}: {reason}")))?;
        self.values.insert(spec.name, values);
        Ok(())
    }

    /// Adds options of `other` that are not set here.
    pub fn or_else_from(mut self, other: RawOptions) -> Self {
        for (name, values) in other.values {
            self.values.entry(name).or_insert(values);
        }
        self
    }

    /// Returns the options that must be the same when the training run is resumed: all but limits,
    /// validation, the log, the saving of models, workers and checks for divergence.
    pub fn unchangeable(mut self) -> Self {
        self.values.retain(|name, _| {
            let is_validation = spec_of(name).is_ok_and(|spec| spec.group == "Validation");
            !is_validation && !CHANGEABLE.contains(name)
        });
        self
    }

    /// Returns the name of a given option that names input files, if there is one. Training depends
    /// on the content of these files.
    pub fn find_input_file(&self) -> Option<&'static str> {
        let is_output = |name: &str| {
            ["log", "valid-log", "valid-translation-output", "tempdir"].contains(&name)
        };
        PATHS.into_iter().find(|name| !is_output(name) && self.is_given(name))
    }

    /// Whether these options set the number of workers.
    pub fn has_workers(&self) -> bool {
        // In Marian, --cpu-threads 0 selects GPUs.
        self.is_given("workers") || !matches!(&self.get_string("cpu-threads")[..], "" | "0")
    }

    /// Resolves relative paths of a configuration against its `folder`, if it sets `relative-paths`
    /// or if `always` is true. Standard input and fields of tab-separated text are not paths.
    ///
    /// # Errors
    /// If `relative-paths` is neither true nor false.
    pub fn resolve_paths(&mut self, folder: &Path, always: bool) -> Result<()> {
        let is_asked_for = self.get_flag("relative-paths")?;
        // `relative-paths` applies to this configuration only.
        self.values.remove("relative-paths");
        if !is_asked_for && !always {
            return Ok(());
        }
        fn is_file(text: &str) -> bool {
            !matches!(text, "" | "-" | "stdin" | "none" | "temporary")
                && !text.bytes().all(|byte| byte.is_ascii_digit())
        }
        for name in PATHS {
            let texts = self.values.get_mut(name).into_iter().flatten();
            for text in texts.filter(|text| is_file(text)) {
                *text = folder.join(&*text).display().to_string();
            }
        }
        Ok(())
    }

    /// Removes an option.
    pub(super) fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// Replaces the values of an option, if it is given.
    pub(super) fn replace(&mut self, name: &str, values: Vec<String>) {
        if let Some(present) = self.values.get_mut(name) {
            *present = values;
        }
    }

    /// Whether an option is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Rejects unsupported options, and returns a warning for each option without effect.
    ///
    /// # Errors
    /// If an option is rejected; the message names the first.
    pub fn check_status(&self) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for (name, values) in &self.values {
            let Some(spec) = find(name) else { continue };
            match spec.status {
                Status::Refused(why) if !is_neutral(name, values) => {
                    return Err(Error::usage(format!("--{name}: {why}")));
                }
                Status::NoEffect(why)
                    if !is_neutral(name, values) && values.join(" ") != spec.default =>
                {
                    warnings.push(format!("--{name} has no effect: {why}"));
                }
                _ => {}
            }
        }
        let (fits, words) = (self.get_flag("mini-batch-fit")?, self.get_string("mini-batch-words"));
        let workspace = self.get_string("workspace");
        if !fits && find("workspace").is_some_and(|spec| workspace != spec.default) {
            warnings.push(
                "--workspace has no effect: it belongs to --mini-batch-fit; --granule-megabytes \
                limits the memory of a worker"
                    .into(),
            );
        }
        if fits && self.leaves_gpu_memory() {
            warnings.push(format!(
                "--workspace {workspace} leaves memory of a GPU free in Marian; here the limit of \
                 a batch is the default workspace"
            ));
        }
        if fits && words != "0" {
            warnings.push("--mini-batch-words has no effect with --mini-batch-fit".into());
        }
        if self.get_string("quantize-bits") == "0" {
            let idle = ["quantize-optimization-steps", "quantize-log-based", "quantize-biases"];
            let idle = idle.into_iter().filter(|name| !is_neutral(name, &self.get_strings(name)));
            warnings.extend(idle.map(|name| {
                format!("--{name} has no effect without --quantize-bits, the number of bits")
            }));
        }
        warnings.extend(self.warn_of_default_type());
        if self.is_given("seed") && self.get::<u64>("seed")? == 0 {
            warnings.push(
                "--seed 0 is a seed like others, so that training can be resumed; Marian draws one"
                    .into(),
            );
        }
        Ok(warnings)
    }

    /// Whether `workspace` is negative. In Marian this is the memory of a GPU that stays free.
    pub(super) fn leaves_gpu_memory(&self) -> bool {
        self.get_string("workspace").starts_with('-')
    }

    /// Returns the values of an option, or its default values.
    pub fn get_strings(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some(values) if !values.is_empty() => values.clone(),
            _ => {
                let default = find(name).map_or("", |spec| spec.default);
                default.split_whitespace().map(str::to_owned).collect()
            }
        }
    }

    /// Returns the only value of an option, or its default.
    pub fn get_string(&self, name: &str) -> String {
        self.get_strings(name).into_iter().next().unwrap_or_default()
    }

    /// Whether a flag is true; a flag that is not given is false unless its default is true.
    ///
    /// # Errors
    /// If its value is neither true nor false.
    pub fn get_flag(&self, name: &str) -> Result<bool> {
        match &self.get_string(name)[..] {
            "" => Ok(false),
            text => parse_bool(text)
                .ok_or_else(|| Error::usage(format!("--{name}: {text:?} is not true or false"))),
        }
    }

    /// Returns the value of an option, parsed.
    ///
    /// # Errors
    /// If it cannot be parsed.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T> {
        parse(name, &self.get_string(name))
    }

    /// Returns all values of an option, parsed.
    ///
    /// # Errors
    /// If one cannot be parsed.
    pub fn get_list<T: FromStr>(&self, name: &str) -> Result<Vec<T>> {
        self.get_strings(name).iter().map(|text| parse(name, text)).collect()
    }
}

/// Whether the values of an unsupported option switch nothing on.
fn is_neutral(name: &str, values: &[String]) -> bool {
    match name {
        "transformer-attention-mask" => values.iter().all(|value| value == "default"),
        "input-types" => values.iter().all(|value| value == "sequence"),
        _ => values.iter().all(|value| {
            matches!(&value[..], "" | "0.0" | "none" | "float32")
                || parse_bool(value) == Some(false)
        }),
    }
}

/// Parses a truth value as it is written in YAML and on the command line.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => Value::Scalar(text.into()).as_bool(),
    }
}

/// Checks the number of an option's values.
fn check_count(spec: &OptionSpec, values: &[String]) -> std::result::Result<(), String> {
    match values.len() {
        0 | 1 => Ok(()),
        _ if spec.arity == Arity::Many => Ok(()),
        count => Err(format!("expected one value, found {count}")),
    }
}

fn parse<T: FromStr>(name: &str, text: &str) -> Result<T> {
    // Marian writes some defaults as constants of C++, such as 5.0f.
    let number = text.strip_suffix('f').filter(|number| number.contains('.')).unwrap_or(text);
    number.parse().map_err(|_| {
        // A number that is not a valid `T` is a fraction, negative, too large, or has an exponent.
        let is_number = text.parse::<f64>().is_ok();
        let expected = if is_number { "a whole number from 0, in digits" } else { "a number" };
        let text = shorten(text);
        Error::usage(format!("--{name}: {text:?} is not a valid value, expected {expected}"))
    })
}

/// Replaces a truth value in any spelling of YAML. An option without a value is bare. Flags, and
/// options of several values that may be bare, get `true` or `false`. An option of one value that
/// may be bare gets the value of the bare option for true, and its default for false, as in Marian.
fn replace_truth_word(spec: &OptionSpec, values: Vec<String>) -> Vec<String> {
    let [word] = &values[..] else { return values };
    // For options with numbers, 1 and 0 are numbers, not truth values.
    let switch = || Value::Scalar(word.as_bytes().into()).as_bool();
    let replacement = match spec.arity {
        Arity::Flag => parse_bool(word).map(|is_on| is_on.to_string()),
        Arity::Optional(bare) => {
            switch().map(|is_on| String::from(if is_on { bare } else { spec.default }))
        }
        Arity::Many if spec.may_be_bare() => switch().map(|is_on| is_on.to_string()),
        Arity::One | Arity::Many => None,
    };
    replacement.map_or(values, |word| vec![word])
}

/// Returns the option of that name, or an error with a suggestion.
fn spec_of(name: &str) -> std::result::Result<&'static OptionSpec, String> {
    find(name).ok_or_else(|| match suggest_name(name, all_options().map(|spec| spec.name)) {
        Some(similar) => format!("unknown option; did you mean --{similar}?"),
        None => "unknown option".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_stand_for_values_as_in_marian() {
        for [on, off] in [["true", "false"], ["True", "False"], ["yes", "no"], ["ON", "off"]] {
            let yaml = format!(
                "normalize: {on}\nexponential-smoothing: {off}\nthrow-on-divergence: {on}\n\
                 dynamic-gradient-scaling: {on}\nsqlite: {off}\ntsv: {off}\n"
            );
            let file = RawOptions::from_yaml(yaml.as_bytes(), "train.yml").unwrap();
            assert_eq!(file.get::<f32>("normalize").unwrap(), 1.0, "{on}");
            assert_eq!(file.get::<f32>("exponential-smoothing").unwrap(), 0.0, "{off}");
            assert_eq!(file.get_strings("throw-on-divergence"), ["true"], "{on}");
            assert_eq!(file.get_string("tsv"), "false", "{off}");
            assert!(file.check_status().unwrap().is_empty(), "{off}");
            let config = file.training_config([10, 10]).unwrap();
            assert!(config.divergence.is_some() && config.scaling.is_some(), "{on}");
            let mut line = RawOptions::default();
            line.set("exponential-smoothing", vec![on.into()]).unwrap();
            line.set("throw-on-divergence", vec![off.into()]).unwrap();
            assert_eq!(line.get::<f32>("exponential-smoothing").unwrap(), 1e-4, "{on}");
            assert!(line.training_config([10, 10]).unwrap().divergence.is_none(), "{off}");
        }
        let wrong = RawOptions::from_yaml(b"normalize: maybe\nmini-batch: 1.5\n", "t").unwrap();
        let error = wrong.get::<f32>("normalize").unwrap_err().to_string();
        assert!(error.ends_with("expected a number"), "{error}");
        let error = wrong.get::<usize>("mini-batch").unwrap_err().to_string();
        assert!(error.ends_with("expected a whole number from 0, in digits"), "{error}");
        // Numbers stay numbers.
        let file = RawOptions::from_yaml(b"normalize: 0\nexponential-smoothing: 1", "t").unwrap();
        assert_eq!(file.get_string("normalize") + &file.get_string("exponential-smoothing"), "01");
    }

    #[test]
    fn the_command_line_is_above_configurations() {
        let yaml = b"dim-emb: 64\ntied-embeddings-all: true\nskip: false\nvocabs:\n  - a\n  - b\n";
        let file = RawOptions::from_yaml(yaml, "train.yml").unwrap();
        let mut line = RawOptions::default();
        line.set("dim-emb", vec!["32".into()]).unwrap();
        line.set("exponential-smoothing", vec![]).unwrap();
        let both = line.or_else_from(file);
        assert_eq!(both.get::<usize>("dim-emb").unwrap(), 32);
        assert!(both.get_flag("tied-embeddings-all").unwrap() && !both.get_flag("skip").unwrap());
        assert_eq!(both.get_strings("vocabs"), ["a", "b"]);
        assert_eq!(both.get::<f64>("exponential-smoothing").unwrap(), 1e-4);
        assert_eq!(both.get::<usize>("maxi-batch").unwrap(), 100);
        assert!(both.get::<usize>("transformer-postprocess").is_err());
    }

    #[test]
    fn values_that_switch_off_override_presets() {
        let yaml = b"transformer-postprocess-emb: \"\"\nkeep-best: false\nvalid-metrics: []\n\
                     skip: ~\noverwrite: no\n";
        let file = RawOptions::from_yaml(yaml, "train.yml").unwrap();
        let both = file.or_else_from(super::super::preset("m30k").unwrap());
        assert!(!both.get_flag("keep-best").unwrap() && !both.get_flag("overwrite").unwrap());
        assert_eq!(both.get_string("transformer-postprocess-emb"), "");
        assert!(both.model_yaml().unwrap().contains("transformer-postprocess-emb: \"\"\n"));
        // An empty list means the default.
        assert_eq!(both.get_strings("valid-metrics"), ["cross-entropy"]);
        assert!(!both.is_given("skip") && both.get_flag("tied-embeddings-all").unwrap());
    }

    #[test]
    fn truth_values_of_models_are_those_of_other_options() {
        for (text, expected) in [("yes", true), ("on", true), ("True", true), ("off", false)] {
            let yaml = format!("tied-embeddings-all: {text}\noverwrite: {text}\n");
            let options = RawOptions::from_yaml(yaml.as_bytes(), "t").unwrap();
            assert_eq!(options.get_flag("overwrite").unwrap(), expected, "{text}");
            let line = format!("tied-embeddings-all: {expected}\n");
            assert!(options.model_yaml().unwrap().contains(&line), "{text}");
        }
        let options = RawOptions::from_yaml(b"tied-embeddings-all: maybe", "t").unwrap();
        assert!(options.model_yaml().unwrap_err().to_string().contains("--tied-embeddings-all"));
    }

    #[test]
    fn several_values_of_an_option_with_one_are_rejected() {
        let error = RawOptions::from_yaml(b"learn-rate: [0.1, 0.2]", "t").unwrap_err().to_string();
        assert!(error.contains("t: learn-rate: expected one value"), "{error}");
        assert!(RawOptions::from_yaml(b"learn-rate: [0.1]", "t").is_ok());
        let mut options = RawOptions::default();
        assert!(options.set("skip", vec!["true".into(), "false".into()]).is_err());
    }

    #[test]
    fn paths_of_a_configuration_may_be_relative_to_its_folder() {
        let yaml = b"relative-paths: true\ntrain-sets: [a.en, /b/a.es]\nmodel: m/model.npz\n\
                     guided-alignment: none\ndata-weighting: 2\ndim-emb: 8\n";
        let mut options = RawOptions::from_yaml(yaml, "t").unwrap();
        options.resolve_paths(Path::new("runs"), false).unwrap();
        assert_eq!(options.get_strings("train-sets"), ["runs/a.en", "/b/a.es"]);
        assert_eq!(options.get_string("model"), "runs/m/model.npz");
        assert_eq!(
            options.get_string("guided-alignment") + &options.get_string("data-weighting"),
            "none2"
        );
        assert!(!options.is_given("relative-paths"));
        options.resolve_paths(Path::new("other"), false).unwrap();
        assert_eq!(options.get_string("model"), "runs/m/model.npz");
        options.resolve_paths(Path::new("other"), true).unwrap();
        assert_eq!(options.get_string("model"), "other/runs/m/model.npz");
    }

    #[test]
    fn unknown_and_unsupported_options_are_named() {
        let error = |yaml: &[u8]| RawOptions::from_yaml(yaml, "train.yml").unwrap_err().to_string();
        assert!(error(b"dim-embb: 3").contains("--dim-emb?"));
        assert!(error(b"- a").contains("mapping"));
        let status = |yaml: &[u8]| RawOptions::from_yaml(yaml, "t").unwrap().check_status();
        assert!(status(b"fp16: false").unwrap().is_empty());
        assert!(status(b"fp16: true").unwrap_err().to_string().contains("--fp16"));
        assert_eq!(status(b"workspace: 9000").unwrap().len(), 1);
        let idle = status(b"quantize-biases: true\nquantize-optimization-steps: 3").unwrap();
        assert!(idle.iter().all(|warning| warning.contains("without --quantize-bits")), "{idle:?}");
        assert_eq!(idle.len(), 2);
        assert!(status(b"{quantize-biases: true, quantize-bits: 4}").unwrap().is_empty());
        // Marian writes options that nobody gave; their values switch nothing on.
        let marian = b"authors: false\nlog: \"\"\nlog-level: info\nlr-report: false\nguided-alignment: none\n\
                       guided-alignment-cost: ce\nguided-alignment-weight: 0.1\nfactor-weight: 1\n\
                       bert-mask-symbol: \"[MASK]\"\nulr: false\nulr-dim-keys: 0\ntask: []\n\
                       data-weighting-type: sentence\nprecision:\n  - float32\n  - float32\n\
                       sqlite: \"\"\nword-penalty: 0\nlogical-epoch:\n  - 1e\n  - 0\n\
                       transformer-pool: false\nversion: v1.12\nshuffle: data\n";
        let warnings = status(marian).unwrap();
        assert!(warnings.iter().all(|warning| warning.contains("has no effect")), "{warnings:?}");
        assert!(!warnings.iter().any(|warning| warning.contains("lr-report")));
        assert!(status(b"transformer-pool: true").is_err() && status(b"task: toy").is_err());
        // This would change results in Marian.
        assert!(status(b"no-reload: on").is_err());
        assert!(status(b"input-types: [sequence, sequence]").unwrap().is_empty());
        assert!(status(b"input-types: [sequence, alignment, sequence]").is_err());
    }

    /// A configuration that Marian wrote contains no unsupported requests.
    #[test]
    fn configurations_of_marian_are_read() {
        let yaml = include_bytes!("../../tests/golden/marian/model.npz.yml");
        let options = RawOptions::from_yaml(yaml, "model.npz.yml").unwrap();
        assert_eq!(options.check_status().unwrap(), Vec::<String>::new());
        let config = options.training_config([16, 16]).unwrap();
        assert_eq!(config.limits.lengths[2].count, 7);
        assert_eq!(config.update.smoothing, 0.05);
    }
}
