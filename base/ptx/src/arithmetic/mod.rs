//! Arithmetic of PTX on registers of 64 bits, by type.
//!
//! Sums, products, quotients and roots are rounded once, as their instruction says. The
//! approximations (`ex2.approx`, `rcp.approx`, `div.full` and their like) are computed in `f64`
//! and rounded to nearest, which is more exact than on a GPU. A result may differ from a device's
//! in the last bits. Kernels whose results must be equal to the bit do not use approximations.
//!
//! `mul` and `add` without a rounding mode, which an assembler may join, are rounded separately.

mod conversion;
mod floats;
mod integers;
mod lanes;
mod rounding;

use conversion::convert;
pub(crate) use conversion::{Conversion, convert_pair};
use floats::compare;
pub(crate) use integers::insert_bits;
pub(crate) use lanes::{
    Lanes, binary_lanes, compare_lanes, convert_lanes, one, ternary_lanes, three, two, unary_lanes,
};
pub(crate) use rounding::{Rounding, decode, multiply_add};

use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
    Absolute,
    ReverseBits,
    CountLeadingZeros,
    CountOnes,
    /// The position of the highest bit that is 1, or the shift that moves it to the highest
    /// position.
    FindHighest {
        as_shift: bool,
    },
    SquareRoot,
    Reciprocal,
    ReciprocalSquareRoot,
    Exp2,
    Log2,
    Tanh,
    Sine,
    Cosine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    MultiplyLow,
    MultiplyHigh,
    /// The product in twice the bits.
    MultiplyWide,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    /// The second operand with the sign of the first.
    CopySign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ternary {
    MultiplyAddLow,
    MultiplyAddHigh,
    /// The third operand has twice the bits.
    MultiplyAddWide,
    /// With one rounding.
    FusedMultiplyAdd,
    /// `bfe`: a number of bits from a position on.
    ExtractBits,
    /// `prmt`: bytes of the first two operands, chosen by the third.
    PermuteBytes,
    /// `shf`: the upper or lower half of the first two operands together, after a shift by the
    /// third.
    FunnelShift {
        to_left: bool,
        clamps: bool,
    },
    /// `sad`: the distance of the first two operands, added to the third.
    AddDistance,
    /// `lop3`: a logical function of three bits, given as a table.
    Logic(u8),
    /// `dp4a`: the products of four bytes, added to the third operand. `is_signed` tells whether
    /// the bytes of the first two operands are signed.
    DotProduct {
        is_signed: [bool; 2],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// The comparison is also true if an operand is NaN.
    OrUnordered(Ordered),
    /// Neither operand is NaN.
    IsNumber,
    IsNan,
}

/// The comparisons that have an unordered form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// The modifiers of a floating-point instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode {
    /// `.ftz`: subnormal operands and results are zero, with their sign.
    pub flushes: bool,
    /// `.sat`: results are clamped to [0, 1], NaN is zero.
    pub saturates: bool,
    pub rounding: Rounding,
    /// `.NaN`: a minimum or maximum with NaN is NaN, not the other operand.
    pub keeps_nan: bool,
    /// `.relu`: negative results are zero.
    pub is_rectified: bool,
}

#[inline(always)]
fn unary(kind: Unary, ty: Type, mode: Mode, value: u64) -> u64 {
    if ty.is_float() {
        floats::unary(kind, ty, mode, value)
    } else {
        ty.truncate(integers::unary(kind, ty, value))
    }
}

/// Computes a binary operation on values of type `ty`.
///
/// # Errors
/// The reason, if the operation has no result.
#[inline(always)]
pub(crate) fn binary(
    kind: Binary,
    ty: Type,
    mode: Mode,
    a: u64,
    b: u64,
) -> Result<u64, &'static str> {
    if ty.is_float() {
        Ok(floats::binary(kind, ty, mode, a, b))
    } else {
        integers::binary(kind, ty, a, b)
    }
}

#[inline(always)]
fn ternary(kind: Ternary, ty: Type, mode: Mode, operands: [u64; 3]) -> u64 {
    if kind == Ternary::FusedMultiplyAdd {
        floats::fused_multiply_add(ty, mode, operands)
    } else {
        integers::ternary(kind, ty, operands)
    }
}

#[cfg(test)]
mod tests;
