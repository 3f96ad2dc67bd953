//! Scores as integers of the same order.

/// Returns `score` as a number that grows with it.
#[inline(always)]
pub(crate) fn ordered_bits(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_bits_sort_as_scores() {
        let scores = [f32::NEG_INFINITY, -3.5, -1.0, -0.0, 0.0, 2.0, f32::INFINITY];
        assert!(scores.windows(2).all(|w| ordered_bits(w[0]) < ordered_bits(w[1])));
    }
}
