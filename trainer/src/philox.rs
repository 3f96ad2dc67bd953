//! The counter-based generator of all random numbers of training: Philox4x32-10 (Salmon et
//! al. 2011).
//!
//! A number is a function of a key and a counter, so that any of them can be drawn in any
//! order by any thread: a permutation by seed and epoch, a mask by sentence and position, a
//! parameter by its name.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Four random words of a counter and a key.
pub fn philox(counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let mut x = counter;
    for _ in 0..10 {
        let [a, b] = [(0, MULTIPLIERS[0]), (2, MULTIPLIERS[1])]
            .map(|(at, multiplier)| u64::from(x[at]) * u64::from(multiplier));
        x = [
            (b >> 32) as u32 ^ x[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ x[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    x
}

/// Random words in the order of their counters.
#[derive(Clone, Debug)]
pub struct PhiloxStream {
    key: [u32; 2],
    /// The upper three words of counters.
    stream: [u32; 3],
    next: u32,
    words: [u32; 4],
    left: usize,
}

impl PhiloxStream {
    /// The words of a key and of the upper three words of counters.
    pub fn new(key: [u32; 2], stream: [u32; 3]) -> Self {
        PhiloxStream { key, stream, next: 0, words: [0; 4], left: 0 }
    }

    /// The next word.
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

    /// A number in 0..1, of 24 bits.
    pub fn next_unit(&mut self) -> f32 {
        (self.next_word() >> 8) as f32 / (1 << 24) as f32
    }

    /// A number below `limit`, all with the same probability up to 2^-32.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn next_below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "a number below 0");
        let word = u64::from(self.next_word()) << 32 | u64::from(self.next_word());
        ((u128::from(word) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 distribution.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn streams_are_the_words_of_their_counters() {
        let mut stream = PhiloxStream::new([1, 2], [3, 4, 5]);
        let words: Vec<u32> = (0..8).map(|_| stream.next_word()).collect();
        let expected = [philox([0, 3, 4, 5], [1, 2]), philox([1, 3, 4, 5], [1, 2])];
        assert_eq!(words, expected.concat());
        assert!((0..1000).all(|_| stream.next_below(7) < 7));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&stream.next_unit())));
    }
}
