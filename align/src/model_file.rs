//! A trained model as a file, with which new text is aligned without training.
//!
//! Word pairs that are improbable in both directions make up most of a lexicon and
//! decide nothing: the file leaves them out, and a pair that it lacks is as improbable
//! as an unknown one. A row is sorted by target word; new text is so little that a
//! search in a row is fast enough.

use std::path::Path;

use miriam_storage::dictionary::Dictionary;
use miriam_storage::{Container, ContainerWriter, Kind, Load, View};
use miriam_textio::Vocabulary;
use serde::{Deserialize, Serialize};

use crate::bitext::Pair;
use crate::cooccurrence::Rows;
use crate::diagonal::Diagonal;
use crate::jumps::Jumps;
use crate::lexicon::{FORWARD, Lexicon, REVERSE, UNKNOWN};
use crate::positions::Positions;
use crate::{Error, Result};

/// The kind of these files.
pub const KIND: Kind = Kind::new("alignment");
const VERSION: u32 = 1;
/// Pairs less probable than this in both directions are left out.
const LEAST: f64 = 1e-7;

#[derive(Serialize, Deserialize)]
struct Metadata {
    /// Whether positions follow the diagonal prior with these tensions; otherwise a
    /// hidden Markov model with the weights of jumps in the sections.
    diagonal: bool,
    tensions: [f64; 2],
}

const JUMPS: [&str; 2] = ["jumps.forward", "jumps.reverse"];
const NULL: [&str; 2] = ["null.forward", "null.reverse"];

/// Writes a model.
pub(crate) fn save(
    path: &Path,
    vocabularies: [&Vocabulary; 2],
    rows: &Rows,
    lexicon: &Lexicon,
    positions: &[Positions; 2],
) -> Result<()> {
    let mut file = ContainerWriter::create(path, KIND, VERSION)?;
    let mut metadata = Metadata { diagonal: true, tensions: [0.0; 2] };
    for (tension, positions) in metadata.tensions.iter_mut().zip(positions) {
        match positions {
            Positions::Diagonal(prior) => *tension = prior.tension,
            Positions::Jumps(_) => metadata.diagonal = false,
        }
    }
    file.metadata(&metadata)?;
    for (name, vocabulary) in ["source", "target"].into_iter().zip(vocabularies) {
        Dictionary::write(&mut file, name, vocabulary.iter())?;
    }
    let (mut starts, mut targets, mut probabilities) = (vec![0u64], Vec::new(), Vec::new());
    for word in 0..vocabularies[0].len() as u32 {
        let first = targets.len();
        let row = rows.row(word);
        let mut entries: Vec<(u32, [f64; 2])> = row
            .map(|entry| (rows.targets[entry], lexicon.entries[entry]))
            .filter(|(_, numbers)| numbers.iter().any(|&p| p >= LEAST))
            .collect();
        entries.sort_unstable_by_key(|&(target, _)| target);
        targets.extend(entries.iter().map(|&(target, _)| target));
        probabilities.extend(entries.iter().flat_map(|(_, numbers)| numbers.map(|p| p as f32)));
        starts.push((first + entries.len()) as u64);
    }
    file.section("starts", &starts)?;
    file.section("targets", &targets)?;
    file.section("probabilities", &probabilities)?;
    for direction in [FORWARD, REVERSE] {
        let null: Vec<f32> = lexicon.null[direction].iter().map(|&p| p as f32).collect();
        file.section(NULL[direction], &null)?;
        if let Positions::Jumps(jumps) = &positions[direction] {
            file.section(JUMPS[direction], jumps.weights())?;
        }
    }
    file.finish()?;
    Ok(())
}

/// A model that was saved.
pub(crate) struct SavedModel {
    pub words: [Dictionary; 2],
    starts: View<u64>,
    targets: View<u32>,
    probabilities: View<f32>,
    /// Probabilities of the null word; there are no entries.
    pub null: Lexicon,
    pub positions: [Positions; 2],
}

impl SavedModel {
    /// Opens a file and checks what aligning relies on.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(&Container::open(path, KIND, VERSION, Load::Lazy)?)
    }

    fn from_container(file: &Container) -> Result<Self> {
        let damaged = |place: &str, reason: &str| Error::from(file.damaged(place, reason));
        let metadata: Metadata = file.metadata()?;
        let words = [Dictionary::open(file, "source")?, Dictionary::open(file, "target")?];
        let starts: View<u64> = file.section("starts")?;
        let targets: View<u32> = file.section("targets")?;
        let probabilities: View<f32> = file.section("probabilities")?;
        if starts.len() != words[0].len() + 1
            || !starts.is_sorted()
            || starts.last() != Some(&(targets.len() as u64))
        {
            return Err(damaged("starts", "they are not the bounds of a row for each word"));
        }
        if probabilities.len() != 2 * targets.len() {
            return Err(damaged("probabilities", "there are not two for each target word"));
        }
        let mut null = Lexicon::zeros(0, 0, 0);
        for direction in [FORWARD, REVERSE] {
            let section: View<f32> = file.section(NULL[direction])?;
            if section.len() != words[1 - direction].len() {
                return Err(damaged(NULL[direction], "there is not one for each word"));
            }
            null.null[direction] = section.iter().map(|&p| f64::from(p)).collect();
        }
        let jumps = |direction: usize| -> Result<Positions> {
            let weights: View<f64> = file.section(JUMPS[direction])?;
            let jumps = Jumps::with_weights(weights.to_vec());
            let jumps = jumps.ok_or_else(|| damaged(JUMPS[direction], "they are no weights"))?;
            Ok(Positions::Jumps(jumps))
        };
        let positions = if metadata.diagonal {
            if !metadata.tensions.iter().all(|tension| (0.0..=100.0).contains(tension)) {
                return Err(damaged("metadata", "a tension is out of range"));
            }
            metadata.tensions.map(|tension| Positions::Diagonal(Diagonal { tension }))
        } else {
            [jumps(FORWARD)?, jumps(REVERSE)?]
        };
        Ok(SavedModel { words, starts, targets, probabilities, null, positions })
    }

    /// The model's words, for text to be read with.
    pub fn vocabularies(&self, path: &Path) -> Result<[Vocabulary; 2]> {
        let [source, target] = self.words.each_ref().map(|words| {
            let mut vocabulary = Vocabulary::new();
            for word in words.iter() {
                vocabulary.intern(word);
            }
            (vocabulary.len() == words.len()).then_some(vocabulary)
        });
        match (source, target) {
            (Some(source), Some(target)) => Ok([source, target]),
            _ => Err(miriam_storage::Error::damaged(path, "words", "a word occurs twice").into()),
        }
    }

    /// Fills `local` with the probabilities of the pair's words, by source word.
    pub fn fetch(&self, pair: Pair<'_>, local: &mut Vec<[f64; 2]>) {
        local.clear();
        for &word in pair.source.words {
            let row = match self.starts.get(word as usize..word as usize + 2) {
                Some(bounds) => bounds[0] as usize..bounds[1] as usize,
                None => 0..0,
            };
            let targets = &self.targets[row.clone()];
            local.extend(pair.target.words.iter().map(
                |target| match targets.binary_search(target) {
                    Ok(place) => {
                        let at = 2 * (row.start + place);
                        [self.probabilities[at], self.probabilities[at + 1]].map(f64::from)
                    }
                    Err(_) => [UNKNOWN; 2],
                },
            ));
        }
    }
}

/// Full check of what opening does not look at: the order of rows, the range of ids and
/// probabilities.
pub fn verify(file: &Container) -> Result<()> {
    let model = SavedModel::from_container(file)?;
    let damaged = |place: &str, reason: &str| Err(file.damaged(place, reason).into());
    for words in &model.words {
        if words.verify().is_err() {
            return damaged("words", "a word is not found by its own letters");
        }
    }
    let known = model.words[1].len();
    for bounds in model.starts.windows(2) {
        let row = &model.targets[bounds[0] as usize..bounds[1] as usize];
        if !row.is_sorted_by(|a, b| a < b) || row.last().is_some_and(|&t| t as usize >= known) {
            return damaged("targets", "a row is not in order or names words that are not there");
        }
    }
    let is_probability = |p: f64| (0.0..=1.0 + 1e-6).contains(&p);
    let null = model.null.null.iter().flatten().copied();
    if !model.probabilities.iter().map(|&p| f64::from(p)).chain(null).all(is_probability) {
        return damaged("probabilities", "a number is no probability");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligner::tests::{trained, with_options};
    use crate::bitext::from_lines;
    use crate::{AlignOptions, Model};
    use proptest::prelude::*;

    const TEXT: [(&str, &str); 3] =
        [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")];

    fn saved(model: Model) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model");
        let text = from_lines(&TEXT);
        let options = AlignOptions { model, ..with_options() };
        let (rows, trained) = trained(&text, &options);
        let words = [&text.source.vocabulary, &text.target.vocabulary];
        save(&path, words, &rows, &trained.lexicon, &trained.positions).expect("it is saved");
        std::fs::read(&path).expect("it is there")
    }

    fn open(bytes: &[u8]) -> Result<(Container, SavedModel)> {
        let bytes = miriam_storage::Bytes::copy_from(bytes);
        let file = Container::from_bytes(bytes, Path::new("model"))?.expect(KIND, VERSION)?;
        let model = SavedModel::from_container(&file)?;
        Ok((file, model))
    }

    #[test]
    fn a_saved_model_has_the_probabilities_of_training() {
        let text = from_lines(&TEXT);
        for model in [Model::Ibm2, Model::Hmm] {
            let (rows, trained) = trained(&text, &AlignOptions { model, ..with_options() });
            let (file, saved) = open(&saved(model)).expect("it is whole");
            verify(&file).expect("it is whole");
            let (pair, mut local) = (text.pair(1).expect("it has words"), Vec::new());
            saved.fetch(pair, &mut local);
            for (cell, found) in local.iter().enumerate() {
                let (source, target) = (pair.source.words[cell / 2], pair.target.words[cell % 2]);
                let entry = rows.row(source).find(|&entry| rows.targets[entry] == target);
                let expected = match trained.lexicon.entries[entry.expect("they meet")] {
                    numbers if numbers.iter().all(|&p| p < LEAST) => [UNKNOWN; 2],
                    numbers => numbers.map(|p| f64::from(p as f32)),
                };
                assert_eq!(*found, expected);
            }
            let new = from_lines(&[("das x", "the y")]);
            let mut seen = saved.vocabularies(Path::new("model")).expect("words are distinct");
            assert_eq!(seen[0].find(b"das"), text.source.vocabulary.find(b"das"));
            assert!(seen[1].intern(b"new").index() == saved.words[1].len());
            // Word ids behind the model's are words it does not know.
            saved.fetch(new.pair(0).expect("it has words"), &mut local);
            assert_eq!(local.len(), 4);
        }
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_harmless(
            hmm in any::<bool>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
        ) {
            let mut bytes = saved(if hmm { Model::Hmm } else { Model::Ibm2 });
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            if let Ok((file, model)) = open(&bytes) {
                let _ = file.verify();
                let _ = verify(&file);
                let _ = model.vocabularies(Path::new("model"));
                let text = from_lines(&TEXT);
                let count = std::cell::Cell::new(0);
                crate::expectation::decode_new(
                    &text, &model, [true, true],
                    |_: &mut (), _, drawn| drawn.links += 1,
                    |drawn| { count.set(count.get() + drawn.links); Ok(()) },
                    &miriam_textio::Silent,
                ).unwrap();
                prop_assert_eq!(count.get(), TEXT.len() as u64);
            }
        }
    }
}
