//! Conversions between types, the instruction `cvt`.

use super::floats::flush_bits;
use super::rounding::{Rounding, decode, encode, integer_to_odd, round};
use crate::types::Type;

/// A conversion between two types, neither of them a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub to: Type,
    pub from: Type,
    /// The rounding of a float to a whole number, both for results that are integers and for
    /// results that are floats.
    pub to_integer: Option<Rounding>,
    /// The rounding to the type of the result, if it is a float.
    pub rounding: Rounding,
    /// Whether integers that stay integers are clamped to the range of the result's type, and
    /// results that are floats to [0, 1]. Floats that become integers are always clamped.
    pub saturates: bool,
    /// Whether subnormal `f32` become zero.
    pub flushes: bool,
    /// Whether negative results become zero.
    pub is_rectified: bool,
}

/// Returns the bits of the number with the bits `value`, converted.
pub(crate) fn convert(conversion: Conversion, value: u64) -> u64 {
    let Conversion { to, from, to_integer, rounding, saturates, flushes, is_rectified } =
        conversion;
    let flush = |ty: Type, bits| {
        if flushes && ty == Type::F32 { flush_bits(ty, bits) } else { bits }
    };
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let value = integer(from, value);
            to.truncate(if saturates { clamp(to, value) as u64 } else { value as u64 })
        }
        (false, true) => {
            let number = integer(from, value);
            let number = if saturates { number.clamp(0, 1) } else { number };
            match to {
                // The parser accepts only rounding to nearest here.
                Type::F64 => (number as f64).to_bits(),
                _ => encode(to, rounding, integer_to_odd(number)),
            }
        }
        (true, false) => {
            let number = decode(from, flush(from, value));
            let number = round(number, to_integer.unwrap_or(Rounding::Zero));
            if number.is_nan() {
                let is_wide = from == Type::F64 || to.size() == 8;
                return if is_wide { 1 << (8 * to.size() - 1) } else { 0 };
            }
            // Conversions to integers always saturate.
            to.truncate(clamp(to, number as i128) as u64)
        }
        (true, true) => {
            let number = decode(from, flush(from, value));
            let number = to_integer.map_or(number, |rounding| round(number, rounding));
            let number = if saturates && number.is_nan() {
                0.0
            } else if saturates {
                number.clamp(0.0, 1.0)
            } else if is_rectified && number < 0.0 {
                0.0
            } else {
                number
            };
            flush(to, encode(to, rounding, number))
        }
    }
}

/// Converts two `f32` to 16 bits each. Returns the pair, the first number in its upper half.
pub(crate) fn convert_pair(conversion: Conversion, [upper, lower]: [u64; 2]) -> u64 {
    convert(conversion, upper) << 16 | convert(conversion, lower)
}

/// Returns the integer with the bits `value`.
fn integer(ty: Type, value: u64) -> i128 {
    let value = ty.extend(value);
    if ty.is_signed() { value.into() } else { (value as u64).into() }
}

/// Returns the integer of the type `ty` that is nearest to `value`.
fn clamp(ty: Type, value: i128) -> i128 {
    let bits = 8 * ty.size() as u32;
    if ty.is_signed() {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}
