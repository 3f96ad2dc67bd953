//! Forced scoring: how probable a model finds translations that are given.

use std::sync::Arc;

use crate::Result;
use crate::engine::Engine;
use crate::network::{HypothesisRow, Network, Session, TopK};
use crate::translate::LoadedModels;

/// A translation that is to be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Which source it translates.
    pub source_index: usize,
    /// Its words and `</s>`.
    pub tokens: &'a [u32],
}

/// A translation as a model sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForcedScores {
    /// Natural logarithms of the probabilities of its words and of `</s>`.
    pub token_scores: Vec<f32>,
    /// The attention of each of them to the words of the source; empty unless asked for.
    pub alignment: Vec<Vec<f32>>,
}

impl ForcedScores {
    /// The logarithm of the probability of the whole.
    pub fn sum(&self) -> f32 {
        self.token_scores.iter().sum()
    }
}

/// What a thread scores with.
pub enum Scorer {
    /// A single model, all words of a translation at once.
    FullSequence(Arc<Network>, Box<Engine>),
    /// Word after word, as translations are found.
    Stepwise(Box<dyn Session>),
}

impl Scorer {
    /// The fastest that `models` allow; `by_steps` asks for steps, which tell alignments.
    pub fn new(models: &LoadedModels, by_steps: bool) -> Result<Self> {
        Ok(match models.single_network() {
            Some(network) if !by_steps => {
                Scorer::FullSequence(Arc::clone(network), Box::new(network.engine()))
            }
            _ => Scorer::Stepwise(models.session()?),
        })
    }

    /// As [`score`].
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

/// Scores translations together. Sources are words and their `</s>`; each is read once, and
/// translations of one source stand side by side. `candidates`, where given, has the only
/// words that translations of each source were made of: probabilities of others count as 0.
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
    // Translations that go on, each with its row of the step before.
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
