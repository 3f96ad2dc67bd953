//! Augmentation of the training text with lines in capitals or title case (`docs/spec/training.md`
//! A.11).

use std::borrow::Cow;

/// The lines whose case is changed. Lines count from 0; an interval of 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseAugmentation {
    /// The interval of lines whose source and target are put in capitals (`all-caps-every`).
    pub all_caps_every: u64,
    /// The interval of lines whose English source is put in title case
    /// (`english-title-case-every`). They are the lines after the multiples of the interval; an
    /// interval of 1 changes no line.
    pub title_case_every: u64,
}

/// Words that stay in lower case in titles.
const SMALL_WORDS: &str = "a after against and any as at be because between by during for from his \
    in is its last not of off on than the their this to was were which will with";

impl CaseAugmentation {
    /// Whether no line is changed.
    pub fn is_none(&self) -> bool {
        *self == CaseAugmentation::default()
    }

    /// Returns source and target of line `number` in their new case, if the line changes.
    pub fn apply(&self, number: u64, [source, target]: [&[u8]; 2]) -> Option<[Vec<u8>; 2]> {
        let CaseAugmentation { all_caps_every, title_case_every } = *self;
        if all_caps_every > 0 && number.is_multiple_of(all_caps_every) {
            return Some([source, target].map(in_capitals));
        }
        (title_case_every > 0 && number % title_case_every == 1)
            .then(|| [in_title_case(source), target.to_vec()])
    }
}

/// Returns text in capitals; in text that is not UTF-8, only ASCII letters change.
fn in_capitals(text: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_uppercase().into_bytes(),
        Err(_) => text.to_ascii_uppercase(),
    }
}

/// Returns text in title case, except for small words. A word consists of English letters and
/// apostrophes. It begins at the start of the text or after a space, a quote or a hyphen.
fn in_title_case(text: &[u8]) -> Vec<u8> {
    fn is_inside(byte: u8) -> bool {
        byte.is_ascii_alphabetic() || byte == b'\''
    }
    let mut titled = text.to_vec();
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(u8::is_ascii_alphabetic).map(|i| at + i) {
        let len = text[start..].iter().take_while(|&&byte| is_inside(byte)).count();
        let word: Cow<'_, str> = String::from_utf8_lossy(&text[start..start + len]);
        let begins = start == 0 || b" \"'-".contains(&text[start - 1]);
        if begins && !SMALL_WORDS.split_whitespace().any(|small| small == word) {
            titled[start].make_ascii_uppercase();
        }
        at = start + len;
    }
    titled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_capitals() {
        let title = |text: &str| String::from_utf8(in_title_case(text.as_bytes())).unwrap();
        assert_eq!(title("the cat isn't in the big house"), "the Cat Isn't in the Big House");
        assert_eq!(title("\"so-called\" NATO (x) über a"), "\"So-Called\" NATO (x) über a");
        assert_eq!(title(""), "");
    }

    #[test]
    fn lines_are_chosen_by_their_numbers() {
        let both = CaseAugmentation { all_caps_every: 3, title_case_every: 4 };
        let lines: Vec<_> =
            (0..6).map(|number| both.apply(number, [b"a dog", "ä hund".as_bytes()])).collect();
        let pair = |source: &str, target: &str| {
            Some([source.as_bytes().to_vec(), target.as_bytes().to_vec()])
        };
        let caps = pair("A DOG", "Ä HUND");
        let title = pair("a Dog", "ä hund");
        assert_eq!(lines, [caps.clone(), title.clone(), None, caps, None, title]);
        assert!(CaseAugmentation::default().apply(0, [b"a", b"b"]).is_none());
        assert_eq!(in_capitals(b"a\xff\xe4"), b"A\xff\xe4");
    }
}
