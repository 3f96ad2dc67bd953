//! The arrays of a trie packed into the sections of a file.

use hashbrown::HashMap;
use miriam_storage::dictionary::Dictionary;
use miriam_storage::parallel;
use miriam_storage::quotient_table::{self, BuiltTable, CompactLine};
use miriam_storage::{Bytes, ContainerWriter};
use rayon::prelude::*;

use crate::Error;
use crate::sorted::{Nodes, SortedModel};
use crate::trie::level::bits_for;
use crate::trie::quantize::{QuantizationBits, backoff_centres, encode_ngram, prob_centres};
use crate::trie::*;

/// The load factor of tables: a higher one makes files smaller and moves more entries
/// away from their home lines.
const LOAD_FACTOR: f64 = 0.88;

/// The encoding of backoffs.
enum BackoffCoding {
    /// As they are.
    Raw,
    /// As indices into a codebook of all values; also the index of each value by its bits.
    Codebook(Vec<f32>, HashMap<u32, u32>),
    /// As indices of the nearest of these bin centres.
    Quantized(Vec<f32>),
}

impl BackoffCoding {
    fn codebook(&self) -> &[f32] {
        match self {
            BackoffCoding::Raw => &[],
            BackoffCoding::Codebook(codebook, _) | BackoffCoding::Quantized(codebook) => codebook,
        }
    }
}

/// The bit layout of the n-grams of one order.
struct LevelCoding {
    widths: FieldWidths,
    /// Empty if probabilities are stored as they are.
    prob_codebook: Vec<f32>,
    backoffs: BackoffCoding,
}

/// A model and how it is written.
pub(super) struct TrieWriter {
    model: SortedModel,
    bits: Option<QuantizationBits>,
    /// Orders from 2.
    codings: Vec<LevelCoding>,
}

/// The table of one order.
struct LevelTable {
    metadata: LevelMetadata,
    lines: Vec<CompactLine>,
    /// Numbers of the blanks, in ascending order.
    blanks: Vec<u32>,
}

impl TrieWriter {
    pub fn new(model: SortedModel, bits: Option<QuantizationBits>) -> Self {
        let levels = &model.trie.levels;
        let codings = levels[1..]
            .iter()
            .enumerate()
            .map(|(i, nodes)| {
                let mut widths = FieldWidths { prob: RAW_PROB_BITS, backoff: 0 };
                let mut prob_codebook = Vec::new();
                if let Some(bits) = bits {
                    prob_codebook = prob_centres(nodes.log10.clone(), bits.prob());
                    widths.prob = bits.prob();
                }
                let mut backoffs = BackoffCoding::Raw;
                if i + 2 < levels.len() {
                    backoffs = match bits {
                        Some(bits) => {
                            let nonzero = nodes.backoffs.iter().copied().filter(|&b| b != 0.0);
                            BackoffCoding::Quantized(backoff_centres(
                                nonzero.collect(),
                                bits.backoff(),
                            ))
                        }
                        None => choose_backoff_coding(&nodes.backoffs),
                    };
                    widths.backoff = backoff_bits(&backoffs);
                }
                LevelCoding { widths, prob_codebook, backoffs }
            })
            .collect();
        TrieWriter { model, bits, codings }
    }

    /// Writes all sections; each array is freed when it has been written.
    pub fn write(self, mut writer: ContainerWriter) -> Result<Option<Bytes>> {
        let TrieWriter { mut model, bits, codings } = self;
        let mut head = model.head_metadata();
        if let Some(bits) = bits {
            bits.warn_of_lost_backoffs();
            // With one bit, states do not keep an n-gram that has a backoff, whether it is a suffix
            // or not.
            head.minimization_is_closed &= bits.backoff() > 1;
        }
        let unigrams = unigram_records(&model.trie.levels[0]);
        let tables = build_tables(&mut model, &codings)?;
        writer.write_metadata(&TrieMetadata {
            order: model.counts.len() as u32,
            counts: model.counts,
            levels: tables.iter().map(|table| table.metadata).collect(),
            head,
        })?;
        let words = model.source_ids.iter().map(|&id| model.vocabulary.word(id));
        Dictionary::write(&mut writer, "words", words)?;
        writer.write_section("order-1", &unigrams)?;
        let codebooks: Vec<&[f32]> = codings
            .iter()
            .flat_map(|coding| [&coding.prob_codebook[..], coding.backoffs.codebook()])
            .collect();
        writer.write_section("books", &codebooks.concat())?;
        let blanks: Vec<&[u32]> = tables.iter().map(|table| &table.blanks[..]).collect();
        writer.write_section("blanks", &blanks.concat())?;
        for (order, table) in (2..).zip(tables) {
            writer.write_section(&format!("order-{order}"), &table.lines)?;
        }
        Ok(writer.finish()?)
    }
}

/// Returns the tables of all orders from 2. An order's table gives its n-grams their numbers, from
/// which the keys of the next order are made.
fn build_tables(model: &mut SortedModel, codings: &[LevelCoding]) -> Result<Vec<LevelTable>> {
    let words = model.source_ids.len();
    // The numbers of the n-grams of the order below.
    let mut numbers: Vec<u32> = (0..words as u32).collect();
    let mut capacity = words;
    let mut shorter = std::mem::take(&mut model.trie.levels[0]);
    let mut tables = Vec::new();
    for (coding, nodes) in codings.iter().zip(&mut model.trie.levels[1..]) {
        let nodes = std::mem::take(nodes);
        let key = KeyLayout::new(capacity, words);
        let parents = shorter.parents_of_children();
        let keys = parallel::map(parents.len(), |at| {
            key.join(numbers[parents[at] as usize], nodes.words[at])
        });
        drop(parents);
        let BuiltTable { layout, lines, slot_indices: slots } =
            quotient_table::build(&keys, key.bits, coding.widths.value_bits(), LOAD_FACTOR, |at| {
                coding.value(&nodes, at)
            })
            .ok_or_else(|| {
                let reason = "more n-grams of one order than a trie can hold; build the probing \
                              model (--type probing)";
                Error::Unsupported { file: model.name.clone(), reason: reason.into() }
            })?;
        let mut blanks: Vec<u32> = nodes.blanks.iter().map(|&at| slots[at as usize]).collect();
        blanks.sort_unstable();
        let metadata = LevelMetadata {
            entries: nodes.len() as u64,
            blanks: blanks.len() as u64,
            widths: coding.widths,
            tag_bits: layout.tag_bits,
            home_lines: layout.home_lines,
            prob_codebook_len: coding.prob_codebook.len() as u32,
            backoff_codebook_len: coding.backoffs.codebook().len() as u32,
        };
        capacity = lines.len() * layout.slots() as usize;
        tables.push(LevelTable { metadata, lines, blanks });
        (numbers, shorter) = (slots, nodes);
    }
    Ok(tables)
}

impl LevelCoding {
    /// Returns the value of the entry of the node `at`.
    fn value(&self, nodes: &Nodes, at: usize) -> u64 {
        let (log10, backoff) = (nodes.log10[at], nodes.backoffs.get(at).copied().unwrap_or(0.0));
        let raw_log10 = log10.to_bits() & !SIGN;
        let (prob, backoff) = match &self.backoffs {
            BackoffCoding::Raw if self.prob_codebook.is_empty() => (raw_log10, backoff.to_bits()),
            // The longest n-grams.
            BackoffCoding::Raw => encode_ngram(&self.prob_codebook, &[], log10, backoff),
            // Every value is in the codebook.
            BackoffCoding::Codebook(_, indices) => {
                (raw_log10, indices.get(&backoff.to_bits()).copied().unwrap_or(0))
            }
            BackoffCoding::Quantized(codebook) => {
                encode_ngram(&self.prob_codebook, codebook, log10, backoff)
            }
        };
        if self.widths.backoff == 0 {
            return u64::from(prob);
        }
        self.widths.pack(prob, backoff, !nodes.children_of(at as u32).is_empty())
    }
}

fn backoff_bits(backoffs: &BackoffCoding) -> u32 {
    match backoffs {
        BackoffCoding::Raw => RAW_BACKOFF_BITS,
        BackoffCoding::Codebook(codebook, _) | BackoffCoding::Quantized(codebook) => {
            bits_for(codebook.len() - 1)
        }
    }
}

/// Returns a codebook of all backoffs, most frequent first, if that makes the model smaller.
fn choose_backoff_coding(backoffs: &[f32]) -> BackoffCoding {
    let mut sorted: Vec<u32> = backoffs.iter().map(|backoff| backoff.to_bits()).collect();
    sorted.par_sort_unstable();
    let mut values: Vec<(usize, u32)> =
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal.len(), equal[0])).collect();
    values.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let width = bits_for(values.len().saturating_sub(1));
    let saved_bits = u64::from(RAW_BACKOFF_BITS.saturating_sub(width)) * backoffs.len() as u64;
    if width > QuantizationBits::MAX
        || saved_bits <= values.len() as u64 * u64::from(RAW_BACKOFF_BITS)
    {
        return BackoffCoding::Raw;
    }
    let codebook = values.iter().map(|&(_, value)| f32::from_bits(value)).collect();
    BackoffCoding::Codebook(codebook, values.iter().map(|value| value.1).zip(0..).collect())
}

fn unigram_records(nodes: &Nodes) -> Vec<UnigramRecord> {
    (0..nodes.len())
        .map(|at| UnigramRecord {
            log10: nodes.log10[at],
            backoff: nodes.backoffs[at],
            has_children: u32::from(
                !nodes.children.is_empty() && !nodes.children_of(at as u32).is_empty(),
            ),
            zero: 0,
        })
        .collect()
}
