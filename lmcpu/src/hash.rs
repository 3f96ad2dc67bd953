//! KenLM's hash of an n-gram (`ngram-lm.md` 2.7), which our own probing files use too.
//! It grows by one older word at a time, so all hashes of a query are known before any
//! memory is read.

/// The factor of the hash of the newer words.
pub(crate) const MULTIPLIER: u64 = 8_978_948_897_894_561_157;
/// The factor of the next older word's id plus one.
pub(crate) const WORD_MULTIPLIER: u64 = 17_894_857_484_156_487_943;

/// Returns the term of an n-gram's oldest word in its hash.
#[inline(always)]
pub(crate) fn word_hash_term(older: u32) -> u64 {
    u64::from(older.wrapping_add(1)).wrapping_mul(WORD_MULTIPLIER)
}

/// Extends the hash of an n-gram by the word `older`, which comes before its words. The hash of a
/// single word is its id.
#[inline(always)]
pub(crate) fn combine(hash: u64, older: u32) -> u64 {
    hash.wrapping_mul(MULTIPLIER) ^ word_hash_term(older)
}

/// Returns the hash of the n-gram `words`, newest word first.
#[inline]
pub(crate) fn hash_ngram(words: impl IntoIterator<Item = u32>) -> u64 {
    let mut words = words.into_iter();
    let newest = words.next().unwrap_or_default();
    words.fold(u64::from(newest), combine)
}

/// Returns the hash of the n-gram `words`, oldest word first.
#[inline]
pub(crate) fn hash_oldest_first(words: &[u32]) -> u64 {
    hash_ngram(words.iter().rev().copied())
}

/// Returns the hash of an n-gram without its oldest word: undoes [`combine`].
#[inline]
pub(crate) fn uncombine(hash: u64, oldest: u32) -> u64 {
    /// The inverse of the multiplier modulo 2^64 by Newton's method: each round doubles
    /// the number of correct bits, which is three at the start.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden values of `ngram-lm.md` Appendix A.
    #[test]
    fn hashes_are_kenlms() {
        assert_eq!(hash_ngram([5, 7]), 0xadb0_5cd1_23e9_83a1);
        assert_eq!(hash_ngram([5, 7, 1]), 0x43e7_8bd9_674b_e5ab);
        assert_eq!(hash_ngram([5, 7, 1, 0]), 0x98ac_c7f5_a638_b1d0);
        assert_eq!(hash_ngram([0, 0]), 0xf857_4e12_2163_4907);
    }

    #[test]
    fn uncombine_removes_the_oldest_word() {
        assert_eq!(uncombine(hash_ngram([5, 7, 1, 0]), 0), hash_ngram([5, 7, 1]));
        assert_eq!(uncombine(hash_ngram([5, 7]), 7), 5);
    }
}
