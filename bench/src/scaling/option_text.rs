//! Options in one argument, split at white space as a shell does, with quotes and backslashes.

/// Splits `text` at white space. White space within single or double quotes, or after a backslash,
/// does not split. Inside double quotes, a backslash quotes only `"`, `\`, `$` and a backtick;
/// before another character it is kept. Nothing is expanded. Returns `None` if a quote is not
/// closed or a backslash is last.
pub fn split_options(text: &str) -> Option<Vec<String>> {
    let (mut options, mut current): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut characters = text.chars();
    let mut quote = None;
    while let Some(character) = characters.next() {
        let is_literal = quote == Some('\'') && character != '\'';
        if character == '\\' && !is_literal {
            let escaped = characters.next()?;
            let word = current.get_or_insert_default();
            if quote == Some('"') && !matches!(escaped, '"' | '\\' | '$' | '`') {
                word.push(character);
            }
            word.push(escaped);
        } else if quote == Some(character) {
            quote = None;
        } else if quote.is_none() && matches!(character, '\'' | '"') {
            // An empty pair of quotes is an empty option.
            quote = Some(character);
            current.get_or_insert_default();
        } else if quote.is_none() && character.is_whitespace() {
            options.extend(current.take());
        } else {
            current.get_or_insert_default().push(character);
        }
    }
    options.extend(current);
    quote.is_none().then_some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts are split into the same words as by `sh`.
    #[test]
    fn options_are_split_as_by_a_shell() {
        let texts = [
            "",
            "  ",
            "-s 400  -search-algorithm 1 ",
            "--a='b c' d",
            "'a'\"b\"c",
            "'' \"\" x",
            "a\\ b \\\\ \\'",
            "\"a \\\" b\" 'c\\d'",
            "\"it's\" 'a \"b\"'",
            r#""\d+ \' \x" \d "\$ \` \\ \"" "a\\d""#,
            "Gr\u{fc}\u{df}e\t'\u{e4} \u{f6}'",
        ];
        for text in texts {
            let script = format!("for word in {text}; do printf '%s\\n' \"$word\"; done");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            let by_shell = String::from_utf8(output.stdout).unwrap();
            let expected: Vec<&str> = by_shell.lines().collect();
            assert_eq!(split_options(text).unwrap(), expected, "{text}");
        }
        for text in ["'a", "a \"b", "a\\", "\"a\\\""] {
            assert_eq!(split_options(text), None, "{text}");
        }
    }
}
