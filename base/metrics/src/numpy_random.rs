//! Random numbers of NumPy's `default_rng`, so that resampled scores equal sacreBLEU's: PCG64
//! (O'Neill 2014, XSL-RR on 128 bits) with seeds of `SeedSequence`, and integers by Lemire's method
//! (2019) on halves of 64 bits.

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct NumpyRng {
    state: u128,
    increment: u128,
    /// The upper half of a 64-bit number, after its lower half was returned.
    buffered_u32: Option<u32>,
    /// The remaining bits for [`NumpyRng::next_bool`], and their number.
    bool_bits: (u32, u32),
}

impl NumpyRng {
    /// Returns the generator of `numpy.random.default_rng(seed)`.
    pub(crate) fn new(seed: u64) -> Self {
        let words = seed_sequence(seed);
        fn wide(high: usize, words: &[u64; 4]) -> u128 {
            u128::from(words[high]) << 64 | u128::from(words[high + 1])
        }
        let mut random = NumpyRng {
            state: 0,
            increment: wide(2, &words) << 1 | 1,
            buffered_u32: None,
            bool_bits: (0, 0),
        };
        random.advance();
        random.state = random.state.wrapping_add(wide(0, &words));
        random.advance();
        random
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        match self.buffered_u32.take() {
            Some(half) => half,
            None => {
                let number = self.next_u64();
                self.buffered_u32 = Some((number >> 32) as u32);
                number as u32
            }
        }
    }

    /// Returns a number below `bound`, drawn as NumPy's `choice` draws indices. `bound` must be at
    /// least 1.
    pub(crate) fn next_below(&mut self, bound: u32) -> u32 {
        if bound == 1 {
            return 0;
        }
        fn scaled(number: u32, bound: u32) -> u64 {
            u64::from(number) * u64::from(bound)
        }
        let mut product = scaled(self.next_u32(), bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = scaled(self.next_u32(), bound);
            }
        }
        (product >> 32) as u32
    }

    /// Returns the next of the values of one call of `integers(2, dtype=bool)`.
    pub(crate) fn next_bool(&mut self) -> bool {
        let (bits, left) = match self.bool_bits {
            (_, 0) => (self.next_u32(), 31),
            (bits, left) => (bits >> 1, left - 1),
        };
        self.bool_bits = (bits, left);
        bits & 1 == 1
    }
}

/// Returns four words of state for a seed, like NumPy's `SeedSequence`.
fn seed_sequence(seed: u64) -> [u64; 4] {
    let mut hash = SeedHasher { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.hash_word(word));
    for from in 0..pool.len() {
        for to in 0..pool.len() {
            if from != to {
                let mixed = hash.hash_word(pool[from]);
                pool[to] = mix(pool[to], mixed);
            }
        }
    }
    let mut hash = SeedHasher { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let halves: [u32; 8] = std::array::from_fn(|i| hash.hash_word(pool[i % pool.len()]));
    std::array::from_fn(|i| u64::from(halves[2 * i]) | u64::from(halves[2 * i + 1]) << 32)
}

struct SeedHasher {
    constant: u32,
    multiplier: u32,
}

impl SeedHasher {
    fn hash_word(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    mixed ^ mixed >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that NumPy 2.4 printed.
    #[test]
    fn numbers_are_numpys() {
        let mut random = NumpyRng::new(12345);
        let drawn: Vec<u32> = (0..10).map(|_| random.next_below(1000)).collect();
        assert_eq!(drawn, [699, 227, 788, 316, 204, 797, 642, 676, 988, 391]);
        let mut random = NumpyRng::new(u64::MAX - 6);
        let drawn: Vec<u32> = (0..6).map(|_| random.next_below(3_000_000_000)).collect();
        assert_eq!(drawn, [2887723931, 63879473, 705576718, 2360697945, 2042409527, 2229157225]);
        let mut random = NumpyRng::new(7);
        let coins: String = (0..40).map(|_| if random.next_bool() { '1' } else { '0' }).collect();
        assert_eq!(coins, "1101000101010010101001111000111110010101");
        assert_eq!([random.next_below(10), random.next_below(10)], [6, 8]);
    }
}
