//! The file of a trained model, with which new text is aligned without training.
//!
//! Word pairs that are improbable in both directions make up most of a translation table and decide
//! nothing. The file omits them, and a missing pair is as improbable as an unknown one. A row is
//! sorted by target word; new text is small, so a binary search in a row is fast enough.

use std::path::Path;

use miriam_storage::dictionary::Dictionary;
use miriam_storage::{Container, ContainerWriter, FileKind, LoadMethod, View};
use miriam_textio::Vocabulary;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::bitext::SentencePair;
use crate::cooccurrence::CooccurrenceRows;
use crate::diagonal::DiagonalPrior;
use crate::hmm::HmmTransitions;
use crate::position_model::PositionModel;
use crate::translation_table::{FORWARD, REVERSE, TranslationTable, UNKNOWN_PROBABILITY};

/// The file kind of alignment models.
pub const FILE_KIND: FileKind = FileKind::new("alignment");
const FORMAT_VERSION: u32 = 1;
/// Pairs less probable than this in both directions are omitted.
const MIN_PROBABILITY: f64 = 1e-7;

#[derive(Serialize, Deserialize)]
struct Metadata {
    /// Whether the position model is the diagonal prior, with `tensions`; otherwise it is the HMM
    /// model, whose weights of jumps are in sections.
    diagonal: bool,
    tensions: [f64; 2],
}

const JUMP_SECTIONS: [&str; 2] = ["jumps.forward", "jumps.reverse"];
const NULL_SECTIONS: [&str; 2] = ["null.forward", "null.reverse"];

/// Writes a model file.
pub(crate) fn save_model(
    path: &Path,
    vocabularies: [&Vocabulary; 2],
    rows: &CooccurrenceRows,
    translation_table: &TranslationTable,
    positions: &[PositionModel; 2],
) -> Result<()> {
    let mut file = ContainerWriter::create(path, FILE_KIND, FORMAT_VERSION)?;
    let mut metadata = Metadata { diagonal: true, tensions: [0.0; 2] };
    for (tension, positions) in metadata.tensions.iter_mut().zip(positions) {
        match positions {
            PositionModel::Diagonal(prior) => *tension = prior.tension,
            PositionModel::Hmm(_) => metadata.diagonal = false,
        }
    }
    file.write_metadata(&metadata)?;
    for (name, vocabulary) in ["source", "target"].into_iter().zip(vocabularies) {
        Dictionary::write(&mut file, name, vocabulary.iter())?;
    }
    let (mut starts, mut targets, mut probabilities) = (vec![0u64], Vec::new(), Vec::new());
    for word in 0..vocabularies[0].len() as u32 {
        let first = targets.len();
        let row = rows.row(word);
        let mut entries: Vec<(u32, [f64; 2])> = row
            .map(|entry| (rows.targets[entry], translation_table.entries[entry]))
            .filter(|(_, numbers)| numbers.iter().any(|&p| p >= MIN_PROBABILITY))
            .collect();
        entries.sort_unstable_by_key(|&(target, _)| target);
        targets.extend(entries.iter().map(|&(target, _)| target));
        probabilities.extend(entries.iter().flat_map(|(_, numbers)| numbers.map(|p| p as f32)));
        starts.push((first + entries.len()) as u64);
    }
    file.write_section("starts", &starts)?;
    file.write_section("targets", &targets)?;
    file.write_section("probabilities", &probabilities)?;
    for direction in [FORWARD, REVERSE] {
        let null: Vec<f32> = translation_table.null[direction].iter().map(|&p| p as f32).collect();
        file.write_section(NULL_SECTIONS[direction], &null)?;
        if let PositionModel::Hmm(jumps) = &positions[direction] {
            file.write_section(JUMP_SECTIONS[direction], jumps.weights())?;
        }
    }
    file.finish()?;
    Ok(())
}

/// A saved model.
pub(crate) struct SavedModel {
    pub dictionaries: [Dictionary; 2],
    row_starts: View<u64>,
    targets: View<u32>,
    probabilities: View<f32>,
    /// Probabilities of the null word; its `entries` are empty.
    pub null_table: TranslationTable,
    pub positions: [PositionModel; 2],
}

impl SavedModel {
    /// Opens a file and checks its sizes and position models; [`verify`] checks the rest.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(&Container::open(path, FILE_KIND, FORMAT_VERSION, LoadMethod::Lazy)?)
    }

    fn from_container(file: &Container) -> Result<Self> {
        let metadata: Metadata = file.metadata()?;
        let words = [Dictionary::open(file, "source")?, Dictionary::open(file, "target")?];
        let starts: View<u64> = file.section("starts")?;
        let targets: View<u32> = file.section("targets")?;
        let probabilities: View<f32> = file.section("probabilities")?;
        if starts.len() != words[0].len() + 1
            || !starts.is_sorted()
            || starts.last() != Some(&(targets.len() as u64))
        {
            return Err(file.damaged("starts", "expected a row for each source word").into());
        }
        if probabilities.len() != 2 * targets.len() {
            return Err(file.damaged("probabilities", "expected two for each word pair").into());
        }
        let mut null = TranslationTable::zeros(0, 0, 0);
        for direction in [FORWARD, REVERSE] {
            let section: View<f32> = file.section(NULL_SECTIONS[direction])?;
            if section.len() != words[1 - direction].len() {
                return Err(file
                    .damaged(NULL_SECTIONS[direction], "expected a probability for each word")
                    .into());
            }
            null.null[direction] = section.iter().map(|&p| f64::from(p)).collect();
        }
        let positions = if metadata.diagonal {
            if !metadata.tensions.iter().all(|tension| (0.0..=100.0).contains(tension)) {
                return Err(file.damaged("metadata", "a tension is out of range").into());
            }
            metadata
                .tensions
                .map(|tension| PositionModel::Diagonal(DiagonalPrior::with_tension(tension)))
        } else {
            [read_jumps(file, FORWARD)?, read_jumps(file, REVERSE)?]
        };
        Ok(SavedModel {
            dictionaries: words,
            row_starts: starts,
            targets,
            probabilities,
            null_table: null,
            positions,
        })
    }

    /// Returns the model's vocabularies, to read new text with.
    pub fn vocabularies(&self, path: &Path) -> Result<[Vocabulary; 2]> {
        let [source, target] = self.dictionaries.each_ref().map(|words| {
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
    pub fn fetch_probabilities(&self, pair: SentencePair<'_>, local: &mut Vec<[f64; 2]>) {
        local.clear();
        for &word in pair.source.distinct_words {
            let row = match self.row_starts.get(word as usize..word as usize + 2) {
                Some(bounds) => bounds[0] as usize..bounds[1] as usize,
                None => 0..0,
            };
            let targets = &self.targets[row.clone()];
            local.extend(pair.target.distinct_words.iter().map(|target| {
                match targets.binary_search(target) {
                    Ok(index) => {
                        let at = 2 * (row.start + index);
                        [self.probabilities[at], self.probabilities[at + 1]].map(f64::from)
                    }
                    Err(_) => [UNKNOWN_PROBABILITY; 2],
                }
            }));
        }
    }
}

fn read_jumps(file: &Container, direction: usize) -> Result<PositionModel> {
    let section = JUMP_SECTIONS[direction];
    let weights: View<f64> = file.section(section)?;
    let jumps = HmmTransitions::from_weights(weights.to_vec());
    Ok(PositionModel::Hmm(jumps.ok_or_else(|| file.damaged(section, "invalid weights of jumps"))?))
}

/// Checks what opening does not check: that every word is found by its text, the order of target
/// words in each row, and the ranges of ids and probabilities.
///
/// # Errors
/// The first damage that is found. Beyond those of opening, its place is `words`, `targets`,
/// `probabilities`, or a section of the null word.
pub fn verify(file: &Container) -> Result<()> {
    let model = SavedModel::from_container(file)?;
    for words in &model.dictionaries {
        if words.verify().is_err() {
            return Err(file.damaged("words", "looking up a word does not find it").into());
        }
    }
    let known = model.dictionaries[1].len();
    for bounds in model.row_starts.windows(2) {
        let row = &model.targets[bounds[0] as usize..bounds[1] as usize];
        if !row.is_sorted_by(|a, b| a < b) || row.last().is_some_and(|&t| t as usize >= known) {
            return Err(file
                .damaged("targets", "a row is not sorted or refers to words that do not exist")
                .into());
        }
    }
    for name in ["probabilities", NULL_SECTIONS[FORWARD], NULL_SECTIONS[REVERSE]] {
        let numbers: View<f32> = file.section(name)?;
        if !numbers.iter().all(|p| (0.0..=1.0 + 1e-6).contains(p)) {
            return Err(file.damaged(name, "a number is not a probability").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligner::tests::{test_options, trained};
    use crate::bitext::from_lines;
    use crate::{AlignModel, AlignOptions};
    use proptest::prelude::*;

    const TEXT: [(&str, &str); 3] =
        [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")];

    fn save_toy_model(model: AlignModel) -> Vec<u8> {
        save_changed_model(model, |_| ())
    }

    fn save_changed_model(
        model: AlignModel,
        change: impl FnOnce(&mut TranslationTable),
    ) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("model");
        let text = from_lines(&TEXT);
        let options = AlignOptions { model, ..test_options() };
        let (rows, mut trained) = trained(&text, &options);
        change(&mut trained.translation_table);
        let words = [&text.source.vocabulary, &text.target.vocabulary];
        save_model(&path, words, &rows, &trained.translation_table, &trained.positions)
            .expect("it is saved");
        std::fs::read(&path).expect("the file was written")
    }

    fn open(bytes: &[u8]) -> Result<(Container, SavedModel)> {
        let bytes = miriam_storage::Bytes::copy_from(bytes);
        let file = Container::from_bytes(bytes, Path::new("model"))?
            .expect_kind(FILE_KIND, FORMAT_VERSION)?;
        let model = SavedModel::from_container(&file)?;
        Ok((file, model))
    }

    #[test]
    fn a_saved_model_has_the_probabilities_of_training() {
        let text = from_lines(&TEXT);
        for model in [AlignModel::Ibm2, AlignModel::Hmm] {
            let (rows, trained) = trained(&text, &AlignOptions { model, ..test_options() });
            let (file, saved) = open(&save_toy_model(model)).expect("the model is valid");
            verify(&file).expect("the model is valid");
            let (pair, mut local) = (text.pair(1).expect("it has words"), Vec::new());
            saved.fetch_probabilities(pair, &mut local);
            for (cell, found) in local.iter().enumerate() {
                let (source, target) =
                    (pair.source.distinct_words[cell / 2], pair.target.distinct_words[cell % 2]);
                let entry = rows.row(source).find(|&entry| rows.targets[entry] == target);
                let expected = match trained.translation_table.entries[entry.expect("an entry")] {
                    numbers if numbers.iter().all(|&p| p < MIN_PROBABILITY) => {
                        [UNKNOWN_PROBABILITY; 2]
                    }
                    numbers => numbers.map(|p| f64::from(p as f32)),
                };
                assert_eq!(*found, expected);
            }
            let new = from_lines(&[("das x", "the y")]);
            let mut seen = saved.vocabularies(Path::new("model")).expect("words are distinct");
            assert_eq!(seen[0].find(b"das"), text.source.vocabulary.find(b"das"));
            assert!(seen[1].intern(b"new").index() == saved.dictionaries[1].len());
            // Word ids above the model's are unknown words.
            saved.fetch_probabilities(new.pair(0).expect("it has words"), &mut local);
            assert_eq!(local.len(), 4);
        }
    }

    #[test]
    fn a_number_that_is_not_a_probability_is_reported_with_its_section() {
        type Change = fn(&mut TranslationTable);
        let changes: [(Change, &str); 3] = [
            (|table| table.entries[0] = [2.0, 0.5], "probabilities"),
            (|table| table.null[FORWARD][0] = 2.0, "null.forward"),
            (|table| table.null[REVERSE][0] = f64::NAN, "null.reverse"),
        ];
        for (change, section) in changes {
            let bytes = save_changed_model(AlignModel::Ibm2, change);
            let (file, _) = open(&bytes).expect("the sizes are valid");
            let error = verify(&file).expect_err("it is damaged").to_string();
            assert!(error.contains(&format!("damaged: {section}: ")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_harmless(
            hmm in any::<bool>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
        ) {
            let mut bytes = save_toy_model(if hmm { AlignModel::Hmm } else { AlignModel::Ibm2 });
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            if let Ok((file, model)) = open(&bytes) {
                let _ = file.verify();
                let _ = verify(&file);
                let _ = model.vocabularies(Path::new("model"));
                let text = from_lines(&TEXT);
                let count = std::cell::Cell::new(0);
                crate::corpus_pass::decode_with_saved_model(
                    &text, &model, [true, true],
                    |_: &mut (), _, lines| lines.num_links += 1,
                    |lines| { count.set(count.get() + lines.num_links); Ok(()) },
                    &(&miriam_textio::NoProgress as &dyn miriam_textio::Progress).task("", None),
                ).unwrap();
                prop_assert_eq!(count.get(), TEXT.len() as u64);
            }
        }
    }
}
