//! `miriam translate` end to end: compared with Moses2's recorded output on a real
//! system, and over bad input on a toy one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, report_skip, run, run_to_error,
    shared_data, unpack_archive,
};

/// The German-English system with binary files built from its text files.
struct Multi30k {
    data: PathBuf,
    folder: tempfile::TempDir,
}

fn multi30k() -> Option<&'static Multi30k> {
    static SYSTEM: OnceLock<Option<Multi30k>> = OnceLock::new();
    SYSTEM.get_or_init(build_multi30k).as_ref()
}

fn build_multi30k() -> Option<Multi30k> {
    let data = shared_data("m30k-de-en")?;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run(miriam()
        .args(["pt", "build", "--phrase-table"])
        .arg(data.join("phrase-table.gz"))
        .arg("--reordering")
        .arg(data.join("reordering-table.gz"))
        .arg("-o")
        .arg(at("table")));
    run(miriam()
        .args(["lm", "build"])
        .arg(data.join("lm/lm.5.en.arpa.gz"))
        .arg("-o")
        .arg(at("lm")));
    for weights in ["", ".tuned"] {
        let ini = String::from_utf8(read_decompressed(&data.join(format!("probing{weights}.ini"))))
            .unwrap();
        let ini = ini.replace("path=probing-pt", "path=table");
        let ini = ini.replace("path=lm/lm.5.en.probing", "path=lm");
        fs::write(at(&format!("binary{weights}.ini")), &ini).unwrap();
        let ini = ini.replace("path=table", "path=probing-pt");
        fs::write(at(&format!("moses{weights}.ini")), ini).unwrap();
    }
    unpack_archive(&data.join("probing-pt.api15.tar.zst"), &at("probing-pt"));
    for name in ["test", "test200"] {
        let source = read_decompressed(&data.join("corpus/test.de.gz"));
        let lines = if name == "test" { usize::MAX } else { 200 };
        let source: Vec<u8> =
            source.split_inclusive(|&b| b == b'\n').take(lines).flatten().copied().collect();
        fs::write(at(name), source).unwrap();
    }
    Some(Multi30k { data, folder })
}

impl Multi30k {
    fn translate(&self, ini: &Path, input: &str, options: &str) -> Vec<u8> {
        run(miriam()
            .args(["translate", "-f"])
            .arg(ini)
            .arg("-i")
            .arg(self.folder.path().join(input))
            .args(options.split_ascii_whitespace()))
    }

    fn binary(&self, weights: &str) -> PathBuf {
        let suffix = if weights == "tuned" { ".tuned" } else { "" };
        self.folder.path().join(format!("binary{suffix}.ini"))
    }

    /// Returns the ini of the system with the directory that Moses' own tool made.
    fn moses(&self, weights: &str) -> PathBuf {
        let suffix = if weights == "tuned" { ".tuned" } else { "" };
        self.folder.path().join(format!("moses{suffix}.ini"))
    }

    fn text(&self, weights: &str) -> PathBuf {
        let suffix = if weights == "tuned" { ".tuned" } else { "" };
        self.data.join(format!("text{suffix}.ini"))
    }

    /// Checks that every line equals the line that Moses2 printed.
    fn assert_matches(&self, output: &[u8], oracle: &str) {
        let expected = read_decompressed(&self.data.join("oracle").join(oracle));
        let lines = |bytes: &[u8]| lossy_text(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        let (ours, theirs) = (lines(output), lines(&expected));
        assert_eq!(ours.len(), theirs.len(), "{oracle}: number of lines");
        let differing: Vec<String> = ours
            .iter()
            .zip(&theirs)
            .enumerate()
            .filter(|(_, (a, b))| a != b)
            .map(|(i, (a, b))| format!("line {}\n  ours   {a}\n  theirs {b}", i + 1))
            .collect();
        assert!(
            differing.is_empty(),
            "{oracle}: {} differ\n{}",
            differing.len(),
            differing.join("\n")
        );
    }
}

const CUBE: &str = "-search-algorithm 1 -cube-pruning-pop-limit 400 -s 400";

#[test]
fn binary_tables_give_moses2s_translations_and_scores() {
    let Some(system) = multi30k() else { return };
    for weights in ["default", "tuned"] {
        let ini = system.binary(weights);
        let scored = format!("{CUBE} -threads 1 --output-hypo-score true");
        let output = system.translate(&ini, "test", &scored);
        system.assert_matches(&output, &format!("test.{weights}.score.gz"));
        let two = system.translate(&ini, "test", &scored.replace("-threads 1", "-threads 2"));
        assert!(output == two, "{weights}: two threads give other bytes");
        let segmented = system.translate(&ini, "test", &format!("{CUBE} -threads 2 -t"));
        system.assert_matches(&segmented, &format!("test.{weights}.segmentation.gz"));
        let plain = system.translate(&ini, "test", &format!("{CUBE} --threads all"));
        system.assert_matches(&plain, &format!("test.{weights}.1best.gz"));
    }
}

#[test]
fn tables_of_moses_give_moses2s_translations_and_scores() {
    let Some(system) = multi30k() else { return };
    for weights in ["default", "tuned"] {
        let options = format!("{CUBE} -threads 2 -output-hypo-score true");
        let output = system.translate(&system.moses(weights), "test", &options);
        system.assert_matches(&output, &format!("test.{weights}.score.gz"));
    }
}

#[test]
fn text_tables_give_moses2s_translations_and_scores() {
    let Some(system) = multi30k() else { return };
    for weights in ["default", "tuned"] {
        let options = format!("{CUBE} -threads 2 -output-hypo-score true");
        let output = system.translate(&system.text(weights), "test", &options);
        system.assert_matches(&output, &format!("test.{weights}.score.gz"));
    }
}

#[test]
fn stack_decoding_gives_moses2s_translations_and_scores() {
    let Some(system) = multi30k() else { return };
    for weights in ["default", "tuned"] {
        for ini in [system.binary(weights), system.moses(weights), system.text(weights)] {
            let options = "-search-algorithm 0 -s 100 -threads 2 -output-hypo-score";
            let output = system.translate(&ini, "test200", options);
            system.assert_matches(&output, &format!("test200.{weights}.stack100.score.gz"));
        }
    }
}

/// Moses' own regression cases, over text tables and over ProbingPT directories of Moses. One
/// directory has probabilities, the other one has logarithms and reordering scores.
#[test]
fn moses_regression_cases() {
    let Some(data) = shared_data("moses-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moses.ini");
    let models = data.join("models");
    let own = "path=${MODEL_PATH}/lexicalized-reordering/reordering-table";
    let inside = "property-index=0 #";
    for (case, from, to) in [
        ("phrase.lexicalized-reordering", "", ""),
        ("phrase.lexicalized-reordering-probing", "", ""),
        ("moses2.lexicalized-reordering-probing", "", ""),
        ("moses2.lexicalized-reordering-probing", "/probing.v15", "/probing-withLexRO.v15"),
        ("moses2.lexicalized-reordering-probing", own, inside),
    ] {
        let case = data.join(case);
        let ini = String::from_utf8(read_decompressed(&case.join("moses.ini"))).unwrap();
        assert!(ini.contains(from));
        let mut ini = ini.replace(from, if from.is_empty() { "" } else { to });
        if to == inside {
            ini = ini.replace("/probing.v15", "/probing-withLexRO.v15");
        }
        fs::write(&path, ini.replace("${MODEL_PATH}", models.to_str().unwrap())).unwrap();
        for options in ["-search-algorithm 0", "-search-algorithm 1"] {
            let output = run(miriam()
                .args(["translate", "-output-hypo-score", "-f"])
                .arg(&path)
                .arg("-i")
                .arg(case.join("to-translate.txt"))
                .args(options.split_ascii_whitespace()));
            let truth = lossy_text(&read_decompressed(&case.join("truth/results.txt")));
            let translations = truth.lines().filter_map(|l| {
                l.strip_prefix("TRANSLATION_").and_then(|l| l.split_once('=')).map(|(_, line)| line)
            });
            // The scores of Moses2, which adds in another order than Moses 1.
            let scores = ["-883.502", "-1994.345", "-898.780", "-894.141", "-1568.084"];
            let expected: Vec<String> = scores
                .iter()
                .zip(translations)
                .map(|(score, line)| format!("{score} {}", line.trim_end()))
                .collect();
            let ours: Vec<String> =
                lossy_text(&output).lines().map(|l| l.trim_end().to_owned()).collect();
            assert_eq!(ours, expected, "{} {to} {options}", case.display());
        }
    }
}

/// Workers bound to CPUs give the same translations; missing CPUs are rejected by name.
#[test]
fn workers_are_pinned_to_cpus() {
    if !cfg!(target_os = "linux") {
        report_skip("threads are tied to CPUs on Linux only");
        return;
    }
    let input = b"the red house is big .\nthe house .\n";
    let plain = run_toy(&["-threads", "2"], input);
    // Where the workers ran cannot be queried afterwards; `base/textio` tests that a
    // thread stays on its CPU.
    for options in [
        &["-threads", "2", "-cpu-affinity-offset", "0"][..],
        &["-threads", "2", "-cpu-affinity-offset", "1", "-cpu-affinity-increment", "3"],
        &["-threads", "1", "-cpu-affinity-offset", "0", "-cpu-affinity-increment", "-1"],
    ] {
        assert_eq!(run_toy(options, input), plain, "{options:?}");
    }
    let refused = |list: &str| {
        let command = &mut miriam();
        let command = command.args(["translate", "-cpus", list, "-f"]).arg(toy_ini());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        lossy_text(&output.stderr)
    };
    assert!(refused("60000").contains("CPU 60000"));
    assert!(refused("0-").contains("-cpus"));
}

fn toy_ini() -> PathBuf {
    project_root().join("examples/toy/moses.ini")
}

/// Returns the toy system's output for `input`, and its messages on standard error.
fn run_toy_with_messages(options: &[&str], input: &[u8]) -> (Vec<u8>, String) {
    let mut child = miriam()
        .args(["translate", "-f"])
        .arg(toy_ini())
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    (output.stdout, lossy_text(&output.stderr))
}

fn run_toy(options: &[&str], input: &[u8]) -> Vec<u8> {
    run_toy_with_messages(options, input).0
}

#[test]
fn the_toy_system_gives_the_expected_translations() {
    let folder = project_root().join("examples/toy");
    let input = read_decompressed(&folder.join("input.txt"));
    let expected = lossy_text(&read_decompressed(&folder.join("expected.txt")));
    for options in [&["-search-algorithm", "1"][..], &["-search-algorithm", "0"]] {
        let output = lossy_text(&run_toy(options, &input));
        let trimmed: Vec<&str> = output.lines().map(str::trim_end).collect();
        assert_eq!(trimmed, expected.lines().collect::<Vec<_>>(), "{options:?}");
    }
}

/// Scores computed by an independent exhaustive decoder over the same files.
#[test]
fn the_toy_systems_scores() {
    let input = read_decompressed(&project_root().join("examples/toy/input.txt"));
    let output = lossy_text(&run_toy(&["-search-algorithm", "1", "-output-hypo-score"], &input));
    let scores: Vec<&str> = output.lines().filter_map(|l| l.split(' ').next()).take(3).collect();
    assert_eq!(scores, ["-6.375", "-8.655", "-109.957"]);
}

#[test]
fn search_options_have_their_effect() {
    let input = b"the red house is big .\n";
    let swapped = lossy_text(&run_toy(&["-search-algorithm", "1"], input));
    assert_eq!(swapped, "la casa roja es grande . \n");
    for lazy in ["-cube-pruning-lazy-scoring", "--cbls"] {
        assert_eq!(lossy_text(&run_toy(&["-search-algorithm", "1", lazy], input)), swapped);
    }
    let diverse = ["-search-algorithm", "14", "-cube-pruning-diversity", "1", "-cbp", "1"];
    assert_eq!(lossy_text(&run_toy(&diverse, input)), "el casa roja es grande . \n", "as Moses2");
    // The limit applies to jumps between phrases; a phrase pair may still reorder its own words.
    let monotone = lossy_text(&run_toy(&["-distortion-limit", "0", "-t"], input));
    let spans: Vec<&str> = monotone.split('|').filter(|s| s.contains('-')).collect();
    let starts: Vec<u32> =
        spans.iter().map(|s| s.split('-').next().unwrap().parse().unwrap()).collect();
    assert!(starts.is_sorted(), "{monotone}");
    let words = lossy_text(&run_toy(&["-max-phrase-length", "1", "-t"], input));
    assert_eq!(words.matches('|').count(), 2 * 6, "{words}");
}

#[test]
fn options_may_precede_the_subcommand_or_take_an_equals_sign() {
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(input.path(), b"the red house is big .\n").unwrap();
    let output = run(miriam()
        .args(["--quiet", "--threads", "1", "translate", "--log-level=warn", "--stack=50", "-f"])
        .arg(toy_ini())
        .arg("-i")
        .arg(input.path()));
    assert_eq!(lossy_text(&output), "la casa roja es grande . \n");
}

#[test]
fn a_very_long_line_is_split_and_translated() {
    let line = vec!["the red house is big ."; 400].join(" ");
    let cheap = ["-search-algorithm", "1", "-s", "10", "-cbp", "10"];
    let output = lossy_text(&run_toy(&[&cheap[..], &["-t"]].concat(), line.as_bytes()));
    assert_eq!(output.lines().count(), 1);
    // 2,400 words: the second part starts at word 2,000 and ends the line.
    assert!(output.contains("|2000-") || output.contains("|2001-"), "a second piece");
    assert!(output.trim_end().ends_with("-2399|"), "{}", &output[output.len() - 60..]);
    let scored = run_toy(&[&cheap[..], &["-output-hypo-score"]].concat(), line.as_bytes());
    let score: f32 = lossy_text(&scored).split(' ').next().unwrap().parse().unwrap();
    assert!(score < 0.0 && score.is_finite());
}

#[test]
fn the_input_is_never_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, "the house .\n").unwrap();
    let command = &mut miriam();
    let command = command.args(["translate", "-f"]).arg(toy_ini());
    let message = run_to_error(command.arg("-i").arg(&file).arg("-o").arg(&file));
    assert!(message.contains("also the output"), "{message}");
    assert_eq!(fs::read(&file).unwrap(), b"the house .\n");
}

/// Overwrites bytes of a small table in turn: an error or a translation, never a panic or
/// a hang.
#[test]
fn a_damaged_table_is_an_error_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let table = "the ||| la ||| 0.5 ||| 0-0\nhouse ||| casa ||| 1 ||| 0-0\n";
    fs::write(at("table"), table).unwrap();
    run(miriam()
        .args(["pt", "build", "--quiet", "--phrase-table"])
        .arg(at("table"))
        .arg("-o")
        .arg(at("whole")));
    let whole = fs::read(at("whole")).unwrap();
    let ini = "[mapping]\n0 T 0\n[threads]\n2\n[feature]\nUnknownWordPenalty\n\
               ProbingPT path=broken num-features=1\n[weight]\nProbingPT0= 1\n";
    fs::write(at("ini"), ini).unwrap();
    fs::write(at("input"), "the house\nhouse the\nthe the\n").unwrap();
    let interesting = (4096..whole.len()).filter(|&place| whole[place] != 0);
    let step = interesting.clone().count().div_ceil(150).max(1);
    for place in interesting.step_by(step) {
        let mut broken = whole.clone();
        broken[place] ^= 0xf1;
        fs::write(at("broken"), broken).unwrap();
        let command = &mut miriam();
        let command = command.args(["translate", "-f", "ini", "-i", "input"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let status = output.status.code();
        assert!(
            matches!(status, Some(0 | 1)),
            "byte {place}: {status:?} {}",
            lossy_text(&output.stderr)
        );
    }
}

#[test]
fn unknown_words_are_copied_marked_or_dropped() {
    let input = b"anselmo reads .\n";
    assert!(lossy_text(&run_toy(&[], input)).contains("anselmo "));
    assert!(lossy_text(&run_toy(&["-mark-unknown"], input)).contains("UNKanselmo "));
    let marked =
        run_toy(&["-mu", "true", "-unknown-word-prefix", "<", "-unknown-word-suffix", ">"], input);
    assert!(lossy_text(&marked).contains("<anselmo> "));
    assert!(!lossy_text(&run_toy(&["-drop-unknown"], input)).contains("anselmo"));
    // The only word is unknown and dropped: only its penalties count, not the end of the sentence.
    let score = lossy_text(&run_toy(
        &["-drop-unknown", "-output-hypo-score", "-search-algorithm", "1"],
        b"anselmo\n",
    ));
    assert_eq!(score, "-99.800 \n", "-100 and a phrase penalty of 0.2");
}

#[test]
fn odd_lines_give_one_line_each() {
    let long_line = vec!["house"; 500].join(" ");
    let long_word = "x".repeat(10_000);
    let mut input = Vec::new();
    input.extend_from_slice(b"the house .\n\n   \n");
    input.extend_from_slice(long_line.as_bytes());
    input.push(b'\n');
    input.extend_from_slice(long_word.as_bytes());
    input.extend_from_slice(
        b"\nthe \xe9\xff house\nthe \0 house\nthe | || house|NN\n\tthe\thouse\nthe house .",
    );
    for search in ["0", "1"] {
        let output = run_toy(&["-search-algorithm", search, "-s", "20", "-cbp", "50"], &input);
        let lines: Vec<&[u8]> = output.split(|&b| b == b'\n').collect();
        assert_eq!(lines.len(), 11, "ten lines and the end");
        assert_eq!(lines[0], b"la casa . ");
        assert_eq!(lines[1], b"");
        assert_eq!(lines[2], b"");
        assert_eq!(lines[3].split(|&b| b == b' ').count(), 501);
        assert_eq!(lines[4], [long_word.as_bytes(), b" "].concat());
        assert!(lines[5].windows(2).any(|w| w == b"\xe9\xff"));
        assert!(lines[6].contains(&0));
        assert_eq!(lines[9], lines[0], "a last line without an end");
    }
    let scored = lossy_text(&run_toy(&["-output-hypo-score"], b"\n"));
    assert_eq!(scored, "0.000 \n", "the empty hypothesis is complete");
}

#[test]
fn carriage_returns_are_dropped_with_one_warning_or_kept() {
    let output = |options: &[&str]| {
        let (stdout, stderr) = run_toy_with_messages(options, b"the house .\r\nthe house .\r\n");
        (lossy_text(&stdout), stderr)
    };
    let (stdout, stderr) = output(&[]);
    assert_eq!(stdout, "la casa . \nla casa . \n");
    assert_eq!(stderr.matches("carriage return").count(), 1, "{stderr}");
    let (stdout, stderr) = output(&["-keep-cr"]);
    assert_eq!(stdout.matches(".\r ").count(), 2, "{stdout:?}");
    assert!(!stderr.contains("carriage"), "{stderr}");
}

#[test]
fn compressed_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.zst");
    fs::write(&input, zstd::encode_all(&b"the house .\n"[..], 1).unwrap()).unwrap();
    let output = folder.path().join("out.gz");
    run(miriam()
        .args(["translate", "-f"])
        .arg(toy_ini())
        .arg("-i")
        .arg(&input)
        .arg("-o")
        .arg(&output));
    assert_eq!(read_decompressed(&output), b"la casa . \n");
}

#[test]
fn usage_errors_name_the_option_and_end_with_status_2() {
    let usage = |arguments: &[&str]| {
        let output = miriam().arg("translate").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        lossy_text(&output.stderr)
    };
    let ini = toy_ini();
    let ini = ini.to_str().unwrap();
    let unknown = usage(&["-f", ini, "-pop-limt", "3"]);
    assert!(
        unknown.contains("-pop-limt") && unknown.contains("cube-pruning-pop-limit"),
        "{unknown}"
    );
    for (option, remedy) in [
        ("-lattice-samples", "-n-best-list FILE SIZE"),
        ("-owg", "-output-search-graph FILE"),
        ("-Tall", "-translation-details FILE"),
        ("-mbr", "`miriam mbr`"),
    ] {
        let message = usage(&["-f", ini, option, "1"]);
        assert!(message.contains(remedy), "{option}: {message}");
    }
    assert!(usage(&[]).contains("-f moses.ini"));
    assert!(usage(&["-f", ini, "-s", "many"]).contains("-stack"));
    assert!(usage(&["-f", ini, "-max-phrase-length", "0"]).contains("-max-phrase-length: give"));
    let version = run(miriam().arg("--version"));
    assert_eq!(run(miriam().args(["translate", "-version"])), version);
    let help = lossy_text(&run(miriam().args(["translate", "--help"])));
    assert!(help.contains("Example:") && help.contains("-distortion-limit, -dl"), "{help}");
}

#[test]
fn configuration_errors_name_file_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let toy = lossy_text(&read_decompressed(&toy_ini()));
    let models = project_root().join("examples/toy");
    let broken = |from: &str, to: &str| {
        let path = folder.path().join("moses.ini");
        let models = fs::canonicalize(&models).unwrap();
        let ini = toy.replace(from, to).replace("path=", &format!("path={}/", models.display()));
        fs::write(&path, ini).unwrap();
        run_to_error(
            Command::new(env!("CARGO_BIN_EXE_miriam")).args(["translate", "-f"]).arg(&path),
        )
    };
    let cases = [
        ("WordPenalty\n", "WordPenalti\n", "WordPenalti"),
        ("KENLM name", "RANDLM name", "RANDLM"),
        ("UnknownWordPenalty\n", "\n", "UnknownWordPenalty"),
        ("Distortion0= 0.3", "", "Distortion0"),
        ("Distortion0= 0.3", "Distortion0= 0.3 0.2", "Distortion0"),
        ("Distortion0= 0.3", "Distortion0= x", "Distortion0"),
        ("LM0= 0.5", "LM0= 0.5\nLM1= 0.5", "LM1"),
        ("num-features=4", "num-features=5", "TranslationModel0"),
        ("num-features=6", "num-features=5", "num-features"),
        ("wbe-msd", "wbe-msx", "msx"),
        ("0 T 0", "0 T 1", "mapping"),
        ("0 T 0", "0 G 0", "generation"),
        ("[distortion-limit]\n6", "[distortion-limit]\nsix", "six"),
        ("[mapping]", "[maping]", "maping"),
        ("factor=0 order=3 path=lm.arpa", "path=absent.arpa", "absent.arpa"),
        ("num-features=4", "num-features=0", "num-features=0"),
        ("path=reordering-table", "property-index=18446744073709551615", "property-index"),
        ("PhraseDictionaryMemory", "ProbingPT", "PhraseDictionaryMemory"),
        (
            "PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table",
            "ProbingPT name=TranslationModel0 num-features=4 path=.",
            "config",
        ),
    ];
    for (from, to, named) in cases {
        assert!(toy.contains(from), "{from}");
        let message = broken(from, to);
        assert!(message.contains(named), "{from} -> {to}: {message}");
    }
    let missing = run_to_error(miriam().args(["translate", "-f", "absent.ini"]));
    assert!(missing.contains("absent.ini"), "{missing}");
    let directory = run_to_error(miriam().args(["translate", "-f"]).arg(folder.path()));
    assert!(directory.contains("directory"), "{directory}");
    let input =
        run_to_error(miriam().args(["translate", "-f"]).arg(toy_ini()).args(["-i", "absent.txt"]));
    assert!(input.contains("absent.txt"), "{input}");
}

#[test]
fn an_unreadable_ini_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(file.path()).is_ok() {
        report_skip("this user may read everything");
        return;
    }
    let message = run_to_error(miriam().args(["translate", "-f"]).arg(file.path()));
    assert!(message.contains("denied"), "{message}");
}

#[test]
fn a_full_disk_is_reported() {
    if !Path::new("/dev/full").exists() {
        report_skip("there is no /dev/full");
        return;
    }
    let input = project_root().join("examples/toy/input.txt");
    for threads in ["1", "2"] {
        let message = run_to_error(
            miriam()
                .args(["translate", "-o", "/dev/full", "-threads", threads, "-f"])
                .arg(toy_ini())
                .arg("-i")
                .arg(&input),
        );
        assert!(message.contains("/dev/full") && message.contains("space"), "{message}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let script = format!(
        "yes 'the red house is big .' | head -n 2000 | '{}' translate -threads 2 -f '{}' | head -n 1; \
         exit ${{PIPESTATUS[2]}}",
        env!("CARGO_BIN_EXE_miriam"),
        toy_ini().display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", lossy_text(&output.stderr));
    assert_eq!(lossy_text(&output.stdout), "la casa roja es grande . \n");
}
