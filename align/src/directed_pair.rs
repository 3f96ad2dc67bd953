//! A sentence pair as one direction of a model sees it: outputs (the words that are
//! generated), states (the positions of the other sentence, which generate them), and the
//! null word. Position models read translation probabilities from it and add their
//! posteriors to it; they do not depend on tables and directions.
//!
//! Probabilities and posteriors are matrices `[distinct outputs, stride]`. Equal outputs
//! share a row, in which their posteriors are summed. Rows are padded with zeros to a
//! multiple of [`LANES`], so that inner loops have no remainder.

/// The number of values that inner loops process at once.
pub(crate) const LANES: usize = 4;

/// One direction of a sentence pair.
#[derive(Default)]
pub(crate) struct DirectedPair {
    /// For each output position its row in the matrices below.
    pub outputs: Vec<u16>,
    /// The number of states.
    pub num_states: usize,
    /// The width of a row: `num_states` rounded up to a multiple of [`LANES`].
    pub stride: usize,
    /// t(output | state), a row for each distinct output.
    pub translation: Vec<f64>,
    /// t(output | null).
    pub null_translation: Vec<f64>,
    /// Sums of posteriors, a row for each distinct output.
    pub posterior: Vec<f64>,
    /// Sums of posteriors of the null word.
    pub null_posterior: Vec<f64>,
}

impl DirectedPair {
    /// Resets the pair to these outputs, given as indices among `distinct` words.
    pub fn reset(&mut self, outputs: &[u16], distinct: usize, states: usize) {
        self.outputs.clear();
        self.outputs.extend_from_slice(outputs);
        self.num_states = states;
        self.stride = states.next_multiple_of(LANES);
        for rows in [&mut self.translation, &mut self.posterior] {
            rows.clear();
            rows.resize(distinct * self.stride, 0.0);
        }
        for row in [&mut self.null_translation, &mut self.null_posterior] {
            row.clear();
            row.resize(distinct, 0.0);
        }
    }
}

/// The statistics of an E step apart from the counts of word pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EStepStatistics {
    /// ln p(outputs | states).
    pub ln_likelihood: f64,
    /// The expected number of outputs that the null word generates.
    pub null_count: f64,
    /// The number of outputs.
    pub output_count: f64,
    /// Minus the expected distance from the diagonal, summed over outputs, for the diagonal prior.
    pub diagonal_distance: f64,
    /// Expected counts of jumps, for the HMM model.
    pub jump_counts: Vec<f64>,
}

impl EStepStatistics {
    /// Returns the perplexity per output.
    pub fn perplexity(&self) -> f64 {
        (-self.ln_likelihood / self.output_count.max(1.0)).exp()
    }

    /// Adds `other`. The result depends on the order of additions.
    pub fn add(&mut self, other: &EStepStatistics) {
        self.ln_likelihood += other.ln_likelihood;
        self.null_count += other.null_count;
        self.output_count += other.output_count;
        self.diagonal_distance += other.diagonal_distance;
        self.jump_counts.resize(self.jump_counts.len().max(other.jump_counts.len()), 0.0);
        self.jump_counts.iter_mut().zip(&other.jump_counts).for_each(|(sum, more)| *sum += more);
    }
}
