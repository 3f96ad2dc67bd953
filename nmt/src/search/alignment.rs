//! Conversion of soft alignments (attention) to hard ones (pairs of positions).
//!
//! A soft alignment, as [`Translation::alignment`](super::Translation::alignment), is
//! `[target, source]`: for each scored target token its attention to the source tokens. Both
//! sides include EOS, as Marian prints them.

/// Returns the points `(source, target)` of an alignment `[target, source]`, in ascending order:
/// for each target token, the source tokens with more attention than `threshold`. With a threshold
/// of 1 or more, only the source token with the most attention (the first of equal ones).
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

/// Attention up to this value tells nothing about the origin of a word.
const MIN_ATTENTION: f32 = 0.01;

/// Returns the points `(source, target, weight)` of an alignment `[target, source]` that tell more
/// about the origin of words than the hard alignment: those with a weight above 0.01. A source
/// token also has a point with the target token that attends to it most (the first of equal ones),
/// even if that weight is smaller.
pub fn attended_points(alignment: &[Vec<f32>]) -> Vec<(u32, u32, f32)> {
    let num_sources = alignment.iter().map(Vec::len).max().unwrap_or(0);
    let mut most: Vec<Option<(usize, f32)>> = vec![None; num_sources];
    let mut points = Vec::new();
    for (target, weights) in alignment.iter().enumerate() {
        for (source, &weight) in weights.iter().enumerate() {
            if most[source].is_none_or(|(_, other)| weight > other) {
                most[source] = Some((target, weight));
            }
            if weight > MIN_ATTENTION {
                points.push((source as u32, target as u32, weight));
            }
        }
    }
    let little = (0..).zip(most).filter_map(|(source, most)| Some((source, most?)));
    let little = little.filter(|(_, (_, weight))| *weight <= MIN_ATTENTION);
    points.extend(little.map(|(source, (target, weight))| (source, target as u32, weight)));
    points
}

/// Returns the index of the largest weight, the first of equal ones.
pub(super) fn argmax(weights: &[f32]) -> Option<usize> {
    (0..weights.len()).reduce(|best, at| if weights[at] > weights[best] { at } else { best })
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

    #[test]
    fn each_source_token_has_the_target_that_attends_to_it_most() {
        let soft = [vec![0.0, 0.995, 0.004], vec![0.0, 0.991, 0.009], vec![0.5, 0.5, 0.001]];
        let expected = [(1, 0, 0.995), (1, 1, 0.991), (0, 2, 0.5), (1, 2, 0.5), (2, 1, 0.009)];
        assert_eq!(attended_points(&soft), expected);
        assert_eq!(attended_points(&[vec![]]), []);
    }
}
