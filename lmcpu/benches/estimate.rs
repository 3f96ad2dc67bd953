//! Benchmark of estimating a 5-gram model from the English side of Multi30k; skipped if the corpus
//! is absent.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_lmcpu::estimate::{EstimateOptions, estimate};
use miriam_textio::{Input, NoProgress, Output};

fn estimation(criterion: &mut Criterion) {
    let path = "../../shared/data/m30k-de-en/corpus/train.en.gz";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if !path.exists() {
        eprintln!("skipped: {} is absent", path.display());
        return;
    }
    let mut text = Vec::new();
    Input::open(&path).expect("readable").read_to_end(&mut text).expect("readable");
    let text: Arc<[u8]> = text.into();
    let mut group = criterion.benchmark_group("estimate");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    for threads in [1, 2] {
        let options = EstimateOptions {
            threads,
            memory: 1 << 30,
            discount_fallback: Some([0.5, 1.0, 1.5]),
            ..EstimateOptions::new(5)
        };
        group.bench_function(format!("Multi30k, order 5, threads: {threads}"), |bencher| {
            bencher.iter(|| {
                let reader = Cursor::new(Arc::clone(&text));
                let input = Input::from_reader(reader, "Multi30k", None).expect("readable");
                let mut output = Output::create(Path::new("/dev/null")).expect("writable");
                estimate(&options, input, &mut output, &NoProgress).expect("a model")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, estimation);
criterion_main!(benches);
