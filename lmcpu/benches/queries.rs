//! Queries per second: one at a time, one at a time with prefetch, and in batches of independent
//! sentences.
//!
//! Multi30k's model and text are measured if that data is beside the project. A synthetic model,
//! larger than the caches, is always measured.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_lmcpu::trie::build_trie;
use miriam_lmcpu::{ArpaOptions, LanguageModel, LmWord, Request, ScoreResult, State, open};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, NoProgress};

/// The number of sentences that are scored as one batch.
const LANES: usize = 64;

struct Workload {
    name: String,
    model: Arc<dyn LanguageModel>,
    /// The words of each sentence, with its `</s>`.
    sentences: Vec<Vec<LmWord>>,
}

impl Workload {
    fn new(name: String, model: Arc<dyn LanguageModel>, text: &[u8]) -> Self {
        let sentence = |line: &[u8]| {
            let words = line.split(|&b| b == b' ').filter(|word| !word.is_empty());
            let ids = words.map(|word| model.word_id(word));
            ids.chain([model.end_of_sentence()]).collect()
        };
        let sentences = text.split(|&b| b == b'\n').map(sentence).collect();
        Workload { name, model, sentences }
    }

    fn tokens(&self) -> u64 {
        self.sentences.iter().map(|s| s.len() as u64).sum()
    }

    fn score_single(&self) -> f64 {
        let mut sum = 0.0;
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for sentence in &self.sentences {
            state.copy_from(&self.model.begin_state());
            for &word in sentence {
                sum += f64::from(self.model.score(&state, word, &mut next).0.0);
                std::mem::swap(&mut state, &mut next);
            }
        }
        sum
    }

    fn score_prefetched(&self) -> f64 {
        let mut sum = 0.0;
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        for sentence in &self.sentences {
            state.copy_from(&self.model.begin_state());
            for &word in sentence {
                self.model.prefetch(&state, word);
                sum += f64::from(self.model.score(&state, word, &mut next).0.0);
                std::mem::swap(&mut state, &mut next);
            }
        }
        sum
    }

    fn score_batched(&self) -> f64 {
        let mut sum = 0.0;
        let begin = self.model.begin_state();
        let mut states = vec![begin; LANES];
        let mut results = vec![ScoreResult::default(); LANES];
        let mut waiting = self.sentences.iter();
        let mut rests: Vec<&[LmWord]> = waiting.by_ref().take(LANES).map(|s| &s[..]).collect();
        let request =
            |(lane, rest): (usize, &&[LmWord])| Request { state: lane as u32, word: rest[0] };
        let mut requests: Vec<Request> = rests.iter().enumerate().map(request).collect();
        while !requests.is_empty() {
            self.model.score_batch(&states, &requests, &mut results);
            let mut kept = 0;
            for i in 0..requests.len() {
                let (lane, mut rest) = (requests[i].state, &rests[i][1..]);
                sum += f64::from(results[i].log10.0);
                if rest.is_empty() {
                    let Some(sentence) = waiting.next() else { continue };
                    rest = sentence;
                    states[lane as usize].copy_from(&begin);
                } else {
                    states[lane as usize].copy_from(&results[i].next_state);
                }
                requests[kept] = Request { state: lane, word: rest[0] };
                rests[kept] = rest;
                kept += 1;
            }
            requests.truncate(kept);
            rests.truncate(kept);
        }
        sum
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    Input::open(path).ok()?.read_to_end(&mut text).ok()?;
    Some(text)
}

/// Returns the model in the ARPA text at `path` as a probing model and as a trie.
fn open_kinds(path: &Path) -> Vec<(&'static str, Arc<dyn LanguageModel>)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    build_trie(path, file.path(), None, ArpaOptions::default(), &NoProgress).unwrap();
    let opened = |path| open(path, LoadMethod::HugePages, &NoProgress).unwrap();
    vec![("probing", opened(path)), ("trie", opened(file.path()))]
}

fn multi30k() -> Vec<Workload> {
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/m30k-de-en"));
    let arpa = data.join("lm/lm.5.en.arpa.gz");
    if !arpa.exists() {
        eprintln!("skipped: {} is absent", data.display());
        return Vec::new();
    }
    let mut workloads = Vec::new();
    for (kind, model) in open_kinds(&arpa) {
        for (name, file) in [("training", "train"), ("held-out", "test")] {
            if let Some(text) = read(&data.join(format!("corpus/{file}.en.gz"))) {
                let name = format!("m30k {name} text, {kind}");
                workloads.push(Workload::new(name, Arc::clone(&model), &text));
            }
        }
    }
    workloads
}

/// Returns a hash, for pseudo-random numbers.
fn scramble(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (n ^ (n >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (n >> 33)
}

/// Makes a model of three million trigrams over 50,000 words, and a text. Three of four words of
/// the text form a bigram of the model with the previous word.
fn synthetic() -> Vec<Workload> {
    const WORDS: u64 = 50_000;
    const FOLLOWERS: u64 = 30;
    let follower = |word: u64, i: u64| scramble(word * FOLLOWERS + i) % WORDS;
    let mut bigrams = std::collections::BTreeSet::new();
    for word in 0..WORDS {
        bigrams.extend((0..FOLLOWERS).map(|i| (word, follower(word, i))));
    }
    let trigrams: std::collections::BTreeSet<_> =
        bigrams.iter().flat_map(|&(a, b)| [0, 1].map(|i| (a, b, follower(b, i)))).collect();
    let mut arpa = String::from("\\data\\\n");
    let (two, three) = (bigrams.len(), trigrams.len());
    writeln!(arpa, "ngram 1={}\nngram 2={two}\nngram 3={three}\n\n\\1-grams:", WORDS + 3).unwrap();
    arpa += "-5\t<unk>\n-99\t<s>\t-0.5\n-2\t</s>\n";
    for word in 0..WORDS {
        writeln!(arpa, "-4.5\tw{word}\t-0.5").unwrap();
    }
    arpa += "\n\\2-grams:\n";
    for (a, b) in &bigrams {
        writeln!(arpa, "-2.{}\tw{a} w{b}\t-0.25", a % 97).unwrap();
    }
    arpa += "\n\\3-grams:\n";
    for (a, b, c) in &trigrams {
        writeln!(arpa, "-1.{}\tw{a} w{b} w{c}", a % 89).unwrap();
    }
    arpa += "\n\\end\\\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), arpa).unwrap();
    let kinds = open_kinds(file.path());
    let mut text = String::new();
    let mut word = 1;
    for i in 0..300_000u64 {
        let random = scramble(i + 1_000_003);
        word = if random.is_multiple_of(4) {
            random / 4 % WORDS
        } else {
            follower(word, random % FOLLOWERS)
        };
        write!(text, "w{word}{}", if i % 20 == 19 { '\n' } else { ' ' }).unwrap();
    }
    let workload = |(kind, model)| {
        Workload::new(format!("synthetic trigrams, {kind}"), model, text.as_bytes())
    };
    kinds.into_iter().map(workload).collect()
}

fn queries(criterion: &mut Criterion) {
    let mut workloads = multi30k();
    workloads.extend(synthetic());
    for workload in &workloads {
        assert!(
            (workload.score_single() - workload.score_batched()).abs()
                < 1e-6 * workload.score_single().abs()
        );
        let mut group = criterion.benchmark_group(&workload.name);
        group.throughput(Throughput::Elements(workload.tokens()));
        group.sample_size(20);
        group.bench_function("single", |b| b.iter(|| black_box(workload.score_single())));
        group.bench_function("single, prefetched", |b| {
            b.iter(|| black_box(workload.score_prefetched()))
        });
        group.bench_function("batch", |b| b.iter(|| black_box(workload.score_batched())));
        group.finish();
    }
}

criterion_group!(benches, queries);
criterion_main!(benches);
