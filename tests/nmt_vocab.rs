//! `miriam nmt vocab`: codes, SentencePiece models and lists of words made from text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use miriam_textproc::SentencePiece;
use miriam_textproc::sentencepiece::Encoding;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, report_skip, run, run_to_error,
    run_with_input, shared_data,
};

fn vocab(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["nmt", "vocab", "--quiet"]).args(arguments);
    command
}

fn toy(name: &str) -> PathBuf {
    project_root().join("examples/toy").join(name)
}

/// Returns the file that the command makes of `text`.
fn learn(arguments: &[&str], text: &[u8]) -> Vec<u8> {
    run_with_input(vocab(arguments).args(["--text", "-"]), text).stdout
}

#[test]
fn codes_equal_those_of_subword_nmt() {
    let golden = project_root().join("base/textproc/testdata/learned.codes");
    let codes = run(vocab(&["--size", "300", "--text"]).arg(toy("corpus.es")));
    assert!(codes == std::fs::read(golden).unwrap());
}

#[test]
fn the_name_of_the_file_chooses_what_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read(toy("corpus.es")).unwrap();
    for (name, kind) in [
        ("v.spm", "sentencepiece-unigram"),
        ("v.model", "sentencepiece-unigram"),
        ("v.yml", "words"),
        ("v.codes", "bpe"),
    ] {
        let output = folder.path().join(name);
        run(vocab(&["--size", "120", "--text"]).arg(toy("corpus.es")).arg("-o").arg(&output));
        let expected = learn(&["--kind", kind, "--size", "120"], &text);
        assert!(std::fs::read(&output).unwrap() == expected, "{name}");
    }
}

#[test]
fn several_texts_of_any_compression_are_one_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [first, second] = ["corpus.en", "corpus.es"].map(|name| std::fs::read(toy(name)).unwrap());
    let gzip = std::fs::File::create(path("a.gz")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(gzip, flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &first).unwrap();
    gzip.finish().unwrap();
    std::fs::write(path("b.zst"), zstd::bulk::compress(&second, 1).unwrap()).unwrap();
    let joint = [&first[..], &second].concat();
    let mut lines: Vec<&[u8]> = joint.split_inclusive(|&byte| byte == b'\n').collect();
    lines.reverse();
    let reversed = lines.concat();
    for kind in ["bpe", "sentencepiece-unigram", "sentencepiece-bpe", "words"] {
        let expected = learn(&["--kind", kind, "--size", "180"], &joint);
        for threads in ["1", "3"] {
            let options = ["--kind", kind, "--size", "180", "--threads", threads];
            let output = path("vocabulary");
            let mut command = vocab(&options);
            command.arg("--text").arg(path("a.gz")).arg(path("b.zst")).arg("-o").arg(&output);
            run(&mut command);
            assert!(std::fs::read(&output).unwrap() == expected, "{kind}");
            assert!(learn(&options, &reversed) == expected, "{kind}: other order");
        }
    }
}

#[test]
fn models_have_the_asked_size_and_segment_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read(toy("train.es")).unwrap();
    for (kind, more) in [
        ("sentencepiece-unigram", &[][..]),
        ("sentencepiece-bpe", &["--normalization", "identity"][..]),
        ("sentencepiece-unigram", &["--byte-fallback"][..]),
        ("sentencepiece-unigram", &["--user-defined-symbols", "<BT>"][..]),
    ] {
        let size = if more == ["--byte-fallback"] { 400 } else { 120 };
        let model = folder.path().join("learned.spm");
        let mut command = vocab(&["--kind", kind, "--size", &size.to_string()]);
        command.args(["--character-coverage", "1"]).args(more);
        run(command.arg("--text").arg(toy("train.es")).arg("-o").arg(&model));
        let model = SentencePiece::open(&model).unwrap();
        assert_eq!((model.len(), model.piece_id(b"</s>"), model.unknown_id()), (size, Some(0), 1));
        let tag = more.contains(&"--user-defined-symbols").then_some(2);
        assert_eq!(model.piece_id(b"<BT>"), tag);
        let mut encoding = Encoding::new();
        for line in text.split(|&byte| byte == b'\n') {
            model.encode(line, &mut encoding);
            assert!(!encoding.ids().contains(&1), "{}", lossy_text(line));
            let mut decoded = Vec::new();
            model.decode(encoding.ids(), &mut decoded);
            assert_eq!(lossy_text(&decoded), lossy_text(line));
        }
    }
}

#[test]
fn words_are_written_as_marian_counts_them() {
    let yaml = learn(&["--kind", "words"], b"b  a b\tc\n: a \"no\" b \xff \n");
    let expected = "\"</s>\": 0\n\"<unk>\": 1\n\"a\": 2\n\"b\": 3\n\"\\\"no\\\"\": 4\n\":\": 5\n\
                    \"b\\x09c\": 6\n";
    assert_eq!(yaml, [expected.as_bytes(), b"\"\xff\": 7\n"].concat());
    let cut = learn(&["--kind", "words", "--size", "3"], b"b a b\n");
    assert_eq!(lossy_text(&cut), "\"</s>\": 0\n\"<unk>\": 1\n\"b\": 2\n");
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    let refuse = |content: &[u8], arguments: &[&str]| {
        std::fs::write(&text, content).unwrap();
        run_to_error(vocab(arguments).arg("--text").arg(&text))
    };
    for kind in ["bpe", "sentencepiece-unigram", "sentencepiece-bpe", "words"] {
        let error = refuse(b" \n\n", &["--kind", kind, "--size", "100"]);
        assert!(error.contains("text") && error.contains("no words"), "{error}");
    }
    for kind in ["sentencepiece-unigram", "sentencepiece-bpe"] {
        let error = refuse(b"abc abd\n", &["--kind", kind, "--size", "4"]);
        assert!(error.contains("use 7 or more"), "{error}");
        let error = refuse(b"abc abd\n", &["--kind", kind, "--size", "400"]);
        assert!(error.contains("use ") && error.contains("or fewer"), "{error}");
    }
    let usage = |arguments: &[&str]| {
        let output = vocab(arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        lossy_text(&output.stderr)
    };
    assert!(usage(&["--text", "-"]).contains("--size"));
    assert!(usage(&["--text", "-", "-", "--size", "9"]).contains("once"));
    assert!(usage(&["--text", "-", "--size", "9", "--byte-fallback"]).contains("--byte-fallback"));
    for (symbols, reason) in [
        ("<BT>,", "has no characters"),
        ("</s>", "</s> is a piece of every model"),
        ("<A>,<A>", "<A> is given twice"),
    ] {
        let options = ["--text", "-", "--size", "9", "-o", "v.spm"];
        let error = usage(&[&options[..], &["--user-defined-symbols", symbols]].concat());
        assert!(error.contains(reason) && error.contains("--user-defined-symbols"), "{error}");
    }
    let words = ["--text", "-", "--kind", "words", "--min-frequency", "3"];
    assert!(usage(&words).contains("--min-frequency"));
    for kind in [["--kind", "words"], ["-o", "v.yml"]] {
        // The text is not opened.
        let error = usage(&[&["--text", "absent", "--size", "1"][..], &kind].concat());
        assert!(error.contains("--size 1: words need 2 or more"), "{error}");
    }
    // The old file stays if no new one can be made.
    let output = folder.path().join("codes");
    std::fs::write(&output, "old").unwrap();
    std::fs::write(&text, "\n").unwrap();
    run_to_error(vocab(&["--size", "9", "--text"]).arg(&text).arg("-o").arg(&output));
    assert_eq!(std::fs::read(&output).unwrap(), b"old");
    if !Path::new("/dev/full").exists() {
        report_skip("there is no /dev/full");
        return;
    }
    let error = refuse(b"abc abc\n", &["--size", "9", "-o", "/dev/full"]);
    assert!(error.contains("/dev/full: cannot write"), "{error}");
}

#[test]
fn few_merges_give_a_warning_and_invalid_bytes_are_symbols() {
    let mut command = vocab(&["--size", "50", "--text", "-"]);
    let output = run_with_input(&mut command, b"a\xffb a\xffb\n");
    assert_eq!(output.stdout, b"#version: 0.2\n\xff b</w>\na \xffb</w>\n");
    let messages = lossy_text(&output.stderr);
    assert!(messages.contains("only 2 merges"), "{messages}");
}

/// On real text, models need at most 1 % more pieces for the development set than models of the
/// same size from SentencePiece's trainer.
#[test]
fn models_of_real_text_need_few_pieces_as_in_sentencepiece() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (language, kind, size, original_size) in [
        ("de", "sentencepiece-unigram", "4000", 17365),
        ("de", "sentencepiece-unigram", "8000", 16578),
        ("en", "sentencepiece-unigram", "4000", 16537),
        ("de", "sentencepiece-bpe", "8000", 14587),
        ("en", "sentencepiece-bpe", "4000", 14563),
    ] {
        let text = |set: &str| data.join(format!("corpus/{set}.{language}.gz"));
        let model = folder.path().join("learned.spm");
        let mut command = vocab(&["--kind", kind, "--size", size, "--text"]);
        run(command.arg(text("train")).arg("-o").arg(&model));
        let model = SentencePiece::open(&model).unwrap();
        let mut encoding = Encoding::new();
        let mut num_pieces = 0;
        for line in read_decompressed(&text("dev")).split(|&byte| byte == b'\n') {
            model.encode(line, &mut encoding);
            num_pieces += encoding.ids().len();
        }
        assert!(num_pieces * 100 <= original_size * 101, "{language} {kind} {size}: {num_pieces}");
    }
}

/// The SentencePiece library opens Miriam's models and segments text as Miriam does.
#[test]
fn the_sentencepiece_library_opens_the_models() {
    let script = "
import sys
try:
    import sentencepiece
except ImportError:
    sys.exit(77)
model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
for line in sys.stdin.buffer.read().decode().split('\\n'):
    print(*model.encode(line))
";
    // MIRIAM_PYTHON names an interpreter that has the wheel.
    let python = std::env::var("MIRIAM_PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python).args(["-c", "import sentencepiece"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        report_skip(&format!("{python} has no module sentencepiece"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut text = lossy_text(&std::fs::read(toy("test.es")).unwrap());
    text += "ｄａ\u{a0}ﬁ\u{301} 1½  ¿Ａ\u{30a}?\nun perro\tß 東京 \u{1F600}";
    for (kind, more) in [
        ("sentencepiece-unigram", &[][..]),
        ("sentencepiece-bpe", &[][..]),
        ("sentencepiece-unigram", &["--normalization", "identity"][..]),
        ("sentencepiece-bpe", &["--byte-fallback"][..]),
    ] {
        let path = folder.path().join("learned.model");
        let mut command = vocab(&["--kind", kind, "--size", "390", "--text"]);
        run(command.arg(toy("train.es")).arg(toy("train.en")).args(more).arg("-o").arg(&path));
        let model = SentencePiece::open(&path).unwrap();
        let mut encoding = Encoding::new();
        let mut ours = String::new();
        for line in text.split('\n') {
            model.encode(line.as_bytes(), &mut encoding);
            let ids: Vec<String> = encoding.ids().iter().map(u32::to_string).collect();
            ours += &format!("{}\n", ids.join(" "));
        }
        let mut library = Command::new(&python);
        library.args(["-c", script]).arg(&path);
        let theirs = run_with_input(&mut library, text.as_bytes());
        assert_eq!(lossy_text(&theirs.stdout), ours, "{kind} {more:?}");
    }
}
