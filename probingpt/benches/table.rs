//! Lookups and building, on Multi30k's tables if they are there, else on synthetic ones.
//!
//! `cargo bench -p miriam-probingpt`

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use miriam_probingpt::{BuildOptions, PhraseTable, SpanLookup, Targets, build_file};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Lines, NoProgress, fields};

/// Tables and sentences to look up.
struct BenchData {
    folder: tempfile::TempDir,
    options: BuildOptions,
    sentences: Vec<Vec<Vec<u8>>>,
}

impl BenchData {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/m30k-de-en");
        if real.exists() {
            let options =
                build_options(real.join("phrase-table.gz"), real.join("reordering-table.gz"));
            let sentences = read_sentences(&real.join("corpus/test.de.gz"));
            return BenchData { folder, options, sentences };
        }
        eprintln!("{} is absent: made-up tables", real.display());
        let (table, reordering) = (folder.path().join("t"), folder.path().join("r"));
        let mut files = [&table, &reordering].map(|p| std::fs::File::create(p).unwrap());
        for i in 0..200_000u32 {
            let pair =
                format!("s{:05} s{:03} ||| t{} t{} |||", i / 4, i / 4 % 997, i % 5000, i % 7);
            let lexical = 1.0 / f64::from(i + 2);
            writeln!(files[0], "{pair} 0.5 {lexical} 0.25 {lexical} ||| 0-0 1-1 ||| 2 4 1")
                .unwrap();
            writeln!(files[1], "{pair} 0.{} 0.2 0.2 0.6 0.2 0.2", 1 + i % 9).unwrap();
        }
        let sentences = (0..1000u32).map(|i| {
            (0..12).map(|k| format!("s{:05}", (i * 37 + k) % 50_000).into_bytes()).collect()
        });
        let sentences = sentences.collect();
        BenchData { folder, options: build_options(table, reordering), sentences }
    }
}

fn build_options(phrase_table: PathBuf, reordering: PathBuf) -> BuildOptions {
    BuildOptions {
        phrase_table,
        reordering: Some(reordering),
        sort: false,
        threads: 1,
        ..BuildOptions::default()
    }
}

fn read_sentences(path: &Path) -> Vec<Vec<Vec<u8>>> {
    let mut lines = Lines::new(Input::open(path).unwrap());
    let mut sentences = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        sentences.push(fields::split_words(line.bytes).map(<[u8]>::to_vec).collect());
    }
    sentences
}

fn benchmarks(criterion: &mut Criterion) {
    let data = BenchData::new();
    let output = data.folder.path().join("table.pt");
    let report = build_file(&data.options, &output, &NoProgress).unwrap();
    let table = PhraseTable::open(&output, LoadMethod::Lazy).unwrap();
    let ids: Vec<Vec<u32>> = data
        .sentences
        .iter()
        .map(|s| s.iter().map(|w| table.source_words().find(w).unwrap_or(u32::MAX)).collect())
        .collect();
    let spans = |sentence: &[u32]| -> u64 {
        let known = sentence.split(|&id| id == u32::MAX);
        known
            .map(|run| (1..=run.len().min(7)).map(|n| (run.len() + 1 - n) as u64).sum::<u64>())
            .sum()
    };
    let queries: u64 = ids.iter().map(|s| spans(s)).sum();

    let mut group = criterion.benchmark_group("lookup");
    group.sample_size(20);
    group.throughput(Throughput::Elements(queries));
    for threads in [1, 2] {
        group.bench_function(BenchmarkId::new("spans", threads), |b| {
            b.iter(|| run_in_parallel(&ids, threads, |part| find(&table, part)));
        });
        group.bench_function(BenchmarkId::new("spans and all targets", threads), |b| {
            b.iter(|| run_in_parallel(&ids, threads, |part| find_and_decode(&table, part)));
        });
    }
    // The same words reversed: hardly any span of more than one word is found.
    let backwards: Vec<Vec<u32>> = ids.iter().map(|s| s.iter().rev().copied().collect()).collect();
    group.bench_function("spans, mostly missing", |b| b.iter(|| find(&table, &backwards)));
    group.finish();

    criterion.bench_function("open", |b| {
        b.iter(|| PhraseTable::open(black_box(&output), LoadMethod::Lazy).unwrap().num_entries());
    });

    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    group.throughput(Throughput::Elements(report.entries));
    for threads in [1, 2] {
        let options = BuildOptions { threads, ..data.options.clone() };
        group.bench_function(BenchmarkId::new("entries", threads), |b| {
            b.iter(|| build_file(&options, &output, &NoProgress).unwrap());
        });
    }
    group.finish();
}

/// Runs `work` over `threads` equal parts.
fn run_in_parallel(
    ids: &[Vec<u32>],
    threads: usize,
    work: impl Fn(&[Vec<u32>]) -> usize + Sync,
) -> usize {
    std::thread::scope(|scope| {
        let parts = ids.chunks(ids.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn find(table: &PhraseTable, sentences: &[Vec<u32>]) -> usize {
    let mut lookup = SpanLookup::new();
    let mut found = 0;
    for sentence in sentences {
        table.lookup_spans(sentence, 7, &mut lookup);
        found += lookup.hits().len();
    }
    found
}

fn find_and_decode(table: &PhraseTable, sentences: &[Vec<u32>]) -> usize {
    let mut lookup = SpanLookup::new();
    let mut targets = Targets::new();
    let mut found = 0;
    for sentence in sentences {
        table.lookup_spans(sentence, 7, &mut lookup);
        for hit in lookup.hits() {
            table.read_targets(hit.record, &mut targets).unwrap();
            found += targets.len();
        }
    }
    found
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
