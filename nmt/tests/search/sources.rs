//! Sources of sentences that observe tokens, fail, or cancel sentences during translation.

use super::*;

/// Source that keeps reported tokens by sentence and sample. It ends a translation after `most`
/// tokens.
struct TokenReports {
    jobs: Option<Vec<Job>>,
    most: usize,
    tokens: BTreeMap<(u64, u32), Vec<GeneratedToken>>,
    results: BTreeMap<u64, Vec<Translation>>,
}

impl JobSource for TokenReports {
    fn next_jobs(&mut self) -> miriam_nmt::Result<Option<Vec<Job>>> {
        Ok(self.jobs.take())
    }

    fn token(&mut self, id: u64, token: GeneratedToken) -> bool {
        let tokens = self.tokens.entry((id, token.sample_index)).or_default();
        tokens.push(token);
        tokens.len() >= self.most
    }

    fn finish(
        &mut self,
        id: u64,
        result: miriam_nmt::Result<Vec<Translation>>,
    ) -> miriam_nmt::Result<()> {
        self.results.insert(id, result?);
        Ok(())
    }
}

#[test]
fn reported_tokens_are_those_of_translations_and_can_end_them() {
    let sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, epsilon: 0.0 };
    let greedy = SearchOptions {
        beam_size: 1,
        n_best: 1,
        semantics: DecodingSemantics::CTranslate2,
        report_tokens: true,
        ..options()
    };
    let sampled = SearchOptions { sampling: Some(sampling), seed: 9, n_best: 3, ..greedy.clone() };
    for (options, most) in [(&greedy, 100), (&greedy, 2), (&sampled, 100), (&sampled, 2)] {
        let mut numbers = Xorshift::new(3);
        let request = |_| random_request(&mut numbers, 12);
        let requests: Vec<Request> = (0..20).map(request).collect();
        let sentences = requests.into_iter().filter(|request| request.candidates.is_none());
        let jobs: Vec<Job> =
            (0..).zip(sentences).map(|(id, request)| Job { id, request }).collect();
        let mut source = TokenReports {
            jobs: Some(jobs),
            most,
            tokens: BTreeMap::new(),
            results: BTreeMap::new(),
        };
        let batching = BatchingOptions { max_sentences: 4, ..BatchingOptions::default() };
        let mut session = RandomSession::new(model(6));
        translate_batches(&mut session, options, &batching, &mut source).unwrap();
        assert_eq!(session.open_sentences(), 0);
        assert!(source.results.len() > 5);
        for (id, translations) in &source.results {
            let mut found: Vec<(Vec<u32>, Vec<f32>)> = Vec::new();
            for (_, tokens) in source.tokens.iter().filter(|((of, _), _)| of == id) {
                assert!(tokens.len() <= most);
                assert!((0..).zip(tokens).all(|(step, token)| token.step == step));
                let ended: Vec<bool> = tokens.iter().map(|token| token.is_last).collect();
                assert!(!ended[..ended.len() - 1].contains(&true));
                assert!(tokens.len() == most || ended.last() == Some(&true));
                found.push(tokens.iter().map(|token| (token.token, token.score)).unzip());
            }
            let expected = translations.iter().map(|translation| {
                let tokens = translation.tokens.iter().copied().chain(translation.end_token);
                (tokens.collect::<Vec<u32>>(), translation.token_scores.clone())
            });
            let mut expected: Vec<_> = expected.collect();
            let order = |a: &(Vec<u32>, Vec<f32>), b: &(Vec<u32>, Vec<f32>)| {
                a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap())
            };
            found.sort_by(order);
            expected.sort_by(order);
            // Tokens of a prefix are reported for every sample. If a translation ends within its
            // prefix, there is only one translation.
            found.dedup_by(|a, b| a == b && expected.len() == 1);
            assert_eq!(found, expected, "{id}");
        }
    }
}

/// Source that fails when it is asked for jobs, or when it gets translations.
struct FailingSource {
    jobs: Option<Vec<Job>>,
}

fn stop() -> miriam_nmt::Error {
    miriam_nmt::Error::Untranslatable { reason: "stop".into() }
}

impl JobSource for FailingSource {
    fn next_jobs(&mut self) -> miriam_nmt::Result<Option<Vec<Job>>> {
        self.jobs.take().map(Some).ok_or_else(stop)
    }

    fn finish(
        &mut self,
        _: u64,
        _: miriam_nmt::Result<Vec<Translation>>,
    ) -> miriam_nmt::Result<()> {
        Err(stop())
    }
}

#[test]
fn an_error_of_the_source_stops_translation() {
    let mut session = RandomSession::new(model(3));
    let mut numbers = Xorshift::new(1);
    let request = || random_request(&mut numbers, 12);
    let requests: Vec<Request> = std::iter::repeat_with(request).take(9).collect();
    let jobs = (0..).zip(requests).map(|(id, request)| Job { id, request }).collect();
    let batching = BatchingOptions { max_sentences: 4, ..BatchingOptions::default() };
    for jobs in [Some(jobs), None] {
        let mut source = FailingSource { jobs };
        let error =
            translate_batches(&mut session, &options(), &batching, &mut source).unwrap_err();
        assert!(error.to_string().contains("stop"));
        assert_eq!(session.open_sentences(), 0);
    }
}

/// Source that cancels some sentences after a number of steps.
struct FickleSource<'a> {
    portions: Portions<'a>,
    steps_left: BTreeMap<u64, usize>,
}

impl JobSource for FickleSource<'_> {
    fn next_jobs(&mut self) -> miriam_nmt::Result<Option<Vec<Job>>> {
        self.portions.next_jobs()
    }

    fn is_wanted(&mut self, id: u64) -> bool {
        let Some(left) = self.steps_left.get_mut(&id) else { return true };
        let is_wanted = *left > 0;
        *left = left.saturating_sub(1);
        is_wanted
    }

    fn finish(
        &mut self,
        id: u64,
        result: miriam_nmt::Result<Vec<Translation>>,
    ) -> miriam_nmt::Result<()> {
        self.portions.finish(id, result)
    }
}

/// Cancelled sentences are dropped at any time, and the others do not change.
#[test]
fn unwanted_sentences_are_dropped() {
    for seed in 1..200 {
        let mut numbers = Xorshift::new(seed);
        let requests = (0..12).map(|_| random_request(&mut numbers, 12)).collect::<Vec<_>>();
        let jobs: Vec<Job> = (0..).zip(requests).map(|(id, request)| Job { id, request }).collect();
        let batching = BatchingOptions {
            max_sentences: 1 + numbers.below(6),
            top_up: numbers.below(2) == 0,
            ..BatchingOptions::default()
        };
        let mut session = RandomSession::new(model(3));
        let all = translate_jobs(&mut session, &options(), &batching, &jobs);
        let steps_left: BTreeMap<u64, usize> =
            (0..12).filter(|id| id % 3 == 1).map(|id| (id, numbers.below(4))).collect();
        let unwanted = steps_left.clone();
        let portions = Portions { jobs: jobs.chunks(3), results: Results::new() };
        let mut source = FickleSource { portions, steps_left };
        translate_batches(&mut session, &options(), &batching, &mut source).unwrap();
        assert_eq!(session.open_sentences(), 0);
        let found = source.portions.results;
        for (id, result) in &all {
            match unwanted.get(id) {
                None => assert_eq!(found.get(id), Some(result), "seed {seed}, sentence {id}"),
                Some(0) => assert!(!found.contains_key(id), "seed {seed}, sentence {id}"),
                Some(_) => {}
            }
        }
    }
}
