//! Neural models of all formats on the emulated GPU: n-best lists by greedy and
//! by beam search, compared with the CPU's.

use std::path::Path;

use crate::common::project_root;
use crate::nmt_device::emulated::{assert_same_lists, on_cpu, on_gpu};
use crate::nmt_device::{path_str, translation};

/// Beam sizes; lists are as long.
const BEAMS: &[&str] = &["1", "4"];

/// Few tokens: translations of random models rarely end before their limit.
const FEW_TOKENS: [&str; 2] = ["--max-decoding-length", "5"];

/// Checks that the lists of a model are those of the CPU in f32.
fn compare(model: &Path, seed: usize, beam: &str, more: &[&str]) {
    let more = [more, &["--beam-size", beam, "--n-best", beam]].concat();
    let on_device = [&more[..], &["--device", "cuda"]].concat();
    let expected = on_cpu(&translation(model, &[&more[..], &["--precision", "f32"]].concat()));
    let found = on_gpu(&format!("seed={seed}"), &translation(model, &on_device));
    assert!(!found.is_empty(), "{}", model.display());
    assert_same_lists(&format!("{}, beam {beam}", model.display()), &expected, &found);
}

/// A model of `nmt/testdata`, two lines for it, and the options that it needs.
type TestModel = (&'static str, &'static str, &'static [&'static str]);

/// All models with vocabularies, except copies of `tiny-ct2` in other types: the sessions of those
/// and of models without vocabularies are compared in `nmt/cuda/tests`.
const MODELS: [TestModel; 16] = [
    ("ct2-bart", "w0 w22 w21 </s>\nw3 </s>\n", &[]),
    ("ct2-base", "s21 s6 s4\ns3\n", &[]),
    ("ct2-base-v1", "s21 s6 s4\ns3\n", &[]),
    ("ct2-relative", "s2 s18\ns13\n", &[]),
    ("ct2-t5", "w6 w24 w1 </s>\nw9 </s>\n", &[]),
    ("hf-m2m100", "add ade\nac\n", &["--from", "de", "--to", "en"]),
    ("hf-madlad", "add ade\nac\n", &["--to", "en"]),
    ("hf-mbart50", "add ade\nac\n", &["--from", "de_DE", "--to", "en_XX"]),
    ("hf-nllb", "add ade\nac\n", &["--from", "deu_Latn", "--to", "eng_Latn"]),
    ("hf-t5", "add ade\nac\n", &[]),
    ("argos.argosmodel", "aa ab baa\nab\n", &[]),
    ("argos-bpe.argosmodel", "aa ab baa\nab\n", &[]),
    ("opus-mt.zip", "aa ab\nab\n", &[]),
    ("relative.miriam", "w2 w5 w7\nw3\n", &[]),
    ("complete.miriam", "w2 w5 w7\nw3\n", &[]),
    ("tiny-hf", "w2 w5 w7\nw3\n", &[]),
];

/// Translates with some of the models, each in another order of lanes.
fn compare_test_models(part: usize) {
    let data = project_root().join("nmt/testdata");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    let models = MODELS.iter().enumerate().filter(|(number, _)| number % 2 == part);
    for (number, &(name, lines, options)) in models {
        std::fs::write(&text, lines).expect("writable");
        let options = [options, &["-i", path_str(&text)], &FEW_TOKENS].concat();
        for beam in BEAMS {
            compare(&data.join(name), 20 + number, beam, &options);
        }
    }
}

/// In two tests, which run side by side.
#[test]
fn every_second_test_model_translates_as_on_the_cpu() {
    compare_test_models(0);
}

#[test]
fn the_other_test_models_translate_as_on_the_cpu() {
    compare_test_models(1);
}
