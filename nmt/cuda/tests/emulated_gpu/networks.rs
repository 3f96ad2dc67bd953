//! Sessions of whole networks: at each step, the best logits, their normalisers and the attention
//! weights. In f32 they are compared with results of the CPU; in half precision, with a reference
//! that rounds the same operands.

use std::path::{Path, PathBuf};

use miriam_nmt_cuda::{CudaDevice, CudaLoader, WeightFormat};
use miriam_nmt_models::ModelBundle;
use miriam_nmt_models::packed::Precision;
use miriam_nmt_network::layer::recurrent::Speedups;
use miriam_nmt_network::network::{HypothesisRow, Network, Session, TopK};
use miriam_nmt_network::reference::{ReferenceBackend, ReferenceLoader};

use crate::backends::rounding;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// The number of hypotheses of each sentence, and of candidates of each row.
const BEAM: usize = 3;

/// The number of steps that are compared.
const STEPS: usize = 8;

/// Returns the largest allowed difference of two numbers, relative to the first if its magnitude is
/// above one. In half precision, a number that is nearly halfway between two others may be rounded
/// to either, and later results differ a little more. f16 has ten bits of a fraction, bf16 seven.
fn tolerance(format: WeightFormat) -> f32 {
    match format {
        WeightFormat::F32 => 1e-4,
        WeightFormat::F16 => 3e-3,
        WeightFormat::Bf16 => 4e-2,
    }
}

/// Runs both sessions along the hypotheses that the first one prefers, and compares what they find.
fn compare(name: &str, tolerance: f32, [host, gpu]: [&mut dyn Session; 2], sentences: &[&[u32]]) {
    let check = |place: &str, a: f32, b: f32| {
        let error = (a - b).abs() / a.abs().max(1.0);
        assert!(error <= tolerance, "{place}: {a} {b}");
    };
    host.keep_alignments(true);
    gpu.keep_alignments(true);
    let slots = host.begin(sentences, None).unwrap();
    assert_eq!(gpu.begin(sentences, None).unwrap(), slots);
    let mut rows: Vec<HypothesisRow> =
        slots.iter().map(|&slot| HypothesisRow { slot, parent: None, token: None }).collect();
    for step in 0..STEPS {
        let lists = || vec![TopK::new(BEAM, true); rows.len()];
        let (mut expected, mut found) = (lists(), lists());
        host.step(&rows).unwrap();
        host.topk(&mut expected).unwrap();
        gpu.step(&rows).unwrap();
        gpu.topk(&mut found).unwrap();
        let mut next = Vec::new();
        for (row, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let place = format!("{name}, step {step}, row {row}");
            for (rank, (a, b)) in expected.candidates().iter().zip(found.candidates()).enumerate() {
                check(&format!("{place}, rank {rank}"), a.logit, b.logit);
            }
            check(&place, expected.log_normalizer(), found.log_normalizer());
            for (a, b) in host.alignment(row as u32).iter().zip(gpu.alignment(row as u32)) {
                check(&format!("{place}, attention"), *a, *b);
            }
            // A sentence has BEAM hypotheses: at first all from one row, then one from each row.
            let count = if step == 0 { BEAM } else { 1 };
            for candidate in &expected.candidates()[..count.min(expected.candidates().len())] {
                let parent = Some(row as u32);
                next.push(HypothesisRow {
                    slot: rows[row].slot,
                    parent,
                    token: Some(candidate.id),
                });
            }
        }
        // Swap the first two hypotheses of a sentence: their states must follow.
        for group in next.chunk_by_mut(|a, b| a.slot == b.slot) {
            if group.len() > 1 {
                group.swap(0, 1);
            }
        }
        rows = next;
    }
}

fn compare_models(folder: &Path, names: &[&str], format: WeightFormat) {
    let device = CudaDevice::open(0).unwrap();
    for name in names {
        let path = folder.join(name);
        let bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{name}: {e}"));
        let model = &bundle.models[0];
        let speedups = Speedups::default();
        let host = if format == WeightFormat::F32 {
            Network::load_with(model, &path, Precision::F32, &speedups)
        } else {
            let mut parameters = ReferenceLoader::with_rounding(model, &path, rounding(format));
            Network::load_on(ReferenceBackend, &mut parameters, model, &path, &speedups)
        };
        let mut parameters = CudaLoader::new(&device, model, &path, format).unwrap();
        let gpu = Network::load_on(device.clone(), &mut parameters, model, &path, &speedups);
        let vocabulary = model.architecture().embeddings().source_vocab_size as u32;
        let sentence = |length: u32, factor: u32| -> Vec<u32> {
            let words = (0..length).map(|i| 2 + (i * factor + factor) % (vocabulary - 2));
            words.chain([0]).collect()
        };
        let sentences = [sentence(5, 7), sentence(1, 3), sentence(9, 11)];
        let sentences: Vec<&[u32]> = sentences.iter().map(|sentence| &sentence[..]).collect();
        let [mut host, mut gpu] = [host, gpu].map(|network| network.unwrap().session().unwrap());
        compare(name, tolerance(format), [&mut *host, &mut *gpu], &sentences);
    }
}

/// The models of this repository: transformers of all formats, relative positions, Devlin's model.
const MODELS: [&str; 12] = [
    "tiny.npz",
    "tiny.miriam",
    "tiny-ct2-int8",
    "ct2-bart",
    "ct2-base",
    "ct2-relative",
    "ct2-t5",
    "hf-mbart50",
    "hf-t5",
    "stacked-gru.npz",
    "stacked-none.npz",
    "stacked-tanh.npz",
];

/// Copies of the same models in other files and types, which only the loader tells apart.
const COPIES: [&str; 4] = ["tiny-deflated.npz", "tiny-ct2", "tiny-ct2-int16", "tiny-ct2-float16"];

#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn models_of_all_formats() {
    compare_models(&testdata(), &MODELS, WeightFormat::F32);
    compare_models(&testdata(), &COPIES, WeightFormat::F32);
}

#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn models_of_all_formats_in_f16() {
    compare_models(&testdata(), &MODELS, WeightFormat::F16);
}

#[test]
#[ignore = "run by kernels_agree_with_the_cpu"]
fn models_of_all_formats_in_bf16() {
    compare_models(&testdata(), &MODELS, WeightFormat::Bf16);
}
