//! The pool of threads gives the same results as a translator, whichever calls share a batch.

use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::pool::{
    BatchLimits, DecodingOptions, Example, PoolError, Prepared, ScoringExample, TextFormat,
    TokenTranslations, TranslatorPool,
};
use miriam_nmt::translate::{SourceText, TranslationOptions, Translator};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};
use miriam_textproc::SentenceSplitter;

const LONG: Duration = Duration::from_secs(60);
const LIMITS: BatchLimits = BatchLimits { max_sentences: 3, max_tokens: 0 };

fn translator() -> Arc<Translator> {
    let bundle = ModelBundle::open(Path::new("testdata/tiny-ct2"), None).unwrap();
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.search.max_length = 12;
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    Arc::new(Translator::new(bundle, options, &tuner).unwrap())
}

/// Returns sentences of word ids. The first sentence is empty.
fn examples() -> Vec<Example> {
    let source = |length: u32| (0..length).map(|at| 2 + (5 * at + 3 * length) % 20).collect();
    (0..9).map(|length| Example { source: source(length), prefix: Vec::new() }).collect()
}

fn options() -> DecodingOptions {
    DecodingOptions { max_decoding_length: 12, return_scores: true, ..DecodingOptions::default() }
}

fn translate(
    pool: &TranslatorPool,
    examples: &[Example],
    options: &DecodingOptions,
) -> Vec<TokenTranslations> {
    let translator = pool.translator();
    let requests = examples.iter().map(|example| translator.prepare_tokens(example, 0, options));
    let task = options.task(translator, LIMITS);
    let pending = pool.translate(task, requests.collect(), None);
    assert!(pending.wait_all(LONG));
    let result = |(index, example): (usize, &Example)| {
        let found = pending.wait(index, LONG).unwrap().unwrap();
        translator.finish_tokens(example, 0, options, false, &found)
    };
    examples.iter().enumerate().map(result).collect()
}

#[test]
fn batches_of_all_calls_run_together_and_give_the_same() {
    let pool = TranslatorPool::new(translator(), 2, usize::MAX);
    let (examples, options) = (examples(), options());
    let alone: Vec<TokenTranslations> = examples
        .iter()
        .flat_map(|one| translate(&pool, std::slice::from_ref(one), &options))
        .collect();
    assert_eq!((&alone[0].hypotheses[..], &alone[0].scores[..]), (&[vec![]][..], &[0.0][..]));
    assert!(alone[1..].iter().all(|one| one.scores[0] < 0.0));
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (pool, examples, alone) = (&pool, &examples, &alone);
            let options = match number % 2 {
                0 => options.clone(),
                _ => DecodingOptions { beam_size: 4, num_hypotheses: 4, ..options.clone() },
            };
            scope.spawn(move || {
                let found = translate(pool, examples, &options);
                match number % 2 {
                    0 => assert_eq!(&found, alone),
                    _ => assert!(found.iter().all(|one| one.hypotheses.len() == 4)),
                }
            });
        }
    });
    assert_eq!((pool.num_active_batches(), pool.num_queued_batches()), (0, 0));
}

#[test]
fn texts_are_translated_as_lines_are() {
    let translator = translator();
    let lines = ["w2 w3 w4", "", "w5", "w9 w9 w2"];
    let input = Input::from_reader(Cursor::new(lines.join("\n")), "text", None).unwrap();
    let source = SourceText { lines: Lines::new(input), prefixes: None };
    let folder = tempfile::tempdir().unwrap();
    let output = Output::create(&folder.path().join("out")).unwrap();
    let stop = CancellationToken::new();
    let fail = &mut |error: &miriam_nmt::translate::LineError| panic!("{error:?}");
    translator.translate(source, false, output, &stop, &NoProgress, fail).unwrap();
    let expected = std::fs::read_to_string(folder.path().join("out")).unwrap();

    let pool = TranslatorPool::new(Arc::clone(&translator), 1, 1);
    let splitter = SentenceSplitter::new("en");
    let texts = |texts: &[&str], format| {
        let batch =
            translator.cut_texts(texts.iter().map(|text| text.as_bytes()), format, &splitter);
        let task = translator.text_task(None, format, LIMITS);
        let pending = pool.translate(task, batch.requests(), Some(&mut || true));
        let results = (0..pending.count()).map(|index| pending.wait(index, LONG).unwrap().unwrap());
        let joined = translator.join_texts(&batch, &results.collect::<Vec<_>>()).unwrap();
        joined.into_iter().map(|text| String::from_utf8(text).unwrap()).collect::<Vec<String>>()
    };
    let found = texts(&lines, TextFormat::Sentence);
    assert_eq!(found.join("\n") + "\n", expected);
    let running = texts(&["  w5\n\n w2 w3 w4\n"], TextFormat::Running);
    assert_eq!(running, [format!("  {}\n\n {}\n", found[2], found[0])]);
}

#[test]
fn cancelled_calls_end_and_leave_the_pool_as_it_was() {
    let pool = TranslatorPool::new(translator(), 1, 2);
    let long = Example { source: vec![2; 60], prefix: Vec::new() };
    let options = DecodingOptions { min_decoding_length: 250, beam_size: 6, ..options() };
    let options = DecodingOptions { max_decoding_length: 256, ..options };
    let translator = pool.translator();
    let requests: Vec<Prepared> =
        (0..200).map(|_| translator.prepare_tokens(&long, 0, &options)).collect();
    let pending = pool.translate(options.task(translator, LIMITS), requests.clone(), None);
    assert!(pool.num_active_batches() > 60);
    pending.cancel();
    assert!(pending.wait_all(Duration::ZERO));
    let last = pending.wait(199, LONG).unwrap();
    assert_eq!(last.unwrap_err(), PoolError::Cancelled);
    // The observer of a token blocks the worker. So a call waits for a place in the queue until it
    // is no longer wanted.
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let greedy = DecodingOptions { beam_size: 1, report_tokens: true, ..self::options() };
    let mut held = greedy.task(translator, LIMITS);
    let waits = Arc::clone(&gate);
    held.observer = Some(Arc::new(move |_, _| waits.lock().is_err()));
    let request = translator.prepare_tokens(&examples()[3], 0, &greedy);
    let holding = pool.translate(held, vec![request], None);
    while pool.num_queued_batches() > 0 {
        std::thread::yield_now();
    }
    let asked = AtomicUsize::new(0);
    let mut is_wanted = || asked.fetch_add(1, Ordering::Relaxed) < 2;
    let task = options.task(translator, BatchLimits { max_sentences: 1, max_tokens: 0 });
    let pending = pool.translate(task, requests, Some(&mut is_wanted));
    assert!(pending.is_cancelled() && asked.load(Ordering::Relaxed) == 3);
    drop(closed);
    assert!(holding.wait_all(LONG));
    assert_eq!(translate(&pool, &examples(), &self::options()).len(), 9);
}

/// `config.json` has `add_source_eos`, so EOS also follows an EOS of the caller.
#[test]
fn eos_is_added_to_tokens_that_end_with_it() {
    let translator = translator();
    let given = Example { source: vec![5, 13, 0], prefix: Vec::new() };
    let Prepared::Request(request) = translator.prepare_tokens(&given, 0, &options()) else {
        panic!("the sentence has words");
    };
    assert_eq!(request.source, [5, 13, 0, 0]);
    let scored = ScoringExample { source: given.source, target: vec![7] };
    assert_eq!(translator.prepare_score(&scored, 0).source, [5, 13, 0, 0]);
}

#[test]
fn scores_are_those_of_the_search() {
    let pool = TranslatorPool::new(translator(), 1, 1);
    let greedy = DecodingOptions { beam_size: 1, length_penalty: 0.0, ..options() };
    // With at most four scored tokens, the sum of the first four includes the end of a sentence
    // that was not cut.
    let greedy = DecodingOptions { max_decoding_length: 4, min_decoding_length: 0, ..greedy };
    let found = translate(&pool, &examples(), &greedy);
    let pairs = examples().into_iter().zip(&found).skip(1);
    let given: Vec<ScoringExample> = pairs
        .map(|(example, found)| ScoringExample {
            source: example.source,
            target: found.hypotheses[0].clone(),
        })
        .collect();
    let translator = pool.translator();
    let requests = given.iter().map(|given| translator.prepare_score(given, 0)).collect();
    let pending = pool.score(LIMITS, requests, None);
    for (index, given) in given.iter().enumerate() {
        let scores = pending.wait(index, LONG).unwrap().unwrap();
        let scored = translator.finish_score(given, 0, 0, &scores);
        assert_eq!(scored.tokens.len(), given.target.len() + 1);
        // A translation that was cut has no score of its end.
        let sum: f32 = scored.log_probs.iter().take(4).sum();
        let expected = found[index + 1].scores[0];
        assert!((sum - expected).abs() < 1e-4, "{sum} {expected}");
        let later = translator.finish_score(given, 0, 1, &scores);
        assert_eq!(later.tokens, scored.tokens[1..]);
        assert_eq!(later.log_probs, scored.log_probs[1..]);
    }
}
