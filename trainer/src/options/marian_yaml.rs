//! Options in Marian's YAML: the options of a model, which the parser of architectures reads, and
//! all options of a training run, with which Marian can resume the run. Options that Marian does
//! not have are in comments that only Miriam reads.

use super::raw::{OWN_OPTION, RawOptions};
use super::table::{Arity, OptionSpec, Status, all_options};
use crate::error::Result;
use crate::yaml_text::yaml_scalar;

/// Options that Marian does not have, and `precision`, whose bf16 it does not know.
const NOT_OF_MARIAN: [&str; 33] = [
    "async-sgd",
    "batch-flexible-lr",
    "batch-normal-words",
    "batches",
    "clip-norm-per",
    "clip-products",
    "count-target-words",
    "dim-att",
    "dim-enc-rnn",
    "dim-fc",
    "dim-top",
    "fc-depth",
    "grad-dropping-anneal",
    "grad-dropping-fetch",
    "grad-dropping-momentum",
    "grad-dropping-rate",
    "grad-dropping-scope",
    "grad-dropping-warmup",
    "gradient-buffer",
    "granule-megabytes",
    "granule-words",
    "local-optimizer-batches",
    "local-optimizer-params",
    "local-optimizer-shard",
    "lr-cycle",
    "lr-random",
    "momentum-schedule",
    "precision",
    "quantize-aware",
    "scale-rate-by-delay",
    "simulate-async",
    "top",
    "train-ce-sample",
];

/// Whether Marian does not have an option, or not with all of its values.
pub(super) fn is_own_option(name: &str) -> bool {
    NOT_OF_MARIAN.contains(&name)
}

/// Whether Marian reads the values of an option as a list.
pub(super) fn is_marian_list(spec: &OptionSpec) -> bool {
    spec.arity == Arity::Many && spec.name != "after"
}

fn own_strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

impl RawOptions {
    /// Returns the options that are given or have a default, in Marian's YAML. Options that Marian
    /// does not have are written only if they are given, as comments that [`RawOptions::from_yaml`]
    /// reads.
    pub fn marian_yaml(&self) -> String {
        let mut yaml = String::new();
        for spec in all_options().filter(|spec| spec.status == Status::Honoured) {
            // Paths are relative to the current folder by now.
            if spec.name == "relative-paths" || is_own_option(spec.name) {
                continue;
            }
            let Some((name, values)) = self.marian_values(spec) else { continue };
            let values: Vec<String> = values.iter().map(|value| yaml_scalar(value)).collect();
            match (is_marian_list(spec), &values[..]) {
                (_, []) => {}
                (true, values) => {
                    yaml += &format!("{name}:\n");
                    values.iter().for_each(|value| yaml += &format!("  - {value}\n"));
                }
                (false, [value, ..]) => yaml += &format!("{name}: {value}\n"),
            }
        }
        for name in NOT_OF_MARIAN.iter().filter(|name| self.is_given(name)) {
            // JSON is YAML; commas within a value need its quotes.
            let values = serde_json::to_string(&self.get_strings(name));
            let values = values.expect("strings can be written as JSON");
            yaml += &format!("{}{name}: {values}\n", String::from_utf8_lossy(OWN_OPTION));
        }
        yaml
    }

    /// Returns Marian's name of an option and its values in Marian's form, given or by default.
    /// `None` stands for an option that another one gives, or that is not written for Marian.
    pub(super) fn marian_values(&self, spec: &OptionSpec) -> Option<(&'static str, Vec<String>)> {
        let values = self.get_strings(spec.name);
        let values = match spec.name {
            "cpu-threads" if self.is_given("workers") => return None,
            // Marian would look for a file called `none`.
            "data-weighting" if values == ["none"] => return None,
            // Marian reads the list as one string.
            "after" => vec![values.join(",")],
            "throw-on-divergence" if values == ["true"] => own_strings(["1000", "10", "5"]),
            "dynamic-gradient-scaling" if values == ["true"] => own_strings(["2", "log"]),
            // An empty list switches them off.
            "throw-on-divergence" | "dynamic-gradient-scaling" if values == ["false"] => Vec::new(),
            "shuffle" if self.get_string("no-shuffle") == "true" => own_strings(["none"]),
            _ => values,
        };
        let name = if spec.name == "workers" { "cpu-threads" } else { spec.name };
        Some((name, values))
    }

    /// Returns the options of the model as Marian writes them, in YAML.
    ///
    /// # Errors
    /// If the value of a flag is neither true nor false.
    pub fn model_yaml(&self) -> Result<String> {
        let mut yaml = String::new();
        for spec in all_options().filter(|spec| spec.group == "Model") {
            if matches!(spec.name, "model" | "pretrained-model") {
                continue;
            }
            // The value 0 means that there is no separate width.
            let values = self.get_strings(spec.name);
            if matches!(spec.name, "dim-att" | "dim-top") && values == ["0"] {
                continue;
            }
            match spec.arity {
                Arity::Many => {
                    let values: Vec<String> =
                        values.iter().map(|value| yaml_scalar(value)).collect();
                    yaml += &format!("{}: [{}]\n", spec.name, values.join(", "));
                }
                Arity::Flag => {
                    yaml += &format!("{}: {}\n", spec.name, self.get_flag(spec.name)?);
                }
                _ => {
                    let value = serde_json::to_string(values.first().map_or("", String::as_str));
                    let value = value.expect("a string can be written as JSON");
                    yaml += &format!("{}: {value}\n", spec.name);
                }
            }
        }
        Ok(yaml)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_written_for_marian() {
        let yaml =
            b"type: s2s\nafter: [3e, 5u]\ntrain-sets: [my text, b]\nskip: true\nworkers: 3\n\
                     transformer-preprocess: \"\"\ngranule-words: 7\nrelative-paths: true\nexponential-smoothing: 1e-4\n\
                     momentum-schedule: [\"0.8,0.9@0\", \"0.85,0.95@6\"]\n";
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
            "#miriam-option granule-words: [\"7\"]",
        ] {
            assert!(format!("\n{written}").contains(&format!("\n{line}\n")), "{line}\n{written}");
        }
        for absent in ["micro-batch", "workers", "data-weighting: ", "relative-paths"] {
            assert!(!written.contains(absent), "{absent}: {written}");
        }
        let unshuffled = RawOptions::from_yaml(b"no-shuffle: true", "t").unwrap().marian_yaml();
        assert!(unshuffled.contains("\nshuffle: none\n"), "{unshuffled}");
        // The written options can be read again.
        let again = RawOptions::from_yaml(written.as_bytes(), "t").unwrap();
        assert_eq!(again.get_strings("train-sets"), ["my text", "b"]);
        assert!(again.check_status().unwrap().is_empty());
        for own in ["granule-words", "momentum-schedule"] {
            assert_eq!(again.get_strings(own), options.get_strings(own));
        }
        assert!(!again.is_given("precision"));
    }
}
