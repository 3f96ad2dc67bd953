//! Future costs (`docs/spec/phrase-decoding.md` 3.5): for each span of the source, an estimate of
//! the best score that its options can give.

/// The future costs of all spans of a sentence, in a buffer that is reused.
#[derive(Default)]
pub(crate) struct FutureCost {
    length: usize,
    /// Row: start; column: last position.
    costs: Vec<f32>,
}

impl FutureCost {
    /// Fills the matrix from `best(start, length)`, the best option of a span or
    /// minus infinity.
    pub(crate) fn fill(
        &mut self,
        length: usize,
        max_span: usize,
        best: impl Fn(usize, usize) -> f32,
    ) {
        self.length = length;
        self.costs.clear();
        self.costs.resize(length * length, f32::NEG_INFINITY);
        for start in 0..length {
            for span in 1..=max_span.min(length - start) {
                self.costs[start * length + start + span - 1] = best(start, span);
            }
        }
        for width in 2..=length {
            for start in 0..=length - width {
                let end = start + width - 1;
                let mut cell = self.costs[start * length + end];
                for middle in start..end {
                    let joined = self.costs[start * length + middle]
                        + self.costs[(middle + 1) * length + end];
                    if joined > cell {
                        cell = joined;
                    }
                }
                self.costs[start * length + end] = cell;
            }
        }
    }

    /// Returns the estimate of positions `start..end`.
    #[inline]
    pub(crate) fn cost(&self, start: u32, end: u32) -> f32 {
        self.costs[start as usize * self.length + end as usize - 1]
    }

    /// Creates a matrix of zeros, for tests.
    #[cfg(test)]
    pub(crate) fn zero(length: u32) -> Self {
        let length = length as usize;
        FutureCost { length, costs: vec![0.0; length * length] }
    }
}

#[cfg(test)]
mod tests {
    use super::FutureCost;

    #[test]
    fn finds_the_best_segmentation() {
        let mut costs = FutureCost::default();
        let spans = [[-1.0, -3.0, f32::NEG_INFINITY], [-4.0, -2.5, -9.0], [-1.5, -9.0, -9.0]];
        costs.fill(3, 2, |start, length| spans[start][length - 1]);
        assert_eq!(costs.cost(0, 1), -1.0);
        assert_eq!(costs.cost(0, 2), -3.0, "one phrase beats -1 + -4");
        assert_eq!(costs.cost(1, 3), -2.5);
        assert_eq!(costs.cost(0, 3), -3.5, "-1 + -2.5 beats -3 + -1.5");
    }
}
