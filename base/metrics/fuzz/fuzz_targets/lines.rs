//! Any lines, the last as hypothesis and the others as references: the score of every metric is
//! finite and not negative. `cargo +nightly fuzz run lines` in `base/metrics`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_metrics::{Bleu, Chrf, Metric, Ter, Tokenizer, sentence_score};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut references: Vec<&str> = text.split('\n').collect();
    let hypothesis = references.pop().unwrap_or_default();
    if references.is_empty() {
        references.push(hypothesis);
    }
    let ter = Ter { normalized: true, asian_support: true, no_punctuation: true, case_sensitive: false };
    let mut metrics: Vec<Box<dyn Metric>> = vec![
        Box::new(Chrf::new(6, 2).expect("there are n-grams")),
        Box::new(Ter::default()),
        Box::new(ter),
    ];
    let tokenizers = [
        Tokenizer::Mteval13a,
        Tokenizer::None,
        Tokenizer::International,
        Tokenizer::Characters,
        Tokenizer::Chinese,
    ];
    for tokenizer in tokenizers {
        metrics.push(Box::new(Bleu { tokenizer, lowercase: true, ..Bleu::default() }));
    }
    for metric in metrics {
        let score = sentence_score(&*metric, hypothesis, &references);
        assert!(score.value >= 0.0 && score.value.is_finite(), "{score:?}");
    }
});
