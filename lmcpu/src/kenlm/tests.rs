//! Tests of KenLM's files: scores and bytes equal KenLM's, and damaged files are errors or give
//! wrong scores.

use miriam_textio::{NoProgress, Output};
use proptest::prelude::*;

use super::*;
use crate::ArpaOptions;
use crate::sorted::SortedModel;
use crate::test_support::{assert_same, capture_output, query_output, read_shared, shared_path};
use crate::trie::QuantizationBits;

fn open(bytes: &[u8]) -> Result<KenlmFile> {
    KenlmFile::from_bytes(&Bytes::copy_from(bytes), Path::new("model"))
}

const KINDS: [&str; 5] = ["probing", "trie", "qtrie", "atrie", "qatrie"];

#[test]
fn small_files_of_every_kind_score_as_kenlm_does() {
    let Some(text) = read_shared("kenlm-cases/heldout.en") else { return };
    for name in ["o5", "o3-suffixless"] {
        for kind in KINDS {
            let file = read_shared(&format!("kenlm-cases/{name}.{kind}.zst")).unwrap();
            let expected = read_shared(&format!("kenlm-cases/{name}.{kind}.query.gz")).unwrap();
            let model = open(&file).unwrap().into_model();
            assert_same(&query_output(&*model, &text), &expected, &format!("{name}.{kind}"));
        }
    }
}

#[test]
fn multi30k_scores_as_kenlm_does() {
    for kind in ["probing", "trie", "trie-q8"] {
        let Some(file) = read_shared(&format!("m30k-de-en/lm/lm.5.en.{kind}.zst")) else { return };
        let model = open(&file).unwrap().into_model();
        for name in ["test", "dev", "odd"] {
            let text = match name {
                "odd" => read_shared("m30k-de-en/lm/odd.en.gz"),
                _ => read_shared(&format!("m30k-de-en/corpus/{name}.en.gz")),
            };
            let expected = read_shared(&format!("m30k-de-en/lm/{name}.{kind}.query.gz")).unwrap();
            assert_same(
                &query_output(&*model, &text.unwrap()),
                &expected,
                &format!("{name}.{kind}"),
            );
        }
    }
}

/// If a bit of an n-gram's word changes, longer n-grams lose their context.
#[test]
fn building_from_a_damaged_file_reports_the_damage() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/toy-trie.kenlm");
    let whole = std::fs::read(path).unwrap();
    let mut contexts_missing = 0;
    for at in Header::read(&Bytes::copy_from(&whole), Path::new("")).unwrap().len()..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            let built = open(&changed)
                .and_then(|file| file.into_source(Path::new("changed.kenlm")))
                .and_then(|mut source| SortedModel::from_source(&mut *source));
            let Err(error) = built else { continue };
            let message = error.to_string();
            let crate::Error::Storage(miriam_storage::Error::Damaged { .. }) = error else {
                panic!("byte {at}: {message}");
            };
            if message.contains("the context of this") {
                assert!(message.starts_with("changed.kenlm: damaged: 3-grams: \""), "{message}");
                assert!(
                    message.ends_with("build the file again or fetch a whole copy"),
                    "{message}"
                );
                contexts_missing += 1;
            }
        }
    }
    assert!(contexts_missing > 0);
}

/// The hashes are those of `ngram-lm.md`, Appendix A.
#[test]
fn word_hashes_are_kenlms() {
    let cases: [(&[u8], u64); 8] = [
        (b"", 0),
        (b"<unk>", 0xea91_e756_1f5b_392b),
        (b"<UNK>", 0x7e16_3219_007d_2f54),
        (b"<s>", 0x0075_8639_bd21_7e70),
        (b"</s>", 0x6be0_737d_f1f7_6c0a),
        (b"the", 0xa43b_27ac_1ae5_a22b),
        (b"looking", 0x64ca_6fde_07bc_fde0),
        (b"extraordinary", 0xd9ed_2636_edce_5fc1),
    ];
    for (word, hash) in cases {
        assert_eq!(vocabulary::word_hash(word), hash);
    }
}

/// Returns the content of `file` as ARPA text.
fn dump_arpa(file: &[u8]) -> Result<Vec<u8>> {
    let mut source = open(file)?.into_source(Path::new("model"))?;
    dump_source(&mut *source)
}

fn dump_source(source: &mut dyn NgramSource) -> Result<Vec<u8>> {
    Ok(capture_output(|output| crate::dump(source, output, &NoProgress))?.0)
}

fn sorted_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// KenLM wrote the ARPA files in the order of word ids, newest first, in which a probing file is
/// listed, too. A trie numbers words in another order.
#[test]
fn a_dump_is_the_arpa_file_the_model_came_from() {
    for (file, arpa) in [
        ("kenlm-cases/o5.probing.zst", "kenlm-cases/o5.arpa.gz"),
        ("m30k-de-en/lm/lm.5.en.probing.zst", "m30k-de-en/lm/lm.5.en.arpa.gz"),
    ] {
        let (Some(file), Some(arpa)) = (read_shared(file), read_shared(arpa)) else { return };
        assert_same(&dump_arpa(&file).unwrap(), &arpa, "probing");
    }
    let arpa = read_shared("kenlm-cases/o5.arpa.gz").unwrap();
    for kind in ["trie", "atrie"] {
        let file = read_shared(&format!("kenlm-cases/o5.{kind}.zst")).unwrap();
        let found = dump_arpa(&file).unwrap();
        assert!(sorted_lines(&found) == sorted_lines(&arpa), "{kind}");
    }
}

#[test]
fn a_model_built_from_a_dump_scores_as_the_file_does() {
    let Some(text) = read_shared("kenlm-cases/heldout.en") else { return };
    for name in ["o5", "o3-suffixless"] {
        for kind in KINDS {
            let file = read_shared(&format!("kenlm-cases/{name}.{kind}.zst")).unwrap();
            let expected = read_shared(&format!("kenlm-cases/{name}.{kind}.query.gz")).unwrap();
            let arpa = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(arpa.path(), dump_arpa(&file).unwrap()).unwrap();
            let model =
                crate::probing::probing_from_arpa(arpa.path(), ArpaOptions::default(), &NoProgress)
                    .unwrap();
            assert_same(&query_output(&model, &text), &expected, &format!("{name}.{kind}"));
        }
    }
}

/// Returns the file built from the model at `path`.
fn build_file(path: &Path, options: KenlmProbingOptions) -> Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    build_kenlm_probing(path, file.path(), options, ArpaOptions::default(), &NoProgress)?;
    Ok(std::fs::read(file.path()).unwrap())
}

#[test]
fn written_files_equal_build_binary() {
    for (arpa, file) in [
        ("kenlm-cases/o5.arpa.gz", "kenlm-cases/o5.probing.zst"),
        ("kenlm-cases/o3-suffixless.arpa.gz", "kenlm-cases/o3-suffixless.probing.zst"),
        ("m30k-de-en/lm/lm.5.en.arpa.gz", "m30k-de-en/lm/lm.5.en.probing.zst"),
    ] {
        let (Some(arpa), Some(expected)) = (shared_path(arpa), read_shared(file)) else { return };
        let found = build_file(&arpa, KenlmProbingOptions::default()).unwrap();
        assert_equal_bytes(&found, &expected, file);
    }
}

fn assert_equal_bytes(found: &[u8], expected: &[u8], file: &str) {
    assert_eq!(found.len(), expected.len(), "{file}");
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!(differs, None, "{file}");
}

/// Returns the trie built from the model at `path`.
fn build_trie_file(path: &Path, options: KenlmTrieOptions) -> Result<Vec<u8>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    build_kenlm_trie(path, file.path(), options, ArpaOptions::default(), &NoProgress)?;
    Ok(std::fs::read(file.path()).unwrap())
}

/// Returns the options `-q`, `-b` and `-a` of `build_binary`.
fn trie_options(quantize: Option<(u32, u32)>, pointer_bits: Option<u8>) -> KenlmTrieOptions {
    let quantize = quantize.map(|(prob, backoff)| QuantizationBits::new(prob, backoff).unwrap());
    KenlmTrieOptions { quantize, pointer_bits, ..KenlmTrieOptions::default() }
}

#[test]
fn written_tries_equal_build_binary() {
    let cases = [
        ("trie", trie_options(None, None)),
        ("qtrie", trie_options(Some((6, 5)), None)),
        ("atrie", trie_options(None, Some(8))),
        ("qatrie", trie_options(Some((8, 8)), Some(22))),
    ];
    for name in ["o5", "o3-suffixless"] {
        for (kind, options) in cases {
            let file = format!("kenlm-cases/{name}.{kind}.zst");
            let arpa = shared_path(&format!("kenlm-cases/{name}.arpa.gz"));
            let (Some(arpa), Some(expected)) = (arpa, read_shared(&file)) else { return };
            assert_equal_bytes(&build_trie_file(&arpa, options).unwrap(), &expected, &file);
        }
    }
    for (kind, options) in [("trie", cases[0].1), ("trie-q8", trie_options(Some((8, 8)), Some(22)))]
    {
        let file = format!("m30k-de-en/lm/lm.5.en.{kind}.zst");
        let arpa = shared_path("m30k-de-en/lm/lm.5.en.arpa.gz").unwrap();
        let expected = read_shared(&file).unwrap();
        assert_equal_bytes(&build_trie_file(&arpa, options).unwrap(), &expected, &file);
    }
}

/// The blank `a b` is the context of the blank `a b b`. It sorts after the only bigram, so KenLM's
/// builder does not mark it, and the state after `a b` has one word.
#[test]
fn blanks_after_the_last_ngram_are_not_marked_as_in_build_binary() {
    let arpa = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        arpa.path(),
        "\\data\\\nngram 1=5\nngram 2=1\nngram 3=1\nngram 4=1\n\n\\1-grams:\n-1\t<unk>\n\
         -1\t<s>\t-0.5\n-1\t</s>\n-1.5\ta\t-0.25\n-1.25\tb\t-0.125\n\n\
         \\2-grams:\n-0.5\ta a\t-0.75\n\n\\3-grams:\n-0.375\ta a b\t-0.0625\n\n\
         \\4-grams:\n-0.3\ta a b b\n\n\\end\\\n",
    )
    .unwrap();
    let built = build_trie_file(arpa.path(), trie_options(None, None)).unwrap();
    let expected = include_bytes!("../../testdata/last-blank-trie.kenlm");
    assert_equal_bytes(&built, expected, "last-blank-trie.kenlm");
    let printed = query_output(&*open(&built).unwrap().into_model(), b"a b b\n");
    let words = "a=2 1 -2\tb=4 2 -1.5\tb=4 2 -1.375\t</s>=3 1 -1.125\tTotal: -6 OOV: 0\n";
    assert!(printed.starts_with(words.as_bytes()), "{}", printed.escape_ascii());
}

/// A trie built from the n-grams that a trie lists is the same file. A trie built from ARPA text
/// without `<unk>` gets an `<unk>` with the probability in the options.
#[test]
fn a_trie_built_from_a_trie_is_that_trie() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, options) in
        [("trie", trie_options(None, None)), ("atrie", trie_options(None, Some(4)))]
    {
        let bytes = TOYS.iter().find(|toy| toy.0 == kind).unwrap().1;
        let path = folder.path().join(kind);
        std::fs::write(&path, bytes).unwrap();
        let built = build_trie_file(&path, options).unwrap();
        assert_equal_bytes(&built, bytes, kind);
        let arpa = folder.path().join("arpa");
        std::fs::write(&arpa, dump_arpa(&built).unwrap()).unwrap();
        assert_equal_bytes(&build_trie_file(&arpa, options).unwrap(), &built, kind);
    }
    let arpa = folder.path().join("no-unknown.arpa");
    std::fs::write(
        &arpa,
        "\\data\\\nngram 1=3\nngram 2=1\n\n\\1-grams:\n-1\t<s>\t-0.5\n-1\t</s>\n-1\ta\n\n\
         \\2-grams:\n-0.5\t<s> a\n\n\\end\\\n",
    )
    .unwrap();
    let unknown = |unknown_log10| {
        let file = folder.path().join("no-unknown.trie");
        let arpa_options = ArpaOptions { unknown_log10, ..ArpaOptions::default() };
        build_kenlm_trie(&arpa, &file, KenlmTrieOptions::default(), arpa_options, &NoProgress)?;
        let model = open(&std::fs::read(file).unwrap())?.into_model();
        Ok::<_, crate::Error>(model.score_after(&[], crate::LmWord::UNKNOWN).0.0)
    };
    assert_eq!(unknown(-7.0).unwrap(), -7.0);
    assert!(unknown(1.0).is_err());
}

proptest! {
    /// The reader unpacks the fields that the writer packed.
    #[test]
    fn packed_fields_are_read_back(
        widths in proptest::collection::vec(0u32..=57, 1..5),
        values in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 5), 0..40),
    ) {
        use super::bit_packing::{BitField, BitPackedArray, BitWriter};
        let mut writer = BitWriter::default();
        for row in &values {
            for (&value, &width) in row.iter().zip(&widths) {
                writer.push(value, width);
            }
        }
        let mut bytes = writer.finish();
        let entry_bits: u32 = widths.iter().sum();
        prop_assert_eq!(bytes.len(), (values.len() * entry_bits as usize).div_ceil(8));
        bytes.extend([0; BitPackedArray::PADDING]);
        let bytes = Bytes::copy_from(&bytes);
        let view = miriam_storage::View::new(&bytes, 0, bytes.len()).unwrap();
        let array = BitPackedArray::new(view, entry_bits);
        for (at, row) in values.iter().enumerate() {
            let mut shift = 0;
            for (&value, &width) in row.iter().zip(&widths) {
                let found = array.get(at as u64, BitField::new(shift, width));
                prop_assert_eq!(found, value & ((1u64 << width) - 1));
                shift += width;
            }
        }
    }
}

/// A probing file built from the n-grams that a probing file lists is the same file.
#[test]
fn a_file_built_from_a_file_is_that_file() {
    let Some(expected) = read_shared("kenlm-cases/o5.probing.zst") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o5.probing");
    std::fs::write(&path, &expected).unwrap();
    assert!(build_file(&path, KenlmProbingOptions::default()).unwrap() == expected);
    let wide =
        build_file(&path, KenlmProbingOptions { multiplier: 3.0, ..Default::default() }).unwrap();
    assert!(wide.len() > expected.len());
    let text = read_shared("kenlm-cases/heldout.en").unwrap();
    let query = read_shared("kenlm-cases/o5.probing.query.gz").unwrap();
    assert_same(&query_output(&*open(&wide).unwrap().into_model(), &text), &query, "wide");
}

/// The toy model of `ngram-lm.md`, Appendix A, as KenLM packs it.
const TOYS: [(&str, &[u8]); 6] = [
    ("probing", include_bytes!("../../testdata/toy-probing.kenlm")),
    ("rest", include_bytes!("../../testdata/toy-rest.kenlm")),
    ("trie", include_bytes!("../../testdata/toy-trie.kenlm")),
    ("qtrie", include_bytes!("../../testdata/toy-qtrie.kenlm")),
    ("atrie", include_bytes!("../../testdata/toy-atrie.kenlm")),
    ("qatrie", include_bytes!("../../testdata/toy-qatrie.kenlm")),
];
/// The toy model as a probing file without words.
const WORDLESS: &[u8] = include_bytes!("../../testdata/toy-wordless.kenlm");
const TOY_TEXT: &[u8] = include_bytes!("../../testdata/toy-kenlm.txt");

#[test]
fn the_toy_model_scores_as_kenlm_does_from_all_kinds() {
    for (kind, file) in TOYS {
        let expected: &[u8] = match kind {
            "probing" | "rest" => include_bytes!("../../testdata/toy-probing.query"),
            _ => include_bytes!("../../testdata/toy-trie.query"),
        };
        let model = open(file).unwrap().into_model();
        assert_same(&query_output(&*model, TOY_TEXT), expected, kind);
        assert_eq!((model.order(), model.num_words()), (3, 5));
        for word in [&b"<s>"[..], b"</s>", b"a", b"b"] {
            assert_eq!(model.word(model.word_id(word)), Some(word), "{kind}");
        }
        assert_eq!(model.word(crate::LmWord(0)), Some(&b"<unk>"[..]));
        assert_eq!(model.word(crate::LmWord(5)), None);
        assert!(crate::next_word::check_words(&*model, kind).is_ok());
    }
    let model = open(WORDLESS).unwrap().into_model();
    let expected = include_bytes!("../../testdata/toy-probing.query");
    assert_same(&query_output(&*model, TOY_TEXT), expected, "wordless");
    assert_eq!(model.word(model.word_id(b"a")), None);
    let error = crate::next_word::check_words(&*model, "wordless").unwrap_err().to_string();
    assert!(error.starts_with("wordless: the file does not hold its words, so next"), "{error}");
    let error = dump_arpa(WORDLESS).unwrap_err().to_string();
    assert!(error.contains("does not hold its words") && error.contains("-v"), "{error}");
}

/// A word of probability 1 scores `-0` from a probing file and `0` from a trie, as in KenLM.
#[test]
fn a_word_of_probability_1_keeps_the_sign_of_its_kind() {
    let Some(probing) = read_shared("kenlm-cases/o5.probing.zst") else { return };
    let score_of_begin = |file: &[u8]| {
        let model = open(file).unwrap().into_model();
        let mut next = crate::State::EMPTY;
        model.score(&crate::State::EMPTY, model.word_id(b"<s>"), &mut next).0.0
    };
    assert_eq!(score_of_begin(&probing).to_bits(), (-0.0f32).to_bits());
    for kind in ["trie", "qatrie"] {
        let file = read_shared(&format!("kenlm-cases/o5.{kind}.zst")).unwrap();
        assert_eq!(score_of_begin(&file).to_bits(), 0, "{kind}");
    }
}

#[test]
fn headers_that_cannot_be_read_say_why() {
    let file = TOYS[0].1;
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = file.to_vec();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        open(&file).err().map(|e| e.to_string()).unwrap_or_default()
    };
    for (at, bytes, reason) in [
        (49, &b"4\n"[..], "version 4, this program reads version 5"),
        (34, b"incomplete\n", "its builder did not finish"),
        (60, &[0x3f, 0x80, 0, 0], "big-endian"),
        (68, &[2], "sanity block does not match"),
        (88, &[1], "order 1"),
        (88, &[25], "order 25"),
        (92, &0.5f32.to_le_bytes(), "multiplier is 0.5"),
        (92, &f32::NAN.to_le_bytes(), "multiplier is NaN"),
        (96, &[6], "type 6"),
        (96, &[2], "version 0, this program reads version 1"),
        (104, &[1], "version 1, this program reads version 0"),
        (108, &[0; 8], "words, found 0"),
        (116, &[255; 8], "do not fit"),
        (124, &[100], "it is cut"),
        (136, &[1], "version 1"),
        (140, &[9], "9 words"),
    ] {
        let found = changed(at, bytes);
        assert!(found.contains(reason) && found.starts_with("model: "), "{at}: {found}");
    }
    for length in [0, 40, 100, 120, 300, file.len() - 40] {
        assert!(open(&file[..length]).is_err(), "{length}");
    }
    let compressed = zstd_of(file);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.zst");
    std::fs::write(&path, compressed).unwrap();
    let error = crate::open(&path, LoadMethod::Lazy, &NoProgress).err().unwrap().to_string();
    assert!(
        error.contains("KenLM binary file, compressed") && error.contains("decompress"),
        "{error}"
    );
}

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    let file = tempfile::Builder::new().suffix(".zst").tempfile().unwrap();
    let mut output = Output::create(file.path()).unwrap();
    output.write(bytes).unwrap();
    output.finish().unwrap();
    std::fs::read(file.path()).unwrap()
}

/// A search in a table without an empty slot ends.
#[test]
fn a_full_table_ends_a_search() {
    let mut file = TOYS[0].1.to_vec();
    // After header, vocabulary and unigrams: bigrams and trigrams.
    let header = Header::read(&Bytes::copy_from(&file), Path::new("model")).unwrap();
    let slots = |order: usize| table::bucket_count(header.counts[order - 1], 1.5) as usize;
    let start = header.len() + 8 + 12 * slots(1) + 8 * 6;
    for byte in &mut file[start..start + 16 * slots(2) + 12 * slots(3)] {
        *byte |= 1;
    }
    let model = open(&file).unwrap().into_model();
    query_output(&*model, TOY_TEXT);
    assert!(dump_arpa(&file).is_err());
}

/// Opens the file, scores words and lists n-grams. Any result but a panic is good.
fn use_file(file: &[u8]) {
    let Ok(opened) = open(file) else { return };
    let model = opened.into_model();
    let (mut state, mut next) = (model.begin_state(), crate::State::EMPTY);
    for id in (0..model.num_words() as u32).take(50).chain([0, 1, 2]) {
        let word = crate::LmWord(id);
        let _ = model.word(word).map(|text| model.word_id(text));
        model.score(&state, word, &mut next);
        state.copy_from(&next);
    }
    let _ = dump_arpa(file);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_files_never_panic(
        kind in 0..TOYS.len(),
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        cut in any::<u16>(),
        is_cut in proptest::bool::weighted(0.2),
    ) {
        let mut file = TOYS[kind].1.to_vec();
        for (at, byte) in changes {
            // After the sanity block, whose changes are all rejected.
            let at = 88 + usize::from(at) % (file.len() - 88);
            file[at] = byte;
        }
        if is_cut {
            file.truncate(usize::from(cut) % file.len());
        }
        use_file(&file);
    }
}

#[test]
fn damaged_larger_files_never_panic() {
    for name in ["o5", "o3-suffixless"] {
        for kind in KINDS {
            let Some(file) = read_shared(&format!("kenlm-cases/{name}.{kind}.zst")) else { return };
            let mut state = 12345u64;
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % below
            };
            for round in 0..8 {
                let mut file = file.clone();
                for _ in 0..1 << (2 * round) {
                    let at = 152 + random(file.len() - 152);
                    file[at] = random(256) as u8;
                }
                if round % 3 == 2 {
                    file.truncate(file.len() - random(1000));
                }
                use_file(&file);
            }
        }
    }
}
