//! From soft alignments (attention) to hard alignments (pairs of positions).
//!
//! A soft alignment, as [`Translation::alignment`](super::Translation::alignment), is
//! `[target, source]`: for each scored target token its attention to the source tokens. Both
//! sides include EOS, as Marian prints them.

/// The points `(source, target)` of an alignment `[target, source]`, in ascending order: for
/// each target token the source tokens with more attention than `threshold`, or at a threshold
/// of 1 the one with the most (the first of equal ones).
pub fn to_hard_alignment(alignment: &[Vec<f32>], threshold: f32) -> Vec<(u32, u32)> {
    let mut points = Vec::new();
    for (target, weights) in (0..).zip(alignment) {
        if threshold >= 1.0 {
            points.extend(argmax(weights).map(|source| (source as u32, target)));
        } else {
            let over = (0..).zip(weights).filter(|(_, weight)| **weight > threshold);
            points.extend(over.map(|(source, _)| (source, target)));
        }
    }
    points.sort_unstable();
    points
}

/// The index of the largest weight, the first of equal ones.
pub(super) fn argmax(weights: &[f32]) -> Option<usize> {
    let larger = |best: usize, at: usize| if weights[at] > weights[best] { at } else { best };
    (0..weights.len()).reduce(larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_alignment_uses_argmax_or_threshold() {
        let soft = [vec![0.1, 0.6, 0.3], vec![0.4, 0.2, 0.4], vec![0.0, 0.25, 0.75]];
        assert_eq!(to_hard_alignment(&soft, 1.0), [(0, 1), (1, 0), (2, 2)]);
        assert_eq!(to_hard_alignment(&soft, 0.25), [(0, 1), (1, 0), (2, 0), (2, 1), (2, 2)]);
        assert_eq!(to_hard_alignment(&[], 0.5), []);
        assert_eq!(to_hard_alignment(&[vec![]], 1.0), []);
    }
}
