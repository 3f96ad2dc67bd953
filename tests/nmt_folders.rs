//! Neural models in the folders and with the names that people have: browsers' caches,
//! SentencePiece vocabularies of any name, decoder configurations with every key.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use miriam_nmt::Vocabulary;
use miriam_nmt::checkpoint::Checkpoint;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// Returns the command `miriam nmt translate` with these models.
fn translate(models: &[&Path]) -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).args(models);
    command
}

const TEXT: &str = "abba cabb\nbac bac a\n\nzz cab\n";

/// Writes a SentencePiece model with 24 pieces, as many as the small models have words.
fn write_pieces(path: &Path) {
    let text = path.with_extension("text");
    let words = "ab ba abba cab bac cabba aab bb ccab abc cba acb bacca cabcab abab acca";
    let words: Vec<&str> = words.split(' ').collect();
    let word = |n: usize| words[n % words.len()];
    let line = |n: usize| {
        let last = [word(n * n + n / 5), word(n * 3)].concat();
        format!("{} {} {} {last}\n", word(n), word(n / 3), word(n * 7 + 2))
    };
    let lines: String = (0..600).map(line).collect();
    fs::write(&text, lines).unwrap();
    let mut command = miriam();
    command.args(["nmt", "vocab", "--quiet", "--kind", "sentencepiece-unigram", "--size", "24"]);
    run(command.arg("--text").arg(&text).arg("-o").arg(path));
    fs::remove_file(&text).unwrap();
}

/// Returns Marian's `.bin` of a small model as the fork for browsers packs it (`neural.md` 1.2).
fn browser_model(npz: &Path) -> Vec<u8> {
    let checkpoint = Checkpoint::open(npz, Default::default()).unwrap();
    let mut items: Vec<(String, u64, Vec<usize>, Vec<u8>)> = Vec::new();
    for name in checkpoint.names() {
        let tensor = checkpoint.get(name).unwrap();
        let values = tensor.values();
        let suffix = name.rsplit_once("_W").map(|(_, letter)| letter.len());
        if tensor.shape().len() == 2 && suffix == Some(1) {
            let (rows, columns) = (tensor.shape()[0], tensor.shape()[1]);
            let multiplier = 127.0 / values.iter().fold(0f32, |max, x| max.max(x.abs()));
            let mut bytes = Vec::new();
            for column in 0..columns {
                let integer =
                    |row: usize| (values[row * columns + column] * multiplier).round() as i8;
                bytes.extend((0..rows).map(|row| integer(row) as u8));
            }
            bytes.extend(multiplier.to_le_bytes());
            items.push((name.into(), 0x4101, tensor.shape().to_vec(), bytes));
            let scale = 8f32.to_le_bytes().to_vec();
            items.push((format!("{name}_QuantMultA"), 0x404, vec![1, 1], scale));
        } else {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            items.push((name.into(), 0x404, tensor.shape().to_vec(), bytes));
        }
    }
    let options = [checkpoint.options().unwrap(), b"\0"].concat();
    items.push(("special:model.yml".into(), 0x101, vec![options.len()], options));
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, number: usize| bytes.extend((number as u64).to_le_bytes());
    put(&mut bytes, 1);
    put(&mut bytes, items.len());
    for (name, kind, shape, data) in &items {
        let padded = data.len().next_multiple_of(256);
        for number in [name.len() + 1, *kind as usize, shape.len(), padded] {
            put(&mut bytes, number);
        }
    }
    items.iter().for_each(|(name, ..)| bytes.extend(format!("{name}\0").as_bytes()));
    let sides = items.iter().flat_map(|(_, _, shape, _)| shape);
    sides.for_each(|&side| bytes.extend((side as i32).to_le_bytes()));
    let padding = (bytes.len() + 8).next_multiple_of(256) - bytes.len() - 8;
    put(&mut bytes, padding);
    bytes.resize(bytes.len() + padding, 0);
    for (.., data) in &items {
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(256), 0);
    }
    bytes
}

/// Returns a binary shortlist for 24 words (`neural.md` 1.4). The two most frequent words are
/// always in it; each source word has itself and the next word (the last one: the word before it).
fn shortlist() -> Vec<u8> {
    let offsets: Vec<u64> = (0..=24).map(|word| 2 * word).collect();
    let ids = (0..24u32).flat_map(|word| [word.min(22), word.min(22) + 1]);
    let mut rest: Vec<u8> = [2u64, 2, 25, 48].iter().flat_map(|n| n.to_le_bytes()).collect();
    rest.extend(offsets.iter().flat_map(|n| n.to_le_bytes()));
    rest.extend(ids.flat_map(u32::to_le_bytes));
    let words = rest.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word));
    let hash = words.fold(0u64, |hash, word| {
        let word = word.wrapping_add(0x9e37_79b9).wrapping_add(hash << 6).wrapping_add(hash >> 2);
        hash ^ word
    });
    [&0xf11a_48d5_0134_17f5u64.to_le_bytes()[..], &hash.to_le_bytes(), &rest].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Returns the field `number` of a protocol buffer, with the value `bytes`.
fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let tag = number << 3 | 2;
    let mut field = vec![tag as u8 | 0x80, (tag >> 7) as u8, bytes.len() as u8];
    field.extend(bytes);
    field
}

/// The special pieces of a SentencePiece model are those that its trainer's specification gives, by
/// name or number.
#[test]
fn special_pieces_may_have_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy-neural");
    for name in ["decoder.yml", "model.npz"] {
        fs::copy(toy.join(name), folder.path().join(name)).unwrap();
    }
    let text = b"the red house is big .\nthe zebra reads .\n";
    let mut command = translate(&[&toy.join("decoder.yml")]);
    let expected = lossy_text(&run_with_input(&mut command, text).stdout);
    let pieces = fs::read(toy.join("vocab.spm")).unwrap();
    let replaced = |bytes: &[u8], from: &[u8], to: &[u8]| {
        let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
        [&bytes[..at], to, &bytes[at + from.len()..]].concat()
    };
    let renamed = replaced(&replaced(&pieces, b"</s>", b"<ES>"), b"<unk>", b"<UNK>");
    // Field 2 of the model is the trainer's specification. In the specification, field 42 is the
    // number of EOS and field 47 is its name.
    let no_number = [&[0xd0, 0x02][..], &[0xff; 9], &[0x01]].concat();
    let named = [&no_number[..], &field(47, b"<ES>")].concat();
    let with = |specification: &[u8]| {
        let specification = [&[0x12, specification.len() as u8][..], specification].concat();
        let vocabulary = [&renamed[..], &specification].concat();
        fs::write(folder.path().join("vocab.spm"), vocabulary).unwrap();
        translate(&[&folder.path().join("decoder.yml")])
    };
    for specification in [&named[..], &[0xd0, 0x02, 0]] {
        let found = run_with_input(&mut with(specification), text);
        assert_eq!(lossy_text(&found.stdout), expected);
    }
    let message = run_to_error(&mut with(&no_number));
    assert!(message.contains("vocab.spm") && message.contains("</s>"), "{message}");
}

#[test]
fn a_sentencepiece_vocabulary_cuts_text_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let spm = folder.path().join("vocab.spm");
    write_pieces(&spm);
    let model = tiny_model("tiny.npz");
    let with = |vocabularies: &[&Path], more: &[&str]| {
        let mut command = translate(&[&model]);
        command.arg("-v").args(vocabularies).args(["-b", "2", "--max-length-factor", "2"]);
        run_with_input(command.args(more), TEXT.as_bytes())
    };
    let expected = with(&[&spm, &spm], &["--n-best"]);
    assert!(lossy_text(&expected.stdout).lines().count() >= 4);
    let bytes = fs::read(&spm).unwrap();
    for (name, bytes) in [
        ("vocab.model", bytes.clone()),
        ("sentencepiece", bytes.clone()),
        ("vocab.spm.gz", gzip(&bytes)),
        ("vocab.model.zst", zstd(&bytes)),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        // One file serves both sides.
        for vocabularies in [&[&*path, &path][..], &[&path]] {
            let found = with(vocabularies, &["--n-best"]);
            assert_eq!(lossy_text(&found.stdout), lossy_text(&expected.stdout), "{name}");
        }
        let settings = lossy_text(&with(&[&path], &["--verbose"]).stderr);
        assert!(settings.contains(&format!("{name}, 24 words")), "{settings}");
        assert!(settings.contains("source text: SentencePiece, Unigram, 24 pieces"), "{settings}");
    }
    // A plain list of pieces cannot cut text, and a message says so.
    let words = Vocabulary::open(&spm).unwrap();
    let list: Vec<String> = words.iter().map(lossy_text).collect();
    let path = folder.path().join("pieces.txt");
    fs::write(&path, list.join("\n")).unwrap();
    let message = lossy_text(&with(&[&path], &[]).stderr);
    assert!(message.contains("pieces.txt has SentencePiece pieces"), "{message}");
    let message = lossy_text(&with(&[&path], &["--no-spm-encode"]).stderr);
    assert_eq!(message, "");
}

#[test]
fn every_key_of_a_configuration_has_its_effect_or_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("decoder.yml");
    let names = [tiny_model("tiny.npz"), tiny_model("tiny.vocab.yml")];
    let [model, words] = names.map(|path| path.canonicalize().unwrap().display().to_string());
    let with = |keys: &str, more: &[&str]| {
        let base = format!("models: [{model}]\nvocabs: [{words}, {words}]\nbeam-size: 3\n");
        fs::write(&config, format!("{base}max-length-factor: 2\n{keys}")).unwrap();
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-c"]).arg(&config);
        command.args(more);
        run_with_input(&mut command, b"w4 w5 w6 w7 w8\nw9 w2\nnone w3\n")
    };
    let text = |keys: &str, more: &[&str]| lossy_text(&with(keys, more).stdout);
    let plain = text("", &[]);
    for (keys, options) in [
        ("n-best: true\n", &["--n-best"][..]),
        ("alignment: soft\n", &["--alignment", "soft"]),
        ("alignment: 0.2\n", &["--alignment", "0.2"]),
        ("word-scores: true\n", &["--word-scores"]),
        ("max-length: 3\n", &["--max-length", "3"]),
        ("max-length: 3\nmax-length-crop: true\n", &["--max-length", "3", "--max-length-crop"]),
        ("no-spm-decode: true\nn-best: yes\nbeam-size: 2\n", &["--n-best", "-b", "2"]),
    ] {
        assert_eq!(text(keys, &[]), text("", options), "{keys}");
        assert_ne!(text(keys, &[]), plain, "{keys}");
    }
    for (keys, setting) in [
        ("allow-unk: true\n", "allow-unk: true"),
        ("mini-batch-words: 77\n", "mini-batch-words: 77"),
        ("mini-batch-words: 0\n", "mini-batch-words: 4096"),
    ] {
        let settings = lossy_text(&with(keys, &["--verbose"]).stderr);
        assert!(settings.lines().any(|line| line.ends_with(setting)), "{keys}: {settings}");
    }
    // The command line overrides.
    for (keys, option) in [
        ("n-best: true\n", "--no-n-best"),
        ("alignment: hard\n", "--no-alignment"),
        ("word-scores: true\n", "--no-word-scores"),
        ("allow-unk: true\n", "--disable-unk"),
    ] {
        assert_eq!(text(keys, &[option]), plain, "{keys}");
    }
    let cropped = "max-length: 3\nmax-length-crop: true\n";
    let failed = text("max-length: 3\n", &[]);
    assert_eq!(text(cropped, &["--no-max-length-crop"]), failed);
    // Other keys are named once, or rejected.
    let message = lossy_text(&with("skip-cost: true\nworkspace: 128\nquiet: true\n", &[]).stderr);
    assert_eq!(message.matches("without effect here: skip-cost workspace quiet").count(), 1);
    for (keys, said) in [
        ("beam_size: 3\n", ["decoder.yml: beam_size", "remove it"]),
        ("output-sampling: [full, 1]\n", ["decoder.yml: output-sampling", "--sampling-topk"]),
    ] {
        fs::write(&config, format!("models: [{model}]\n{keys}")).unwrap();
        let error = run_to_error(miriam().args(["nmt", "translate", "-c"]).arg(&config));
        assert!(said.iter().all(|said| error.contains(said)), "{error}");
    }
}

#[test]
fn a_converted_model_keeps_settings_of_output() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("decoder.yml");
    let names = [tiny_model("tiny.npz"), tiny_model("tiny.vocab.yml")];
    let [model, words] = names.map(|path| path.canonicalize().unwrap().display().to_string());
    let keys = "beam-size: 3\nmax-length-factor: 2\nn-best: true\nalignment: 0.3\n\
                word-scores: true\nmax-length: 4\nmax-length-crop: true\nallow-unk: true\n";
    fs::write(&config, format!("models: [{model}]\nvocabs: [{words}]\n{keys}")).unwrap();
    let ours = folder.path().join("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(&config).arg("-o").arg(&ours));
    let input = b"w4 w5 w6 w7 w8\nw9 w2\n";
    let expected = run_with_input(&mut translate(&[&config]), input).stdout;
    assert_eq!(run_with_input(&mut translate(&[&ours]), input).stdout, expected);
    assert!(lossy_text(&expected).contains("WordScores="));
}

/// Writes a browser's folder: model, vocabulary and shortlist, each through `pack`.
fn write_browser_folder(folder: &Path, pack: impl Fn(&[u8]) -> Vec<u8>, suffix: &str) {
    write_pieces(&folder.join("pieces.spm"));
    let pieces = fs::read(folder.join("pieces.spm")).unwrap();
    fs::remove_file(folder.join("pieces.spm")).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(format!("{name}{suffix}")), pack(bytes)).unwrap();
    };
    write("model.deen.intgemm.alphas.bin", &browser_model(&tiny_model("tiny.npz")));
    write("vocab.deen.spm", &pieces);
    write("lex.50.50.deen.s2t.bin", &shortlist());
}

#[test]
fn a_browser_folder_opens_unchanged() {
    let plain = tempfile::tempdir().unwrap();
    write_browser_folder(plain.path(), |bytes| bytes.to_vec(), "");
    let at = |name: &str| plain.path().join(name);
    let model = at("model.deen.intgemm.alphas.bin");
    // N-best lists are compared, because their scores may differ even if the words do not.
    let output = |command: &mut Command| {
        let command = command.args(["--n-best", "1"]);
        lossy_text(&run_with_input(command, TEXT.as_bytes()).stdout)
    };
    let mut named = translate(&[&model]);
    named.arg("-v").arg(at("vocab.deen.spm")).arg("--shortlist").arg(at("lex.50.50.deen.s2t.bin"));
    named.args(["-b", "1", "--normalize", "1", "--max-length-factor", "2"]);
    let expected = output(&mut named);
    // The path of the folder and the path of the model file open the same system.
    for path in [plain.path(), &model] {
        assert_eq!(output(&mut translate(&[path])), expected);
        let settings = lossy_text(&run_with_input(translate(&[path]).arg("--verbose"), b"").stderr);
        for line in [
            "search: marian",
            "beam-size: 1",
            "normalize: 1",
            "max-length-factor: 2",
            "lex.50.50.deen.s2t.bin, 48 translations, and the 2 most frequent words always",
            "vocab.deen.spm, 24 words",
        ] {
            assert!(settings.contains(line), "{line}: {settings}");
        }
    }
    let without = output(translate(&[plain.path()]).arg("--no-shortlist"));
    assert_ne!(without, expected);
    // The files may be compressed. If the folder has models of both directions, one must be named.
    let pack_gzip: fn(&[u8]) -> Vec<u8> = gzip;
    for (pack, suffix) in [(pack_gzip, ".gz"), (zstd, ".zst")] {
        let folder = tempfile::tempdir().unwrap();
        write_browser_folder(folder.path(), pack, suffix);
        assert_eq!(output(&mut translate(&[folder.path()])), expected, "{suffix}");
        let file =
            |pair: &str| folder.path().join(format!("model.{pair}.intgemm.alphas.bin{suffix}"));
        fs::copy(file("deen"), file("ende")).unwrap();
        let error = run_to_error(&mut translate(&[folder.path()]));
        assert!(error.contains("2 models") && error.contains("model.ende.intgemm"), "{error}");
        assert_eq!(output(&mut translate(&[&file("deen")])), expected, "{suffix}");
    }
    // Separate vocabularies: two files are not shared, so that the words of a sentence are not
    // candidates by themselves.
    let [source, target] = ["srcvocab.deen.spm", "trgvocab.deen.spm"].map(at);
    fs::rename(at("vocab.deen.spm"), &source).unwrap();
    fs::copy(&source, &target).unwrap();
    let mut named = translate(&[&model]);
    named.arg("-v").args([&source, &target]);
    named.arg("--shortlist").arg(at("lex.50.50.deen.s2t.bin"));
    named.args(["-b", "1", "--normalize", "1", "--max-length-factor", "2"]);
    let expected = output(&mut named);
    assert_eq!(output(&mut translate(&[plain.path()])), expected);
    // A file in Miriam's format keeps the defaults of the folder.
    let ours = at("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(plain.path()).arg("-o").arg(&ours));
    assert_eq!(output(&mut translate(&[&ours])), expected);
    fs::remove_file(&ours).unwrap();
    let report = lossy_text(&run(miriam().args(["nmt", "info"]).arg(plain.path())));
    assert!(report.contains("fixed scales for quantising their inputs (alphas)"), "{report}");
    assert!(!report.contains("no vocabularies"), "{report}");
}

#[test]
fn the_file_of_weights_stands_for_its_folder() {
    for (folder, file) in [("tiny-ct2", "model.bin"), ("tiny-hf", "model.safetensors")] {
        let folder = tiny_model(folder);
        let expected = run_with_input(&mut translate(&[&folder]), TEXT.as_bytes()).stdout;
        let found = run_with_input(&mut translate(&[&folder.join(file)]), TEXT.as_bytes()).stdout;
        assert_eq!(lossy_text(&found), lossy_text(&expected), "{file}");
        // The same from its own folder, where the name of the file has no folder.
        let mut command = translate(&[Path::new(file)]);
        let found = run_with_input(command.current_dir(&folder), TEXT.as_bytes()).stdout;
        assert_eq!(lossy_text(&found), lossy_text(&expected), "{file} in its folder");
    }
}

#[test]
fn a_configuration_of_a_student_is_found() {
    let folder = tempfile::tempdir().unwrap();
    write_browser_folder(folder.path(), gzip, ".gz");
    let text = "relative-paths: true\nmodels: [model.deen.intgemm.alphas.bin]\n\
                vocabs: [vocab.deen.spm, vocab.deen.spm]\n\
                shortlist: [lex.50.50.deen.s2t.bin, false]\nbeam-size: 1\nnormalize: 1.0\n\
                word-penalty: 0\nmax-length-break: 128\nmini-batch-words: 1024\nworkspace: 128\n\
                max-length-factor: 2.0\nskip-cost: true\ncpu-threads: 0\nquiet: true\n\
                quiet-translation: true\ngemm-precision: int8shiftAlphaAll\n";
    let expected = run_with_input(&mut translate(&[folder.path()]), TEXT.as_bytes()).stdout;
    fs::write(folder.path().join("config.intgemm8bitalpha.yml"), text).unwrap();
    let found = run_with_input(&mut translate(&[folder.path()]), TEXT.as_bytes());
    assert_eq!(found.stdout, expected);
    let message = lossy_text(&found.stderr);
    assert!(message.contains("without effect here: max-length-break workspace"), "{message}");
}

#[test]
fn languages_and_second_models_without_effect_are_rejected() {
    let of = |name: &str, arguments: &[&str]| {
        let mut command = translate(&[&tiny_model(name)]);
        run_to_error(command.args(arguments))
    };
    let message = of("hf-nllb", &["--from", "en"]);
    assert!(message.contains("--to") && message.contains("spa_Latn"), "{message}");
    let message = of("hf-nllb", &["--from", "en", "--to", "klingon"]);
    assert!(message.contains("klingon") && message.contains("zho_Hant"), "{message}");
    assert!(of("tiny-hf", &["--to", "de"]).contains("names no languages"));
    let second = tiny_model("tiny-hf");
    let then = ["--then", second.to_str().unwrap()];
    let message = of("tiny-hf", &[&then[..], &["--via", "en"]].concat());
    assert!(message.contains("--via"), "{message}");
    let nllb = tiny_model("hf-nllb");
    let message = of("tiny-hf", &["--then", nllb.to_str().unwrap(), "--to", "de"]);
    assert!(message.contains("--from") && message.contains("hf-nllb"), "{message}");
    let status = translate(&[&second]).args(then).arg("--tsv").output().unwrap().status;
    assert_eq!(status.code(), Some(2));
}

/// What one model writes goes to the next one, line by line, empty and failing lines too.
#[test]
fn two_models_translate_like_two_commands() {
    let text = b"w2 w3 w4\n\nw5 w6 w7 w8 w9\nw10\n";
    let model = tiny_model("tiny-ct2");
    let options = ["--max-decoding-length", "5", "--max-length", "4"];
    let once = run_with_input(translate(&[&model]).args(options), text).stdout;
    let twice = run_with_input(translate(&[&model]).args(options), &once).stdout;
    let mut command = translate(&[&model]);
    command.args(options).arg("--then").arg(&model);
    let output = run_with_input(&mut command, text);
    // A line that failed in the first model is empty in the input of the second.
    assert_eq!(lossy_text(&output.stdout), lossy_text(&twice));
}

/// A line that is too long is translated in parts by both models, as by two commands.
#[test]
fn long_lines_go_through_two_models() {
    let model = tiny_model("tiny-ct2");
    let text = format!("{}\nw2 w3\n", "w2 w3 w4 w5 w6 ".repeat(4200));
    let options = ["--max-decoding-length", "3"];
    let once = run_with_input(translate(&[&model]).args(options), text.as_bytes()).stdout;
    let twice = run_with_input(translate(&[&model]).args(options), &once).stdout;
    let mut command = translate(&[&model]);
    command.args(options).arg("--then").arg(&model);
    let output = run_with_input(&mut command, text.as_bytes());
    assert!(!twice.starts_with(b"\n"), "the long line has a translation");
    assert_eq!(lossy_text(&output.stdout), lossy_text(&twice));
    let message = lossy_text(&output.stderr);
    assert!(message.contains("line 1") && message.contains("in parts"), "{message}");
}

#[test]
fn what_a_ctranslate2_folder_lacks_or_has_besides_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["config.json", "model.bin", "shared_vocabulary.json"] {
        fs::copy(tiny_model("ct2-bart").join(name), folder.path().join(name)).unwrap();
    }
    let config = folder.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    let start = "\"decoder_start_token\": \"</s>\"";
    assert!(text.contains(start));
    fs::write(&config, text.replace(start, "\"decoder_start_token\": \"__xx__\"")).unwrap();
    let error = run_to_error(&mut translate(&[folder.path()]));
    assert!(error.contains("decoding starts with \"__xx__\""), "{error}");
    fs::write(&config, text).unwrap();
    // OpenNMT-py writes no EOS into the vocabulary of the source, which does not end with it.
    let separate = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(tiny_model("ct2-relative")).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, separate.path().join(file.file_name().unwrap())).unwrap();
    }
    let input = b"s1 s2 s3\ns4\n";
    let expected = run_with_input(&mut translate(&[separate.path()]), input).stdout;
    let source = separate.path().join("source_vocabulary.json");
    let words = fs::read_to_string(&source).unwrap();
    assert!(words.contains("\"</s>\""));
    fs::write(&source, words.replace("\"</s>\"", "\"foo\"")).unwrap();
    let found = run_with_input(&mut translate(&[separate.path()]), input).stdout;
    assert_eq!(lossy_text(&found), lossy_text(&expected));
    fs::remove_file(folder.path().join("shared_vocabulary.json")).unwrap();
    let error = run_to_error(&mut translate(&[folder.path()]));
    assert!(error.contains("lacks the vocabulary of the source or of the target"), "{error}");
    // The start token is found in a vocabulary that is named, too.
    let whole = tiny_model("ct2-bart");
    let input = b"w1 w2 w3\nw4\n";
    let expected = run_with_input(&mut translate(&[&whole]), input).stdout;
    let mut named = translate(&[folder.path()]);
    named.arg("-v").arg(whole.join("shared_vocabulary.json"));
    assert_eq!(lossy_text(&run_with_input(&mut named, input).stdout), lossy_text(&expected));
}

/// Settings of `generation_config.json` are defaults, or are named as without effect. The language
/// of the text also selects the abbreviations.
#[test]
fn settings_of_generation_are_taken_or_named() {
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("model");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(tiny_model("hf-nllb")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    let path = folder.join("generation_config.json");
    let generation = fs::read_to_string(&path).unwrap();
    let more = "{\"num_beams\": 4, \"early_stopping\": false, \"max_length\": 6, \
                \"no_repeat_ngram_size\": 2, \"repetition_penalty\": 1.5,";
    fs::write(&path, generation.replacen('{', more, 1)).unwrap();
    let languages = ["--from", "deu_Latn", "--to", "eng_Latn"];
    let output = |model: &Path, more: &[&str]| {
        let mut command = translate(&[model]);
        command.args(languages).args(more);
        let output = run_with_input(&mut command, b"ade bdadc\n");
        (lossy_text(&output.stdout), lossy_text(&output.stderr))
    };
    let (by_file, messages) = output(&folder, &["--verbose"]);
    assert!(!messages.contains("early_stopping"), "{messages}");
    for setting in ["beam-size: 4", "max-decoding-length: 5"] {
        assert!(messages.contains(setting), "{setting}: {messages}");
    }
    let options = [
        "-b",
        "4",
        "--max-decoding-length",
        "5",
        "--no-repeat-ngram-size",
        "2",
        "--repetition-penalty",
        "1.5",
        "--early-stopping",
        "false",
    ];
    let (by_options, messages) = output(&tiny_model("hf-nllb"), &options);
    assert_eq!(by_file, by_options, "{messages}");
    // A file in Miriam's format keeps the settings.
    let ours = target.path().join("ours.miriam");
    run(miriam().args(["nmt", "convert", "--quiet"]).arg(&folder).arg("-o").arg(&ours));
    assert_eq!(output(&ours, &[]).0, by_file);
    // `--from` selects the abbreviations, not the language in the model's name, which is French
    // here.
    let named = target.path().join("opus-mt-fr-en");
    fs::rename(&folder, &named).unwrap();
    let (_, messages) = output(&named, &["--verbose", "--split"]);
    assert!(messages.contains("abbreviations of: de"), "{messages}");
}

#[test]
fn tokens_that_are_not_text_are_not_printed() {
    let model = tiny_model("hf-t5");
    let command = |model: &Path, more: &[&str]| {
        let mut command = translate(&[model]);
        command.args(["--max-decoding-length", "12", "--beam-size", "1"]).args(more);
        lossy_text(&run_with_input(&mut command, b"ceeb ebcc eabe cdbc\n").stdout)
    };
    let pieces = command(&model, &["--no-spm-decode"]);
    assert!(pieces.starts_with("<extra_id_78> \u{2581}eabe"), "{pieces}");
    let words = pieces.replace("<extra_id_78> ", "").replace('\u{2581}', "");
    assert_eq!(command(&model, &[]), words);
    // Without sentinels, their ids have no token.
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(&model).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    fs::write(folder.path().join("tokenizer_config.json"), "{\"extra_ids\": 0}").unwrap();
    let placeholders = command(folder.path(), &["--no-spm-decode"]);
    assert_eq!(placeholders, pieces.replace("<extra_id_78>", "<no-token-51>"));
    assert_eq!(command(folder.path(), &[]), words);
}

#[test]
fn a_text_without_a_language_is_warned_of() {
    let model = tiny_model("hf-madlad");
    let warnings = |more: &[&str], text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, text).unwrap();
        let mut command = translate(&[&model]);
        command.args(["--max-decoding-length", "3"]).args(more).arg("-i").arg(&path);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        lossy_text(&output.stderr).matches("no language to translate to").count()
    };
    assert_eq!(warnings(&[], "ade bdadc\nade\n"), 1, "once is enough");
    assert_eq!(warnings(&[], "<2es> ade bdadc\n"), 0);
    assert_eq!(warnings(&["--to", "es"], "ade bdadc\n"), 0);
}
