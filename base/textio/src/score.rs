//! Scores whose types name the base of the logarithm.

/// A natural logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Ln(pub f32);

/// A logarithm to base 10, as in ARPA files and KenLM.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Log10(pub f32);

/// ln 10 as an f32, the factor with which Moses converts log10 to ln.
const LN_10: f32 = std::f32::consts::LN_10;

impl Log10 {
    /// Returns the same score to base e: one f32 multiplication, as in Moses.
    #[inline(always)]
    pub fn to_ln(self) -> Ln {
        Ln(self.0 * LN_10)
    }
}

impl Ln {
    /// The lowest log probability in Moses.
    pub const FLOOR: Ln = Ln(-100.0);

    /// Returns the score of a probability from a Moses table: its f32 logarithm, not below
    /// [`Ln::FLOOR`] (`docs/spec/phrase-decoding.md` 2.1). A negative probability gives NaN, which
    /// callers reject.
    #[inline]
    pub fn from_probability(probability: f32) -> Ln {
        let ln = probability.ln();
        if ln < Self::FLOOR.0 { Self::FLOOR } else { Ln(ln) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_floor() {
        // Moses writes the constant with 15 digits.
        assert_eq!(Some(LN_10), "2.30258509299405".parse().ok());
        assert_eq!(Ln::from_probability(0.0), Ln(-100.0));
        assert_eq!(Ln::from_probability(1.0), Ln(0.0));
        assert_eq!(Ln::from_probability(0.5), Ln(-std::f32::consts::LN_2));
        assert!(Ln::from_probability(-1.0).0.is_nan());
        assert_eq!(Ln::from_probability(4.0), Ln(2.0 * std::f32::consts::LN_2), "no upper clamp");
    }
}
