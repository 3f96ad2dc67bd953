//! Naive beam search: hypotheses are plain lists of tokens. At every step, every token after every
//! hypothesis is a candidate, and all candidates are sorted.

use miriam_nmt::search::{
    DecodingSemantics, EarlyStopping, PrefixRole, Request, SearchOptions, Translation,
};

use super::fusion::LmReference;
use super::random::{RandomModel, log_sum_exp};

/// The score of a row that is lost because it would have ended directly after a prefix
/// (CTranslate2).
const LOST: f32 = -1e10;

#[derive(Clone)]
struct Hypothesis {
    tokens: Vec<u32>,
    token_scores: Vec<f32>,
    total: f32,
    lm_log_probability: f32,
}

/// Returns the translations of one sentence, best first.
pub fn translate(
    model: &RandomModel,
    request: &Request,
    options: &SearchOptions,
) -> Vec<Translation> {
    translate_with_lm(model, request, options, None)
}

/// Returns the translations of one sentence, best first, by the model and the language model.
pub fn translate_with_lm(
    model: &RandomModel,
    request: &Request,
    options: &SearchOptions,
    lm: Option<&dyn LmReference>,
) -> Vec<Translation> {
    let source = &request.source;
    let limit = (options.max_length_factor * source.len() as f32).ceil() as usize;
    let limit = limit.min(options.max_length).max(1);
    let mut request = request.clone();
    let limit = match options.prefix_role {
        PrefixRole::Beginning => limit.max(request.prefix.len() + 1).min(options.max_length.max(1)),
        PrefixRole::CutBeginning | PrefixRole::Context => {
            request.prefix.truncate(limit);
            limit
        }
    };
    let prefix = forced_prefix(&request, options).to_vec();
    let limit = limit.min(prefix.len().saturating_add(options.max_new_tokens)).max(1);
    let request = &request;
    // For each place of the beam, whether its hypothesis has left the favoured tokens. As in
    // CTranslate2, the flag belongs to the place, whichever hypothesis takes the place.
    let mut has_diverged = vec![false; options.beam_size];
    let mut places = vec![0];
    let mut width = options.beam_size;
    let mut best_ended = false;
    let mut live = vec![Hypothesis {
        tokens: vec![],
        token_scores: vec![],
        total: 0.0,
        lm_log_probability: 0.0,
    }];
    let mut ended: Vec<Hypothesis> = Vec::new();
    for step in 0..limit {
        let mut all = Vec::new();
        let favoured = request.prefix.get(step).filter(|_| step >= prefix.len());
        for (row, hypothesis) in live.iter().enumerate() {
            let (logits, mut scores) = token_scores(model, request, options, &hypothesis.tokens);
            if let (Some(bias), Some(&favoured)) = (options.prefix_bias, favoured)
                && !has_diverged[places[row]]
            {
                for (word, score) in (0..).zip(&mut scores) {
                    let gained = if word == favoured { bias } else { 0.0 };
                    *score = ((1.0 - bias) * score.exp() + gained).ln();
                }
            }
            for (word, score) in scores.into_iter().enumerate() {
                let forced = prefix.get(step);
                if forced.is_none() && score == f32::NEG_INFINITY
                    || forced.is_some_and(|&forced| forced as usize != word)
                {
                    continue;
                }
                let free = options.semantics == DecodingSemantics::CTranslate2 && forced.is_some();
                let score = if free { 0.0 } else { score };
                let ends = forced.is_none() && is_end(options, word as u32);
                let gained = lm.map(|lm| lm.score_next(&hypothesis.tokens, word as u32, ends));
                let rank = score + lm.map_or(0.0, |lm| lm.weight()) * gained.unwrap_or(0.0);
                // Without a language model, raw logits decide, so that rounding makes no ties. The
                // total of a lost row is so low that all its candidates have this total.
                let is_lost = hypothesis.total <= LOST;
                let order = if lm.is_some() || is_lost { rank } else { logits[word] };
                let gained = gained.unwrap_or(0.0);
                all.push((hypothesis.total + rank, row, order, word as u32, score, gained));
            }
        }
        all.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3))
        });
        if all.is_empty() {
            if ended.is_empty() && step > 0 {
                ended = live;
            }
            break;
        }
        let last = step + 1 == limit;
        let room = width;
        let mut next = Vec::new();
        if options.semantics == DecodingSemantics::CTranslate2 {
            all.truncate(2 * room);
            let is_context = options.prefix_role == PrefixRole::Context;
            if step == prefix.len() && step > 0 && !is_context {
                // Other candidates that would end become lost rows.
                for candidate in &mut all[1..] {
                    if is_end(options, candidate.3) {
                        let gained =
                            lm.map(|lm| lm.score_next(&live[0].tokens, 0, is_end(options, 0)));
                        *candidate = (LOST, 0, LOST, 0, LOST, gained.unwrap_or(0.0));
                    }
                }
            }
        } else {
            all.truncate(room);
        }
        if step >= prefix.len() {
            for (has_diverged, candidate) in has_diverged.iter_mut().zip(&all) {
                *has_diverged |= favoured != Some(&candidate.3);
            }
        }
        let (mut free_places, mut next_places) = (Vec::new(), Vec::new());
        for (place, &(total, row, _, word, score, gained)) in all.iter().enumerate() {
            let mut hypothesis = live[row].clone();
            hypothesis.tokens.push(word);
            hypothesis.token_scores.push(score);
            hypothesis.total = total;
            hypothesis.lm_log_probability += gained;
            let ends = is_end(options, word) && step >= prefix.len();
            if ends || last {
                if place < room {
                    free_places.push(place);
                    best_ended |= place == 0;
                    ended.push(hypothesis);
                    width -= usize::from(options.semantics == DecodingSemantics::Marian);
                }
            } else if next.len() < room {
                next.push(hypothesis);
                next_places.push(if place < room { place } else { free_places.remove(0) });
            }
        }
        let ct2_without_lm = options.semantics == DecodingSemantics::CTranslate2 && lm.is_none();
        if ct2_without_lm && options.end_tokens.len() > 1 && !last {
            // Hypotheses that have ended continue where no other one takes their place.
            next.extend_from_slice(&ended[ended.len() - free_places.len()..]);
            next_places.append(&mut free_places);
        }
        live = next;
        places = next_places;
        let enough = match options.semantics {
            DecodingSemantics::Marian => false,
            DecodingSemantics::CTranslate2
                if options.early_stopping.is_some()
                    && (options.beam_size > 1 || options.prefix_bias.is_some()) =>
            {
                ends_early(model, request, options, (&live, &mut ended), limit)
            }
            DecodingSemantics::CTranslate2
                if options.length_penalty == 0.0 && options.coverage_penalty == 0.0 =>
            {
                best_ended && ended.len() >= options.n_best
            }
            DecodingSemantics::CTranslate2
                if options.beam_size == 1 && options.prefix_bias.is_none() =>
            {
                !ended.is_empty()
            }
            DecodingSemantics::CTranslate2 => {
                ended.len() >= (options.beam_size as f32 * options.patience).round() as usize
            }
        };
        // The rules of `transformers` have removed hypotheses before.
        let best = |list: &[Hypothesis]| list.iter().map(|h| h.total).fold(f32::MIN, f32::max);
        let trails =
            options.early_stop_margin.is_some_and(|margin| best(&live) < best(&ended) - margin);
        if live.is_empty() || !ended.is_empty() && (trails || enough) {
            break;
        }
    }
    let finished = ended.into_iter().map(|hypothesis| {
        let sums =
            lm.map(|_| (hypothesis.token_scores.iter().sum(), hypothesis.lm_log_probability));
        let found = translation(model, request, options, hypothesis);
        match sums {
            Some((log_probability, lm_log_probability)) => Translation {
                log_probability,
                lm_log_probability: Some(lm_log_probability),
                ..found
            },
            None => found,
        }
    });
    let mut finished: Vec<Translation> = finished.collect();
    finished.sort_by(|a, b| b.score.total_cmp(&a.score));
    finished.truncate(options.n_best);
    finished
}

/// Whether a search for translations of at most `limit` tokens ends by the rule of `transformers`.
/// Removes hypotheses from `ended` that are not among the best.
fn ends_early(
    model: &RandomModel,
    request: &Request,
    options: &SearchOptions,
    (live, ended): (&[Hypothesis], &mut Vec<Hypothesis>),
    limit: usize,
) -> bool {
    let most = (options.beam_size as f32 * options.patience).round() as usize;
    let score = |ended: &Hypothesis| translation(model, request, options, ended.clone()).score;
    ended.sort_by(|a, b| score(b).total_cmp(&score(a)));
    ended.truncate(most);
    if ended.len() < most || live.is_empty() {
        return false;
    }
    let length = match options.early_stopping {
        Some(EarlyStopping::True) => return true,
        Some(EarlyStopping::Never) if options.length_penalty > 0.0 => limit,
        _ => live.first().map_or(0, |hypothesis| hypothesis.tokens.len()),
    };
    let length = (length - context_length(request, options)) as f32;
    let best = live.iter().map(|h| h.total).fold(f32::MIN, f32::max);
    let best = (best - options.word_penalty * length) / length.powf(options.length_penalty);
    ended.iter().all(|ended| best <= score(ended))
}

/// Whether a token ends a translation.
fn is_end(options: &SearchOptions, word: u32) -> bool {
    match &options.end_tokens[..] {
        [] => word == options.eos_id,
        ends => ends.contains(&word),
    }
}

/// Returns the tokens of the prefix if they are forced.
fn forced_prefix<'r>(request: &'r Request, options: &SearchOptions) -> &'r [u32] {
    if options.prefix_bias.is_some() { &[] } else { &request.prefix }
}

/// Returns the number of tokens that are only context before a translation.
fn context_length(request: &Request, options: &SearchOptions) -> usize {
    if options.prefix_role == PrefixRole::Context { request.prefix.len() } else { 0 }
}

/// Returns the raw logits, and the log-probabilities with -infinity for suppressed tokens.
fn token_scores(
    model: &RandomModel,
    request: &Request,
    options: &SearchOptions,
    words: &[u32],
) -> (Vec<f32>, Vec<f32>) {
    let candidate = |word: u32| {
        let asked = word == options.eos_id || request.prefix.contains(&word);
        asked || request.candidates.as_ref().is_none_or(|list| list.contains(&word))
    };
    let logits = model.logits(&request.source, words);
    let num_words = words.len();
    let generated = &words[context_length(request, options).min(num_words)..];
    let seen: Vec<u32> = options.repeated_start.iter().chain(generated).copied().collect();
    let n = options.no_repeat_ngram_size;
    let forbidden = |word: u32| {
        let mut longer = seen.clone();
        longer.push(word);
        let repeats = n > 0 && longer.len() >= n && {
            let last = &longer[longer.len() - n..];
            seen.windows(n).any(|window| window == last)
        };
        let early = is_end(options, word) && num_words < options.min_length;
        let completes = options.suppress_sequences.iter().any(|list| longer.ends_with(list));
        repeats || early || completes || options.suppress_tokens.contains(&word)
    };
    let forced = num_words < forced_prefix(request, options).len();
    let mut changed = false;
    let mut all = logits.clone();
    for (word, logit) in (0..).zip(&mut all) {
        if !candidate(word) {
            *logit = f32::NEG_INFINITY;
        } else if !forced
            && options.repetition_penalty != 1.0
            && seen.contains(&word)
            && !forbidden(word)
        {
            changed = true;
            let penalty = options.repetition_penalty;
            *logit = if *logit < 0.0 { *logit * penalty } else { *logit / penalty };
        }
    }
    if options.semantics == DecodingSemantics::CTranslate2 && !forced {
        for (word, logit) in (0..).zip(&mut all) {
            if forbidden(word) {
                changed = true;
                *logit = f32::NEG_INFINITY;
            }
        }
    }
    let sum = if changed {
        let exact: f64 = all.iter().map(|&logit| f64::from(logit).exp()).sum();
        exact.ln() as f32
    } else {
        let candidates = all.iter().copied().filter(|logit| logit.is_finite());
        log_sum_exp(&candidates.collect::<Vec<f32>>())
    };
    let score = |(word, logit): (u32, &f32)| match !forced && forbidden(word) {
        true => f32::NEG_INFINITY,
        // Nothing is left if all tokens are suppressed.
        false if sum == f32::NEG_INFINITY => sum,
        false => logit - sum,
    };
    let raw = options.skip_cost && options.beam_size == 1;
    if raw {
        let score = |(word, logit): (u32, &f32)| {
            if !forced && forbidden(word) { f32::NEG_INFINITY } else { *logit }
        };
        return (logits, (0..).zip(&all).map(score).collect());
    }
    (logits, (0..).zip(&all).map(score).collect())
}

fn translation(
    model: &RandomModel,
    request: &Request,
    options: &SearchOptions,
    hypothesis: Hypothesis,
) -> Translation {
    let source = &request.source;
    let end_token = hypothesis.tokens.last().copied().filter(|&last| is_end(options, last));
    let forced = forced_prefix(request, options).len();
    let end_token = end_token.filter(|_| hypothesis.tokens.len() > forced);
    let by_itself = end_token.is_some();
    let mut words = hypothesis.tokens.clone();
    words.truncate(words.len() - usize::from(by_itself));
    let rows = 0..hypothesis.tokens.len();
    let rows = rows.map(|at| model.attention(source, &hypothesis.tokens[..at]));
    let alignment: Vec<Vec<f32>> = rows.collect();
    let context = context_length(request, options);
    let counted = (hypothesis.tokens.len() - context) as f32;
    let mut score = hypothesis.total - options.word_penalty * counted;
    score /= counted.powf(options.length_penalty);
    if options.coverage_penalty != 0.0 {
        let mut sum = 0.0;
        for at in 0..source.len() {
            let covered: f32 = alignment[context..].iter().map(|row| row[at]).sum();
            if covered > 0.0 {
                sum += covered.min(1.0).ln();
            }
        }
        score += options.coverage_penalty * sum;
    }
    Translation {
        tokens: words,
        token_scores: hypothesis.token_scores,
        log_probability: hypothesis.total,
        lm_log_probability: None,
        score,
        alignment: if options.return_alignments { alignment } else { Vec::new() },
        end_token,
    }
}
