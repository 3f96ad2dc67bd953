//! Random reads of main memory, which bound the speed of a search on the CPU.

use miriam_storage::random::SplitMix64;

use crate::workers::sum_over_threads;

/// A buffer to read from.
pub struct ReadBuffer(Vec<[u64; 16]>);

impl ReadBuffer {
    /// Returns a buffer of about `bytes` bytes, at least 128.
    pub fn new(bytes: u64) -> Self {
        ReadBuffer((0..(bytes / 128).max(1)).map(|i| [i; 16]).collect())
    }

    /// Reads at `loads` random positions on `threads` threads: one cache line each if `sector` is
    /// 32 or 64 bytes, two if it is 128 bytes.
    pub fn read_at_random(&self, sector: u32, loads: u64, threads: usize) {
        const CHUNK: u64 = 1 << 14;
        let sum = sum_over_threads(threads, loads.div_ceil(CHUNK) as usize, || {
            |chunk: usize| {
                let (start, mut sum) = (chunk as u64 * CHUNK, 0u64);
                let mut random = SplitMix64::at_position(u64::from(sector), 7, start);
                for _ in start..loads.min(start + CHUNK) {
                    // Positions do not depend on values, so that several reads are in flight.
                    let line = &self.0[random.below(self.0.len() as u64) as usize];
                    sum = sum.wrapping_add(line[0]);
                    if sector > 64 {
                        sum = sum.wrapping_add(line[8]);
                    }
                }
                sum as f64
            }
        });
        std::hint::black_box(sum);
    }
}
