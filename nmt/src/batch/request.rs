//! Validation and completion of requests before they reach a session.

use crate::search::{LM_WITH_SAMPLING, PrefixRole, Request, SearchOptions, Translation};
use crate::{Error, Result};

/// Returns the translation of a sentence without tokens: empty, with probability 1.
pub(super) fn empty_translation() -> Translation {
    Translation { token_scores: vec![0.0], ..Translation::default() }
}

/// Checks that the options allow a request, and that the tokens of its prefix, constraints and
/// candidates are in the target vocabulary. Adds `</s>` and the tokens of prefix and constraints to
/// the candidates, if there are any.
pub(super) fn validate_and_complete(
    request: &mut Request,
    options: &SearchOptions,
    vocabulary_size: usize,
) -> Result<()> {
    fn wrong(reason: String) -> Result<(), Error> {
        Err(Error::Untranslatable { reason })
    }
    let end = options.eos_id;
    if options.sampling.is_some() && request.constraints.iter().any(|list| !list.is_empty()) {
        return wrong("it has constraints, which sampling does not support".into());
    }
    if options.sampling.is_some() && options.fusion.is_some() {
        return wrong(LM_WITH_SAMPLING.into());
    }
    let required = request.constraints.iter().flatten().chain(&request.prefix);
    for &word in required.clone() {
        if word == end && options.prefix_role == PrefixRole::Beginning {
            return wrong("a prefix or a constraint contains the end of the sentence".into());
        }
        if word as usize >= vocabulary_size {
            return wrong(format!(
                "word {word} of a prefix or a constraint is out of range, the vocabulary has \
                 {vocabulary_size} words"
            ));
        }
    }
    if let Some(candidates) = &mut request.candidates {
        complete_candidates(candidates, required, end);
        if let Some(last) = candidates.last().filter(|&&last| last as usize >= vocabulary_size) {
            return wrong(format!(
                "candidate {last} is out of range, the vocabulary has {vocabulary_size} words"
            ));
        }
    }
    Ok(())
}

/// Adds `required` tokens and EOS to candidates.
pub(crate) fn complete_candidates<'a>(
    candidates: &mut Vec<u32>,
    required: impl Iterator<Item = &'a u32>,
    eos_id: u32,
) {
    candidates.extend(required);
    candidates.push(eos_id);
    candidates.sort_unstable();
    candidates.dedup();
}
