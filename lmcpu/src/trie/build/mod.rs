//! From lists of n-grams to tries.
//!
//! Each order is sorted ([`keys`]), joined to the orders below ([`grow`]) and,
//! when all are there, packed and written. A model from which a toolkit has
//! pruned suffixes gets blanks in their place ([`blanks`]).
//!
//! The bytes do not depend on the number of threads.

mod blanks;
mod grow;
mod keys;
mod write;

use std::path::Path;

#[cfg(test)]
use miriam_layout::Bytes;
use miriam_layout::ContainerWriter;
use miriam_text::{Progress, WordId};

use grow::{Growing, Nodes};
use keys::Keys;
use write::{Model, Packed};

use super::quantise::Bits;
use super::*;
pub use crate::probing::ModelSize;
use crate::probing::Stage;
use crate::{Duplicates, Error, open_source};

/// n-grams of one order, at most.
const MAX_NGRAMS: usize = u32::MAX as usize - 1;

/// Builds the file `output` from the model at `path`, ARPA text or whatever else
/// [`open_source`] opens, on rayon's current threads. With `bits` probs and
/// backoffs of n-grams of two words and more are quantised.
pub fn build_trie(
    path: &Path,
    output: &Path,
    bits: Option<Bits>,
    duplicates: Duplicates,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    let model = read(path, duplicates, progress)?;
    let size = model.size();
    let _stage = Stage::begin(progress, "writing", None);
    Packed::new(model, bits).write(ContainerWriter::create(output, KIND, VERSION)?)?;
    Ok(size)
}

/// The bytes of the file that [`build_trie`] would write.
#[cfg(test)]
pub(super) fn container_in_memory(path: &Path, bits: Option<Bits>) -> Result<Bytes> {
    let model = read(path, Duplicates::Refuse, &miriam_text::Silent)?;
    let bytes = Packed::new(model, bits).write(ContainerWriter::in_memory(path, KIND, VERSION)?)?;
    bytes.ok_or_else(|| unreachable!("a container in memory has bytes"))
}

/// Reads the model at `path` into a trie of plain arrays.
fn read(path: &Path, duplicates: Duplicates, progress: &dyn Progress) -> Result<Model> {
    let size = path.metadata().map(|found| found.len()).ok();
    let _stage = Stage::begin(progress, "reading", size);
    let mut source = open_source(path, duplicates, progress)?;
    let ids = rank(source.unigrams());
    let mut growing = Growing { levels: vec![words(source.unigrams(), &ids)] };
    while let Some(section) = source.next_section()? {
        if section.len() > MAX_NGRAMS {
            let reason =
                format!("it has more than {MAX_NGRAMS} n-grams of {} words", section.order);
            return Err(Error::Unsupported { file: source.name().to_owned(), reason });
        }
        let keys = Keys::sort(&section, &ids, &*source)?;
        growing.add(&section, &keys, &*source)?;
    }
    let vocabulary = source.vocabulary();
    let id = |word: &[u8]| vocabulary.find(word).map_or(0, |id| ids[id.index()]);
    let (begin, end) = (id(b"<s>"), id(b"</s>"));
    let mut source_ids = vec![WordId(0); ids.len()];
    for (source_id, &id) in ids.iter().enumerate() {
        source_ids[id as usize] = WordId(source_id as u32);
    }
    Ok(Model {
        name: source.name().to_owned(),
        counts: source.counts().to_vec(),
        vocabulary: vocabulary.clone(),
        source_ids,
        has_unknown: source.has_unknown(),
        begin,
        end,
        levels: growing,
    })
}

/// Our id of each of the source's words: `<unk>` stays 0, then the most probable
/// first; among equals the source's order stays.
fn rank(unigrams: &[crate::arpa::Unigram]) -> Vec<u32> {
    let mut ranked: Vec<u32> = (1..unigrams.len() as u32).collect();
    let log10 = |id: u32| -unigrams[id as usize].log10.abs();
    ranked.sort_by(|&a, &b| log10(b).total_cmp(&log10(a)));
    let mut ids = vec![0; unigrams.len()];
    for (rank, source_id) in ranked.into_iter().enumerate() {
        ids[source_id as usize] = rank as u32 + 1;
    }
    ids
}

/// The words as nodes of order 1.
fn words(unigrams: &[crate::arpa::Unigram], ids: &[u32]) -> Nodes {
    let mut nodes = Nodes {
        words: (0..ids.len() as u32).collect(),
        log10: vec![0.0; ids.len()],
        backoffs: vec![0.0; ids.len()],
        ..Nodes::default()
    };
    for (unigram, &id) in unigrams.iter().zip(ids) {
        nodes.log10[id as usize] = unigram.log10;
        nodes.backoffs[id as usize] = unigram.backoff;
    }
    nodes
}
