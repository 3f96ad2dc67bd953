//! Tests of the engine with backends whose behaviour is known.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A backend that answers each sentence with itself, and records the order of sentences.
#[derive(Default)]
struct Echo {
    seen: Mutex<Vec<String>>,
    running: AtomicUsize,
    most_running: AtomicUsize,
}

impl Backend for Echo {
    fn serve(&self, worker: &Worker) {
        while worker.wait() {
            let _permit = worker.permit();
            let Some(task) = worker.pop(None) else { continue };
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_running.fetch_max(running, Ordering::SeqCst);
            let text = String::from_utf8(task.sentence().text.clone()).unwrap();
            if let Some(ms) = text.strip_prefix("sleep ") {
                thread::sleep(Duration::from_millis(ms.parse().unwrap()));
            }
            self.running.fetch_sub(1, Ordering::SeqCst);
            let fails = catch_unwind(AssertUnwindSafe(|| assert_ne!(text, "panic"))).is_err();
            self.seen.lock().unwrap().push(text.clone());
            if fails {
                task.fail(Failure::Panicked);
                continue;
            }
            let hypothesis = Hypothesis { text: text.into_bytes(), ..Hypothesis::default() };
            task.finish(SentenceResult {
                translations: vec![hypothesis],
                ..SentenceResult::default()
            });
        }
    }
}

fn sentences(texts: &[&str]) -> Vec<Sentence> {
    let text = |text: &&str| Sentence { text: text.as_bytes().to_vec(), ..Sentence::default() };
    texts.iter().map(text).collect()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn texts(reply: Reply) -> Vec<String> {
    let text = |result: SentenceResult| {
        String::from_utf8(result.translations.into_iter().next().unwrap().text).unwrap()
    };
    reply.outcome.unwrap().into_iter().map(text).collect()
}

struct Setup {
    engine: Arc<Engine>,
    queue: Arc<ModelQueue>,
    echo: Arc<Echo>,
    metrics: Arc<ModelMetrics>,
}

impl Setup {
    fn new(threads: usize, max_words: usize) -> Self {
        let engine = Engine::new(threads, max_words);
        let echo = Arc::new(Echo::default());
        let backend = Arc::clone(&echo) as Arc<dyn Backend>;
        let metrics = Arc::default();
        let queue = engine.start("echo", backend, &metrics).unwrap();
        Setup { engine, queue, echo, metrics }
    }

    fn submit(&self, texts: &[&str]) -> Result<Pending, Refusal> {
        self.engine.submit(&self.queue, sentences(texts), RequestOptions::default(), soon())
    }

    /// Waits until a sentence has begun.
    fn wait_until_busy(&self) {
        while self.echo.running.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn results_are_in_the_order_of_their_sentences() {
    let setup = Setup::new(4, 1 << 20);
    let many: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let pending: Vec<Pending> = (0..8).map(|_| setup.submit(&many).unwrap()).collect();
    for pending in pending {
        assert_eq!(texts(pending.blocking_reply()), many);
    }
    assert!(texts(setup.submit(&[]).unwrap().blocking_reply()).is_empty());
    assert_eq!(setup.engine.queued_words(), 0);
}

#[test]
fn a_model_may_ask_for_fewer_threads() {
    struct Counting(AtomicUsize);
    impl Backend for Counting {
        fn serve(&self, worker: &Worker) {
            self.0.fetch_add(1, Ordering::SeqCst);
            while worker.wait() {}
        }
        fn max_threads(&self) -> Option<usize> {
            Some(2)
        }
    }
    for (threads, expected) in [(8, 2), (1, 1)] {
        let backend = Arc::new(Counting(AtomicUsize::new(0)));
        let engine = Engine::new(threads, 100);
        let queue = engine.start("counting", Arc::clone(&backend) as _, &Arc::default()).unwrap();
        queue.close();
        // A thread drops its backend when it ends.
        while Arc::strong_count(&backend) > 1 {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(backend.0.load(Ordering::SeqCst), expected);
    }
}

#[test]
fn a_long_request_does_not_keep_a_short_one_waiting() {
    let setup = Setup::new(1, 1 << 20);
    let first = setup.submit(&["sleep 100"]).unwrap();
    setup.wait_until_busy();
    let long = setup.submit(&["a", "b", "c", "d", "e"]).unwrap();
    let short = setup.submit(&["x"]).unwrap();
    for pending in [first, long, short] {
        pending.blocking_reply();
    }
    let seen = setup.echo.seen.lock().unwrap();
    assert_eq!(*seen, ["sleep 100", "a", "x", "b", "c", "d", "e"]);
}

#[test]
fn no_more_threads_search_than_there_are_permits() {
    let setup = Setup::new(2, 1 << 20);
    let other = Arc::clone(&setup.echo) as Arc<dyn Backend>;
    let other = setup.engine.start("other", other, &Arc::default()).unwrap();
    let text = ["sleep 5"; 20];
    let first = setup.submit(&text).unwrap();
    let second =
        setup.engine.submit(&other, sentences(&text), RequestOptions::default(), soon()).unwrap();
    first.blocking_reply();
    second.blocking_reply();
    assert_eq!(setup.echo.most_running.load(Ordering::SeqCst), 2);
    other.close();
}

#[test]
fn dropped_requests_are_not_searched() {
    let setup = Setup::new(1, 1 << 20);
    let first = setup.submit(&["sleep 100"]).unwrap();
    setup.wait_until_busy();
    drop(setup.submit(&["nobody", "waits"]).unwrap());
    let last = setup.submit(&["last"]).unwrap();
    first.blocking_reply();
    assert_eq!(texts(last.blocking_reply()), ["last"]);
    assert_eq!(*setup.echo.seen.lock().unwrap(), ["sleep 100", "last"]);
    assert_eq!(setup.engine.queued_words(), 0);
    assert_eq!(setup.metrics.count(Outcome::Cancelled), 2);
}

/// The rest of a request is counted by the reason why nobody waits for it.
#[test]
fn dropped_sentences_have_the_outcome_of_their_request() {
    let setup = Setup::new(1, 1 << 20);
    let first = setup.submit(&["sleep 100"]).unwrap();
    setup.wait_until_busy();
    let options = RequestOptions::default();
    let late = setup.engine.submit(&setup.queue, sentences(&["a", "b"]), options, Instant::now());
    drop(late.unwrap());
    let failing = setup.submit(&["panic", "c", "d", "e"]).unwrap();
    assert!(failing.blocking_reply().outcome.is_err());
    first.blocking_reply();
    assert_eq!(texts(setup.submit(&["last"]).unwrap().blocking_reply()), ["last"]);
    let count = |outcome| setup.metrics.count(outcome);
    assert_eq!((count(Outcome::Timeout), count(Outcome::Error)), (2, 3));
    assert_eq!(count(Outcome::Cancelled), 0);
}

#[test]
fn a_full_queue_rejects_requests_and_recovers() {
    let setup = Setup::new(1, 6);
    let first = setup.submit(&["sleep 100"]).unwrap();
    setup.wait_until_busy();
    let second = setup.submit(&["a b", "c d"]).unwrap();
    let refusal = setup.submit(&["e"]).err().unwrap();
    // The wait for one word is less than a second, which is rounded up for clients.
    let Refusal::Overloaded(wait) = refusal else { panic!("{refusal:?}") };
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(60), "{wait:?}");
    assert!((1..=60).contains(&refusal.retry_after().unwrap()));
    first.blocking_reply();
    second.blocking_reply();
    assert_eq!(texts(setup.submit(&["e"]).unwrap().blocking_reply()), ["e"]);
}

#[test]
fn a_failed_sentence_fails_only_its_request() {
    let setup = Setup::new(1, 1 << 20);
    let bad = setup.submit(&["a", "panic", "b"]).unwrap();
    let good = setup.submit(&["c"]).unwrap();
    assert_eq!(bad.blocking_reply().outcome.unwrap_err(), Failure::Panicked);
    assert_eq!(texts(good.blocking_reply()), ["c"]);
}

/// Sentences of a request that was given up may still be under way.
#[test]
fn results_after_a_failure_are_dropped() {
    let (request, pending) =
        Request::new(sentences(&["a", "b"]), RequestOptions::default(), soon());
    request.fail(Failure::Deadline);
    request.finish(1, SentenceResult::default());
    assert_eq!(pending.blocking_reply().outcome.unwrap_err(), Failure::Deadline);
}

#[test]
fn a_closed_queue_is_emptied_first() {
    let setup = Setup::new(1, 1 << 20);
    let first = setup.submit(&["sleep 50", "a", "b"]).unwrap();
    setup.queue.close();
    assert_eq!(texts(first.blocking_reply()), ["sleep 50", "a", "b"]);
    // The worker ends: then only this test holds the backend.
    let began = Instant::now();
    while Arc::strong_count(&setup.echo) > 1 {
        assert!(began.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(1));
    }
}
