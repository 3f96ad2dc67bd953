//! Beam search against a naive reference over random models, and independence of batches.

mod batching;
mod fusion;
mod random;
mod reference;
mod sources;

use std::collections::BTreeMap;

use miriam_nmt::batch::{BatchingOptions, Job, JobSource, translate_batches};
use miriam_nmt::network::{Ensemble, Session};
use miriam_nmt::search::{
    DecodingSemantics, EarlyStopping, GeneratedToken, PrefixRole, Request, Sampling, SearchOptions,
    Translation,
};
use random::{RandomModel, RandomSession, UNREADABLE_TOKEN, Xorshift};

type Results = BTreeMap<u64, Result<Vec<Translation>, String>>;

fn options() -> SearchOptions {
    SearchOptions {
        beam_size: 4,
        n_best: 4,
        length_penalty: 0.6,
        max_length_factor: 3.0,
        max_length: 1000,
        suppress_tokens: vec![1],
        ..SearchOptions::default()
    }
}

fn model(seed: u64) -> RandomModel {
    RandomModel { seed, vocabulary_size: 12, logit_step: 0.0, eos_logit_bias: 1.0 }
}

fn request_for(words: &[u32]) -> Request {
    let source = words.iter().copied().chain([0]).collect();
    Request { source, ..Request::default() }
}

/// Jobs in portions of three, and the result of each.
struct Portions<'a> {
    jobs: std::slice::Chunks<'a, Job>,
    results: Results,
}

impl JobSource for Portions<'_> {
    fn next_jobs(&mut self) -> miriam_nmt::Result<Option<Vec<Job>>> {
        Ok(self.jobs.next().map(<[Job]>::to_vec))
    }

    fn finish(
        &mut self,
        id: u64,
        result: miriam_nmt::Result<Vec<Translation>>,
    ) -> miriam_nmt::Result<()> {
        let before = self.results.insert(id, result.map_err(|error| error.to_string()));
        assert!(before.is_none(), "{id} is done once");
        Ok(())
    }
}

/// Translates all jobs, portion by portion.
fn translate_jobs(
    session: &mut dyn Session,
    options: &SearchOptions,
    batching: &BatchingOptions,
    jobs: &[Job],
) -> Results {
    let mut source = Portions { jobs: jobs.chunks(3), results: Results::new() };
    translate_batches(session, options, batching, &mut source).unwrap();
    source.results
}

fn translate(model: RandomModel, options: &SearchOptions, request: &Request) -> Vec<Translation> {
    let mut session = RandomSession::new(model);
    let jobs = [Job { id: 5, request: request.clone() }];
    let mut results = translate_jobs(&mut session, options, &BatchingOptions::default(), &jobs);
    assert_eq!(session.open_sentences(), 0, "all slots are finished");
    results.remove(&5).unwrap().unwrap()
}

fn random_request(numbers: &mut Xorshift, words: usize) -> Request {
    let length = 1 + numbers.below(5);
    let source: Vec<u32> = (0..length).map(|_| 2 + numbers.below(90) as u32).collect();
    let mut request = request_for(&source);
    let word = |numbers: &mut Xorshift| 1 + numbers.below(words - 1) as u32;
    if numbers.below(3) == 0 {
        request.prefix = (0..numbers.below(4)).map(|_| word(numbers)).collect();
    }
    if numbers.below(3) == 0 {
        let mut list: Vec<u32> = (0..words / 2).map(|_| word(numbers)).collect();
        list.sort_unstable();
        list.dedup();
        request.candidates = Some(list);
    }
    request
}

fn random_options(numbers: &mut Xorshift) -> SearchOptions {
    let beam = 1 + numbers.below(6);
    let rules = numbers.choose(&[DecodingSemantics::Marian, DecodingSemantics::CTranslate2]);
    let options = SearchOptions {
        beam_size: beam,
        n_best: 1 + numbers.below(beam),
        length_penalty: numbers.choose(&[0.0, 0.6, 1.0]),
        word_penalty: numbers.choose(&[0.0, 0.0, 0.3]),
        coverage_penalty: numbers.choose(&[0.0, 0.0, 0.2]),
        max_length_factor: numbers.choose(&[1.0, 1.5, 2.0, f32::INFINITY]),
        max_length: 3 + numbers.below(8),
        min_length: numbers.choose(&[0, 0, 1, 3]),
        semantics: rules,
        patience: numbers.choose(&[1.0, 1.0, 2.0, 0.5]),
        early_stop_margin: numbers.choose(&[None, None, Some(1.0)]),
        no_repeat_ngram_size: numbers.choose(&[0, 0, 1, 2, 3]),
        repetition_penalty: numbers.choose(&[1.0, 1.0, 1.3, 0.7]),
        suppress_tokens: numbers
            .choose(&[&[][..], &[1, u32::MAX], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]])
            .to_vec(),
        eos_id: 0,
        sampling: None,
        return_alignments: numbers.below(2) == 0,
        skip_cost: numbers.below(4) == 0,
        ..SearchOptions::default()
    };
    let early_stopping = match (options.max_length + options.n_best) % 5 {
        0 => Some(EarlyStopping::True),
        1 => Some(EarlyStopping::False),
        2 => Some(EarlyStopping::Never),
        _ => None,
    };
    SearchOptions { early_stopping, ..options }
}

/// Sets options that only some callers set: limits on tokens, and the role of a prefix.
fn with_token_options(options: SearchOptions, numbers: &mut Xorshift) -> SearchOptions {
    SearchOptions {
        repeated_start: options.max_length.is_multiple_of(2).then_some(5),
        end_tokens: numbers.choose(&[&[][..], &[3], &[0, 4]]).to_vec(),
        suppress_sequences: numbers
            .choose(&[&[][..], &[&[2, 3][..], &[5, 4]], &[&[6, 2, 7], &[3, 0]]])
            .iter()
            .map(|sequence| sequence.to_vec())
            .collect(),
        prefix_role: numbers.choose(&[
            PrefixRole::Beginning,
            PrefixRole::CutBeginning,
            PrefixRole::Context,
        ]),
        max_new_tokens: numbers.choose(&[usize::MAX, usize::MAX, 1, 3]),
        ..options
    }
}

fn assert_near(found: &[Translation], expected: &[Translation], tolerance: f32, case: &str) {
    let words = |list: &[Translation]| -> Vec<Vec<u32>> {
        list.iter().map(|translation| translation.tokens.clone()).collect()
    };
    assert_eq!(words(found), words(expected), "{case}");
    for (found, expected) in found.iter().zip(expected) {
        let near = |a: f32, b: f32| a == b || (a - b).abs() <= tolerance;
        assert!(near(found.score, expected.score), "{case}: {found:?} {expected:?}");
        assert!(near(found.log_probability, expected.log_probability), "{case}");
        let lm_scores = [found, expected].map(|one| one.lm_log_probability);
        assert_eq!(
            lm_scores.map(|score| score.is_some()),
            [expected.lm_log_probability.is_some(); 2]
        );
        let [found_lm, expected_lm] = lm_scores.map(Option::unwrap_or_default);
        assert!(near(found_lm, expected_lm), "{case}: {found_lm} for {expected_lm}");
        assert_eq!(found.token_scores.len(), expected.token_scores.len(), "{case}");
        let mut pairs = found.token_scores.iter().zip(&expected.token_scores);
        assert!(pairs.all(|(a, b)| near(*a, *b)), "{case}: {found:?} {expected:?}");
        assert_eq!(found.alignment, expected.alignment, "{case}");
        assert_eq!(found.end_token, expected.end_token, "{case}");
    }
}

#[test]
fn beam_search_matches_reference() {
    for seed in 0..1500 {
        let mut numbers = Xorshift::new(seed);
        let words = numbers.choose(&[14, 30, 600]);
        let mut options = random_options(&mut numbers);
        if seed % 2 == 1 {
            options = with_token_options(options, &mut numbers);
        }
        // The order of equal scores is exact only if nothing is recomputed.
        let exact = numbers.below(2) == 0;
        if exact {
            options.repetition_penalty = 1.0;
            options.semantics = DecodingSemantics::Marian;
        }
        let grain = if exact && numbers.below(2) == 0 { 1.0 } else { 0.0 };
        let model = RandomModel {
            seed,
            vocabulary_size: words,
            logit_step: grain,
            eos_logit_bias: numbers.choose(&[0.0, 1.5]),
        };
        let request = random_request(&mut numbers, words);
        let expected = reference::translate(&model, &request, &options);
        let mut session = RandomSession::new(model);
        let jobs = [Job { id: 5, request: request.clone() }];
        let results = translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
        let case = format!("{seed}: {request:?} {options:?} {model:?}");
        match &results[&5] {
            Ok(found) => assert_near(found, &expected, if exact { 0.0 } else { 3e-5 }, &case),
            Err(_) => assert!(expected.is_empty(), "{case}: {expected:?}"),
        }
        assert_eq!(session.open_sentences(), 0, "{case}");
    }
}

#[test]
fn favoured_prefixes_match_reference() {
    let mut followed = [0; 2];
    for seed in 0..900 {
        let mut numbers = Xorshift::new(seed);
        let words = numbers.choose(&[14, 30]);
        let options = SearchOptions {
            prefix_bias: Some(numbers.choose(&[0.05, 0.3, 0.7, 0.999_999])),
            semantics: DecodingSemantics::CTranslate2,
            skip_cost: false,
            min_length: numbers.choose(&[0, 1]),
            // With no token left there are no probabilities to mix.
            suppress_tokens: numbers.choose(&[&[][..], &[1, 4, 5]]).to_vec(),
            prefix_role: PrefixRole::CutBeginning,
            // No prefix is cut: the search adds all tokens of a prefix to the shortlist, but the
            // reference adds only the tokens that remain of a cut prefix.
            max_length_factor: f32::INFINITY,
            ..random_options(&mut numbers)
        };
        let model =
            RandomModel { seed, vocabulary_size: words, logit_step: 0.0, eos_logit_bias: 0.5 };
        let prefix = (0..1 + numbers.below(3)).map(|_| 1 + numbers.below(words - 1) as u32);
        let request = Request { prefix: prefix.collect(), ..random_request(&mut numbers, words) };
        let expected = reference::translate(&model, &request, &options);
        let jobs = [Job { id: 5, request: request.clone() }];
        let mut session = RandomSession::new(model);
        let results = translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
        let case = format!("{seed}: {request:?} {options:?}");
        match &results[&5] {
            Ok(found) => {
                assert_near(found, &expected, 3e-5, &case);
                followed[usize::from(found[0].tokens.starts_with(&request.prefix))] += 1;
            }
            Err(_) => assert!(expected.is_empty(), "{case}: {expected:?}"),
        }
    }
    assert!(followed.iter().all(|&count| count > 100), "{followed:?}");
}

#[test]
fn skip_cost_does_not_change_greedy_output() {
    for seed in 0..600 {
        let mut numbers = Xorshift::new(seed);
        let words = numbers.choose(&[14, 30, 600]);
        let options = SearchOptions { beam_size: 1, n_best: 1, ..random_options(&mut numbers) };
        let grain = numbers.choose(&[0.0, 1.0]);
        let model = RandomModel {
            seed,
            vocabulary_size: words,
            logit_step: grain,
            eos_logit_bias: numbers.choose(&[0.0, 1.5]),
        };
        let request = random_request(&mut numbers, words);
        let words = |skip_cost| {
            let options = SearchOptions { skip_cost, ..options.clone() };
            let jobs = [Job { id: 5, request: request.clone() }];
            let mut session = RandomSession::new(model);
            let found = translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
            found[&5].as_ref().ok().map(|found| found[0].tokens.clone())
        };
        assert_eq!(words(true), words(false), "{seed}: {request:?} {options:?} {model:?}");
    }
}

#[test]
fn long_sentences_match_reference() {
    for (seed, rules) in [(1, DecodingSemantics::Marian), (2, DecodingSemantics::CTranslate2)] {
        let options = SearchOptions {
            beam_size: 6,
            n_best: 6,
            max_length: 700,
            max_length_factor: f32::INFINITY,
            min_length: 450,
            no_repeat_ngram_size: 4,
            return_alignments: true,
            semantics: rules,
            ..options()
        };
        let model = RandomModel { seed, vocabulary_size: 10, logit_step: 0.0, eos_logit_bias: 1.0 };
        let request = request_for(&[3; 40]);
        let expected = reference::translate(&model, &request, &options);
        assert!(expected[0].tokens.len() >= 450);
        assert_near(&translate(model, &options, &request), &expected, 1e-3, "long");
    }
}

/// Returns all translations, best first: those that end within `limit` tokens, and those cut there.
fn enumerate_translations(
    model: &RandomModel,
    request: &Request,
    limit: usize,
) -> Vec<(f32, Vec<u32>)> {
    let mut all = Vec::new();
    let mut open = vec![(0.0f32, Vec::new())];
    for step in 1..=limit {
        let mut longer = Vec::new();
        for (total, words) in open {
            let logits = model.logits(&request.source, &words);
            let normalizer = random::log_sum_exp(&logits);
            for (word, logit) in (0..).zip(logits) {
                let total = total + (logit - normalizer);
                let mut words = words.clone();
                if word == 0 {
                    all.push((total, words));
                } else {
                    words.push(word);
                    let list = if step == limit { &mut all } else { &mut longer };
                    list.push((total, words));
                }
            }
        }
        open = longer;
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

fn contains_phrase(words: &[u32], constraint: &[u32]) -> bool {
    words.windows(constraint.len()).any(|window| window == constraint)
}

#[test]
fn an_exhaustive_beam_finds_the_global_optimum() {
    for seed in 0..20 {
        let model = RandomModel { seed, vocabulary_size: 5, logit_step: 0.0, eos_logit_bias: 0.5 };
        let mut request = request_for(&[2, 3]);
        let all = SearchOptions {
            beam_size: 2000,
            n_best: 5,
            length_penalty: 0.0,
            max_length: 4,
            suppress_tokens: vec![],
            ..options()
        };
        let expected = enumerate_translations(&model, &request, 4);
        let found = translate(model, &all, &request);
        for (found, (total, words)) in found.iter().zip(&expected) {
            assert_eq!((&found.tokens, found.log_probability), (words, *total), "{seed}");
        }
        request.constraints = vec![vec![3, 2], vec![4]];
        let expected: Vec<_> = expected
            .iter()
            .filter(|(_, words)| contains_phrase(words, &[3, 2]) && contains_phrase(words, &[4]))
            .collect();
        let found = translate(model, &all, &request);
        assert_eq!(found.len(), 5);
        for (found, (total, words)) in found.iter().zip(expected) {
            assert_eq!((&found.tokens, found.log_probability), (words, *total), "{seed}");
        }
    }
}

#[test]
fn every_translation_has_its_constraints() {
    for seed in 0..300 {
        let mut numbers = Xorshift::new(seed + 77);
        let words = 14;
        let mut request = random_request(&mut numbers, words);
        for _ in 0..=numbers.below(4) {
            let length = 1 + numbers.below(3);
            let constraint = (0..length).map(|_| 2 + numbers.below(words - 2) as u32).collect();
            request.constraints.push(constraint);
        }
        let options = SearchOptions { no_repeat_ngram_size: 0, ..random_options(&mut numbers) };
        let model =
            RandomModel { seed, vocabulary_size: words, logit_step: 0.0, eos_logit_bias: 3.0 };
        let found = translate(model, &options, &request);
        assert!(!found.is_empty());
        for translation in &found {
            let words = &translation.tokens;
            assert!(words.starts_with(&request.prefix), "{seed}");
            for constraint in &request.constraints {
                assert!(
                    contains_phrase(words, constraint),
                    "{seed}: {words:?} {constraint:?} {options:?}"
                );
            }
        }
    }
}

#[test]
fn nan_logits_are_an_error() {
    let broken = RandomModel { eos_logit_bias: f32::NAN, ..model(1) };
    for (beam, skip_cost) in [(4, false), (1, false), (1, true)] {
        let options = SearchOptions { beam_size: beam, n_best: 1, skip_cost, ..options() };
        let mut session = RandomSession::new(broken);
        let jobs = [Job { id: 1, request: request_for(&[5, 6]) }];
        let results = translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
        let error = results[&1].as_ref().unwrap_err();
        assert!(error.contains("are not finite"), "{error}");
    }
}

#[test]
fn samples_depend_on_seed_sentence_and_index_only() {
    let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, epsilon: 0.0 };
    let drawn = |seed, number, n_best| {
        let options = SearchOptions { sampling: Some(sampling), seed, n_best, ..options() };
        let mut session = RandomSession::new(model(9));
        let jobs = [Job { id: 5, request: Request { number, ..request_for(&[3, 4, 5]) } }];
        let mut results =
            translate_jobs(&mut session, &options, &BatchingOptions::default(), &jobs);
        results.remove(&5).unwrap().unwrap()
    };
    let first = drawn(1, 0, 6);
    assert_eq!(first.len(), 6);
    assert_eq!(first, drawn(1, 0, 6));
    assert!(first != drawn(2, 0, 6) && first != drawn(1, 1, 6));
    let mut different: Vec<_> = first.iter().map(|translation| &translation.tokens).collect();
    different.sort();
    different.dedup();
    assert!(different.len() > 3, "{different:?}");
    // A single sample is the first of several.
    assert!(first.contains(&drawn(1, 0, 1)[0]));
    let cold = Some(Sampling { top_k: 1, ..sampling });
    let greedy = SearchOptions { beam_size: 1, n_best: 1, ..options() };
    let sampled = SearchOptions { sampling: cold, ..greedy.clone() };
    let request = request_for(&[3, 4, 5]);
    let greedy = translate(model(9), &greedy, &request);
    assert_eq!(translate(model(9), &sampled, &request), greedy);
}

#[test]
fn an_ensemble_sums_logarithms_of_probabilities() {
    let (a, b) = (model(21), model(22));
    let member = |model| -> Box<dyn Session> { Box::new(RandomSession::new(model)) };
    let jobs: Vec<Job> =
        (0..20).map(|id| Job { id, request: request_for(&[2 + id as u32, 5]) }).collect();
    let batching = BatchingOptions { max_sentences: 7, top_up: true, ..BatchingOptions::default() };
    let translated = |weights: Option<&[f32]>, models: &[RandomModel]| {
        let members = models.iter().map(|&model| member(model)).collect();
        let mut ensemble = Ensemble::new(members, weights).unwrap();
        translate_jobs(&mut ensemble, &options(), &batching, &jobs)
    };
    let alone = translate_jobs(&mut RandomSession::new(a), &options(), &batching, &jobs);
    let with_none = translated(Some(&[1.0, 0.0]), &[a, b]);
    let doubled = translated(None, &[a, a]);
    for (id, alone) in &alone {
        let (alone, with_none) = (alone.as_ref().unwrap(), with_none[id].as_ref().unwrap());
        assert_near(with_none, alone, 1e-5, "a weight of 0");
        assert_near(doubled[id].as_ref().unwrap(), alone, 1e-5, "twice the same");
    }
    // Greedy search by hand.
    let options = SearchOptions { beam_size: 1, n_best: 1, length_penalty: 0.0, ..options() };
    let members = vec![member(a), member(b)];
    let mut ensemble = Ensemble::new(members, Some(&[1.0, 0.5])).unwrap();
    let results = translate_jobs(&mut ensemble, &options, &batching, &jobs);
    for job in &jobs {
        let source = &job.request.source;
        let (mut words, mut total) = (Vec::new(), 0.0f32);
        for _ in 0..3 * source.len() {
            let scores = [a, b].map(|model| {
                let logits = model.logits(source, &words);
                let normalizer = random::log_sum_exp(&logits);
                logits.iter().map(|logit| logit - normalizer).collect::<Vec<f32>>()
            });
            let score = |word: usize| scores[0][word] + 0.5 * scores[1][word];
            let better = |x: &usize, y: &usize| score(*x).total_cmp(&score(*y));
            let best = (0..12).filter(|word| *word != 1).max_by(better).unwrap();
            total += score(best);
            words.push(best as u32);
            if best == 0 {
                words.pop();
                break;
            }
        }
        let found = &results[&job.id].as_ref().unwrap()[0];
        assert_eq!(found.tokens, words);
        assert!((found.log_probability - total).abs() < 1e-4);
    }
    assert!(Ensemble::new(vec![], None).is_err());
    assert!(Ensemble::new(vec![member(a)], Some(&[1.0, 2.0])).is_err());
    let larger = RandomModel { vocabulary_size: 13, ..a };
    assert!(Ensemble::new(vec![member(a), member(larger)], None).is_err());
}
