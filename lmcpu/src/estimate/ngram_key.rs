//! N-grams packed into sort keys.
//!
//! The last word is the most significant, then the one before it: keys compare in suffix order.
//! With 17 bits per word a 5-gram has 85 bits, so most models sort 128-bit integers; longer n-grams
//! are arrays.

/// The layout of n-grams that are packed into a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPacking {
    /// The number of words in an n-gram.
    pub order: usize,
    /// The number of bits of a word.
    pub word_bits: u32,
}

impl KeyPacking {
    /// Returns the layout for n-grams of `order` words with ids below `num_words`.
    pub fn new(order: usize, num_words: usize) -> Self {
        let bits = usize::BITS - num_words.saturating_sub(1).leading_zeros();
        KeyPacking { order, word_bits: bits.max(1) }
    }

    /// Returns the number of bits of an n-gram.
    pub fn key_bits(&self) -> usize {
        self.order * self.word_bits as usize
    }
}

/// An n-gram as a sort key; index 0 is its last word.
pub(super) trait NgramKey: Copy + Ord + Send + Sync {
    /// No words yet.
    const EMPTY: Self;

    /// Returns the key with `word` added at `index`, to the left of the words so far.
    fn with_word(self, index: usize, word: u32, packing: KeyPacking) -> Self;

    /// Returns the word at `index` of a complete n-gram.
    fn word(&self, index: usize, packing: KeyPacking) -> u32;

    /// Returns the number of last words that two n-grams share.
    fn shared_words(&self, other: &Self, packing: KeyPacking) -> usize;
}

macro_rules! impl_ngram_key {
    ($number:ty) => {
        impl NgramKey for $number {
            const EMPTY: Self = 0;

            #[inline(always)]
            fn with_word(self, _: usize, word: u32, packing: KeyPacking) -> Self {
                self << packing.word_bits | <$number>::from(word)
            }

            #[inline(always)]
            fn word(&self, index: usize, packing: KeyPacking) -> u32 {
                let shift = packing.word_bits * (packing.order - 1 - index) as u32;
                (self >> shift) as u32 & (u32::MAX >> (u32::BITS - packing.word_bits))
            }

            #[inline(always)]
            fn shared_words(&self, other: &Self, packing: KeyPacking) -> usize {
                let unused = <$number>::BITS - packing.key_bits() as u32;
                (((self ^ other).leading_zeros() - unused) / packing.word_bits) as usize
            }
        }
    };
}

// Shifts by all bits of a number would overflow. They do not happen: a word has at most 32 bits.
impl_ngram_key!(u64);
impl_ngram_key!(u128);

impl<const N: usize> NgramKey for [u32; N] {
    const EMPTY: Self = [0; N];

    fn with_word(mut self, index: usize, word: u32, _: KeyPacking) -> Self {
        self[index] = word;
        self
    }

    fn word(&self, index: usize, _: KeyPacking) -> u32 {
        self[index]
    }

    fn shared_words(&self, other: &Self, packing: KeyPacking) -> usize {
        let same = self.iter().zip(other).take_while(|(a, b)| a == b).count();
        same.min(packing.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key<K: NgramKey>(words: &[u32], packing: KeyPacking) -> K {
        words.iter().enumerate().fold(K::EMPTY, |key, (i, &word)| key.with_word(i, word, packing))
    }

    fn check<K: NgramKey>(a: &[u32], b: &[u32], packing: KeyPacking) {
        let (x, y): (K, K) = (key(a, packing), key(b, packing));
        assert_eq!(x.cmp(&y), a.cmp(b));
        assert_eq!(
            x.shared_words(&y, packing),
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        );
        for (index, &word) in a.iter().enumerate() {
            assert_eq!(x.word(index, packing), word);
        }
    }

    proptest! {
        #[test]
        fn keys_compare_as_their_words_do(
            a in proptest::collection::vec(0u32..4, 5), b in proptest::collection::vec(0u32..4, 5),
            offset in prop_oneof![Just(0u32), Just(60), Just(4000)],
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) = a.iter().zip(&b).map(|(a, b)| (a + offset, b + offset)).unzip();
            let packing = KeyPacking::new(5, offset as usize + 4);
            check::<u64>(&a, &b, packing);
            check::<u128>(&a, &b, packing);
            check::<[u32; 8]>(&a, &b, packing);
        }
    }
}
