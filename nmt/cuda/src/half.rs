//! Rounding of f32 to binary16 and bfloat16: to nearest, ties to even, as the kernels round.

/// The largest finite number of binary16.
const F16_MAX: f32 = 65_504.0;

/// The smallest normal number of binary16.
const F16_MIN_NORMAL: f32 = 1.0 / 16_384.0;

/// Rounds to IEEE 754 binary16. Numbers beyond its range, infinity included, become the largest
/// finite number with their sign.
pub(crate) fn f16_bits(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & 0x8000;
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let magnitude = value.abs().min(F16_MAX);
    let rounded = if magnitude < F16_MIN_NORMAL {
        // Subnormal: a multiple of 2^-24.
        (magnitude * (1 << 24) as f32).round_ties_even() as u32
    } else {
        (round_to_even(magnitude.to_bits(), 13) >> 13) - (112 << 10)
    };
    sign | rounded as u16
}

/// Rounds to bfloat16, the upper half of an f32.
pub(crate) fn bf16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (round_to_even(bits, 16) >> 16) as u16
}

/// Adds to `bits` so that dropping the last `count` bits rounds to nearest, ties to even.
fn round_to_even(bits: u32, count: u32) -> u32 {
    bits + (1 << (count - 1)) - 1 + (bits >> count & 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_f16() {
        let ulp = f32::EPSILON;
        let cases = [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            // Halfway between two numbers, or nearly.
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 1.0 / 2048.0 + ulp, 0x3c01),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2.0 - ulp, 0x4000),
            (65_504.0, 0x7bff),
            (65_519.0, 0x7bff),
            (1e30, 0x7bff),
            (f32::NEG_INFINITY, 0xfbff),
            // Subnormal numbers.
            (F16_MIN_NORMAL, 0x0400),
            (F16_MIN_NORMAL * (1.0 - ulp), 0x0400),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (2.980_233e-8, 0x0001),
            (1e-40, 0x0000),
        ];
        for (value, bits) in cases {
            assert_eq!(f16_bits(value), bits, "{value}");
        }
        assert_eq!(f16_bits(f32::NAN) & 0x7fff, 0x7e00);
    }

    #[test]
    fn rounds_to_bf16() {
        let cases = [
            (0.0, 0x0000),
            (-1.0, 0xbf80),
            (1.0 + 1.0 / 256.0, 0x3f80),
            (1.0 + 3.0 / 256.0, 0x3f82),
            (1.0 + 1.0 / 256.0 + f32::EPSILON, 0x3f81),
            (f32::INFINITY, 0x7f80),
            (f32::MAX, 0x7f80),
        ];
        for (value, bits) in cases {
            assert_eq!(bf16_bits(value), bits, "{value}");
        }
        assert!(f32::from_bits(u32::from(bf16_bits(f32::NAN)) << 16).is_nan());
    }
}
