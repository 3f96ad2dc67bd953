//! Input without line ends, such as `/dev/zero`: an error that names the line and the option, with
//! a bounded amount of memory.

use std::fs::File;
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error};

/// Commands that read text from their standard input.
const READERS: &[&str] = &[
    "tokenize -l en",
    "detokenize -l en",
    "normalize -l en",
    "split -l en",
    "truecase --undo",
    "lm query examples/toy/lm.arpa",
    "lm perplexity examples/toy/lm.arpa",
    "lm next examples/toy/lm.arpa",
    "lm build - -o lm.miriam",
    "lm estimate -o 2 --arpa lm.arpa",
    "lm filter single -m examples/toy/lm.arpa -o filtered.arpa",
    "translate -f examples/toy/moses.ini",
    "nmt translate -m examples/toy-neural",
    "evaluate --reference examples/toy/test.es",
];

fn command(words: &str) -> Command {
    let mut command = miriam();
    command.args(words.split(' ')).current_dir(project_root());
    command
}

#[test]
fn an_endless_line_is_an_error() {
    for words in READERS {
        let mut command = command(words);
        if words.starts_with("translate") {
            command.args(["-max-line-size", "1M"]);
        } else {
            command.args(["--max-line-size", "1M"]);
        }
        let message = run_to_error(command.stdin(File::open("/dev/zero").unwrap()));
        let expected = "standard input: cannot read: line 1 has more than 1048576 bytes";
        assert!(message.contains(expected), "{words}: {message}");
        assert!(message.contains("--max-line-size"), "{words}: {message}");
    }
}

#[test]
fn the_limit_is_64_mib_unless_an_option_says_otherwise() {
    let message = run_to_error(command("tokenize").stdin(File::open("/dev/zero").unwrap()));
    assert!(message.contains("line 1 has more than 67108864 bytes"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    std::fs::write(&path, format!("short\n{}\n", "a ".repeat(2048))).unwrap();
    let mut enough = command("tokenize --max-line-size 4K -i");
    assert_eq!(lossy_text(&run(enough.arg(&path))).lines().count(), 2);
    let message = run_to_error(command("tokenize --max-line-size 4095 -i").arg(&path));
    assert!(message.contains("line 2 has more than 4095 bytes"), "{message}");
}
