//! `miriam pt build --config` end to end: the binary system translates as the text one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

fn build(ini: &Path, folder: &Path) -> Command {
    let mut command = miriam();
    command.args(["pt", "build", "--config"]).arg(ini).arg("-o").arg(folder);
    command
}

fn translate(ini: &Path, input: &[u8]) -> String {
    let mut command = miriam();
    command.args(["translate", "-output-hypo-score", "-n-best-list", "-", "20", "-f"]).arg(ini);
    let lists = lossy_text(&run_with_input(&mut command, input).stdout);
    // As in Moses2, binary tables store a logarithm that is 0 as 1e-10.
    let values = lists.split(' ').map(|value| if value.ends_with("e-10") { "0" } else { value });
    values.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_toy_system_is_built_with_its_reordering() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary");
    run(&mut build(&toy.join("moses.ini"), &binary));
    let names = fs::read_dir(&binary).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["moses.ini", "phrase-table.miriam"]);
    let (old, new) = (fs::read_to_string(toy.join("moses.ini")).unwrap(), read_ini(&binary));
    let changed = old.lines().zip(new.lines()).filter(|(old, new)| old != new);
    let changed: Vec<_> = changed.map(|(_, new)| new).collect();
    assert_eq!(old.lines().count(), new.lines().count());
    assert_eq!(changed.len(), 3, "the tables and the path of the language model: {changed:?}");
    assert_eq!(
        changed[0],
        "ProbingPT name=TranslationModel0 num-features=4 path=${INI}/phrase-table.miriam \
         input-factor=0 output-factor=0 table-limit=20"
    );
    assert!(changed[1].ends_with("property-index=0"), "{changed:?}");
    assert!(changed[2].starts_with("KENLM name=LM0 factor=0 order=3 path=/"), "{changed:?}");
    // The binary system can be moved, and the path of its folder is enough to name it.
    let moved = folder.path().join("moved");
    fs::rename(&binary, &moved).unwrap();
    let input = fs::read(toy.join("input.txt")).unwrap();
    assert_eq!(translate(&moved, &input), translate(&toy.join("moses.ini"), &input));
}

fn read_ini(folder: &Path) -> String {
    fs::read_to_string(folder.join("moses.ini")).unwrap()
}

/// Features without names, tables whose files have the same name, an ini of the old format, and
/// steps for raw text.
#[test]
fn names_weights_and_preparation_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("pt"), "das ||| the ||| 0.5\nhaus ||| house ||| 0.5\n").unwrap();
    fs::write(folder.join("other/pt"), "klein ||| small ||| 0.5\n").unwrap();
    fs::write(folder.join("ro"), "haus ||| house ||| 0.5 0.25 0.25\n").unwrap();
    let new = "[mapping]\n0 T 0\n1 T 1\n[feature]\nUnknownWordPenalty\nDistortion\n\
               PhraseDictionaryMemory num-features=1 path=pt # the large one\n\
               PhraseDictionaryMemory num-features=1 path=other/pt\n\
               LexicalReordering num-features=3 type=msd-backward-fe path=ro\n\
               [weight]\nDistortion0= 0.3\nPhraseDictionaryMemory0= 0.5\n\
               PhraseDictionaryMemory1= 0.25\nLexicalReordering0= 0.1 0.2 0.3\n";
    let old = "[mapping]\n0 T 0\n1 T 1\n[stack]\n50\n[ttable-file]\n0 0 0 1 pt\n0 0 0 1 other/pt\n\
               [weight-t]\n0.5\n0.25\n[distortion-file]\n0-0 msd-backward-fe 3 ro\n\
               [weight-d]\n0.3 0.1 0.2 0.3\n[weight-w]\n0\n";
    fs::write(
        folder.join("preparation"),
        "tokenize de\ntruecase cases\nnonbreaking-prefixes list\n\
         target-nonbreaking-prefixes other/list\ndetokenize en\n",
    )
    .unwrap();
    fs::write(folder.join("cases"), "haus (3/3)\n").unwrap();
    fs::write(folder.join("list"), "Xyz\n").unwrap();
    fs::write(folder.join("other/list"), "Zork\n").unwrap();
    for (name, text) in [("new.ini", new), ("old.ini", old)] {
        fs::write(folder.join(name), text).unwrap();
        let output = folder.join(format!("{name}.binary"));
        run(&mut build(&folder.join(name), &output));
        for file in ["pt.miriam", "pt-2.miriam", "preparation", "cases", "list", "target-list"] {
            assert!(output.join(file).is_file(), "{name}: {file}");
        }
        let input = b"das haus klein 7\nhaus\n";
        assert_eq!(translate(&output, input), translate(&folder.join(name), input), "{name}");
        let mut command = miriam();
        let raw = run_with_input(command.args(["translate", "-f"]).arg(&output), b"Xyz. Das");
        assert_eq!(lossy_text(&raw.stdout), "Xyz. Das\n");
        assert_eq!(fs::read(output.join("target-list")).unwrap(), b"Zork\n");
        let ini = read_ini(&output);
        assert!(ini.contains("PhraseDictionaryMemory1= 0.25"), "{ini}");
        assert!(!ini.contains("[ttable-file]"), "{ini}");
        assert!(name == "new.ini" || ini.contains("[stack]\n50\n"), "{ini}");
    }
    assert!(read_ini(&folder.join("new.ini.binary")).contains("# the large one"));
}

/// Features may also be lines of `[feature-add]`, and their paths lines of `[feature-overwrite]`.
#[test]
fn added_and_changed_features_name_the_new_tables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("pt"), "das ||| the ||| 0.5\nhaus ||| house ||| 0.5\n").unwrap();
    fs::write(folder.join("added"), "klein ||| small ||| 0.5\n").unwrap();
    fs::write(folder.join("ro"), "haus ||| house ||| 0.5 0.25 0.25\n").unwrap();
    let text = "[feature-add]\nPhraseDictionaryMemory name=Added num-features=1 path=added\n\
                [mapping]\n0 T 0\n1 T 1\n[feature]\nUnknownWordPenalty\nDistortion\n\
                PhraseDictionaryMemory name=T num-features=1 path=none\n\
                LexicalReordering name=R num-features=3 type=msd-backward-fe\n\
                [feature-overwrite]\nT path=pt\nR path=ro\nAdded table-limit=5\n\
                [weight]\nDistortion0= 0.3\nT= 0.5\nAdded= 0.25\nR= 0.1 0.2 0.3\n";
    let ini = folder.join("moses.ini");
    fs::write(&ini, text).unwrap();
    let binary = folder.join("binary");
    run(&mut build(&ini, &binary));
    let new = read_ini(&binary);
    for line in [
        "ProbingPT name=Added num-features=1 path=${INI}/added.miriam\n",
        "ProbingPT name=T num-features=1 path=${INI}/pt.miriam\n",
        "LexicalReordering name=R num-features=3 type=msd-backward-fe property-index=0\n",
        "[feature-overwrite]\nAdded table-limit=5\n",
    ] {
        assert!(new.contains(line), "{line}: {new}");
    }
    let input = b"das klein haus\nklein haus das\n";
    fs::remove_file(folder.join("pt")).unwrap();
    let found = translate(&binary, input);
    fs::write(folder.join("pt"), "das ||| the ||| 0.5\nhaus ||| house ||| 0.5\n").unwrap();
    assert_eq!(found, translate(&ini, input));
}

#[test]
fn tables_that_cannot_be_built_are_reported() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["moses.ini", "phrase-table", "reordering-table", "lm.arpa"] {
        fs::copy(toy.join(name), folder.join(name)).unwrap();
    }
    let message = run_to_error(&mut build(&folder.join("moses.ini"), folder));
    assert!(message.contains("would replace this one"), "{message}");
    run(&mut build(folder, &folder.join("binary")));
    let message = run_to_error(&mut build(&folder.join("binary"), &folder.join("again")));
    assert!(message.contains("nothing to build"), "{message}");
    // Scores that records cannot hold stay in their own table.
    let ini = fs::read_to_string(folder.join("moses.ini")).unwrap();
    let second = "LexicalReordering name=Second num-features=6 type=wbe-msd-bidirectional-fe-allff \
                  path=reordering-table\n";
    let ini = ini.replace("Distortion\n", &format!("{second}Distortion\n"));
    let ini = ini.replace("[weight]\n", "[weight]\nSecond= 0.1 0.1 0.1 0.1 0.1 0.1\n");
    fs::write(folder.join("two.ini"), ini).unwrap();
    let output = build(&folder.join("two.ini"), &folder.join("two")).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success() && log.contains("Second: its table stays text"), "{log}");
    let input = fs::read(toy.join("input.txt")).unwrap();
    assert_eq!(translate(&folder.join("two"), &input), translate(&folder.join("two.ini"), &input));
}

/// Copies of known words, which are in no phrase table, keep their reordering scores.
#[test]
fn copied_words_keep_their_reordering_scores() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["phrase-table", "reordering-table", "lm.arpa"] {
        fs::copy(toy.join(name), folder.join(name)).unwrap();
    }
    let ini = fs::read_to_string(toy.join("moses.ini")).unwrap();
    let ini = ini.replace("UnknownWordPenalty0= 1", "UnknownWordPenalty0= 0");
    fs::write(folder.join("moses.ini"), format!("{ini}\n[always-create-direct-transopt]\ntrue\n"))
        .unwrap();
    run(&mut build(folder, &folder.join("binary")));
    let input = b"the ana .\nana and pedro .\nana\n";
    assert_eq!(translate(&folder.join("binary"), input), translate(folder, input));
}
