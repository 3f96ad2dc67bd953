//! Conversions between types, the instruction `cvt`.

use super::floats::flush_bits;
use super::rounding::{Rounding, decode, encode, round};
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
    /// Whether integers are clamped to the range of the result's type, and floats that stay floats
    /// to [0, 1]. Floats that become integers are always clamped, integers that become floats are
    /// not.
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
            let value = i128::from(from.extend(value));
            let value = if from.is_signed() { value } else { value & i128::from(u64::MAX) };
            to.truncate(if saturates { clamp(to, value) as u64 } else { value as u64 })
        }
        (false, true) => {
            let number = from.extend(value);
            let nearest = rounding == Rounding::NearestEven;
            match (to, from.is_signed()) {
                // To the nearest `f32` in one step, so that integers of 64 bits are rounded once.
                // In the other cases the step through `f64` may round them first.
                (Type::F32, true) if nearest => u64::from((number as f32).to_bits()),
                (Type::F32, false) if nearest => u64::from((number as u64 as f32).to_bits()),
                (_, true) => encode(to, rounding, number as f64),
                (_, false) => encode(to, rounding, number as u64 as f64),
            }
        }
        (true, false) => {
            let number = decode(from, flush(from, value));
            let number = round(number, to_integer.unwrap_or(Rounding::Zero));
            // Conversions to integers always saturate. NaN becomes zero, as PTX defines it for
            // types of up to 32 bits.
            to.truncate(clamp(to, if number.is_nan() { 0 } else { number as i128 }) as u64)
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

/// Returns the integer of the type `ty` that is nearest to `value`.
fn clamp(ty: Type, value: i128) -> i128 {
    let bits = 8 * ty.size() as u32;
    if ty.is_signed() {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}
