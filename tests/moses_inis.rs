//! Inis of the kinds that Moses' own regression tests have, end to end: they translate, or are
//! rejected with the true reason.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{lossy_text, miriam, run, run_to_error, run_to_usage_error, run_with_input};

const TABLE: &str = "das haus ||| the house ||| 0.5 0.5\ndas ||| the ||| 0.5 0.25\n\
                     haus ||| house ||| 0.25 0.5\nhaus ||| building ||| 0.25 0.125\n";
const REORDERING: &str = "das haus ||| the house ||| 0.5 0.25 0.25\ndas ||| the ||| 0.5 0.25 0.25\n\
                          haus ||| house ||| 0.25 0.25 0.5\n";
const ARPA: &str = "\\data\\\nngram 1=5\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.1\n\
                    -1\t</s>\n-1\tthe\t-0.2\n-1\thouse\n\n\\2-grams:\n-0.25\tthe house\n\n\\end\\\n";

/// Writes small models to a folder.
fn write_models() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("phrase-table", TABLE), ("reordering-table", REORDERING), ("lm.arpa", ARPA)]
    {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Writes an ini of the new format with these feature lines after those of the penalties.
fn write_ini(folder: &Path, features: &str, weights: &str, more: &str) -> PathBuf {
    let ini = format!(
        "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nWordPenalty\nDistortion\n{features}\n\
         [weight]\nWordPenalty0= -0.5\nDistortion0= 0.3\n{weights}\n{more}\n"
    );
    fs::write(folder.join("moses.ini"), ini).unwrap();
    folder.join("moses.ini")
}

fn translate(ini: &Path) -> Command {
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(ini);
    command
}

fn translate_text(ini: &Path, options: &[&str], input: &str) -> Output {
    run_with_input(translate(ini).args(options), input.as_bytes())
}

const PLAIN_TABLE: &str = "PhraseDictionaryMemory name=T num-features=2 path=phrase-table";
const REORDERING_MODEL: &str =
    "LexicalReordering name=R num-features=3 type=msd-backward-fe path=reordering-table";

/// In Moses 1 a pair must be in all tables of a graph; here it need not be, and a warning says so.
/// Tables may be named instead of counted.
#[test]
fn tables_of_one_graph_are_warned_of() {
    let folder = write_models();
    let second = PLAIN_TABLE.replace("name=T", "name=U");
    let ini = write_ini(folder.path(), &format!("{PLAIN_TABLE}\n{second}"), "T= 1 1\nU= 1 1", "");
    let text = fs::read_to_string(&ini).unwrap();
    let translate_with = |mapping: &str| {
        fs::write(&ini, text.replace("0 T 0", mapping)).unwrap();
        let output = translate_text(&ini, &["-output-hypo-score"], "das haus\n");
        (output.stdout, lossy_text(&output.stderr))
    };
    let (expected, silent) = translate_with("0 T 0\n1 T 1");
    assert!(!silent.contains("[mapping]"), "{silent}");
    for one_graph in ["0 T 0\n0 T 1", "T 0\nT 1", "0 T\n0 U"] {
        let (output, warning) = translate_with(one_graph);
        assert_eq!(output, expected, "{one_graph}");
        assert!(warning.contains("must be in every table of graph 0"), "{one_graph}: {warning}");
        assert!(warning.contains("`1 T 1`"), "{one_graph}: {warning}");
    }
    assert_eq!(translate_with("0 T\n1 U").0, expected);
}

/// Moses accepts these keys for every feature.
#[test]
fn generic_keys_of_moses_change_nothing() {
    let folder = write_models();
    let plain = write_ini(folder.path(), PLAIN_TABLE, "T= 0.5 0.5", "");
    let scores = ["-output-hypo-score"];
    let expected = translate_text(&plain, &scores, "das haus\n").stdout;
    let keys = "filterable=false verbosity=2 require-sorting-after-source-context=true";
    let features = format!("{PLAIN_TABLE} {keys}\nPhrasePenalty name=P filterable=true");
    let ini = write_ini(folder.path(), &features, "T= 0.5 0.5\nP= 0", "");
    let output = translate_text(&ini, &scores, "das haus\n");
    assert_eq!(lossy_text(&output.stdout), lossy_text(&expected));
    let log = lossy_text(&output.stderr);
    for warning in
        ["filterable= does nothing here (T, P)", "verbosity= does nothing", "require-sorting"]
    {
        assert_eq!(log.matches(warning).count(), 1, "{log}");
    }
    let ini = write_ini(folder.path(), &format!("{PLAIN_TABLE} filterables=1"), "T= 1 1", "");
    assert!(run_to_error(&mut translate(&ini)).contains("no parameter filterables"));
}

/// As in Moses, components that are not tuned are left out of n-best lists and keep their weights.
#[test]
fn components_are_tuned_one_by_one() {
    let folder = write_models();
    let features = format!("{PLAIN_TABLE} tuneable-components=true,false");
    let ini = write_ini(folder.path(), &features, "T= 0.5 0.25", "");
    let list = lossy_text(&translate_text(&ini, &["-n-best-list", "-", "1"], "das\n").stdout);
    // The logarithm of 0.5, and not that of 0.25.
    assert!(list.contains("T= -0.693147 |||"), "{list}");
    let weights = lossy_text(&run(translate(&ini).arg("-show-weights")));
    assert!(weights.contains("T= 0.5 UNTUNEABLECOMPONENT\n"), "{weights}");
    let (source, reference) = (folder.path().join("s"), folder.path().join("r"));
    // The fixed weight, below 0, prefers `building`; the first score alone can outweigh it.
    let ini = write_ini(folder.path(), &features, "T= 0.3 -0.25", "");
    fs::write(&source, "das haus das haus\ndas haus das haus das haus\n").unwrap();
    fs::write(&reference, "the house the house\nthe house the house the house\n").unwrap();
    let tuned = folder.path().join("tuned.ini");
    let mut tune = miriam();
    tune.args(["tune", "--method", "mert", "--iterations", "5", "-f"])
        .arg(&ini)
        .arg("-o")
        .arg(&tuned);
    run(tune.arg("--source").arg(&source).arg("--reference").arg(&reference));
    let tuned = fs::read_to_string(&tuned).unwrap();
    let line = tuned.lines().find(|line| line.starts_with("T= ")).unwrap();
    assert!(line.ends_with(" -0.25") && line != "T= 0.3 -0.25", "{line}");
    for (value, expected) in [
        ("true", "1 values for 2 scores"),
        ("true,maybe", "maybe"),
        ("true,true tuneable=false", "tuneable=false"),
    ] {
        let features = format!("{PLAIN_TABLE} tuneable-components={value}");
        let ini = write_ini(folder.path(), &features, "T= 0.5 0.25", "");
        let message = run_to_error(&mut translate(&ini));
        assert!(message.contains(expected), "{message}");
    }
}

/// Pairs that the table lacks get the default scores. The expected score is computed by hand: the
/// logarithm of 0.125 for `building`, because the order is monotone.
#[test]
fn reordering_has_default_scores() {
    let folder = write_models();
    let score = |keys: &str, input: &str| -> f32 {
        let table = "PhraseDictionaryMemory name=T num-features=2 path=phrase-table table-limit=0";
        let features = format!("{table}\n{REORDERING_MODEL} {keys}");
        let ini = write_ini(folder.path(), &features, "T= 0 0\nR= 1 1 1", "");
        let options = ["-output-hypo-score", "-n-best-list", "-", "100"];
        let list = lossy_text(&translate_text(&ini, &options, input).stdout);
        let line = list.lines().find(|line| line.contains("building")).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    // The word penalty, -1 for one word, has the weight -0.5.
    assert!((score("", "haus\n") - 0.5).abs() < 1e-6);
    let with_default = score("default-scores=0.125,0.25,0.5", "haus\n");
    assert!((with_default - (0.5 + 0.125f32.ln())).abs() < 1e-5, "{with_default}");
    for (keys, expected) in [
        ("default-scores=0.5,0.5", "expected 3 scores, found 2"),
        ("sparse-words=1", "sparse features"),
    ] {
        let features = format!("{PLAIN_TABLE}\n{REORDERING_MODEL} {keys}");
        let ini = write_ini(folder.path(), &features, "T= 0 0\nR= 1 1 1", "");
        let message = run_to_error(&mut translate(&ini));
        assert!(message.contains(expected), "{message}");
    }
}

/// File, size and `distinct` may be on one line; Moses' documentation of inis has them on three.
#[test]
fn an_n_best_list_may_be_one_line_of_the_ini() {
    let folder = write_models();
    let list = |section: &str| {
        let ini = write_ini(folder.path(), PLAIN_TABLE, "T= 1 1", section);
        let output = run_with_input(translate(&ini).current_dir(folder.path()), b"das haus\n");
        assert!(!output.stdout.is_empty());
        fs::read_to_string(folder.path().join("list")).unwrap()
    };
    let lines = list("[n-best-list]\nlist\n10\ndistinct");
    assert!(lines.lines().count() > 1);
    assert_eq!(list("[n-best-list]\nlist 10 distinct"), lines);
    assert_eq!(list("[n-best-list]\nlist 10\ndistinct"), lines);
}

/// The old format, with a weight of the language model for unknown words, gives the same result as
/// the new one. Sections of the old format that are keys in the new one may stay in an ini of the
/// new format.
#[test]
fn sections_of_the_old_format_that_are_keys_today() {
    let folder = write_models();
    let table = format!("{PLAIN_TABLE} table-limit=1\n");
    let lm = "KENLM name=LM factor=0 order=2 num-features=2 oov-feature=1 path=lm.arpa";
    let weights = "T= 0.2 0.2\nLM= 0.5 -2";
    let ini = write_ini(folder.path(), &format!("{lm}\n{table}"), weights, "");
    let scores = ["-output-hypo-score"];
    let input = "das haus 7\nhaus\n";
    let new = translate_text(&ini, &scores, input);
    let old = "[mapping]\n0 T 0\n[lmodel-file]\n8 0 2 lm.arpa\n[weight-l]\n0.5\n-2\n\
               [lmodel-oov-feature]\n1\n[ttable-file]\n0 0 0 2 phrase-table\n[weight-t]\n0.2\n0.2\n\
               [ttable-limit]\n1\n[weight-d]\n0.3\n[weight-w]\n-0.5\n";
    let path = folder.path().join("old.ini");
    fs::write(&path, old).unwrap();
    assert_eq!(lossy_text(&translate_text(&path, &scores, input).stdout), lossy_text(&new.stdout));
    // Surplus values are not ignored in silence.
    let surplus = old
        .replace("[lmodel-oov-feature]\n1\n", "[lmodel-oov-feature]\n1 0\n")
        .replace("[ttable-limit]\n1\n", "[ttable-limit]\n1\n0\n0\n");
    fs::write(&path, surplus).unwrap();
    let output = translate_text(&path, &scores, input);
    assert_eq!(output.stdout, new.stdout);
    let log = lossy_text(&output.stderr);
    assert!(log.contains("[lmodel-oov-feature]: 1 superfluous value"), "{log}");
    assert!(log.contains("[ttable-limit]: 2 superfluous limits"), "{log}");
    let more = "[ttable-limit]\n20\n[lmodel-oov-feature]\n0";
    let ini = write_ini(folder.path(), &format!("{lm}\n{table}"), weights, more);
    let output = translate_text(&ini, &scores, input);
    assert_eq!(output.stdout, new.stdout);
    let log = lossy_text(&output.stderr);
    assert!(log.contains("[ttable-limit]") && log.contains("table-limit="), "{log}");
    assert!(log.contains("[lmodel-oov-feature]") && log.contains("oov-feature="), "{log}");
}

/// An ini that needs something unsupported is rejected with an error that names it.
#[test]
fn what_is_not_available_is_named() {
    let folder = write_models();
    let table = PLAIN_TABLE;
    let line = |line: &str| format!("{table}\n{line}");
    let cases = [
        (table.to_owned(), "[inputtype]\n1", "confusion networks"),
        (table.to_owned(), "[inputtype]\n2", "lattices"),
        (table.to_owned(), "[search-algorithm]\n3", "hierarchical"),
        (table.to_owned(), "[translation-systems]\ndefault D 0", "several systems"),
        (table.to_owned(), "[weight-file]\nsparse", "sparse features"),
        (table.to_owned(), "[consensus-decoding]\ntrue", "Bayes"),
        (line("Generation num-features=1 path=g input-factor=0 output-factor=1"), "", "generation"),
        (line("InputFeature num-features=1 num-input-features=1"), "", "confusion networks"),
        (line("PhraseDictionaryCompact num-features=1 path=t"), "", "minphr"),
        (line("PhraseDictionaryOnDisk num-features=1 path=t"), "", "on-disk"),
        (line("PhraseDictionaryBinary num-features=1 path=t"), "", "binary tables of Moses 1"),
        (line("PhraseDictionaryMultiModel mode=interpolate components=T"), "", "combined"),
        (line("PhraseDictionaryALSuffixArray path=t"), "", "suffix-array"),
        (line("TargetNgramFeature n=2"), "", "sparse"),
    ];
    for (features, more, expected) in cases {
        let ini = write_ini(folder.path(), &features, "T= 1 1", more);
        let message = run_to_error(&mut translate(&ini));
        assert!(message.contains(expected), "{features} {more}: {message}");
    }
}

/// A byte order mark is not text, in an ini as in any other file.
#[test]
fn an_ini_may_begin_with_a_byte_order_mark() {
    let folder = write_models();
    let ini = write_ini(folder.path(), PLAIN_TABLE, "T= 1 1", "");
    let expected = translate_text(&ini, &[], "das haus\n").stdout;
    let text = fs::read_to_string(&ini).unwrap();
    fs::write(&ini, format!("\u{feff}{text}")).unwrap();
    let output = translate_text(&ini, &[], "\u{feff}das haus\n");
    assert_eq!(lossy_text(&output.stdout), lossy_text(&expected));
}

/// The folder of a system may be given in place of its ini.
#[test]
fn a_folder_names_its_ini() {
    let folder = write_models();
    let ini = write_ini(folder.path(), PLAIN_TABLE, "T= 1 1", "");
    let expected = translate_text(&ini, &[], "das haus\n").stdout;
    assert_eq!(translate_text(folder.path(), &[], "das haus\n").stdout, expected);
    let empty = tempfile::tempdir().unwrap();
    let message = run_to_error(&mut translate(empty.path()));
    assert!(message.contains("this folder has no moses.ini"), "{message}");
}

/// The factor of placeholders must be a column of the input. Markup needs no column.
#[test]
fn placeholders_need_a_column_of_the_input() {
    let folder = write_models();
    let words = "das ||| the ||| 0.5 0.25 ||| 0-0\nhaus ||| house ||| 0.25 0.5 ||| 0-0\n";
    fs::write(folder.path().join("aligned"), words).unwrap();
    let aligned = PLAIN_TABLE.replace("phrase-table", "aligned");
    let ini = write_ini(folder.path(), &aligned, "T= 1 1", "[input-factors]\n0\n");
    let options = ["-placeholder-factor", "1", "-xml-input", "exclusive"];
    let input = "das haus|Heim\ndas <ne entity=\"Heim\">haus</ne>\n";
    let output = translate_text(&ini, &options, input);
    let log = lossy_text(&output.stderr);
    assert!(log.contains("line 1") && log.contains("word 2, \"haus|Heim\", has more"), "{log}");
    assert!(log.contains("give -input-factors 0 1, or write placeholders as <ne"), "{log}");
    assert_eq!(lossy_text(&output.stdout), "\nthe Heim \n");
}

/// The folder of a system may have a name of any bytes, for a server too. Other options are text.
#[test]
fn names_that_are_not_utf8() {
    let folder = write_models();
    let ini = write_ini(folder.path(), PLAIN_TABLE, "T= 1 1", "");
    let expected = lossy_text(&translate_text(&ini, &[], "das haus\n").stdout);
    let name = OsStr::from_bytes(b"caf\xe9");
    let outside = tempfile::tempdir().unwrap();
    let moved = outside.path().join(name);
    fs::create_dir(&moved).unwrap();
    for entry in folder.path().read_dir().unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), moved.join(entry.file_name())).unwrap();
    }
    let translate = |words: [&OsStr; 3]| {
        run_with_input(miriam().current_dir(&outside).arg("translate").args(words), b"das haus\n")
    };
    let word = OsStr::new;
    let joined = OsStr::from_bytes(b"--config=caf\xe9/moses.ini");
    for words in [[word("-f"), name, word("-quiet")], [joined, word("-s"), word("100")]] {
        let output = translate(words);
        assert_eq!(lossy_text(&output.stdout), expected, "{}", lossy_text(&output.stderr));
    }
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(&ini).arg("-i").arg(name);
    let message = run_to_usage_error(&mut command);
    assert!(message.contains("is not UTF-8; only the name of the ini (-f)"), "{message}");
    let model = OsStr::from_bytes(b"m=caf\xe9,from=de,to=en");
    run(miriam().current_dir(&outside).args(["serve", "--check", "--model"]).arg(model));
}

/// A bar separates factors, so the rest of the word is lost; training text has an escape for it.
#[test]
fn words_that_are_cut_at_a_bar_are_warned_of() {
    let folder = write_models();
    let ini = write_ini(folder.path(), PLAIN_TABLE, "T= 1 1", "");
    let output = translate_text(&ini, &[], "das\nhaus|NN das|ART\nhaus\nhaus|\n");
    let log = lossy_text(&output.stderr);
    assert_eq!(log.matches("cut at a bar").count(), 1, "{log}");
    assert!(log.contains("line 2: 3 words are cut") && log.contains("&#124;"), "{log}");
    assert_eq!(lossy_text(&output.stdout).lines().count(), 4);
    for (options, input) in
        [(&[][..], "das &#124; haus\n| ||\n"), (&["-factor-delimiter", "none"], "das|haus\n")]
    {
        let log = lossy_text(&translate_text(&ini, options, input).stderr);
        assert!(!log.contains("cut at a bar"), "{input}: {log}");
    }
    let log = lossy_text(&translate_text(&ini, &["-split"], "das haus|NN .\n").stderr);
    assert!(log.contains("line 1: 1 word is cut at a bar"), "{log}");
    // Words of the tables are reported too.
    let words = "a ||| either|or ||| 0.5 0.5\nb|c ||| BC ||| 0.5 0.5\n";
    fs::write(folder.path().join("bars"), words).unwrap();
    let bars = write_ini(folder.path(), &PLAIN_TABLE.replace("phrase-table", "bars"), "T= 1 1", "");
    let log = lossy_text(&translate_text(&bars, &[], "a\n").stderr);
    assert!(log.contains("the tables have 2 words with a bar"), "{log}");
    let log = lossy_text(&translate_text(&bars, &["-factor-delimiter", "none"], "a\n").stderr);
    assert!(!log.contains("bar"), "{log}");
    // Two factors of the input, one of them for placeholders: a third is lost.
    let factors = ["-input-factors", "0", "1", "-placeholder-factor", "1"];
    let words = "das ||| the ||| 0.5 0.25 ||| 0-0\nhaus ||| house ||| 0.25 0.5 ||| 0-0\n";
    fs::write(folder.path().join("aligned"), words).unwrap();
    let aligned = PLAIN_TABLE.replace("phrase-table", "aligned");
    let ini = write_ini(folder.path(), &aligned, "T= 1 1", "");
    let output = translate_text(&ini, &factors, "das haus|Heim|NN\ndas haus|Heim\ndas haus\n");
    let log = lossy_text(&output.stderr);
    assert_eq!(log.matches("cut at a bar").count(), 1, "{log}");
    assert!(log.contains("line 1: 1 word is cut") && log.contains("in -input-factors"), "{log}");
    let translations = lossy_text(&output.stdout);
    let translations: Vec<&str> = translations.lines().collect();
    assert_eq!(translations, ["the Heim ", "the Heim ", "the house "]);
}
