//! Translations as Moses2 prints them (`phrase-decoding.md` 3.13).

use std::io::Write;

use crate::config::Settings;
use crate::features::Span;

/// One phrase of a translation.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseMatch {
    /// The source positions it translates.
    pub source: Span,
    /// Its words.
    pub words: Vec<Vec<u8>>,
    /// Pairs of source and target positions within the phrase.
    pub alignment: Vec<(u16, u16)>,
}

/// The best translation of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The model score.
    pub score: f32,
    /// The phrases in target order.
    pub phrases: Vec<PhraseMatch>,
}

/// What a line of output shows besides the words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) score: bool,
    pub(crate) segmentation: bool,
}

impl Shown {
    pub(crate) fn of(settings: &Settings) -> Self {
        Shown { score: settings.print_score, segmentation: settings.print_segmentation }
    }

    /// What stands before the first word.
    pub(crate) fn begin(self, out: &mut Vec<u8>, score: Option<f32>) {
        if !self.score {
            return;
        }
        match score {
            Some(score) => write!(out, "{score:.3} ").expect("memory does not fail"),
            None => out.extend_from_slice(b"0 "),
        }
    }

    /// A word, with its space.
    pub(crate) fn word(self, out: &mut Vec<u8>, word: &[u8]) {
        out.extend_from_slice(word);
        out.push(b' ');
    }

    /// What stands behind a phrase.
    pub(crate) fn end_phrase(self, out: &mut Vec<u8>, span: Span) {
        if self.segmentation {
            write!(out, "|{}-{}| ", span.start, span.end - 1).expect("memory does not fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_moses2_prints() {
        let shown = Shown { score: true, segmentation: true };
        let mut out = Vec::new();
        shown.begin(&mut out, Some(-112.88877));
        shown.word(&mut out, b"this");
        shown.word(&mut out, b"is");
        shown.end_phrase(&mut out, Span { start: 0, end: 2 });
        assert_eq!(out, b"-112.889 this is |0-1| ");
        out.clear();
        shown.begin(&mut out, None);
        assert_eq!(out, b"0 ");
    }
}
