//! Open quotation marks, which decide whether the next one opens or closes.
//!
//! Most brackets are unambiguous, and so are some quotation marks: `„` and `「` open. But `“` opens
//! in English and closes in German, `»` closes in French and opens in Danish, and `"` does both.

use unicode_general_category::{GeneralCategory, get_general_category};

/// The open quotation marks of a paragraph.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenQuotes {
    /// The mark that opened a quotation in curly double quotes.
    double: Option<char>,
    /// The mark that opened a quotation in curly single quotes.
    single: Option<char>,
    /// The mark that opened a quotation in guillemets.
    angle: Option<char>,
    /// The mark that opened a quotation in single guillemets.
    single_angle: Option<char>,
    /// Whether a quotation in straight quotes is open.
    is_straight: bool,
}

/// The side of a quotation on which a bracket or quotation mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Opening,
    Closing,
}

impl OpenQuotes {
    /// Returns the side of `character` if it comes next and is a bracket or quotation mark; `None`
    /// for other characters. An apostrophe closes.
    pub(crate) fn side(&self, character: char) -> Option<Side> {
        use GeneralCategory as Category;
        let closes = match character {
            '"' => self.is_straight,
            '\'' | '’' | '”' => true,
            '“' => self.double == Some('„'),
            '‘' => self.single == Some('‚'),
            '«' => self.angle == Some('»'),
            '‹' => self.single_angle == Some('›'),
            // These close even if nothing is open: a quotation may begin in another paragraph.
            '»' | '›' => true,
            _ => match get_general_category(character) {
                Category::OpenPunctuation | Category::InitialPunctuation => false,
                Category::ClosePunctuation | Category::FinalPunctuation => true,
                _ => return None,
            },
        };
        Some(if closes { Side::Closing } else { Side::Opening })
    }

    /// Updates the open marks with the next character of the text.
    pub(crate) fn pass(&mut self, character: char) {
        let (open, closers): (&mut Option<char>, &[char]) = match character {
            '"' => {
                self.is_straight = !self.is_straight;
                return;
            }
            '„' | '“' | '”' => (&mut self.double, &['“', '”']),
            '‚' | '‘' => (&mut self.single, &['‘']),
            // An apostrophe without an open quotation ends nothing.
            '’' => {
                self.single = None;
                return;
            }
            '«' | '»' => (&mut self.angle, &['«', '»']),
            '‹' | '›' => (&mut self.single_angle, &['‹', '›']),
            _ => return,
        };
        *open = match *open {
            None => Some(character),
            // A quotation in a quotation, or one that continues after a break.
            Some('“') if character == '“' => Some('“'),
            Some('«') if character == '«' => Some('«'),
            Some(_) if closers.contains(&character) => None,
            Some(_) => Some(character),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side_after(text: &str, character: char) -> Option<Side> {
        let mut quotes = OpenQuotes::default();
        text.chars().for_each(|character| quotes.pass(character));
        quotes.side(character)
    }

    #[test]
    fn marks_open_and_close_by_what_is_open() {
        use Side::{Closing, Opening};
        let cases = [
            ("", '“', Opening),
            ("“Hi!", '”', Closing),
            ("„Ja!", '“', Closing),
            ("„Ja!“ ", '„', Opening),
            ("„Tak!” ", '“', Opening),
            ("», Nej", '«', Closing),
            ("« Non !", '»', Closing),
            ("« Non ! » ", '«', Opening),
            ("\"Yes", '"', Closing),
            ("\"Yes\" ", '"', Opening),
            ("”Nej", '”', Closing),
            ("(", ')', Closing),
            (")", '（', Opening),
            ("don’t ", '‘', Opening),
        ];
        for (text, character, side) in cases {
            assert_eq!(side_after(text, character), Some(side), "{text}{character}");
        }
        assert_eq!(side_after("", 'a'), None);
    }
}
