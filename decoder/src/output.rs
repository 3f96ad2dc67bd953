//! Translations as Moses2 prints them (`docs/spec/phrase-decoding.md` 3.13).

use std::io::Write;

use crate::config::Settings;
use crate::span::Span;

/// One phrase of a translation.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslatedPhrase {
    /// The source positions that the phrase translates.
    pub source: Span,
    /// The target words.
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
    pub phrases: Vec<TranslatedPhrase>,
}

/// The contents of a line of output besides the words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputFormat {
    pub(crate) print_score: bool,
    pub(crate) print_id: bool,
    pub(crate) print_segmentation: bool,
}

impl OutputFormat {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        OutputFormat {
            print_score: settings.print_score,
            print_id: settings.output.print_id,
            print_segmentation: settings.print_segmentation,
        }
    }

    /// Appends the part before the first word.
    pub(crate) fn push_prefix(self, out: &mut Vec<u8>, score: Option<f32>, id: i64) {
        if self.print_score {
            match score {
                Some(score) => Self::push_number(out, score),
                None => out.push(b'0'),
            }
            out.push(b' ');
        }
        if self.print_id && score.is_some() {
            write!(out, "{id} ").expect("memory does not fail");
        }
    }

    /// Appends a number in the format of all outputs except n-best lists and search graphs.
    pub(crate) fn push_number(out: &mut Vec<u8>, number: f32) {
        write!(out, "{number:.3}").expect("memory does not fail");
    }

    /// Appends the segmentation after a phrase.
    pub(crate) fn push_segmentation(self, out: &mut Vec<u8>, span: Span) {
        if self.print_segmentation {
            write!(out, "|{}-{}| ", span.start, span.end - 1).expect("memory does not fail");
        }
    }

    /// Appends the start of the breakdown after a phrase, before the values of its
    /// features.
    pub(crate) fn push_breakdown_start(self, out: &mut Vec<u8>, span: Span) {
        write!(out, "|{}-{},", span.start, span.end - 1).expect("memory does not fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_moses2_prints() {
        let shown = OutputFormat { print_score: true, print_id: true, print_segmentation: true };
        let mut out = Vec::new();
        shown.push_prefix(&mut out, Some(-112.88877), 7);
        out.extend_from_slice(b"this is ");
        shown.push_segmentation(&mut out, Span { start: 0, end: 2 });
        assert_eq!(out, b"-112.889 7 this is |0-1| ");
        out.clear();
        shown.push_prefix(&mut out, None, 7);
        assert_eq!(out, b"0 ");
        out.clear();
        shown.push_breakdown_start(&mut out, Span { start: 2, end: 3 });
        assert_eq!(out, b"|2-2,");
    }
}
