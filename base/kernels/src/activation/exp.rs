//! The exponential: a power of two times a polynomial.
//!
//! x = n ln 2 + r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 to x / ln 2 rounds it to the integer n
//! and leaves n in the lowest bits, from where it is shifted into the exponent. ln 2 is split in
//! two parts (Cody and Waite), so that n times the first is exact. exp(r) = 1 + r + r^2 q(r), where
//! q is a Chebyshev fit of degree 4: 1.6e-8 of relative error before rounding.

use crate::isa::Isa;

/// 1.5 * 2^23.
const ROUNDING_SHIFT: f32 = 12_582_912.0;
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Below this input the result is not a normal number.
const MIN_INPUT: f32 = -87.336_54;
/// Above this input n is 128, which does not fit the exponent.
const MAX_INPUT: f32 = 88.376_26;

/// Computes exp(x): 0 for x below -87.33654, exp(88.37626) for x above 88.37626, NaN for a NaN
/// without payload, elsewhere within 2.0 units in the last place.
#[inline(always)]
pub(crate) fn exp<I: Isa>(isa: I, x: I::F) -> I::F {
    let clamped = isa.min(isa.splat(MAX_INPUT), isa.max(isa.splat(MIN_INPUT), x));
    let (shifted, r) = reduce_range(isa, clamped);
    let y = isa.add(isa.splat(1.0), expm1_reduced(isa, r));
    let scaled = isa.scale_by_power(y, shifted);
    isa.select(isa.less(x, isa.splat(MIN_INPUT)), isa.splat(0.0), scaled)
}

/// Computes exp(x) for x up to 88 as 2^n times a polynomial of degree 5 in x / ln 2 - n, without
/// the two-part reduction of [`exp`]. Returns NaN for a NaN without payload.
///
/// For x from -87.33654 to 88 the relative error is at most 2.5e-7 + 1e-7 |x|, and less with fused
/// multiply-add. This is enough for the normaliser of a softmax, where terms with large |x| are
/// small. exp(0) is exactly 1. Below -87.33654 the result is about 1.2e-38, not 0.
#[inline(always)]
pub(crate) fn exp_for_sum<I: Isa>(isa: I, x: I::F) -> I::F {
    let x = isa.max(isa.splat(MIN_INPUT), x);
    let (shifted, n) = round_to_power(isa, x);
    let log2_e = isa.splat(std::f32::consts::LOG2_E);
    let fraction = isa.mul_add(x, log2_e, isa.sub(isa.splat(0.0), n));
    // A fit to 2^fraction whose last two coefficients, ln 2 and 1, are those of the Taylor series.
    let mut y = isa.splat(1.330_060_5e-3);
    for coefficient in [9.669_691e-3, 5.550_558_5e-2, 2.402_228_3e-1, std::f32::consts::LN_2, 1.0] {
        y = isa.mul_add(y, fraction, isa.splat(coefficient));
    }
    isa.scale_by_power(y, shifted)
}

/// Computes exp(x) - 1 without the cancellation near 0. x must be in [0, 64].
#[inline(always)]
pub(crate) fn expm1<I: Isa>(isa: I, x: I::F) -> I::F {
    let (shifted, r) = reduce_range(isa, x);
    let one = isa.splat(1.0);
    let power = isa.scale_by_power(one, shifted);
    isa.mul_add(power, expm1_reduced(isa, r), isa.sub(power, one))
}

/// Rounds x / ln 2 to n. Returns n + 1.5 * 2^23, for [`Isa::scale_by_power`], and n.
#[inline(always)]
fn round_to_power<I: Isa>(isa: I, x: I::F) -> (I::F, I::F) {
    let shifted = isa.mul_add(x, isa.splat(std::f32::consts::LOG2_E), isa.splat(ROUNDING_SHIFT));
    (shifted, isa.sub(shifted, isa.splat(ROUNDING_SHIFT)))
}

/// Returns n + 1.5 * 2^23, for [`Isa::scale_by_power`], and r.
#[inline(always)]
fn reduce_range<I: Isa>(isa: I, x: I::F) -> (I::F, I::F) {
    let (shifted, n) = round_to_power(isa, x);
    let r = isa.mul_add(n, isa.splat(-LN_2_HIGH), x);
    (shifted, isa.mul_add(n, isa.splat(-LN_2_LOW), r))
}

/// Computes exp(r) - 1 for |r| <= ln 2 / 2.
#[inline(always)]
fn expm1_reduced<I: Isa>(isa: I, r: I::F) -> I::F {
    let mut q = isa.splat(1.392_618_4e-3);
    for coefficient in [8.363_179e-3, 4.166_655_6e-2, 1.666_657_7e-1, 0.5] {
        q = isa.mul_add(q, r, isa.splat(coefficient));
    }
    isa.mul_add(isa.mul(r, r), q, r)
}
