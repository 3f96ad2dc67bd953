//! Words per second from text to ids: in running text with mostly frequent words, and in a word
//! list, whose words nearly all have to be looked up in the vocabulary.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use miriam_lmcpu::open;
use miriam_lmcpu::word_ids::{EncodedText, TextEncoder};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;

const WORDS: u64 = 1_000_000;

fn scramble(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (n ^ (n >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (n >> 33)
}

/// Returns a word of typical length.
fn word(i: u64) -> String {
    let length = 2 + scramble(i) % 9;
    let letter = |n| char::from(b'a' + (scramble(i * 16 + n) % 26) as u8);
    let mut word: String = (0..length).map(letter).collect();
    write!(word, "{i:x}").unwrap();
    word
}

fn words(criterion: &mut Criterion) {
    let mut arpa = format!("\\data\\\nngram 1={}\n\n\\1-grams:\n", WORDS + 3);
    arpa += "-1\t<unk>\n-99\t<s>\n-1\t</s>\n";
    for i in 0..WORDS {
        writeln!(arpa, "-6\t{}", word(i)).unwrap();
    }
    arpa += "\n\\end\\\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), arpa).unwrap();
    let model = open(file.path(), LoadMethod::Lazy, &NoProgress).unwrap();
    // The frequency of the word of rank r is about 1/r: Zipf's law.
    let zipf = |i: u64| {
        let uniform = (scramble(i + 17) >> 11) as f64 / (1u64 << 53) as f64;
        (WORDS as f64).powf(uniform) as u64 - 1
    };
    let text = |pick: &dyn Fn(u64) -> u64| {
        let mut text = String::new();
        for i in 0..200_000 {
            write!(text, "{}{}", word(pick(i)), if i % 20 == 19 { '\n' } else { ' ' }).unwrap();
        }
        text.into_bytes()
    };
    let texts = [("text", text(&zipf)), ("word list", text(&|i| scramble(i) % WORDS))];
    let mut group = criterion.benchmark_group("words");
    group.throughput(Throughput::Elements(200_000));
    group.sample_size(20);
    for (name, text) in &texts {
        let one_by_one = || {
            let words = text.split(|byte| byte.is_ascii_whitespace()).filter(|w| !w.is_empty());
            words.map(|word| u64::from(model.word_id(word).0)).sum::<u64>()
        };
        let mut encoder = TextEncoder::new(&*model, false, false);
        let mut found = EncodedText::default();
        let mut in_blocks = || {
            let mut sum = 0;
            let mut rest = &text[..];
            while !rest.is_empty() {
                let end = rest.len().min(128 << 10);
                let end = memchr::memrchr(b'\n', &rest[..end]).map_or(end, |n| n + 1);
                encoder.encode(&rest[..end], &mut found);
                sum += found.ids.iter().map(|id| u64::from(id.0)).sum::<u64>();
                rest = &rest[end..];
            }
            sum
        };
        assert_eq!(in_blocks(), one_by_one(), "{name}");
        group.bench_function(format!("{name}, one by one"), |b| b.iter(|| black_box(one_by_one())));
        group.bench_function(format!("{name}, in blocks"), |b| b.iter(|| black_box(in_blocks())));
    }
    group.finish();
}

criterion_group!(benches, words);
criterion_main!(benches);
