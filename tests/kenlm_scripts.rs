//! Command lines of public scripts that call KenLM's programs, run with the names that
//! `miriam install-aliases` makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_with_input};

/// Creates a folder to run scripts in: `bin` has the names of the programs, `corpus.txt` is the
/// toy's text, some of it repeated.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(miriam().arg("install-aliases").arg(folder.path().join("bin")));
    let text = fs::read_to_string(project_root().join("examples/toy/train.en")).unwrap();
    let repeated: Vec<&str> = text.lines().step_by(3).collect();
    let text = text.to_lowercase() + &repeated.join("\n").to_lowercase() + "\n";
    fs::write(folder.path().join("corpus.txt"), text).unwrap();
    folder
}

/// Runs `script`, which must succeed, in `folder` with the names in the path.
fn shell(folder: &Path, script: &str) -> String {
    let path =
        format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-ec", script])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", lossy_text(&output.stderr));
    lossy_text(&output.stdout)
}

/// Returns the output of `query` without ids, which depend on the kind of file.
fn scores(folder: &Path, model: &str) -> Vec<String> {
    let text = fs::read(folder.join("corpus.txt")).unwrap();
    let output = run_with_input(
        miriam().args(["lm", "query", "-v", "sentence"]).arg(folder.join(model)),
        &text,
    );
    lossy_text(&output.stdout).lines().map(str::to_owned).collect()
}

fn ngram_counts(folder: &Path, arpa: &str) -> Vec<u64> {
    let text = fs::read_to_string(folder.join(arpa)).unwrap();
    let counts = text.lines().filter(|line| line.starts_with("ngram "));
    counts.map(|line| line.split_once('=').unwrap().1.parse().unwrap()).collect()
}

/// data/lm/generate_lm.py of DeepSpeech and Coqui STT: two texts, compressed one after the other;
/// the vocabulary begins with an empty line and has no last line end.
#[test]
fn scorers_of_deepspeech_and_coqui() {
    let folder = workplace();
    let folder = folder.path();
    shell(folder, "mkdir out; gzip -c corpus.txt > a.gz; cat a.gz a.gz > out/lower.txt.gz");
    shell(
        folder,
        "bin/lmplz --order 5 --temp_prefix out --memory 85% --text out/lower.txt.gz --arpa \
         out/lm.arpa --prune 0 0 1 --discount_fallback",
    );
    let text = fs::read_to_string(folder.join("corpus.txt")).unwrap();
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(words.len() / 2);
    let filter = |name: &str| {
        let mut command = Command::new(folder.join("bin/filter"));
        command.args(["single", "model:out/lm.arpa", name]).current_dir(folder);
        run_with_input(&mut command, format!("\n{}", words.join("\n")).as_bytes());
    };
    filter("out/lm_filtered.arpa");
    let all = ngram_counts(folder, "out/lm.arpa");
    let kept = ngram_counts(folder, "out/lm_filtered.arpa");
    // Every word of the vocabulary is in the text; <unk>, <s> and </s> stay.
    assert_eq!(kept[0], words.len() as u64 + 3);
    assert!(kept.iter().zip(&all).all(|(kept, all)| kept < all), "{kept:?} {all:?}");
    shell(folder, "bin/build_binary -a 255 -q 8 -v trie out/lm_filtered.arpa out/lm.binary");
    run(miriam()
        .args(["lm", "build", "out/lm_filtered.arpa", "-o", "out/lm.trie", "--type", "trie"])
        .args(["--quantize", "8"])
        .current_dir(folder));
    assert_eq!(scores(folder, "out/lm.binary"), scores(folder, "out/lm.trie"));
    let binary = fs::read(folder.join("out/lm.binary")).unwrap();
    let tail = words.last().unwrap().as_bytes();
    assert!(!binary.windows(tail.len() + 1).any(|bytes| bytes == [tail, b"\0"].concat()));
}

/// Older instructions of DeepSpeech, where `-T` takes `-s` as its value.
#[test]
fn an_option_takes_what_follows_as_its_value() {
    let folder = workplace();
    let folder = folder.path();
    shell(
        folder,
        "lmplz --text corpus.txt --arpa words.arpa --o 3 --discount_fallback; \
         build_binary -T -s words.arpa lm.binary; build_binary words.arpa same.binary; \
         cmp lm.binary same.binary; build_binary trie -q 16 -b 7 words.arpa lm.trie",
    );
    assert_eq!(scores(folder, "lm.binary"), scores(folder, "words.arpa"));
    // -s is the value of -T here, so missing markers are an error.
    let arpa = "\\data\\\nngram 1=2\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-1\ta\n\n\\2-grams:\n\
                -0.5\ta a\n\n\\end\\\n";
    fs::write(folder.join("bare.arpa"), arpa).unwrap();
    let mut command = Command::new(folder.join("bin/build_binary"));
    let refused =
        command.args(["-T", "-s", "bare.arpa", "x"]).current_dir(folder).output().unwrap();
    assert!(!refused.status.success() && lossy_text(&refused.stderr).contains("build_binary: -s"));
    shell(folder, "build_binary -sT -s bare.arpa x; build_binary -sS1G -T/tmp/x bare.arpa x");
}

/// The LibriSpeech recipe of OpenSeq2Seq: `-a 256` means 0, as KenLM keeps eight bits of the
/// number.
#[test]
fn only_eight_bits_of_an_option_are_kept() {
    let folder = workplace();
    let folder = folder.path();
    shell(
        folder,
        "lmplz -o 4 --discount_fallback < corpus.txt > 4-gram-lower.arpa; \
         build_binary trie -q 8 -b 7 -a 256 4-gram-lower.arpa 4-gram.binary; \
         build_binary trie -q 8 -b 7 -a 0 4-gram-lower.arpa same.binary; \
         cmp 4-gram.binary same.binary",
    );
}

/// bicleaner's lm.py.
#[test]
fn fluency_models_of_bicleaner() {
    let folder = workplace();
    let folder = folder.path();
    shell(folder, "lmplz -o 7 --discount_fallback < corpus.txt > lm_file.arpa");
    shell(folder, "build_binary lm_file.arpa lm_file");
    assert_eq!(ngram_counts(folder, "lm_file.arpa").len(), 7);
    assert_eq!(scores(folder, "lm_file"), scores(folder, "lm_file.arpa"));
}

/// The Makefile of CCNet.
#[test]
fn models_of_ccnet() {
    let folder = workplace();
    let folder = folder.path();
    shell(
        folder,
        "./bin/lmplz -o 5 -S 8G -T /tmp --vocab_estimate 65536  --discount_fallback \
         < corpus.txt > en.arpa; ./bin/build_binary en.arpa en.arpa.bin",
    );
    assert_eq!(scores(folder, "en.arpa.bin"), scores(folder, "en.arpa"));
}

/// Models of pocolm, written by its format_arpa_lm.py: a space is before the backoff of `<s>`,
/// n-grams are sorted by their word ids as text, and n-grams that are not a history have no
/// backoff.
#[test]
fn models_of_pocolm_are_built_and_queried() {
    let folder = workplace();
    let folder = folder.path();
    let arpa = "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-99\t<s> -0.3\n-0.6\t</s>\n\
                -1.2\t<unk>\n-0.5\tla\t-0.2\n-0.7\tcasa\t-0.1\n\n\\2-grams:\n-0.2\t<s> la\n\
                -0.4\tcasa </s>\n-0.1\tla casa\n\n\\end\\\n";
    fs::write(folder.join("pocolm.arpa"), arpa).unwrap();
    shell(
        folder,
        "gzip -k pocolm.arpa; build_binary pocolm.arpa.gz pocolm.bin; \
         build_binary trie pocolm.arpa pocolm.trie",
    );
    for model in ["pocolm.arpa", "pocolm.bin", "pocolm.trie"] {
        let script = format!("printf 'la casa\\ncasa\\nxyz\\n' | query -v sentence {model} 2> log");
        let printed = shell(folder, &script);
        let totals = printed.lines().filter_map(|line| {
            let (total, unknown) = line.strip_prefix("Total: ")?.split_once(" OOV: ")?;
            let total: f64 = total.parse().ok()?;
            Some(((total * 1e4).round() / 1e4, unknown.to_owned()))
        });
        let totals: Vec<_> = totals.collect();
        // `la casa`: -0.2 -0.1 -0.4. `casa`: the backoff of <s>, -0.3, then -0.7 -0.4. `xyz`: -0.3
        // -1.2 -0.6.
        let expected = [(-0.7, "0"), (-1.4, "0"), (-2.1, "1")];
        assert_eq!(totals, expected.map(|(total, unknown)| (total, unknown.to_owned())), "{model}");
    }
}

/// Recipes of Kaldi and others estimate and pack in one pipe, and skip symbols of the text.
#[test]
fn models_through_a_pipe() {
    let folder = workplace();
    let folder = folder.path();
    shell(
        folder,
        "mkdir tmp; sed 's/$/ <unk>/' corpus.txt | \
         lmplz --skip_symbols -o 3 -S 80% -T ./tmp --prune 0 0 1 --discount_fallback > lm.arpa; \
         sed 's/$/ <unk>/' corpus.txt | \
         lmplz --skip_symbols -o 3 -S 80% -T ./tmp --prune 0 0 1 --discount_fallback | \
         build_binary trie /dev/stdin lm.bin; gzip -k lm.arpa; build_binary trie lm.arpa.gz gz.bin; \
         cmp lm.bin gz.bin",
    );
    let printed = shell(folder, "query -v summary lm.bin < corpus.txt");
    assert!(printed.starts_with("Perplexity including OOVs:\t"), "{printed}");
    assert_eq!(scores(folder, "lm.bin"), scores(folder, "lm.arpa"));
}

/// KenLM's `filter` writes to standard output as to a file, and to files whose names begin with a
/// folder.
#[test]
fn filters_write_where_they_are_told() {
    let folder = workplace();
    let folder = folder.path();
    shell(
        folder,
        "lmplz -o 2 --discount_fallback < corpus.txt > lm.arpa; head -n 3 corpus.txt > three; \
         filter union model:lm.arpa union.arpa < three; \
         filter union model:lm.arpa /dev/stdout < three | cmp - union.arpa; \
         cat lm.arpa | filter union vocab:three again.arpa; cmp again.arpa union.arpa; \
         odd=\"$(printf 'lm\\377')\"; mv lm.arpa \"$odd\"; \
         filter union \"model:$odd\" odd.arpa < three; cmp odd.arpa union.arpa; \
         mv \"$odd\" lm.arpa; \
         mkdir files; filter multiple threads:1 batch_size:5000 model:lm.arpa files/ < three; \
         ls files | tr '\\n' ' ' > names; build_binary union.arpa union.bin",
    );
    assert_eq!(fs::read_to_string(folder.join("names")).unwrap(), "0 1 2 ");
    let mut command = Command::new(folder.join("bin/filter"));
    let output =
        command.args(["copy", "model:union.bin", "x"]).current_dir(folder).output().unwrap();
    let message = lossy_text(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("miriam lm dump"), "{message}");
    let mut command = Command::new(folder.join("bin/filter"));
    let output =
        command.args(["single", "counts", "model:lm.arpa", "x"]).current_dir(folder).output();
    let message = lossy_text(&output.unwrap().stderr);
    assert!(message.contains("counts: unknown mode or option"), "{message}");
}
