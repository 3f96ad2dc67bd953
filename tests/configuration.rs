//! Inis and command lines, end to end. Results are compared with Moses' own cases, with systems
//! written by hand, and with values computed by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_with_input, shared_data,
};

fn toy_ini() -> PathBuf {
    project_root().join("examples/toy/moses.ini")
}

fn run_toy(options: &[&str], input: &str) -> Output {
    run_with_input(
        miriam().args(["translate", "-f"]).arg(toy_ini()).args(options),
        input.as_bytes(),
    )
}

/// Returns the scores and translations that the toy system prints for `input`.
fn run_toy_with_scores(options: &[&str], input: &str) -> Vec<(f32, String)> {
    let output = run_toy(&[&["-output-hypo-score"], options].concat(), input);
    let line = |line: &str| {
        let (score, words) = line.split_once(' ').unwrap();
        (score.parse().unwrap(), words.to_owned())
    };
    lossy_text(&output.stdout).lines().map(line).collect()
}

fn show_weights(options: &[&str]) -> Vec<String> {
    let output =
        run(miriam().args(["translate", "-show-weights", "-f"]).arg(toy_ini()).args(options));
    lossy_text(&output).lines().map(str::to_owned).collect()
}

/// Runs the toy system with wrong options, which must be rejected.
fn run_toy_to_error(options: &[&str]) -> String {
    let output = miriam().args(["translate", "-f"]).arg(toy_ini()).args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{options:?}: {}", lossy_text(&output.stderr));
    lossy_text(&output.stderr)
}

const INPUT: &str = "the red house is big .\nanselmo reads the small book .\n";

/// Returns the ini of one of Moses' regression cases, with its placeholders filled in.
fn moses_case(data: &Path, name: &str) -> String {
    let ini = lossy_text(&read_decompressed(&data.join(name).join("moses.ini")));
    ini.replace("${MODEL_PATH}", data.join("models").to_str().unwrap())
}

#[test]
fn moses_weights_in_both_formats() {
    let Some(data) = shared_data("moses-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    for case in ["phrase.show-weights.lex-reorder", "phrase.show-weights.lex-reorder.oldformat"] {
        let path = folder.path().join("moses.ini");
        fs::write(&path, moses_case(&data, case)).unwrap();
        let output = lossy_text(&run(miriam().args(["translate", "-f"]).arg(&path)));
        let truth = lossy_text(&read_decompressed(&data.join(case).join("truth/results.txt")));
        let expected: Vec<&str> = truth
            .lines()
            .filter_map(|line| line.strip_prefix("WEIGHT_")?.split_once('=').map(|(_, w)| w))
            .collect();
        // Moses' harness prints the numbers in another format.
        let numbers = |line: &str| {
            let token = |token: &str| token.parse::<f32>().map_or(token.into(), |n| n.to_string());
            line.split(' ').map(token).collect::<Vec<String>>()
        };
        let ours: Vec<_> = output.lines().map(numbers).collect();
        let theirs: Vec<_> = expected.into_iter().map(numbers).collect();
        assert_eq!(ours, theirs, "{case}");
    }
}

/// The old format of a case gives the same as the new one: the translations and scores
/// that Moses2 prints for it.
#[test]
fn an_old_ini_translates_as_its_new_one() {
    let Some(data) = shared_data("moses-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moses.ini");
    let ini = moses_case(&data, "phrase.show-weights.lex-reorder.oldformat");
    fs::write(&path, ini.replace("[show-weights]\n1", "")).unwrap();
    let case = data.join("phrase.lexicalized-reordering");
    let output = run(miriam()
        .args(["translate", "-output-hypo-score", "-f"])
        .arg(&path)
        .arg("-i")
        .arg(case.join("to-translate.txt")));
    let truth = lossy_text(&read_decompressed(&case.join("truth/results.txt")));
    let expected: Vec<&str> = truth
        .lines()
        .filter_map(|line| line.strip_prefix("TRANSLATION_")?.split_once('=').map(|(_, t)| t))
        .map(str::trim_end)
        .collect();
    let output = lossy_text(&output);
    let (scores, translations): (Vec<&str>, Vec<&str>) =
        output.lines().map(|line| line.trim_end().split_once(' ').unwrap()).unzip();
    assert_eq!(translations, expected);
    assert_eq!(scores, ["-883.502", "-1994.345", "-898.780", "-894.141", "-1568.084"]);
}

#[test]
fn weights_are_shown_added_and_overwritten() {
    let shown = show_weights(&[]);
    assert_eq!(shown[0], "UnknownWordPenalty0 UNTUNEABLE");
    assert!(shown.contains(&"TranslationModel0= 0.2 0.2 0.2 0.2".to_owned()), "{shown:?}");
    let overwrite = "TranslationModel0= x 0.25 -1e-7 x LM0= 0.75";
    let shown = show_weights(&["-weight-overwrite", overwrite]);
    assert!(shown.contains(&"TranslationModel0= 0.2 0.25 -1e-07 0.2".to_owned()), "{shown:?}");
    assert!(shown.contains(&"LM0= 0.75".to_owned()));
    // The ini's weights override added ones.
    let shown = show_weights(&["-weight-add", "LM0= 9"]);
    assert!(shown.contains(&"LM0= 0.5".to_owned()), "{shown:?}");
    for (overwrite, named) in [
        ("LM0= x x", "weight 2 to be kept"),
        ("LM7= 1", "LM7"),
        ("0.5 LM0= 1", "0.5"),
        ("LM0= big", "big"),
        ("LM0= 1 2", "LM0 has 2 weights"),
        ("", "Name= 0.5 x"),
    ] {
        let message = run_toy_to_error(&["-weight-overwrite", overwrite]);
        assert!(message.contains("-weight-overwrite: ") && message.contains(named), "{message}");
    }
    let message =
        run_toy_to_error(&["-feature-add", "WordPenalty", "-weight-add", "WordPenalty1="]);
    assert!(message.contains("-weight-add: WordPenalty1 has 0 weights"), "{message}");
    // The models need not exist for weights to be shown.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moses.ini");
    fs::copy(toy_ini(), &path).unwrap();
    let alone = run(miriam().args(["translate", "-show-weights", "-f"]).arg(&path));
    assert_eq!(lossy_text(&alone).lines().collect::<Vec<_>>(), show_weights(&[]));
}

/// One model of weight 0.5 equals two of weight 0.25.
#[test]
fn an_added_feature_counts() {
    let whole = run_toy_with_scores(&[], INPUT);
    let lm = project_root().join("examples/toy/lm.arpa");
    let feature = format!("KENLM name=Second order=3 path={}", lm.display());
    let halves =
        ["-feature-add", &feature, "-weight-add", "Second= 0.25", "-weight-overwrite", "LM0= 0.25"];
    let two = run_toy_with_scores(&halves, INPUT);
    assert_eq!(whole.len(), two.len());
    for (one, two) in whole.iter().zip(&two) {
        assert_eq!(one.1, two.1);
        assert!((one.0 - two.0).abs() < 0.002, "{one:?} {two:?}");
    }
}

#[test]
fn keys_of_features_are_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let models = fs::canonicalize(project_root().join("examples/toy")).unwrap();
    let ini = lossy_text(&read_decompressed(&toy_ini()))
        .replace("path=", &format!("path={}/", models.display()));
    let path = folder.path().join("moses.ini");
    fs::write(&path, ini.replace("table-limit=20", "table-limit=1")).unwrap();
    let by_hand =
        run_with_input(miriam().args(["translate", "-t", "-f"]).arg(&path), INPUT.as_bytes());
    let overwritten =
        run_toy(&["-t", "-feature-overwrite", "TranslationModel0 table-limit=1"], INPUT);
    assert_eq!(lossy_text(&overwritten.stdout), lossy_text(&by_hand.stdout));
    assert_ne!(
        lossy_text(&overwritten.stdout),
        lossy_text(&run_toy(&["-t"], INPUT).stdout),
        "the limit matters"
    );
    let message = run_toy_to_error(&["-feature-overwrite", "LM0", "load=lazy"]);
    assert!(message.contains("quoted"), "{message}");
    let message = run_toy_to_error(&["-feature-overwrite", "LM3 load=lazy"]);
    assert!(message.contains("-feature-overwrite: no feature has the name LM3"), "{message}");
    assert!(message.contains("LM0"), "{message}");
    // Errors of other lines from the command line name their options, too.
    for (option, value) in [("-feature-add", "WordPenalty name"), ("-mapping", "0 T 7")] {
        let message = run_toy_to_error(&[option, value]);
        assert!(message.contains(&format!("{option}: {value:?}")), "{message}");
    }
}

#[test]
fn keys_of_the_penalty_mark_or_drop_unknown_words() {
    let translated = |options: &[&str]| lossy_text(&run_toy(options, "anselmo reads .\n").stdout);
    let edit = |keys: &str| format!("UnknownWordPenalty0 {keys}");
    let marked = translated(&["-feature-overwrite", &edit("prefix=<< suffix=>>")]);
    assert!(marked.contains("<<anselmo>> "), "{marked}");
    assert!(!translated(&["-feature-overwrite", &edit("drop=true")]).contains("anselmo"));
    // The options set the keys; feature-overwrite overrides them.
    let kept = translated(&["-drop-unknown", "-feature-overwrite", &edit("drop=false")]);
    assert!(kept.contains("anselmo"), "{kept}");
    let suffixed = translated(&["-mark-unknown", "-feature-overwrite", &edit("suffix=!")]);
    assert!(suffixed.contains("UNKanselmo! "), "{suffixed}");
}

#[test]
fn language_models_of_other_toolkits_are_opened_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let models = fs::canonicalize(project_root().join("examples/toy")).unwrap();
    let ini = lossy_text(&read_decompressed(&toy_ini()))
        .replace("path=", &format!("path={}/", models.display()));
    let expected = run_toy(&[], INPUT).stdout;
    for kind in ["SRILM", "IRSTLM", "LanguageModel"] {
        let path = folder.path().join("moses.ini");
        fs::write(&path, ini.replace("KENLM name", &format!("{kind} name"))).unwrap();
        let output =
            run_with_input(miriam().args(["translate", "-f"]).arg(&path), INPUT.as_bytes());
        assert_eq!(output.stdout, expected);
        let warnings = lossy_text(&output.stderr);
        assert_eq!(warnings.matches(kind).count(), 1, "{warnings}");
    }
}

#[test]
fn options_of_moses_1_are_ignored_or_rejected_by_name() {
    let plain = run_toy(&[], INPUT);
    let options = ["-no-cache", "true", "-edt", "0.5", "-mbr", "false", "-sd", "3"];
    let output = run_toy(&options, INPUT);
    assert_eq!(output.stdout, plain.stdout);
    let warnings = lossy_text(&output.stderr);
    for name in ["no-cache", "early-discarding-threshold", "stack-diversity"] {
        assert_eq!(warnings.matches(name).count(), 1, "{warnings}");
    }
    assert!(!warnings.contains("minimum-bayes-risk"), "it is off: {warnings}");
    for (option, named) in [
        ("-lmbr", "Bayes"),
        ("-daemon", "background"),
        ("-generation-file", "-generation-file"),
        ("-phrase-drop-allowed", "without a translation"),
    ] {
        let message = run_toy_to_error(&[option]);
        assert!(message.contains(named), "{message}");
    }
    let output = run_toy(&["-search-algorithm", "12"], INPUT);
    assert!(lossy_text(&output.stderr).contains("search-algorithm 12"));
    assert_eq!(output.stdout, run_toy(&["-search-algorithm", "1"], INPUT).stdout);
    // Sections with the short names of options have no effect.
    let folder = tempfile::tempdir().unwrap();
    let models = fs::canonicalize(project_root().join("examples/toy")).unwrap();
    let ini = lossy_text(&read_decompressed(&toy_ini()))
        .replace("path=", &format!("path={}/", models.display()));
    let path = folder.path().join("moses.ini");
    fs::write(&path, format!("{ini}\n[dl]\n0\n[v]\n3\n")).unwrap();
    let output = run_with_input(miriam().args(["translate", "-f"]).arg(&path), INPUT.as_bytes());
    assert_eq!(output.stdout, plain.stdout);
    let warnings = lossy_text(&output.stderr);
    assert!(warnings.contains("[dl]") && warnings.contains("[distortion-limit]"), "{warnings}");
}

/// Two tables; the second has better scores for phrases in both.
struct TwoTables(tempfile::TempDir);

impl TwoTables {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let first = "house ||| casa ||| 0.1\nthe ||| la ||| 0.1\n";
        let second = "red ||| rojo ||| 1\nred red ||| rojos ||| 1\n\
                      the ||| los ||| 1\nthe house ||| el hogar ||| 1\n";
        fs::write(folder.path().join("first"), first).unwrap();
        fs::write(folder.path().join("second"), second).unwrap();
        TwoTables(folder)
    }

    /// Returns the translations of `input` with these lines of mapping and values of backoff.
    fn translate(&self, mapping: &str, backoff: &str, input: &str) -> String {
        let ini = format!(
            "[mapping]\n{mapping}\n[distortion-limit]\n0\n[feature]\nUnknownWordPenalty\n\
             PhraseDictionaryMemory path=first\nPhraseDictionaryMemory path=second\n\
             [weight]\nUnknownWordPenalty0= 0.01\nPhraseDictionaryMemory0= 1\n\
             PhraseDictionaryMemory1= 1\n[decoding-graph-backoff]\n{backoff}\n"
        );
        fs::write(self.0.path().join("ini"), ini).unwrap();
        let command = &mut miriam();
        let command = command.args(["translate", "-f", "ini"]).current_dir(self.0.path());
        lossy_text(&run_with_input(command, input.as_bytes()).stdout)
    }
}

/// The expected results follow from the rules of each value, because Moses2 reads the section
/// wrongly.
#[test]
fn a_backoff_table_is_queried_only_for_unknown_phrases() {
    let tables = TwoTables::new();
    let both = "0 T 0\n1 T 1";
    let input = "the\nthe house\nred\nred red\n";
    for (mapping, backoff, expected) in [
        (both, "", "los \nel hogar \nrojo \nrojos \n"),
        (both, "0\n0", "los \nel hogar \nrojo \nrojos \n"),
        (both, "0\n-1", "la \nel hogar \nrojo \nrojos \n"),
        (both, "0\n1", "la \nla casa \nrojo \nrojo rojo \n"),
        (both, "0\n2", "la \nel hogar \nrojo \nrojos \n"),
        // The mapping decides the order of lookups, not the order of the features.
        ("0 T 1\n1 T 0", "0\n-1", "los \nel hogar \nrojo \nrojos \n"),
    ] {
        let mut output = tables.translate(mapping, backoff, input);
        // One phrase and two phrases have equal scores, so either may be printed.
        if backoff != "0\n1" {
            output = output.replace("rojo rojo", "rojos");
        }
        assert_eq!(output, expected, "{mapping:?} {backoff:?}");
    }
}

#[test]
fn known_words_may_be_copied_on_request() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("table"), "the ||| la ||| 0.001\n").unwrap();
    let ini = "[mapping]\nT 0\n[feature]\nUnknownWordPenalty\nPhraseDictionaryMemory path=table\n\
               [weight]\nUnknownWordPenalty0= 0.01\nPhraseDictionaryMemory0= 1\n";
    fs::write(folder.path().join("ini"), ini).unwrap();
    let translate = |options: &[&str]| {
        let command = &mut miriam();
        let command = command.args(["translate", "-f", "ini"]).args(options);
        lossy_text(&run_with_input(command.current_dir(folder.path()), b"the\n").stdout)
    };
    assert_eq!(translate(&[]), "la \n");
    // ln 0.001 = -6.9 against -100 * 0.01 = -1.
    assert_eq!(translate(&["-always-create-direct-transopt"]), "the \n");
}
