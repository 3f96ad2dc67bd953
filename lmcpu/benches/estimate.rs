//! Estimation of a 5-gram model from the captions of Multi30k; skipped if they
//! are absent.

use std::io::{Cursor, Read};
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_lmcpu::estimate::{EstimateOptions, estimate};
use miriam_textio::{Input, NoProgress, Output};

fn estimation(criterion: &mut Criterion) {
    let path = "../../shared/data/m30k-de-en/corpus/train.en.gz";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let Ok(mut input) = Input::open(&path) else {
        return eprintln!("skipped: {} is absent", path.display());
    };
    let mut text = Vec::new();
    input.read_to_end(&mut text).expect("readable");
    let mut group = criterion.benchmark_group("estimate");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    for threads in [1, 2] {
        let options = EstimateOptions {
            threads,
            memory: 1 << 30,
            discount_fallback: Some([0.5, 1.0, 1.5]),
            ..EstimateOptions::new(5)
        };
        group.bench_function(format!("captions, order 5, {threads} threads"), |bencher| {
            bencher.iter(|| {
                let input = Input::from_reader(Cursor::new(text.clone()), "captions", None);
                let mut output = Output::create(Path::new("/dev/null")).expect("writable");
                estimate(&options, input.expect("text"), &mut output, &NoProgress)
                    .expect("estimates")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, estimation);
criterion_main!(benches);
