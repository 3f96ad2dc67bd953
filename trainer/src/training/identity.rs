//! What a training trains: by it, a training that is gone on with knows that it is the same one
//! (`training.md` A.13).

use serde::{Deserialize, Serialize};

/// Fingerprints of what must not change between two runs of a training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Of the corpus.
    pub corpus: u64,
    /// Of the vocabularies.
    pub vocabularies: u64,
    /// Of the architecture.
    pub architecture: u64,
    /// The values of the options that updates depend on, by name.
    pub options: Vec<(String, String)>,
}

impl Identity {
    /// The name of the first thing that differs.
    pub fn difference(&self, now: &Identity) -> Option<String> {
        let all = [
            ("the vocabularies are others", self.vocabularies == now.vocabularies),
            ("the options of the model have changed", self.architecture == now.architecture),
            ("the corpus is another one", self.corpus == now.corpus),
        ];
        if let Some((what, _)) = all.into_iter().find(|(_, same)| !same) {
            return Some(what.into());
        }
        // An option that the program did not know when the training began was not given then.
        let mut pairs = self.options.iter().map(|(name, before)| {
            let now = now.options.iter().find(|(known, _)| known == name);
            (name, before, now.map_or("absent", |(_, now)| now))
        });
        let changed = pairs.find(|(_, before, now)| before != now);
        changed.map(|(name, before, now)| format!("--{name} was {before}, now it is {now}"))
    }
}
