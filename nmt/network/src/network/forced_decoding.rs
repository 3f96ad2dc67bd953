//! Forced decoding: the scores of given translations, token by token.

use super::{HypothesisRow, Session, Slot, TopK};
use crate::Result;

/// A translation to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The index of its source.
    pub source_index: usize,
    /// Its tokens and `</s>`.
    pub tokens: &'a [u32],
}

/// The scores of a translation by a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForcedScores {
    /// Log-probabilities of its tokens and of `</s>`.
    pub token_scores: Vec<f32>,
    /// The attention of each of them to the tokens of the source; empty unless asked for.
    pub alignment: Vec<Vec<f32>>,
}

impl ForcedScores {
    /// Returns the log-probability of the translation.
    pub fn sum(&self) -> f32 {
        self.token_scores.iter().sum()
    }
}

/// Scores translations together. Sources are tokens and their `</s>`; each is encoded once, and its
/// translations are decoded side by side. `candidates`, if any, lists for each source the tokens
/// that its translations may contain; other tokens have probability 0.
///
/// # Errors
/// If a token is not in the vocabulary, and the errors of the session.
pub fn score_targets(
    session: &mut dyn Session,
    sources: &[&[u32]],
    candidates: Option<&[&[u32]]>,
    translations: &[Target],
    alignments: bool,
) -> Result<Vec<ForcedScores>> {
    let slots = session.begin(sources, candidates)?;
    let scores = score_begun(session, &slots, translations, alignments);
    slots.into_iter().for_each(|slot| session.finish(slot));
    scores
}

/// Works as [`score_targets`] for sources that have been begun in `slots`.
fn score_begun(
    session: &mut dyn Session,
    slots: &[Slot],
    translations: &[Target],
    alignments: bool,
) -> Result<Vec<ForcedScores>> {
    session.keep_alignments(alignments);
    let mut scores = vec![ForcedScores::default(); translations.len()];
    // Translations that have not ended, each with its row of the step before.
    let active = (0..translations.len()).filter(|&i| !translations[i].tokens.is_empty());
    let mut active: Vec<(usize, Option<u32>)> = active.map(|i| (i, None)).collect();
    let (mut rows, mut pairs) = (Vec::new(), Vec::new());
    let (mut best, mut logits) = (Vec::new(), Vec::new());
    for position in 0.. {
        if active.is_empty() {
            break;
        }
        rows.clear();
        rows.extend(active.iter().map(|&(i, parent)| {
            let Target { source_index, tokens } = translations[i];
            let token = parent.map(|_| tokens[position - 1]);
            HypothesisRow { slot: slots[source_index], parent, token }
        }));
        session.step(&rows)?;
        best.resize_with(rows.len(), || TopK::new(1, true));
        best.iter_mut().for_each(TopK::clear);
        session.topk(&mut best)?;
        pairs.clear();
        pairs.extend(
            (0..).zip(&active).map(|(row, &(i, _))| (row, translations[i].tokens[position])),
        );
        session.token_logits(&pairs, &mut logits)?;
        let found = best.iter().zip(&logits);
        for ((row, (i, parent)), (best, logit)) in (0..).zip(&mut active).zip(found) {
            scores[*i].token_scores.push(logit - best.log_normalizer());
            if alignments {
                scores[*i].alignment.push(session.alignment(row).to_vec());
            }
            *parent = Some(row);
        }
        active.retain(|&(i, _)| position + 1 < translations[i].tokens.len());
    }
    Ok(scores)
}
