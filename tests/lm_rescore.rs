//! `miriam lm rescore`: the scores are those of `miriam lm perplexity --per-line`.

use std::fs;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
};

#[test]
fn added_features_are_the_scores_of_lm_perplexity() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().unwrap();
    let [list, texts, scored] =
        ["list.gz", "texts", "scored.zst"].map(|name| folder.path().join(name));
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(toy.join("moses.ini"));
    command.arg("-i").arg(toy.join("input.txt")).arg("-n-best-list").arg(&list);
    run(command.args(["5", "distinct"]));
    let before = lossy_text(&read_decompressed(&list));
    let lines: String =
        before.lines().map(|line| format!("{}\n", line.split(" ||| ").nth(1).unwrap())).collect();
    fs::write(&texts, lines).unwrap();
    let model = toy.join("lm.arpa");
    let per_line =
        run(miriam().args(["lm", "perplexity", "--per-line"]).arg(&model).arg("-i").arg(&texts));
    let mut command = miriam();
    command.args(["lm", "rescore"]).arg(&model).arg(&model).args(["--features", "One,Two"]);
    run(command.arg("--n-best").arg(&list).arg("-o").arg(&scored));
    let after = lossy_text(&read_decompressed(&scored));
    let expected = lossy_text(&per_line);
    assert_eq!(before.lines().count(), after.lines().count());
    assert_eq!(before.lines().count(), expected.lines().count());
    for ((old, new), score) in before.lines().zip(after.lines()).zip(expected.lines()) {
        let log10: f64 = score.split('\t').next().unwrap().parse().unwrap();
        let (entry, total) = old.rsplit_once(" ||| ").unwrap();
        let added =
            new.strip_prefix(entry).unwrap().strip_suffix(&format!(" ||| {total}")).unwrap();
        let words: Vec<&str> = added.split(' ').collect();
        let &["", "One=", first, "Two=", second] = &words[..] else { panic!("{new}") };
        assert_eq!(first, second);
        let difference = first.parse::<f64>().unwrap() - log10 * std::f64::consts::LN_10;
        assert!(difference.abs() < 1e-3, "{new} {score}");
    }
}

#[test]
fn taken_names_and_missing_names_of_features_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    fs::write(&list, "0 ||| a ||| LM0= -1 ||| 0\n1 ||| b ||| Ngram0= -1 ||| 0\n").unwrap();
    let mut command = miriam();
    command.args(["lm", "rescore"]).arg(project_root().join("examples/toy/lm.arpa"));
    let error = run_to_error(command.arg("--n-best").arg(&list));
    let reason =
        "line 2, field 3: the entry already has a feature Ngram0; give other names with --features";
    assert!(error.contains(reason), "{error}");
    let error = run_to_usage_error(command.args(["--features", "A,B"]));
    assert!(error.contains("expected a name for each model, 1 in all, found 2"), "{error}");
}
