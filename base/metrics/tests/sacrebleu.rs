//! Test that scores equal sacreBLEU 2.6.0's to the last bit.
//! `scripts/compare_sacrebleu.py --record` recorded the expected scores, for difficult lines and
//! for outputs of Moses2.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use miriam_metrics::bleu::Smoothing;
use miriam_metrics::{
    Bleu, Chrf, Metric, Resampling, Ter, Tokenizer, corpus_score, corpus_statistics,
    estimate_confidence, sentence_score,
};
use miriam_textio::{Input, Lines};

/// A metric for corpora, and its variant for lines.
type CorpusAndLineMetrics = (Box<dyn Metric>, Box<dyn Metric>);

fn metrics() -> Vec<CorpusAndLineMetrics> {
    let mut bleu = vec![Bleu { lowercase: true, ..Bleu::default() }];
    bleu.extend(Tokenizer::NAMES.map(|name| {
        let tokenizer = Tokenizer::from_name(name).unwrap();
        Bleu { tokenizer, ..Bleu::default() }
    }));
    let smoothing = [("floor", None), ("floor", Some(0.25)), ("add-k", None), ("add-k", Some(2.0))];
    for (name, value) in smoothing.into_iter().chain([("none", None)]) {
        let smoothing = Smoothing::from_name(name, value).unwrap();
        bleu.push(Bleu { smoothing, ..Bleu::default() });
    }
    let new = |chars, words| Chrf::new(chars, words).unwrap();
    let chrf = [
        new(6, 0),
        new(6, 2),
        new(6, 2).epsilon_smoothing(true),
        new(4, 0).beta(3),
        new(6, 0).whitespace(true),
        new(6, 0).lowercase(true),
    ];
    let normalized = Ter { normalized: true, ..Ter::default() };
    let asian = Ter { asian_support: true, ..normalized };
    let ter = [
        Ter::default(),
        Ter { case_sensitive: true, ..Ter::default() },
        normalized,
        Ter { no_punctuation: true, ..Ter::default() },
        asian,
        Ter { no_punctuation: true, ..asian },
    ];
    let mut pairs: Vec<CorpusAndLineMetrics> = Vec::new();
    for bleu in bleu {
        let effective = Bleu { effective_order: true, ..bleu.clone() };
        pairs.push((Box::new(bleu), Box::new(effective)));
    }
    pairs.extend(chrf.map(|chrf| -> CorpusAndLineMetrics { (Box::new(chrf), Box::new(chrf)) }));
    pairs.extend(ter.map(|ter| -> CorpusAndLineMetrics { (Box::new(ter), Box::new(ter)) }));
    pairs
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn lines(path: &Path) -> Vec<String> {
    let mut lines = Lines::new(Input::open(path).unwrap());
    let mut all = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        // sacreBLEU strips trailing white space from lines.
        all.push(std::str::from_utf8(line.bytes).unwrap().trim_end().to_owned());
    }
    all
}

#[test]
fn scores_equal_sacrebleu() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/m30k-de-en");
    let golden = lines(&testdata("sacrebleu.tsv"));
    let mut golden_by_text: HashMap<&str, HashMap<&str, Vec<&str>>> = HashMap::new();
    for line in &golden {
        let mut fields = line.split('\t');
        let (text, key) = (fields.next().unwrap(), fields.next().unwrap());
        golden_by_text.entry(text).or_default().insert(key, fields.collect());
    }
    let odd = ["odd.ref1", "odd.ref2"].map(testdata);
    let recorded = |name| data.join(format!("oracle/test.{name}.1best.gz"));
    let texts = [
        ("odd", testdata("odd.out"), odd[..1].to_vec()),
        ("odd2", testdata("odd.out"), odd.to_vec()),
        ("test.default", recorded("default"), vec![data.join("corpus/test.en.gz")]),
        ("test.tuned", recorded("tuned"), vec![data.join("corpus/test.en.gz")]),
    ];
    for (text, output, references) in texts {
        if !output.exists() {
            let _ = writeln!(std::io::stderr(), "skipped: {} is absent", output.display());
            continue;
        }
        let output = lines(&output);
        let references: Vec<_> = references.iter().map(|path| lines(path)).collect();
        let mut golden = golden_by_text.remove(text).unwrap();
        for (metric, by_line) in metrics() {
            let rows = corpus_statistics(&*metric, &output, &references).unwrap();
            let mut score = corpus_score(&*metric, &rows, references.len());
            let key = format!("{}|{}", score.name, score.signature.to_text(false));
            let fields = golden.remove(&key[..]).unwrap_or_else(|| panic!("{text}: {key}"));
            let number = |i: usize| -> f64 { fields[i].parse().unwrap() };
            assert_eq!(score.value, number(0), "{text}: {key}");
            estimate_confidence(&*metric, &rows, Resampling::default(), &mut score);
            let confidence = score.confidence.unwrap();
            assert_eq!(confidence.mean, number(1), "{text}: {key}");
            assert_eq!(confidence.half_width, number(2), "{text}: {key}");
            let Some(expected) = fields.get(3) else { continue };
            for (number, expected) in expected.split(' ').enumerate() {
                let references: Vec<&str> = references.iter().map(|r| &r[number][..]).collect();
                let score = sentence_score(&*by_line, &output[number], &references);
                let expected: f64 = expected.parse().unwrap();
                assert_eq!(score.value, expected, "{text}, line {}: {key}", number + 1);
            }
        }
        assert!(golden.is_empty(), "{text}: not measured: {:?}", golden.keys());
    }
}

/// SacreBLEU normalises references twice, which splits a possessive before a full stop.
#[test]
fn normalized_references_are_tokenized_twice() {
    let ter = Ter { normalized: true, ..Ter::default() };
    let score = sentence_score(&ter, "That was John's book.", &["That was John's."]);
    assert_eq!(score.value, 20.0);
    assert_eq!(sentence_score(&ter, "3's .", &["3's."]).value, 0.0);
}
