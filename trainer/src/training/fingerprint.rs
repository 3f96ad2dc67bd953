//! Fingerprint that a resumed run must match (`docs/spec/training.md` A.13).

use std::path::Path;

use miriam_nmt::architecture::Architecture;
use miriam_nmt::formats::marian::marian_options;
use miriam_storage::hash::hash64;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Fingerprints of the data and options that must not change when a training run is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingFingerprint {
    /// The fingerprint of the corpus.
    pub corpus: u64,
    /// The fingerprint of the vocabularies.
    pub vocabularies: u64,
    /// The fingerprint of the architecture.
    pub architecture: u64,
    /// The values of the options that updates depend on, by name.
    pub options: OptionTexts,
    /// The options of the architecture, for messages. They are in the model file, so the saved
    /// state omits them.
    #[serde(skip)]
    pub model_options: OptionTexts,
}

/// Names of options with their values.
pub type OptionTexts = Vec<(String, String)>;

impl TrainingFingerprint {
    /// Describes the first difference: in the vocabularies, the options of the model, the corpus,
    /// or the options of updates. The text has the old and the new value of each changed option.
    /// `model_options` reads the options of the saved model.
    pub fn difference(
        &self,
        now: &TrainingFingerprint,
        model_options: impl FnOnce() -> OptionTexts,
    ) -> Option<String> {
        if self.vocabularies != now.vocabularies {
            return Some("the vocabularies have changed".into());
        }
        if self.architecture != now.architecture {
            let changed = describe_changes(&model_options(), &now.model_options);
            let what = "the options of the model have changed";
            return Some(changed.map_or(what.into(), |changed| format!("{what}: {changed}")));
        }
        if self.corpus != now.corpus {
            return Some("the corpus has changed".into());
        }
        describe_changes(&self.options, &now.options)
    }
}

/// Describes the options that differ, with both values. Options that only one version of this
/// program has are not compared.
fn describe_changes(before: &OptionTexts, now: &OptionTexts) -> Option<String> {
    let changes = before.iter().filter_map(|(name, before)| {
        let (_, now) = now.iter().find(|(known, _)| known == name)?;
        (before != now).then(|| format!("--{name} was {before}, now it is {now}"))
    });
    let changes: Vec<String> = changes.collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}

/// Parses the options of Marian's YAML text, one per line; lines without a key continue the value
/// of the previous one.
pub fn parse_option_texts(yaml: &str) -> OptionTexts {
    let mut options = OptionTexts::new();
    for line in yaml.trim_end_matches('\0').lines() {
        match (line.split_once(':'), options.last_mut()) {
            (Some((name, value)), _) if !line.starts_with([' ', '-']) => {
                options.push((name.to_owned(), value.trim().to_owned()));
            }
            (_, Some((_, value))) => *value = format!("{value} {}", line.trim()).trim().to_owned(),
            _ => {}
        }
    }
    options.retain(|(name, _)| name != "version");
    options
}

/// Returns an architecture's options in Marian's form, and their hash. Marian's options stay the
/// same when this program changes.
pub fn architecture_fingerprint(architecture: &Architecture) -> Result<(u64, OptionTexts)> {
    let options = marian_options(architecture, Path::new("(the model in training)"))?;
    // The version names only the program that wrote them.
    let lines: Vec<&str> = options.lines().filter(|line| !line.starts_with("version:")).collect();
    Ok((hash64(lines.join("\n").as_bytes()), parse_option_texts(&options)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::ParameterLayout;
    use crate::training::checkpoint::save_model;
    use miriam_nmt::checkpoint::Checkpoint;
    use miriam_storage::LoadMethod;

    /// The compared options are those that a model file has.
    #[test]
    fn architectures_are_compared_by_the_options_of_model_files() {
        let architecture = crate::tests::tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz");
        save_model(&path, &architecture, &layout, &vec![0.0; layout.len()]).unwrap();
        let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
        let options = String::from_utf8(checkpoint.options().unwrap().to_vec()).unwrap();
        let lines: Vec<&str> = options.trim_end_matches('\0').lines().collect();
        let lines: Vec<&str> =
            lines.into_iter().filter(|line| !line.starts_with("version: ")).collect();
        assert!(lines.contains(&"transformer-heads: 2"), "{options}");
        let (found, texts) = architecture_fingerprint(&architecture).unwrap();
        assert_eq!(texts, parse_option_texts(&options));
        assert!(texts.contains(&("transformer-heads".into(), "2".into())), "{texts:?}");
        assert_eq!(found, hash64(lines.join("\n").as_bytes()));
        let Architecture::Transformer(mut other) = architecture else { panic!("a transformer") };
        other.encoder.heads = 4;
        other.decoder.heads = 4;
        let (different, changed) =
            architecture_fingerprint(&Architecture::Transformer(other)).unwrap();
        assert_ne!(different, found);
        let changes = describe_changes(&texts, &changed).unwrap();
        assert_eq!(changes, "--transformer-heads was 2, now it is 4");
    }
}
