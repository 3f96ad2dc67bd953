//! Decoding semantics of the programs whose models are read.

/// The program whose search is reproduced. Programs differ in when a search ends, in the width of
/// the beam, and in the scores if tokens are suppressed, a prefix is forced or tokens are sampled.
///
/// If tokens are suppressed, Marian keeps the probabilities of the others, and CTranslate2
/// renormalises them. The tokens of a prefix are scored by the model in Marian and have score 0 in
/// CTranslate2. Top-p sampling cuts by probabilities before the temperature in Marian and after it
/// in CTranslate2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DecodingSemantics {
    /// Finished hypotheses leave the beam, which narrows; the search ends when the beam is empty or
    /// at the maximum length.
    #[default]
    Marian,
    /// The beam keeps its width; the search ends when `round(beam * patience)` hypotheses have
    /// finished. Without length and coverage penalties it ends when the best hypothesis and at
    /// least `n_best` in all have finished.
    CTranslate2,
}
