//! Options as a configuration in YAML (`--dump-config`), which `-c` reads.

use std::fmt::Write;

use super::raw::RawOptions;
use super::table::{Arity, Status, all_options};
use crate::yaml_text::yaml_scalar;

/// The set of options that are dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpScope {
    /// Options from the command line, configurations or a preset.
    Minimal,
    /// All options that have an effect and a value.
    Full,
}

impl RawOptions {
    /// Returns the options in YAML, with the names that the command line has. Paths are relative to
    /// the current folder, or absolute where a configuration has `relative-paths`.
    pub fn dump(&self, scope: DumpScope) -> String {
        let mut yaml = String::new();
        for spec in all_options() {
            let is_given = self.is_given(spec.name);
            let is_wanted = scope == DumpScope::Full && spec.status == Status::Honoured;
            // `relative-paths` applied to the configurations that were read; their paths are
            // already resolved.
            if !is_given && !is_wanted || spec.name == "relative-paths" {
                continue;
            }
            // The number of values of `lr-decay-start` depends on another option.
            if !is_given && spec.name == "lr-decay-start" {
                continue;
            }
            let values = self.get_strings(spec.name);
            let values: Vec<String> = values.iter().map(|value| flow_scalar(value)).collect();
            let name = spec.name;
            let line = match (spec.arity, &values[..]) {
                (Arity::Many, _) => format!("{name}: [{}]", values.join(", ")),
                (Arity::Flag, []) => format!("{name}: false"),
                (_, [value, ..]) => format!("{name}: {value}"),
                (_, []) if is_given => format!("{name}: \"\""),
                (_, []) => continue,
            };
            writeln!(yaml, "{line}").expect("writing to a string does not fail");
        }
        yaml
    }
}

/// Returns a scalar for a list in brackets, quoted if a comma would end it.
fn flow_scalar(text: &str) -> String {
    if text.contains(',') {
        serde_json::to_string(text).expect("a string can be written as JSON")
    } else {
        yaml_scalar(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::preset;

    const GIVEN: &[u8] = b"train-sets: [my text, \"b,c.en\"]\ntransformer-postprocess-emb: \"\"\n\
        lr-decay-strategy: epoch\noverwrite: false\nafter: [3e, 5u]\nseed: 7\n\
        throw-on-divergence: []\nsync-sgd: true\nguided-alignment: none\n";

    fn given() -> RawOptions {
        let given = RawOptions::from_yaml(GIVEN, "given").unwrap();
        given.or_else_from(preset("m30k").unwrap())
    }

    #[test]
    fn given_options_are_dumped_and_read_back() {
        let given = given();
        let yaml = given.dump(DumpScope::Minimal);
        assert_eq!(RawOptions::from_yaml(yaml.as_bytes(), "dumped").unwrap(), given, "{yaml}");
        assert!(yaml.contains("train-sets: [\"my text\", \"b,c.en\"]\n"), "{yaml}");
        assert!(!yaml.contains("maxi-batch-sort"), "{yaml}");
        assert_eq!(RawOptions::default().dump(DumpScope::Minimal), "");
        // An empty list means the default.
        let empty = RawOptions::from_yaml(b"valid-metrics: []\n", "empty").unwrap();
        assert_eq!(empty.dump(DumpScope::Minimal), "valid-metrics: [cross-entropy]\n");
    }

    #[test]
    fn all_options_with_a_value_are_dumped() {
        let given = given();
        let yaml = given.dump(DumpScope::Full);
        for line in [
            "maxi-batch-sort: trg",
            "seed: 7",
            "dim-vocabs: [0, 0]",
            "skip: false",
            "tied-embeddings-all: true",
            "sync-sgd: true",
            "overwrite: false",
        ] {
            assert!(format!("\n{yaml}").contains(&format!("\n{line}\n")), "{line}\n{yaml}");
        }
        for absent in ["alibi", "relative-paths", "devices"] {
            assert!(!yaml.contains(absent), "{absent}\n{yaml}");
        }
        // The dumped configuration gives the same training.
        let read = RawOptions::from_yaml(yaml.as_bytes(), "dumped").unwrap();
        let [read, given] = [read, given].map(|options| {
            options.check_status().unwrap();
            let files = options.training_files().unwrap();
            format!("{:?} {files:?}", options.training_config([10, 10]).unwrap())
        });
        assert_eq!(read, given);
    }

    #[test]
    fn paths_are_resolved_once() {
        let yaml = b"relative-paths: true\ntrain-sets: [a, b]\n";
        let mut options = RawOptions::from_yaml(yaml, "t").unwrap();
        options.resolve_paths(std::path::Path::new("runs"), false).unwrap();
        options.set("relative-paths", vec![]).unwrap();
        let dumped = options.dump(DumpScope::Minimal);
        assert_eq!(dumped, "train-sets: [runs/a, runs/b]\n");
    }
}
