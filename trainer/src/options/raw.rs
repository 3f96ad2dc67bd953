//! Options as they are given: names with texts, from the command line over a preset over
//! configuration files.

use std::collections::BTreeMap;
use std::str::FromStr;

use miriam_nmt::yaml::Value;

use super::table::{Arity, OPTIONS, OptionSpec, Status, find};
use crate::error::{Error, Result};

/// Options by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawOptions {
    values: BTreeMap<&'static str, Vec<String>>,
}

impl RawOptions {
    /// Reads a configuration in YAML; `name` names it in messages.
    ///
    /// # Errors
    /// If it is no mapping, or an option in it is not known.
    pub fn from_yaml(text: &[u8], name: &str) -> Result<Self> {
        let value = Value::parse(text, name)?;
        let wrong = |key: &str, reason: &str| Error::config(format!("{name}: {key}: {reason}"));
        let Value::Mapping(entries) = value else {
            return Err(wrong("options", "a mapping of names to values is needed"));
        };
        let mut options = RawOptions::default();
        for (key, value) in &entries {
            let key = String::from_utf8_lossy(key).into_owned();
            // Marian writes these into its configurations and models.
            let of_marian = ["version", "config", "dump-config", "ignore-model-config"];
            if of_marian.contains(&&key[..])
                || ["authors", "cite", "build-info"].contains(&&key[..])
            {
                continue;
            }
            let spec = spec_of(&key).map_err(|reason| wrong(&key, &reason))?;
            let texts: Vec<String> = match value {
                Value::Sequence(items) => items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect::<Option<_>>()
                    .ok_or_else(|| wrong(&key, "a list of values is needed"))?,
                Value::Scalar(_) => vec![value.as_str().unwrap_or_default().to_owned()],
                Value::Mapping(_) => return Err(wrong(&key, "a value is needed")),
            };
            // What is off in Marian's own configurations is not given.
            let is_off = texts.is_empty()
                || texts.iter().all(|text| matches!(&text[..], "false" | "" | "~" | "null"));
            if !is_off {
                options.values.insert(spec.name, texts);
            }
        }
        Ok(options)
    }

    /// Sets an option. A flag has no values, or `true` or `false`.
    ///
    /// # Errors
    /// If it is not known.
    pub fn set(&mut self, name: &str, values: Vec<String>) -> Result<()> {
        let spec = spec_of(name).map_err(|reason| Error::config(format!("--{name}: {reason}")))?;
        let values = match (spec.arity, values.is_empty()) {
            (Arity::Flag, true) => vec!["true".into()],
            (Arity::Optional(bare), true) => vec![bare.into()],
            _ => values,
        };
        self.values.insert(spec.name, values);
        Ok(())
    }

    /// These options where they are given, else those of `other`.
    pub fn over(mut self, other: RawOptions) -> Self {
        for (name, values) in other.values {
            self.values.entry(name).or_insert(values);
        }
        self
    }

    /// Whether an option is given.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Refuses what is refused, and gives a warning for each option without effect.
    ///
    /// # Errors
    /// With the first option that is refused.
    pub fn check_status(&self) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for (name, values) in &self.values {
            let Some(spec) = find(name) else { continue };
            match spec.status {
                Status::Refused(why) if !is_neutral(values) => {
                    return Err(Error::config(format!("--{name}: {why}")));
                }
                Status::NoEffect(why)
                    if !is_neutral(values) && values.join(" ") != spec.default =>
                {
                    warnings.push(format!("--{name} has no effect: {why}"));
                }
                _ => {}
            }
        }
        let (fits, words) = (self.flag("mini-batch-fit")?, self.text("mini-batch-words"));
        let workspace = self.text("workspace");
        if !fits && find("workspace").is_some_and(|spec| workspace != spec.default) {
            warnings.push(
                "--workspace has no effect: it is of --mini-batch-fit; --granule-megabytes limits \
                 the memory of a worker"
                    .into(),
            );
        }
        if fits && words != "0" {
            warnings.push("--mini-batch-words has no effect beside --mini-batch-fit".into());
        }
        Ok(warnings)
    }

    /// The values of an option, or of its default.
    pub fn texts(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some(values) => values.clone(),
            None => {
                let default = find(name).map_or("", |spec| spec.default);
                default.split_whitespace().map(str::to_owned).collect()
            }
        }
    }

    /// The single value of an option, or its default.
    pub fn text(&self, name: &str) -> String {
        self.texts(name).into_iter().next().unwrap_or_default()
    }

    /// Whether a flag is given.
    ///
    /// # Errors
    /// If its value is neither true nor false.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match &self.text(name)[..] {
            "" | "false" | "0" => Ok(false),
            "true" | "1" => Ok(true),
            other => Err(Error::config(format!("--{name}: {other:?} is neither true nor false"))),
        }
    }

    /// The value of an option as a number or another type.
    ///
    /// # Errors
    /// If it is none.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T> {
        parse(name, &self.text(name))
    }

    /// All values of an option.
    ///
    /// # Errors
    /// If one is not of the type.
    pub fn list<T: FromStr>(&self, name: &str) -> Result<Vec<T>> {
        self.texts(name).iter().map(|text| parse(name, text)).collect()
    }

    /// All options that are given or have a default, as Marian writes and reads them, in YAML; those
    /// that Marian does not have are left out.
    pub fn marian_yaml(&self) -> String {
        let mut yaml = String::new();
        for spec in OPTIONS.iter().filter(|spec| spec.status == Status::Honoured) {
            let name = if spec.name == "workers" { "cpu-threads" } else { spec.name };
            let is_repeated = spec.name == "cpu-threads" && self.is_given("workers");
            if is_repeated || NOT_OF_MARIAN.contains(&name) {
                continue;
            }
            let mut values = self.texts(spec.name);
            if name == "throw-on-divergence" && values == ["true"] {
                values = ["1000", "10", "5"].map(str::to_owned).to_vec();
            }
            if name == "dynamic-gradient-scaling" && values == ["true"] {
                values = ["2", "log"].map(str::to_owned).to_vec();
            }
            // Marian would look for a file of that name.
            if values.is_empty() || name == "data-weighting" && values == ["none"] {
                continue;
            }
            let values: Vec<String> = values.iter().map(|value| scalar(value)).collect();
            match spec.arity {
                // A list in one text.
                _ if name == "after" => yaml += &format!("after: {}\n", values.join(",")),
                Arity::Many => {
                    yaml += &format!("{name}:\n");
                    values.iter().for_each(|value| yaml += &format!("  - {value}\n"));
                }
                _ => yaml += &format!("{name}: {}\n", values[0]),
            }
        }
        yaml
    }

    /// The options of the model as Marian writes them, in YAML.
    pub fn model_yaml(&self) -> String {
        let mut yaml = String::new();
        for spec in OPTIONS.iter().filter(|spec| spec.group == "Model") {
            if matches!(spec.name, "model" | "pretrained-model") {
                continue;
            }
            // No width of its own.
            let values = self.texts(spec.name);
            if matches!(spec.name, "dim-att" | "dim-top") && values == ["0"] {
                continue;
            }
            match spec.arity {
                Arity::Many => yaml += &format!("{}: [{}]\n", spec.name, values.join(", ")),
                Arity::Flag => {
                    let on = values.first().is_some_and(|value| value == "true" || value == "1");
                    yaml += &format!("{}: {on}\n", spec.name);
                }
                _ => {
                    let value = values.first().map_or("", String::as_str);
                    yaml += &format!("{}: \"{}\"\n", spec.name, value.replace(['"', '\\'], ""));
                }
            }
        }
        yaml
    }
}

/// Options of our own.
const NOT_OF_MARIAN: [&str; 13] = [
    "batches",
    "clip-norm-per",
    "count-target-words",
    "dim-att",
    "dim-enc-rnn",
    "dim-fc",
    "dim-top",
    "fc-depth",
    "granule-megabytes",
    "granule-words",
    "no-shuffle",
    "top",
    "train-ce-sample",
];

/// A text as a scalar of YAML.
fn scalar(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+/".contains(&byte);
    let begins = text.bytes().next().is_some_and(is_plain);
    if begins && text.bytes().all(|byte| is_plain(byte) || byte == b'-') {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether values of an option that is refused ask for nothing.
fn is_neutral(values: &[String]) -> bool {
    values
        .iter()
        .all(|value| matches!(&value[..], "0" | "0.0" | "false" | "none" | "default" | "float32"))
}

fn parse<T: FromStr>(name: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::config(format!("--{name}: {text:?} is no value for it")))
}

/// The option of that name, or what to do.
fn spec_of(name: &str) -> std::result::Result<&'static OptionSpec, String> {
    find(name).ok_or_else(|| {
        let similar = OPTIONS.iter().map(|spec| (distance(name, spec.name), spec.name)).min();
        match similar {
            Some((distance, similar)) if distance <= 3 => {
                format!("there is no such option; is it --{similar}?")
            }
            _ => "there is no such option".into(),
        }
    })
}

/// The number of letters to insert, delete or exchange.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = (0..=b.len()).collect();
    for (row, x) in a.chars().enumerate() {
        let mut now = vec![row + 1];
        for (column, y) in b.iter().enumerate() {
            let exchanged = before[column] + usize::from(x != *y);
            now.push(exchanged.min(before[column + 1] + 1).min(now[column] + 1));
        }
        before = now;
    }
    before[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_above_configurations() {
        let yaml = b"dim-emb: 64\ntied-embeddings-all: true\nskip: false\nvocabs:\n  - a\n  - b\n";
        let file = RawOptions::from_yaml(yaml, "train.yml").unwrap();
        let mut line = RawOptions::default();
        line.set("dim-emb", vec!["32".into()]).unwrap();
        line.set("exponential-smoothing", vec![]).unwrap();
        let both = line.over(file);
        assert_eq!(both.get::<usize>("dim-emb").unwrap(), 32);
        assert!(both.flag("tied-embeddings-all").unwrap() && !both.flag("skip").unwrap());
        assert_eq!(both.texts("vocabs"), ["a", "b"]);
        assert_eq!(both.get::<f64>("exponential-smoothing").unwrap(), 1e-4);
        assert_eq!(both.get::<usize>("maxi-batch").unwrap(), 100);
        assert!(both.get::<usize>("transformer-postprocess").is_err());
    }

    #[test]
    fn what_is_not_known_or_not_honoured_is_named() {
        let error = |yaml: &[u8]| RawOptions::from_yaml(yaml, "train.yml").unwrap_err().to_string();
        assert!(error(b"dim-embb: 3").contains("--dim-emb?"));
        assert!(error(b"- a").contains("mapping"));
        let status = |yaml: &[u8]| RawOptions::from_yaml(yaml, "t").unwrap().check_status();
        assert!(status(b"quantize-bits: 0").unwrap().is_empty());
        assert!(status(b"quantize-bits: 8").unwrap_err().to_string().contains("--quantize-bits"));
        assert_eq!(status(b"workspace: 9000").unwrap().len(), 1);
        // What Marian writes of options that nobody gave asks for nothing.
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
    }

    #[test]
    fn options_are_written_for_marian() {
        let yaml =
            b"type: s2s\nafter: [3e, 5u]\ntrain-sets: [my text, b]\nskip: true\nworkers: 3\n\
                     transformer-preprocess: \"\"\ngranule-words: 7\nexponential-smoothing: 1e-4\n";
        let options = RawOptions::from_yaml(yaml, "t").unwrap();
        let written = options.marian_yaml();
        for line in [
            "type: s2s",
            "after: 3e,5u",
            "train-sets:\n  - \"my text\"\n  - b",
            "skip: true",
            "cpu-threads: 3",
            "exponential-smoothing: 1e-4",
            "mini-batch: 64",
        ] {
            assert!(format!("\n{written}").contains(&format!("\n{line}\n")), "{line}\n{written}");
        }
        for absent in ["granule", "workers", "data-weighting: "] {
            assert!(!written.contains(absent), "{absent}: {written}");
        }
        // What is written is read.
        let again = RawOptions::from_yaml(written.as_bytes(), "t").unwrap();
        assert_eq!(again.texts("train-sets"), ["my text", "b"]);
        assert!(again.check_status().unwrap().is_empty());
        assert_eq!(scalar("a\"b\\"), "\"a\\\"b\\\\\"");
    }

    /// A configuration that Marian wrote asks for nothing that is not honoured.
    #[test]
    fn configurations_of_marian_are_read() {
        let yaml = include_bytes!("../../tests/golden/marian/model.npz.yml");
        let options = RawOptions::from_yaml(yaml, "model.npz.yml").unwrap();
        assert_eq!(options.check_status().unwrap(), Vec::<String>::new());
        let config = options.training_config([16, 16]).unwrap();
        assert_eq!(config.limits.spans[2].count, 7);
        assert_eq!(config.update.smoothing, 0.05);
    }

    #[test]
    fn distances_count_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
