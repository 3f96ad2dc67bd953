//! Running text into sentences, and translated sentences into running text.
//!
//! The one place that knows how a text is cut: white space between sentences and around them,
//! and line ends, come back as they were. HTML and the detection of languages belong here too;
//! until they are there, protocols refuse them by name.

use miriam_textproc::SentenceSplitter;
use serde::Deserialize;

/// How a text is cut into what is translated by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Split {
    /// Into sentences.
    #[default]
    Sentences,
    /// At line ends only.
    Lines,
    /// At line ends, as nothing that is translated may have one; and what protocols call not
    /// to split.
    None,
}

/// A text that was cut.
pub(crate) struct SplitText {
    /// The sentences.
    pub sentences: Vec<String>,
    /// What is before each sentence, and last what is after all.
    gaps: Vec<String>,
}

impl SplitText {
    /// Cuts a text of `language`.
    pub fn new(text: &str, split: Split, language: &str) -> Self {
        let splitter = (split == Split::Sentences).then(|| {
            let language = language.split(['-', '_']).next().unwrap_or_default();
            SentenceSplitter::new(&language.to_lowercase())
        });
        let (mut sentences, mut gaps) = (Vec::new(), Vec::new());
        let mut done = 0;
        let mut start = 0;
        for line in text.split_inclusive(['\n', '\r']) {
            let content = line.trim_end_matches(['\n', '\r']);
            let ranges = match &splitter {
                Some(splitter) => splitter.split(content.as_bytes()),
                None => {
                    let inside = content.trim();
                    let first = content.len() - content.trim_start().len();
                    let whole = first..first + inside.len();
                    if inside.is_empty() { Vec::new() } else { vec![whole] }
                }
            };
            for range in ranges {
                gaps.push(text[done..start + range.start].to_owned());
                sentences.push(content[range.clone()].to_owned());
                done = start + range.end;
            }
            start += line.len();
        }
        gaps.push(text[done..].to_owned());
        SplitText { sentences, gaps }
    }

    /// The text with `translations` in the places of its sentences.
    pub fn join<'t>(&self, translations: impl Iterator<Item = &'t str>) -> String {
        let mut text = String::new();
        let mut gaps = self.gaps.iter();
        for (translation, gap) in translations.zip(gaps.by_ref()) {
            text.push_str(gap);
            text.push_str(translation);
        }
        gaps.for_each(|gap| text.push_str(gap));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_comes_back() {
        let text = "  One. Two!\r\n\r\n Mr. X is here.\tYes. \n";
        let cut = SplitText::new(text, Split::Sentences, "en-GB");
        assert_eq!(cut.sentences, ["One.", "Two!", "Mr. X is here.", "Yes."]);
        assert_eq!(cut.join(["1", "2", "3", "4"].into_iter()), "  1 2\r\n\r\n 3\t4 \n");
        let cut = SplitText::new(text, Split::Lines, "en");
        assert_eq!(cut.sentences, ["One. Two!", "Mr. X is here.\tYes."]);
        assert_eq!(SplitText::new(" \n", Split::None, "").join([].into_iter()), " \n");
    }

    proptest! {
        #[test]
        fn a_text_that_is_not_changed_is_the_text(text in "[a-zA-Z.!? \n\r\u{e4}\u{3002}]{0,60}") {
            for split in [Split::Sentences, Split::Lines, Split::None] {
                let cut = SplitText::new(&text, split, "en");
                prop_assert_eq!(cut.join(cut.sentences.iter().map(String::as_str)), &*text);
                prop_assert!(cut.sentences.iter().all(|one| !one.contains(['\n', '\r'])));
            }
        }
    }
}
