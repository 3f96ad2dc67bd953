//! Sixteen lanes as an array: for CPUs without supported vector instructions, for products of bf16
//! on CPUs without instructions for them, and as the reference in tests of the others.

use super::{Isa, LANES, RegisterBlocking, TABLE_LEN};
use crate::pack::Line;

/// The plain instruction set: loops, compiled for the baseline of the compilation target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain;

// Loops, not `array::map`: the compiler takes several times as long for the latter.
#[inline(always)]
fn map<T: Copy, U: Copy + Default>(
    a: [T; LANES],
    b: [T; LANES],
    f: impl Fn(T, T) -> U,
) -> [U; LANES] {
    let mut lanes = [U::default(); LANES];
    for lane in 0..LANES {
        lanes[lane] = f(a[lane], b[lane]);
    }
    lanes
}

impl Isa for Plain {
    type F = [f32; LANES];
    type I = [i32; LANES];
    type Mask = [bool; LANES];
    const REGISTER_BLOCKING: RegisterBlocking = RegisterBlocking::One;
    const PREFERS_UNSIGNED: bool = false;
    const SHIFTS_TO_UNSIGNED: bool = false;

    #[inline(always)]
    fn run<R>(self, body: impl FnOnce(Self) -> R) -> R {
        body(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::F {
        [value; LANES]
    }
    #[inline(always)]
    fn load(self, from: &[f32]) -> Self::F {
        *from.first_chunk().expect("sixteen elements")
    }
    #[inline(always)]
    fn store(self, value: Self::F, to: &mut [f32]) {
        *to.first_chunk_mut().expect("sixteen elements") = value;
    }
    #[inline(always)]
    fn store_i8(self, value: Self::I, to: &mut [i8]) {
        let to: &mut [i8; LANES] = to.first_chunk_mut().expect("sixteen elements");
        for lane in 0..LANES {
            to[lane] = value[lane] as i8;
        }
    }
    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        map(map(a, b, |a, b| a * b), c, |a, b| a + b)
    }
    #[inline(always)]
    fn max(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, a: Self::F, b: Self::F) -> Self::F {
        map(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn abs(self, a: Self::F) -> Self::F {
        map(a, a, |a, _| a.abs())
    }
    #[inline(always)]
    fn sqrt(self, a: Self::F) -> Self::F {
        map(a, a, |a, _| a.sqrt())
    }
    #[inline(always)]
    fn max_abs(self, a: Self::F, b: Self::F) -> Self::F {
        // Compared as integers, the bits of magnitudes have the order of the magnitudes.
        map(a, b, |a, b| f32::from_bits(a.abs().to_bits().max(b.abs().to_bits())))
    }
    #[inline(always)]
    fn copysign(self, a: Self::F, sign: Self::F) -> Self::F {
        map(a, sign, f32::copysign)
    }
    #[inline(always)]
    fn less(self, a: Self::F, b: Self::F) -> Self::Mask {
        map(a, b, |a, b| a < b)
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, yes: Self::F, no: Self::F) -> Self::F {
        let mut lanes = no;
        for lane in 0..LANES {
            if mask[lane] {
                lanes[lane] = yes[lane];
            }
        }
        lanes
    }
    #[inline(always)]
    fn mask_bits(self, mask: Self::Mask) -> u32 {
        mask.iter().enumerate().fold(0, |bits, (lane, &set)| bits | u32::from(set) << lane)
    }
    #[inline(always)]
    fn scale_by_power(self, a: Self::F, shifted: Self::F) -> Self::F {
        map(a, shifted, |a, shifted| {
            f32::from_bits(a.to_bits().wrapping_add(shifted.to_bits() << 23))
        })
    }
    #[inline(always)]
    fn gather(self, table: &[f32; TABLE_LEN], index: Self::I) -> Self::F {
        map(index, index, |index, _| table[index as usize])
    }

    #[inline(always)]
    fn splat_i32(self, value: i32) -> Self::I {
        [value; LANES]
    }
    #[inline(always)]
    fn load_i32(self, from: &[i32]) -> Self::I {
        *from.first_chunk().expect("sixteen elements")
    }
    #[inline(always)]
    fn to_f32(self, a: Self::I) -> Self::F {
        map(a, a, |a, _| a as f32)
    }
    #[inline(always)]
    fn round(self, a: Self::F) -> Self::I {
        map(a, a, |a, _| a.round_ties_even() as i32)
    }
    #[inline(always)]
    fn store_i32(self, value: Self::I, to: &mut [i32]) {
        *to.first_chunk_mut().expect("sixteen elements") = value;
    }

    #[inline(always)]
    fn prepare_i8(self, quad: u32) -> ([u32; 2], i32) {
        ([quad, 0], 0)
    }
    #[inline(always)]
    fn dot_i8<const SIGNED: bool>(self, sums: Self::I, quad: &[u32; 2], line: &Line) -> Self::I {
        let a = [0, 8, 16, 24].map(|shift| i32::from((quad[0] >> shift) as i8));
        let mut sums = sums;
        for (sum, b) in sums.iter_mut().zip(line.0.as_chunks::<4>().0) {
            for step in 0..4 {
                *sum = sum.wrapping_add(a[step] * i32::from(b[step] as i8));
            }
        }
        sums
    }
    #[inline(always)]
    fn dot_i16(self, sums: Self::I, pair: u32, line: &Line) -> Self::I {
        let a = [i32::from(pair as i16), i32::from((pair >> 16) as i16)];
        let mut sums = sums;
        for (sum, b) in sums.iter_mut().zip(line.0.as_chunks::<4>().0) {
            let b = [i16::from_le_bytes([b[0], b[1]]), i16::from_le_bytes([b[2], b[3]])];
            let products = (a[0] * i32::from(b[0])).wrapping_add(a[1] * i32::from(b[1]));
            *sum = sum.wrapping_add(products);
        }
        sums
    }
    #[inline(always)]
    fn load_line(self, line: &Line) -> Self::F {
        let mut lanes = [0.0; LANES];
        for (lane, cell) in lanes.iter_mut().zip(line.0.as_chunks::<4>().0) {
            *lane = f32::from_le_bytes(*cell);
        }
        lanes
    }
    #[inline(always)]
    fn store_line(self, value: Self::F, line: &mut Line) {
        for (lane, cell) in value.iter().zip(line.0.as_chunks_mut::<4>().0) {
            *cell = lane.to_le_bytes();
        }
    }
    #[inline(always)]
    fn transpose(self, rows: [Self::F; LANES]) -> [Self::F; LANES] {
        let mut columns = [[0.0; LANES]; LANES];
        for row in 0..LANES {
            for column in 0..LANES {
                columns[column][row] = rows[row][column];
            }
        }
        columns
    }
}
