//! Tests with the models, vocabularies and shortlists of `../shared/data/nmt-oracle`, which Marian
//! and its fork for browsers wrote and read. Without these files, the tests are skipped.

use std::path::Path;

use miriam_nmt::architecture::{
    Activation, Architecture, AutoregressionConfig, CellKind, DecoderStart, Dialect, EncoderKind,
    Gelu, LayerNormStyle, Model, PositionalEncodingKind, PreNormKeys, ProcessStep,
};
use miriam_nmt::checkpoint::{DType, QuantMultipliers, StorageOrder};
use miriam_nmt::shortlist::{Shortlist, ShortlistOptions};
use miriam_nmt::{ModelBundle, Vocabulary};
use miriam_textproc::SentencePiece;
use miriam_textproc::sentencepiece::Encoding;

use crate::oracle_data::{ORACLE_MODELS, oracle_folder};

fn model(folder: &Path, name: &str) -> Model {
    let path = folder.join("models").join(name);
    let mut bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
    bundle.models.remove(0)
}

#[test]
fn both_formats_hold_the_same_model() {
    let Some(folder) = oracle_folder() else { return };
    for name in ORACLE_MODELS {
        let (npz, bin) =
            (model(&folder, &format!("{name}.npz")), model(&folder, &format!("{name}.bin")));
        assert_eq!(npz.architecture(), bin.architecture(), "{name}");
        let unused: &[&str] = if name == "tr-options" { &["Wpos"] } else { &[] };
        assert_eq!(npz.unused_tensors(), unused, "{name}");
        assert_eq!(npz.parameters().len(), bin.parameters().len(), "{name}");
        for ((a, npz), (b, bin)) in npz.parameters().zip(bin.parameters()) {
            assert_eq!((a, npz.shape()), (b, bin.shape()), "{name}");
            assert_eq!(npz.values(), bin.values(), "{name}: {a}");
        }
    }
}

#[test]
fn options_become_the_architecture_that_the_readme_describes() {
    let Some(folder) = oracle_folder() else { return };
    let transformer = |name: &str| match model(&folder, &format!("{name}.npz")).architecture() {
        Architecture::Transformer(transformer) => transformer.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let post = transformer("tr-post");
    assert_eq!((post.embeddings.source_vocab_size, post.embeddings.dim), (1000, 64));
    assert!(post.embeddings.shared && post.embeddings.tied_output);
    assert_eq!((post.encoder.heads, post.encoder.ffn_width), (4, 128));
    assert_eq!(post.postprocess.0, [ProcessStep::Add, ProcessStep::Norm]);
    assert_eq!(
        (post.activation, post.decoder_start),
        (Activation::Relu, DecoderStart::ZeroEmbedding)
    );
    assert_eq!(post.positional_encoding, PositionalEncodingKind::SinusoidalMarian);
    let untied = transformer("tr-post-untied");
    assert!(!untied.embeddings.shared && !untied.embeddings.tied_output);
    assert_eq!(untied.activation, Activation::Swish);
    let pre = transformer("tr-pre");
    assert!(!pre.embeddings.shared && pre.embeddings.tied_output);
    assert_eq!(
        (pre.preprocess.0, pre.postprocess.0),
        (vec![ProcessStep::Norm], vec![ProcessStep::Add])
    );
    assert_eq!((pre.postprocess_top.0, pre.encoder.heads), (vec![ProcessStep::Norm], 8));
    // Marian 1.9.56 wrote this model.
    assert_eq!(pre.pre_norm_keys, PreNormKeys::Raw);
    assert_eq!(pre.activation, Activation::Gelu(Gelu::Sigmoid));
    assert!(matches!(transformer("tr-ssru").autoregression, AutoregressionConfig::Recurrent(_)));
    let AutoregressionConfig::AverageAttention(aan) = transformer("tr-aan-nogate1").autoregression
    else {
        panic!("average attention")
    };
    assert_eq!((aan.ffn_depth, aan.has_gate), (1, false));
    let options = transformer("tr-options");
    assert_eq!((options.tied_layers, options.has_output_projection), (vec![1, 1, 2], false));
    assert_eq!(options.positional_encoding, PositionalEncodingKind::SinusoidalMarian);

    let recurrent = |name: &str| match model(&folder, &format!("{name}.npz")).architecture() {
        Architecture::Recurrent(recurrent) => recurrent.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let deep = recurrent("rnn-deep-ln");
    assert_eq!(deep.encoder.kind, EncoderKind::Alternating);
    assert_eq!((deep.encoder.depth, deep.encoder.cell_depth), (3, 2));
    let decoder = &deep.decoder;
    assert_eq!((decoder.depth, decoder.base_depth, decoder.high_depth), (3, 4, 2));
    assert!(deep.skip_connections && deep.layer_norm_style == Some(LayerNormStyle::Marian));
    assert_eq!(recurrent("rnn-lstm").decoder.cell, CellKind::Lstm);
    assert_eq!(recurrent("rnn-mlstm").encoder.cell, CellKind::Mlstm);
    let nematus = recurrent("nematus-ln");
    assert_eq!(
        (nematus.encoder.cell, nematus.layer_norm_style),
        (CellKind::NematusGru, Some(LayerNormStyle::Nematus))
    );
    assert_eq!((nematus.encoder.cell_depth, nematus.decoder.base_depth), (2, 4));
    assert_eq!(recurrent("amun-ln").encoder.cell, CellKind::Gru);
}

#[test]
fn models_of_nematus_need_no_options() {
    let Some(folder) = oracle_folder() else { return };
    for name in ["nematus", "nematus-ln", "amun-ln"] {
        let name = format!("{name}.npz");
        let mut bytes = std::fs::read(folder.join("models").join(&name)).unwrap();
        let entry = b"special:model.yml.npy";
        let places: Vec<usize> =
            (0..bytes.len() - entry.len()).filter(|&at| bytes[at..].starts_with(entry)).collect();
        assert_eq!(places.len(), 2, "in the entry and in the directory");
        for at in places {
            bytes[at..at + 7].copy_from_slice(b"removed");
        }
        let own = tempfile::tempdir().unwrap();
        std::fs::write(own.path().join(&name), bytes).unwrap();
        let without =
            ModelBundle::open(&own.path().join(&name), None).unwrap_or_else(|e| panic!("{e}"));
        let with = model(&folder, &name);
        assert_eq!(without.models[0].architecture(), with.architecture(), "{name}");
        assert_eq!(without.models[0].unused_tensors(), ["removed:model.yml"]);
    }
}

#[test]
fn a_dialect_selects_the_computation_of_its_version() {
    let Some(folder) = oracle_folder() else { return };
    let mut bundle = ModelBundle::open(&folder.join("models/tr-pre.npz"), None).unwrap();
    bundle.set_dialect(Dialect::Marian);
    let Architecture::Transformer(transformer) = bundle.models[0].architecture() else { panic!() };
    assert_eq!(transformer.pre_norm_keys, PreNormKeys::NormalizedAtFirstStep);
    assert_eq!(transformer.activation, Activation::Gelu(Gelu::Exact));
}

#[test]
fn quantized_weights_of_both_forks_stay_integers() {
    let Some(folder) = oracle_folder() else { return };
    let float = model(&folder, "tr-post.npz");
    let browser = model(&folder, "tr-post.intgemm8.bin");
    let mainline = model(&folder, "tr-post.mainline-intgemm8.bin");
    let mut quantized = 0;
    for (name, tensor) in browser.parameters() {
        let (exact, other) = (float.parameter(name).unwrap(), mainline.parameter(name).unwrap());
        if tensor.dtype() == DType::F32 {
            assert_eq!(tensor.values(), exact.values(), "{name}");
            continue;
        }
        quantized += 1;
        assert_eq!(
            (tensor.dtype(), tensor.order()),
            (DType::I8, StorageOrder::ColumnMajor),
            "{name}"
        );
        assert_eq!(tensor.shape(), exact.shape());
        let Some(&QuantMultipliers::PerTensor(multiplier)) = tensor.multipliers() else {
            panic!("{name}")
        };
        let exact = exact.values();
        let largest = exact.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        assert!((multiplier - 127.0 / largest).abs() < 1e-3 * multiplier, "{name}");
        for model in [tensor, other] {
            for (value, exact) in model.values().iter().zip(&exact) {
                assert!((value - exact).abs() <= 0.5001 / multiplier, "{name}");
            }
        }
    }
    assert_eq!(
        quantized, 32,
        "six matrices in each of 2 encoder and ten in each of 2 decoder layers"
    );
}

#[test]
fn yaml_and_sentencepiece_vocabularies_agree() {
    let Some(folder) = oracle_folder() else { return };
    let yml = Vocabulary::open(&folder.join("vocab.yml")).unwrap();
    let spm = Vocabulary::open(&folder.join("vocab.spm")).unwrap();
    assert!(yml.has_same_ids(&spm));
    assert_eq!((yml.len(), yml.eos_id(), yml.unk_id()), (1000, 0, 1));
    assert_eq!((spm.eos_id(), spm.unk_id()), (0, 1));
}

#[test]
fn tokenization_matches_marian() {
    let Some(folder) = oracle_folder() else { return };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let model = SentencePiece::open(&folder.join("vocab.spm")).unwrap();
    let (text, ids, pieces) = (read("input.txt"), read("input.ids.txt"), read("input.pieces.txt"));
    let mut encoding = Encoding::new();
    let mut lines = 0;
    for ((text, ids), pieces) in text.split('\n').zip(ids.split('\n')).zip(pieces.split('\n')) {
        model.encode(text.as_bytes(), &mut encoding);
        let found: Vec<String> = encoding.ids().iter().map(u32::to_string).collect();
        let with_end = [&found.join(" "), "0"].join(" ");
        assert_eq!(with_end.trim(), if ids.is_empty() { "0" } else { ids }, "{text}");
        let found: Vec<&[u8]> = model.pieces(&encoding).collect();
        assert_eq!(String::from_utf8(found.join(&b" "[..])).unwrap(), pieces, "{text}");
        lines += 1;
    }
    assert_eq!(lines, 61, "60 lines, and the empty text after the last line end");
}

#[test]
fn shortlist_candidates_match_marian() {
    let Some(folder) = oracle_folder() else { return };
    let vocabulary = Vocabulary::open(&folder.join("vocab.yml")).unwrap();
    let options = ShortlistOptions { first: 50, best: 10, threshold: 0.0 };
    let open = |name: &str| {
        Shortlist::open(&folder.join(name), options, &vocabulary, &vocabulary).unwrap()
    };
    let (text, binary) = (open("lex.s2t"), open("lex.bin"));
    let ids = std::fs::read_to_string(folder.join("input.ids.txt")).unwrap();
    let expected = std::fs::read_to_string(folder.join("lex.candidates.txt")).unwrap();
    assert_eq!(ids.lines().count(), 60);
    let mut candidates = Vec::new();
    for (number, (ids, expected)) in (1..).zip(ids.lines().zip(expected.lines())) {
        let ids: Vec<u32> = ids.split(' ').filter_map(|id| id.parse().ok()).collect();
        let expected: Vec<u32> = expected.split(' ').filter_map(|id| id.parse().ok()).collect();
        for (form, list) in [("text", &text), ("binary", &binary)] {
            list.candidates(&ids, &mut candidates);
            assert_eq!(candidates, expected, "line {number}, {form}");
        }
    }
}
