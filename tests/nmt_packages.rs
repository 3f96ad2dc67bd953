//! Packages as they are downloaded: zip archives of OPUS-MT, and their folders unpacked, translate
//! raw text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use miriam_nmt::Vocabulary;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn translate(model: &Path) -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).arg(model);
    command
}

/// Writes a zip archive of the files of a folder, without compression.
fn zip(folder: &Path, archive: &Path) {
    let (mut bytes, mut directory, mut count) = (Vec::new(), Vec::new(), 0u16);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().as_bytes().to_vec();
        let mut sum = flate2::Crc::new();
        sum.update(&content);
        let length = (content.len() as u32).to_le_bytes();
        let common = [
            &20u16.to_le_bytes()[..],
            &[0; 8],
            &sum.sum().to_le_bytes(),
            &length,
            &length,
            &(name.len() as u16).to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(&name);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(&name);
        bytes.extend(&content);
        count += 1;
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    fs::write(archive, bytes).unwrap();
}

/// Writes the configuration of a package; its paths are those of the machine where the model was
/// trained.
fn write_configuration(folder: &Path) {
    let model = "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz";
    fs::copy(tiny_model("tiny.npz"), folder.join(model)).unwrap();
    let words = "opus.spm32k-spm32k.vocab.yml";
    let configuration = format!(
        "relative-paths: false\nmodels:\n  - /scratch/train/{model}\nvocabs:\n  \
         - /scratch/train/{words}\n  - /scratch/train/{words}\nbeam-size: 3\nnormalize: 1\n\
         word-penalty: 0\nmini-batch: 1\nmaxi-batch: 1\nmaxi-batch-sort: none\n\
         max-length-factor: 2\n"
    );
    fs::write(folder.join("decoder.yml"), configuration).unwrap();
}

/// Writes a package with SentencePiece models, whose vocabulary has the pieces in another order and
/// a token of a language.
pub fn write_pieces_package(folder: &Path) {
    write_configuration(folder);
    let text = folder.join("text");
    let lines: String = (0..300)
        .map(|n: usize| {
            let words =
                ["ab", "abba", "cab", "bac", "ccab", "abc", "acb", "bacca", "cba", "aab", "ccc"];
            let word = |k: usize| words[(n * k + n / 7) % words.len()];
            format!("{} {}{} {}\n", word(1), word(3), word(2), word(5))
        })
        .collect();
    fs::write(&text, lines).unwrap();
    let pieces = folder.join("source.spm");
    let mut command = miriam();
    command.args(["nmt", "vocab", "--quiet", "--kind", "sentencepiece-unigram", "--size", "20"]);
    run(command.arg("--text").arg(&text).arg("-o").arg(&pieces));
    fs::remove_file(&text).unwrap();
    fs::copy(&pieces, folder.join("target.spm")).unwrap();
    let vocabulary = Vocabulary::open(&pieces).unwrap();
    let words = vocabulary.iter().map(|word| String::from_utf8(word.to_vec()).unwrap());
    let mut words: Vec<String> = words.skip(2).collect();
    words.reverse();
    words.insert(3, ">>xyz<<".into());
    while words.len() < 22 {
        words.push(format!("x{}", words.len()));
    }
    let mut list = "</s>: 0\n<unk>: 1\n".to_owned();
    for (id, word) in (2..).zip(words) {
        list += &format!("\"{word}\": {id}\n");
    }
    fs::write(folder.join("opus.spm32k-spm32k.vocab.yml"), list).unwrap();
    fs::write(folder.join("preprocess.sh"), "spm_encode --model $2\n").unwrap();
    fs::write(folder.join("README.md"), "# opus-2020-02-26.zip\n").unwrap();
}

const TEXT: &str = "abba cab\nbac ab abc\n\nzz cab\n";

#[test]
fn opus_mt_packages_translate_unchanged() {
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("opus-mt-de-en");
    fs::create_dir(&folder).unwrap();
    write_pieces_package(&folder);
    let archive = target.path().join("opus-2020-02-26.zip");
    zip(&folder, &archive);
    // The same model with pieces as input and output.
    let plain = target.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let names = ["decoder.yml", "opus.spm32k-spm32k.vocab.yml"];
    let model = "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz";
    names.into_iter().chain([model]).for_each(|name| {
        fs::copy(folder.join(name), plain.join(name)).unwrap();
    });
    let configuration = fs::read_to_string(plain.join("decoder.yml")).unwrap();
    let configuration = configuration.replace("/scratch/train/", plain.to_str().unwrap());
    let configuration = configuration.replace("plain", "plain/");
    fs::write(plain.join("decoder.yml"), configuration).unwrap();
    let pieces = miriam_textproc::SentencePiece::open(&folder.join("source.spm")).unwrap();
    let mut encoding = miriam_textproc::sentencepiece::Encoding::new();
    let mut cut = |line: &str| {
        pieces.encode(line.as_bytes(), &mut encoding);
        let pieces: Vec<String> =
            pieces.pieces(&encoding).map(|piece| String::from_utf8_lossy(piece).into()).collect();
        pieces.join(" ")
    };
    for (language, tag) in [(None, ""), (Some("xyz"), ">>xyz<< ")] {
        let lines: String = TEXT.lines().map(|line| format!("{tag}{}\n", cut(line))).collect();
        // A tag alone is a sentence too; an empty line is not.
        let lines = lines.replace(">>xyz<< \n", "\n");
        let output = run_with_input(&mut translate(&plain), lines.as_bytes()).stdout;
        let joined = |line: &str| {
            let mut text = Vec::new();
            pieces.decode_pieces(line.split(' ').map(str::as_bytes), &mut text);
            lossy_text(&text)
        };
        let expected: String =
            lossy_text(&output).lines().map(|line| format!("{}\n", joined(line))).collect();
        assert!(expected.lines().any(|line| !line.is_empty()), "{expected}");
        for package in [&archive, &folder] {
            let mut command = translate(package);
            language.iter().for_each(|to| {
                command.args(["--to", to]);
            });
            let found = lossy_text(&run_with_input(&mut command, TEXT.as_bytes()).stdout);
            assert_eq!(found, expected, "{} {language:?}", package.display());
            // A tag in the text has the same effect.
            let tagged: String = TEXT.lines().map(|line| format!("{tag}{line}\n")).collect();
            let tagged = tagged.replace(">>xyz<< \n", "\n");
            let found = run_with_input(&mut translate(package), tagged.as_bytes()).stdout;
            assert_eq!(lossy_text(&found), expected);
        }
    }
    let ours = target.path().join("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(&archive).arg("-o").arg(&ours));
    let translated = |model: &Path| run_with_input(&mut translate(model), TEXT.as_bytes()).stdout;
    assert_eq!(translated(&ours), translated(&archive));
    let description = lossy_text(&run(miriam().args(["nmt", "info"]).arg(&archive)));
    assert!(description.contains("OPUS-MT archive"), "{description}");
}

/// The first models of OPUS-MT have BPE codes for words of Moses' tokeniser.
#[test]
fn bpe_codes_of_opus_mt_are_for_words_of_moses() {
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("package");
    fs::create_dir(&folder).unwrap();
    write_configuration(&folder);
    let codes = "#version: 0.2\na b</w>\n";
    fs::write(folder.join("source.bpe"), codes).unwrap();
    fs::write(folder.join("target.bpe"), codes).unwrap();
    let words = [
        "ab", "a@@", "b", "c", ",", ".", "!", "&quot;", "&apos;s", "@-@", "b@@", "c@@", "(", ")",
        "?", ":", "a", "5", "%", "d", "e", "f",
    ];
    let mut list = "</s>: 0\n<unk>: 1\n".to_owned();
    for (id, word) in (2..).zip(words) {
        list += &format!("\"{word}\": {id}\n");
    }
    fs::write(folder.join("opus.spm32k-spm32k.vocab.yml"), list).unwrap();
    // Without the script, words are separated by spaces only.
    let plain = |lines: &str, more: &[&str]| {
        lossy_text(&run_with_input(translate(&folder).args(more), lines.as_bytes()).stdout)
    };
    let text = "“ab”， ba-c！\nab's (c) 5 %.\n";
    let words = "&quot; ab &quot; , ba @-@ c !\nab &apos;s ( c ) 5 % .\n";
    let expected = plain(words, &[]);
    let mut command = miriam();
    command.args(["detokenize", "--quiet", "-l", "en"]);
    let expected = lossy_text(&run_with_input(&mut command, expected.as_bytes()).stdout);
    let script = "#!/bin/bash\n${TOKENIZER}/replace-unicode-punctuation.perl |\n\
                  ${TOKENIZER}/tokenizer.perl -a -l $1 |\napply_bpe.py -c $2\n";
    fs::write(folder.join("preprocess.sh"), script).unwrap();
    let readme = "* download: [opus.zip](https://host/OPUS-MT-models/de-en/opus-2019-12-05.zip)\n";
    fs::write(folder.join("README.md"), readme).unwrap();
    assert_eq!(plain(text, &[]), expected);
    let archive = target.path().join("opus-2019-12-05.zip");
    zip(&folder, &archive);
    assert_eq!(
        lossy_text(&run_with_input(&mut translate(&archive), text.as_bytes()).stdout),
        expected
    );
    let ours = target.path().join("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(&archive).arg("-o").arg(&ours));
    assert_eq!(
        lossy_text(&run_with_input(&mut translate(&ours), text.as_bytes()).stdout),
        expected
    );
    let description = lossy_text(&run(miriam().args(["nmt", "info"]).arg(&ours)));
    for language in ["(de)", "(en)"] {
        assert!(description.contains(language), "{description}");
    }
}

#[test]
fn other_archives_are_rejected_by_name() {
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "a").unwrap();
    let archive = target.path().join("a.zip");
    zip(&folder, &archive);
    let error = run_to_error(&mut translate(&archive));
    assert!(error.contains("without decoder.yml"), "{error}");
    fs::write(&archive, "PK\x03\x04 no archive").unwrap();
    run_to_error(&mut translate(&archive));
    // An archive of Argos Translate under another name.
    let copy = target.path().join("translate-xx_yy.zip");
    fs::copy(tiny_model("argos.argosmodel"), &copy).unwrap();
    let text = b"ab ba\n";
    let found = run_with_input(&mut translate(&copy), text).stdout;
    let expected = run_with_input(&mut translate(&tiny_model("argos.argosmodel")), text).stdout;
    assert_eq!(found, expected);
}
