//! Packages of Argos Translate, zipped and unpacked, translate as CTranslate2 does with their parts
//! (`scripts/make_argos_golden.py`), by themselves and as the first of two models.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu, Precision};
use miriam_nmt::translate::{
    AlignmentFormat, PivotTranslator, SourceText, TranslationOptions, Translator,
};
use miriam_textio::{CancellationToken, Input, Lines, NoProgress, Output};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn options(bundle: &ModelBundle) -> TranslationOptions {
    let mut options = TranslationOptions::for_bundle(bundle, None);
    assert_eq!((options.search.beam_size, options.search.length_penalty), (4, 0.2));
    options.search.max_length = 14;
    options.precision = Precision::F32;
    options.output.n_best = true;
    options
}

fn translator(bundle: ModelBundle, options: TranslationOptions) -> Translator {
    Translator::new(bundle, options, &Arc::new(Autotuner::new(Cpu::detect()))).unwrap()
}

fn source(text: &str) -> SourceText {
    let input = Input::from_reader(Cursor::new(text.to_owned()), "text", None).unwrap();
    SourceText { lines: Lines::new(input), prefixes: None }
}

/// Returns the text that `translate` writes.
fn written(translate: impl FnOnce(Output, &CancellationToken)) -> String {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("translations");
    translate(Output::create(&path).unwrap(), &CancellationToken::new());
    std::fs::read_to_string(&path).unwrap()
}

fn translate(translator: &Translator, text: &str) -> String {
    written(|output, stop| {
        let mut fail = |error: &_| panic!("{error:?}");
        let outcome =
            translator.translate(source(text), false, output, stop, &NoProgress, &mut fail);
        outcome.unwrap();
    })
}

/// Returns the texts of `argos.tsv`, their translations and scores.
fn golden() -> (String, Vec<(String, f64)>) {
    golden_of("argos.tsv")
}

fn golden_of(name: &str) -> (String, Vec<(String, f64)>) {
    let expected = std::fs::read_to_string(data(name)).unwrap();
    let fields = expected.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let fields: Vec<Vec<&str>> = fields.collect();
    let text = fields.iter().map(|fields| format!("{}\n", fields[0])).collect();
    (text, fields.iter().map(|f| (f[1].to_owned(), f[2].parse().unwrap())).collect())
}

fn assert_golden(bundle: ModelBundle) {
    assert_translations(bundle, golden());
}

fn assert_translations(bundle: ModelBundle, (text, expected): (String, Vec<(String, f64)>)) {
    let options = TranslationOptions { threads: 2, ..options(&bundle) };
    let found = translate(&translator(bundle, options), &text);
    let best: Vec<Vec<&str>> = found
        .lines()
        .map(|line| line.split(" ||| ").collect::<Vec<_>>())
        .collect::<Vec<_>>()
        .chunk_by(|a, b| a[0] == b[0])
        .map(|list| list[0].clone())
        .collect();
    assert_eq!(best.len(), expected.len());
    for (found, (text, score)) in best.iter().zip(&expected) {
        assert_eq!(found[1], text);
        let own: f64 = found[3].parse().unwrap();
        assert!((own - score).abs() < 1e-4, "{text}: {own} {score}");
    }
}

/// Unpacks the package into `folder` and returns the path of its own folder there.
fn unpack(folder: &Path) -> PathBuf {
    // Local headers suffice to read what a plain writer of archives has written.
    let bytes = std::fs::read(data("argos.argosmodel")).unwrap();
    let number = |at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0usize, |sum, &byte| sum << 8 | usize::from(byte))
    };
    let mut at = 0;
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let (method, size) = (number(at + 8, 2), number(at + 18, 4));
        let (name, extra) = (number(at + 26, 2), number(at + 28, 2));
        let path = folder.join(std::str::from_utf8(&bytes[at + 30..at + 30 + name]).unwrap());
        let start = at + 30 + name + extra;
        let packed = &bytes[start..start + size];
        let mut content = packed.to_vec();
        if method == 8 {
            content.clear();
            flate2::read::DeflateDecoder::new(packed).read_to_end(&mut content).unwrap();
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        at = start + size;
    }
    folder.join("translate-xx_yy-1_0")
}

#[test]
fn packages_translate_as_their_parts_in_ctranslate2() {
    assert_golden(ModelBundle::open(&data("argos.argosmodel"), None).unwrap());
    let target = tempfile::tempdir().unwrap();
    let folder = unpack(target.path());
    assert_golden(ModelBundle::open(&folder, None).unwrap());
    for path in [data("argos.argosmodel"), folder] {
        let file = target.path().join("model.miriam");
        let bundle = ModelBundle::open(&path, None).unwrap();
        // The options with which Argos Translate calls CTranslate2.
        let options = TranslationOptions::for_bundle(&bundle, None);
        assert!(options.output.replace_unknowns && options.allow_unknown);
        bundle.verify_files().unwrap();
        miriam_nmt::model_file::write(&bundle, None, &file, &NoProgress).unwrap();
        let converted = ModelBundle::open(&file, None).unwrap();
        assert!(TranslationOptions::for_bundle(&converted, None).output.replace_unknowns);
        assert_golden(converted);
    }
}

/// Text is split into words by Moses' rules for the source language, and joined by those for the
/// target language, as sacremoses does for Argos Translate.
#[test]
fn packages_with_bpe_codes_translate_text() {
    let golden = || golden_of("argos-bpe.tsv");
    let package = data("argos-bpe.argosmodel");
    assert_translations(ModelBundle::open(&package, None).unwrap(), golden());
    let target = tempfile::tempdir().unwrap();
    for precision in [None, Some(Precision::F32)] {
        let file = target.path().join("model.miriam");
        let bundle = ModelBundle::open(&package, None).unwrap();
        miriam_nmt::model_file::write(&bundle, precision, &file, &NoProgress).unwrap();
        assert_translations(ModelBundle::open(&file, None).unwrap(), golden());
    }
}

#[test]
fn packages_of_other_kinds_are_rejected_by_name() {
    let target = tempfile::tempdir().unwrap();
    let folder = unpack(target.path());
    let refusal = || ModelBundle::open(&folder, None).err().unwrap().to_string();
    let pieces = folder.join("sentencepiece.model");
    std::fs::rename(&pieces, folder.join("bpe.model")).unwrap();
    // Codes are text, one pair of symbols per line.
    assert!(refusal().contains("bpe.model, line 1"), "{}", refusal());
    std::fs::rename(folder.join("bpe.model"), target.path().join("elsewhere")).unwrap();
    assert!(refusal().contains("neither sentencepiece.model nor bpe.model"));
    let metadata = folder.join("metadata.json");
    std::fs::write(&metadata, r#"{"type": "sbd"}"#).unwrap();
    assert!(refusal().contains(r#""sbd""#));
    std::fs::rename(target.path().join("elsewhere"), &pieces).unwrap();
    std::fs::write(&metadata, r#"{"target_prefix": "__zz__"}"#).unwrap();
    assert!(refusal().contains(r#""__zz__", which the vocabulary lacks"#));
    // An archive that is cut off, and an archive without a package.
    let cut = target.path().join("cut.argosmodel");
    let bytes = std::fs::read(data("argos.argosmodel")).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    assert!(ModelBundle::open(&cut, None).is_err());
    let other = target.path().join("other.argosmodel");
    std::fs::copy(data("tiny.npz"), &other).unwrap();
    let error = ModelBundle::open(&other, None).err().unwrap().to_string();
    assert!(error.contains("without metadata.json"), "{error}");
}

/// Both models at once give the same as one after the other, with any number of threads; alignments
/// link the final words to the first source.
#[test]
fn two_models_translate_as_one_after_the_other() {
    let open = || ModelBundle::open(&data("argos.argosmodel"), None).unwrap();
    let (text, _) = golden();
    let text = format!("{text}\n{text}");
    let plain = |threads| {
        let mut options = TranslationOptions { threads, mini_batch: 3, ..options(&open()) };
        options.output.n_best = false;
        options
    };
    let between = translate(&translator(open(), plain(1)), &text);
    let mut last = plain(1);
    last.output.n_best = true;
    last.search.n_best = 4;
    let expected = translate(&translator(open(), last), &between);
    for threads in [1, 3] {
        let mut last = plain(threads);
        last.output.n_best = true;
        last.search.n_best = 4;
        last.output.alignment = Some(AlignmentFormat::Soft);
        let first = PivotTranslator::options_of_first(plain(threads), &last);
        let pair = PivotTranslator::new(translator(open(), first), translator(open(), last));
        let found = written(|output, stop| {
            let mut fail = |error: &_| panic!("{error:?}");
            let counts =
                pair.translate(source(&text), false, output, stop, &NoProgress, &mut fail).unwrap();
            let lines = text.lines().count() as u64;
            assert_eq!((counts.read, counts.written), (lines, lines));
        });
        let mut without_alignments = String::new();
        for line in found.lines() {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            let [number, words, alignment, features, score] = fields[..] else { panic!("{line}") };
            without_alignments += &format!("{number} ||| {words} ||| {features} ||| {score}\n");
            let rows: Vec<Vec<f64>> = alignment
                .split(' ')
                .map(|row| row.split(',').map(|weight| weight.parse().unwrap()).collect())
                .collect();
            let number: usize = number.parse().unwrap();
            if text.lines().nth(number).is_some_and(|line| !line.is_empty()) {
                for row in rows {
                    let sum: f64 = row.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-3, "{line}");
                }
            }
        }
        assert_eq!(without_alignments, expected);
    }
}
