//! Floats of 16 and 32 bits as `f64`, and the rounding of `f64` to them.
//!
//! A sum or an integer whose last bits do not fit into an `f64` is rounded to odd ([`add`],
//! [`integer_to_odd`]). If it is rounded again to a shorter type, in any mode, the result is the
//! same as after one rounding of the exact number.

use crate::types::Type;

/// A rounding mode, to a float type or to an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rounding {
    #[default]
    NearestEven,
    Zero,
    Down,
    Up,
}

/// Returns the number with these bits.
#[inline(always)]
pub(crate) fn decode(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        Type::Bf16 => f64::from(f32::from_bits((bits as u32 & 0xFFFF) << 16)),
        Type::F16 => decode_f16(bits as u16),
        _ => f64::from_bits(bits),
    }
}

fn decode_f16(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Returns the bits of `number`, rounded to `ty`. NaN becomes the canonical NaN of PTX, except in
/// `f64`, where it keeps its bits.
#[inline(always)]
pub(crate) fn encode(ty: Type, rounding: Rounding, number: f64) -> u64 {
    match (ty, rounding) {
        (Type::F64, _) => number.to_bits(),
        (Type::F32, _) if number.is_nan() => 0x7FFF_FFFF,
        (Type::F32, Rounding::NearestEven) => u64::from((number as f32).to_bits()),
        _ => encode_slowly(ty, rounding, number),
    }
}

/// Works like [`encode`], for types of 16 and 32 bits. For `f32`, `number` must not be NaN.
pub(super) fn encode_slowly(ty: Type, rounding: Rounding, number: f64) -> u64 {
    // The number of bits in the fraction, and the exponents of the least and the greatest normal
    // number.
    let (fraction_bits, least, greatest) = match ty {
        Type::F32 => (23, -126, 127),
        Type::Bf16 => (7, -126, 127),
        _ => (10, -14, 15),
    };
    if number.is_nan() {
        return 0x7FFF;
    }
    let rounded = if number == 0.0 || number.is_infinite() {
        number
    } else {
        let exponent = (number.abs().to_bits() >> 52) as i32 - 1023;
        let unit = 2f64.powi(exponent.max(least) - fraction_bits);
        let rounded = round(number / unit, rounding) * unit;
        if rounded.abs() < 2f64.powi(greatest + 1) {
            rounded
        } else {
            overflow(rounding, rounded, (2.0 - 2f64.powi(-fraction_bits)) * 2f64.powi(greatest))
        }
    };
    let single = u64::from((rounded as f32).to_bits());
    match ty {
        Type::F32 => single,
        Type::Bf16 => single >> 16,
        _ => encode_f16(rounded),
    }
}

/// Rounds a number whose magnitude exceeds `greatest`, the largest finite one: returns `greatest`
/// or infinity, with the number's sign.
fn overflow(rounding: Rounding, number: f64, greatest: f64) -> f64 {
    let is_clamped = match rounding {
        Rounding::NearestEven => false,
        Rounding::Zero => true,
        Rounding::Down => number > 0.0,
        Rounding::Up => number < 0.0,
    };
    (if is_clamped { greatest } else { f64::INFINITY }).copysign(number)
}

/// Returns the bits of `number` as an `f16`, which must represent it exactly.
fn encode_f16(number: f64) -> u64 {
    let sign = number.to_bits() >> 63 << 15;
    let magnitude = number.abs();
    let least_normal = 2f64.powi(-14);
    let bits = if magnitude.is_infinite() {
        0x7C00
    } else if magnitude < least_normal {
        (magnitude * 2f64.powi(24)) as u64
    } else {
        let exponent = (magnitude.to_bits() >> 52) as i64 - 1023;
        ((exponent + 15) as u64) << 10 | magnitude.to_bits() >> 42 & 0x3FF
    };
    sign | bits
}

/// Returns `number`, rounded to an integer.
pub(super) fn round(number: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => number.round_ties_even(),
        Rounding::Zero => number.trunc(),
        Rounding::Down => number.floor(),
        Rounding::Up => number.ceil(),
    }
}

/// Returns the sum, rounded to odd (Boldo and Melquiond, 2008): the last bit of an inexact sum is
/// 1.
#[inline(always)]
pub(super) fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The part of the exact sum that is lost (Knuth's TwoSum).
    let b_part = sum - a;
    let lost = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let is_exact = lost == 0.0 || !sum.is_finite() || bits & 1 == 1;
    // Moves the sum by one unit in the last place, towards the exact sum.
    let grows = (lost > 0.0) == (sum > 0.0);
    let neighbour = if grows { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if is_exact { bits } else { neighbour })
}

/// Returns an integer of at most 64 bits, rounded to odd.
pub(super) fn integer_to_odd(number: i128) -> f64 {
    let low = number & i128::from(u32::MAX);
    add((number - low) as f64, low as f64)
}

/// Returns `a * b + c` of numbers of 32 bits or fewer, in `f32` with one rounding.
#[inline(always)]
pub(crate) fn multiply_add(a: f64, b: f64, c: f32) -> f32 {
    add(a * b, f64::from(c)) as f32
}
