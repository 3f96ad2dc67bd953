//! The hash by which KenLM knows an n-gram (`ngram-lm.md` 2.7). Our own probing
//! files use it too: a word is added to it at the old end, so all hashes of a
//! query are known before any memory is touched.

/// What the hash of the words so far is multiplied by.
pub(crate) const MULTIPLIER: u64 = 8_978_948_897_894_561_157;
/// What the next word, plus one, is multiplied by.
pub(crate) const WORD_MULTIPLIER: u64 = 17_894_857_484_156_487_943;

/// The share of a word at the old end of an n-gram in its hash.
#[inline(always)]
pub(crate) fn word_hash_term(older: u32) -> u64 {
    u64::from(older.wrapping_add(1)).wrapping_mul(WORD_MULTIPLIER)
}

/// The hash of an n-gram with one more word of context at its old end. The hash
/// of a single word is its id.
#[inline(always)]
pub(crate) fn combine(hash: u64, older: u32) -> u64 {
    hash.wrapping_mul(MULTIPLIER) ^ word_hash_term(older)
}

/// The hash of an n-gram without its oldest word: what [`combine`] made it of.
#[inline]
pub(crate) fn uncombine(hash: u64, oldest: u32) -> u64 {
    /// The inverse of an odd number modulo 2^64: each round doubles the bits
    /// that are right, of which a number itself has three.
    const INVERSE: u64 = {
        let (mut inverse, mut round) = (MULTIPLIER, 0);
        while round < 5 {
            let error = MULTIPLIER.wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(error));
            round += 1;
        }
        inverse
    };
    (hash ^ word_hash_term(oldest)).wrapping_mul(INVERSE)
}
