//! The hash by which KenLM knows an n-gram (`ngram-lm.md` 2.7). Our own probing
//! files use it too: a word is added to it at the old end, so all hashes of a
//! query are known before any memory is touched.

/// What the hash of the words so far is multiplied by.
pub(crate) const BY: u64 = 8_978_948_897_894_561_157;
/// What the next word, plus one, is multiplied by.
pub(crate) const WORD_BY: u64 = 17_894_857_484_156_487_943;

/// The share of a word at the old end of an n-gram in its hash.
#[inline(always)]
pub(crate) fn older_part(older: u32) -> u64 {
    u64::from(older.wrapping_add(1)).wrapping_mul(WORD_BY)
}

/// The hash of an n-gram with one more word of context at its old end. The hash
/// of a single word is its id.
#[inline(always)]
pub(crate) fn combine(hash: u64, older: u32) -> u64 {
    hash.wrapping_mul(BY) ^ older_part(older)
}
