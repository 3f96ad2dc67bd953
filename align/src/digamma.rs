//! digamma(x), and its exponential: in variational Bayes training with a Dirichlet prior, the
//! weight of an expected count. x is the count plus the pseudo-count of the prior.
//!
//! Training computes the weight for every pair of words in every iteration, so it has to be fast.
//! For large x, digamma(x) is `ln(z) + series`, a series in 1/z^2 with z = x - 1/2. Its
//! exponential, `z * exp(series)`, needs no logarithm. For small x, digamma(x) is digamma(x + 7)
//! less the sum of `1/x`, `1/(x+1)` to `1/(x+6)`. The sum is computed as one fraction, so a call
//! has at most two divisions and one exponential.
//!
//! The fraction follows from `u = x(x+6)`: the pairs `1/x + 1/(x+6)`, `1/(x+1) + 1/(x+5)` and
//! `1/(x+2) + 1/(x+4)` are `2(x+3)/(u + d)` with d = 0, 5, 8, and `1/(x+3)` in the middle is
//! `(x+3)/(u+9)`.

/// Computes e^digamma(x) for x > 0, with a relative error below 1e-12. The result is 0 for x below
/// about 1/745, where it is too small for an f64.
#[inline]
pub(crate) fn exp_digamma(x: f64) -> f64 {
    let (z, rest) = split_digamma(x);
    z * rest.exp()
}

/// Computes digamma(x) for x > 0.
pub(crate) fn digamma(x: f64) -> f64 {
    let (z, rest) = split_digamma(x);
    z.ln() + rest
}

/// Returns z and r with digamma(x) = ln(z) + r.
#[inline]
fn split_digamma(x: f64) -> (f64, f64) {
    let (x, reciprocals) = if x < 7.0 { (x + 7.0, sum_reciprocals(x)) } else { (x, 0.0) };
    // digamma(x) = ln(z) + series in 1/z^2 with z = x - 1/2.
    let z = x - 0.5;
    let r = 1.0 / (z * z);
    let higher_terms = 31.0 / 8064.0
        + r * (-127.0 / 30720.0 + r * (511.0 / 67584.0 - r * (1414477.0 / 67092480.0)));
    let series = r * (1.0 / 24.0 + r * (-7.0 / 960.0 + r * higher_terms));
    (z, series - reciprocals)
}

/// Computes 1/x + 1/(x+1) + ... + 1/(x+6), as the head of this file explains.
#[inline]
fn sum_reciprocals(x: f64) -> f64 {
    let u = x * (x + 6.0);
    let plus_5 = u + 5.0;
    let plus_8 = u + 8.0;
    let plus_9 = u + 9.0;
    let low = u * plus_5;
    let high = plus_8 * plus_9;
    (x + 3.0) * (2.0 * high * (u + plus_5) + low * (2.0 * plus_9 + plus_8)) / (low * high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Euler's constant.
    const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

    #[test]
    fn digamma_of_integers_halves_and_successors() {
        // digamma(1) = -gamma; digamma(1/2) = -gamma - 2 ln 2; digamma(n + 1) = digamma(n) + 1/n.
        let mut at_n = -EULER_GAMMA;
        for n in 1..200 {
            let value = exp_digamma(f64::from(n)).ln();
            assert!((value - at_n).abs() < 2e-12, "digamma({n}) = {value}, not {at_n}");
            at_n += 1.0 / f64::from(n);
        }
        let half = exp_digamma(0.5).ln();
        assert!((half + EULER_GAMMA + 2.0 * 2f64.ln()).abs() < 2e-12, "{half}");
        // Abramowitz and Stegun 6.3.5: digamma(x) = digamma(x + 1) - 1/x.
        for x in [0.01, 0.3, 2.7, 6.2, 6.999, 41.5] {
            let (low, high) = (exp_digamma(x).ln(), exp_digamma(x + 1.0).ln());
            assert!((low - (high - 1.0 / x)).abs() < 2e-12, "{x}");
            assert!((digamma(x) - low).abs() < 2e-12, "{x}");
        }
        assert_eq!(exp_digamma(1e-5), 0.0);
        assert!((digamma(1e-5) + 1e5 + EULER_GAMMA).abs() < 1e-4);
    }
}
