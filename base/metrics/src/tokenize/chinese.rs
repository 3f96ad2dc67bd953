//! Tokeniser for Chinese: each Chinese character is a token, the rest follows the western rules.

use super::mteval13a;
use super::spacing::space_around;
use crate::python_text::is_space;

/// Tokenises a line. White space at its ends is removed first, because the western rules leave a
/// full stop or comma at the beginning or end of a line alone.
pub(super) fn tokenize(line: &str) -> String {
    let line = line.trim_matches(is_space);
    mteval13a::split_western_punctuation(&space_around(line, is_chinese))
}

/// Whether sacreBLEU treats a character as Chinese. Its code intends extension B and the
/// compatibility supplement too, but writes their bounds as strings of two characters, which means
/// U+2001 to U+2A6D and U+2F81 to U+2FA1.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{33ff}'
        | '\u{3400}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sacreBLEU's tokeniser gave the expected texts.
    #[test]
    fn white_space_at_the_ends_of_a_line_is_removed() {
        for (line, expected) in
            [(" .5 今天 ", ".5 今 天"), ("\u{3000},5今\x1c", ",5 今"), ("a 5. ", "a 5.")]
        {
            let tokens: Vec<String> =
                tokenize(line).split_whitespace().map(str::to_owned).collect();
            assert_eq!(tokens.join(" "), expected, "{line:?}");
        }
    }
}
