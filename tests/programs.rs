//! Other programs under their own names (`miriam install-aliases`): what they print and write
//! equals the output of KenLM's programs, fast_align, atools and extract_lex.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, read_decompressed, run, run_with_input,
    shared_data,
};

/// Makes links to the binary under the names of other programs. Returns the folder of the links.
fn aliases(folder: &Path) -> PathBuf {
    let names = folder.join("names");
    let printed = lossy_text(&run(miriam().arg("install-aliases").arg(&names)));
    let made: Vec<PathBuf> = printed.lines().map(PathBuf::from).collect();
    assert!(made.is_sorted() && made.iter().all(|link| link.parent() == Some(&names)));
    for name in [
        "atools",
        "build_binary",
        "extract_lex",
        "fast_align",
        "filter",
        "lmplz",
        "query",
        "moses2",
    ] {
        assert!(made.contains(&names.join(name)), "{name}");
    }
    names
}

fn toy() -> PathBuf {
    project_root().join("tests/data/toy.arpa")
}

#[test]
fn lmplz_writes_what_kenlms_wrote() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let lmplz = aliases(folder.path()).join("lmplz");
    let text = cases.join("text.en");
    let limit = cases.join("vocab.limit");
    let limit = ["-o", "3", "--discount_fallback", "--limit_vocab_file", limit.to_str().unwrap()];
    let cases_of_options: [(&str, &[&str]); 8] = [
        // Names of options may be shortened, and switches take all values that boost accepts.
        ("o3", &["--o", "3", "--mem", "1G", "--temp", "/tmp/", "--disc", "--skip"]),
        ("o3", &["--ord=3", "--discount_f", "--interpolate_unigrams=yes"]),
        ("o3-nounigram", &["-o", "3", "--interp=no", "--disc"]),
        ("o5", &["-o", "5", "-S", "80%", "-T", "/tmp/prefix", "--discount_fallback"]),
        ("o4-prune", &["--order=4", "--prune", "0", "1", "1", "2", "--discount_fallback"]),
        ("o3-pad", &["-o3", "--vocab_pad", "20000", "--discount_fallback", "--block_count", "3"]),
        ("o3-nounigram", &["-o", "3", "--interpolate_unigrams", "0", "--discount_fallback"]),
        ("o3-limit", &limit),
    ];
    for (name, options) in cases_of_options {
        let expected = read_decompressed(&cases.join(format!("{name}.arpa.gz")));
        let text = std::fs::read(&text).unwrap();
        let found = run_with_input(Command::new(&lmplz).args(options), &text).stdout;
        assert!(found == expected, "{name}");
    }
    let arpa = folder.path().join("written.arpa");
    run(Command::new(&lmplz).args(limit).arg("--text").arg(&text).arg("--arpa").arg(&arpa));
    let expected = read_decompressed(&cases.join("o3-limit.arpa.gz"));
    assert!(std::fs::read(&arpa).unwrap() == expected);
}

#[test]
fn lmplz_takes_the_option_that_its_message_advises() {
    let folder = tempfile::tempdir().unwrap();
    let lmplz = aliases(folder.path()).join("lmplz");
    let estimate = |options: &[&str]| {
        let mut command = Command::new(&lmplz);
        command.args(["-o", "2", "-S", "100M", "--discount-fallback"]);
        output_with_input(command.args(options), b"a <s> b\nc a b\n")
    };
    let refused = estimate(&[]);
    assert!(!refused.status.success());
    let refused = lossy_text(&refused.stderr);
    assert!(refused.contains("pass --skip-symbols"), "{refused}");
    let advised = estimate(&["--skip-symbols"]);
    assert!(advised.status.success(), "{}", lossy_text(&advised.stderr));
    assert_eq!(lossy_text(&advised.stdout), lossy_text(&estimate(&["--skip_symbols"]).stdout));
}

/// The model follows the three lines that KenLM's lmplz printed for this text of five words.
#[test]
fn the_verbose_header_is_lmplzs() {
    let folder = tempfile::tempdir().unwrap();
    let lmplz = aliases(folder.path()).join("lmplz");
    let path = std::fs::canonicalize(folder.path()).unwrap().join("text");
    std::fs::write(&path, "a b c\na b\n").unwrap();
    let options = ["-o", "2", "--discount_fallback", "-S", "100M"];
    let plain = run(Command::new(&lmplz).args(options).arg("--text").arg(&path));
    let head = |name: &str| {
        format!("# Input file: {name}\n# Token count: 5\n# Smoothing: Modified Kneser-Ney\n")
    };
    let expected = [head(path.to_str().unwrap()).as_bytes(), &plain].concat();
    let mut command = Command::new(&lmplz);
    command.args(options).arg("--verbose_header");
    let from_file = run(command.stdin(std::fs::File::open(&path).unwrap()));
    assert!(from_file == expected, "{}", lossy_text(&from_file));
    let named = run(command.arg("--text").arg(&path).stdin(Stdio::null()));
    assert!(named == expected, "{}", lossy_text(&named));
    let mut command = Command::new(&lmplz);
    let piped = run_with_input(command.args(options).arg("--verbose_header"), b"a b c\na b\n");
    assert!(piped.stdout == [head("stdin").as_bytes(), &plain].concat());
    // An ARPA file with this header is read like others.
    let arpa = folder.path().join("arpa");
    std::fs::write(&arpa, &expected).unwrap();
    run(miriam().args(["lm", "query", "-v", "0", "-i"]).arg(&path).arg(&arpa));
}

#[test]
fn lmplz_renumbers_collapses_and_writes_intermediate_files() {
    let folder = tempfile::tempdir().unwrap();
    let lmplz = aliases(folder.path()).join("lmplz");
    let text = folder.path().join("text.1");
    std::fs::write(&text, "a b c\na b\nc a b\n").unwrap();
    let estimate = |options: &[&str]| {
        let mut command = Command::new(&lmplz);
        command.args(["-o", "2", "--discount_fallback", "--text"]).arg(&text).args(options);
        command.current_dir(folder.path()).output().unwrap()
    };
    let lines = |output: std::process::Output| -> Vec<String> {
        assert!(output.status.success(), "{}", lossy_text(&output.stderr));
        lossy_text(&output.stdout).lines().map(str::to_owned).collect()
    };
    let (plain, renumbered) = (lines(estimate(&[])), lines(estimate(&["--renumber"])));
    assert_ne!(plain, renumbered);
    let sorted = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&plain), sorted(&renumbered));
    let collapsed = lines(estimate(&["--collapse_values"]));
    assert!(collapsed.len() == plain.len() && collapsed != plain);
    assert!(
        collapsed.iter().filter(|line| line.split('\t').count() == 3).all(|l| l.ends_with("\t0"))
    );
    // Without --arpa there is no ARPA file.
    assert_eq!(lines(estimate(&["--intermediate", "model"])), Vec::<String>::new());
    for file in ["kenlm_intermediate", "vocab", "1", "2"] {
        assert!(folder.path().join(format!("model.{file}")).is_file(), "{file}");
    }
    lines(estimate(&["--intermediate", "model", "--arpa", "model.arpa"]));
    let arpa = std::fs::read_to_string(folder.path().join("model.arpa")).unwrap();
    assert_eq!(arpa.lines().collect::<Vec<_>>(), renumbered);
    // A text that would be overwritten is rejected.
    let refused = estimate(&["--intermediate", "text"]);
    assert!(!refused.status.success() && lossy_text(&refused.stderr).contains("also the output"));
    assert!(text.is_file() && !folder.path().join("text.vocab").exists());
    let refused = estimate(&["--intermediate", "model", "--arpa", "./model.vocab"]);
    let message = lossy_text(&refused.stderr);
    assert!(!refused.status.success() && message.contains("one of the files"), "{message}");
}

#[test]
fn build_binary_writes_what_kenlms_wrote() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let build = aliases(folder.path()).join("build_binary");
    let arpa = cases.join("o5.arpa.gz");
    let written = folder.path().join("written");
    let cases_of_options: [(&str, &[&str]); 6] = [
        ("probing", &[]),
        ("probing", &["-w", "after", "-S", "1G", "-T", "/tmp/", "probing"]),
        ("trie", &["trie"]),
        ("qtrie", &["-q", "6", "-b", "5", "trie"]),
        ("atrie", &["-a", "8", "trie"]),
        ("qatrie", &["-q", "8", "-a", "22", "trie"]),
    ];
    for (kind, options) in cases_of_options {
        let expected = read_decompressed(&cases.join(format!("o5.{kind}.zst")));
        let output = Command::new(&build).args(options).arg(&arpa).arg(&written).output().unwrap();
        let stderr = lossy_text(&output.stderr);
        assert!(output.status.success() && stderr.ends_with("SUCCESS\n"), "{stderr}");
        assert!(std::fs::read(&written).unwrap() == expected);
        std::fs::remove_file(&written).unwrap();
    }
}

/// The command line of DeepSpeech's and Coqui's scripts is `-a 255 -q 8 -v trie`. KenLM takes 255
/// bits as the maximum, and `-v` leaves out the words, which would follow the rest of the file.
#[test]
fn build_binary_takes_the_options_of_public_scripts() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    let arpa = cases.join("o5.arpa.gz");
    let build = |options: &[&str]| {
        let written = folder.path().join("written");
        run(Command::new(names.join("build_binary")).args(options).arg(&arpa).arg(&written));
        std::fs::read(&written).unwrap()
    };
    let text = std::fs::read(cases.join("heldout.en")).unwrap();
    let query = |file: &[u8]| {
        let model = folder.path().join("queried");
        std::fs::write(&model, file).unwrap();
        run_with_input(Command::new(names.join("query")).arg(&model), &text).stdout
    };
    let most = build(&["-q", "8", "-a", "64", "trie"]);
    let all = build(&["-q", "8", "-a", "255", "trie"]);
    let changed: Vec<(u8, u8)> =
        most.iter().zip(&all).filter(|(a, b)| a != b).map(|(a, b)| (*a, *b)).collect();
    assert_eq!(most.len(), all.len());
    // The limit is stored in the region of each order except the first and the last.
    assert_eq!(changed, [(64, 255); 3]);
    assert!(query(&most) == query(&all));
    for options in [&["-a", "255", "-q", "8", "trie"][..], &["trie"], &["probing"]] {
        let whole = build(options);
        let bare = build(&[&["-v"], options].concat());
        assert_eq!((whole[100], bare[100]), (1, 0), "{options:?}");
        assert!(bare.len() < whole.len() && bare[101..] == whole[101..bare.len()], "{options:?}");
        assert!(whole[bare.len()..].starts_with(b"<unk>\0"), "{options:?}");
        assert!(query(&whole) == query(&bare), "{options:?}");
    }
}

#[test]
fn query_prints_what_kenlms_printed() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().unwrap();
    let query = aliases(folder.path()).join("query");
    let model = folder.path().join("model");
    std::fs::write(&model, read_decompressed(&cases.join("o5.probing.zst"))).unwrap();
    let text = std::fs::read(cases.join("heldout.en")).unwrap();
    let expected = read_decompressed(&cases.join("o5.probing.query.gz"));
    for options in [&[][..], &["-b"], &["-v", "2"], &["-l", "lazy"]] {
        let found = run_with_input(Command::new(&query).args(options).arg(&model), &text).stdout;
        assert!(found == expected, "{options:?}");
    }
    // Sums computed by hand: `a b` without markers is -1.5 and -0.6. For a last line without a line
    // end, KenLM prints no total.
    let found =
        run_with_input(Command::new(&query).args(["-n", "-v", "sentence"]).arg(toy()), b"a b\na b");
    assert_eq!(lossy_text(&found.stdout), "Total: -2.1 OOV: 0\n");
}

/// The expected output is what KenLM's build_binary printed for the same files.
#[test]
fn build_binary_estimates_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    let sizes = |arguments: &[&str]| {
        let output = Command::new(names.join("build_binary")).args(arguments).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
        lossy_text(&output.stderr)
    };
    assert_eq!(
        sizes(&[toy().to_str().unwrap()]),
        "Memory estimate for binary LM:\ntype       B\nprobing  260 assuming -p 1.5\n\
         probing  308 assuming -r models -p 1.5\ntrie     227 without quantization\n\
         trie    3272 assuming -q 8 -b 8 quantization \n\
         trie     250 assuming -a 22 array pointer compression\n\
         trie    3295 assuming -a 22 -q 8 -b 8 array pointer compression and quantization\n"
    );
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let arpa = cases.join("o3.arpa.gz");
    assert_eq!(
        sizes(&["-q", "4", "-b", "5", "-a", "3", "-p", "2", arpa.to_str().unwrap()]),
        "Memory estimate for binary LM:\ntype     kB\nprobing 845 assuming -p 2\n\
         probing 944 assuming -r models -p 2\ntrie    282 without quantization\n\
         trie    152 assuming -q 4 -b 5 quantization \n\
         trie    278 assuming -a 3 array pointer compression\n\
         trie    148 assuming -a 3 -q 4 -b 5 array pointer compression and quantization\n"
    );
}

/// A code of one bit cannot represent a backoff. KenLM's `query` of KenLM's file printed these
/// lines.
#[test]
fn quantised_backoffs_of_one_bit_are_those_of_kenlm() {
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    let built = folder.path().join("built");
    let mut build = Command::new(names.join("build_binary"));
    let output =
        build.args(["-q", "8", "-b", "1", "trie"]).arg(toy()).arg(&built).output().unwrap();
    assert!(lossy_text(&output.stderr).contains("one bit holds no backoffs"));
    let text = b"a b a\nb b b\na zz b a\n";
    let found = run_with_input(Command::new(names.join("query")).arg(&built), text);
    assert_eq!(
        lossy_text(&found.stdout),
        "a=2 2 -0.5\tb=4 2 -0.6\ta=2 2 -0.9\t</s>=3 1 -1.4000001\tTotal: -3.4 OOV: 0\n\
         b=4 1 -2\tb=4 1 -1.8000001\tb=4 1 -1.8000001\t</s>=3 2 -0.7\tTotal: -6.3 OOV: 0\n\
         a=2 2 -0.5\tzz=0 1 -1.2\tb=4 1 -1.7\ta=2 2 -0.9\t</s>=3 1 -1.4000001\t\
         Total: -5.7000003 OOV: 1\n\
         Perplexity including OOVs:\t15.297322711296886\n\
         Perplexity excluding OOVs:\t15.25223110046864\nOOVs:\t1\nTokens:\t13\n"
    );
    let ours = folder.path().join("ours");
    run(miriam()
        .args(["lm", "build", "--type", "trie", "--quantize", "8,1", "-o"])
        .arg(&ours)
        .arg(toy()));
    let totals = run_with_input(miriam().args(["lm", "query", "-v", "sentence"]).arg(&ours), text);
    let expected = "Total: -3.4 OOV: 0\nTotal: -6.3 OOV: 0\nTotal: -5.7000003 OOV: 1\n";
    assert_eq!(lossy_text(&totals.stdout), expected);
}

/// A rest cost is an additional number of each word and of each n-gram below the highest order: its
/// log10 p in the model of its order.
#[test]
fn rest_costs_come_from_models_of_lower_orders() {
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    let unigrams = "\\data\\\nngram 1=5\n\n\\1-grams:\n-0.9\t<unk>\n-98\t<s>\n-1.1\t</s>\n\
                    -1.4\ta\n-1.6\tb\n\n\\end\\\n";
    let bigrams = "\\data\\\nngram 1=5\nngram 2=1\n\n\\1-grams:\n-0.95\t<unk>\n-97\t<s>\t-0.25\n\
                   -1.15\t</s>\n-1.5\ta\t-0.125\n-1.75\tb\t-0.375\n\n\\2-grams:\n-0.5\ta b\n\n\
                   \\end\\\n";
    std::fs::write(folder.path().join("1.arpa"), unigrams).unwrap();
    std::fs::write(folder.path().join("2.arpa"), bigrams).unwrap();
    let build = |arguments: &[&str]| {
        let mut command = Command::new(names.join("build_binary"));
        run(command.args(arguments).arg(toy()).arg("built").current_dir(folder.path()));
        std::fs::read(folder.path().join("built")).unwrap()
    };
    let (plain, rest) = (build(&[]), build(&["-r", "1.arpa 2.arpa"]));
    assert_eq!((plain[96], rest[96]), (0, 1));
    // The header, and the slots of five words.
    let words = 136 + 8 + 12 * 7;
    assert_eq!(plain[97..words], rest[97..words]);
    let entries = |file: &[u8], from: usize, count: usize, size: usize| -> Vec<Vec<u8>> {
        file[from..].chunks(size).take(count).map(<[u8]>::to_vec).collect()
    };
    let cost = |entry: &[u8]| f32::from_le_bytes(*entry.last_chunk().unwrap());
    let unigrams = entries(&rest, words, 6, 12);
    let costs: Vec<f32> = unigrams.iter().map(|entry| cost(entry)).collect();
    assert_eq!(costs, [-0.9, -98.0, -1.1, -1.4, -1.6, 0.0]);
    let bare: Vec<Vec<u8>> = unigrams.iter().map(|entry| entry[..8].to_vec()).collect();
    assert_eq!(bare, entries(&plain, words, 6, 8));
    // Six slots for four bigrams: <s> a backs off, a b is listed, b </s> and b a back off.
    let bigrams = entries(&rest, words + 6 * 12, 6, 20);
    let bare: Vec<Vec<u8>> = bigrams.iter().map(|entry| entry[..16].to_vec()).collect();
    assert_eq!(bare, entries(&plain, words + 6 * 8, 6, 16));
    let mut costs: Vec<f32> = bigrams.iter().map(|entry| cost(entry)).collect();
    costs.sort_by(f32::total_cmp);
    assert_eq!(costs, [-1.875, -1.75, -1.525, -0.5, 0.0, 0.0]);
    let mut build = miriam();
    build.args(["lm", "build", "--type", "kenlm-probing", "-o", "ours"]).arg(toy());
    run(build.args(["--rest", "1.arpa", "2.arpa"]).current_dir(folder.path()));
    assert!(std::fs::read(folder.path().join("ours")).unwrap() == rest);
}

#[test]
fn options_that_are_not_available_are_rejected_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    let toy = toy();
    let toy = toy.to_str().unwrap();
    // The suffixes of the 4-gram need more entries for bigrams than there are bigrams.
    let suffixless = "\\data\\\nngram 1=4\nngram 2=1\nngram 3=1\nngram 4=1\n\n\\1-grams:\n-1\t<s>\n\
                      -1\t</s>\n-1\ta\n-1\tb\n\n\\2-grams:\n-1\ta a\n\n\\3-grams:\n-1\ta a b\n\n\
                      \\4-grams:\n-1\ta a b b\n\n\\end\\\n";
    std::fs::write(folder.path().join("suffixless.arpa"), suffixless).unwrap();
    let refused: [(&str, &[&str], &str); 16] = [
        ("lmplz", &["-o", "25"], "the order is 25"),
        ("lmplz", &[], "Usage: lmplz"),
        ("lmplz", &["-o", "2", "--minimum_block", "8Q"], "\"8Q\" is not a size"),
        ("lmplz", &["-o", "2", "--sort_block", "x"], "\"x\" is not a size"),
        ("lmplz", &["-o", "2", "--block_count", "0"], "0 is not in"),
        ("lmplz", &["-o", "2", "--vocab_estimate", "1M"], "invalid value '1M'"),
        ("build_binary", &["-r", "1", "trie", toy, "out"], "-r is for probing files"),
        ("build_binary", &["-r", toy, toy, "out"], "takes 2, of orders 1 to 2"),
        ("build_binary", &["-q", "8", toy, "out"], "write trie before the ARPA file"),
        ("build_binary", &["-q", "26", "trie", toy, "out"], "expected 1 to 25 bits"),
        ("build_binary", &["-p", "2", "trie", toy, "out"], "-p is for probing files"),
        ("build_binary", &["try", toy, "out"], "expected probing or trie"),
        ("build_binary", &["missing.arpa", "out"], "missing.arpa"),
        ("build_binary", &["suffixless.arpa", "out"], "(build_binary: -p)"),
        ("build_binary", &["-q", "8", "trie", toy], "name the file to write after it"),
        ("query", &["-v", "all", toy], "invalid value 'all'"),
    ];
    for (name, arguments, message) in refused {
        let output = Command::new(names.join(name))
            .args(arguments)
            .stdin(Stdio::null())
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stderr = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name} {arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{name} {arguments:?}: {stderr}");
        assert_eq!(stderr.contains("ERROR"), name == "build_binary", "{stderr}");
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn names_are_made_again_and_other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let names = aliases(folder.path());
    assert_eq!(aliases(folder.path()), names);
    std::fs::remove_file(names.join("query")).unwrap();
    std::fs::write(names.join("query"), "another program").unwrap();
    let output = miriam().arg("install-aliases").arg(&names).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        lossy_text(&output.stderr).contains("query: the file exists and does not start miriam")
    );
    assert_eq!(std::fs::read(names.join("query")).unwrap(), b"another program");
}
