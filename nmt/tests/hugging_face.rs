//! Folders of Hugging Face give the same translations as its library `transformers`. The models are
//! small and random, of several architectures (`scripts/make_hf_golden.py`). They translate text to
//! pieces; multilingual models are given the languages by name.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::engine::{Autotuner, Cpu, Precision};
use miriam_nmt::translate::{
    SourceText, Tokenizer, TokenizerScratch, TranslationOptions, Translator,
};
use miriam_nmt::{ModelBundle, Segmentation};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};

/// The tolerance of scores: `transformers` adds floats in another order.
const TOLERANCE: f64 = 1e-4;
/// The maximum number of tokens of a translation, including the token of its language.
const MAX_LENGTH: usize = 12;

/// A translation in pieces with its score.
type Scored = (String, f64);

/// The folders and the languages to translate from and to.
const MODELS: [(&str, Option<&str>, Option<&str>); 5] = [
    ("hf-m2m100", Some("eng_Latn"), Some("es")),
    ("hf-nllb", Some("en"), Some("__es__")),
    ("hf-mbart50", Some("en-US"), Some("spa")),
    ("hf-t5", None, None),
    ("hf-madlad", None, Some(">>spa<<")),
];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Returns the translation of each line of `text` with the beam size `beam`, in pieces.
fn translate(bundle: ModelBundle, text: &str, beam: usize) -> Vec<Scored> {
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.search.beam_size = beam;
    options.search.max_length = MAX_LENGTH;
    if bundle.settings.min_target_length.is_none() {
        options.search.min_length = 0;
    }
    options.output.n_best = true;
    options.output.as_pieces = true;
    options.precision = Precision::F32;
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let translator = Translator::new(bundle, options, &tuner).unwrap();
    let input = Input::from_reader(Cursor::new(text.to_owned()), "text", None).unwrap();
    let source = SourceText { lines: Lines::new(input), prefixes: None };
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("translations");
    let output = Output::create(&path).unwrap();
    let stop = CancellationToken::new();
    let outcome = translator.translate(source, false, output, &stop, &NoProgress, &mut |error| {
        panic!("line {}: {}", error.line, error.reason)
    });
    outcome.unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    let scored = written.lines().map(|line| {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let [_, pieces, _, score] = fields[..] else { panic!("{line}") };
        (pieces.to_owned(), score.parse().unwrap())
    });
    scored.collect()
}

/// Returns the texts of a model's `expected.tsv` and their translations with the beam size `beam`.
fn golden(folder: &Path, beam: usize) -> (String, Vec<Scored>) {
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let (mut text, mut translations) = (String::new(), Vec::new());
    let beam_lines = expected.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[1] == beam.to_string()).then_some(fields)
    });
    for fields in beam_lines {
        text += &format!("{}\n", fields[0]);
        translations.push((fields[2].to_owned(), fields[3].parse().unwrap()));
    }
    (text, translations)
}

fn assert_equal(found: &[Scored], expected: &[Scored], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (line, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.0, expected.0, "{what}, line {line}: {found:?} {expected:?}");
        let difference = (found.1 - expected.1).abs();
        assert!(difference < TOLERANCE, "{what}, line {line}: {found:?} {expected:?}");
    }
}

fn open(path: &Path, from: Option<&str>, to: Option<&str>) -> ModelBundle {
    let mut bundle = ModelBundle::open(path, None).unwrap();
    bundle.set_languages(from, to).unwrap();
    bundle
}

#[test]
fn small_models_translate_as_in_transformers() {
    for (name, from, to) in MODELS {
        for beam in [1, 4] {
            let (text, expected) = golden(&data(name), beam);
            assert_eq!(expected.len(), 8);
            let found = translate(open(&data(name), from, to), &text, beam);
            assert_equal(&found, &expected, &format!("{name}, beam {beam}"));
        }
    }
}

#[test]
fn small_models_keep_their_translations_in_a_miriam_file() {
    let target = tempfile::tempdir().unwrap();
    for (name, from, to) in MODELS {
        let bundle = ModelBundle::open(&data(name), None).unwrap();
        for precision in [None, Some(Precision::F32)] {
            let file = target.path().join("model.miriam");
            miriam_nmt::model_file::write(&bundle, precision, &file, &NoProgress).unwrap();
            let (text, expected) = golden(&data(name), 4);
            let found = translate(open(&file, from, to), &text, 4);
            assert_equal(&found, &expected, name);
        }
    }
}

fn copy(name: &str, to: &Path) {
    for entry in std::fs::read_dir(data(name)).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Sets or removes a key of a folder's `config.json`.
fn configure(folder: &Path, key: &str, value: Option<serde_json::Value>) {
    set_key(folder.join("config.json"), key, value);
}

/// Sets or removes a key of a file.
fn set_key(path: PathBuf, key: &str, value: Option<serde_json::Value>) {
    let mut config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let config_keys = config.as_object_mut().unwrap();
    match value {
        Some(value) => config_keys.insert(key.into(), value),
        None => config_keys.remove(key),
    };
    std::fs::write(&path, config.to_string()).unwrap();
}

/// Returns the header of a folder's weights, and the data after it.
fn weights(folder: &Path) -> (serde_json::Value, Vec<u8>) {
    let file = std::fs::read(folder.join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&file[8..8 + length]).unwrap(), file[8 + length..].to_vec())
}

/// Adds a tensor to a folder's weights, or removes it.
fn set_tensor(folder: &Path, name: &str, tensor: Option<(&str, &[usize], &[u8])>) {
    let (mut header, mut data) = weights(folder);
    header.as_object_mut().unwrap().remove(name);
    if let Some((dtype, shape, bytes)) = tensor {
        let offsets = [data.len(), data.len() + bytes.len()];
        let entry = serde_json::json!({"dtype": dtype, "shape": shape, "data_offsets": offsets});
        header[name] = entry;
        data.extend_from_slice(bytes);
    }
    write_weights(folder, &header, &data);
}

/// Writes the weights of a folder from their header and data.
fn write_weights(folder: &Path, header: &serde_json::Value, data: &[u8]) {
    let header = header.to_string().into_bytes();
    let file = [&(header.len() as u64).to_le_bytes()[..], &header, data].concat();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
}

/// Returns the error of a folder after a change; empty if there is none.
fn error_of(model: &str, change: impl Fn(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(model, folder.path());
    change(folder.path());
    ModelBundle::open(folder.path(), None).err().map_or(String::new(), |error| error.to_string())
}

#[test]
fn weights_that_are_not_those_of_the_configuration_are_rejected() {
    let number = |n: u64| Some(serde_json::json!(n));
    let error = error_of("hf-t5", |folder| {
        let quantization = serde_json::json!({"quant_method": "bitsandbytes"});
        configure(folder, "quantization_config", Some(quantization));
    });
    assert!(error.contains("quantised") && error.contains("bitsandbytes"), "{error}");
    // The weights have one layer more than the configuration.
    let more = "encoder.block.2.layer.0.layer_norm.weight";
    let error = error_of("hf-t5", |folder| set_tensor(folder, more, Some(("F32", &[8], &[0; 32]))));
    assert!(error.contains(more) && error.contains("config.json"), "{error}");
    let unused = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
    let error =
        error_of("hf-t5", |folder| set_tensor(folder, unused, Some(("F32", &[1, 3], &[0; 12]))));
    assert_eq!(error, "", "T5's files have it");
    let integers: &[u8] = &[1; 134 * 8];
    let tensor = Some(("I8", &[134, 8][..], integers));
    let error = error_of("hf-t5", |folder| set_tensor(folder, "lm_head.weight", tensor));
    assert!(error.contains("lm_head.weight") && error.contains("integers"), "{error}");
    // The error names the unknown type of elements, not parameters that would be missing.
    let bytes: &[u8] = &[0; 134 * 8];
    let tensor = Some(("F8_E4M3", &[134, 8][..], bytes));
    let error = error_of("hf-t5", |folder| set_tensor(folder, "shared.weight", tensor));
    assert!(error.contains("shared.weight") && error.contains("F8_E4M3"), "{error}");
    assert!(error.contains("Wemb"), "the error of the rest may have another cause: {error}");
    // A bias that is missing counts as zeros, but this one could not be read.
    let tensor = Some(("F8_E4M3", &[1, 134][..], &bytes[..134]));
    let error = error_of("hf-mbart50", |folder| set_tensor(folder, "final_logits_bias", tensor));
    assert!(error.contains("final_logits_bias") && error.contains("F8_E4M3"), "{error}");
    // Memory is allocated for the sizes of tensors, not for sizes that a configuration claims.
    for (model, key) in [("hf-t5", "d_ff"), ("hf-t5", "vocab_size"), ("hf-mbart50", "vocab_size")] {
        for size in [1 << 36, 1 << 60] {
            let error = error_of(model, |folder| {
                set_tensor(folder, "final_logits_bias", None);
                configure(folder, key, number(size));
            });
            assert!(!error.is_empty(), "{model} with {key} {size}");
        }
    }
    for key in ["num_heads", "d_kv"] {
        let error = error_of("hf-t5", |folder| configure(folder, key, number(u64::MAX)));
        assert!(error.contains("config.json") && error.contains(key), "{error}");
    }
}

#[test]
fn models_that_were_saved_inside_of_others_are_recognised() {
    for prefix in ["module.", "_orig_mod."] {
        let error = error_of("hf-t5", |folder| {
            let (header, data) = weights(folder);
            let entries = header.as_object().unwrap().iter().map(|(name, entry)| {
                let prefix = if name == "__metadata__" { "" } else { prefix };
                (format!("{prefix}{name}"), entry.clone())
            });
            write_weights(folder, &serde_json::Value::Object(entries.collect()), &data);
        });
        assert!(error.contains(prefix) && error.contains("save_pretrained"), "{error}");
    }
}

#[test]
fn configurations_must_be_complete_objects() {
    for file in ["config.json", "generation_config.json"] {
        let error = error_of("hf-t5", |folder| std::fs::write(folder.join(file), "[1]").unwrap());
        assert!(error.contains(file) && error.contains("expected a map"), "{error}");
    }
    for (key, reason) in [("model_type", "no model_type"), ("d_kv", "d_kv: the key is missing")] {
        let error = error_of("hf-t5", |folder| configure(folder, key, None));
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn tied_tables_must_be_equal() {
    let output = |folder: &Path, change: u8| {
        let (header, data) = weights(folder);
        let range = |at: usize| header["shared.weight"]["data_offsets"][at].as_u64().unwrap();
        let mut table = data[range(0) as usize..range(1) as usize].to_vec();
        table[0] ^= change;
        // Without this key, the folder is of an older version, in which `tie_word_embeddings` alone
        // says whether tables are tied.
        configure(folder, "scale_decoder_outputs", None);
        set_tensor(folder, "lm_head.weight", Some(("F32", &[134, 8], &table)));
    };
    assert_eq!(error_of("hf-t5", |folder| output(folder, 0)), "");
    let error = error_of("hf-t5", |folder| output(folder, 1));
    assert!(error.contains("lm_head.weight") && error.contains("tie_word_embeddings"), "{error}");
    // Version 5 of `transformers` marks every MT5 as tied.
    let error = error_of("hf-t5", |folder| {
        output(folder, 1);
        configure(folder, "model_type", Some("mt5".into()));
        configure(folder, "transformers_version", Some("5.24.0".into()));
    });
    assert_eq!(error, "");
}

#[test]
fn the_version_that_wrote_an_mt5_decides_whether_its_outputs_are_scaled() {
    const SCALES: &str = "scale_decoder_outputs";
    let translated = |changes: &[(&str, Option<serde_json::Value>)]| {
        let folder = tempfile::tempdir().unwrap();
        copy("hf-t5", folder.path());
        for (key, value) in changes {
            configure(folder.path(), key, value.clone());
        }
        translate(open(folder.path(), None, None), "ade bdadc\n", 4)
    };
    let mt5 = |version: &str| {
        translated(&[
            ("model_type", Some("mt5".into())),
            ("transformers_version", Some(version.into())),
            (SCALES, None),
        ])
    };
    let scaled = translated(&[(SCALES, Some(true.into()))]);
    let unscaled = translated(&[(SCALES, Some(false.into()))]);
    assert_ne!(scaled, unscaled);
    assert_eq!(mt5("4.57.1"), scaled);
    assert_eq!(mt5("5.24.0"), unscaled);
}

/// Returns the embedding table of a folder, and its shape.
fn shared_table(folder: &Path) -> (Vec<u8>, [usize; 2]) {
    let (header, data) = weights(folder);
    let entry = &header["model.shared.weight"];
    let pair = |key: &str| [0, 1].map(|at| entry[key][at].as_u64().unwrap() as usize);
    let [from, to] = pair("data_offsets");
    (data[from..to].to_vec(), pair("shape"))
}

#[test]
fn untied_tables_may_all_differ() {
    let cases = ["tiny-hf", "hf-m2m100", "hf-mbart50"].map(|name| [(name, false), (name, true)]);
    // Version 5 of `transformers` also writes the shared table, which the model does not use.
    for (name, keeps_shared) in cases.into_iter().flatten() {
        let error = error_of(name, |folder| {
            let (mut table, shape) = shared_table(folder);
            if !keeps_shared {
                set_tensor(folder, "model.shared.weight", None);
            }
            for side in ["model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head"] {
                table[0] = table[0].wrapping_add(1);
                set_tensor(folder, &format!("{side}.weight"), Some(("F32", &shape, &table)));
            }
            configure(folder, "tie_word_embeddings", Some(false.into()));
        });
        assert_eq!(error, "", "{name}, shared table: {keeps_shared}");
    }
}

#[test]
fn an_untied_decoder_reads_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    copy("hf-m2m100", folder.path());
    let bundle = ModelBundle::open(folder.path(), None).unwrap();
    let spanish = bundle.tokenizers.unwrap().vocabularies[1].find(b"__es__").unwrap() as usize;
    let (table, shape) = shared_table(folder.path());
    let mut changed = table.clone();
    // The decoder alone reads the token of the target language.
    let row = spanish * 4 * shape[1];
    changed[row..row + 4].copy_from_slice(&1e3f32.to_le_bytes());
    for (name, values) in [
        ("model.encoder.embed_tokens.weight", &changed),
        ("model.decoder.embed_tokens.weight", &table),
        ("lm_head.weight", &table),
    ] {
        set_tensor(folder.path(), name, Some(("F32", &shape, values)));
    }
    configure(folder.path(), "tie_word_embeddings", Some(false.into()));
    let (text, expected) = golden(&data("hf-m2m100"), 4);
    let found = translate(open(folder.path(), Some("en"), Some("es")), &text, 4);
    assert_equal(&found, &expected, "untied");
}

#[test]
fn activations_are_known_by_the_names_of_transformers() {
    for name in ["relu", "gelu", "gelu_python", "gelu_new", "gelu_fast", "quick_gelu", "silu"] {
        let key = "activation_function";
        let error = error_of("tiny-hf", |folder| configure(folder, key, Some(name.into())));
        assert_eq!(error, "", "{name}");
    }
    let error = error_of("tiny-hf", |folder| configure(folder, "activation_function", None));
    assert!(error.contains("activation_function is missing"), "{error}");
}

/// A `tokenizer.json` with merges splits text like the SentencePiece model that it was made from.
#[test]
fn merges_of_a_tokenizer_file_cut_as_sentencepiece() {
    let folder = tempfile::tempdir().unwrap();
    copy("hf-nllb", folder.path());
    let open = || ModelBundle::open(folder.path(), None).unwrap().tokenizers.unwrap();
    let by_pieces = Tokenizer::new(&open(), 0);
    std::fs::remove_file(folder.path().join("sentencepiece.bpe.model")).unwrap();
    let file = folder.path().join("tokenizer.json");
    std::fs::rename(folder.path().join("bpe-tokenizer.json"), &file).unwrap();
    let by_merges = Tokenizer::new(&open(), 0);
    let mut scratch = TokenizerScratch::default();
    let (text, _) = golden(&data("hf-nllb"), 1);
    let mut seed = 1u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    let random_line = |_| -> String {
        let letters = "abcdefé ";
        let count = random(60) as usize;
        (0..count).map(|_| letters.chars().nth(random(8) as usize).unwrap()).collect()
    };
    let lines: Vec<String> = (0..200).map(random_line).collect();
    for line in text.lines().chain(lines.iter().map(String::as_str)) {
        let pieces = by_pieces.encode(line.as_bytes(), &mut scratch);
        let merged = by_merges.encode(line.as_bytes(), &mut scratch);
        assert!(pieces.iter().eq(merged.iter()), "{line}: {pieces:?} {merged:?}");
    }
    // In SentencePiece, all merges that make the same piece have the same rank.
    let json = std::fs::read_to_string(&file).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let merges = value["model"]["merges"].as_array_mut().unwrap();
    let first = merges[0].clone();
    merges.push(first);
    std::fs::write(&file, value.to_string()).unwrap();
    let error = ModelBundle::open(folder.path(), None).err().unwrap().to_string();
    assert!(error.contains("different ranks"), "{error}");
}

/// If `generation_config.json` forces the language of translations, it need not be named.
#[test]
fn a_forced_first_token_comes_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    copy("hf-m2m100", folder.path());
    let bundle = ModelBundle::open(folder.path(), None).unwrap();
    let words = bundle.tokenizers.unwrap();
    let spanish = words.vocabularies[1].find(b"__es__").unwrap();
    let path = folder.path().join("generation_config.json");
    let config = std::fs::read_to_string(&path).unwrap();
    let forced = config.replacen('{', &format!("{{\"forced_bos_token_id\": {spanish},"), 1);
    std::fs::write(&path, forced).unwrap();
    let (text, expected) = golden(&data("hf-m2m100"), 4);
    let found = translate(open(folder.path(), Some("en"), None), &text, 4);
    assert_equal(&found, &expected, "forced");
    let rows = words.vocabularies[1].len();
    let wrong = config.replacen('{', &format!("{{\"forced_bos_token_id\": {rows},"), 1);
    std::fs::write(&path, wrong).unwrap();
    let error = ModelBundle::open(folder.path(), None).err().unwrap().to_string();
    assert!(error.contains("forced_bos_token_id"), "{error}");
}

/// The slow tokenisers of transformers list a language that was added later among the others, and
/// state its id in `added_tokens.json`.
#[test]
fn stated_ids_of_tokens_come_before_the_list_of_languages() {
    let folder = tempfile::tempdir().unwrap();
    copy("hf-nllb", folder.path());
    let ids = |tokens: &[&str]| -> Vec<Option<u32>> {
        let words = ModelBundle::open(folder.path(), None).unwrap().tokenizers.unwrap();
        tokens.iter().map(|token| words.vocabularies[1].find(token.as_bytes())).collect()
    };
    let tokens = ["ace_Arab", "deu_Latn", "zho_Hant", "<mask>", "zzz_Latn"];
    assert_eq!(ids(&tokens), [Some(31), Some(32), Some(36), Some(37), None]);
    let list = r#"{"additional_special_tokens": ["zzz_Latn", "ace_Arab", "deu_Latn", "eng_Latn",
        "spa_Latn", "zho_Hans", "zho_Hant"]}"#;
    std::fs::write(folder.path().join("special_tokens_map.json"), list).unwrap();
    let stated = folder.path().join("added_tokens.json");
    std::fs::write(&stated, r#"{"<mask>": 37, "zzz_Latn": 38}"#).unwrap();
    assert_eq!(ids(&tokens), [31, 32, 36, 37, 38].map(Some));
    std::fs::write(&stated, r#"{"<mask>": 31, "zzz_Latn": 39}"#).unwrap();
    assert_eq!(ids(&tokens), [32, 33, 37, 31, 39].map(Some));
}

/// MarianMT with tokens that were added after its training, and with rows that pad its table.
#[test]
fn vocabularies_of_marian_may_be_shorter_than_the_table() {
    let folder = tempfile::tempdir().unwrap();
    copy("tiny-hf", folder.path());
    let path = folder.path().join("vocab.json");
    let mut ids: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let rows = ids.len();
    let mut tokens: Vec<(u64, String)> =
        ids.iter().map(|(token, id)| (id.as_u64().unwrap(), token.clone())).collect();
    tokens.sort_unstable();
    let (padding, added) = (tokens.pop().unwrap(), tokens.pop().unwrap());
    assert_eq!([added.0, padding.0], [rows as u64 - 2, rows as u64 - 1]);
    ids.retain(|token, _| ![&added.1, &padding.1].contains(&token));
    std::fs::write(&path, serde_json::to_vec(&ids).unwrap()).unwrap();
    let stated = serde_json::json!({ added.1.clone(): added.0 });
    std::fs::write(folder.path().join("added_tokens.json"), stated.to_string()).unwrap();
    let pieces = data("hf-nllb").join("sentencepiece.bpe.model");
    std::fs::copy(pieces, folder.path().join("source.spm")).unwrap();
    let words = ModelBundle::open(folder.path(), None).unwrap().tokenizers.unwrap();
    // Without target.spm both sides share the pieces of the source.
    assert!(words.segmentation.iter().all(|side| matches!(side, Segmentation::SentencePiece(_))));
    for vocabulary in words.vocabularies {
        assert_eq!(vocabulary.len(), rows);
        assert_eq!(vocabulary.find(added.1.as_bytes()), Some(added.0 as u32));
        assert_eq!(vocabulary.find(padding.1.as_bytes()), None);
    }
}

#[test]
fn pointers_of_git_and_other_tokenisers_are_rejected_by_name() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
    for file in ["tokenizer.json", "model.safetensors"] {
        let message = error_of("hf-mbart50", |folder| {
            std::fs::write(folder.join(file), pointer).unwrap();
        });
        assert!(message.contains(file) && message.contains("git lfs pull"), "{message}");
    }
    let message = error_of("hf-m2m100", |folder| {
        let config = r#"{"tokenizer_class": "SMALL100Tokenizer"}"#;
        std::fs::write(folder.join("tokenizer_config.json"), config).unwrap();
    });
    assert!(message.contains("SMaLL-100"), "{message}");
}

#[test]
fn languages_that_a_model_does_not_have_are_rejected_with_the_list() {
    let refusal = |name: &str, from: Option<&str>, to: Option<&str>| {
        let mut bundle = ModelBundle::open(&data(name), None).unwrap();
        bundle.set_languages(from, to).unwrap_err().to_string()
    };
    let error = refusal("hf-nllb", Some("en"), Some("tlh"));
    assert!(error.contains("tlh") && error.contains("deu_Latn eng_Latn spa_Latn"), "{error}");
    let error = refusal("hf-nllb", Some("xx"), Some("es"));
    assert!(error.contains("xx"), "{error}");
    assert!(refusal("hf-madlad", Some("en"), Some("es")).contains("--from"));
    assert!(refusal("hf-t5", None, Some("es")).contains("names no languages"));
}

#[test]
fn languages_must_be_named_before_text_is_translated() {
    let missing = |name: &str, from: Option<&str>, to: Option<&str>| {
        open(&data(name), from, to).missing_languages().unwrap_or_default()
    };
    let message = missing("hf-mbart50", None, None);
    assert!(message.contains("--from") && message.contains("--to") && message.contains("de_DE"));
    let message = missing("hf-nllb", Some("en"), None);
    assert!(!message.contains("--from") && message.contains("--to"), "{message}");
    assert_eq!(missing("hf-nllb", Some("en"), Some("de")), "");
    for name in ["hf-t5", "hf-madlad"] {
        assert_eq!(missing(name, None, None), "", "{name}");
    }
}

#[test]
fn unsupported_parts_of_folders_are_rejected_by_name() {
    let refusal = |name: &str, file: &str, from: &str, to: &str| {
        let folder = tempfile::tempdir().unwrap();
        copy(name, folder.path());
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        ModelBundle::open(folder.path(), None).err().map(|e| e.to_string()).unwrap_or_default()
    };
    for (name, file, from, to, message) in [
        ("hf-t5", "config.json", "\"t5\"", "\"bert\"", "a model of type bert"),
        ("hf-mbart50", "tokenizer.json", "\"Metaspace\"", "\"ByteLevel\"", "\"ByteLevel\""),
        ("hf-mbart50", "tokenizer.json", "\" {2,}\"", "\"x\"", "normalizer"),
        ("hf-mbart50", "tokenizer_config.json", "MBart50Tokenizer", "MBartTokenizer", "mBART-25"),
        ("hf-nllb", "model.safetensors.index.json", "model-00002", "model-00003", "model-00003"),
        (
            "hf-nllb",
            "model.safetensors.index.json",
            "model-00002",
            "../model-00002",
            "not a file name",
        ),
    ] {
        let found = refusal(name, file, from, to);
        assert!(found.contains(message), "{name} {file}: {found}");
    }
}

/// Translations of `transformers` with options of `generation_config.json`. There the start token
/// is part of the sequence. That of M2M-100 is `</s>`, so that options about repetition change how
/// long translations are.
#[test]
fn options_of_generation_have_the_effect_of_transformers() {
    use serde_json::json;
    const EARLY: &str = "de bdadc adbca cbd cdbc aaa\n";
    const ENDLESS: &str = "▁ea ▁aaa aa ▁da ▁d db dc be ▁b __sd__ d";
    for (key, value, beam, text, expected) in [
        ("repetition_penalty", json!(0.3), 1, "ade bdadc aaa\n", "c c"),
        ("repetition_penalty", json!(0.3), 1, "bc\n", ""),
        ("repetition_penalty", json!(0.6), 1, "ceeb ebcc eabe cdbc\n", "c"),
        ("repetition_penalty", json!(1.5), 1, "ceeb ebcc eabe cdbc\n", "c ▁da ▁b b"),
        ("no_repeat_ngram_size", json!(1), 1, "ac c cdacb bddeb\n", ENDLESS),
        ("min_new_tokens", json!(4), 1, EARLY, "c ▁da ▁da"),
        ("min_length", json!(6), 1, EARLY, "c ▁da ▁da ▁da"),
        ("min_new_tokens", json!(4), 4, "ceeb ebcc eabe cdbc\n", "c ▁da ▁da"),
        ("suppress_tokens", json!([22, 30]), 1, EARLY, "▁a"),
        ("suppress_tokens", json!([22, 30]), 1, "ea bddeb\n", "▁a dc dc db"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy("hf-m2m100", folder.path());
        set_key(folder.path().join("generation_config.json"), key, Some(value));
        let bundle = open(folder.path(), Some("en"), Some("es"));
        let converted = folder.path().join("model.miriam");
        miriam_nmt::model_file::write(&bundle, None, &converted, &NoProgress).unwrap();
        for bundle in [bundle, open(&converted, Some("en"), Some("es"))] {
            assert_eq!(bundle.repeated_start(), Some(2));
            let found = translate(bundle, text, beam);
            assert_eq!(found[0].0, expected, "{key}, {text}");
        }
    }
    let converted_by_ctranslate2 = ModelBundle::open(&data("ct2-t5"), None).unwrap();
    assert_eq!(converted_by_ctranslate2.repeated_start(), None);
}
