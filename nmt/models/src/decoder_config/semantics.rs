//! Rules of search that differ between the programs whose models are read.

/// The program whose rules decide when a beam search ends and how finished hypotheses are
/// ranked.
///
/// If tokens are suppressed, Marian keeps the probabilities of the others, and CTranslate2
/// renormalises them. The tokens of a prefix are scored by the model with Marian's rules and have
/// score 0 with CTranslate2's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DecodingSemantics {
    /// Finished hypotheses leave the beam, which shrinks; done when it is empty.
    #[default]
    Marian,
    /// The beam keeps its width; done when `round(beam * patience)` hypotheses have finished.
    CTranslate2,
}
