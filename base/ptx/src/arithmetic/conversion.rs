//! Conversions between types.

use super::floats::flush_bits;
use super::rounding::{Rounding, decode, encode, round};
use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub to: Type,
    pub from: Type,
    /// The rounding of a float to an integer, whether its type becomes an integer or stays a float.
    pub to_integer: Option<Rounding>,
    /// The rounding to the type of the result, if it is a float.
    pub rounding: Rounding,
    /// Whether results are clamped to the range of the type, floats to [0, 1].
    pub saturates: bool,
    /// Whether subnormal `f32` become zero.
    pub flushes: bool,
    /// Whether negative results become zero.
    pub is_rectified: bool,
}

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
                // From 64 bits in one step, so that numbers are rounded once.
                (Type::F32, true) if nearest => u64::from((number as f32).to_bits()),
                (Type::F32, false) if nearest => u64::from((number as u64 as f32).to_bits()),
                (_, true) => encode(to, rounding, number as f64),
                (_, false) => encode(to, rounding, number as u64 as f64),
            }
        }
        (true, false) => {
            let number = decode(from, flush(from, value));
            let number = round(number, to_integer.unwrap_or(Rounding::Zero));
            // Conversions to integers always saturate; NaN is zero.
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

/// Returns two `f32` as the upper and the lower half of a pair.
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
