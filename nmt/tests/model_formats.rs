//! One small model in every format, written by the programs that own the formats: NumPy,
//! CTranslate2's converter, safetensors. All of them must give the same parameters.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::architecture::{
    Architecture, DecoderStart, Model, PositionalEncodingKind, PreNormKeys,
};
use miriam_nmt::checkpoint::{Checkpoint, DType};
use miriam_nmt::model_file;
use miriam_nmt::shortlist::ShortlistOptions;
use miriam_nmt::{ModelBundle, Segmentation, ShortlistGenerator, Vocabulary};
use miriam_textio::NoProgress;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn open(name: &str) -> ModelBundle {
    ModelBundle::open(&data(name), None).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the largest difference between the parameters of two models, except positional
/// encodings.
fn largest_difference(a: &Model, b: &Model) -> f32 {
    let mut largest = 0.0f32;
    for (name, tensor) in a.parameters().filter(|(name, _)| !name.ends_with("Wpos")) {
        let other = b.parameter(name).unwrap_or_else(|| panic!("{name}"));
        // The vocabulary of Hugging Face has one more token.
        let pairs = tensor.values().into_iter().zip(other.values());
        largest = pairs.fold(largest, |most, (a, b)| most.max((a - b).abs()));
    }
    largest
}

#[test]
fn stored_and_deflated_archives_are_the_same() {
    let (stored, deflated) = (open("tiny.npz"), open("tiny-deflated.npz"));
    assert_eq!(stored.models[0].architecture(), deflated.models[0].architecture());
    assert_eq!(largest_difference(&stored.models[0], &deflated.models[0]), 0.0);
    assert_eq!(stored.models[0].parameters().len(), 44);
}

#[test]
fn folders_of_ctranslate2_hold_the_marian_model() {
    let marian = open("tiny.npz");
    // Weights are at most about 3: a quantisation step is 3 / 127, or 3 / 2^10.
    for (name, element, most) in [
        ("tiny-ct2", DType::F32, 0.0),
        ("tiny-ct2-int8", DType::I8, 0.012),
        ("tiny-ct2-int16", DType::I16, 0.0016),
        ("tiny-ct2-float16", DType::F16, 0.001),
    ] {
        let bundle = open(name);
        let model = &bundle.models[0];
        let largest = largest_difference(&marian.models[0], model);
        assert!(largest <= most, "{name}: {largest}");
        assert_eq!(model.parameter("decoder_l1_ffn_W1").unwrap().dtype(), element, "{name}");
        let Architecture::Transformer(transformer) = model.architecture() else { panic!() };
        assert_eq!(transformer.positional_encoding, PositionalEncodingKind::Table { length: 2048 });
        assert_eq!(transformer.decoder_start, DecoderStart::ZeroEmbedding);
        assert_eq!(transformer.pre_norm_keys, PreNormKeys::Normalized);
        assert_eq!(transformer.norm_epsilon, 1e-5);
        // The angles of two sines at position 1: 1, and exp(-ln(10000) / 2) = 0.01.
        let positions = model.parameter("encoder_Wpos").unwrap().values();
        let row: Vec<f32> = [1.0f64, 0.01]
            .iter()
            .flat_map(|angle| [angle.sin(), angle.cos()])
            .map(|value| value as f32)
            .collect();
        for (k, expected) in [row[0], row[2], row[1], row[3]].into_iter().enumerate() {
            assert!((positions[4 + k] - expected).abs() < 1e-3, "{name}: {k}");
        }
        let words = bundle.tokenizers.unwrap();
        assert_eq!(words.vocabularies[1].word(23), Some(&b"w23"[..]));
    }
}

#[test]
fn a_folder_of_hugging_face_holds_the_marian_model() {
    let (marian, bundle) = (open("tiny.npz"), open("tiny-hf"));
    let model = &bundle.models[0];
    assert_eq!(largest_difference(&marian.models[0], model), 0.0);
    assert!(model.unused_tensors().is_empty(), "{:?}", model.unused_tensors());
    let Architecture::Transformer(transformer) = model.architecture() else { panic!() };
    assert_eq!(transformer.embeddings.source_vocab_size, 25);
    assert_eq!(transformer.decoder_start, DecoderStart::Token(24));
    assert_eq!(transformer.embeddings.suppress_tokens, [24]);
    assert_eq!(transformer.positional_encoding, PositionalEncodingKind::Sinusoidal);
    assert_eq!(bundle.tokenizers.unwrap().vocabularies[0].find(b"<pad>"), Some(24));
}

/// Since version 5, `transformers` writes a part of the keys of `config.json` to a second file.
#[test]
fn generation_config_of_hugging_face_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let config = std::fs::read_to_string(data("tiny-hf").join("config.json")).unwrap();
    let names = ["bad_words_ids", "decoder_start_token_id"];
    let mut both: serde_json::Value = serde_json::from_str(&config).unwrap();
    let moved = names.map(|name| (name, both.as_object_mut().unwrap().remove(name).unwrap()));
    let generation: serde_json::Map<_, _> =
        moved.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let put = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    // The start token need not be `<pad>`.
    both["pad_token_id"] = 3.into();
    put("config.json", both.to_string());
    put("generation_config.json", serde_json::Value::Object(generation).to_string());
    for name in ["model.safetensors", "vocab.json"] {
        std::fs::copy(data("tiny-hf").join(name), folder.path().join(name)).unwrap();
    }
    let (one, two) = (open("tiny-hf"), ModelBundle::open(folder.path(), None).unwrap());
    assert_eq!(one.models[0].architecture(), two.models[0].architecture());
    put("generation_config.json", "{\"bad_words_ids\": [[".into());
    let Err(error) = ModelBundle::open(folder.path(), None) else { panic!("a damaged file") };
    assert!(error.to_string().contains("generation_config.json"), "{error}");
}

#[test]
fn model_files_hold_the_converted_model() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["tiny.npz", "tiny-ct2", "tiny-ct2-int8", "tiny-ct2-int16", "tiny-hf"] {
        let vocabulary = data("tiny.vocab.yml");
        let vocabularies = (name == "tiny.npz").then_some([vocabulary.as_path(), &vocabulary]);
        let bundle = ModelBundle::open(&data(name), vocabularies).unwrap();
        let path = folder.path().join("model.miriam");
        let left_out = model_file::write(&bundle, None, &path, &NoProgress).unwrap();
        assert!(left_out.is_empty(), "{left_out:?}");
        let again = ModelBundle::open(&path, None).unwrap();
        let (model, ours) = (&bundle.models[0], &again.models[0]);
        assert_eq!(model.architecture(), ours.architecture());
        for ((a, tensor), (b, other)) in model.parameters().zip(ours.parameters()) {
            assert_eq!((a, tensor.shape()), (b, other.shape()));
            assert_eq!(tensor.multipliers(), other.multipliers(), "{name}: {a}");
            assert_eq!(tensor.values(), other.values(), "{name}: {a}");
        }
        let words = [bundle.tokenizers.unwrap(), again.tokenizers.unwrap()];
        assert_eq!(words[0].source_boundary_tokens, words[1].source_boundary_tokens, "{name}");
        for side in 0..2 {
            let [a, b] = [&words[0], &words[1]].map(|words| &words.vocabularies[side]);
            assert!(a.has_same_ids(b));
            assert_eq!((a.eos_id(), a.unk_id()), (b.eos_id(), b.unk_id()));
            assert_eq!(b.find(b"w7"), Some(7));
            assert_eq!(b.find(b"w700"), None);
        }
        let container = miriam_storage::Container::open_any(&path, Default::default()).unwrap();
        miriam_nmt::verify(&container).unwrap();
    }
}

#[test]
fn a_file_written_by_version_1_is_read() {
    let (golden, origin) = (open("tiny.miriam"), open("tiny-ct2-int8"));
    assert_eq!(golden.models[0].architecture(), origin.models[0].architecture());
    assert_eq!(largest_difference(&origin.models[0], &golden.models[0]), 0.0);
    let words = golden.tokenizers.unwrap();
    assert_eq!(words.vocabularies[0].find(b"w23"), Some(23));
    let container = miriam_storage::Container::open_any(&data("tiny.miriam"), Default::default());
    miriam_nmt::verify(&container.unwrap()).unwrap();
}

#[test]
fn model_files_hold_segmentation_and_shortlist() {
    // As OPUS-MT packs its models: the SentencePiece models are separate from the vocabulary.
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    let spm = Path::new(env!("CARGO_MANIFEST_DIR")).join("../base/textproc/testdata/unigram.spm");
    let spm = std::fs::read(spm).unwrap();
    put("source.spm", &spm);
    put("target.spm", &spm);
    put("opus.vocab.yml", &std::fs::read(data("tiny.vocab.yml")).unwrap());
    put("opus.npz", &std::fs::read(data("tiny.npz")).unwrap());
    put("lex.s2t", b"w3 w2 0.5\nw4 w2 0.25\n");
    put("preprocess.sh", b"spm_encode --model source.spm\n");
    put(
        "decoder.yml",
        b"models:\n  - /elsewhere/opus.npz\nvocabs:\n  - opus.vocab.yml\n  - opus.vocab.yml\n\
          beam-size: 6\nnormalize: 1\nword-penalty: 0\nmini-batch: 1\nmaxi-batch: 1\nmaxi-batch-sort: src\n\
          relative-paths: true\nshortlist: [lex.s2t, 5, 1]\n",
    );
    let bundle = ModelBundle::open(folder.path(), None).unwrap();
    assert_eq!(bundle.format, "OPUS-MT folder");
    assert_eq!(bundle.settings.beam_size, Some(6));
    let path = folder.path().join("model.miriam");
    model_file::write(&bundle, None, &path, &NoProgress).unwrap();
    let again = ModelBundle::open(&path, None).unwrap();
    assert_eq!((again.settings.beam_size, again.settings.normalize), (Some(6), Some(1.0)));
    for bundle in [bundle, again] {
        let words = bundle.tokenizers.unwrap();
        for segmentation in &words.segmentation {
            let Segmentation::SentencePiece(pieces) = segmentation else { panic!("pieces") };
            assert_eq!(pieces.bytes[..], spm[..]);
        }
        let Some(ShortlistGenerator::Shortlist(list)) = bundle.shortlist_generator else {
            panic!()
        };
        let mut candidates = Vec::new();
        list.candidates(&[2], &mut candidates);
        assert_eq!(candidates, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(list.translations_of(2), [3]);
    }
}

/// To Marian, files of different names are different vocabularies, whatever their content is.
#[test]
fn model_files_hold_whether_both_sides_share_a_vocabulary() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("lex");
    std::fs::write(&list, "w3 w2 0.5\n").unwrap();
    let (one, other) = (data("tiny.vocab.yml"), folder.path().join("other.yml"));
    std::fs::copy(&one, &other).unwrap();
    for (target, is_shared) in [(&one, true), (&other, false)] {
        let bundle = ModelBundle::open(&data("tiny.npz"), Some([&one, target])).unwrap();
        let path = folder.path().join("model.miriam");
        model_file::write(&bundle, None, &path, &NoProgress).unwrap();
        let again = folder.path().join("again.miriam");
        let opened = ModelBundle::open(&path, None).unwrap();
        model_file::write(&opened, None, &again, &NoProgress).unwrap();
        let again = ModelBundle::open(&again, None).unwrap();
        assert_eq!([&opened.format, &again.format], ["miriam, from: NumPy archive"; 2]);
        for mut bundle in [bundle, opened, again] {
            let options = ShortlistOptions { first: 2, ..ShortlistOptions::default() };
            let path = bundle.path.clone();
            bundle.set_shortlist(&list, options).unwrap();
            let Some(ShortlistGenerator::Shortlist(list)) = bundle.shortlist_generator else {
                panic!("it was set")
            };
            let mut candidates = Vec::new();
            list.candidates(&[20], &mut candidates);
            assert_eq!(candidates.contains(&20), is_shared, "{}", path.display());
        }
    }
}

/// Older model files have other names for ids that the tokeniser lacks.
#[test]
fn names_of_ids_without_a_token_are_not_text() {
    let mut bundle = open("hf-t5");
    let mut words = bundle.tokenizers.take().unwrap();
    let tokens = (0..).zip(words.vocabularies[1].iter()).map(|(id, token)| match id {
        48 => "<no-token-48>".into(),
        49 => "<no token has the id 49>".into(),
        _ => String::from_utf8(token.into()).unwrap(),
    });
    let list = tokens.collect::<Vec<_>>().join("\n");
    let vocabulary = Vocabulary::parse(list.as_bytes(), Path::new("words")).unwrap();
    words.vocabularies[1] = Arc::new(vocabulary);
    bundle.tokenizers = Some(words);
    let special = bundle.special_target_ids();
    assert!([48, 49].iter().all(|id| special.contains(id)), "{special:?}");
}

#[test]
fn formats_are_detected_by_magic_bytes() {
    for (name, format) in [
        ("tiny.npz", "NumPy archive"),
        ("tiny-ct2/model.bin", "CTranslate2 version 6, revision 7"),
        ("tiny-hf/model.safetensors", "safetensors"),
        ("tiny-pytorch/archive.bin", "PyTorch pickle"),
        ("tiny-pytorch/plain.bin", "PyTorch pickle"),
    ] {
        let checkpoint = Checkpoint::open(&data(name), Default::default()).unwrap();
        assert_eq!(checkpoint.format().to_string(), format);
    }
    let error = Checkpoint::open(&data("tiny.vocab.yml"), Default::default()).err().unwrap();
    assert!(error.to_string().contains("not a model"), "{error}");
}
