//! Options as a configuration in YAML (`--dump-config`), which `-c` reads.

use std::fmt::Write;

use super::marian_yaml::{is_marian_list, is_own_option};
use super::raw::{OWN_OPTION, RawOptions};
use super::table::{Arity, Status, all_options};
use crate::yaml_text::yaml_scalar;

/// The line above the options that Marian does not have.
const OWN_OPTIONS_NOTE: &str =
    "# Marian does not have the following options; to it, they are comments. miriam reads them.\n";

/// The set of options that are dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpScope {
    /// Options from the command line, configurations or a preset.
    Minimal,
    /// All options that have an effect and a value.
    Full,
}

impl RawOptions {
    /// Returns the options in YAML, in the form that Marian reads. Options that Marian does not
    /// have follow in comments, which [`RawOptions::from_yaml`] reads. Paths are relative to the
    /// current folder, or absolute where a configuration has `relative-paths`.
    pub fn dump(&self, scope: DumpScope) -> String {
        let (mut yaml, mut own) = (String::new(), String::new());
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
            let Some((name, values)) = self.marian_values(spec) else { continue };
            let values: Vec<String> = values.iter().map(|value| flow_scalar(value)).collect();
            let line = match &values[..] {
                _ if is_marian_list(spec) => format!("{name}: [{}]", values.join(", ")),
                [] if spec.arity == Arity::Flag => format!("{name}: false"),
                [value, ..] => format!("{name}: {value}"),
                [] if is_given => format!("{name}: \"\""),
                [] => continue,
            };
            if is_own_option(spec.name) {
                writeln!(own, "{}{line}", String::from_utf8_lossy(OWN_OPTION))
            } else {
                writeln!(yaml, "{line}")
            }
            .expect("writing to a string does not fail");
        }
        if !own.is_empty() {
            yaml += OWN_OPTIONS_NOTE;
        }
        yaml + &own
    }
}

/// Returns a scalar for a list in brackets, quoted if a comma would end it there.
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
        let mut expected = given.clone();
        // Marian reads the list as one string.
        expected.set("after", vec!["3e,5u".into()]).unwrap();
        assert_eq!(RawOptions::from_yaml(yaml.as_bytes(), "dumped").unwrap(), expected, "{yaml}");
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

    /// The expected lines are in the form of `--dump-config` of Marian 1.12.42, which rejects lists
    /// for options of one value, and options that it does not have.
    #[test]
    fn marian_reads_dumped_options() {
        let yaml = b"after: [3e, 5u]\nthrow-on-divergence: true\ndynamic-gradient-scaling: yes\n\
            workers: 3\ngranule-words: 7\nmomentum-schedule: [\"0.8,0.9@0\", \"0.85,0.95@6\"]\n\
            no-shuffle: true\ndata-weighting: none\n";
        let options = RawOptions::from_yaml(yaml, "t").unwrap();
        for scope in [DumpScope::Minimal, DumpScope::Full] {
            let dumped = options.dump(scope);
            for line in [
                "after: \"3e,5u\"",
                "throw-on-divergence: [1000, 10, 5]",
                "dynamic-gradient-scaling: [2, log]",
                "cpu-threads: 3",
                "#miriam-option granule-words: 7",
                "#miriam-option momentum-schedule: [\"0.8,0.9@0\", \"0.85,0.95@6\"]",
            ] {
                assert!(format!("\n{dumped}").contains(&format!("\n{line}\n")), "{line}\n{dumped}");
            }
            for absent in ["workers:", "\ndata-weighting: ", "\nprecision"] {
                assert!(!dumped.contains(absent), "{absent}: {dumped}");
            }
            let read = RawOptions::from_yaml(dumped.as_bytes(), "dumped").unwrap();
            for own in ["granule-words", "momentum-schedule", "no-shuffle"] {
                assert_eq!(read.get_strings(own), options.get_strings(own), "{own}");
            }
        }
        let full = options.dump(DumpScope::Full);
        assert!(full.contains("\nshuffle: none\n"), "{full}");
        assert!(RawOptions::default().dump(DumpScope::Full).contains("\nafter: 0e\n"));
        // Keys and their forms are those of Marian's own configuration.
        let marian = include_str!("../../tests/golden/marian-full.yml");
        let is_list = |key: &str| marian.contains(&format!("\n{key}:\n  "));
        let keys = full.lines().filter(|line| !line.starts_with('#'));
        for (key, value) in keys.filter_map(|line| line.split_once(": ")) {
            assert!(format!("\n{marian}").contains(&format!("\n{key}:")), "{key} is not Marian's");
            assert_eq!(value.starts_with('['), is_list(key), "{key}: {value}");
        }
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
