//! Options of the `sacrebleu` program in its spelling: short ones have several letters, which clap
//! does not support.

use std::ffi::OsString;

/// sacreBLEU's short options, with the long ones of `miriam evaluate`.
const SPELLINGS: [(&str, &str); 17] = [
    ("-nr", "--num-refs"),
    ("-sl", "--sentence-level"),
    ("-sv", "--smooth-value"),
    ("-tok", "--tokenize"),
    ("-lc", "--lowercase"),
    ("-cc", "--chrf-char-order"),
    ("-cw", "--chrf-word-order"),
    ("-ci", "--confidence"),
    ("-cin", "--confidence-n"),
    ("-par", "--paired-ar"),
    ("-pbs", "--paired-bs"),
    ("-parn", "--paired-ar-n"),
    ("-pbsn", "--paired-bs-n"),
    ("-sh", "--short"),
    ("-q", "--log-level=error"),
    // There are no colours.
    ("-nc", ""),
    ("--no-color", ""),
];

const TEST_SETS: &str = "test sets are not built in; give references as files";

/// sacreBLEU's options that `miriam evaluate` does not have, and why.
const REFUSED: [(&str, &str); 12] = [
    ("-t", TEST_SETS),
    ("--test-set", TEST_SETS),
    ("-ol", TEST_SETS),
    ("--origlang", TEST_SETS),
    ("--subset", TEST_SETS),
    ("--download", TEST_SETS),
    ("--echo", TEST_SETS),
    ("--list", TEST_SETS),
    ("-d", TEST_SETS),
    ("--detail", TEST_SETS),
    ("--citation", "cite Post (2018), A Call for Clarity in Reporting BLEU Scores"),
    ("--cite", "cite Post (2018), A Call for Clarity in Reporting BLEU Scores"),
];

/// Returns what `word` has after the option for the number of processes, if it is this option.
fn number_of_jobs(word: &str) -> Option<&str> {
    match word.strip_prefix("--paired-jobs") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('='),
        None => word.strip_prefix("-j").map(|rest| rest.strip_prefix('=').unwrap_or(rest)),
    }
}

/// Translates sacreBLEU's spellings in the arguments of `miriam evaluate`; arguments of other
/// commands are unchanged.
///
/// # Errors
/// If an option is not available, with its name and the reason, or if a number of processes is not
/// a number.
pub fn translate(words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    if words.get(1).is_none_or(|command| command != "evaluate") {
        return Ok(words);
    }
    let mut translated = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            translated.push(word);
            continue;
        };
        if text == "--" {
            translated.push(word);
            translated.extend(words);
            break;
        }
        if matches!(text, "-V" | "--version") {
            return Ok(vec!["miriam".into(), "--version".into()]);
        }
        if let Some(number) = number_of_jobs(text) {
            let number = match number {
                "" => words.next().unwrap_or_default().to_string_lossy().into_owned(),
                number => number.to_owned(),
            };
            if number.parse::<u32>().is_err() {
                return Err(format!("{text} needs a number of processes, such as -j 2"));
            }
            continue;
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(format!("{name} is not available: {reason}"));
        }
        match (SPELLINGS.iter().find(|(short, _)| *short == name), value) {
            (None, _) => translated.push(word),
            (Some((_, "")), _) => {}
            (Some((_, long)), None) => translated.push(long.into()),
            (Some((_, long)), Some(value)) => translated.push(format!("{long}={value}").into()),
        }
    }
    Ok(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<String, String> {
        let words = translate(line.split(' ').map(OsString::from).collect())?;
        Ok(words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn short_options_of_several_letters_become_long_options() {
        assert_eq!(
            translated("miriam evaluate ref -m bleu chrf -tok zh -lc -sl -s none -nr=2 -nc")
                .unwrap(),
            "miriam evaluate ref -m bleu chrf --tokenize zh --lowercase --sentence-level -s none \
             --num-refs=2"
        );
        for jobs in ["-j 2", "-j2", "-j=2", "--paired-jobs 0", "--paired-jobs=2"] {
            let words = translated(&format!("miriam evaluate ref {jobs} -i a b"));
            assert_eq!(words.unwrap(), "miriam evaluate ref -i a b", "{jobs}");
        }
        for jobs in ["-j", "-j -b", "--paired-jobs=", "-jobs"] {
            let error = translated(&format!("miriam evaluate {jobs}")).unwrap_err();
            assert!(error.contains("needs a number of processes"), "{error}");
        }
        for version in ["-V", "-q --version"] {
            let words = translated(&format!("miriam evaluate {version}"));
            assert_eq!(words.unwrap(), "miriam --version");
        }
        assert_eq!(translated("miriam lm -sl").unwrap(), "miriam lm -sl");
        let error = translated("miriam evaluate -t wmt14").unwrap_err();
        assert_eq!(error, format!("-t is not available: {TEST_SETS}"));
    }
}
