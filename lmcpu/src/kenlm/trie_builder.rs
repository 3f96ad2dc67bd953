//! Writing of KenLM's trie files for other tools that read them, byte for byte as KenLM's
//! `build_binary trie` writes them (`ngram-lm.md` 2.9 to 2.13): plain, quantised, with compressed
//! pointers, or both.
//!
//! Words are numbered by their hashes, n-grams are sorted and linked by [`crate::sorted`], and each
//! order is packed by all threads: every eighth entry ends at the end of a byte, whatever the
//! number of bits of an entry.
//!
//! A deliberate difference: two entries for the same n-gram are an error.

use std::io::Write as _;
use std::path::Path;

use miriam_storage::atomic_file::AtomicFile;
use miriam_storage::parallel;
use miriam_textio::Progress;

use super::bit_packing::{BitPackedArray, BitWriter, required_bits};
use super::header::{Header, ModelType};
use super::open_for_building;
use super::trie::{POINTER_ARRAY_VERSION, PointerSplit, QUANTIZER_VERSION};
use super::vocabulary::{sort_by_hash, word_strings};
use crate::ngram_index::SIGN;
use crate::probing::ModelSize;
use crate::sorted::{Nodes, SortedModel};
use crate::trie::quantize::{QuantizationBits, backoff_centres, encode_ngram, prob_centres};
use crate::{ArpaOptions, NO_EXTENSION, Result};

/// The number of entries that a task packs: a multiple of 8.
const CHUNK: usize = 1 << 14;

/// Options of KenLM's `build_binary` for tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KenlmTrieOptions {
    /// The quantisation of probabilities and backoffs, which become indices of the centres of bins
    /// (`-q` and `-b`); `None` for exact values. Values of single words are always exact.
    pub quantize: Option<QuantizationBits>,
    /// The largest number of high bits of compressed pointers that is kept in an array (`-a`);
    /// `None` for uncompressed pointers.
    pub pointer_bits: Option<u8>,
    /// Whether the file has the words as text; `-v` leaves them out.
    pub has_words: bool,
}

impl Default for KenlmTrieOptions {
    fn default() -> Self {
        KenlmTrieOptions { quantize: None, pointer_bits: None, has_words: true }
    }
}

/// Builds the KenLM trie file `output` from the model at `path`, in any format that
/// [`crate::open_source`] reads, on rayon's current threads.
///
/// # Errors
///
/// If the options are out of range, the source cannot be read, is a unigram model, lacks contexts,
/// has duplicates or has words that KenLM cannot store or tell apart, or the file cannot be
/// written.
pub fn build_kenlm_trie(
    path: &Path,
    output: &Path,
    options: KenlmTrieOptions,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    let size = path.metadata().map(|found| found.len()).ok();
    let task = progress.task("reading", size);
    let mut source = open_for_building(path, arpa, progress)?;
    let (hashes, ids) = sort_by_hash(source.vocabulary(), source.name())?;
    let mut unknown = source.unigrams()[0];
    if !source.has_unknown() {
        (unknown.log10, unknown.backoff) = (arpa.unknown_log10, 0.0);
    }
    let mut model = SortedModel::with_word_ids(&mut *source, &ids, unknown)?;
    unmark_last_blanks(&mut model.trie.levels);
    drop(task);
    let _task = progress.task("writing", None);
    let mut file = AtomicFile::create(output)?;
    let sink = &mut |bytes: &[u8]| -> Result<()> {
        file.write_all(bytes).map_err(|e| miriam_storage::Error::io(output, "write", e).into())
    };
    TrieWriter { options, model: &model, bytes: 0, sink }.write_all(&hashes)?;
    file.commit()?;
    Ok(model.size())
}

/// Takes the mark of a context from the blanks after the last listed n-gram of each order: KenLM
/// marks blanks while it reads the listed n-grams, and stops after the last one.
fn unmark_last_blanks(levels: &mut [Nodes]) {
    for nodes in levels {
        let mut end = nodes.len();
        for &blank in nodes.blanks.iter().rev() {
            end -= 1;
            if blank as usize != end {
                break;
            }
            nodes.backoffs[end] = f32::from_bits(NO_EXTENSION);
        }
    }
}

/// A model being written to a file.
struct TrieWriter<'a> {
    options: KenlmTrieOptions,
    model: &'a SortedModel,
    /// The number of bytes written.
    bytes: usize,
    sink: &'a mut dyn FnMut(&[u8]) -> Result<()>,
}

/// The bit layout of the entries of an order.
struct LevelLayout {
    word_bits: u32,
    prob_bits: u32,
    /// 0 for the longest n-grams.
    backoff_bits: u32,
    codebook: Option<Codebook>,
    /// `None` for the longest n-grams.
    pointers: Option<PointerSplit>,
}

/// The centres of an order's bins.
struct Codebook {
    log10: Vec<f32>,
    /// Empty for the longest n-grams.
    backoffs: Vec<f32>,
}

impl Codebook {
    fn train(nodes: &Nodes, bits: QuantizationBits, is_longest: bool) -> Self {
        fn nonzero(nodes: &Nodes) -> Vec<f32> {
            nodes.backoffs.iter().copied().filter(|&backoff| backoff != 0.0).collect()
        }
        let backoffs =
            if is_longest { Vec::new() } else { backoff_centres(nonzero(nodes), bits.backoff()) };
        Codebook { log10: prob_centres(nodes.log10.clone(), bits.prob()), backoffs }
    }
}

impl LevelLayout {
    /// Packs the entry `at` of `nodes`; the entry after the last only says where the children of
    /// the last entry end.
    fn pack(&self, nodes: &Nodes, at: usize, writer: &mut BitWriter) {
        let end = at == nodes.len();
        writer.push(if end { 0 } else { nodes.words[at].into() }, self.word_bits);
        let backoff = nodes.backoffs.get(at).copied().unwrap_or(0.0);
        match &self.codebook {
            _ if end => {
                writer.push(0, self.prob_bits);
                writer.push(0, self.backoff_bits);
            }
            // Here the backoff comes first; in files that are not quantised it comes second.
            Some(codebook) => {
                let (prob, code) =
                    encode_ngram(&codebook.log10, &codebook.backoffs, nodes.log10[at], backoff);
                writer.push(code.into(), self.backoff_bits);
                writer.push(prob.into(), self.prob_bits);
            }
            None => {
                writer.push((nodes.log10[at].to_bits() & !SIGN).into(), self.prob_bits);
                writer.push(backoff.to_bits().into(), self.backoff_bits);
            }
        }
        if let Some(split) = &self.pointers {
            writer.push(nodes.children[at].into(), split.low_bits);
        }
    }
}

impl TrieWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len();
        (self.sink)(bytes)
    }

    /// Writes the whole file; `hashes` are the hashes of the words in ascending order.
    fn write_all(&mut self, hashes: &[u64]) -> Result<()> {
        let levels = &self.model.trie.levels;
        let counts: Vec<u64> = levels.iter().map(|nodes| nodes.len() as u64).collect();
        let compressed = self.options.pointer_bits.is_some();
        let header = Header {
            model_type: ModelType::Trie { quantized: self.options.quantize.is_some(), compressed },
            probing_multiplier: super::KenlmProbingOptions::default().multiplier,
            has_vocabulary: self.options.has_words,
            counts: counts.clone(),
        };
        self.write(&header.to_bytes())?;
        self.write(&(hashes.len() as u64).to_le_bytes())?;
        let mut bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        // <unk> has a place here, but no hash.
        bytes.resize(8 * counts[0] as usize, 0);
        self.write(&bytes)?;
        let layouts: Vec<LevelLayout> = (1..levels.len()).map(|at| self.layout(at)).collect();
        if let Some(bits) = self.options.quantize {
            bits.warn_of_lost_backoffs();
            self.write(&[
                QUANTIZER_VERSION,
                bits.prob() as u8,
                bits.backoff() as u8,
                0,
                0,
                0,
                0,
                0,
            ])?;
            for codebook in layouts.iter().filter_map(|layout| layout.codebook.as_ref()) {
                let values = codebook.log10.iter().chain(&codebook.backoffs);
                let bytes: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
                self.write(&bytes)?;
            }
        }
        self.write_unigrams()?;
        for (layout, nodes) in layouts.iter().zip(&levels[1..]) {
            if let (Some(split), true) = (&layout.pointers, compressed) {
                self.write_pointer_array(split, nodes)?;
            }
            self.write_level(layout, nodes)?;
        }
        if !self.options.has_words {
            return Ok(());
        }
        let words = self.model.source_ids.iter().map(|&id| self.model.vocabulary.word(id));
        let strings = word_strings(words, &self.model.name)?;
        self.write(&strings)
    }

    /// Returns the layout of the order at `at` among the levels, from 1.
    fn layout(&self, at: usize) -> LevelLayout {
        let levels = &self.model.trie.levels;
        let nodes = &levels[at];
        let pointers = levels.get(at + 1).map(|next| {
            let limit = self.options.pointer_bits.unwrap_or(0);
            PointerSplit::smallest(nodes.len() as u64 + 1, next.len() as u64, limit.into())
        });
        let bits = self.options.quantize;
        let is_longest = pointers.is_none();
        LevelLayout {
            word_bits: required_bits(levels[0].len() as u64),
            prob_bits: bits.map_or(31, QuantizationBits::prob),
            backoff_bits: if is_longest { 0 } else { bits.map_or(32, QuantizationBits::backoff) },
            codebook: bits.map(|bits| Codebook::train(nodes, bits, is_longest)),
            pointers,
        }
    }

    /// Writes a record for each word, one that says where the last word's bigrams end, and an empty
    /// one.
    fn write_unigrams(&mut self) -> Result<()> {
        let nodes = &self.model.trie.levels[0];
        let mut bytes = Vec::with_capacity(16 * (nodes.len() + 2));
        for at in 0..nodes.len() + 2 {
            fn value(values: &[f32], at: usize) -> f32 {
                values.get(at).copied().unwrap_or(0.0)
            }
            bytes.extend_from_slice(&value(&nodes.log10, at).to_le_bytes());
            bytes.extend_from_slice(&value(&nodes.backoffs, at).to_le_bytes());
            let children = nodes.children.get(at).copied().unwrap_or(0);
            bytes.extend_from_slice(&u64::from(children).to_le_bytes());
        }
        self.write(&bytes)
    }

    /// Writes for each value of the high bits the first entry whose pointer has this or a higher
    /// value there.
    fn write_pointer_array(&mut self, split: &PointerSplit, nodes: &Nodes) -> Result<()> {
        let start = self.bytes;
        let array = start.next_multiple_of(8) + 8;
        let mut bytes = vec![0; array - start];
        bytes[..2]
            .copy_from_slice(&[POINTER_ARRAY_VERSION, self.options.pointer_bits.unwrap_or(0)]);
        for high in 0..split.values {
            let first =
                nodes.children.partition_point(|&child| u64::from(child) >> split.low_bits < high);
            bytes.extend_from_slice(&(first as u64).to_le_bytes());
        }
        bytes.resize(split.section_bytes().unwrap_or(0) as usize, 0);
        self.write(&bytes)
    }

    fn write_level(&mut self, layout: &LevelLayout, nodes: &Nodes) -> Result<()> {
        let starts: Vec<usize> = (0..=nodes.len()).step_by(CHUNK).collect();
        // Few chunks at a time, so that memory stays small.
        for starts in starts.chunks(2 * rayon::current_num_threads()) {
            let chunks = parallel::map_tasks(starts.len(), &|chunk| {
                let mut writer = BitWriter::default();
                let end = (starts[chunk] + CHUNK).min(nodes.len() + 1);
                (starts[chunk]..end).for_each(|at| layout.pack(nodes, at, &mut writer));
                writer.finish()
            });
            for chunk in chunks {
                self.write(&chunk)?;
            }
        }
        self.write(&[0; BitPackedArray::PADDING])
    }
}
