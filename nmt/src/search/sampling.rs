//! Sampling of tokens.
//!
//! A draw depends on the seed, the sentence, the index of its translation and the position in
//! it: never on the batch, nor on other draws.

use miriam_storage::random::SplitMix64;

use super::logits_processor::Candidate;
use super::{DecodingSemantics, Sampling};

/// The key of a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleKey {
    pub seed: u64,
    pub sentence: u64,
    pub sample_index: u32,
    pub step: u32,
}

/// Returns a uniform number in [0, 1) of 53 bits (SplitMix64's finaliser over each part of the
/// key).
fn uniform(key: SampleKey) -> f64 {
    let parts = [key.sentence, u64::from(key.sample_index) << 32 | u64::from(key.step)];
    let mixed = parts.iter().fold(mix(key.seed), |state, part| mix(state ^ part));
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn mix(state: u64) -> u64 {
    SplitMix64::new(state).next_u64()
}

/// Draws one candidate of `pool`, whose scores are log-probabilities. The pool is truncated by
/// top-k, top-p and epsilon and loses its order. By CTranslate2's rules, top-p applies to the
/// probabilities after the temperature; by Marian's, to the probabilities before it.
pub(super) fn sample(
    sampling: &Sampling,
    semantics: DecodingSemantics,
    key: SampleKey,
    pool: &mut Vec<Candidate>,
) -> Option<Candidate> {
    fn best(pool: &[Candidate]) -> f32 {
        pool.iter().map(|candidate| candidate.score).fold(f32::MIN, f32::max)
    }
    let largest = best(pool);
    if sampling.epsilon > 0.0 {
        let least = sampling.epsilon.ln().min(largest);
        pool.retain(|candidate| candidate.score >= least);
    }
    if sampling.top_k > 0 && pool.len() > sampling.top_k {
        pool.sort_unstable_by(Candidate::cmp_best_first);
        pool.truncate(sampling.top_k);
    }
    let heat = 1.0 / f64::from(sampling.temperature.max(1e-6));
    fn weight(candidate: &Candidate, heat: f64, largest: f32) -> f64 {
        (f64::from(candidate.score - largest) * heat).exp()
    }
    if sampling.top_p < 1.0 {
        let heat = if semantics == DecodingSemantics::CTranslate2 { heat } else { 1.0 };
        let total: f64 = pool.iter().map(|candidate| weight(candidate, heat, largest)).sum();
        let wanted = f64::from(sampling.top_p) * total;
        // Even together, tokens rarer than this cannot reach the mass that top-p cuts off.
        let rare = (total - wanted) / pool.len() as f64;
        pool.retain(|candidate| {
            candidate.score == largest || weight(candidate, heat, largest) >= rare
        });
        pool.sort_unstable_by(Candidate::cmp_best_first);
        let mut sum = 0.0;
        let place = pool.iter().position(|candidate| {
            let enough = sum >= wanted;
            sum += weight(candidate, heat, largest);
            enough
        });
        pool.truncate(place.unwrap_or(pool.len()).max(1));
    }
    let total: f64 = pool.iter().map(|candidate| weight(candidate, heat, largest)).sum();
    let mut rest = uniform(key) * total;
    for candidate in pool.iter() {
        rest -= weight(candidate, heat, largest);
        if rest < 0.0 {
            return Some(*candidate);
        }
    }
    // Rounding can leave a rest after the last candidate.
    pool.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, epsilon: 0.0 };

    /// Returns the frequencies of four tokens with probabilities 0.5, 0.3, 0.15, 0.05.
    fn counts(sampling: Sampling, semantics: DecodingSemantics) -> [f64; 4] {
        let mut counts = [0.0; 4];
        let draws = 20_000;
        for sentence in 0..draws {
            let probabilities = [0.15f32, 0.5, 0.05, 0.3];
            let mut pool =
                (0..).zip(probabilities).map(|(word, p)| Candidate::new(word, p.ln())).collect();
            let place = SampleKey { seed: 7, sentence, sample_index: 0, step: 3 };
            let drawn = sample(&sampling, semantics, place, &mut pool).unwrap();
            counts[[2, 0, 3, 1][drawn.token as usize]] += 1.0 / draws as f64;
        }
        counts
    }

    fn assert_near(found: [f64; 4], expected: [f64; 4]) {
        // Four standard deviations of 20,000 draws at 1/2 are 0.014.
        let distance = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(distance < 0.015, "{found:?} is not {expected:?}");
    }

    #[test]
    fn sample_frequencies_match_probabilities() {
        assert_near(counts(ALL, DecodingSemantics::Marian), [0.5, 0.3, 0.15, 0.05]);
        let two = [0.625, 0.375, 0.0, 0.0];
        assert_near(counts(Sampling { top_k: 2, ..ALL }, DecodingSemantics::Marian), two);
        assert_near(counts(Sampling { top_p: 0.7, ..ALL }, DecodingSemantics::Marian), two);
        assert_near(counts(Sampling { epsilon: 0.2, ..ALL }, DecodingSemantics::Marian), two);
        assert_near(
            counts(Sampling { epsilon: 0.9, ..ALL }, DecodingSemantics::Marian),
            [1.0, 0.0, 0.0, 0.0],
        );
        // The squares of the probabilities are 0.25, 0.09, 0.0225 and 0.0025; their sum is 0.365.
        let cold = Sampling { temperature: 0.5, ..ALL };
        assert_near(counts(cold, DecodingSemantics::Marian), [0.685, 0.2466, 0.0616, 0.0068]);
        // After the temperature, one token reaches a mass of 0.65; before it, two are needed.
        let nucleus = Sampling { top_p: 0.65, ..cold };
        assert_near(counts(nucleus, DecodingSemantics::CTranslate2), [1.0, 0.0, 0.0, 0.0]);
        assert_near(counts(nucleus, DecodingSemantics::Marian), [0.7353, 0.2647, 0.0, 0.0]);
    }

    #[test]
    fn an_empty_pool_samples_nothing() {
        let place = SampleKey { seed: 7, sentence: 0, sample_index: 0, step: 0 };
        assert!(sample(&ALL, DecodingSemantics::Marian, place, &mut Vec::new()).is_none());
    }
}
