//! Input lines with markup, factors or tables. Expected outputs were printed by Moses2 for the same
//! files, except where a comment says that Moses2 is broken or lacks the feature.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

/// Returns the toy system's translations of `input`.
fn run_toy(options: &str, input: &str) -> Vec<String> {
    translate(&project_root().join("examples/toy/moses.ini"), options, input)
}

fn translate(ini: &Path, options: &str, input: &str) -> Vec<String> {
    let command = &mut miriam();
    let command = command.args(["translate", "-threads", "1", "-f"]).arg(ini);
    let output = run_with_input(command.args(options.split_ascii_whitespace()), input.as_bytes());
    lossy_text(&output.stdout).lines().map(str::to_owned).collect()
}

/// Returns the error about a line that cannot be translated.
fn line_error(ini: &Path, options: &str, line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, format!("{line}\n")).unwrap();
    let command = &mut miriam();
    let command = command.args(["translate", "-threads", "1", "-f"]).arg(ini);
    let output = command.arg("-i").arg(&input).args(options.split_ascii_whitespace()).output();
    lossy_text(&output.unwrap().stderr)
}

fn toy_line_error(options: &str, line: &str) -> String {
    line_error(&project_root().join("examples/toy/moses.ini"), options, line)
}

/// Each entry: an input line, Moses2's output with exclusive markup, and its output with inclusive
/// markup, which is empty here if it is the same.
const MARKED: [(&str, &str, &str); 16] = [
    (
        "the red <n translation=\"hogar\" prob=\"0.5\">house</n> is big .",
        "-12.475 el |0-0| rojas |1-1| hogar |2-2| es grande |3-4| . |5-5| ",
        "-6.375 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| ",
    ),
    (
        "the red <n translation=\"casa\">house</n> is big .",
        "-6.375 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| ",
        "",
    ),
    (
        "the <n translation=\"gran casa roja\" prob=\"0.1\">red house</n> is big .",
        "-12.645 el |0-0| gran casa roja |1-2| es grande |3-4| . |5-5| ",
        "-6.375 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| ",
    ),
    (
        "<n translation=\"la casa\">the red house</n> is big .",
        "-2.275 la casa |0-2| es grande |3-4| . |5-5| ",
        "",
    ),
    (
        "the red house <wall/> is big .",
        "-6.375 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| ",
        "",
    ),
    (
        "the <wall/> red <wall/> house is big .",
        "-9.478 el |0-0| rojas |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "the red <wall/> house is big .",
        "-9.478 el |0-0| rojas |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "<zone>the red</zone> house is big .",
        "-9.478 el |0-0| rojas |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "the <zone>red house</zone> is big .",
        "-6.375 la |0-0| casa |2-2| roja |1-1| es grande . |3-5| ",
        "",
    ),
    (
        "the <zone>red <wall/> house</zone> is big .",
        "-9.478 el |0-0| rojas |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "the red <zone>house is</zone> big .",
        "-9.478 el |0-0| rojas |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "i have a <zone>black <zone>cat and</zone> a</zone> white dog .",
        "-8.655 tengo |0-1| un gato negro |2-4| y |5-5| un |6-6| perro |8-8| blanco |7-7| . |9-9| ",
        "",
    ),
    (
        "the <n translation=\"\" prob=\"0.5\">red</n> house is big .",
        "-3.305 la |0-0| |1-1| casa es |2-3| grande . |4-5| ",
        "",
    ),
    (
        "the white <n translation=\"caballos\">horses</n> run <wall/> in the <zone>green field</zone> .",
        "-5.355 los |0-0| caballos |2-2| blancos |1-1| corren |3-3| en |4-4| el campo verde |5-7| . |8-8| ",
        "",
    ),
    (
        "the <n translation=\"foobar\">unknownword</n> house .",
        "-7.565 el |0-0| foobar |1-1| casa . |2-3| ",
        "",
    ),
    (
        "the <n translation=\"casa roja\" prob=\"0.5\">red house</n> , <n translation=\"alta\">tall</n> woman .",
        "-110.621 la |0-0| casa roja |1-2| , |3-3| mujer |5-5| alta |4-4| . |6-6| ",
        "",
    ),
];

#[test]
fn forced_translations_walls_and_zones_as_in_moses2() {
    let input: String = MARKED.iter().map(|(line, ..)| format!("{line}\n")).collect();
    for search in ["0", "1"] {
        for limit in ["6", "2", "-1"] {
            for mode in ["exclusive", "inclusive"] {
                let options = format!(
                    "-xml-input {mode} -search-algorithm {search} -dl {limit} -output-hypo-score -t"
                );
                let ours = run_toy(&options, &input);
                for ((line, exclusive, inclusive), ours) in MARKED.iter().zip(&ours) {
                    let same = mode == "exclusive" || inclusive.is_empty();
                    let expected = if same { exclusive } else { inclusive };
                    assert_eq!(ours, expected, "{options}: {line}");
                }
                assert_eq!(ours.len(), MARKED.len());
            }
        }
    }
}

/// Markup that Moses2 lacks, in this test and the next one: Moses2 keeps only the last translation
/// of a span, has neither alternatives nor spans, treats `ignore` as inclusive and refuses
/// constraints.
#[test]
fn markup_that_moses2_lacks() {
    let best = |mode: &str, line: &str| run_toy(&format!("-xi {mode}"), line).remove(0);
    let plain = "la casa roja es grande . ";
    let marked = |attributes: &str| format!("the red <n {attributes}>house</n> is big .");
    assert_eq!(best("ignore", &marked("translation='hogar'")), plain);
    assert_eq!(best("ignore", "the red <wall/> house is big ."), plain);
    assert!(best("pass-through", &marked("translation='hogar'")).contains("<n "));
}

#[test]
fn alternatives_spans_and_constraints() {
    let best = |mode: &str, line: &str| run_toy(&format!("-xi {mode}"), line).remove(0);
    // The language model decides between alternatives, or the probabilities do.
    let line = "the red <n translation='hogar||casa'>house</n> is big .";
    assert_eq!(best("exclusive", line), "la casa roja es grande . ");
    let line = "the red <n translation='hogar||casa' prob='1||0.0000000001'>house</n> is big .";
    assert!(best("exclusive", line).contains("hogar"), "{}", best("exclusive", line));
    let line = "the red house is big . <n span='2' english='hogar'/>";
    assert!(best("exclusive", line).contains("hogar"));
    let line = "the red house is big . <n span='1,2' translation='zzz'/>";
    assert!(best("exclusive", line).contains("zzz es grande"));
}

#[test]
fn other_brackets() {
    let ini = project_root().join("examples/toy/moses.ini");
    let line = b"{{x translation='zzz'}}the red{{/x}} house <b> {{wall/}}\n";
    let command = &mut miriam();
    let command = command.args(["translate", "-xml-input", "exclusive", "-xb", "{{ }}", "-f"]);
    let output = lossy_text(&run_with_input(command.arg(ini), line).stdout);
    assert!(output.contains("zzz") && output.contains("<b>"), "{output}");
    assert!(!output.contains("wall"), "{output}");
}

#[test]
fn constraints_keep_options_that_contain_the_words() {
    let best = |line: &str| run_toy("-xi constraint -t", line).remove(0);
    assert_eq!(best("the red house is big ."), run_toy("-t", "the red house is big .")[0]);
    // Of the table's phrases for this span and for longer ones, only phrases with `gato` are used.
    let ours = best("i have a <n translation='gato' prob='1e-9'>black cat</n> and a white dog .");
    assert!(ours.contains("un gato negro |2-4|"), "{ours}");
    let ours = best("i have a <n translation='perro'>black cat</n> and a white dog .");
    assert!(ours.contains("perro |3-4|") && !ours.contains("gato"), "{ours}");
}

#[test]
fn forced_translations_may_exceed_the_phrase_length() {
    let line = "the red house is <n translation='z'>big and the white dog is small</n> .";
    let ours = run_toy("-xi exclusive -max-phrase-length 2 -t", line).remove(0);
    assert!(ours.contains("z |4-10|"), "{ours}");
}

#[test]
fn punctuation_as_walls() {
    // Moses2 searches punctuation only in lines with markup.
    let line = "the red , house is big .";
    let free = run_toy("-t -dl -1", line);
    for mode in ["pass-through", "inclusive"] {
        let ours =
            run_toy(&format!("-t -dl -1 -monotone-at-punctuation -xi {mode}"), line).remove(0);
        let spans: Vec<usize> =
            ours.split('|').filter_map(|part| part.split_once('-')?.0.parse().ok()).collect();
        let comma = spans.iter().position(|&start| start == 2).unwrap();
        assert!(spans[..comma].iter().all(|&s| s < 2), "{ours}, without: {free:?}");
        assert!(spans[comma..].iter().all(|&s| s >= 2), "{ours}");
    }
}

#[test]
fn markup_errors_name_the_column() {
    let exclusive = "-xml-input exclusive";
    for (line, reason) in [
        ("the <n translation='x'>house", "column 5: <n> is never closed"),
        ("the house</n>", "column 10: </n> closes an element that was never opened"),
        ("the <n translation='x' prob='0.1||0.2'>house</n>", "column 5: prob has 2 values"),
        ("the <n translation='x>house</n>", "column 8: the value of attribute"),
        ("the <ne entity='5'>house</ne>", "-placeholder-factor"),
        ("the <weight-overwrite weights='LM0= 5'/> house", "column 5: <weight-overwrite> changes"),
        ("<update name='T' source='a' target='b' alignment='0-0'/> house", "<update> adds"),
    ] {
        let message = toy_line_error(exclusive, line);
        assert!(message.contains(reason), "{line}: {message}");
    }
    let long = format!("{} <wall/> house", "house ".repeat(2500));
    assert!(toy_line_error(exclusive, &long).contains("2000 words"));
    for (options, reason) in [
        ("-xml-input some", "inclusive"),
        ("-xml-brackets {{", "xml-brackets"),
        ("-xml-brackets {{ {{", "two different strings"),
        ("-inputtype 1", "inputtype"),
        ("-inputtype 7 -xml-input ignore", "xml-input"),
        ("-placeholder-factor 0", "placeholder-factor"),
        ("-output-factors 0,0", "twice"),
        ("-input-factors x", "input-factors"),
    ] {
        let ini = project_root().join("examples/toy/moses.ini");
        let command = &mut miriam();
        let command = command.args(["translate", "-f"]).arg(ini);
        let output = command.args(options.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(
            lossy_text(&output.stderr).contains(reason),
            "{options}: {}",
            lossy_text(&output.stderr)
        );
    }
}

/// A system of words with tags: `haus|NN`.
struct FactoredSystem(tempfile::TempDir);

const PHRASES: &str = "\
das|ART ||| the|DT ||| 0.8 0.5 ||| 0-0
das|ART haus|NN ||| the|DT house|NN ||| 0.5 0.5 ||| 0-0 1-1
das|PRO ||| that|PR ||| 0.7 0.4 ||| 0-0
das|PRO ||| this|PR ||| 0.3 0.4 ||| 0-0
haus|NN ||| home|NN ||| 0.1 0.6 ||| 0-0
haus|NN ||| house|NN ||| 0.9 0.6 ||| 0-0
ist|V ||| has|VB ||| 0.2 0.6 ||| 0-0
ist|V ||| is|VB ||| 0.9 0.6 ||| 0-0
klein|ADJ ||| little|JJ ||| 0.4 0.9 ||| 0-0
klein|ADJ ||| small|JJ ||| 0.9 0.6 ||| 0-0
@num@|CD ||| @num@|CD ||| 0.9 0.9 ||| 0-0
";

const REORDERING: &str = "\
das|ART ||| the|DT ||| 0.6 0.2 0.2 0.5 0.3 0.2
haus|NN ||| house|NN ||| 0.5 0.2 0.3 0.5 0.3 0.2
haus|NN ||| home|NN ||| 0.1 0.5 0.4 0.5 0.1 0.4
ist|V ||| is|VB ||| 0.7 0.1 0.2 0.6 0.2 0.2
";

/// Returns an ARPA file with the scores of the file that Moses2 read.
fn arpa(words: &str, pairs: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let pairs: Vec<&str> = pairs.split(", ").collect();
    let (n, m) = (words.len(), pairs.len());
    let mut text = format!("\\data\\\nngram 1={n}\nngram 2={m}\n\n\\1-grams:\n");
    for (i, word) in words.iter().enumerate() {
        let i = i as f64;
        let p = if *word == "<s>" { -99.0 } else { -1.0 - 0.1 * i };
        text += &format!("{p:.2}\t{word}\t{:.2}\n", -0.3 - 0.01 * i);
    }
    text += "\n\\2-grams:\n";
    for (i, pair) in pairs.iter().enumerate() {
        text += &format!("{:.2}\t{pair}\n", -0.4 - 0.05 * i as f64);
    }
    text + "\n\\end\\\n"
}

impl FactoredSystem {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("pt.txt", PHRASES);
        write("ro.txt", REORDERING);
        let words = "<unk> <s> </s> the that this house home is has small little @num@";
        let pairs = "the house, house is, is small, that is, <s> the, this house";
        write("lm0.arpa", &arpa(words, pairs));
        let tags = "<unk> <s> </s> DT PR NN VB JJ CD";
        write("lm1.arpa", &arpa(tags, "DT NN, NN VB, VB JJ, PR VB, <s> DT, JJ </s>"));
        FactoredSystem(folder)
    }

    /// Writes an ini with the table that `feature` describes.
    fn ini(&self, feature: &str) -> std::path::PathBuf {
        let path = self.0.path().join("moses.ini");
        let ini = format!(
            "[mapping]\n0 T 0\n[distortion-limit]\n4\n[feature]\nUnknownWordPenalty\n\
             WordPenalty\nPhrasePenalty\n{feature} name=TM0 num-features=2\n\
             LexicalReordering name=LR num-features=6 type=wbe-msd-bidirectional-fe-allff \
             input-factor=0,1 output-factor=0,1 path=ro.txt\nDistortion\n\
             KENLM name=LM0 factor=0 order=2 path=lm0.arpa\n\
             KENLM name=LM1 factor=1 order=2 path=lm1.arpa\n\
             [weight]\nUnknownWordPenalty0= 1\nWordPenalty0= -0.5\nPhrasePenalty0= 0.2\n\
             TM0= 0.3 0.2\nLR= 0.3 0.2 0.1 0.3 0.2 0.1\nDistortion0= 0.3\nLM0= 0.5\nLM1= 0.4\n"
        );
        fs::write(&path, ini).unwrap();
        path
    }

    fn text_table(&self) -> std::path::PathBuf {
        self.ini("PhraseDictionaryMemory path=pt.txt input-factor=0,1 output-factor=0,1")
    }
}

const SENTENCES: &str = "\
das|ART haus|NN ist|V klein|ADJ
das|PRO ist|V das|ART haus|NN
klein|ADJ ist|V das|PRO haus|NN
haus|NN das|ART klein|ADJ
";

#[test]
fn factored_tables_and_models_as_in_moses2() {
    let system = FactoredSystem::new();
    let expected = [
        ["the|DT house|NN |0-1|", "is|VB |2-2|", "small|JJ |3-3|", "", "-4.756"],
        ["the|DT house|NN |2-3|", "that|PR |0-0|", "is|VB |1-1|", "", "-10.184"],
        ["this|PR |2-2|", "house|NN |3-3|", "is|VB |1-1|", "small|JJ |0-0|", "-11.609"],
        ["the|DT |1-1|", "house|NN |0-0|", "small|JJ |2-2|", "", "-9.576"],
    ];
    let shown = |factor: fn(&str) -> &str| -> Vec<String> {
        let line = |row: &[&str; 5]| {
            let mut line = format!("{} ", row[4]);
            for word in row[..4].iter().flat_map(|part| part.split_ascii_whitespace()) {
                line += if word.starts_with('|') { word } else { factor(word) };
                line.push(' ');
            }
            line
        };
        expected.iter().map(line).collect()
    };
    run(miriam().current_dir(system.0.path()).args([
        "pt",
        "build",
        "--quiet",
        "--sort",
        "--phrase-table",
        "pt.txt",
        "-o",
        "binary",
    ]));
    for table in ["PhraseDictionaryMemory path=pt.txt", "ProbingPT path=binary"] {
        let ini = system.ini(&format!("{table} input-factor=0,1 output-factor=0,1"));
        for search in ["0", "1"] {
            let ours = |factors: &str| {
                let options = format!(
                    "-output-hypo-score -t -search-algorithm {search} -output-factors {factors}"
                );
                translate(&ini, &options, SENTENCES)
            };
            assert_eq!(ours("0 1"), shown(|word| word), "{table}");
            assert_eq!(ours("0"), shown(|word| word.split_once('|').unwrap().0), "{table}");
            assert_eq!(ours("1"), shown(|word| word.split_once('|').unwrap().1), "{table}");
        }
    }
    // A text table without `output-factor` has the factors of its words.
    let ini = system.ini("PhraseDictionaryMemory path=pt.txt input-factor=0,1");
    assert_eq!(
        translate(&ini, "-output-hypo-score -t", SENTENCES),
        shown(|w| { w.split_once('|').unwrap().0 })
    );
}

/// Options of Moses 1, and words that crash Moses2.
#[test]
fn factors_that_moses2_lacks() {
    let system = FactoredSystem::new();
    let ini = system.text_table();
    let first = |options: &str, line: &str| translate(&ini, options, line).remove(0);
    let all = first("-report-all-factors", SENTENCES);
    assert_eq!(all, "the|DT house|NN is|VB small|JJ ");
    let joined = first("-output-factors 0,1 -output-factor-delimiter /", SENTENCES);
    assert_eq!(joined, "the/DT house/NN is/VB small/JJ ");
    assert_eq!(first("-output-factors 1,0", "das|ART foo|XY"), "DT|the XY|foo ");
    assert_eq!(first("-mark-unknown", "das|ART foo|XY"), "the UNKfoo ");
    let message = line_error(&ini, "", "das|ART haus");
    assert!(message.contains("word 2, \"haus\", has no factor 1, which TM0 needs"), "{message}");
    let message = line_error(&ini, "-xi exclusive", "das|ART <n translation='x'>haus|NN</n>");
    assert!(message.contains("\"x\" has no factor 1, which LM1 needs"), "{message}");
    let unlisted = ["translate", "-input-factors", "0", "-f"];
    let message = run_to_error(miriam().args(unlisted).arg(&ini));
    assert!(message.contains("[input-factors]: TM0 needs factor 1 of the input"), "{message}");
    let underscored = PHRASES.replace('|', "_").replace("___", "|||");
    fs::write(system.0.path().join("pt.txt"), underscored).unwrap();
    let scores = first("-output-hypo-score -factor-delimiter _", &SENTENCES.replace('|', "_"));
    assert!(scores.ends_with(" the house is small "), "{scores}");
}

#[test]
fn tables_that_lack_factors_are_rejected() {
    let system = FactoredSystem::new();
    let broken = PHRASES.replace("home|NN", "home");
    fs::write(system.0.path().join("pt.txt"), broken).unwrap();
    let complain = |ini: &Path| run_to_error(miriam().args(["translate", "-f"]).arg(ini));
    let message = complain(&system.text_table());
    assert!(message.contains("line 5") && message.contains("\"home\""), "{message}");
    assert!(message.contains("no factor 1, which LM1 needs"), "{message}");
    let ini = system.ini("PhraseDictionaryMemory path=pt.txt input-factor=0,16");
    assert!(complain(&ini).contains("16"));
}

#[test]
fn placeholders_as_in_moses2() {
    let system = FactoredSystem::new();
    let ini = system.text_table();
    let options = "-xml-input exclusive -placeholder-factor 2 -output-hypo-score -t";
    let input = "<ne translation=\"@num@|CD\" entity=\"7\">@num@|CD</ne> ist|V klein|ADJ\n\
                 @num@|CD|7 ist|V klein|ADJ\n";
    let ours = translate(&ini, options, input);
    assert_eq!(ours, ["-11.170 7 |0-0| is |1-1| small |2-2| "; 2]);
    // Placeholders that are unknown words crash Moses2.
    let unknown =
        translate(&ini, "-xi exclusive -placeholder-factor 2", "<ne entity='5 $'>x|Y</ne>");
    assert_eq!(unknown, ["5 $ "]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pt"), "@num@ ||| @num@ @num@ ||| 1 ||| 0-0 0-1\n").unwrap();
    let ini = folder.path().join("ini");
    let text = "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\n\
                PhraseDictionaryMemory path=pt num-features=1\n[weight]\nPhraseDictionaryMemory0= 1\n";
    fs::write(&ini, text).unwrap();
    let line = "<ne entity='5'>@num@</ne>";
    let message = line_error(&ini, "-xi exclusive -placeholder-factor 1", line);
    assert!(message.contains("aligned to 2 words"), "{message}");
}

#[test]
fn tables_in_the_line_as_in_moses2() {
    let folder = tempfile::tempdir().unwrap();
    let toy = fs::canonicalize(project_root().join("examples/toy")).unwrap();
    let ini = fs::read_to_string(toy.join("moses.ini")).unwrap();
    let ini = ini
        .replace("path=", &format!("path={}/", toy.display()))
        .replace("0 T 0", "0 T 0\n1 T 1\n[inputtype]\n7")
        .replace(
            "LexicalReordering name",
            "DynamicPhraseTable name=D0 num-features=2 table-limit=2\nLexicalReordering name",
        )
        .replace("LM0= 0.5", "LM0= 0.5\nD0= 0.5 0.3");
    let path = folder.path().join("moses.ini");
    fs::write(&path, &ini).unwrap();
    let input = "the red house is big . @@@ red house ||| casa roja ||| 0.9 0.9 ||| 0-1 1-0 $$$ \
                 house ||| hogar ||| 0.5 0.5 ||| 0-0\n\
                 anselmo reads a book . @@@ anselmo ||| Anselmo ||| 0.9 0.5 ||| 0-0 $$$ reads ||| \
                 lee ||| 1 1 ||| 0-0 $$$ reads ||| leyó ||| 1 0.9 ||| 0-0 $$$ reads ||| leía ||| \
                 0.99 0.99 ||| 0-0\n\
                 zork the house . @@@ zork ||| zorko uno ||| 0.5 0.2 $$$ zork the ||| el zorko ||| \
                 0.9 0.8\n\
                 anselmo . @@@\n";
    let expected = [
        "-3.758 la |0-0| casa roja |1-2| es grande |3-4| . |5-5| ",
        "-6.356 Anselmo |0-0| lee |1-1| un libro |2-3| . |4-4| ",
        "-7.425 el zorko |0-1| casa . |2-3| ",
    ];
    for search in ["0", "1"] {
        let options = format!("-output-hypo-score -t -search-algorithm {search}");
        let ours = translate(&path, &options, input);
        assert_eq!(ours[..3], expected);
        assert!(ours[3].contains("anselmo |0-0|"), "nothing is left of an earlier line");
    }
    for (line, reason) in [
        ("the house .", "one @@@"),
        ("the @@@ the ||| la ||| 0.5", "1 scores, D0 has 2"),
        ("the @@@ the ||| la ||| 0.5 x", "entry 1 of the table: x is not a probability"),
    ] {
        let message = line_error(&path, "", line);
        assert!(message.contains(reason), "{line}: {message}");
    }
    fs::write(&path, ini.replace("[inputtype]\n7", "")).unwrap();
    let message = run_to_error(miriam().args(["translate", "-f"]).arg(&path));
    assert!(message.contains("D0") && message.contains("inputtype"), "{message}");
}

/// Returns the best translations of one run, and the text of the file that the option `stream`
/// writes.
fn run_with_stream(ini: &Path, options: &str, stream: &str, input: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream");
    let command = &mut miriam();
    let command = command.args(["translate", "-threads", "1", "-f"]).arg(ini);
    let command = command.args(options.split_ascii_whitespace());
    let (name, rest) = stream.split_once(' ').unwrap_or((stream, ""));
    let command = command.arg(name).arg(&path).args(rest.split_ascii_whitespace());
    let best = run_with_input(command, input.as_bytes()).stdout;
    (lossy_text(&best), fs::read_to_string(path).unwrap())
}

/// All outputs print entities and factors in the same way.
#[test]
fn every_output_prints_words_alike() {
    let system = FactoredSystem::new();
    let ini = system.text_table();
    let options = "-xi exclusive -placeholder-factor 2 -output-factors 1,0 \
                   -output-factor-delimiter /";
    let input = "@num@|CD|7 ist|V klein|ADJ\n";
    let (best, list) = run_with_stream(&ini, options, "-n-best-list 10", input);
    assert_eq!(best, "7 VB/is JJ/small \n");
    assert!(list.starts_with("0 ||| 7 VB/is JJ/small ||| "), "{list}");
    assert!(list.lines().count() > 2 && list.lines().all(|line| line.contains("7 ")), "{list}");
    assert!(!list.contains("@num@") && !list.contains("is|VB"), "{list}");
    let (_, details) = run_with_stream(&ini, options, "-T", input);
    assert!(details.contains("TRANSLATED AS: 7\n") && details.contains("AS: VB/is\n"), "{details}");
    let (_, graph) = run_with_stream(&ini, options, "-output-search-graph", input);
    assert!(graph.contains("\"text\":\"7\"") && graph.contains("\"text\":\"VB/is\""), "{graph}");
    assert!(!graph.contains("@num@"), "{graph}");
    // Only the surface is printed: entries that differ in tags are the same.
    let (_, distinct) = run_with_stream(&ini, "", "-n-best-list 50 distinct", SENTENCES);
    let columns = distinct.lines().map(|line| line.split(" ||| ").take(2).collect::<Vec<_>>());
    let entries: Vec<_> = columns.collect();
    assert_eq!(entries.iter().collect::<HashSet<_>>().len(), entries.len());
}

/// A malformed line has empty outputs, without remains of the line before.
#[test]
fn a_malformed_line_has_empty_outputs() {
    let system = FactoredSystem::new();
    let ini = system.text_table();
    let input = "das|ART haus|NN\ndas|ART haus\nist|V foo|XY\n";
    let (best, list) = run_with_stream(&ini, "", "-n-best-list 3", input);
    assert_eq!(best, "the house \n\nis foo \n");
    assert!(list.contains("0 ||| the house") && list.contains("2 ||| is foo"), "{list}");
    assert!(list.contains("\n1 ||| ||| "), "{list}");
    let (_, unknown) = run_with_stream(&ini, "", "-output-unknowns", input);
    assert_eq!(unknown, "\n\nfoo|XY \n");
    let (_, errors) = run_with_stream(&ini, "", "-errors", input);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("\"line\":2") && errors.contains("malformed"), "{errors}");
}

/// A placeholder that one entry of a list cannot print does not affect the others.
#[test]
fn entries_that_cannot_be_printed_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let table = "@num@ ||| @num@ ||| 1 ||| 0-0\n@num@ ||| @num@ @num@ ||| 0.5 ||| 0-0 0-1\n";
    fs::write(folder.path().join("pt"), table).unwrap();
    let ini = folder.path().join("ini");
    let text = "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\n\
                PhraseDictionaryMemory path=pt num-features=1\n[weight]\nPhraseDictionaryMemory0= 1\n";
    fs::write(&ini, text).unwrap();
    let options = "-xi exclusive -placeholder-factor 1 -errors /dev/stdout";
    let line = "<ne entity='5'>@num@</ne>\n";
    let (best, list) = run_with_stream(&ini, options, "-n-best-list 5", line);
    assert!(best.contains("5 \n") && best.contains("left out of the n-best list"), "{best}");
    assert_eq!(list.lines().count(), 1, "{list}");
    let (_, graph) = run_with_stream(&ini, options, "-output-search-graph", line);
    assert!(graph.contains("\"text\":\"@num@ @num@\""), "{graph}");
}

/// A word may be translated by markup, by the tables, or be copied.
#[test]
fn forced_and_copied_side_by_side() {
    let line = "red <n translation='hogar' prob='0.5'>house</n> .\n";
    let ini = project_root().join("examples/toy/moses.ini");
    let words = |options: &str| {
        let (_, list) = run_with_stream(&ini, options, "-n-best-list 2000", line);
        ["hogar", "casa", "house"].map(|word| list.contains(word))
    };
    let copying = "-always-create-direct-transopt -b 0";
    assert_eq!(words(&format!("-xi inclusive {copying}")), [true, true, true]);
    assert_eq!(words(&format!("-xi exclusive {copying}")), [true, false, false]);
    assert_eq!(words("-xi inclusive"), [true, true, false]);
    let (_, unknown) = run_with_stream(&ini, "-xi inclusive", "-output-unknowns", line);
    assert_eq!(unknown, "\n", "a forced translation does not translate an unknown word");
}

/// An alignment from markup or a sentence table is printed and sorted like others.
#[test]
fn alignments_of_markup_and_sentence_tables() {
    let options = "-xi exclusive -print-alignment-info";
    let line = "<n translation='la casa'>the red house</n> <n translation='es'>is</n> big .";
    assert_eq!(run_toy(options, line), ["la casa es grande . ||| 3-2 4-3 5-4 "]);
}
