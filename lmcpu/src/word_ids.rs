//! Conversion of text to word ids in one pass, with few lookups in the model's vocabulary.
//!
//! Whitespace is found 64 bytes at a time, as bit masks. Most of running text consists of a few
//! thousand words, so each thread keeps a small cache of words: a word of up to 15 bytes and its
//! length are one 128-bit number (`WordKey`). The cache is exact: all bytes of a word are compared,
//! and words that are not cached are looked up in the model, many at once
//! ([`LanguageModel::word_ids`]).

use crate::word_key::WordKey;
use crate::{LanguageModel, LmWord};

/// The number of entries of the cache, of 24 bytes each: what a core's second-level cache holds
/// together with the text and the scores.
const CACHE_ENTRIES: usize = 1 << 14;

/// The words of a text and where its sentences end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedText {
    /// The ids of the words; with markers, each sentence ends in the id of `</s>`.
    pub ids: Vec<LmWord>,
    /// The end of each sentence in `ids`.
    pub ends: Vec<usize>,
    /// Whether the last sentence has no line end: then it has no `</s>` either and is
    /// not empty.
    pub last_is_unterminated: bool,
    /// Whether the other sentences end in the id of `</s>`.
    pub has_end_markers: bool,
    /// The span of each word in the text, [`EncodedText::NO_SPAN`] for `</s>`; empty
    /// unless the encoder keeps spans.
    pub spans: Vec<(u32, u32)>,
}

impl EncodedText {
    /// The span of `</s>`, which is not in the text.
    pub const NO_SPAN: (u32, u32) = (u32::MAX, u32::MAX);
}

/// An encoder of text as word ids of a model; each thread has its own.
pub struct TextEncoder<'m> {
    model: &'m dyn LanguageModel,
    /// The id that each sentence ends in, with markers.
    eos_id: Option<LmWord>,
    keep_spans: bool,
    cache: Box<[CacheEntry; CACHE_ENTRIES]>,
    /// The spans in the text of the words that are not in the cache.
    misses: Vec<(u32, u32)>,
    /// The indices among the ids of the words in `misses`.
    miss_positions: Vec<u32>,
    miss_ids: Vec<LmWord>,
}

#[derive(Clone, Copy, Default)]
struct CacheEntry {
    key: WordKey,
    id: LmWord,
}

impl<'m> TextEncoder<'m> {
    /// Creates an encoder; with `markers` sentences end in `</s>`; with `keep_spans` the spans of
    /// words are kept.
    pub fn new(model: &'m dyn LanguageModel, markers: bool, keep_spans: bool) -> Self {
        TextEncoder {
            model,
            eos_id: markers.then(|| model.end_of_sentence()),
            keep_spans,
            cache: Box::new([CacheEntry::default(); CACHE_ENTRIES]),
            misses: Vec::new(),
            miss_positions: Vec::new(),
            miss_ids: Vec::new(),
        }
    }

    /// Replaces the content of `words` by the words of `text`. The six bytes of C's `isspace`
    /// separate words, and `\n` ends a line.
    ///
    /// # Panics
    /// If `text` has `u32::MAX` bytes or more.
    pub fn encode(&mut self, text: &[u8], words: &mut EncodedText) {
        assert!(u32::try_from(text.len()).is_ok_and(|length| length < u32::MAX));
        words.ids.clear();
        words.ends.clear();
        words.spans.clear();
        words.has_end_markers = self.eos_id.is_some();
        self.misses.clear();
        self.miss_positions.clear();
        // The start of the word that ends at the next blank.
        let mut open = 0;
        // Whether the byte before the chunk is blank, as a bit.
        let mut before = 1;
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        let mut last = [b' '; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        for (i, chunk) in chunks.iter().chain([&last]).enumerate() {
            let base = i * CHUNK;
            let (blank, newline) = whitespace_masks(chunk);
            let edges = blank ^ (blank << 1 | before);
            let (mut starts, word_ends) = (edges & !blank, edges & blank);
            if before == 1 {
                open = base + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
            }
            before = blank >> 63;
            let mut stops = word_ends | newline;
            while stops != 0 {
                let bit = stops & stops.wrapping_neg();
                let at = base + stops.trailing_zeros() as usize;
                stops ^= bit;
                if word_ends & bit != 0 {
                    self.push_word(text, open, at, words);
                    open = base + starts.trailing_zeros() as usize;
                    starts &= starts.wrapping_sub(1);
                }
                if newline & bit != 0 {
                    if let Some(end) = self.eos_id {
                        words.ids.push(end);
                        if self.keep_spans {
                            words.spans.push(EncodedText::NO_SPAN);
                        }
                    }
                    words.ends.push(words.ids.len());
                }
            }
        }
        if before == 0 {
            // The last chunk ends in a word.
            self.push_word(text, open, text.len(), words);
        }
        words.last_is_unterminated =
            words.ids.len() > words.ends.last().copied().unwrap_or_default();
        if words.last_is_unterminated {
            words.ends.push(words.ids.len());
        }
        self.resolve_misses(text, words);
    }

    #[inline(always)]
    fn push_word(&mut self, text: &[u8], start: usize, end: usize, words: &mut EncodedText) {
        let span = (start as u32, end as u32);
        if self.keep_spans {
            words.spans.push(span);
        }
        let mut id = LmWord::UNKNOWN;
        let known = WordKey::new(&text[start..], end - start).is_some_and(|key| {
            let entry = &self.cache[cache_slot(key)];
            id = entry.id;
            entry.key == key
        });
        if !known {
            self.misses.push(span);
            self.miss_positions.push(words.ids.len() as u32);
        }
        words.ids.push(id);
    }

    /// Looks up in the model the words that are not in the cache.
    fn resolve_misses(&mut self, text: &[u8], words: &mut EncodedText) {
        self.miss_ids.clear();
        self.miss_ids.resize(self.misses.len(), LmWord::UNKNOWN);
        self.model.word_ids(text, &self.misses, &mut self.miss_ids);
        for ((&(start, end), &position), &id) in
            self.misses.iter().zip(&self.miss_positions).zip(&self.miss_ids)
        {
            words.ids[position as usize] = id;
            if let Some(key) = WordKey::new(&text[start as usize..], (end - start) as usize) {
                self.cache[cache_slot(key)] = CacheEntry { key, id };
            }
        }
    }
}

#[inline(always)]
fn cache_slot(key: WordKey) -> usize {
    // The halves are multiplied, so that every byte affects the folded product.
    let product =
        u128::from(key.low ^ 0xa076_1d64_78bd_642f) * u128::from(key.high ^ 0xe703_7ed1_a0b4_28db);
    ((product as u64) ^ (product >> 64) as u64) as usize % CACHE_ENTRIES
}

/// The number of bytes that are classified together.
const CHUNK: usize = 64;

/// Returns bit masks of the blank bytes (C's `isspace`) and of `\n`; the first byte is the lowest
/// bit.
#[inline(always)]
fn whitespace_masks(chunk: &[u8; CHUNK]) -> (u64, u64) {
    // The comparisons are vectorised. A byte minus 9 is at most 4 for tab, newline,
    // vertical tab, form feed and return.
    let blank = chunk.map(|byte| u8::from(byte.wrapping_sub(9) <= 4) | u8::from(byte == b' '));
    let newline = chunk.map(|byte| u8::from(byte == b'\n'));
    (movemask(&blank), movemask(&newline))
}

/// Returns the bytes of 0 and 1 as a bit mask.
#[inline(always)]
fn movemask(bytes: &[u8; CHUNK]) -> u64 {
    let eights = bytes.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |all, (i, eight)| {
        // The product moves byte `n` to bit 56 + n, and no two terms meet.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        all | gathered << (8 * i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_storage::LoadMethod;
    use miriam_textio::NoProgress;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Returns a model with words of all lengths up to 39, and words that differ in zero bytes
    /// only.
    fn model() -> Arc<dyn LanguageModel> {
        let words: Vec<String> =
            (1..40).map(|n| "x".repeat(n)).chain(["x\0", "\0", "\0\0"].map(String::from)).collect();
        let mut arpa = format!("\\data\\\nngram 1={}\n\n\\1-grams:\n", words.len() + 3);
        arpa += "-1\t<unk>\n-99\t<s>\n-1\t</s>\n";
        for word in words {
            arpa += &format!("-2\t{word}\n");
        }
        arpa += "\n\\end\\\n";
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), arpa).unwrap();
        crate::open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap()
    }

    /// Returns what [`TextEncoder::encode`] gives, computed word by word.
    fn encode_word_by_word(model: &dyn LanguageModel, text: &[u8], markers: bool) -> EncodedText {
        let mut words = EncodedText { has_end_markers: markers, ..EncodedText::default() };
        let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
        let last = lines.pop().unwrap();
        let mut at = 0;
        for (i, line) in lines.iter().copied().chain([last]).enumerate() {
            for word in line.split(|b| matches!(b, b' ' | b'\t' | 0x0b | 0x0c | b'\r')) {
                if !word.is_empty() {
                    words.spans.push((at, at + word.len() as u32));
                    words.ids.push(model.word_id(word));
                }
                at += word.len() as u32 + 1;
            }
            if i < lines.len() {
                if markers {
                    words.spans.push(EncodedText::NO_SPAN);
                    words.ids.push(model.end_of_sentence());
                }
                words.ends.push(words.ids.len());
            }
        }
        if words.ids.len() > words.ends.last().copied().unwrap_or(0) {
            words.last_is_unterminated = true;
            words.ends.push(words.ids.len());
        }
        words
    }

    fn check(model: &dyn LanguageModel, text: &[u8], markers: bool) {
        let expected = encode_word_by_word(model, text, markers);
        let mut reader = TextEncoder::new(model, markers, true);
        let mut words = EncodedText::default();
        // The second time words come from the cache.
        for _ in 0..2 {
            reader.encode(text, &mut words);
            assert_eq!(words, expected);
        }
        let mut bare = TextEncoder::new(model, markers, false);
        bare.encode(text, &mut words);
        assert_eq!((words.ids, words.ends, words.spans), (expected.ids, expected.ends, vec![]));
    }

    #[test]
    fn text_is_split_as_kenlm_splits_it() {
        let model = model();
        for text in ["", "\n", "x", " x \n\n\txx\x0bx\x0cx\r\n", "x\0 \0\0 x \u{a0}x \u{85}x\n"] {
            check(&*model, text.as_bytes(), true);
        }
        // Words that end at, begin at and cross the ends of chunks.
        for length in 1..200 {
            check(&*model, "x".repeat(length).as_bytes(), true);
            check(&*model, format!("{}\nx x", "x".repeat(length)).as_bytes(), true);
            check(&*model, format!("{}x xx\n", " ".repeat(length)).as_bytes(), false);
        }
    }

    proptest! {
        #[test]
        fn equals_splitting_word_by_word(
            pieces in proptest::collection::vec(prop_oneof![
                4 => (1usize..40).prop_map(|n| b"x".repeat(n)),
                3 => Just(b" ".to_vec()),
                1 => Just(b"\n".to_vec()),
                1 => proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..34], 0..20),
            ], 0..60),
            markers in any::<bool>(),
        ) {
            check(&*model(), &pieces.concat(), markers);
        }
    }
}
