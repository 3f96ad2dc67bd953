//! What a training trains: by it, a training that is gone on with knows that it is the same one
//! (`training.md` A.13).

use std::path::Path;

use miriam_nmt::architecture::{Architecture, marian_options};
use miriam_storage::hash::hash64;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Fingerprints of what must not change between two runs of a training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingFingerprint {
    /// Of the corpus.
    pub corpus: u64,
    /// Of the vocabularies.
    pub vocabularies: u64,
    /// Of the architecture.
    pub architecture: u64,
    /// The values of the options that updates depend on, by name.
    pub options: Vec<(String, String)>,
}

impl TrainingFingerprint {
    /// The name of the first thing that differs. Options are compared by name: one that only one
    /// version of this program has is not.
    pub fn difference(&self, now: &TrainingFingerprint) -> Option<String> {
        let all = [
            ("the vocabularies have changed", self.vocabularies == now.vocabularies),
            ("the options of the model have changed", self.architecture == now.architecture),
            ("the corpus is another one", self.corpus == now.corpus),
        ];
        if let Some((what, _)) = all.into_iter().find(|(_, same)| !same) {
            return Some(what.into());
        }
        self.options.iter().find_map(|(name, before)| {
            let (_, now) = now.options.iter().find(|(known, _)| known == name)?;
            (before != now).then(|| format!("--{name} was {before}, now it is {now}"))
        })
    }
}

/// A hash of an architecture by Marian's options, which stay when this program changes.
pub fn architecture_fingerprint(architecture: &Architecture) -> Result<u64> {
    let options = marian_options(architecture, Path::new("(the model in training)"))?;
    // The version says who has written them.
    let lines: Vec<&str> = options.lines().filter(|line| !line.starts_with("version:")).collect();
    Ok(hash64(lines.join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::ParameterLayout;
    use crate::training::checkpoint::save_model;
    use miriam_nmt::checkpoint::Checkpoint;
    use miriam_storage::LoadMethod;

    /// What a model file says of its architecture is what is compared.
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
        let found = architecture_fingerprint(&architecture).unwrap();
        assert_eq!(found, hash64(lines.join("\n").as_bytes()));
        let Architecture::Transformer(mut other) = architecture else { panic!("a transformer") };
        other.encoder.heads = 4;
        other.decoder.heads = 4;
        assert_ne!(architecture_fingerprint(&Architecture::Transformer(other)).unwrap(), found);
    }
}
