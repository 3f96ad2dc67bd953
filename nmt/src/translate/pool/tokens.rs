//! Conversion of sentences that callers have tokenised: from ids to requests, and from translations
//! to tokens, by CTranslate2's rules.
//!
//! The special tokens of the model, such as `</s>`, are added to a source, and a source that is too
//! long is cut. The translation of a source without words is the prefix, without a search.
//! Attention is to the tokens of the caller, without special tokens.

use super::{DecodingOptions, PoolError, Prepared, ScoreRequest};
use crate::search::unknown;
use crate::search::{Request, Translation};
use crate::translate::Translator;
use miriam_nmt_models::{BoundaryTokens, EosAfterTokens, Vocabulary};
use miriam_nmt_network::network::ForcedScores;

/// A tokenised sentence: ids of the tokens of the caller, without the special tokens of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// Ids of the source tokens.
    pub source: Vec<u32>,
    /// Ids of the tokens that the translation begins with.
    pub prefix: Vec<u32>,
}

/// A tokenised sentence with its translation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoringExample {
    /// Ids of the source tokens.
    pub source: Vec<u32>,
    /// Ids of the target tokens.
    pub target: Vec<u32>,
}

/// The translations of a tokenised sentence, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenTranslations {
    /// The ids of the tokens of each translation.
    pub hypotheses: Vec<Vec<u32>>,
    /// The score of each translation, if requested.
    pub scores: Vec<f32>,
    /// For each translation, the attention of its tokens to the tokens of the source, if requested:
    /// `[target, source]`.
    pub attention: Vec<Vec<Vec<f32>>>,
    /// For each translation, the unknown tokens that source tokens replace, if requested: their
    /// positions in the translation, ascending, and the positions of the source tokens.
    pub replacements: Vec<Vec<(usize, usize)>>,
}

/// The log-probabilities of the tokens of a given translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoredTokens {
    /// The ids of its tokens, the last one EOS.
    pub tokens: Vec<u32>,
    /// Their natural log-probabilities.
    pub log_probs: Vec<f32>,
}

/// CTranslate2's sum of log-probabilities of the rows of a beam, other than the first, while a
/// prefix is forced.
const LOST_SCORE: f32 = -1e10;

/// A source with the special tokens of the model.
struct CompleteSource {
    ids: Vec<u32>,
    /// Whether BOS, or a language token, was added.
    has_bos: bool,
    /// Whether EOS was added.
    has_eos: bool,
}

impl Translator {
    /// Returns the vocabularies of source and target.
    pub fn vocabularies(&self) -> [&Vocabulary; 2] {
        self.models.tokenizers().each_ref().map(|side| &*side.vocabulary)
    }

    /// Returns the source with the special tokens of the model, cut to `max_length` tokens unless
    /// that is 0.
    fn add_special_tokens(&self, source: &[u32], max_length: usize) -> CompleteSource {
        let tokenizer = &self.models.tokenizers()[0];
        let (boundary, eos) = (tokenizer.boundary_tokens, tokenizer.vocabulary.eos_id());
        let mut ids: Vec<u32> = boundary.bos_id.into_iter().chain(source.iter().copied()).collect();
        let has_eos = match boundary.eos_after_tokens {
            EosAfterTokens::Always => true,
            EosAfterTokens::Never => false,
            EosAfterTokens::IfMissing => boundary.has_eos && source.last() != Some(&eos),
        };
        ids.extend(has_eos.then_some(eos));
        cut_keeping_end(&mut ids, max_length, eos);
        tokenizer.reverse_if_backwards(&mut ids);
        CompleteSource { ids, has_bos: boundary.bos_id.is_some(), has_eos }
    }

    /// Whether a source has no words: at most BOS, EOS and a language token after EOS.
    fn has_no_words(&self, source: &[u32]) -> bool {
        let tokenizer = &self.models.tokenizers()[0];
        let eos = tokenizer.vocabulary.own_eos_id();
        let BoundaryTokens { bos_id, marker_id, .. } = tokenizer.boundary_tokens;
        let bos = bos_id.or(marker_id).or_else(|| tokenizer.vocabulary.find(b"<s>"));
        let at_start = usize::from(source.first().copied().is_some_and(|id| Some(id) == bos));
        let at_end = match *source {
            [.., last] if Some(last) == eos => 1,
            [.., before_last, _] if Some(before_last) == eos => 2,
            _ => 0,
        };
        source.len() <= at_start + at_end
    }

    /// Returns the request of an example; `max_input_length` of 0 means no limit. Callers give all
    /// tokens of the target prefix, as in CTranslate2. The prefix that the model's folder defines
    /// for texts (such as Hugging Face's `forced_bos_token_id`) is not added.
    pub fn prepare_tokens(
        &self,
        example: &Example,
        max_input_length: usize,
        options: &DecodingOptions,
    ) -> Prepared {
        let prefix = example.prefix.clone();
        let source = self.add_special_tokens(&example.source, max_input_length).ids;
        if self.has_no_words(&example.source) {
            let mut tokens = prefix;
            tokens.truncate(options.max_decoding_length);
            let alignment = vec![vec![0.0; source.len()]; tokens.len()];
            let empty = Translation { tokens, alignment, ..Translation::default() };
            return Prepared::Done(vec![empty; options.num_hypotheses]);
        }
        let mut request = Request { source, prefix, ..Request::default() };
        if options.use_vmap && request.source.len() == max_input_length {
            // In CTranslate2 the candidates follow from the words of the whole source.
            let whole = self.add_special_tokens(&example.source, 0).ids;
            let cut = std::mem::replace(&mut request.source, whole);
            request.candidates = self.vocabulary_map_candidates(&request);
            request.source = cut;
        }
        Prepared::Request(request)
    }

    /// Checks that the model has positions for the sources. `max_input_length` of 0 means no limit.
    ///
    /// # Errors
    /// [`PoolError::Failed`] names the first source that is too long.
    pub fn check_examples(
        &self,
        examples: &[Example],
        max_input_length: usize,
    ) -> Result<(), PoolError> {
        let Some(most) = self.max_positions else { return Ok(()) };
        examples.iter().enumerate().try_for_each(|(index, Example { source, .. })| {
            if self.has_no_words(source) {
                return Ok(());
            }
            let length = self.add_special_tokens(source, max_input_length).ids.len();
            check_length("source", index, length, most)
        })
    }

    /// Checks that the model has positions for the sources and targets. `max_input_length` of 0
    /// means no limit.
    ///
    /// # Errors
    /// [`PoolError::Failed`] names the first source or target that is too long.
    pub fn check_scoring_examples(
        &self,
        examples: &[ScoringExample],
        max_input_length: usize,
    ) -> Result<(), PoolError> {
        let Some(most) = self.max_positions else { return Ok(()) };
        examples.iter().enumerate().try_for_each(|(index, example)| {
            let ScoreRequest { source, target } = self.prepare_score(example, max_input_length);
            check_length("source", index, source.len(), most)?;
            check_length("target", index, target.len(), most)
        })
    }

    /// Whether target prefixes are possible.
    pub fn takes_prefixes(&self) -> bool {
        !self.models.is_right_to_left()
    }

    /// Converts the translations of an example for the caller; with `keep_end`, they include the
    /// tokens that ended them.
    pub fn finish_tokens(
        &self,
        example: &Example,
        max_input_length: usize,
        options: &DecodingOptions,
        keep_end: bool,
        translations: &[Translation],
    ) -> TokenTranslations {
        let CompleteSource { has_bos, has_eos, ids } =
            self.add_special_tokens(&example.source, max_input_length);
        let source_eos = self.models.tokenizers()[0].vocabulary.eos_id();
        let target = &self.models.tokenizers()[1].vocabulary;
        let eos = [target.eos_id()];
        let ends = if options.end_tokens.is_empty() { &eos[..] } else { &options.end_tokens };
        let mut all = TokenTranslations::default();
        let repeated = repeated_translations(example, options, translations);
        let is_searched = !self.has_no_words(&example.source);
        for found in translations.iter().chain(&repeated) {
            let mut tokens = found.tokens.clone();
            if keep_end {
                tokens.extend(found.end_token);
            } else if is_searched {
                while tokens.last().is_some_and(|last| ends.contains(last)) {
                    tokens.pop();
                }
            }
            let mut rows = Vec::new();
            if options.needs_attention() {
                let used = found.alignment.iter().take(tokens.len());
                rows.extend(used.map(|row| {
                    let mut row = row.clone();
                    row.truncate(ids.len());
                    if self.models.is_right_to_left() {
                        let ends = ids.last() == Some(&source_eos);
                        let words = row.len() - usize::from(ends).min(row.len());
                        row[..words].reverse();
                    }
                    row.drain(..usize::from(has_bos).min(row.len()));
                    row.truncate(row.len() - usize::from(has_eos).min(row.len()));
                    row.resize(example.source.len(), 0.0);
                    row
                }));
            }
            if self.models.is_right_to_left() {
                let kept = usize::from(keep_end && found.end_token.is_some());
                let words = tokens.len() - kept;
                tokens[..words].reverse();
                let aligned = words.min(rows.len());
                rows[..aligned].reverse();
            }
            if options.replace_unknowns {
                let (tokens, alignment) = (tokens.clone(), rows.clone());
                let found = Translation { tokens, alignment, ..Translation::default() };
                let length = example.source.len();
                all.replacements.push(unknown::replacements(&found, target.unk_id(), length));
            }
            all.hypotheses.push(tokens);
            all.scores.extend(options.return_scores.then_some(found.score));
            all.attention.extend(options.return_attention.then_some(rows));
        }
        all
    }

    /// Returns the request of scoring an example.
    pub fn prepare_score(&self, example: &ScoringExample, max_input_length: usize) -> ScoreRequest {
        let target = self.marked_target(example, max_input_length);
        let source = self.add_special_tokens(&example.source, max_input_length).ids;
        ScoreRequest { source, target }
    }

    /// Returns the tokens of a target that are scored.
    fn marked_target(&self, example: &ScoringExample, max_input_length: usize) -> Vec<u32> {
        let eos = self.models.tokenizers()[1].vocabulary.eos_id();
        let mut target = example.target.clone();
        target.push(eos);
        cut_keeping_end(&mut target, max_input_length, eos);
        target
    }

    /// Returns the scores of an example, without those of its first `offset` tokens. If the source
    /// is empty and gets no special tokens, returns all scores, as in CTranslate2.
    pub fn finish_score(
        &self,
        example: &ScoringExample,
        max_input_length: usize,
        offset: usize,
        scores: &ForcedScores,
    ) -> ScoredTokens {
        let mut tokens = self.marked_target(example, max_input_length);
        let mut log_probs = scores.token_scores.clone();
        let has_source = !self.add_special_tokens(&example.source, max_input_length).ids.is_empty();
        let offset = if has_source { offset } else { 0 };
        tokens.drain(..offset.min(tokens.len()));
        log_probs.drain(..offset.min(log_probs.len()));
        ScoredTokens { tokens, log_probs }
    }
}

/// Checks that `length` tokens have positions, of which the model has `most`.
fn check_length(name: &str, index: usize, length: usize, most: usize) -> Result<(), PoolError> {
    if length <= most {
        return Ok(());
    }
    Err(PoolError::Failed(format!(
        "{name}[{index}]: {length} tokens with special tokens, but the model has {most} positions; \
         give max_input_length={most}"
    )))
}

/// Returns the translations that CTranslate2 gives in addition to the only one of a search: greedy
/// search repeats it for each requested translation. If the prefix fills the translation, all rows
/// of the beam have it, but only the first has its score.
fn repeated_translations(
    example: &Example,
    options: &DecodingOptions,
    translations: &[Translation],
) -> Vec<Translation> {
    let [only] = translations else { return Vec::new() };
    let forces_prefix = options.prefix_bias_beta == 0.0 && !options.return_alternatives;
    let is_full = forces_prefix && example.prefix.len() >= options.max_decoding_length;
    let is_greedy = forces_prefix && options.beam_size == 1;
    let (rows, lost_score) = if is_greedy && (is_full || !options.is_sampling()) {
        (options.num_hypotheses, 0.0)
    } else if is_full {
        (options.num_hypotheses.min(options.beam_size), LOST_SCORE)
    } else {
        return Vec::new();
    };
    let mut again = only.clone();
    if lost_score != 0.0 {
        again.score += lost_score / (only.tokens.len() as f32).powf(options.length_penalty);
    }
    vec![again; rows.saturating_sub(1)]
}

/// Cuts ids to `length`, unless it is 0. EOS at the end stays, alone or with a language token after
/// it.
fn cut_keeping_end(ids: &mut Vec<u32>, length: usize, eos: u32) {
    if length == 0 || ids.len() <= length {
        return;
    }
    let (last, before) = (ids[ids.len() - 1], ids[ids.len() - 2]);
    ids.truncate(length);
    if last == eos {
        ids[length - 1] = eos;
    } else if before == eos && length >= 2 {
        ids[length - 2] = eos;
        ids[length - 1] = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_source_stays() {
        let cut = |ids: &[u32], length| {
            let mut ids = ids.to_vec();
            cut_keeping_end(&mut ids, length, 9);
            ids
        };
        assert_eq!(cut(&[1, 2, 3, 9], 3), [1, 2, 9]);
        assert_eq!(cut(&[1, 2, 3, 9, 7], 3), [1, 9, 7]);
        assert_eq!(cut(&[1, 2, 3, 9, 7], 1), [1]);
        assert_eq!(cut(&[1, 2, 3], 2), [1, 2]);
        assert_eq!(cut(&[1, 2, 3], 0), [1, 2, 3]);
        assert_eq!(cut(&[1, 2, 3], 3), [1, 2, 3]);
    }
}
