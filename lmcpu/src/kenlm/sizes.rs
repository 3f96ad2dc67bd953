//! Sizes of KenLM's files, from the counts of an ARPA file alone.

use miriam_textio::{Input, Progress};

use super::bit_packing::{BitPackedArray, required_bits};
use super::probing::LONGEST_ENTRY_BYTES;
use super::table::bucket_count;
use super::trie::PointerSplit;
use crate::Result;
use crate::arpa::ArpaLines;
use crate::trie::QuantizationBits;

/// The options on which the sizes of KenLM's files depend.
#[derive(Clone, Copy, Debug)]
pub struct SizeOptions {
    /// The number of slots of a probing table for each entry.
    pub multiplier: f32,
    /// The bits of a quantised trie.
    pub quantize: QuantizationBits,
    /// The largest number of pointer bits that a compressed trie keeps in an array.
    pub pointer_bits: u8,
}

/// Bytes that a model takes in each of KenLM's formats, without its words as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KenlmSizes {
    /// Probing.
    pub probing: u64,
    /// Probing with rest costs.
    pub rest_probing: u64,
    /// Trie.
    pub trie: u64,
    /// Trie with quantised values.
    pub quantized_trie: u64,
    /// Trie with compressed pointers.
    pub array_trie: u64,
    /// Trie with both.
    pub quantized_array_trie: u64,
}

/// Returns the sizes of the model in `arpa`. Only the counts of its header are read. Entries that
/// are added for missing suffixes are not counted, because the header does not tell their number. A
/// size that 64 bits cannot hold is `u64::MAX`.
///
/// # Errors
///
/// If the counts cannot be read or KenLM has no models of this order.
pub fn kenlm_sizes(
    arpa: Input,
    options: SizeOptions,
    progress: &dyn Progress,
) -> Result<KenlmSizes> {
    let lines = ArpaLines::open(arpa, progress)?;
    let counts = lines.counts();
    if counts.len() < 2 {
        return Err(super::unsupported_order(lines.name().to_owned(), counts.len()));
    }
    Ok(KenlmSizes {
        probing: probing_bytes(counts, options.multiplier, 0),
        rest_probing: probing_bytes(counts, options.multiplier, 4),
        trie: trie_bytes(counts, options, false, false),
        quantized_trie: trie_bytes(counts, options, true, false),
        array_trie: trie_bytes(counts, options, false, true),
        quantized_array_trie: trie_bytes(counts, options, true, true),
    })
}

/// Returns the size in bytes of a probing file in which the entries of all orders but the highest
/// have `rest` extra bytes.
fn probing_bytes(counts: &[u64], multiplier: f32, rest: u64) -> u64 {
    fn table(count: u64, entry: u64, multiplier: f32) -> u64 {
        bucket_count(count, multiplier).saturating_mul(entry)
    }
    let [unigrams, middle @ .., longest] = counts else { return 0 };
    // The vocabulary: a slot has the hash and the id of a word. The table has 8 bytes before it.
    let words = table(*unigrams, 12, multiplier).saturating_add(8);
    // A unigram has a probability and a backoff, a longer n-gram also its hash.
    let unigrams = unigrams.saturating_add(1).saturating_mul(8 + rest);
    let middle = middle.iter().map(|&count| table(count, 16 + rest, multiplier));
    let longest = table(*longest, LONGEST_ENTRY_BYTES as u64, multiplier);
    middle.fold(words.saturating_add(unigrams).saturating_add(longest), u64::saturating_add)
}

fn trie_bytes(
    counts: &[u64],
    options: SizeOptions,
    is_quantized: bool,
    is_compressed: bool,
) -> u64 {
    let order = counts.len();
    // Without quantisation, values are floats; the sign of a probability is not stored.
    let (prob_bits, backoff_bits) =
        if is_quantized { (options.quantize.prob(), options.quantize.backoff()) } else { (31, 32) };
    let word_bits = required_bits(counts[0]);
    fn packed(count: u64, bits: u32, word_bits: u32) -> u64 {
        let bits = count.saturating_add(1).saturating_mul(u64::from(word_bits + bits));
        bits.div_ceil(8).saturating_add(BitPackedArray::PADDING as u64)
    }
    // The number of words, a hash for each, and records for each and for two more.
    let mut bytes = counts[0].saturating_mul(8 + 16).saturating_add(8 + 2 * 16);
    if is_quantized {
        let (prob, backoff) = (4u64 << prob_bits, 4u64 << backoff_bits);
        bytes = bytes.saturating_add(8 + (order as u64 - 2) * (prob + backoff) + prob);
    }
    for pair in counts[1..].windows(2) {
        let limit = if is_compressed { options.pointer_bits } else { 0 };
        let entries = pair[0].saturating_add(1);
        let split = PointerSplit::smallest(entries, pair[1], limit.into());
        bytes = bytes.saturating_add(packed(
            pair[0],
            prob_bits + backoff_bits + split.low_bits,
            word_bits,
        ));
        if is_compressed {
            bytes = bytes.saturating_add(split.section_bytes().unwrap_or(u64::MAX));
        }
    }
    bytes.saturating_add(packed(counts[order - 1], prob_bits, word_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header may claim any count.
    #[test]
    fn sizes_do_not_overflow() {
        let quantize = QuantizationBits::new(8, 8).expect("valid numbers of bits");
        let options = SizeOptions { multiplier: 1.5, quantize, pointer_bits: 22 };
        for counts in [[u64::MAX; 3], [1 << 60, u64::MAX, 5], [1 << 62, 1 << 62, 1 << 62]] {
            for (quantized, compressed) in [(false, false), (true, false), (false, true)] {
                assert!(trie_bytes(&counts, options, quantized, compressed) > 1 << 62);
            }
            assert!(probing_bytes(&counts, 1.5, 4) > 1 << 62);
        }
    }
}
