//! Benchmark of decoded words per second on one thread. It translates with the German-English
//! system if the real data is there, otherwise with the toy system.
//!
//! `cargo bench -p miriam-decoder`

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use miriam_decoder::{Configuration, System, Translator};
use miriam_textio::{Input, Lines, NoProgress};

fn read_lines(path: &Path) -> Vec<Vec<u8>> {
    let mut lines = Lines::new(Input::open(path).expect("the text is there"));
    let mut all = Vec::new();
    while let Some(line) = lines.next().expect("the text is readable") {
        all.push(line.bytes.to_vec());
    }
    all
}

/// Returns the name of the system, the path of its ini, and the lines of its text.
fn system() -> (&'static str, PathBuf, Vec<Vec<u8>>) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let real = project.join("../shared/data/m30k-de-en");
    if real.exists() {
        ("m30k", real.join("text.ini"), read_lines(&real.join("corpus/test.de.gz")))
    } else {
        let toy = project.join("examples/toy");
        ("toy", toy.join("moses.ini"), read_lines(&toy.join("input.txt")))
    }
}

fn translate(criterion: &mut Criterion) {
    let (name, ini, lines) = system();
    let lines = &lines[..lines.len().min(200)];
    let words: usize = lines.iter().map(|l| miriam_textio::fields::split_words(l).count()).sum();
    // A copy of the ini with absolute paths of models and the settings of the recorded runs.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let models = fs::canonicalize(ini.parent().expect("has a folder")).expect("is there");
    let text = fs::read_to_string(&ini).expect("is text");
    let text = text.replace("path=", &format!("path={}/", models.display()))
        + "\n[search-algorithm]\n1\n[cube-pruning-pop-limit]\n400\n[stack]\n400\n[threads]\n1\n";
    let path = folder.path().join("moses.ini");
    fs::write(&path, text).expect("there is room");
    let configuration = Configuration::from_ini(&path).expect("the ini is valid");
    let system = System::load(&configuration, &NoProgress).expect("the models are valid");

    let mut group = criterion.benchmark_group("translate");
    group.sample_size(10).throughput(Throughput::Elements(words as u64));
    group.bench_function(format!("{name}, options kept"), |bencher| {
        let mut translator = Translator::new(&system);
        let mut out = Vec::new();
        bencher.iter(|| {
            for line in lines {
                out.clear();
                translator.translate_line(line, &mut out).expect("the models are valid");
                black_box(&out);
            }
        });
    });
    group.bench_function(format!("{name}, options made anew"), |bencher| {
        let mut out = Vec::new();
        bencher.iter_batched(
            || System::load(&configuration, &NoProgress).expect("the models are valid"),
            |system| {
                let mut translator = Translator::new(&system);
                for line in lines {
                    out.clear();
                    translator.translate_line(line, &mut out).expect("the models are valid");
                    black_box(&out);
                }
                drop(translator);
                system
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, translate);
criterion_main!(benches);
