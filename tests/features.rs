//! Feature functions end to end: the toy system with one feature changed, against
//! the scores that Moses2 prints for it, and errors about missing files and keys.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, read_decompressed, run, run_to_error};

/// An operation sequence model with some of the toy system's operations.
const OPERATION_MODEL_ARPA: &str = "\\data\\\nngram 1=16\nngram 2=11\n
\\1-grams:
-2.5\t<unk>\t0
-9\t<s>\t-0.3
-1.5\t</s>\t0
-1.2\t_INS_GAP_\t-0.4
-1.1\t_JMP_FWD_\t-0.2
-1.3\t_JMP_BCK_1\t-0.25
-1.7\t_JMP_BCK_2\t-0.1
-1.6\t_CONT_CEPT_\t-0.15
-1.4\t_TRANS_._TO_.\t-0.1
-1.9\t_TRANS_la_TO_the\t-0.3
-1.8\t_TRANS_el_TO_the\t-0.2
-2.1\t_TRANS_casa_TO_house\t0
-2.2\t_TRANS_roja_TO_red\t-0.35
-2.0\t_TRANS_un_TO_a\t-0.05
-2.3\t_INS_the\t-0.2
-2.4\t_DEL_la\t-0.1

\\2-grams:
-0.5\t<s> _TRANS_la_TO_the
-0.9\t<s> _INS_GAP_
-0.4\t_TRANS_la_TO_the _INS_GAP_
-0.3\t_INS_GAP_ _TRANS_casa_TO_house
-0.2\t_JMP_BCK_1 _TRANS_roja_TO_red
-0.6\t_TRANS_roja_TO_red _JMP_FWD_
-0.1\t_JMP_FWD_ _TRANS_._TO_.
-0.7\t_CONT_CEPT_ _JMP_BCK_1
-0.8\t_TRANS_un_TO_a _INS_GAP_
-0.9\t_TRANS_el_TO_the _INS_GAP_
-0.45\t_INS_GAP_ <unk>

\\end\\
";

/// The toy system in a folder of its own, with `changes` made to its ini.
struct ToySystem {
    folder: tempfile::TempDir,
}

impl ToySystem {
    fn new(changes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let toy = project_root().join("examples/toy");
        for name in ["phrase-table", "reordering-table", "lm.arpa", "input.txt"] {
            fs::copy(toy.join(name), folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("operations.arpa"), OPERATION_MODEL_ARPA).unwrap();
        let mut ini = lossy_text(&read_decompressed(&toy.join("moses.ini")));
        for (from, to) in changes {
            assert!(ini.contains(from), "{from}");
            ini = ini.replace(from, to);
        }
        fs::write(folder.path().join("moses.ini"), ini).unwrap();
        ToySystem { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, options: &str) -> Command {
        let mut command = miriam();
        command.args(["translate", "-f", "moses.ini"]).args(options.split_ascii_whitespace());
        command.current_dir(self.folder.path());
        command
    }

    /// Returns the score of each line of the input, translated in short phrases.
    fn scores(&self, options: &str) -> Vec<String> {
        let always = "-i input.txt -output-hypo-score -max-phrase-length 2";
        let output = run(&mut self.command(&format!("{always} {options}")));
        lossy_text(&output).lines().map(|l| l.split(' ').next().unwrap().to_owned()).collect()
    }
}

/// Returns the toy system with a reordering model of type `kind` and the first `columns` columns of
/// its table.
fn with_reordering(kind: &str, columns: usize) -> ToySystem {
    let weights = ["0.3", "0.1", "0.2", "0.25", "0.15", "0.05"][..columns].join(" ");
    let toy = ToySystem::new(&[
        (
            "num-features=6 type=wbe-msd-bidirectional-fe-allff",
            &format!("num-features={columns} type={kind}"),
        ),
        ("LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3", &format!("LexicalReordering0= {weights}")),
    ]);
    cut_columns(&toy.path("reordering-table"), columns);
    toy
}

fn cut_columns(table: &Path, columns: usize) {
    let whole = lossy_text(&read_decompressed(table));
    let cut = whole.lines().map(|line| {
        let (pair, scores) = line.rsplit_once(" ||| ").unwrap();
        let scores: Vec<&str> = scores.split(' ').take(columns).collect();
        format!("{pair} ||| {}\n", scores.join(" "))
    });
    fs::write(table, cut.collect::<String>()).unwrap();
}

/// Scores printed by Moses2 (commit 34452895), the same with both searches.
#[test]
fn reordering_models_of_all_types_score_as_in_moses2() {
    let cases = [
        (
            "hier-msd-bidirectional-fe-allff",
            6,
            "-5.720 -8.083 -109.368 -7.909 -4.876 -4.691 -3.642 -2.603 -6.634 -7.608 -2.898 -2.568",
        ),
        (
            "hier-mslr-backward-fe-allff",
            4,
            "-5.273 -7.312 -108.563 -7.124 -4.184 -4.530 -3.298 -2.010 -5.172 -6.572 -2.382 -1.797",
        ),
        (
            "hier-mslr-forward-fe-allff",
            4,
            "-5.823 -7.655 -108.822 -7.639 -4.593 -4.430 -3.396 -2.114 -5.876 -7.480 -2.587 -2.134",
        ),
        (
            "hier-leftright-bidirectional-fe-allff",
            4,
            "-6.696 -10.157 -109.511 -9.199 -6.325 -7.308 -4.981 -4.180 -7.717 -9.496 -4.539 -4.880",
        ),
        (
            "hier-monotonicity-bidirectional-fe-allff",
            4,
            "-6.985 -10.153 -109.418 -9.096 -6.466 -6.947 -4.824 -3.968 -7.746 -9.661 -4.388 -4.826",
        ),
        (
            "wbe-mslr-forward-fe-allff",
            4,
            "-5.890 -7.757 -109.071 -7.592 -4.731 -4.569 -3.881 -2.180 -5.941 -7.768 -2.792 -2.121",
        ),
        (
            "wbe-msd-bidirectional-fe-collapseff",
            6,
            "-6.084 -8.983 -109.608 -8.731 -5.626 -5.641 -4.254 -3.377 -8.341 -9.495 -3.572 -3.643",
        ),
        (
            "hier-msd-bidirectional-fe-collapseff",
            6,
            "-6.526 -8.867 -109.382 -8.989 -5.882 -5.672 -4.223 -3.336 -7.734 -8.806 -3.508 -3.674",
        ),
    ];
    for (kind, columns, expected) in cases {
        let toy = with_reordering(kind, columns);
        for search in ["0", "1"] {
            let scores = toy.scores(&format!("-search-algorithm {search}")).join(" ");
            assert_eq!(scores, expected, "{kind}, search {search}");
        }
    }
}

/// As in Moses 1: one weight a direction, for a table with all columns.
#[test]
fn a_collapsed_model_takes_one_weight_a_direction() {
    let toy = ToySystem::new(&[
        (
            "num-features=6 type=wbe-msd-bidirectional-fe-allff",
            "num-features=2 type=wbe-msd-bidirectional-fe-collapseff",
        ),
        ("LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3", "LexicalReordering0= 0.3 0.1"),
    ]);
    let six = with_reordering("wbe-msd-bidirectional-fe-collapseff", 6);
    assert_eq!(toy.scores(""), six.scores(""));
}

/// Scores printed by Moses2, the same with both searches.
#[test]
fn operation_sequence_models_score_as_in_moses2() {
    let cases = [
        (
            "num-features=1 support-features=no",
            "0.3",
            "-8.596 -15.278 -114.263 -12.931 -11.629 -10.590 -9.386 -8.462 -14.658 -16.042 -8.539 -11.009",
        ),
        (
            "num-features=5",
            "0.3 -0.02 -0.05 0.03 0.1",
            "-8.636 -15.358 -114.203 -13.011 -11.709 -10.530 -9.486 -8.542 -14.738 -16.122 -8.579 -11.129",
        ),
    ];
    for (keys, weights, expected) in cases {
        let toy = ToySystem::new(&[
            (
                "Distortion\nKENLM",
                &format!("Distortion\nOpSequenceModel {keys} path=operations.arpa\nKENLM"),
            ),
            ("LM0= 0.5", &format!("LM0= 0.5\nOpSequenceModel0= {weights}")),
            (
                "LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3",
                "LexicalReordering0= 0.3 0.1 0.2 0.25 0.15 0.05",
            ),
        ]);
        for search in ["0", "1"] {
            let scores = toy.scores(&format!("-search-algorithm {search}")).join(" ");
            assert_eq!(scores, expected, "{keys}, search {search}");
        }
    }
}

/// Scores printed by Moses2, the same with both searches. To the model, a forced translation is an
/// unknown word without links.
#[test]
fn operation_sequence_models_do_not_see_forced_translations() {
    let toy = ToySystem::new(&[
        (
            "Distortion\nKENLM",
            "Distortion\nOpSequenceModel support-features=no path=operations.arpa\nKENLM",
        ),
        ("LM0= 0.5", "LM0= 0.5\nOpSequenceModel0= 0.3"),
        (
            "LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3",
            "LexicalReordering0= 0.3 0.1 0.2 0.25 0.15 0.05",
        ),
    ]);
    let input = "<n translation=\"la\">the</n> red house .\n\
                 the red <n translation=\"casa\">house</n> is <n translation=\"grande\">big</n> .\n";
    let cases = [
        (
            "exclusive",
            "-5.625 la |0-0| casa |2-2| roja |1-1| . |3-3| \n\
             -10.737 la |0-0| casa |2-2| roja |1-1| es |3-3| grande |4-4| . |5-5| \n",
        ),
        (
            "inclusive",
            "-4.306 la |0-0| casa |2-2| roja |1-1| . |3-3| \n\
             -8.528 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| \n",
        ),
    ];
    for (mode, expected) in cases {
        for search in ["0", "1"] {
            let options =
                format!("-output-hypo-score -t -xml-input {mode} -search-algorithm {search}");
            let mut command = toy.command(&options);
            let output = crate::common::run_with_input(&mut command, input.as_bytes());
            assert_eq!(lossy_text(&output.stdout), expected, "{mode}, search {search}");
        }
    }
}

/// Words that are a second factor have the scores that they have as the only one.
#[test]
fn operation_sequence_models_read_the_factors_of_their_line() {
    fn write_factors(text: &str) -> String {
        let words = text.split(' ').map(|word| format!("{}|{word}", word.to_uppercase()));
        words.collect::<Vec<_>>().join(" ")
    }
    let lines = ["the red house is big .", "a red house .", "the zzz is big .", "red the ."];
    let changes = |keys: &str| {
        let model = format!("Distortion\nOpSequenceModel {keys} path=operations.arpa\nKENLM");
        let weights = "LM0= 0.5\nOpSequenceModel0= 0.3 -0.02 -0.05 0.03 0.1".to_owned();
        [("Distortion\nKENLM", model), ("LM0= 0.5", weights)]
    };
    let system = |keys: &str, more: &[(&str, &str)]| {
        let own = changes(keys);
        let own = own.iter().map(|(from, to)| (*from, &to[..]));
        ToySystem::new(&own.chain(more.iter().copied()).collect::<Vec<_>>())
    };
    let scores = |toy: &ToySystem, lines: &[String]| {
        fs::write(toy.path("input.txt"), lines.join("\n") + "\n").unwrap();
        [toy.scores("-search-algorithm 0"), toy.scores("-search-algorithm 1")]
    };
    let factored = |keys: &str| {
        let toy = system(
            keys,
            &[
                (
                    "phrase-table input-factor=0 output-factor=0",
                    "phrase-table input-factor=1 output-factor=0,1",
                ),
                ("allff input-factor=0 output-factor=0", "allff input-factor=1 output-factor=1"),
                ("KENLM name=LM0 factor=0", "KENLM name=LM0 factor=1"),
                ("[input-factors]\n0", "[input-factors]\n0\n1"),
            ],
        );
        let table = lossy_text(&read_decompressed(&toy.path("phrase-table")));
        let table = table.lines().map(|line| {
            let mut fields: Vec<String> = line.split(" ||| ").map(str::to_owned).collect();
            fields[1] = write_factors(&fields[1]);
            fields.join(" ||| ") + "\n"
        });
        fs::write(toy.path("phrase-table"), table.collect::<String>()).unwrap();
        toy
    };
    let expected = scores(&system("", &[]), &lines.map(str::to_owned));
    let lines = lines.map(write_factors);
    let found = scores(&factored("input-factor=1 output-factor=1"), &lines);
    assert_eq!(found, expected);
    assert_ne!(scores(&factored("output-factor=1"), &lines), expected);
    assert_ne!(scores(&factored("input-factor=1"), &lines), expected);
    let complain = |keys: &str| run_to_error(&mut factored(keys).command("-i input.txt"));
    let message = complain("output-factor=2");
    assert!(message.contains("has no factor 2, which OpSequenceModel0 needs"), "{message}");
    let message = complain("input-factor=2");
    assert!(message.contains("OpSequenceModel0 needs factor 2 of the input"), "{message}");
    let message = complain("input-factor=x");
    assert!(message.contains("input-factor=: \"x\" is not the number of a factor"), "{message}");
}

/// A second score counts the target words that the model does not know: here two copied words.
#[test]
fn a_language_model_may_count_unknown_words() {
    let scores = |oov: &str, weights: &str| {
        let toy = ToySystem::new(&[
            ("KENLM name=LM0", &format!("KENLM name=LM0{oov}")),
            ("LM0= 0.5", &format!("LM0= {weights}")),
        ]);
        let output = crate::common::run_with_input(
            &mut toy.command("-output-hypo-score"),
            b"anselmo zzz .\nthe house .\n",
        );
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        let scores = lossy_text(&output.stdout);
        scores.lines().map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect::<Vec<f32>>()
    };
    let without = scores("", "0.5");
    let with = scores(" oov-feature=1", "0.5 -1.5");
    assert!((without[0] - 3.0 - with[0]).abs() < 2e-3, "{without:?} {with:?}");
    assert_eq!(without[1], with[1]);
    let toy = ToySystem::new(&[("KENLM name=LM0", "KENLM oov-feature=1 name=LM0")]);
    let message = run_to_error(&mut toy.command(""));
    assert!(message.contains("LM0 has 1 weights"), "{message}");
}

/// A jump to the second word and back costs 1 + 2 words if jumps are charged when they are made. If
/// they are charged early, the first jump costs twice the number of words skipped (1) and of words
/// in the phrase (1), and the jump back costs nothing.
#[test]
fn distortion_is_charged_late_or_early() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("table"), "a ||| A ||| 1 ||| 0-0\nb ||| B ||| 1 ||| 0-0\n").unwrap();
    let lm = "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-2\t<unk>\t0\n-9\t<s>\t0\n-9\t</s>\t0\n\
              -9\tA\t0\n-9\tB\t0\n\n\\2-grams:\n-1\t<s> B\n-1\tB A\n-1\tA </s>\n\n\\end\\\n";
    fs::write(at("lm"), lm).unwrap();
    let ini = "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\nKENLM path=lm\n\
               PhraseDictionaryMemory num-features=1 path=table\n\
               [weight]\nDistortion0= 0.25\nKENLM0= 1\nPhraseDictionaryMemory0= 1\n";
    fs::write(at("moses.ini"), ini).unwrap();
    fs::write(at("input"), "a b\n").unwrap();
    for (early, expected) in [("false", "-7.658 B A \n"), ("true", "-7.908 B A \n")] {
        let options = ["-i", "input", "-output-hypo-score", "-early-distortion-cost", early];
        let output = run(miriam()
            .args(["translate", "-f", "moses.ini"])
            .args(options)
            .current_dir(folder.path()));
        // Three bigrams of -1 are -6.908; 3 words cost 0.75, 4 words 1.
        assert_eq!(lossy_text(&output), expected, "{early}");
    }
}

/// Two phrases of one span differ in the next phrase's reordering score; only the exact
/// rule keeps the worse one, which wins in the end.
#[test]
fn exact_recombination_keeps_hypotheses_that_moses2_recombines() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let table = "a ||| A ||| 0.9 ||| 0-0\na ||| Z ||| 0.8 ||| 0-0\nb ||| B ||| 1 ||| 0-0\n";
    fs::write(at("table"), table).unwrap();
    // The columns are monotone and other; A prefers a jump after it.
    let reordering = "a ||| A ||| 0.1 0.9\na ||| Z ||| 0.9 0.1\nb ||| B ||| 0.5 0.5\n";
    fs::write(at("reordering"), reordering).unwrap();
    let ini = "[mapping]\n0 T 0\n[distortion-limit]\n0\n[feature]\nUnknownWordPenalty\n\
               LexicalReordering name=R num-features=2 type=wbe-monotonicity-forward-fe path=reordering\n\
               PhraseDictionaryMemory num-features=1 path=table\n\
               [weight]\nR= 1 1\nPhraseDictionaryMemory0= 1\n";
    fs::write(at("moses.ini"), ini).unwrap();
    fs::write(at("input"), "a b\n").unwrap();
    let output = |options: &str| {
        lossy_text(&run(miriam()
            .args(["translate", "-f", "moses.ini", "-i", "input", "-output-hypo-score"])
            .args(options.split_ascii_whitespace())
            .current_dir(folder.path())))
    };
    for search in ["-search-algorithm 0", "-search-algorithm 1"] {
        // ln 0.9 + ln 0.1 against ln 0.8 + ln 0.9.
        assert_eq!(output(search), "-2.408 A B \n");
        assert_eq!(output(&format!("{search} -exact-recombination")), "-0.329 Z B \n");
    }
}

#[test]
fn missing_files_and_keys_are_named() {
    let complain =
        |from: &str, to: &str| run_to_error(&mut ToySystem::new(&[(from, to)]).command(""));
    let sparse = complain("PhrasePenalty\n", "TargetWordInsertionFeature name=TWI\n");
    assert!(
        sparse.contains("TargetWordInsertionFeature: sparse features are not available"),
        "{sparse}"
    );
    let sparse = complain("Distortion\n", "Distortion sparse=1\n");
    assert!(sparse.contains("sparse= of Distortion needs sparse features"), "{sparse}");
    let count = complain("num-features=6 type=wbe-msd", "num-features=6 type=hier-mslr");
    assert!(count.contains("num-features=6, but it has 8 scores"), "{count}");
    let columns = run_to_error(&mut with_reordering_of_six_columns().command(""));
    assert!(columns.contains("reordering-table"), "{columns}");
    let path = complain("Distortion\n", "Distortion\nOpSequenceModel num-features=5\n");
    assert!(path.contains("path= is missing"), "{path}");
}

/// Returns a system whose model has eight columns but whose table has six.
fn with_reordering_of_six_columns() -> ToySystem {
    ToySystem::new(&[
        ("num-features=6 type=wbe-msd", "num-features=8 type=hier-mslr"),
        ("LexicalReordering0= 0.3 0.3", "LexicalReordering0= 1 1 0.3 0.3"),
    ])
}
