//! Arithmetic of floats: `f64` as it is, shorter floats computed in `f64`, pairs by their halves.

use super::rounding::{add, decode, encode};
use super::{Binary, Comparison, Mode, Ordered, Rounding, Unary};
use crate::types::Type;

/// Returns the operand with these bits, or zero if it is subnormal and `flushes` is set.
#[inline(always)]
fn operand(ty: Type, flushes: bool, bits: u64) -> f64 {
    flush(ty, flushes, decode(ty, bits))
}

#[inline(always)]
fn flush(ty: Type, flushes: bool, number: f64) -> f64 {
    let least_normal = match ty {
        Type::F16 => 6.103_515_625e-5,
        Type::F64 => f64::MIN_POSITIVE,
        _ => 1.175_494_350_822_287_5e-38,
    };
    if flushes && number.abs() < least_normal { 0f64.copysign(number) } else { number }
}

/// Returns the bits of a result.
#[inline(always)]
fn result(ty: Type, mode: Mode, number: f64) -> u64 {
    let number = if mode.saturates {
        if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) }
    } else {
        number
    };
    let number = if mode.is_rectified && number < 0.0 { 0.0 } else { number };
    let bits = encode(ty, mode.rounding, number);
    if mode.flushes { flush_bits(ty, bits) } else { bits }
}

/// Returns zero for a result that is subnormal after rounding, and other results unchanged.
#[inline(always)]
pub(super) fn flush_bits(ty: Type, bits: u64) -> u64 {
    let (sign, exponent) = match ty {
        Type::F32 => (0x8000_0000, 0x7F80_0000),
        Type::Bf16 => (0x8000, 0x7F80),
        Type::F16 => (0x8000, 0x7C00),
        _ => (1 << 63, 0x7FF0 << 48),
    };
    if bits & exponent == 0 { bits & sign } else { bits }
}

/// Applies `function` to both halves of pairs.
#[inline(always)]
fn by_halves<const N: usize>(operands: [u64; N], function: impl Fn([u64; N]) -> u64) -> u64 {
    let low = function(operands.map(|bits| bits & 0xFFFF));
    low | function(operands.map(|bits| bits >> 16 & 0xFFFF)) << 16
}

#[inline(always)]
pub(super) fn unary(kind: Unary, ty: Type, mode: Mode, bits: u64) -> u64 {
    if let Some(half) = ty.half() {
        return by_halves([bits], |[bits]| unary_one(kind, half, mode, bits));
    }
    unary_one(kind, ty, mode, bits)
}

#[inline(always)]
fn unary_one(kind: Unary, ty: Type, mode: Mode, bits: u64) -> u64 {
    let sign = 1 << (8 * ty.size() - 1);
    let bits = if mode.flushes { flush_bits(ty, bits) } else { bits };
    match kind {
        Unary::Negate => return ty.truncate(bits ^ sign),
        Unary::Absolute => return ty.truncate(bits & !sign),
        _ => {}
    }
    let number = decode(ty, bits);
    let found = match kind {
        Unary::SquareRoot => number.sqrt(),
        Unary::Reciprocal => 1.0 / number,
        Unary::ReciprocalSquareRoot => 1.0 / number.sqrt(),
        Unary::Exp2 => number.exp2(),
        Unary::Log2 => number.log2(),
        Unary::Tanh => number.tanh(),
        Unary::Sine => number.sin(),
        Unary::Cosine => number.cos(),
        _ => unreachable!("the parser accepts it for integers only"),
    };
    result(ty, mode, found)
}

#[inline(always)]
pub(super) fn binary(kind: Binary, ty: Type, mode: Mode, a: u64, b: u64) -> u64 {
    if let Some(half) = ty.half() {
        return by_halves([a, b], |[a, b]| binary_one(kind, half, mode, a, b));
    }
    binary_one(kind, ty, mode, a, b)
}

#[inline(always)]
fn binary_one(kind: Binary, ty: Type, mode: Mode, a: u64, b: u64) -> u64 {
    if kind == Binary::CopySign {
        let sign = 1 << (8 * ty.size() - 1);
        return ty.truncate(a & sign | b & !sign);
    }
    let (x, y) = (operand(ty, mode.flushes, a), operand(ty, mode.flushes, b));
    let found = match kind {
        // A sum of two `f32` in `f64`, rounded again to nearest, is rounded as if once.
        Binary::Add if mode.rounding == Rounding::NearestEven => x + y,
        Binary::Subtract if mode.rounding == Rounding::NearestEven => x - y,
        Binary::Add => sum(mode, x, y),
        Binary::Subtract => sum(mode, x, -y),
        Binary::MultiplyLow => x * y,
        Binary::Divide => x / y,
        Binary::Minimum | Binary::Maximum if x.is_nan() || y.is_nan() => {
            let is_nan = mode.keeps_nan || x.is_nan() && y.is_nan();
            if is_nan {
                f64::NAN
            } else if x.is_nan() {
                y
            } else {
                x
            }
        }
        // Negative zero is less than zero.
        Binary::Minimum if x < y || x == y && x.is_sign_negative() => x,
        Binary::Minimum => y,
        Binary::Maximum if x > y || x == y && x.is_sign_positive() => x,
        Binary::Maximum => y,
        _ => unreachable!("the parser accepts it for integers only"),
    };
    result(ty, mode, found)
}

#[inline(always)]
pub(super) fn fused_multiply_add(ty: Type, mode: Mode, operands: [u64; 3]) -> u64 {
    if let Some(half) = ty.half() {
        return by_halves(operands, |operands| fused_one(half, mode, operands));
    }
    fused_one(ty, mode, operands)
}

#[inline(always)]
fn fused_one(ty: Type, mode: Mode, operands: [u64; 3]) -> u64 {
    let [a, b, c] = operands.map(|bits| operand(ty, mode.flushes, bits));
    // The product of shorter numbers is exact.
    let found = if ty == Type::F64 { a.mul_add(b, c) } else { sum(mode, a * b, c) };
    result(ty, mode, found)
}

/// Returns the sum of shorter numbers, rounded to odd. Rounded down, numbers that cancel give
/// negative zero.
#[inline(always)]
fn sum(mode: Mode, a: f64, b: f64) -> f64 {
    let sum = add(a, b);
    let has_negative = a.is_sign_negative() || b.is_sign_negative();
    if sum == 0.0 && mode.rounding == Rounding::Down && has_negative { -0.0 } else { sum }
}

#[inline(always)]
pub(crate) fn compare(comparison: Comparison, ty: Type, flushes: bool, a: u64, b: u64) -> bool {
    let ordering = match ty {
        _ if ty.is_float() => operand(ty, flushes, a).partial_cmp(&operand(ty, flushes, b)),
        Type::Signed(_) => Some(ty.extend(a).cmp(&ty.extend(b))),
        _ => Some(ty.truncate(a).cmp(&ty.truncate(b))),
    };
    let ordered = match comparison {
        Comparison::IsNumber => return ordering.is_some(),
        Comparison::IsNan => return ordering.is_none(),
        Comparison::Equal => Ordered::Equal,
        Comparison::NotEqual => Ordered::NotEqual,
        Comparison::Less => Ordered::Less,
        Comparison::LessEqual => Ordered::LessEqual,
        Comparison::Greater => Ordered::Greater,
        Comparison::GreaterEqual => Ordered::GreaterEqual,
        Comparison::OrUnordered(ordered) => ordered,
    };
    let Some(ordering) = ordering else { return matches!(comparison, Comparison::OrUnordered(_)) };
    match ordered {
        Ordered::Equal => ordering.is_eq(),
        Ordered::NotEqual => ordering.is_ne(),
        Ordered::Less => ordering.is_lt(),
        Ordered::LessEqual => ordering.is_le(),
        Ordered::Greater => ordering.is_gt(),
        Ordered::GreaterEqual => ordering.is_ge(),
    }
}
