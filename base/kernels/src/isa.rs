//! Vectors of sixteen lanes on every instruction set.
//!
//! Every kernel is written once over [`Isa`], a set of operations on vectors of
//! sixteen f32 or i32: one register of AVX-512, two of AVX2, or an array on other CPUs. Because the
//! width does not change with the CPU, neither does the order of any sum, and AVX2 and AVX-512 give
//! the same bits. The plain instruction set rounds products before it adds them, as CPUs without
//! fused multiplication do, and may differ from the others in the last bits of floats; integers are
//! equal everywhere.
//!
//! A value of a type that implements `Isa` exists only where the CPU has its instructions,
//! so its methods are safe. [`Cpu`] names the chosen instruction set, detected once (`cpu`).
//! `dispatch!` turns it into a type that implements `Isa`, and `Isa::run` compiles its closure with
//! the instructions of that type. Every function that the closure calls must be
//! `#[inline(always)]`, or vectors would be passed through memory. A function that is deliberately
//! not inlined takes vectors by reference and calls `run` itself.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cpu;
mod plain;

use std::ops::Range;

use crate::pack::Line;

#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) use amx::tests::emulator::EmulatedTiles;
#[cfg(target_arch = "x86_64")]
pub(crate) use amx::{Avx512Amx, Sums, TILE_ROWS, TileUnit};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{Avx512, Avx512Bf16, Avx512Vnni};
pub use cpu::Cpu;
pub(crate) use cpu::Level;
pub(crate) use plain::Plain;

/// Lanes of every vector, and columns of a panel of packed weights.
pub const LANES: usize = 16;

/// Operations on sixteen lanes. Slices of loads and stores have at least sixteen elements, of
/// which the first sixteen are used.
pub(crate) trait Isa: Copy + 'static {
    /// Sixteen f32.
    type F: Copy;
    /// Sixteen i32.
    type I: Copy;
    /// The result of a comparison, one truth value per lane.
    type Mask: Copy;
    /// The number of sums that a GEMM keeps in registers.
    const REGISTER_BLOCKING: RegisterBlocking;
    /// Whether [`dot_i8`](Isa::dot_i8) is faster for rows without negative elements.
    const PREFERS_UNSIGNED: bool;
    /// Whether [`dot_i8`](Isa::dot_i8) multiplies bytes shifted by 128; the corrections of the
    /// columns undo this.
    const SHIFTS_TO_UNSIGNED: bool;

    /// Calls `body`, compiled for this instruction set.
    fn run<R>(self, body: impl FnOnce(Self) -> R) -> R;

    fn splat(self, value: f32) -> Self::F;
    fn load(self, from: &[f32]) -> Self::F;
    fn store(self, value: Self::F, to: &mut [f32]);
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// Computes `a * b + c`, rounded once where the CPU can.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// Returns the larger; `b` where either is NaN.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// Returns the smaller; `b` where either is NaN.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// Returns the square root, correctly rounded.
    fn sqrt(self, a: Self::F) -> Self::F;
    /// Returns the larger of two magnitudes; NaN is larger than any.
    fn max_abs(self, a: Self::F, b: Self::F) -> Self::F;
    /// Returns the magnitude of `a` with the sign of `sign`.
    fn copysign(self, a: Self::F, sign: Self::F) -> Self::F;
    fn less(self, a: Self::F, b: Self::F) -> Self::Mask;
    /// Returns `yes` where the mask holds, `no` elsewhere.
    fn select(self, mask: Self::Mask, yes: Self::F, no: Self::F) -> Self::F;
    /// Returns the mask as an integer, lane i in bit i.
    fn mask_bits(self, mask: Self::Mask) -> u32;
    /// Computes `a * 2^n` for the integer `n = shifted - 1.5 * 2^23`; `a` and the product are
    /// normal.
    fn scale_by_power(self, a: Self::F, shifted: Self::F) -> Self::F;
    /// Returns `table[index]` for each lane. Panics if an index is out of range.
    fn gather(self, table: &[f32; TABLE_LEN], index: Self::I) -> Self::F;

    fn splat_i32(self, value: i32) -> Self::I;
    fn load_i32(self, from: &[i32]) -> Self::I;
    fn to_f32(self, a: Self::I) -> Self::F;
    /// Rounds to the nearest integer, halves to even; lanes outside the range of i32 are undefined.
    fn round(self, a: Self::F) -> Self::I;
    fn store_i32(self, value: Self::I, to: &mut [i32]);
    /// Stores lanes in -128..=127 as bytes.
    fn store_i8(self, value: Self::I, to: &mut [i8]);

    /// Returns the operand of [`dot_i8`](Isa::dot_i8) for four adjacent elements of a row, four i8
    /// in -127..=127 with the first in the lowest byte, and its correction, which must be added
    /// once to the sums.
    fn prepare_i8(self, quad: u32) -> ([u32; 2], i32);
    /// Adds the products of four depth steps to the sums of sixteen columns. `SIGNED` may be false
    /// if no element of the row is negative. Exact for rows in -127..=127 and all weights.
    fn dot_i8<const SIGNED: bool>(self, sums: Self::I, quad: &[u32; 2], line: &Line) -> Self::I;
    /// Adds the products of two depth steps to the sums of sixteen columns. `pair` is two i16, the
    /// first in the lower half. Exact as long as the sums fit in i32.
    fn dot_i16(self, sums: Self::I, pair: u32, line: &Line) -> Self::I;

    /// Adds the products of two depth steps to the sums of sixteen columns. `pair` is two bf16, the
    /// first in the lower half. The products of the second step are added first.
    #[inline(always)]
    fn dot_bf16(self, sums: Self::F, pair: u32, line: &Line) -> Self::F {
        let cells = self.to_array(self.load_line(line)).map(f32::to_bits);
        let products = |shift: u32, sums: Self::F| {
            let step = |cell: u32| f32::from_bits(cell >> shift << 16);
            self.mul_add(self.splat(step(pair)), self.load(&cells.map(step)), sums)
        };
        products(0, products(16, sums))
    }
    /// Returns sixteen pairs of bf16: pairs of adjacent numbers of `low`, then of `high`. Numbers
    /// are rounded to the nearest, halves to even, and denormal ones become zero.
    #[inline(always)]
    fn join_bf16(self, low: Self::F, high: Self::F) -> Self::F {
        let numbers = [self.to_array(low), self.to_array(high)];
        let pairs = numbers.as_flattened().as_chunks::<2>().0;
        let mut cells = [0.0; LANES];
        for (cell, &[first, second]) in cells.iter_mut().zip(pairs) {
            *cell = bf16_pair(first, second);
        }
        self.load(&cells)
    }
    /// Returns sixteen pairs of bf16, a number of `even` and the one of `odd` in the same lane,
    /// rounded as by [`join_bf16`](Isa::join_bf16).
    #[inline(always)]
    fn zip_bf16(self, even: Self::F, odd: Self::F) -> Self::F {
        let (even, odd) = (self.to_array(even), self.to_array(odd));
        let mut cells = [0.0; LANES];
        for lane in 0..LANES {
            cells[lane] = bf16_pair(even[lane], odd[lane]);
        }
        self.load(&cells)
    }

    /// Returns the sixteen f32 of a line.
    fn load_line(self, line: &Line) -> Self::F;
    /// Stores sixteen f32 as a line.
    fn store_line(self, value: Self::F, line: &mut Line);
    /// Returns the transpose of sixteen vectors: lane i of vector j becomes lane j of vector i.
    fn transpose(self, rows: [Self::F; LANES]) -> [Self::F; LANES];

    /// Loads the lanes from a slice. If it has fewer than sixteen elements, `fill` is in the last
    /// lanes.
    #[inline(always)]
    fn load_partial(self, from: &[f32], fill: f32) -> Self::F {
        if from.len() >= LANES {
            return self.load(from);
        }
        let mut lanes = [fill; LANES];
        lanes[..from.len()].copy_from_slice(from);
        self.load(&lanes)
    }

    /// Stores the first `to.len()` lanes, at most sixteen.
    #[inline(always)]
    fn store_partial(self, value: Self::F, to: &mut [f32]) {
        if to.len() >= LANES {
            return self.store(value, to);
        }
        let mut lanes = [0.0; LANES];
        self.store(value, &mut lanes);
        let length = to.len();
        to.copy_from_slice(&lanes[..length]);
    }

    /// Returns the lanes as an array.
    #[inline(always)]
    fn to_array(self, value: Self::F) -> [f32; LANES] {
        let mut lanes = [0.0; LANES];
        self.store(value, &mut lanes);
        lanes
    }

    /// Returns the sum of the lanes, by a tree of halves.
    #[inline(always)]
    fn reduce_sum(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| a + b)
    }

    /// Returns the largest lane.
    #[inline(always)]
    fn reduce_max(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| if a > b { a } else { b })
    }

    /// Returns the largest lane of magnitudes; NaN is larger than any.
    #[inline(always)]
    fn reduce_max_abs(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| f32::from_bits(a.to_bits().max(b.to_bits())))
    }
}

/// Returns two numbers as bf16 in the bits of an f32, the first in the lower half.
fn bf16_pair(first: f32, second: f32) -> f32 {
    f32::from_bits(bf16_bits(first) >> 16 | bf16_bits(second))
}

/// Returns the bits of the f32 that is the nearest bf16, halves to even. Denormal numbers become
/// zero, and the payload of NaN is cut.
fn bf16_bits(number: f32) -> u32 {
    const QUIET: u32 = 1 << 22;
    let bits = number.to_bits();
    let rounded = match number.classify() {
        std::num::FpCategory::Nan => bits | QUIET,
        std::num::FpCategory::Subnormal => bits & 0x8000_0000,
        // A carry from the mantissa increments the exponent, from the largest one to infinity.
        _ => bits + 0x7fff + (bits >> 16 & 1),
    };
    rounded & 0xffff_0000
}

/// The registers for sums, which decide which tiles of a GEMM are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86-64 has vectors here"))]
pub(crate) enum RegisterBlocking {
    /// No vector registers: one sum at a time.
    One,
    /// Sixteen registers, two for a sum of sixteen lanes.
    Narrow,
    /// Thirty-two registers, one for a sum of sixteen lanes.
    Wide,
}

/// Returns the columns of a row in ranges of sixteen; the last one can be shorter.
///
/// Kernels loop over this and not over `chunks` and `zip`: those adapters call functions
/// that take or return tuples, which the compiler does not inline into code for other
/// instructions; a row of a norm takes several times as long with them.
#[inline(always)]
pub(crate) fn lane_chunks(length: usize) -> LaneChunks {
    LaneChunks { from: 0, length }
}

/// The iterator of [`lane_chunks`].
pub(crate) struct LaneChunks {
    from: usize,
    length: usize,
}

impl Iterator for LaneChunks {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.from >= self.length {
            return None;
        }
        let from = self.from;
        self.from = from + LANES;
        Some(from..if self.from < self.length { self.from } else { self.length })
    }
}

/// Entries of a table for [`Isa::gather`].
pub(crate) const TABLE_LEN: usize = 4096;

/// Joins halves until one lane is left, in the same order on every instruction set.
#[inline(always)]
fn tree_reduce(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = join(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Calls a function that is generic over [`Isa`] and takes the instruction set as its first
/// argument, compiled with the instructions of a [`Cpu`]. VNNI only changes integer GEMM: only
/// `dispatch!(vnni ...)` compiles a function for it. `dispatch!(bf16 ...)` calls a function with
/// the instructions for products of bf16, or with the plain instruction set if the CPU has none.
macro_rules! dispatch {
    ($cpu:expr, $function:ident ($($argument:expr),* $(,)?)) => {
        match $cpu.level() {
            $crate::isa::Level::Plain(isa) => $crate::isa::call!(isa, $function($($argument),*)),
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx2(isa) => $crate::isa::call!(isa, $function($($argument),*)),
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512(isa) => $crate::isa::call!(isa, $function($($argument),*)),
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512Vnni(isa) => {
                let isa = isa.without_vnni();
                $crate::isa::call!(isa, $function($($argument),*))
            }
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512Amx(isa) => {
                let isa = isa.without_amx().without_vnni();
                $crate::isa::call!(isa, $function($($argument),*))
            }
        }
    };
    (vnni $cpu:expr, $function:ident ($($argument:expr),* $(,)?)) => {
        match $cpu.level() {
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512Vnni(isa) => {
                $crate::isa::call!(isa, $function($($argument),*))
            }
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512Amx(isa) => {
                let isa = isa.without_amx();
                $crate::isa::call!(isa, $function($($argument),*))
            }
            _ => $crate::isa::dispatch!($cpu, $function($($argument),*)),
        }
    };
    (bf16 $cpu:expr, $function:ident ($($argument:expr),* $(,)?)) => {
        match $crate::Cpu::bf16_isa($cpu) {
            #[cfg(target_arch = "x86_64")]
            Some(isa) => $crate::isa::call!(isa, $function($($argument),*)),
            _ => {
                let isa = $crate::isa::Plain;
                $crate::isa::call!(isa, $function($($argument),*))
            }
        }
    };
}
pub(crate) use dispatch;

/// Calls a function for one instruction set.
macro_rules! call {
    ($isa:ident, $function:ident($($argument:expr),*)) => {
        $crate::isa::Isa::run(
            $isa,
            #[inline(always)]
            |isa| $function(isa, $($argument),*),
        )
    };
}
pub(crate) use call;
