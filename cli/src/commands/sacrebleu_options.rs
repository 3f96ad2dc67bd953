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
const REFUSED: [(&str, &str); 14] = [
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
    ("-j", "work is shared among --threads"),
    ("--paired-jobs", "work is shared among --threads"),
    ("--citation", "cite Post (2018), A Call for Clarity in Reporting BLEU Scores"),
    ("--cite", "cite Post (2018), A Call for Clarity in Reporting BLEU Scores"),
];

/// Translates sacreBLEU's spellings in the arguments of `miriam evaluate`; arguments of other
/// commands are unchanged.
///
/// # Errors
/// If an option is not available, with its name and the reason.
pub fn translate(words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    if words.get(1).is_none_or(|command| command != "evaluate") {
        return Ok(words);
    }
    let mut translated = Vec::with_capacity(words.len());
    for word in words {
        let Some(text) = word.to_str() else {
            translated.push(word);
            continue;
        };
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
        assert_eq!(translated("miriam lm -sl").unwrap(), "miriam lm -sl");
        let error = translated("miriam evaluate -t wmt14").unwrap_err();
        assert_eq!(error, format!("-t is not available: {TEST_SETS}"));
    }
}
