//! Words for true and false in options, configurations and requests.

/// Returns the truth value of a word in any case: `true`, `yes`, `y`, `on` or `1`; `false`, `no`,
/// `n`, `off` or `0`.
pub fn parse_truth_word(word: &str) -> Option<bool> {
    const WORDS: [(&str, bool); 10] = [
        ("true", true),
        ("yes", true),
        ("y", true),
        ("on", true),
        ("1", true),
        ("false", false),
        ("no", false),
        ("n", false),
        ("off", false),
        ("0", false),
    ];
    let found = WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known));
    found.map(|(_, is_true)| *is_true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_truth_in_any_case() {
        for (word, expected) in [
            ("TRUE", Some(true)),
            ("on", Some(true)),
            ("Y", Some(true)),
            ("1", Some(true)),
            ("No", Some(false)),
            ("oFF", Some(false)),
            ("0", Some(false)),
            ("", None),
            ("2", None),
            ("01", None),
            ("maybe", None),
        ] {
            assert_eq!(parse_truth_word(word), expected, "{word}");
        }
    }
}
