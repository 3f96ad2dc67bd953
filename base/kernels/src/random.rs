//! Random numbers that are a function of their position: Philox4x32-10.
//!
//! A counter-based generator (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3")
//! has no state: the draws of a position follow from a key and the position's coordinates. A
//! dropout mask is then the same whatever else is in a batch, on any number of threads, and after
//! a run is resumed; and a mask need not be stored for the backward pass.

use crate::Cpu;
use crate::isa::{Isa, LANES, dispatch};

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// The fractional parts of the golden ratio and of sqrt(3), times 2^32.
const KEY_INCREMENTS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;

/// The number of draws of a block.
const BLOCK: usize = 4;

/// Returns the four 32-bit draws of a block of Philox4x32-10.
///
/// ```
/// assert_eq!(miriam_kernels::random::philox([0; 4], [0; 2])[0], 0x6627_e8d5);
/// ```
pub fn philox(counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    for _ in 0..ROUNDS {
        let first = u64::from(MULTIPLIERS[0]) * u64::from(a);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(c);
        (a, b) = ((second >> 32) as u32 ^ b ^ key[0], second as u32);
        (c, d) = ((first >> 32) as u32 ^ d ^ key[1], first as u32);
        key[0] = key[0].wrapping_add(KEY_INCREMENTS[0]);
        key[1] = key[1].wrapping_add(KEY_INCREMENTS[1]);
    }
    [a, b, c, d]
}

/// The coordinates of a row of a dropout mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskRow {
    /// The position in the sentence.
    pub position: u32,
    /// The number of the dropout in the network.
    pub site: u32,
    /// The number of the sentence in the corpus.
    pub sentence: u32,
}

/// The sentence and the position of a row, which determine its masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RowKey {
    /// The number of the sentence in the corpus.
    pub sentence: u32,
    /// The position in the sentence.
    pub position: u32,
}

impl RowKey {
    /// Returns the coordinates of the row's mask for the dropout `site` of the network.
    pub fn mask_row(self, site: u32) -> MaskRow {
        MaskRow { position: self.position, site, sentence: self.sentence }
    }
}

/// Fills a row of a dropout mask: `1 / keep` with probability `keep`, in (0, 1], else 0.
/// Columns 4i to 4i + 3 are kept where the draws of the block `(i, position, site, sentence)` are
/// below `keep * 2^32`. The bits are the same on every CPU.
///
/// # Panics
/// If `keep` is out of range.
pub fn fill_dropout_mask(cpu: Cpu, key: [u32; 2], row: MaskRow, keep: f32, out: &mut [f32]) {
    assert!(keep > 0.0 && keep <= 1.0, "a probability of keeping, not {keep}");
    if keep == 1.0 {
        return out.fill(1.0);
    }
    dispatch!(cpu, fill_row(key, row, keep, out));
}

#[inline(always)]
fn fill_row<I: Isa>(_: I, key: [u32; 2], row: MaskRow, keep: f32, out: &mut [f32]) {
    // Below 2^32, because the largest f32 below 1 is 1 - 2^-24.
    let threshold = (f64::from(keep) * 4_294_967_296.0).ceil() as u32;
    let kept = 1.0 / keep;
    for from in (0..out.len()).step_by(BLOCK * LANES) {
        let draws = draw_blocks(key, row, (from / BLOCK) as u32);
        let end = (from + BLOCK * LANES).min(out.len());
        let out = &mut out[from..end];
        if let Some(out) = out.first_chunk_mut::<{ BLOCK * LANES }>() {
            for block in 0..LANES {
                for word in 0..BLOCK {
                    let draw = draws[word][block];
                    out[BLOCK * block + word] = if draw < threshold { kept } else { 0.0 };
                }
            }
        } else {
            for at in 0..out.len() {
                let draw = draws[at % BLOCK][at / BLOCK];
                out[at] = if draw < threshold { kept } else { 0.0 };
            }
        }
    }
}

/// Draws sixteen consecutive blocks, grouped by word, in loops over lanes that compilers turn into
/// vectors.
#[inline(always)]
fn draw_blocks(mut key: [u32; 2], row: MaskRow, first: u32) -> [[u32; LANES]; BLOCK] {
    let mut a = [0; LANES];
    for lane in 0..LANES {
        a[lane] = first.wrapping_add(lane as u32);
    }
    let (mut b, mut c) = ([row.position; LANES], [row.site; LANES]);
    let mut d = [row.sentence; LANES];
    for _ in 0..ROUNDS {
        for lane in 0..LANES {
            let first = u64::from(MULTIPLIERS[0]) * u64::from(a[lane]);
            let second = u64::from(MULTIPLIERS[1]) * u64::from(c[lane]);
            a[lane] = (second >> 32) as u32 ^ b[lane] ^ key[0];
            b[lane] = second as u32;
            c[lane] = (first >> 32) as u32 ^ d[lane] ^ key[1];
            d[lane] = first as u32;
        }
        key[0] = key[0].wrapping_add(KEY_INCREMENTS[0]);
        key[1] = key[1].wrapping_add(KEY_INCREMENTS[1]);
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_paper() {
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            // Digits of pi.
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn masks_are_the_blocks_of_their_positions() {
        let (key, row) = ([7, 3], MaskRow { position: 5, site: 11, sentence: 29_000 });
        for (columns, keep) in [(0, 0.5), (1, 0.9), (63, 0.1), (64, 0.7), (200, 0.25), (70, 1.0)] {
            let kept = 1.0 / keep;
            let expected: Vec<f32> = (0..columns)
                .map(|column| {
                    let counter = [column as u32 / 4, row.position, row.site, row.sentence];
                    let draw = philox(counter, key)[column % 4];
                    if f64::from(draw) < f64::from(keep) * 2f64.powi(32) { kept } else { 0.0 }
                })
                .collect();
            for cpu in Cpu::all() {
                let mut mask = vec![f32::NAN; columns];
                fill_dropout_mask(cpu, key, row, keep, &mut mask);
                assert_eq!(mask, expected, "{columns} columns on {}", cpu.name());
            }
        }
    }

    #[test]
    fn the_share_that_is_kept_is_the_probability() {
        let mut mask = vec![0.0; 100_000];
        let row = MaskRow { position: 0, site: 1, sentence: 2 };
        for keep in [0.1f32, 0.5, 0.9] {
            fill_dropout_mask(Cpu::detect(), [1, 2], row, keep, &mut mask);
            let kept = mask.iter().filter(|&&x| x != 0.0).count() as f64 / 1e5;
            // Six standard deviations.
            assert!((kept - f64::from(keep)).abs() < 0.0095, "{kept} of {keep}");
        }
    }
}
