//! CTranslate2's models of all origins and binary versions translate as CTranslate2 does: small
//! random ones (`scripts/make_ct2_golden.py`), and real ones that transliterate Arabic. Without the
//! files of `../shared/data/ct2-aren`, the tests with the real ones are skipped.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::architecture::Architecture;
use miriam_nmt::engine::{Autotuner, Cpu, Precision};
use miriam_nmt::translate::{LineFormat, SourceText, TranslationOptions, Translator};
use miriam_nmt::{BundleOptions, EosAfterTokens, ModelBundle, Segmentation};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};

/// The tolerance of scores: CTranslate2 adds floats in another order.
const TOLERANCE: f64 = 1e-4;

/// A translation with its score.
type Scored = (String, f64);

/// Returns the n-best list of each line of `text`, with `beam` translations each. A tab separates a
/// sentence from the prefix of its translation. Other options come from the folder.
fn translate(
    folder: &Path,
    text: &str,
    beam: usize,
    max_length: usize,
    precision: Precision,
) -> Vec<Vec<Scored>> {
    let bundle = ModelBundle::open_with(folder, &BundleOptions::default()).unwrap();
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.search.beam_size = beam;
    options.search.n_best = beam;
    options.search.max_length = max_length;
    options.output.n_best = true;
    options.input.format = if text.contains('\t') { LineFormat::Tsv } else { LineFormat::Sentence };
    options.precision = precision;
    options.threads = 2;
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
    let mut lists = vec![Vec::new(); text.lines().count()];
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let [number, tokens, _, score] = fields[..] else { panic!("{line}") };
        let list: &mut Vec<Scored> = &mut lists[number.parse::<usize>().unwrap()];
        list.push((tokens.to_owned(), score.parse().unwrap()));
    }
    lists
}

fn assert_equal(found: &[Vec<Scored>], expected: &[Vec<Scored>], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (line, (found, expected)) in found.iter().zip(expected).enumerate() {
        let tokens = |list: &[Scored]| list.iter().map(|(tokens, _)| tokens.clone()).collect();
        let [ours, theirs]: [Vec<String>; 2] = [tokens(found), tokens(expected)];
        assert_eq!(ours, theirs, "{what}, line {line}: {found:?} {expected:?}");
        for ((_, ours), (_, theirs)) in found.iter().zip(expected) {
            assert!((ours - theirs).abs() < TOLERANCE, "{what}, line {line}: {ours} {theirs}");
        }
    }
}

/// Returns the sentences of a small model's `expected.tsv` and their translations with the beam
/// size `beam`.
fn golden(folder: &Path, beam: usize) -> (String, Vec<Vec<Scored>>) {
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let (mut text, mut lists): (Vec<&str>, Vec<Vec<Scored>>) = Default::default();
    let beam_lines = expected.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[1] == beam.to_string()).then_some(fields)
    });
    for (number, fields) in beam_lines.enumerate() {
        if number % beam == 0 {
            text.push(fields[0]);
            lists.push(Vec::new());
        }
        let scored = (fields[2].to_owned(), fields[3].parse().unwrap());
        lists.last_mut().unwrap().push(scored);
    }
    (text.join("\n") + "\n", lists)
}

const SMALL_MODELS: [&str; 5] = ["ct2-base", "ct2-base-v1", "ct2-relative", "ct2-t5", "ct2-bart"];

#[test]
fn small_models_of_every_origin_translate_as_in_ctranslate2() {
    for name in SMALL_MODELS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
        for beam in [1, 4] {
            let (text, expected) = golden(&folder, beam);
            assert_eq!(expected.len(), 12);
            let found = translate(&folder, &text, beam, 14, Precision::F32);
            assert_equal(&found, &expected, &format!("{name}, beam {beam}"));
        }
    }
}

/// A hypothesis that would end directly after a prefix takes a row of the beam in CTranslate2: with
/// this row, the second translation would be `t2 t16`. The lists are from version 4.8.5.
#[test]
fn a_prefix_loses_rows_of_the_beam_as_in_ctranslate2() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-relative");
    for (max_length, second) in [(3, -0.987856), (8, -0.960439)] {
        let text = "s12 s12 <unk> s19\tt2\n";
        let found = translate(&folder, text, 2, max_length, Precision::F32);
        let expected = vec![("t2 t2".to_owned(), -0.855100), ("t2 t2 t2".into(), second)];
        assert_equal(&found, &[expected], &format!("{max_length}"));
    }
}

#[test]
fn small_models_keep_their_translations_in_a_miriam_file() {
    for name in SMALL_MODELS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
        let bundle = ModelBundle::open(&folder, None).unwrap();
        let target = tempfile::tempdir().unwrap();
        for precision in [None, Some(Precision::F32)] {
            let file = target.path().join("model.miriam");
            miriam_nmt::model_file::write(&bundle, precision, &file, &NoProgress).unwrap();
            let (text, expected) = golden(&folder, 4);
            let found = translate(&file, &text, 4, 14, Precision::F32);
            assert_equal(&found, &expected, name);
        }
    }
}

#[test]
fn a_start_token_that_the_user_must_give_is_rejected() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let folder = tempfile::tempdir().unwrap();
    // Marian's models start with zeros, whatever the token is.
    for (name, opens) in [("ct2-bart", false), ("tiny-ct2", true)] {
        for file in ["model.bin", "shared_vocabulary.json", "config.json"] {
            std::fs::copy(data.join(name).join(file), folder.path().join(file)).unwrap();
        }
        let path = folder.path().join("config.json");
        let config = std::fs::read_to_string(&path).unwrap();
        let token = if opens { "<s>" } else { "</s>" };
        let start = format!("\"decoder_start_token\": \"{token}\"");
        assert!(config.contains(&start), "{config}");
        std::fs::write(&path, config.replace(&start, "\"decoder_start_token\": null")).unwrap();
        match ModelBundle::open(folder.path(), None) {
            Ok(_) => assert!(opens, "{name}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!opens && error.contains("decoder_start_token is null"), "{error}");
            }
        }
    }
}

/// Copies `ct2-base`, a model of binary version 2, to a folder.
fn copy_base_model(folder: &Path) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-base");
    for file in ["model.bin", "source_vocabulary.txt", "target_vocabulary.txt"] {
        std::fs::copy(data.join(file), folder.join(file)).unwrap();
    }
}

/// CTranslate2 takes special tokens from the configuration only since binary version 6.
#[test]
fn a_configuration_beside_an_old_model_sets_no_special_tokens() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-base");
    let folder = tempfile::tempdir().unwrap();
    copy_base_model(folder.path());
    let config = r#"{"decoder_start_token": "t1", "unk_token": "t2", "bos_token": "t3",
                     "eos_token": "t4", "add_source_bos": true, "add_source_eos": true}"#;
    std::fs::write(folder.path().join("config.json"), config).unwrap();
    let (text, expected) = golden(&data, 4);
    assert_equal(&translate(folder.path(), &text, 4, 14, Precision::F32), &expected, "config");
}

/// Text has the first id of a repeated word, and all its ids become this word, as in CTranslate2
/// 4.8.5.
#[test]
fn words_of_a_vocabulary_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    copy_base_model(folder.path());
    for (side, from, to) in [("source", "\ns3\n", "\ns11\n"), ("target", "\nt13\n", "\nt5\n")] {
        let path = folder.path().join(format!("{side}_vocabulary.txt"));
        let words = std::fs::read_to_string(&path).unwrap();
        assert!(words.contains(from) && words.contains(to));
        std::fs::write(&path, words.replace(from, to)).unwrap();
    }
    let expected = vec![
        ("t5 t5 t14 t5 t5 t14 t5 t5 t14 t5 t5 t14 t2 t14".to_owned(), -1.157339),
        ("t5 t5 t14 t5 t5 t14 t5 t5 t14 t5 t5 t14 t5".to_owned(), -1.195384),
    ];
    let found = translate(folder.path(), "s11 s15\n", 2, 14, Precision::F32);
    assert_equal(&found, &[expected], "repeated words");
    let bundle = ModelBundle::open(folder.path(), None).unwrap();
    let file = folder.path().join("model.miriam");
    let error = miriam_nmt::model_file::write(&bundle, None, &file, &NoProgress).unwrap_err();
    assert!(error.to_string().contains("\"s11\" has several ids"), "{error}");
}

/// A SentencePiece model in the folder of `model.bin` splits text; its file name decides whether
/// EOS is added.
#[test]
fn pieces_that_a_converter_copied_are_used() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    for (names, has_eos) in [
        (&["sentencepiece.bpe.model"][..], true),
        (&["spiece.model"], true),
        (&["source.spm", "target.spm"], true),
        (&["sentencepiece.model"], false),
        (&[], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for file in ["model.bin", "shared_vocabulary.json", "config.json"] {
            std::fs::copy(data.join("ct2-t5").join(file), folder.path().join(file)).unwrap();
        }
        for name in names {
            let pieces = data.join("hf-t5/spiece.model");
            std::fs::copy(pieces, folder.path().join(name)).unwrap();
        }
        let words = ModelBundle::open(folder.path(), None).unwrap().tokenizers.unwrap();
        let boundary = words.source_boundary_tokens;
        assert_eq!(boundary.has_eos, has_eos, "{names:?}");
        // Tokens of a caller get what config.json says.
        assert_eq!(boundary.eos_after_tokens, EosAfterTokens::Never, "{names:?}");
        let cuts = words.segmentation.map(|side| matches!(side, Segmentation::SentencePiece(_)));
        assert_eq!(cuts, [!names.is_empty(); 2], "{names:?}");
    }
}

/// Files of transformers store the number of heads from revision 3 on. In older revisions, the kind
/// of transformer decides, as in CTranslate2 4.8.5.
#[test]
fn the_kind_tells_the_number_of_heads_in_old_revisions() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-base");
    let bytes = std::fs::read(data.join("model.bin")).unwrap();
    // Version, length of the name, the name, revision.
    let rest = &bytes[4 + 2 + 16 + 4..];
    let folder = tempfile::tempdir().unwrap();
    for side in ["source_vocabulary.txt", "target_vocabulary.txt"] {
        std::fs::copy(data.join(side), folder.path().join(side)).unwrap();
    }
    for (kind, revision, heads) in [
        ("TransformerBase", 2u32, 8),
        ("TransformerBig", 2, 16),
        ("TransformerBig", 3, 8),
        ("TransformerSpec", 3, 8),
    ] {
        let length = (kind.len() as u16 + 1).to_le_bytes();
        let name = format!("{kind}\0");
        let parts = [&bytes[..4], &length, name.as_bytes(), &revision.to_le_bytes(), rest];
        std::fs::write(folder.path().join("model.bin"), parts.concat()).unwrap();
        let bundle = ModelBundle::open(folder.path(), None).unwrap();
        let Architecture::Transformer(transformer) = bundle.models[0].architecture() else {
            panic!("{kind} is a transformer")
        };
        let found = [transformer.encoder.heads, transformer.decoder.heads];
        assert_eq!(found, [heads; 2], "{kind}, revision {revision}");
    }
}

/// The parts of a `model.bin` of binary version 6.
struct WeightFile {
    head: Vec<u8>,
    /// Each variable's name, shape, type and bytes.
    variables: Vec<(String, Vec<u32>, u8, Vec<u8>)>,
    /// The other names of variables: each new name with the name of the variable.
    aliases: Vec<[String; 2]>,
}

impl WeightFile {
    fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let mut at = 0;
        let mut take = |length: usize| {
            at += length;
            bytes[at - length..at].to_vec()
        };
        let short = |bytes: Vec<u8>| usize::from(u16::from_le_bytes(bytes.try_into().unwrap()));
        let number = |bytes: Vec<u8>| u32::from_le_bytes(bytes.try_into().unwrap());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let mut head = take(4 + 2);
        head.extend(take(short(head[4..].to_vec()) + 4));
        let mut file = WeightFile { head, variables: Vec::new(), aliases: Vec::new() };
        for _ in 0..number(take(4)) {
            let length = short(take(2));
            let name = text(take(length));
            let rank = take(1)[0];
            let shape = (0..rank).map(|_| number(take(4))).collect();
            let kind = take(1)[0];
            let length = number(take(4)) as usize;
            file.variables.push((name, shape, kind, take(length)));
        }
        for _ in 0..number(take(4)) {
            file.aliases.push([(); 2].map(|()| {
                let length = short(take(2));
                text(take(length))
            }));
        }
        file
    }

    fn write(&self, path: &Path) {
        let mut bytes = self.head.clone();
        let push_name = |name: &str, bytes: &mut Vec<u8>| {
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend(name.as_bytes());
        };
        bytes.extend((self.variables.len() as u32).to_le_bytes());
        for (name, shape, kind, values) in &self.variables {
            push_name(name, &mut bytes);
            bytes.push(shape.len() as u8);
            bytes.extend(shape.iter().flat_map(|dimension| dimension.to_le_bytes()));
            bytes.push(*kind);
            bytes.extend((values.len() as u32).to_le_bytes());
            bytes.extend(values);
        }
        bytes.extend((self.aliases.len() as u32).to_le_bytes());
        self.aliases.iter().flatten().for_each(|name| push_name(name, &mut bytes));
        std::fs::write(path, bytes).unwrap();
    }

    fn find(&mut self, name: &str) -> &mut (String, Vec<u32>, u8, Vec<u8>) {
        let name = format!("{name}\0");
        self.variables.iter_mut().find(|variable| variable.0 == name).expect("it is there")
    }

    /// Translates with the weights and the other files of `data`.
    fn translate(&self, data: &Path) -> Vec<Vec<Scored>> {
        let folder = tempfile::tempdir().unwrap();
        for file in ["shared_vocabulary.json", "config.json"] {
            std::fs::copy(data.join(file), folder.path().join(file)).unwrap();
        }
        self.write(&folder.path().join("model.bin"));
        translate(folder.path(), &golden(data, 4).0, 4, 14, Precision::F32)
    }
}

/// A model whose heads of queries share one head of keys translates as the one in which all heads
/// of keys and values are equal.
#[test]
fn relative_positions_work_with_fewer_heads_of_keys() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-t5");
    let mut all = WeightFile::open(&data.join("model.bin"));
    let mut marked = WeightFile::open(&data.join("model.bin"));
    let mut counted = WeightFile::open(&data.join("model.bin"));
    // 3 heads have 4 rows each for queries, keys and values; a row has 8 numbers.
    let head = 4 * 8 * 4;
    for layer in 0..2 {
        let from = format!("encoder/layer_{layer}/self_attention");
        let name = format!("{from}/linear_0/weight");
        let (.., weight) = all.find(&name);
        let [queries, keys, values] = [0, 3, 6].map(|first| weight[first * head..].to_vec());
        let [queries, keys, values] = [&queries[..3 * head], &keys[..head], &values[..head]];
        let shared = [queries, keys, values].concat();
        *weight = [queries, &keys.repeat(3), &values.repeat(3)].concat();
        for file in [&mut marked, &mut counted] {
            let (_, shape, _, weight) = file.find(&name);
            (shape[0], *weight) = (5 * 4, shared.clone());
        }
        let count = (format!("{from}/num_heads_kv\0"), Vec::new(), 3, vec![1, 0, 0, 0]);
        counted.variables.push(count);
    }
    marked.find("encoder/multi_query_attention").3 = vec![1];
    let expected = all.translate(&data);
    assert_eq!(marked.translate(&data), expected);
    assert_eq!(counted.translate(&data), expected);
}

/// The output layer may be another name of a table that is not the decoder's.
#[test]
fn an_output_layer_may_share_the_encoders_table() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-t5");
    let mut separate = WeightFile::open(&data.join("model.bin"));
    let (output, encoder) = ("decoder/projection/weight\0", "encoder/embeddings_0/weight\0");
    separate.aliases.retain(|[name, _]| name != encoder);
    let (_, shape, kind, values) = separate.find("decoder/projection/weight").clone();
    separate.variables.push((encoder.into(), shape, kind, values));
    let expected = separate.translate(&data);
    let mut shared = separate;
    shared.variables.retain(|(name, ..)| name != output);
    shared.aliases.push([output.into(), encoder.into()]);
    assert_eq!(shared.translate(&data), expected);
}

#[test]
fn numbers_of_heads_are_checked() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-t5");
    let mut file = WeightFile::open(&data.join("model.bin"));
    let folder = tempfile::tempdir().unwrap();
    for (number, expected) in [(f32::INFINITY, "inf is not"), (-1.0, "-1 is not"), (2.5, "2.5 is")]
    {
        let heads = file.find("encoder/num_heads");
        (heads.2, heads.3) = (0, number.to_le_bytes().into());
        file.write(&folder.path().join("model.bin"));
        let error = ModelBundle::open(folder.path(), None).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("encoder/num_heads") && error.contains(expected), "{error}");
    }
}

/// Rows and numbers that no head uses, and layers that do not exist, are not ignored.
#[test]
fn parameters_that_do_not_fit_are_named() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ct2-t5");
    let folder = tempfile::tempdir().unwrap();
    let complaint = |change: &dyn Fn(&mut WeightFile)| {
        let mut file = WeightFile::open(&data.join("model.bin"));
        change(&mut file);
        file.write(&folder.path().join("model.bin"));
        ModelBundle::open(folder.path(), None).map(|_| ()).unwrap_err().to_string()
    };
    // 3 heads have 4 rows each for keys and values; a row has 8 numbers.
    let keys = "decoder/layer_0/attention/linear_1";
    let error = complaint(&|file| {
        let (_, shape, _, weight) = file.find(&format!("{keys}/weight"));
        shape[0] += 1;
        weight.extend([0; 4 * 8]);
    });
    assert!(error.contains(&format!("{keys}/weight: it has 25 rows, expected 6")), "{error}");
    let error = complaint(&|file| {
        file.variables.push((format!("{keys}/bias\0"), vec![25], 0, vec![0; 4 * 25]));
    });
    assert!(error.contains(&format!("{keys}/bias: its shape is [25], expected [24]")), "{error}");
    for layer in [-3i16, 2] {
        let error = complaint(&|file| {
            file.find("decoder/alignment_layer").3 = layer.to_le_bytes().into();
        });
        assert!(error.contains("alignment layer"), "{error}");
    }
}

/// The file was written by an earlier version of the program; later versions open it.
#[test]
fn a_file_of_version_3_translates_as_its_model() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let file = data.join("relative.miriam");
    let container = miriam_storage::Container::open_any(&file, Default::default()).unwrap();
    assert_eq!(container.kind_version(), 3);
    miriam_nmt::verify(&container).unwrap();
    let (text, expected) = golden(&data.join("ct2-t5"), 4);
    assert_equal(&translate(&file, &text, 4, 14, Precision::F32), &expected, "relative.miriam");
}

fn aren_folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/ct2-aren");
    if !folder.exists() {
        let _ = writeln!(std::io::stderr(), "skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder)
}

/// Returns CTranslate2's recorded n-best lists of a model.
fn recorded(folder: &Path, name: &str) -> Vec<Vec<Scored>> {
    let mut text = String::new();
    let path = folder.join("out").join(format!("{name}.tsv.gz"));
    Input::open(&path).unwrap().read_to_string(&mut text).unwrap();
    let mut lists: Vec<Vec<Scored>> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number: usize = fields[0].parse().unwrap();
        lists.resize(lists.len().max(number + 1), Vec::new());
        lists[number].push((fields[1].to_owned(), fields[2].parse().unwrap()));
    }
    lists
}

#[test]
fn transliterations_are_those_from_ctranslate2() {
    let Some(folder) = aren_folder() else { return };
    let words = std::fs::read_to_string(folder.join("words.ar")).unwrap();
    for (model, name) in [
        ("v2/aren-transliteration", "aren-transliteration"),
        ("v2/aren-transliteration-i16", "aren-transliteration-i16"),
        ("v2/aren-transliteration-i8", "aren-transliteration-i8"),
        ("v1/aren-transliteration", "aren-transliteration"),
        ("v1/aren-transliteration-i16", "aren-transliteration-i16"),
    ] {
        for beam in [1, 4] {
            let expected = recorded(&folder, &format!("{name}.float32.beam{beam}"));
            assert_eq!(expected.len(), 1000);
            let model = folder.join("models").join(model);
            let found = translate(&model, &words, beam, 256, Precision::F32);
            assert_equal(&found, &expected, &format!("{}, beam {beam}", model.display()));
        }
    }
}

#[test]
fn eight_bits_change_no_more_transliterations_than_in_ctranslate2() {
    let Some(folder) = aren_folder() else { return };
    let words = std::fs::read_to_string(folder.join("words.ar")).unwrap();
    let expected = recorded(&folder, "aren-transliteration.float32.beam1");
    let model = folder.join("models/v2/aren-transliteration");
    let changed = |lists: &[Vec<Scored>]| {
        lists.iter().zip(&expected).filter(|(ours, theirs)| ours[0].0 != theirs[0].0).count()
    };
    let theirs = changed(&recorded(&folder, "aren-transliteration.int8.beam1"));
    let ours = changed(&translate(&model, &words, 1, 256, Precision::I8));
    assert!(ours <= theirs, "{ours} of 1000 lines change, {theirs} in CTranslate2");
}
