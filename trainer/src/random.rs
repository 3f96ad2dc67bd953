//! Streams of random numbers for training, from the counter-based generator of
//! [`miriam_kernels::random`].
//!
//! Each number is a function of a key and a counter, so any thread can draw any of them in any
//! order. For example, a permutation is drawn by seed and epoch, a mask by sentence and position,
//! and a parameter by its name.

use miriam_kernels::random::philox;

/// Random words in the order of their counters.
#[derive(Clone, Debug)]
pub struct RandomStream {
    key: [u32; 2],
    /// The upper three words of counters.
    stream: [u32; 3],
    next: u32,
    words: [u32; 4],
    left: usize,
}

impl RandomStream {
    /// Creates the stream of a key and of the upper three words of counters.
    pub fn new(key: [u32; 2], stream: [u32; 3]) -> Self {
        RandomStream { key, stream, next: 0, words: [0; 4], left: 0 }
    }

    /// Returns the next word.
    pub fn next_word(&mut self) -> u32 {
        if self.left == 0 {
            let [a, b, c] = self.stream;
            self.words = philox([self.next, a, b, c], self.key);
            self.next = self.next.wrapping_add(1);
            self.left = 4;
        }
        self.left -= 1;
        self.words[3 - self.left]
    }

    /// Returns a number in 0..1, of 24 bits.
    pub fn next_unit(&mut self) -> f32 {
        (self.next_word() >> 8) as f32 / (1 << 24) as f32
    }

    /// Returns a number below `limit`. For limits up to 2^32, probabilities are equal up to 2^-32.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn next_below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "the limit must be above 0");
        let word = u64::from(self.next_word()) << 32 | u64::from(self.next_word());
        ((u128::from(word) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_words_of_their_counters() {
        let mut stream = RandomStream::new([1, 2], [3, 4, 5]);
        let words: Vec<u32> = (0..8).map(|_| stream.next_word()).collect();
        let expected = [philox([0, 3, 4, 5], [1, 2]), philox([1, 3, 4, 5], [1, 2])];
        assert_eq!(words, expected.concat());
        assert!((0..1000).all(|_| stream.next_below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&stream.next_unit())));
    }
}
