//! Decoding speed of transformers with random weights: 25 source and 25 target tokens, one thread.
//!
//! The speed is in tokens per second of the thread's CPU time, because other programs disturb
//! it less than wall time. Arguments select rows by name:
//! `cargo bench -p miriam-bench --bench nmt_decode -- base i8`.

use std::io::Write;
use std::path::Path;

use miriam_bench::nmt::random_models::{random_model_without_eos, transformer_shape};
use miriam_nmt::architecture::{
    Architecture, AutoregressionConfig, RecurrentSublayerConfig, SruKind, TransformerConfig,
};
use miriam_nmt::engine::Precision;
use miriam_nmt::network::{HypothesisRow, Network, Session, TopK};
use miriam_storage::random::SplitMix64;
use nix::time::{ClockId, clock_gettime};

const VOCABULARY_SIZE: usize = 32_000;
const SENTENCE_LENGTH: usize = 25;

/// Returns a transformer of a common size; with `ssru`, its decoder has SSRUs instead of
/// self-attention.
fn transformer(size: &str, ssru: bool) -> TransformerConfig {
    let shape = transformer_shape(size, VOCABULARY_SIZE).expect("a common size");
    let autoregression = if ssru {
        AutoregressionConfig::Recurrent(RecurrentSublayerConfig {
            kind: SruKind::Ssru,
            has_output_projection: false,
            has_layer_norm: false,
        })
    } else {
        AutoregressionConfig::SelfAttention
    };
    TransformerConfig { autoregression, ..shape }
}

/// Returns the CPU time of this thread in seconds.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has a clock");
    time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9
}

/// Translates a batch into sentences of a fixed length, with a beam of fixed width.
fn translate(session: &mut dyn Session, sources: &[Vec<u32>], beam: usize) {
    let sources: Vec<&[u32]> = sources.iter().map(|source| &source[..]).collect();
    let slots = session.begin(&sources, None).expect("the tokens are in the vocabulary");
    let mut rows: Vec<HypothesisRow> =
        slots.iter().map(|&slot| HypothesisRow { slot, parent: None, token: None }).collect();
    let mut scores = vec![0.0; rows.len()];
    let mut best = Vec::new();
    let mut expanded: Vec<(f32, u32, u32)> = Vec::new();
    for _ in 0..SENTENCE_LENGTH {
        session.step(&rows).expect("a CPU computes");
        best.resize(rows.len(), TopK::new(beam, beam > 1));
        session.topk(&mut best).expect("a CPU computes");
        let (mut next, mut sums) = (Vec::new(), Vec::new());
        let mut first = 0;
        for &slot in &slots {
            let count = rows[first..].iter().take_while(|row| row.slot == slot).count();
            expanded.clear();
            for row in first..first + count {
                let normalizer = if beam > 1 { best[row].log_normalizer() } else { 0.0 };
                for candidate in best[row].candidates() {
                    let score = scores[row] + candidate.logit - normalizer;
                    expanded.push((score, row as u32, candidate.id));
                }
            }
            expanded.sort_by(|a, b| b.0.total_cmp(&a.0));
            for &(score, row, word) in &expanded[..beam] {
                next.push(HypothesisRow { slot, parent: Some(row), token: Some(word) });
                sums.push(score);
            }
            first += count;
        }
        (rows, scores) = (next, sums);
    }
    slots.into_iter().for_each(|slot| session.finish(slot));
}

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut random = SplitMix64::new(7);
    let mut out = std::io::stdout();
    for (shape, description) in [
        ("tiny", transformer("tiny", false)),
        ("tiny-ssru", transformer("tiny", true)),
        ("base", transformer("base", false)),
    ] {
        let cases: Vec<(String, Precision, usize, usize)> =
            [("i8", Precision::I8), ("i16", Precision::I16), ("f32", Precision::F32)]
                .into_iter()
                .flat_map(|(name, precision)| {
                    [(1, 1), (1, 5), (32, 1), (32, 5)].map(|(batch, beam)| {
                        let name = format!("{shape} {name} b{batch} beam{beam}");
                        (name, precision, batch, beam)
                    })
                })
                .filter(|(name, ..)| {
                    filters.iter().all(|part| name.split(' ').any(|word| word == part))
                })
                .collect();
        if cases.is_empty() {
            continue;
        }
        let model = random_model_without_eos(Architecture::Transformer(description), 1)
            .expect("the shape is valid");
        let mut loaded: Option<(Precision, Network)> = None;
        for (name, precision, batch, beam) in cases {
            if loaded.as_ref().is_none_or(|(other, _)| *other != precision) {
                let network = Network::load(&model, Path::new("random"), precision);
                loaded = Some((precision, network.expect("no parameter is missing")));
            }
            let Some((_, network)) = &loaded else { continue };
            let mut session = network.session().expect("a CPU computes");
            let mut sources = || -> Vec<Vec<u32>> {
                let mut word = || 2 + random.below(VOCABULARY_SIZE as u64 - 2) as u32;
                let mut sentence = || (1..SENTENCE_LENGTH).map(|_| word()).chain([0]).collect();
                (0..batch).map(|_| sentence()).collect()
            };
            translate(session.as_mut(), &sources(), beam);
            // The fastest of several runs is the one that other programs disturbed least.
            let mut best = f64::INFINITY;
            let mut spent = 0.0;
            while spent < 2.0 {
                let sources = sources();
                let start = thread_seconds();
                translate(session.as_mut(), &sources, beam);
                let time = thread_seconds() - start;
                spent += time;
                best = best.min(time);
            }
            let rate = (batch * SENTENCE_LENGTH) as f64 / best;
            let _ = writeln!(out, "{name:24} {rate:9.0} tokens/s");
        }
    }
}
