//! Sixteen lanes, whatever the CPU calls its registers.
//!
//! Every kernel is written once over [`Isa`], a set of operations on vectors of
//! sixteen f32 or i32: one register of AVX-512, two of AVX2, an array without
//! either. Because the width does not change with the CPU, neither does the order
//! of any sum, and AVX2 and AVX-512 give the same bits. The plain set rounds
//! products before it adds them, as CPUs without fused multiplication do, and may
//! differ from the others in the last bits of floats; integers are equal everywhere.
//!
//! A value of a type that implements `Isa` exists only where the CPU can do what it
//! promises, so its methods are safe. [`Cpu`] is the choice among them, made once;
//! `dispatch!` turns it into a type, and `Isa::run` compiles what is inside with
//! the instructions of that type. Everything called in there must be
//! `#[inline(always)]`, or the vectors would travel through memory.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;

use std::ops::Range;
use std::sync::OnceLock;

use crate::pack::Line;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{Avx512, Avx512Vnni};
pub(crate) use plain::Plain;

/// Lanes of every vector.
pub const LANES: usize = 16;

/// Operations on sixteen lanes. Slices given to loads and stores hold at least
/// sixteen elements; the first sixteen count.
pub(crate) trait Isa: Copy + 'static {
    /// Sixteen f32.
    type F: Copy;
    /// Sixteen i32.
    type I: Copy;
    /// The answer of a comparison, a bit a lane.
    type Mask: Copy;
    /// How many sums a product keeps at once.
    const REGISTER_BLOCKING: RegisterBlocking;
    /// Whether [`dot_i8`](Isa::dot_i8) is faster for rows without negative elements.
    const PREFERS_UNSIGNED: bool;
    /// Whether [`dot_i8`](Isa::dot_i8) multiplies bytes shifted by 128, to be
    /// undone by the corrections of the columns.
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
    /// `a * b + c`, rounded once where the CPU can.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The larger; `b` where either is not a number.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// The smaller; `b` where either is not a number.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    fn abs(self, a: Self::F) -> Self::F;
    /// The larger of two magnitudes; what is not a number is larger than any.
    fn max_abs(self, a: Self::F, b: Self::F) -> Self::F;
    /// The magnitude of `a` with the sign of `sign`.
    fn copysign(self, a: Self::F, sign: Self::F) -> Self::F;
    fn less(self, a: Self::F, b: Self::F) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere.
    fn select(self, mask: Self::Mask, yes: Self::F, no: Self::F) -> Self::F;
    /// Lane i in bit i.
    fn mask_bits(self, mask: Self::Mask) -> u32;
    /// `a * 2^n` for the whole number n that `shifted - 1.5 * 2^23` is; `a` and the
    /// product are normal.
    fn scale_by_power(self, a: Self::F, shifted: Self::F) -> Self::F;
    /// `table[index]` lane by lane. Panics if an index lies outside.
    fn gather(self, table: &[f32; TABLE_LEN], index: Self::I) -> Self::F;

    fn splat_i32(self, value: i32) -> Self::I;
    fn load_i32(self, from: &[i32]) -> Self::I;
    fn to_f32(self, a: Self::I) -> Self::F;
    /// To the nearest whole number, halves to even; lanes outside i32 give any.
    fn round(self, a: Self::F) -> Self::I;
    fn store_i32(self, value: Self::I, to: &mut [i32]);
    /// Lanes in -128..=127 as bytes, into the first sixteen.
    fn store_i8(self, value: Self::I, to: &mut [i8]);

    /// What [`dot_i8`](Isa::dot_i8) takes for four neighbours of a row, four i8 in
    /// -127..=127 with the first in the lowest byte, and what must be added once to
    /// sums that it took part in.
    fn prepare_i8(self, quad: u32) -> ([u32; 2], i32);
    /// Adds to sixteen columns the products of four depth steps. `SIGNED` may be
    /// false if no element of the row is negative. Exact for rows in -127..=127 and
    /// all weights.
    fn dot_i8<const SIGNED: bool>(self, sums: Self::I, quad: &[u32; 2], line: &Line) -> Self::I;
    /// Adds to sixteen columns the products of two depth steps, two i16 with the first
    /// in the lower half. Exact while sums stay in i32.
    fn dot_i16(self, sums: Self::I, pair: u32, line: &Line) -> Self::I;

    /// The sixteen f32 of a line.
    fn load_line(self, line: &Line) -> Self::F;

    /// The first lanes from a slice of at most sixteen, `fill` in the others.
    #[inline(always)]
    fn load_partial(self, from: &[f32], fill: f32) -> Self::F {
        if from.len() >= LANES {
            return self.load(from);
        }
        let mut lanes = [fill; LANES];
        lanes[..from.len()].copy_from_slice(from);
        self.load(&lanes)
    }

    /// As many lanes as the slice has room for, at most sixteen.
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

    /// The lanes in memory.
    #[inline(always)]
    fn to_array(self, value: Self::F) -> [f32; LANES] {
        let mut lanes = [0.0; LANES];
        self.store(value, &mut lanes);
        lanes
    }

    /// The sum of the lanes: halves are added until one is left.
    #[inline(always)]
    fn reduce_sum(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| a + b)
    }

    /// The largest lane.
    #[inline(always)]
    fn reduce_max(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| if a > b { a } else { b })
    }

    /// The largest lane of magnitudes; what is not a number is larger than any.
    #[inline(always)]
    fn reduce_max_abs(self, value: Self::F) -> f32 {
        tree_reduce(self.to_array(value), |a, b| f32::from_bits(a.to_bits().max(b.to_bits())))
    }
}

/// Registers for sums: they decide which tiles of a product are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterBlocking {
    /// No registers of this width: one sum at a time.
    One,
    /// Sixteen, and a sum takes two.
    Narrow,
    /// Thirty-two, and a sum takes one.
    Wide,
}

/// The columns of a row, sixteen at a time and then those that are left.
///
/// Kernels loop over this and not over `chunks` and `zip`: the compiler does not inline
/// what calls functions that take or return tuples into code for other instructions, and
/// those adapters do; a row of a norm takes several times as long with them.
#[inline(always)]
pub(crate) fn lane_chunks(length: usize) -> LaneChunks {
    LaneChunks { from: 0, length }
}

/// See [`parts`].
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

/// Halves are joined until one lane is left, in the same order everywhere.
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

/// The instructions that kernels use, chosen once and handed to every call.
///
/// Only the functions here make one, and only of what this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu(Level);

/// The instruction sets there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Plain(Plain),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(Avx512Vnni),
}

impl Cpu {
    /// The fastest this CPU has, found at the first call.
    pub fn detect() -> Self {
        static BEST: OnceLock<Cpu> = OnceLock::new();
        *BEST.get_or_init(|| *Self::all().last().expect("the plain set is everywhere"))
    }

    /// No instructions beyond the target's own.
    pub fn plain() -> Self {
        Self(Level::Plain(Plain))
    }

    /// Everything this CPU has, from plain to fastest.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::plain()];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Avx2::new().map(Level::Avx2).map(Self));
            all.extend(Avx512::new().map(Level::Avx512).map(Self));
            all.extend(Avx512Vnni::new().map(Level::Avx512Vnni).map(Self));
        }
        all
    }

    /// The set of that [`name`](Cpu::name), if it is known and this CPU has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|cpu| cpu.name() == name)
    }

    /// `plain`, `avx2`, `avx512` or `avx512-vnni`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Plain(_) => "plain",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Vnni(_) => "avx512-vnni",
        }
    }

    pub(crate) fn level(self) -> Level {
        self.0
    }
}

/// Calls a function, generic over [`Isa`] and taking a value of it first, for the
/// instructions of a [`Cpu`]. VNNI only changes products of integers: what has none is
/// not compiled for it once more, unless `dispatch!(vnni ...)` asks for it.
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
        }
    };
    (vnni $cpu:expr, $function:ident ($($argument:expr),* $(,)?)) => {
        match $cpu.level() {
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Level::Avx512Vnni(isa) => {
                $crate::isa::call!(isa, $function($($argument),*))
            }
            _ => $crate::isa::dispatch!($cpu, $function($($argument),*)),
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
