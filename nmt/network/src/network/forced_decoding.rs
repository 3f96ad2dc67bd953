//! Forced decoding: the scores of given translations, token by token.

use std::ops::Range;

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
    /// The attention of each of these tokens to the tokens of the source; empty unless requested.
    pub alignment: Vec<Vec<f32>>,
}

impl ForcedScores {
    /// Returns the log-probability of the translation.
    pub fn sum(&self) -> f32 {
        self.token_scores.iter().sum()
    }

    /// Returns the log-probability divided by `n^power`, where n is the number of tokens including
    /// `</s>`.
    pub fn normalized_sum(&self, power: f32) -> f32 {
        self.sum() / (self.token_scores.len() as f32).powf(power)
    }
}

/// The largest number of translations that are decoded side by side, and the largest number of
/// their tokens. Both bound the memory of states.
const MAX_TRANSLATIONS: usize = 512;
const MAX_TOKENS: usize = 1 << 15;

/// Scores translations together. A source is a list of tokens that ends with `</s>`. Each source is
/// encoded once, and its translations are decoded side by side. Translations with a common prefix
/// share its states. This does not change scores, because a session computes rows independently.
/// If `candidates` is given, it lists for each source the tokens that its translations may contain;
/// other tokens have probability 0.
///
/// # Errors
/// If a token of a source or a candidate is not in its vocabulary, and the errors of the session.
///
/// # Panics
/// If a token of a translation is not in the vocabulary.
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
    // In this order, translations with a common prefix follow each other; a translation that is
    // this prefix itself comes first.
    let mut order: Vec<usize> =
        (0..translations.len()).filter(|&i| !translations[i].tokens.is_empty()).collect();
    order.sort_by_key(|&i| (translations[i].source_index, translations[i].tokens));
    let mut rest = &order[..];
    while !rest.is_empty() {
        let mut tokens = 0;
        let fitting = rest.iter().take(MAX_TRANSLATIONS).take_while(|&&i| {
            tokens += translations[i].tokens.len();
            tokens <= MAX_TOKENS
        });
        let (part, others) = rest.split_at(fitting.count().max(1));
        score_tree(session, slots, translations, part, alignments, &mut scores)?;
        rest = others;
    }
    Ok(scores)
}

/// Translations with the same tokens before the position of the next step, where they share a row.
struct Prefix {
    /// Their places in the sorted order of translations.
    range: Range<usize>,
    /// Their row of the previous step.
    parent: Option<u32>,
}

/// Scores the translations whose sorted indices are `order`, as a tree of their prefixes: each step
/// has one row for each different prefix of its length.
fn score_tree(
    session: &mut dyn Session,
    slots: &[Slot],
    translations: &[Target],
    order: &[usize],
    alignments: bool,
    scores: &mut [ForcedScores],
) -> Result<()> {
    let mut prefixes = Vec::new();
    split_range(
        0..order.len(),
        |place| translations[order[place]].source_index,
        |range| {
            prefixes.push(Prefix { range, parent: None });
        },
    );
    let (mut rows, mut pairs, mut extended) = (Vec::new(), Vec::new(), Vec::new());
    let (mut best, mut logits) = (Vec::new(), Vec::new());
    for position in 0.. {
        if prefixes.is_empty() {
            break;
        }
        rows.clear();
        rows.extend(prefixes.iter().map(|prefix| {
            let Target { source_index, tokens } = translations[order[prefix.range.start]];
            let token = prefix.parent.map(|_| tokens[position - 1]);
            HypothesisRow { slot: slots[source_index], parent: prefix.parent, token }
        }));
        session.step(&rows)?;
        best.resize_with(rows.len(), || TopK::new(0, true));
        best.iter_mut().for_each(TopK::clear);
        session.topk(&mut best)?;
        pairs.clear();
        extended.clear();
        let next_token = |place: usize| translations[order[place]].tokens[position];
        for (row, prefix) in (0..).zip(&prefixes) {
            split_range(prefix.range.clone(), next_token, |range| {
                pairs.push((row, next_token(range.start)));
                extended.push(Prefix { range, parent: Some(row) });
            });
        }
        session.token_logits(&pairs, &mut logits)?;
        for ((prefix, &(row, _)), logit) in extended.iter_mut().zip(&pairs).zip(&logits) {
            let score = logit - best[row as usize].log_normalizer();
            for &translation in &order[prefix.range.clone()] {
                scores[translation].token_scores.push(score);
                if alignments {
                    scores[translation].alignment.push(session.alignment(row).to_vec());
                }
            }
            let ends = |&place: &usize| translations[order[place]].tokens.len() == position + 1;
            prefix.range.start += prefix.range.clone().take_while(ends).count();
        }
        extended.retain(|prefix| !prefix.range.is_empty());
        std::mem::swap(&mut prefixes, &mut extended);
    }
    Ok(())
}

/// Divides `range` into the longest runs of places with the same `key`, and calls `part` with each.
fn split_range<K: PartialEq>(
    range: Range<usize>,
    key: impl Fn(usize) -> K,
    mut part: impl FnMut(Range<usize>),
) {
    let mut start = range.start;
    while start < range.end {
        let first = key(start);
        let end = (start + 1..range.end).find(|&place| key(place) != first).unwrap_or(range.end);
        part(start..end);
        start = end;
    }
}
