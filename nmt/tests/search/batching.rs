//! Batches, of any size and in any order, do not change results.

use super::*;

fn random_jobs(count: u64, numbers: &mut Xorshift) -> Vec<Job> {
    let request = |id| {
        let mut request = random_request(numbers, 12);
        match numbers.below(12) {
            0 => request.source.clear(),
            1 => request.source.insert(0, UNREADABLE_TOKEN),
            2 => request.prefix.push(0),
            3 => request.constraints = vec![vec![5, 6], vec![7]],
            _ => {}
        }
        Job { id, request }
    };
    (0..count).map(request).collect()
}

fn batching_variants() -> Vec<BatchingOptions> {
    let mut all = Vec::new();
    for (sentences, words) in [(1, 0), (2, 0), (8, 0), (64, 0), (8, 12), (3, 1)] {
        for top_up in [false, true] {
            all.push(BatchingOptions {
                max_sentences: sentences,
                max_source_tokens: words,
                maxi_batch: 1,
                sort_by_length: false,
                top_up,
            });
            all.push(BatchingOptions {
                max_sentences: sentences,
                max_source_tokens: words,
                maxi_batch: 4,
                sort_by_length: true,
                top_up,
            });
        }
    }
    all
}

/// The memory of a device may have room for fewer sentences than the options allow.
#[test]
fn batches_have_no_more_sentences_than_the_session_allows() {
    let jobs = random_jobs(40, &mut Xorshift::new(5));
    let mut largest = None;
    for batching in batching_variants() {
        let mut session = RandomSession::new(model(1));
        let expected = translate_jobs(&mut session, &options(), &batching, &jobs);
        largest = largest.max(session.encoded.drain(..).max());
        session.max_sentences = 2;
        assert_eq!(translate_jobs(&mut session, &options(), &batching, &jobs), expected);
        assert!(session.encoded.iter().all(|&count| count <= 2), "{batching:?}");
    }
    assert!(largest > Some(2), "{largest:?}");
}

#[test]
fn batching_and_order_do_not_change_results() {
    let sampling = Sampling { temperature: 0.8, top_k: 0, top_p: 0.9, epsilon: 0.0 };
    let ct2 = SearchOptions {
        semantics: DecodingSemantics::CTranslate2,
        repetition_penalty: 1.2,
        min_length: 1,
        coverage_penalty: 0.1,
        return_alignments: true,
        ..options()
    };
    let all = [
        options(),
        ct2.clone(),
        SearchOptions { sampling: Some(sampling), ..options() },
        SearchOptions { sampling: Some(Sampling { top_k: 4, ..sampling }), ..ct2 },
    ];
    for (number, options) in (0..).zip(all) {
        let mut numbers = Xorshift::new(number);
        let mut jobs = random_jobs(60, &mut numbers);
        let alone = translate_jobs(
            &mut RandomSession::new(model(1)),
            &options,
            &BatchingOptions::default(),
            &jobs,
        );
        assert_eq!(alone.len(), 60);
        let failures = alone.values().filter(|result| result.is_err()).count();
        assert!((1..30).contains(&failures), "expected 1 to 29 failures, found {failures}");
        for batching in batching_variants() {
            for at in (1..jobs.len()).rev() {
                jobs.swap(at, numbers.below(at + 1));
            }
            let mut session = RandomSession::new(model(1));
            let together = translate_jobs(&mut session, &options, &batching, &jobs);
            assert!(together == alone, "{batching:?} {options:?}");
            assert_eq!(session.open_sentences(), 0);
        }
    }
}

#[test]
fn batches_are_as_large_as_they_may_be() {
    let mut numbers = Xorshift::new(4);
    let request = |_| request_for(&vec![3; 1 + numbers.below(6)]);
    let requests: Vec<Request> = (0..64).map(request).collect();
    let jobs: Vec<Job> = (0..).zip(requests).map(|(id, request)| Job { id, request }).collect();
    let count = |batching: BatchingOptions| {
        let mut session = RandomSession::new(model(2));
        translate_jobs(&mut session, &options(), &batching, &jobs);
        (session.encoded.clone(), session.steps, session.rows_seen)
    };
    let plain = BatchingOptions {
        max_sentences: 8,
        max_source_tokens: 0,
        maxi_batch: 1,
        sort_by_length: false,
        top_up: false,
    };
    let (encoded, steps, rows) = count(plain);
    assert_eq!(encoded, [8; 8]);
    let (encoded, fewer_steps, same_rows) = count(BatchingOptions { top_up: true, ..plain });
    assert_eq!(encoded, [8; 8], "the encoder reads whole batches");
    assert_eq!(rows, same_rows);
    assert!(fewer_steps < steps, "{fewer_steps} of {steps}");
    let sorted =
        BatchingOptions { max_source_tokens: 14, maxi_batch: 8, sort_by_length: true, ..plain };
    let (encoded, ..) = count(sorted);
    assert_eq!(encoded.iter().sum::<usize>(), 64);
    assert_eq!(encoded[0], 2, "two of the longest: 7 tokens each");
    assert!(encoded[encoded.len() - 2] >= 6, "six or more of the shortest: {encoded:?}");
}

#[test]
fn empty_sentences_are_empty_and_bad_ones_fail_alone() {
    let mut session = RandomSession::new(model(3));
    let mut requests =
        vec![Request::default(), request_for(&[4, 5]), request_for(&[UNREADABLE_TOKEN])];
    requests.push(Request { prefix: vec![0], ..request_for(&[4]) });
    requests.push(Request { prefix: vec![12], ..request_for(&[4]) });
    requests.push(Request { constraints: vec![vec![99]], ..request_for(&[4]) });
    requests.push(Request { constraints: vec![vec![3]; 200], ..request_for(&[4]) });
    requests.push(Request { candidates: Some(vec![5, 70]), ..request_for(&[4]) });
    // A single token may be a word, even if `</s>` of the target has the same id.
    requests.push(request_for(&[]));
    let jobs: Vec<Job> = (0..).zip(requests).map(|(id, request)| Job { id, request }).collect();
    let batching = BatchingOptions { max_sentences: 16, ..BatchingOptions::default() };
    let results = translate_jobs(&mut session, &options(), &batching, &jobs);
    assert_eq!(results.len(), 9);
    let empty = results[&0].as_ref().unwrap();
    assert_eq!(empty.len(), 1);
    assert_eq!((&empty[0].tokens[..], &empty[0].token_scores[..]), (&[][..], &[0.0][..]));
    for id in [1, 8] {
        assert_eq!(results[&id].as_ref().unwrap().len(), 4);
    }
    for id in 2..8 {
        assert!(results[&id].is_err(), "{id}");
    }
    assert_eq!(session.open_sentences(), 0);
}
