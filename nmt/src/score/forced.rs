//! Forced decoding: the log-probabilities of given translations.

use std::sync::Arc;

use crate::Result;
use crate::engine::Engine;
use crate::network::{HypothesisRow, Network, Session, TopK};
use crate::translate::LoadedModels;

/// A translation to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The index of its source.
    pub source_index: usize,
    /// Its tokens and `</s>`.
    pub tokens: &'a [u32],
}

/// The scores of a translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForcedScores {
    /// The natural log-probabilities of its tokens and of `</s>`.
    pub token_scores: Vec<f32>,
    /// The attention of each of them to the source tokens, `[target, source]`; empty unless
    /// asked for.
    pub alignment: Vec<Vec<f32>>,
}

impl ForcedScores {
    /// The log-probability of the translation.
    pub fn sum(&self) -> f32 {
        self.token_scores.iter().sum()
    }
}

/// The scorer of a thread.
pub enum Scorer {
    /// A single model on all tokens of a translation at once.
    FullSequence(Arc<Network>, Box<Engine>),
    /// Token by token, as in decoding.
    Stepwise(Box<dyn Session>),
}

impl Scorer {
    /// The fastest scorer for `models`; alignments need `by_steps`.
    ///
    /// # Errors
    /// If the models cannot form an ensemble.
    pub fn new(models: &LoadedModels, by_steps: bool) -> Result<Self> {
        Ok(match models.single_network() {
            Some(network) if !by_steps => {
                Scorer::FullSequence(Arc::clone(network), Box::new(network.engine()))
            }
            _ => Scorer::Stepwise(models.session()?),
        })
    }

    /// Scores translations together; see [`score_targets`].
    ///
    /// # Errors
    /// If a source is too long for the model.
    pub fn score(
        &mut self,
        sources: &[&[u32]],
        translations: &[Target],
        alignments: bool,
    ) -> Result<Vec<ForcedScores>> {
        let (network, engine) = match self {
            Scorer::FullSequence(network, engine) => (network, engine),
            Scorer::Stepwise(session) => {
                return score_targets(session.as_mut(), sources, None, translations, alignments);
            }
        };
        let sources: Vec<_> =
            translations.iter().map(|given| sources[given.source_index]).collect();
        let targets: Vec<_> = translations.iter().map(|given| given.tokens).collect();
        let scores = network.score(engine, &sources, &targets)?.into_iter();
        Ok(scores
            .map(|words| ForcedScores { token_scores: words, alignment: Vec::new() })
            .collect())
    }
}

/// Scores translations together, step by step. Sources are tokens with `</s>`; each is encoded
/// once, and translations of one source are adjacent. `candidates` has the shortlist of each
/// source that its translations were decoded with: other tokens have probability 0.
///
/// # Errors
/// If a source is too long for the model.
pub fn score_targets(
    session: &mut dyn Session,
    sources: &[&[u32]],
    candidates: Option<&[&[u32]]>,
    translations: &[Target],
    alignments: bool,
) -> Result<Vec<ForcedScores>> {
    let slots = session.begin(sources, candidates)?;
    session.keep_alignments(alignments);
    let mut scores = vec![ForcedScores::default(); translations.len()];
    // Translations with tokens left, each with its row of the previous step.
    let going = (0..translations.len()).filter(|&i| !translations[i].tokens.is_empty());
    let mut going: Vec<(usize, Option<u32>)> = going.map(|i| (i, None)).collect();
    let (mut rows, mut wanted) = (Vec::new(), Vec::new());
    let (mut best, mut logits) = (Vec::new(), Vec::new());
    for place in 0.. {
        if going.is_empty() {
            break;
        }
        rows.clear();
        rows.extend(going.iter().map(|&(i, parent)| {
            let Target { source_index: source, tokens: words } = translations[i];
            let word = parent.map(|_| words[place - 1]);
            HypothesisRow { slot: slots[source], parent, token: word }
        }));
        session.step(&rows);
        best.resize_with(rows.len(), || TopK::new(1, true));
        best.iter_mut().for_each(TopK::clear);
        session.topk(&mut best);
        wanted.clear();
        wanted.extend((0..).zip(&going).map(|(row, &(i, _))| (row, translations[i].tokens[place])));
        session.token_logits(&wanted, &mut logits);
        let found = best.iter().zip(&logits);
        for ((row, (i, parent)), (best, logit)) in (0..).zip(&mut going).zip(found) {
            scores[*i].token_scores.push(logit - best.log_normaliser());
            if alignments {
                scores[*i].alignment.push(session.alignment(row).to_vec());
            }
            *parent = Some(row);
        }
        going.retain(|&(i, _)| place + 1 < translations[i].tokens.len());
    }
    slots.into_iter().for_each(|slot| session.finish(slot));
    Ok(scores)
}
