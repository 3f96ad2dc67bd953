//! Rounding of the factors of matrix products to 16 bits.

/// The type to which the factors of products are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// None: factors stay as they are.
    #[default]
    Exact,
    /// IEEE 754 binary16. Numbers beyond its range become 65,504 or -65,504, its limits.
    F16,
    /// bfloat16, which has the range of f32.
    Bf16,
}

impl Rounding {
    /// Rounds to nearest, ties to even.
    pub fn round(self, value: f64) -> f64 {
        let (fraction_bits, min_exponent, largest) = match self {
            Rounding::Exact => return value,
            Rounding::F16 => (10, -14, 65_504.0),
            Rounding::Bf16 => (7, -126, f64::INFINITY),
        };
        let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let unit = 2f64.powi(exponent.max(min_exponent) - fraction_bits);
        ((value / unit).round_ties_even() * unit).clamp(-largest, largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_to_the_nearest() {
        let cases = [
            (Rounding::F16, 1.0 + 1.0 / 2048.0, 1.0),
            (Rounding::F16, 1.0 + 3.0 / 2048.0, 1.0 + 1.0 / 512.0),
            (Rounding::F16, -1e30, -65_504.0),
            (Rounding::F16, 1.4e-7, 2f64.powi(-23)),
            (Rounding::F16, 2f64.powi(-26), 0.0),
            (Rounding::Bf16, -1.0 - 3.0 / 256.0, -1.0 - 1.0 / 64.0),
            (Rounding::Bf16, 1.0 + 1.0 / 256.0, 1.0),
            (Rounding::Bf16, 0.0, 0.0),
            (Rounding::Exact, 0.1, 0.1),
        ];
        for (rounding, value, expected) in cases {
            assert_eq!(rounding.round(value), expected, "{rounding:?}, {value}");
        }
        assert!(Rounding::F16.round(f64::NAN).is_nan());
    }
}
